//! Verilog-2001: one module, combinational or with register stages, its LUTs as formulas or as cells.

use std::io::{Result, Write};

use super::cells;
use super::module::Module;
use crate::bits::BitView;
use crate::circuit::Netlist;
use crate::export::form::VERILOG;
use crate::export::{Options, Port};

pub(in crate::export) fn write(netlist: &Netlist, options: &Options, out: &mut impl Write) -> Result<()> {
    let module = Module::new(netlist, options, &VERILOG);
    module.comment(out)?;
    writeln!(out, "module {} (", options.name)?;
    if options.pipeline > 0 {
        writeln!(out, "    input wire clock,")?;
    }
    if options.handshake {
        writeln!(out, "    input wire reset,\n    input wire enable,\n    input wire valid,")?;
    }
    write_ports(netlist, options, out)?;
    for stage in module.stages() {
        if options.pipeline > 0 {
            writeln!(out, "    // Stage {}", stage.number)?;
        }
        for lut in stage.luts {
            match options.cells.filter(|_| netlist.lut(lut).arity() > 0) {
                Some(family) => {
                    let (table, reads) = (netlist.lut(lut).words()[0], module.reads(lut, stage.number));
                    family.cell(reads.len()).write(lut, table, &reads, out)?;
                }
                None => writeln!(out, "    wire n{lut} = {};", module.formula(lut, stage.number))?,
            }
        }
        if stage.registers.is_empty() {
            continue;
        }
        for (register, _) in &stage.registers {
            writeln!(out, "    reg {register};")?;
        }
        writeln!(out, "    always @(posedge clock) begin")?;
        let (start, indent, end) = match options.handshake {
            true => ("        if (enable) begin\n", "    ", "        end\n"),
            false => ("", "", ""),
        };
        write!(out, "{start}")?;
        for (register, kept) in &stage.registers {
            writeln!(out, "{indent}        {register} <= {kept};")?;
        }
        writeln!(out, "{end}    end")?;
    }
    if options.handshake {
        write_valid(options.pipeline, out)?;
    }
    for (line, signal) in module.outputs() {
        writeln!(out, "    assign {line} = {signal};")?;
    }
    for port in options.ports.iter().flat_map(|ports| &ports.outputs) {
        writeln!(out, "    assign {} = {};", port.name, module.slice('y', port))?;
    }
    writeln!(out, "endmodule")
}

/// The type of a port.
pub(super) fn type_of(port: &Port) -> String {
    match (port.is_bit(), port.is_signed()) {
        (true, _) => "wire".into(),
        (false, signed) => {
            format!("wire {}[{}:0]", if signed { "signed " } else { "" }, port.width() - 1)
        }
    }
}

/// The ports of inputs and outputs, and the buses that they are.
fn write_ports(netlist: &Netlist, options: &Options, out: &mut impl Write) -> Result<()> {
    let (inputs, outputs) = (netlist.inputs() - 1, netlist.outputs() - 1);
    let valid = if options.handshake { "    output wire valid_out,\n" } else { "" };
    let Some(ports) = &options.ports else {
        writeln!(out, "    input wire [{inputs}:0] x,")?;
        return writeln!(out, "{valid}    output wire [{outputs}:0] y\n);");
    };
    for port in &ports.inputs {
        writeln!(out, "    input {} {},", type_of(port), port.name)?;
    }
    write!(out, "{valid}")?;
    for (index, port) in ports.outputs.iter().enumerate() {
        let end = if index + 1 < ports.outputs.len() { "," } else { "\n);" };
        writeln!(out, "    output {} {}{end}", type_of(port), port.name)?;
    }
    writeln!(out, "    wire [{inputs}:0] x = {{")?;
    for (index, port) in ports.inputs.iter().enumerate().rev() {
        writeln!(out, "        {}{}", port.name, if index > 0 { "," } else { "\n    };" })?;
    }
    writeln!(out, "    wire [{outputs}:0] y;")
}

/// The registers that say which stages hold a row.
fn write_valid(stages: usize, out: &mut impl Write) -> Result<()> {
    let name = |stage: usize| if stage == 0 { "valid".to_string() } else { format!("valid_{stage}") };
    writeln!(out, "    // Which stages hold a row")?;
    for stage in 1..=stages {
        writeln!(out, "    reg {};", name(stage))?;
    }
    writeln!(out, "    always @(posedge clock) begin\n        if (reset) begin")?;
    for stage in 1..=stages {
        writeln!(out, "            {} <= 1'b0;", name(stage))?;
    }
    writeln!(out, "        end else if (enable) begin")?;
    for stage in 1..=stages {
        writeln!(out, "            {} <= {};", name(stage), name(stage - 1))?;
    }
    writeln!(out, "        end\n    end\n    assign valid_out = {};", name(stages))
}

/// What the ports of an instance are joined to: the parts of the buses `x` and `y`.
fn joined(options: &Options) -> String {
    let Some(ports) = &options.ports else { return ".x(x), .y(y)".into() };
    let join = |bus: char, port: &Port| match (port.is_bit(), port.lines.clone()) {
        (true, lines) => format!(".{}({bus}[{}])", port.name, lines.start),
        (false, lines) => format!(".{}({bus}[{}:{}])", port.name, lines.end - 1, lines.start),
    };
    let inputs = ports.inputs.iter().map(|port| join('x', port));
    inputs.chain(ports.outputs.iter().map(|port| join('y', port))).collect::<Vec<_>>().join(",\n        ")
}

/// A row as a hexadecimal number, the last column first.
pub(super) fn hexadecimal(rows: BitView<'_>, row: usize) -> String {
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
pub(in crate::export) fn write_test_bench(
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
    if let Some(family) = options.cells {
        cells::write_models(family, out)?;
    }
    writeln!(out, "module {name}_test;")?;
    writeln!(out, "    reg [{}:0] x;\n    wire [{}:0] y;", inputs - 1, outputs - 1)?;
    writeln!(out, "    reg [{}:0] rows [0:{}];", inputs - 1, count - 1)?;
    writeln!(out, "    reg [{}:0] expected [0:{}];", outputs - 1, count - 1)?;
    writeln!(out, "    integer row, errors;")?;
    let ports = joined(options);
    match (options.pipeline, options.handshake) {
        (0, _) => writeln!(out, "    {name} circuit ({ports});")?,
        (_, false) => writeln!(out, "    reg clock;\n    {name} circuit (.clock(clock), {ports});")?,
        (_, true) => {
            writeln!(out, "    reg clock;\n    wire valid_out;")?;
            writeln!(out, "    {name} circuit (.clock(clock), .reset(1'b0), .enable(1'b1), .valid(1'b1),")?;
            writeln!(out, "        .valid_out(valid_out), {ports});")?;
        }
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
        stages => {
            let valid = if options.handshake { "(!valid_out || y" } else { "(y" };
            let first = stages - 1;
            writeln!(out, "            if (row >= {first} && {valid} !== expected[{check}])) begin")?;
        }
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
