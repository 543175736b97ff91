//! The file formats.

use std::fmt;
use std::str::FromStr;

use crate::{Error, Result};

/// A file format that a circuit can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Verilog-2001.
    Verilog,
    /// VHDL-93.
    Vhdl,
    /// The Berkeley Logic Interchange Format, one `.names` a LUT.
    Blif,
    /// And-inverter graph, the binary form that tools prefer.
    Aiger,
    /// And-inverter graph, the form in letters and digits.
    AigerAscii,
    /// C11.
    C,
    /// Rust that needs only `core`.
    Rust,
    /// A graph for Graphviz.
    Dot,
    /// A picture, for small circuits.
    Svg,
    /// The netlist as one JSON object.
    Json,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 10] = [
        Self::Verilog,
        Self::Vhdl,
        Self::Blif,
        Self::Aiger,
        Self::AigerAscii,
        Self::C,
        Self::Rust,
        Self::Dot,
        Self::Svg,
        Self::Json,
    ];

    /// The name the command line knows it by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verilog => "verilog",
            Self::Vhdl => "vhdl",
            Self::Blif => "blif",
            Self::Aiger => "aiger",
            Self::AigerAscii => "aiger-ascii",
            Self::C => "c",
            Self::Rust => "rust",
            Self::Dot => "dot",
            Self::Svg => "svg",
            Self::Json => "json",
        }
    }

    /// The usual ending of a file's name, without a dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Verilog => "v",
            Self::Vhdl => "vhd",
            Self::Aiger => "aig",
            Self::AigerAscii => "aag",
            Self::Rust => "rs",
            other => other.name(),
        }
    }

    /// The format of a file with that ending.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.extension() == extension).or(match extension {
            "vhdl" => Some(Self::Vhdl),
            "gv" => Some(Self::Dot),
            _ => None,
        })
    }

    /// Whether [`read()`](super::read()) reads it back.
    pub fn is_readable(self) -> bool {
        matches!(self, Self::Verilog | Self::Blif | Self::Aiger | Self::AigerAscii)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::setting(format!("{name} is not a format; the formats are {names}"))
        })
    }
}
