//! VHDL-93: one entity, combinational or with register stages.

use std::io::{Result, Write};

use super::cells::{Cell, CellFamily};
use super::module::Module;
use crate::bits::BitView;
use crate::circuit::Netlist;
use crate::export::form::VHDL;
use crate::export::{Options, Port, PortKind};

pub(in crate::export) fn write(netlist: &Netlist, options: &Options, out: &mut impl Write) -> Result<()> {
    let module = Module::new(netlist, options, &VHDL);
    module.comment(out)?;
    writeln!(out, "{LIBRARIES}")?;
    writeln!(out, "entity {} is", options.name)?;
    writeln!(out, "  port (")?;
    if options.pipeline > 0 {
        writeln!(out, "    clock : in std_logic;")?;
    }
    if options.handshake {
        for port in ["reset", "enable", "valid"] {
            writeln!(out, "    {port} : in std_logic;")?;
        }
    }
    write_ports(netlist, options, out)?;
    writeln!(out, "  );\nend {};\n", options.name)?;
    writeln!(out, "architecture gates of {} is", options.name)?;
    if options.ports.is_some() {
        writeln!(out, "  signal x : std_logic_vector({} downto 0);", netlist.inputs() - 1)?;
        writeln!(out, "  signal y : std_logic_vector({} downto 0);", netlist.outputs() - 1)?;
    }
    if let Some(family) = options.cells {
        for arity in family.arities() {
            write_component(family, arity, out)?;
        }
    }
    if options.handshake {
        writeln!(out, "  signal valid_rows : std_logic_vector({} downto 0);", options.pipeline)?;
    }
    for stage in module.stages() {
        for lut in stage.luts {
            writeln!(out, "  signal n{lut} : std_logic;")?;
        }
        for (register, _) in stage.registers {
            writeln!(out, "  signal {register} : std_logic;")?;
        }
    }
    writeln!(out, "begin")?;
    for port in options.ports.iter().flat_map(|ports| &ports.inputs) {
        let value = as_vector(port, &port.name);
        writeln!(out, "  {} <= {value};", module.slice('x', port))?;
    }
    for stage in module.stages() {
        if options.pipeline > 0 {
            writeln!(out, "  -- Stage {}", stage.number)?;
        }
        for lut in stage.luts {
            match options.cells.filter(|_| netlist.lut(lut).arity() > 0) {
                Some(family) => {
                    let (table, reads) = (netlist.lut(lut).words()[0], module.reads(lut, stage.number));
                    write_cell(&family.cell(reads.len()), lut, table, &reads, out)?;
                }
                None => writeln!(out, "  n{lut} <= {};", module.formula(lut, stage.number))?,
            }
        }
        if stage.registers.is_empty() {
            continue;
        }
        let condition = if options.handshake { " and enable = '1'" } else { "" };
        writeln!(out, "  process (clock)\n  begin\n    if rising_edge(clock){condition} then")?;
        for (register, kept) in stage.registers {
            writeln!(out, "      {register} <= {kept};")?;
        }
        writeln!(out, "    end if;\n  end process;")?;
    }
    if options.handshake {
        write_valid(options.pipeline, out)?;
    }
    for (line, signal) in module.outputs() {
        writeln!(out, "  {line} <= {signal};")?;
    }
    for port in options.ports.iter().flat_map(|ports| &ports.outputs) {
        let slice = module.slice('y', port);
        writeln!(out, "  {} <= {};", port.name, from_vector(port, &slice))?;
    }
    writeln!(out, "end gates;")
}

/// The type of the table of a family's cells, as the vendor's library has it.
fn table_type(family: CellFamily) -> &'static str {
    match family {
        CellFamily::Xilinx | CellFamily::Gowin => "bit_vector",
        CellFamily::Ice40 | CellFamily::Ecp5 => "std_logic_vector",
    }
}

/// The generics and ports of a cell.
fn write_cell_ports(family: CellFamily, cell: &Cell, out: &mut impl Write) -> Result<()> {
    let (parameter, high) = (cell.parameter, cell.bits() - 1);
    writeln!(out, "    generic ({parameter} : {}({high} downto 0));", table_type(family))?;
    writeln!(out, "    port ({} : out std_logic; {} : in std_logic);", cell.output, cell.inputs.join(", "))
}

fn write_component(family: CellFamily, arity: usize, out: &mut impl Write) -> Result<()> {
    let cell = family.cell(arity);
    writeln!(out, "  component {}", cell.name)?;
    write_cell_ports(family, &cell, out)?;
    writeln!(out, "  end component;")
}

fn write_cell(cell: &Cell, lut: usize, table: u64, reads: &[String], out: &mut impl Write) -> Result<()> {
    let (bits, wide) = (cell.bits(), cell.table(table, reads.len()));
    write!(out, "  cell{lut} : {} generic map ({} => \"{wide:0bits$b}\")", cell.name, cell.parameter)?;
    write!(out, " port map ({} => n{lut}", cell.output)?;
    for (place, input) in cell.inputs.iter().enumerate() {
        write!(out, ", {input} => {}", reads.get(place).map_or("'0'", String::as_str))?;
    }
    writeln!(out, ");")
}

/// What the cells of a family do, for simulators that do not know them.
pub(super) fn write_models(family: CellFamily, out: &mut impl Write) -> Result<()> {
    for arity in family.arities() {
        let cell = family.cell(arity);
        let (name, address) = (&cell.name, cell.inputs.iter().rev().copied().collect::<Vec<_>>().join(" & "));
        writeln!(out, "{LIBRARIES}\nentity {name} is")?;
        write_cell_ports(family, &cell, out)?;
        writeln!(out, "end {name};\n\narchitecture table of {name} is")?;
        writeln!(out, "  signal address : std_logic_vector({} downto 0);\nbegin", cell.inputs.len() - 1)?;
        let address = if cell.inputs.len() == 1 { format!("(0 => {address})") } else { address };
        writeln!(out, "  address <= {address};")?;
        let value = match table_type(family) {
            "bit_vector" => {
                format!("'1' when {}(to_integer(unsigned(address))) = '1' else '0'", cell.parameter)
            }
            _ => format!("{}(to_integer(unsigned(address)))", cell.parameter),
        };
        writeln!(out, "  {} <= {value};\nend table;\n", cell.output)?;
    }
    Ok(())
}

/// What a file starts with.
pub(super) const LIBRARIES: &str = "library ieee;\nuse ieee.std_logic_1164.all;\nuse ieee.numeric_std.all;\n";

/// The type of a port.
pub(super) fn type_of(port: &Port) -> String {
    let high = port.width() - 1;
    match (port.kind, port.is_signed()) {
        (PortKind::Bit, _) => "std_logic".into(),
        (_, true) => format!("signed({high} downto 0)"),
        (_, false) => format!("unsigned({high} downto 0)"),
    }
}

/// The value of a port as a vector, or as the bit that it is.
fn as_vector(port: &Port, value: &str) -> String {
    if port.is_bit() { value.into() } else { format!("std_logic_vector({value})") }
}

/// A part of a vector, or a bit of it, as the value of a port.
pub(super) fn from_vector(port: &Port, value: &str) -> String {
    match (port.is_bit(), port.is_signed()) {
        (true, _) => value.into(),
        (false, true) => format!("signed({value})"),
        (false, false) => format!("unsigned({value})"),
    }
}

/// The ports of inputs and outputs.
fn write_ports(netlist: &Netlist, options: &Options, out: &mut impl Write) -> Result<()> {
    let valid = if options.handshake { "    valid_out : out std_logic;\n" } else { "" };
    let Some(ports) = &options.ports else {
        writeln!(out, "    x : in std_logic_vector({} downto 0);", netlist.inputs() - 1)?;
        return writeln!(out, "{valid}    y : out std_logic_vector({} downto 0)", netlist.outputs() - 1);
    };
    for port in &ports.inputs {
        writeln!(out, "    {} : in {};", port.name, type_of(port))?;
    }
    write!(out, "{valid}")?;
    for (index, port) in ports.outputs.iter().enumerate() {
        let end = if index + 1 < ports.outputs.len() { ";" } else { "" };
        writeln!(out, "    {} : out {}{end}", port.name, type_of(port))?;
    }
    Ok(())
}

/// The registers that say which stages hold a row.
fn write_valid(stages: usize, out: &mut impl Write) -> Result<()> {
    writeln!(out, "  -- Which stages hold a row\n  valid_rows(0) <= valid;")?;
    writeln!(out, "  process (clock)\n  begin\n    if rising_edge(clock) then\n      if reset = '1' then")?;
    writeln!(out, "        valid_rows({stages} downto 1) <= (others => '0');")?;
    writeln!(out, "      elsif enable = '1' then")?;
    writeln!(out, "        valid_rows({stages} downto 1) <= valid_rows({} downto 0);", stages - 1)?;
    writeln!(out, "      end if;\n    end if;\n  end process;\n  valid_out <= valid_rows({stages});")
}

/// What the ports of an instance are joined to: the parts of the buses `x` and `y`.
fn joined(options: &Options) -> String {
    let Some(ports) = &options.ports else { return "x => x, y => y".into() };
    let slice = |bus: char, port: &Port| match (port.is_bit(), port.lines.clone()) {
        (true, lines) => format!("{bus}({})", lines.start),
        (false, lines) => format!("{bus}({} downto {})", lines.end - 1, lines.start),
    };
    let inputs =
        ports.inputs.iter().map(|port| format!("{} => {}", port.name, from_vector(port, &slice('x', port))));
    let outputs = ports.outputs.iter().map(|port| match port.is_bit() {
        true => format!("{} => {}", port.name, slice('y', port)),
        false => format!("std_logic_vector({}) => {}", port.name, slice('y', port)),
    });
    inputs.chain(outputs).collect::<Vec<_>>().join(",\n    ")
}

/// A row as a string of binary digits, the last column first.
pub(super) fn binary(rows: BitView<'_>, row: usize) -> String {
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
    if let Some(family) = options.cells {
        write_models(family, out)?;
    }
    writeln!(out, "{LIBRARIES}")?;
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
    let clock = match (stages, options.handshake) {
        (0, _) => "",
        (_, false) => "clock => clock, ",
        (_, true) => "clock => clock, reset => '0', enable => '1', valid => '1', valid_out => open, ",
    };
    writeln!(out, "begin\n  circuit : entity work.{name} port map ({clock}{});", joined(options))?;
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
