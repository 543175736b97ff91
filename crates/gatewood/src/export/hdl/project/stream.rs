//! The stream around the circuit, and its test bench.

use super::Parts;
use super::layout::part;
use super::rows::Rows;
use crate::Result;
use crate::bits::BitMatrix;
use crate::export::hdl::{cells, vhdl};
use crate::export::{Format, write_failed};

/// A template with its places filled in, each `@name@`.
pub(super) fn fill(template: &str, values: &[(&str, String)]) -> String {
    values.iter().fold(template.to_string(), |text, (name, value)| text.replace(&format!("@{name}@"), value))
}

/// The places that the wrapper and the bench share.
fn values(parts: &Parts<'_>, comment: &str) -> Vec<(&'static str, String)> {
    let (layout, outputs) = (&parts.layout, parts.netlist.outputs());
    let header: Vec<String> =
        parts.file.header(&parts.netlist).iter().map(|line| format!("{comment} {line}")).collect();
    let answer = outputs.next_multiple_of(8);
    let room = room(parts);
    let count = (usize::BITS - (layout.words - 1).leading_zeros()).max(1) as usize;
    vec![
        ("header", header.join("\n")),
        ("name", parts.file.name.clone()),
        ("words", layout.words.to_string()),
        ("word", layout.word.to_string()),
        ("word_high", (layout.word - 1).to_string()),
        ("row_high", (layout.bits() - 1).to_string()),
        ("shift_high", (layout.bits() + layout.word - 1).to_string()),
        ("count_high", (count - 1).to_string()),
        ("count_end", format!("{count}'d{}", layout.words - 1)),
        ("output_high", (outputs - 1).to_string()),
        ("answer_high", (answer - 1).to_string()),
        ("last_shift", (parts.pipeline.stages - 1).to_string()),
        ("last_high", parts.pipeline.stages.to_string()),
        ("room", room.to_string()),
        ("room_high", room.ilog2().to_string()),
        ("place_high", (room.ilog2() - 1).to_string()),
        ("latency", parts.latency().to_string()),
    ]
}

/// Answers that can wait, a power of two: enough that rows come in without a pause while they are taken at once.
fn room(parts: &Parts<'_>) -> usize {
    (parts.latency().div_ceil(parts.layout.words) + 5).next_power_of_two()
}

/// The module or entity that takes rows word by word.
pub(super) fn wrapper(parts: &Parts<'_>, format: Format) -> String {
    let (inputs, outputs) = (parts.ports.inputs.iter().enumerate(), &parts.ports.outputs);
    let place = |port| parts.layout.place(port);
    let (template, comment, joined): (_, _, Vec<String>) = match format {
        Format::Vhdl => {
            let inputs = inputs.map(|(index, port)| {
                let part = part(port, place(index), "(", " downto ", ")");
                format!("    {} => {}", port.name, vhdl::from_vector(port, &part))
            });
            let outputs = outputs.iter().map(|port| match port.is_bit() {
                true => format!("    {} => y({})", port.name, port.lines.start),
                false => {
                    let (high, low) = (port.lines.end - 1, port.lines.start);
                    format!("    std_logic_vector({}) => y({high} downto {low})", port.name)
                }
            });
            (include_str!("files/stream.vhd"), "--", inputs.chain(outputs).collect())
        }
        _ => {
            let inputs = inputs.map(|(index, port)| {
                format!("        .{}({})", port.name, part(port, place(index), "[", ":", "]"))
            });
            let outputs = outputs.iter().map(|port| match port.is_bit() {
                true => format!("        .{}(y[{}])", port.name, port.lines.start),
                false => format!("        .{}(y[{}:{}])", port.name, port.lines.end - 1, port.lines.start),
            });
            (include_str!("files/stream.v"), "//", inputs.chain(outputs).collect())
        }
    };
    let mut values = values(parts, comment);
    let (outputs, answer) = (parts.netlist.outputs(), parts.netlist.outputs().next_multiple_of(8));
    let padding = match (answer - outputs, format) {
        (0, _) => String::new(),
        (_, Format::Vhdl) => format!("  answer({} downto {outputs}) <= (others => '0');", answer - 1),
        (missing, _) => format!("{missing}'b0, "),
    };
    values.extend([("joined", joined.join(",\n")), ("padding", padding)]);
    fill(template, &values)
}

/// The bits of a row in the words of the stream, the lowest first.
fn row_bits(parts: &Parts<'_>, rows: &BitMatrix, row: usize) -> Vec<bool> {
    let mut bits = vec![false; parts.layout.bits()];
    for (index, port) in parts.ports.inputs.iter().enumerate() {
        let place = parts.layout.place(index);
        for (bit, line) in port.lines.clone().enumerate() {
            bits[place + bit] = rows.get(row, line);
        }
    }
    bits
}

/// Bits as digits, the highest first.
fn binary(bits: &[bool]) -> String {
    bits.iter().rev().map(|&bit| if bit { '1' } else { '0' }).collect()
}

/// The test bench of the stream.
pub(super) fn test_bench(parts: &Parts<'_>, format: Format, rows: &Rows) -> Result<String> {
    let count = rows.bits.rows();
    let word = parts.layout.word;
    let answer = parts.netlist.outputs().next_multiple_of(8);
    let (mut words, mut answers) = (Vec::new(), Vec::new());
    for row in 0..count {
        let bits = row_bits(parts, &rows.bits, row);
        words.extend(bits.chunks(word).map(binary));
        let mut bits: Vec<bool> =
            (0..parts.netlist.outputs()).map(|line| rows.answers.get(row, line)).collect();
        bits.resize(answer, false);
        answers.push(binary(&bits));
    }
    let mut models = Vec::new();
    let family = parts.chip.family;
    let (template, comment) = match format {
        Format::Vhdl => {
            vhdl::write_models(family, &mut models).map_err(|error| write_failed(format, &error))?;
            (include_str!("files/stream_test.vhd"), "--")
        }
        _ => {
            cells::write_models(family, &mut models).map_err(|error| write_failed(format, &error))?;
            (include_str!("files/stream_test.v"), "//")
        }
    };
    let listed = |values: &[String]| {
        let line = |(index, value)| format!("    {index} => \"{value}\"");
        values.iter().enumerate().map(line).collect::<Vec<_>>().join(",\n")
    };
    let assigned = |name: &str, width: usize, values: &[String]| -> String {
        let line = |(index, value)| format!("        {name}[{index}] = {width}'b{value};");
        values.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    };
    let mut values = values(parts, comment);
    values.extend([
        ("rows", count.to_string()),
        ("cells", String::from_utf8_lossy(&models).trim_end().to_string()),
    ]);
    // The data comes last, since it is long.
    match format {
        Format::Vhdl => {
            values.extend([("words_data", listed(&words)), ("answers_data", listed(&answers))]);
        }
        _ => {
            let data = [assigned("words", word, &words), assigned("expected", answer, &answers)];
            values.push(("data", data.join("\n")));
        }
    }
    Ok(fill(template, &values))
}
