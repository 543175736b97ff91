//! VHDL-93: one entity, combinational or with register stages.

use std::io::{Result, Write};

use super::module::Module;
use crate::bits::BitView;
use crate::circuit::Netlist;
use crate::export::Options;
use crate::export::form::VHDL;

pub(in crate::export) fn write(netlist: &Netlist, options: &Options, out: &mut impl Write) -> Result<()> {
    let module = Module::new(netlist, options, &VHDL);
    module.comment(out)?;
    writeln!(out, "library ieee;\nuse ieee.std_logic_1164.all;\n")?;
    writeln!(out, "entity {} is", options.name)?;
    writeln!(out, "  port (")?;
    if options.pipeline > 0 {
        writeln!(out, "    clock : in std_logic;")?;
    }
    writeln!(out, "    x : in std_logic_vector({} downto 0);", netlist.inputs() - 1)?;
    writeln!(out, "    y : out std_logic_vector({} downto 0)", netlist.outputs() - 1)?;
    writeln!(out, "  );\nend {};\n", options.name)?;
    writeln!(out, "architecture gates of {} is", options.name)?;
    for stage in module.stages() {
        for lut in stage.luts {
            writeln!(out, "  signal n{lut} : std_logic;")?;
        }
        for (register, _) in stage.registers {
            writeln!(out, "  signal {register} : std_logic;")?;
        }
    }
    writeln!(out, "begin")?;
    for stage in module.stages() {
        if options.pipeline > 0 {
            writeln!(out, "  -- Stage {}", stage.number)?;
        }
        for lut in stage.luts {
            writeln!(out, "  n{lut} <= {};", module.formula(lut, stage.number))?;
        }
        if stage.registers.is_empty() {
            continue;
        }
        writeln!(out, "  process (clock)\n  begin\n    if rising_edge(clock) then")?;
        for (register, kept) in stage.registers {
            writeln!(out, "      {register} <= {kept};")?;
        }
        writeln!(out, "    end if;\n  end process;")?;
    }
    for (line, signal) in module.outputs() {
        writeln!(out, "  {line} <= {signal};")?;
    }
    writeln!(out, "end gates;")
}

/// A row as a string of binary digits, the last column first.
fn binary(rows: BitView<'_>, row: usize) -> String {
    (0..rows.columns()).rev().map(|column| if rows.get(row, column) { '1' } else { '0' }).collect()
}

/// A test bench that sends the rows through the entity and compares what comes out.
pub(in crate::export) fn write_test_bench(
    netlist: &Netlist,
    options: &Options,
    rows: BitView<'_>,
    expected: BitView<'_>,
    out: &mut impl Write,
) -> Result<()> {
    let (inputs, outputs, count) = (netlist.inputs(), netlist.outputs(), rows.rows());
    let (name, stages) = (&options.name, options.pipeline);
    for line in options.header(netlist) {
        writeln!(out, "-- {line}")?;
    }
    writeln!(
        out,
        "-- Sends {count} rows through {name}; reports PASSED, or fails after naming each row that differs"
    )?;
    writeln!(out, "library ieee;\nuse ieee.std_logic_1164.all;\n")?;
    writeln!(out, "entity {name}_test is\nend {name}_test;\n\narchitecture test of {name}_test is")?;
    for (what, width) in [("row", inputs), ("answer", outputs)] {
        writeln!(out, "  subtype {what}_bits is std_logic_vector({} downto 0);", width - 1)?;
        writeln!(out, "  type {what}_list is array (0 to {}) of {what}_bits;", count - 1)?;
    }
    for (constant, what, values) in [("rows", "row", rows), ("expected", "answer", expected)] {
        writeln!(out, "  constant {constant} : {what}_list := (")?;
        for row in 0..count {
            let end = if row + 1 < count { "," } else { "" };
            writeln!(out, "    {row} => \"{}\"{end}", binary(values, row))?;
        }
        writeln!(out, "  );")?;
    }
    writeln!(out, "  signal x : row_bits;\n  signal y : answer_bits;")?;
    if stages > 0 {
        writeln!(out, "  signal clock : std_logic := '0';")?;
    }
    let clock = if stages > 0 { "clock => clock, " } else { "" };
    writeln!(out, "begin\n  circuit : entity work.{name} port map ({clock}x => x, y => y);")?;
    writeln!(out, "  process\n    variable errors : natural := 0;\n  begin")?;
    let first = stages.saturating_sub(1);
    writeln!(out, "    for row in 0 to {} loop", count - 1 + first)?;
    match stages {
        0 => writeln!(out, "      x <= rows(row);\n      wait for 1 ns;")?,
        _ => {
            writeln!(out, "      if row < {count} then\n        x <= rows(row);\n      end if;")?;
            writeln!(out, "      wait for 1 ns;\n      clock <= '1';\n      wait for 1 ns;")?;
            writeln!(out, "      clock <= '0';\n      wait for 1 ns;")?;
        }
    }
    // Indexes are checked before they are used, since `and` does not stop at the first false.
    writeln!(out, "      if row >= {first} then\n        if y /= expected(row - {first}) then")?;
    writeln!(out, "          errors := errors + 1;")?;
    writeln!(out, "          report \"row \" & integer'image(row - {first}) & \" differs\" severity error;")?;
    writeln!(out, "        end if;\n      end if;\n    end loop;")?;
    writeln!(out, "    assert errors = 0")?;
    writeln!(
        out,
        "      report \"FAILED: \" & integer'image(errors) & \" of {count} rows\" severity failure;"
    )?;
    writeln!(out, "    report \"PASSED: {count} rows\";\n    wait;\n  end process;\nend test;")
}
