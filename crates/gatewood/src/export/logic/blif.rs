//! BLIF: one `.names` a LUT.

use std::collections::HashSet;
use std::io::{Result, Write};

use crate::circuit::{Netlist, Signal, SignalKind};
use crate::export::form::cover;
use crate::export::{Options, names};

/// Names on a line before it is continued on the next.
const NAMES_A_LINE: usize = 12;

pub(in crate::export) fn write(netlist: &Netlist, options: &Options, out: &mut impl Write) -> Result<()> {
    for line in options.header(netlist) {
        writeln!(out, "# {line}")?;
    }
    let mut taken: HashSet<String> = (0..netlist.luts()).map(|lut| format!("n{lut}")).collect();
    taken.extend(["zero".to_string(), "one".to_string()]);
    let inputs = names::plain(netlist.input_names().iter().map(String::as_str), &mut taken);
    let outputs = names::plain(netlist.output_list().iter().map(|(name, _)| name.as_str()), &mut taken);
    let name = |signal: Signal| match netlist.kind(signal) {
        SignalKind::Constant(value) => (if value { "one" } else { "zero" }).to_string(),
        SignalKind::Input(input) => inputs[input].clone(),
        SignalKind::Lut(lut) => format!("n{lut}"),
    };
    writeln!(out, ".model {}", options.name)?;
    list(out, ".inputs", &inputs)?;
    list(out, ".outputs", &outputs)?;
    let read = netlist.reader_counts();
    if read[Signal::ZERO.index()] > 0 {
        writeln!(out, ".names zero")?;
    }
    if read[Signal::ONE.index()] > 0 {
        writeln!(out, ".names one\n1")?;
    }
    for (index, lut) in netlist.iter().enumerate() {
        write!(out, ".names")?;
        for &input in lut.inputs() {
            write!(out, " {}", name(input))?;
        }
        writeln!(out, " n{index}")?;
        for cube in cover(lut.words(), lut.arity()) {
            for input in 0..lut.arity() {
                let sign = match (cube.care >> input & 1, cube.value >> input & 1) {
                    (0, _) => '-',
                    (_, 0) => '0',
                    _ => '1',
                };
                write!(out, "{sign}")?;
            }
            writeln!(out, "{}1", if lut.arity() == 0 { "" } else { " " })?;
        }
    }
    for (output, (_, signal)) in outputs.iter().zip(netlist.output_list()) {
        writeln!(out, ".names {} {output}\n1 1", name(*signal))?;
    }
    writeln!(out, ".end")
}

fn list(out: &mut impl Write, command: &str, names: &[String]) -> Result<()> {
    write!(out, "{command}")?;
    for (index, name) in names.iter().enumerate() {
        if index > 0 && index % NAMES_A_LINE == 0 {
            write!(out, " \\\n ")?;
        }
        write!(out, " {name}")?;
    }
    writeln!(out)
}
