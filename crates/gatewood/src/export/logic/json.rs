//! JSON: the netlist as one object, a LUT a line.

use std::io::{Result, Write};

use serde_json::Value;

use crate::circuit::{Netlist, Signal, SignalKind};
use crate::export::Options;

/// Signals are named `x` and the number of an input, `n` and the number of a LUT, `0` or `1`; a LUT's table is a
/// hexadecimal number whose bit `i` is the output when input `j` equals bit `j` of `i`.
pub(in crate::export) fn write(netlist: &Netlist, options: &Options, out: &mut impl Write) -> Result<()> {
    let text = |text: &str| Value::from(text);
    let name = |signal: Signal| match netlist.kind(signal) {
        SignalKind::Constant(value) => format!("\"{}\"", u8::from(value)),
        SignalKind::Input(input) => format!("\"x{input}\""),
        SignalKind::Lut(lut) => format!("\"n{lut}\""),
    };
    writeln!(out, "{{")?;
    writeln!(out, "  \"format\": \"gatewood netlist\",")?;
    writeln!(out, "  \"version\": 1,")?;
    writeln!(out, "  \"name\": {},", text(&options.name))?;
    let header: Vec<Value> = options.header(netlist).iter().map(|line| text(line)).collect();
    writeln!(out, "  \"facts\": {},", Value::from(header))?;
    writeln!(out, "  \"inputs\": [")?;
    for (index, input) in netlist.input_names().iter().enumerate() {
        writeln!(out, "    {}{}", text(input), comma(index, netlist.inputs()))?;
    }
    writeln!(out, "  ],\n  \"luts\": [")?;
    for (index, lut) in netlist.iter().enumerate() {
        let reads: Vec<String> = lut.inputs().iter().map(|&signal| name(signal)).collect();
        let (table, end) = (lut.table(), comma(index, netlist.luts()));
        writeln!(out, "    {{\"inputs\": [{}], \"table\": \"{table}\"}}{end}", reads.join(", "))?;
    }
    writeln!(out, "  ],\n  \"outputs\": [")?;
    for (index, (output, signal)) in netlist.output_list().iter().enumerate() {
        let end = comma(index, netlist.outputs());
        writeln!(out, "    {{\"name\": {}, \"signal\": {}}}{end}", text(output), name(*signal))?;
    }
    writeln!(out, "  ]\n}}")
}

fn comma(index: usize, count: usize) -> &'static str {
    if index + 1 < count { "," } else { "" }
}
