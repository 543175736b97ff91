//! The rows of a project's test bench, as the bits that the circuit reads.

use crate::bits::BitMatrix;
use crate::circuit::Netlist;
use crate::encode::RawColumn;
use crate::export::code::random_table;
use crate::export::ports::Line;
use crate::export::{ModelOptions, Port, PortKind, Ports, test_rows};
use crate::model::{self, Model};
use crate::{Error, Result};

/// Rows and what the circuit says of them.
pub(super) struct Rows {
    /// A column for each line of the inputs.
    pub(super) bits: BitMatrix,
    /// A column for each line of the outputs.
    pub(super) answers: BitMatrix,
    /// Whether they came with data.
    pub(super) are_real: bool,
    /// Rows whose class is not that of the model.
    pub(super) differing: usize,
}

/// The most rows of a test bench, which has a line for each word of them.
const MAX_ROWS: usize = 1 << 16;

impl Rows {
    pub(super) fn new(
        model: &Model,
        options: &ModelOptions,
        ports: &Ports,
        netlist: &Netlist,
        count: usize,
        given: Option<model::Rows<'_>>,
    ) -> Result<Self> {
        if !(1..=MAX_ROWS).contains(&count) {
            return Err(Error::setting(format!(
                "{count} rows of a test bench are not between 1 and {MAX_ROWS}"
            )));
        }
        let (bits, classes) = match given {
            Some(rows) => {
                if rows.is_empty() {
                    return Err(Error::data("a test bench needs a row or more"));
                }
                // Spread over all of them, since files are often sorted.
                let count = count.min(rows.len());
                let picked: Vec<usize> = (0..count).map(|row| row * rows.len() / count).collect();
                let bits = bits_of(model, ports, rows, &picked)?;
                let has_classes = !model.circuit().says_values();
                let all = model.predict_rows(rows, 1)?;
                (bits, has_classes.then(|| picked.iter().map(|&row| all.classes()[row]).collect()))
            }
            None if options.encoder => {
                let table = random_table(model.encoder(), count)?;
                let picked: Vec<usize> = (0..count).collect();
                (bits_of(model, ports, model::Rows::Raw(table.view()), &picked)?, None)
            }
            None => (test_rows(count, netlist.inputs(), 0)?, None),
        };
        let classes: Option<Vec<u32>> = classes;
        let answers = netlist.evaluate(bits.view())?;
        let class = ports.outputs.iter().find(|port| port.meaning == "class index");
        let differing = match (&classes, class) {
            (Some(classes), Some(port)) => classes
                .iter()
                .enumerate()
                .filter(|&(row, &class)| {
                    port.lines
                        .clone()
                        .enumerate()
                        .any(|(bit, line)| answers.get(row, line) != (class >> bit & 1 != 0))
                })
                .count(),
            _ => 0,
        };
        Ok(Self { bits, answers, are_real: given.is_some(), differing })
    }
}

/// Some rows as the ports take them.
fn bits_of(model: &Model, ports: &Ports, rows: model::Rows<'_>, picked: &[usize]) -> Result<BitMatrix> {
    let encoder = model.encoder();
    let lines = ports.inputs.last().map_or(0, |port| port.lines.end);
    let mut bits = BitMatrix::zeros(picked.len(), lines)?;
    let mut set = |place: usize, port: &Port, value: u64| {
        for (bit, line) in port.lines.clone().enumerate() {
            bits.set(place, line, value >> bit & 1 != 0);
        }
    };
    match rows {
        model::Rows::Bits(ready) => {
            for port in &ports.inputs {
                let Line::Bit(bit) = port.line else { continue };
                let position = encoder.inputs()[encoder.meanings()[bit].column as usize].position;
                for (place, &row) in picked.iter().enumerate() {
                    set(place, port, ready.get(row, position).into());
                }
            }
        }
        model::Rows::Raw(table) => {
            let encoded = encoder.transform_on(table, 1)?;
            let columns = encoder.raw_columns(table, picked)?;
            for port in &ports.inputs {
                for (place, &row) in picked.iter().enumerate() {
                    let value = match (port.line, port.kind) {
                        (Line::Bit(bit), _) => encoded.get(row, bit).into(),
                        (Line::Column(column), PortKind::Number(number)) => match &columns[column] {
                            RawColumn::Numbers(numbers) => number.bits(numbers[place]),
                            _ => 0,
                        },
                        (Line::Column(column), _) => match &columns[column] {
                            RawColumn::Bytes(bytes) => bytes[place].unwrap_or(0).into(),
                            _ => 0,
                        },
                        (Line::Output, _) => 0,
                    };
                    set(place, port, value);
                }
            }
        }
    }
    Ok(bits)
}
