//! LUT cells of FPGA families, which synthesis leaves as they are.

use std::fmt;
use std::io::{Result, Write};
use std::str::FromStr;

use crate::Error;

/// A family of FPGAs whose LUTs have a name in Verilog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CellFamily {
    /// AMD's (Xilinx's) devices: `LUT1` to `LUT6`.
    Xilinx,
    /// Lattice iCE40: `SB_LUT4`.
    Ice40,
    /// Lattice ECP5: `LUT4`, of other ports than Xilinx's.
    Ecp5,
    /// Gowin: `LUT1` to `LUT4`, again of other ports.
    Gowin,
}

/// How the cell of a LUT is written.
pub(super) struct Cell {
    pub(super) name: String,
    /// The parameter that holds the table.
    pub(super) parameter: &'static str,
    pub(super) output: &'static str,
    pub(super) inputs: &'static [&'static str],
}

impl CellFamily {
    /// All families.
    pub const ALL: [Self; 4] = [Self::Xilinx, Self::Ice40, Self::Ecp5, Self::Gowin];

    /// The name the command line knows it by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Xilinx => "xilinx",
            Self::Ice40 => "ice40",
            Self::Ecp5 => "ecp5",
            Self::Gowin => "gowin",
        }
    }

    /// The most inputs of a cell.
    pub fn inputs(self) -> usize {
        match self {
            Self::Xilinx => 6,
            Self::Ice40 | Self::Ecp5 | Self::Gowin => 4,
        }
    }

    /// The cell for a LUT of so many inputs: the smallest that has as many.
    pub(super) fn cell(self, arity: usize) -> Cell {
        const NUMBERED: [&str; 6] = ["I0", "I1", "I2", "I3", "I4", "I5"];
        let (name, parameter, output, inputs): (_, _, _, &'static [&'static str]) = match self {
            Self::Xilinx => (format!("LUT{arity}"), "INIT", "O", &NUMBERED[..arity]),
            Self::Ice40 => ("SB_LUT4".into(), "LUT_INIT", "O", &NUMBERED[..4]),
            Self::Ecp5 => ("LUT4".into(), "INIT", "Z", &["A", "B", "C", "D"]),
            Self::Gowin => (format!("LUT{arity}"), "INIT", "F", &NUMBERED[..arity]),
        };
        Cell { name, parameter, output, inputs }
    }

    /// The sizes of its cells.
    pub(super) fn arities(self) -> std::ops::RangeInclusive<usize> {
        match self {
            Self::Xilinx => 1..=6,
            Self::Ice40 | Self::Ecp5 => 4..=4,
            Self::Gowin => 1..=4,
        }
    }
}

impl fmt::Display for CellFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for CellFamily {
    type Err = Error;

    fn from_str(name: &str) -> crate::Result<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::setting(format!("{name} is not a family of cells; the families are {names}"))
        })
    }
}

impl Cell {
    /// Writes the cell of a LUT. Inputs that the LUT does not have are zero, and the table does not ask for them.
    pub(super) fn write(&self, lut: usize, table: u64, reads: &[String], out: &mut impl Write) -> Result<()> {
        let (bits, wide) = (self.bits(), self.table(table, reads.len()));
        let (name, parameter, output, digits) = (&self.name, self.parameter, self.output, bits.div_ceil(4));
        writeln!(out, "    wire n{lut};")?;
        write!(out, "    {name} #(.{parameter}({bits}'h{wide:0digits$x})) lut{lut} (.{output}(n{lut})")?;
        for (place, input) in self.inputs.iter().enumerate() {
            write!(out, ", .{input}({})", reads.get(place).map_or("1'b0", String::as_str))?;
        }
        writeln!(out, ");")
    }

    /// The table of a LUT as wide as the cell's: inputs that the LUT does not have are not asked for.
    pub(super) fn table(&self, table: u64, reads: usize) -> u64 {
        let (mut wide, mut filled) = (table, 1usize << reads);
        while filled < self.bits() {
            wide |= wide << filled;
            filled *= 2;
        }
        wide
    }

    /// Bits of its table.
    pub(super) fn bits(&self) -> usize {
        1 << self.inputs.len()
    }

    /// Writes what the cell does, for simulators that do not know it.
    fn write_model(&self, out: &mut impl Write) -> Result<()> {
        let address: Vec<&str> = self.inputs.iter().rev().copied().collect();
        let (name, parameter, output, bits) =
            (&self.name, self.parameter, self.output, 1usize << self.inputs.len());
        writeln!(out, "module {name} #(parameter [{}:0] {parameter} = {bits}'h0) (", bits - 1)?;
        writeln!(out, "    output wire {output}, input wire {}\n);", self.inputs.join(", input wire "))?;
        writeln!(out, "    wire [{}:0] address = {{{}}};", self.inputs.len() - 1, address.join(", "))?;
        writeln!(out, "    assign {output} = {parameter}[address];\nendmodule")
    }
}

/// What the cells of a family do, for simulators that do not know them.
pub(super) fn write_models(family: CellFamily, out: &mut impl Write) -> Result<()> {
    family.arities().try_for_each(|arity| family.cell(arity).write_model(out))
}
