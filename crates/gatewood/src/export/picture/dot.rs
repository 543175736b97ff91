//! DOT: the netlist as a graph for Graphviz.

use std::io::{Result, Write};

use crate::circuit::{Lut, Netlist, Signal, SignalKind};
use crate::export::form::{Form, VERILOG};
use crate::export::{Options, names};

/// The longest formula that is shown in place of a table.
const LONGEST_FORMULA: usize = 24;

/// The most addresses that a table is written out with.
const MOST_ADDRESSES: usize = 32;

/// What a LUT computes in a few letters: a formula over `a`, `b`, … or else how often it says one.
pub(super) fn label(lut: &Lut<'_>) -> String {
    let formula = Form::of(lut).text(&VERILOG, |input| char::from(b'a' + input as u8).to_string());
    match formula.as_str() {
        "1'b0" => "0".into(),
        "1'b1" => "1".into(),
        short if short.len() <= LONGEST_FORMULA => short.into(),
        _ => format!("LUT{}: one at {} of {}", lut.arity(), ones(lut).len(), 1usize << lut.arity()),
    }
}

/// The addresses at which a LUT says one.
fn ones(lut: &Lut<'_>) -> Vec<usize> {
    (0..1usize << lut.arity()).filter(|&address| lut.output(address)).collect()
}

/// The truth table of a LUT, as people read it: the inputs, and what they are where it says one.
pub(super) fn table(lut: &Lut<'_>) -> String {
    let ones = ones(lut);
    let names: String = (0..lut.arity()).map(|input| char::from(b'a' + input as u8)).collect();
    let written = |address: &usize| -> String {
        (0..lut.arity()).map(|input| if address >> input & 1 == 1 { '1' } else { '0' }).collect()
    };
    match ones.len() {
        0 => "always zero".into(),
        all if all == 1 << lut.arity() => "always one".into(),
        many => {
            let shown: Vec<String> = ones.iter().take(MOST_ADDRESSES).map(written).collect();
            let more = if many > MOST_ADDRESSES { " ..." } else { "" };
            format!("one where {names} is {}{more}", shown.join(" "))
        }
    }
}

pub(in crate::export) fn write(netlist: &Netlist, options: &Options, out: &mut impl Write) -> Result<()> {
    for line in options.header(netlist) {
        writeln!(out, "// {line}")?;
    }
    writeln!(out, "digraph {} {{", options.name)?;
    writeln!(out, "  rankdir=LR;\n  node [fontname=\"Helvetica\", fontsize=10];\n  edge [fontsize=8];")?;
    let name = |signal: Signal| match netlist.kind(signal) {
        SignalKind::Constant(value) => (if value { "one" } else { "zero" }).to_string(),
        SignalKind::Input(input) => format!("x{input}"),
        SignalKind::Lut(lut) => format!("n{lut}"),
    };
    let read = netlist.reader_counts();
    for (signal, value) in [(Signal::ZERO, 0), (Signal::ONE, 1)] {
        if read[signal.index()] > 0 {
            writeln!(out, "  {} [shape=plaintext, label=\"{value}\"];", name(signal))?;
        }
    }
    writeln!(out, "  // Inputs that are read")?;
    for (index, input) in netlist.input_names().iter().enumerate() {
        if read[netlist.input(index).index()] > 0 {
            writeln!(out, "  x{index} [shape=plaintext, label={}];", quoted(input))?;
        }
    }
    writeln!(out, "  // LUTs")?;
    for (index, lut) in netlist.iter().enumerate() {
        writeln!(out, "  n{index} [shape=box, style=rounded, label={}];", quoted(&label(&lut)))?;
        for (position, &input) in lut.inputs().iter().enumerate() {
            let letter = char::from(b'a' + position as u8);
            writeln!(out, "  {} -> n{index} [headlabel=\"{letter}\"];", name(input))?;
        }
    }
    writeln!(out, "  // Outputs")?;
    for (index, (output, signal)) in netlist.output_list().iter().enumerate() {
        writeln!(out, "  y{index} [shape=plaintext, label={}];", quoted(output))?;
        writeln!(out, "  {} -> y{index};", name(*signal))?;
    }
    writeln!(out, "}}")
}

/// A text between quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", names::safe(text).replace('"', "\\\""))
}
