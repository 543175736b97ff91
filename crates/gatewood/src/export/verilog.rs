//! Verilog-2001: one module, combinational or with register stages.

use std::io::{Result, Write};

use super::form::{Form, VERILOG};
use super::pipeline::Pipeline;
use super::{Options, names};
use crate::bits::BitView;
use crate::circuit::{Netlist, Signal};

pub(super) fn write(netlist: &Netlist, options: &Options, out: &mut impl Write) -> Result<()> {
    let pipeline = Pipeline::new(netlist, options.pipeline);
    let name = |signal: Signal, reader: u32| {
        pipeline.name(netlist, signal, reader, [VERILOG.zero, VERILOG.one], |input| format!("x[{input}]"))
    };
    comment(netlist, options, "//", |input| format!("x[{input}]"), |output| format!("y[{output}]"), out)?;
    writeln!(out, "module {} (", options.name)?;
    if options.pipeline > 0 {
        writeln!(out, "    input wire clock,")?;
    }
    writeln!(out, "    input wire [{}:0] x,", netlist.inputs() - 1)?;
    writeln!(out, "    output wire [{}:0] y\n);", netlist.outputs() - 1)?;
    for stage in 1..=pipeline.stages().max(1) as u32 {
        if options.pipeline > 0 {
            writeln!(out, "    // Stage {stage}")?;
        }
        for index in pipeline.luts(netlist, stage) {
            let lut = netlist.lut(index);
            let formula = Form::of(&lut).text(&VERILOG, |input| name(lut.inputs()[input], stage));
            writeln!(out, "    wire n{index} = {formula};")?;
        }
        let kept: Vec<Signal> = pipeline.kept(netlist, stage).collect();
        if kept.is_empty() {
            continue;
        }
        for &signal in &kept {
            writeln!(out, "    reg {};", name(signal, stage + 1))?;
        }
        writeln!(out, "    always @(posedge clock) begin")?;
        for &signal in &kept {
            writeln!(out, "        {} <= {};", name(signal, stage + 1), name(signal, stage))?;
        }
        writeln!(out, "    end")?;
    }
    for (index, (_, signal)) in netlist.output_list().iter().enumerate() {
        writeln!(out, "    assign y[{index}] = {};", name(*signal, pipeline.after()))?;
    }
    writeln!(out, "endmodule")
}

/// The comment at the top: the facts, and the name of each line of the buses that has one of its own.
pub(super) fn comment(
    netlist: &Netlist,
    options: &Options,
    sign: &str,
    input: impl Fn(usize) -> String,
    output: impl Fn(usize) -> String,
    out: &mut impl Write,
) -> Result<()> {
    for line in options.header(netlist) {
        writeln!(out, "{sign} {line}")?;
    }
    if options.pipeline > 0 {
        writeln!(
            out,
            "{sign} The outputs follow the inputs after {} rising edges of the clock",
            options.pipeline
        )?;
    }
    for (index, name) in netlist.input_names().iter().enumerate() {
        if *name != format!("x{index}") {
            writeln!(out, "{sign} {} is {}", input(index), names::comment(name))?;
        }
    }
    for (index, (name, _)) in netlist.output_list().iter().enumerate() {
        writeln!(out, "{sign} {} is {}", output(index), names::comment(name))?;
    }
    Ok(())
}

/// A row as a hexadecimal number, the last column first.
fn hexadecimal(rows: BitView<'_>, row: usize) -> String {
    let digits = rows.columns().div_ceil(4);
    (0..digits)
        .rev()
        .map(|digit| {
            let columns = digit * 4..(digit * 4 + 4).min(rows.columns());
            let value = columns.rev().fold(0, |value, column| value << 1 | u32::from(rows.get(row, column)));
            char::from_digit(value, 16).expect("four bits are a digit")
        })
        .collect()
}

/// A test bench that sends the rows through the module and compares what comes out.
pub(super) fn write_test_bench(
    netlist: &Netlist,
    options: &Options,
    rows: BitView<'_>,
    expected: BitView<'_>,
    out: &mut impl Write,
) -> Result<()> {
    let (inputs, outputs, count) = (netlist.inputs(), netlist.outputs(), rows.rows());
    let name = &options.name;
    for line in options.header(netlist) {
        writeln!(out, "// {line}")?;
    }
    writeln!(
        out,
        "// Sends {count} rows through {name}; prints PASSED, or each row that differs and FAILED"
    )?;
    writeln!(out, "module {name}_test;")?;
    writeln!(out, "    reg [{}:0] x;\n    wire [{}:0] y;", inputs - 1, outputs - 1)?;
    writeln!(out, "    reg [{}:0] rows [0:{}];", inputs - 1, count - 1)?;
    writeln!(out, "    reg [{}:0] expected [0:{}];", outputs - 1, count - 1)?;
    writeln!(out, "    integer row, errors;")?;
    if options.pipeline > 0 {
        writeln!(out, "    reg clock;\n    {name} circuit (.clock(clock), .x(x), .y(y));")?;
    } else {
        writeln!(out, "    {name} circuit (.x(x), .y(y));")?;
    }
    writeln!(out, "    initial begin")?;
    for row in 0..count {
        let (x, y) = (hexadecimal(rows, row), hexadecimal(expected, row));
        writeln!(out, "        rows[{row}] = {inputs}'h{x}; expected[{row}] = {outputs}'h{y};")?;
    }
    writeln!(out, "        errors = 0;")?;
    let (check, end) = match options.pipeline {
        0 => {
            writeln!(out, "        for (row = 0; row < {count}; row = row + 1) begin")?;
            writeln!(out, "            x = rows[row];\n            #1;")?;
            ("row".to_string(), "            end\n        end")
        }
        stages => {
            // A row enters at every clock; the first comes out when as many have entered as there are stages.
            let last = count - 1;
            writeln!(out, "        clock = 0;")?;
            writeln!(out, "        for (row = 0; row < {}; row = row + 1) begin", count + stages - 1)?;
            writeln!(out, "            x = rows[row < {count} ? row : {last}];")?;
            writeln!(out, "            #1 clock = 1;\n            #1 clock = 0;\n            #1;")?;
            (format!("row - {}", stages - 1), "            end\n        end")
        }
    };
    match options.pipeline {
        0 => writeln!(out, "            if (y !== expected[{check}]) begin")?,
        stages => writeln!(out, "            if (row >= {} && y !== expected[{check}]) begin", stages - 1)?,
    }
    writeln!(out, "                errors = errors + 1;")?;
    writeln!(
        out,
        "                $display(\"row %0d: the outputs are %b instead of %b\", {check}, y, expected[{check}]);"
    )?;
    writeln!(out, "{end}")?;
    writeln!(out, "        if (errors == 0) $display(\"PASSED: {count} rows\");")?;
    writeln!(out, "        else $display(\"FAILED: %0d of {count} rows\", errors);")?;
    writeln!(out, "        $finish;\n    end\nendmodule")
}
