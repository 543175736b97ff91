//! Verilog-2001: one module, combinational or with register stages, its LUTs as formulas or as cells.

use std::io::{Result, Write};

use super::cells;
use super::module::Module;
use crate::bits::BitView;
use crate::circuit::Netlist;
use crate::export::Options;
use crate::export::form::VERILOG;

pub(in crate::export) fn write(netlist: &Netlist, options: &Options, out: &mut impl Write) -> Result<()> {
    let module = Module::new(netlist, options, &VERILOG);
    module.comment(out)?;
    writeln!(out, "module {} (", options.name)?;
    if options.pipeline > 0 {
        writeln!(out, "    input wire clock,")?;
    }
    writeln!(out, "    input wire [{}:0] x,", netlist.inputs() - 1)?;
    writeln!(out, "    output wire [{}:0] y\n);", netlist.outputs() - 1)?;
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
        for (register, kept) in &stage.registers {
            writeln!(out, "        {register} <= {kept};")?;
        }
        writeln!(out, "    end")?;
    }
    for (line, signal) in module.outputs() {
        writeln!(out, "    assign {line} = {signal};")?;
    }
    writeln!(out, "endmodule")
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
