//! The ports of a module: the lines of its inputs and outputs, a column or a number together, with names people can wire.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::{Value, json};

use super::fixed_point::FixedPoint;
use super::names;
use crate::circuit::Netlist;
use crate::encode::Encoder;

/// A port of an exported module: neighbouring lines of its inputs or outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// A name that Verilog, VHDL and C accept, unlike those of other ports.
    pub name: String,
    /// What it is in the words of the data.
    pub meaning: String,
    /// Its lines among all inputs, or all outputs; the lowest bit is the first.
    pub lines: Range<usize>,
    /// What its bits are.
    pub kind: PortKind,
    /// Where it comes from.
    pub(super) line: Line,
}

/// What the bits of a port are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PortKind {
    /// One bit.
    Bit,
    /// Several bits, or a number without sign.
    Bits,
    /// The number of a column.
    Number(FixedPoint),
    /// A pixel, 0 to 255.
    Pixel,
    /// A whole number in two's complement.
    Signed,
}

/// What the lines of a port are of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// A raw column of the encoder.
    Column(usize),
    /// A bit of the encoder.
    Bit(usize),
    /// An output.
    Output,
}

impl Port {
    /// A port whose name is not made yet.
    pub(super) fn new(meaning: &str, lines: Range<usize>, kind: PortKind, line: Line) -> Self {
        Self { name: String::new(), meaning: meaning.into(), lines, kind, line }
    }

    /// Number of its bits.
    pub fn width(&self) -> usize {
        self.lines.len()
    }

    /// Whether it is a number in two's complement.
    pub fn is_signed(&self) -> bool {
        match self.kind {
            PortKind::Number(number) => number.is_signed,
            PortKind::Signed => true,
            _ => false,
        }
    }

    /// Whether it is a single bit and no number.
    pub(super) fn is_bit(&self) -> bool {
        self.kind == PortKind::Bit
    }

    /// What it is, for a comment.
    pub(super) fn describe(&self) -> String {
        let meaning = names::safe(&self.meaning);
        match self.kind {
            PortKind::Bit if matches!(self.line, Line::Bit(_)) => format!("one where {meaning}"),
            PortKind::Bit => meaning,
            PortKind::Bits => format!("{meaning}, {} bits", self.width()),
            PortKind::Number(number) => format!("{meaning}, {}", number.describe()),
            PortKind::Pixel => format!("{meaning}, a pixel of 0 to 255"),
            PortKind::Signed => format!("{meaning}, signed, {} bits", self.width()),
        }
    }

    /// The port as JSON.
    fn json(&self, bus: &str, encoder: &Encoder) -> Value {
        let mut value = json!({
            "port": self.name,
            "name": self.meaning,
            "lines": [format!("{bus}[{}]", self.lines.start), format!("{bus}[{}]", self.lines.end - 1)],
            "width": self.width(),
            "signed": self.is_signed(),
        });
        if let PortKind::Number(number) = self.kind {
            value["fraction_bits"] = json!(number.fraction);
        }
        match self.line {
            Line::Column(column) => value["column"] = json!(encoder.inputs()[column].name),
            Line::Bit(bit) => {
                value["bit"] = json!(bit);
                let column = encoder.meanings()[bit].column as usize;
                value["column"] = json!(encoder.inputs()[column].name);
            }
            Line::Output => {}
        }
        value
    }
}

/// The ports of a module, in the order of its lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ports {
    /// Those of the inputs.
    pub inputs: Vec<Port>,
    /// Those of the outputs.
    pub outputs: Vec<Port>,
}

impl Ports {
    /// Ports with names, of inputs that are known and of the outputs of a netlist, for a module of some name.
    pub(super) fn new(inputs: Vec<Port>, netlist: &Netlist, module: &str) -> Self {
        let mut ports = Self { inputs, outputs: outputs_of(netlist) };
        let mut taken = HashSet::from([module.to_ascii_lowercase()]);
        for port in ports.inputs.iter_mut().chain(&mut ports.outputs) {
            port.name = identifier(&port.meaning, &mut taken);
        }
        ports
    }

    /// One port for each of some bits of the encoder, in order.
    pub(super) fn of_bits(encoder: &Encoder, bits: &[usize]) -> Vec<Port> {
        let port = |(place, &bit): (usize, &usize)| {
            Port::new(&encoder.describe(bit), place..place + 1, PortKind::Bit, Line::Bit(bit))
        };
        bits.iter().enumerate().map(port).collect()
    }

    /// Whether they are the lines of a netlist, each once and in order.
    pub(super) fn suit(&self, netlist: &Netlist) -> bool {
        let covers = |ports: &[Port], lines: usize| {
            let end = ports.iter().try_fold(0, |end, port| {
                (port.lines.start == end && port.lines.end > end).then_some(port.lines.end)
            });
            end == Some(lines)
        };
        covers(&self.inputs, netlist.inputs()) && covers(&self.outputs, netlist.outputs())
    }

    /// The inputs and outputs as JSON.
    pub(super) fn json(&self, encoder: &Encoder) -> (Value, Value) {
        let list = |ports: &[Port], bus: &str| ports.iter().map(|port| port.json(bus, encoder)).collect();
        (list(&self.inputs, "x"), list(&self.outputs, "y"))
    }
}

/// The outputs of a model's netlist: the class, one a class, margins.
fn outputs_of(netlist: &Netlist) -> Vec<Port> {
    let mut ports: Vec<Port> = Vec::new();
    for (index, (name, _)) in netlist.output_list().iter().enumerate() {
        // Bits of one number differ in the number at their end.
        let stem = name.rsplit_once('_').filter(|(_, place)| place.bytes().all(|byte| byte.is_ascii_digit()));
        let (stem, is_part) = stem.map_or((name.as_str(), false), |(stem, _)| (stem, true));
        let meaning = match stem {
            "class" => "class index".to_string(),
            "is" => "one hot".to_string(),
            stem => stem.to_string(),
        };
        match ports.last_mut() {
            Some(last) if is_part && last.meaning == meaning => last.lines.end = index + 1,
            _ => {
                let kind = match is_part {
                    true if stem.starts_with("margin") => PortKind::Signed,
                    true => PortKind::Bits,
                    false => PortKind::Bit,
                };
                ports.push(Port::new(&meaning, index..index + 1, kind, Line::Output));
            }
        }
    }
    ports
}

/// The longest name of a port.
const MAX_NAME: usize = 48;

/// A name of letters, digits and single underscores that starts with a letter and means nothing else in Verilog, SystemVerilog,
/// VHDL, C or the files made here; unlike those taken, whatever the case of letters.
fn identifier(meaning: &str, taken: &mut HashSet<String>) -> String {
    let mut name = String::new();
    let mut before = ' ';
    for c in meaning.chars() {
        let word = match c {
            '>' => "gt",
            '=' => "is",
            '-' if !before.is_ascii_alphanumeric() => "minus",
            _ => "",
        };
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else {
            if !name.is_empty() && !name.ends_with('_') {
                name.push('_');
            }
            if !word.is_empty() {
                name.push_str(word);
                name.push('_');
            }
        }
        before = c;
    }
    name.truncate(MAX_NAME);
    let mut name = name.trim_end_matches('_').to_string();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || names::is_taken_by_files(&name) {
        name = format!("column_{name}").trim_end_matches('_').to_string();
    }
    let plain = name.clone();
    let mut number = 2;
    while !taken.insert(name.to_ascii_lowercase()) {
        name = format!("{plain}_{number}");
        number += 1;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_be_wired_in_every_language() {
        let mut taken = HashSet::new();
        let mut name = |meaning: &str| identifier(meaning, &mut taken);
        assert_eq!(name("age > 37.5"), "age_gt_37_5");
        assert_eq!(name("age > -3"), "age_gt_minus_3");
        assert_eq!(name("work = Self-emp"), "work_is_Self_emp");
        assert_eq!(name("AGE > 37.5"), "AGE_gt_37_5_2");
        assert_eq!(name("_Gr\u{f6}\u{df}e__"), "Gr_e");
        assert_eq!(name("7"), "column_7");
        assert_eq!(name(""), "column");
        assert_eq!(name("\u{202e}"), "column_2");
        for reserved in ["signal", "logic", "x", "n12", "x3_1", "clock", "valid", "lut4", "s_axis_tdata"] {
            assert_eq!(name(reserved), format!("column_{reserved}"));
        }
        assert!(name(&"long ".repeat(50)).len() <= MAX_NAME);
    }
}
