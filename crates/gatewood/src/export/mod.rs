//! Circuits out, and back in: netlists as the files of other tools.
//!
//! - [`write_model`]: a model as a file, with [`ModelOptions`];
//! - [`Format`]: what can be written, and what of it can be read back;
//! - [`write()`]: a netlist as a file, streaming, the same bytes every time;
//! - [`write_test_bench`]: a test bench that checks itself, for Verilog and VHDL;
//! - [`read()`]: a netlist from BLIF, AIGER or the Verilog written here;
//! - [`heat_map`], [`curve_picture`]: the pixels that matter and how the error fell, as pictures.
//!
//! ```
//! use gatewood::circuit::NetlistBuilder;
//! use gatewood::export::{self, Format, Options};
//! let mut builder = NetlistBuilder::new(["a", "b"])?;
//! let both = builder.add(&[0b1000], &[builder.input(0), builder.input(1)])?;
//! builder.output("both", both)?;
//! let netlist = builder.finish();
//!
//! let mut file = Vec::new();
//! export::write(&netlist, Format::Blif, &Options::default(), &mut file)?;
//! let again = export::read(&file, Format::Blif)?;
//! assert_eq!(again.evaluate_row(&[true, true]), [true]);
//! # Ok::<(), gatewood::Error>(())
//! ```

mod aiger;
mod arrays;
mod blif;
mod c;
mod c_raw;
mod code;
mod dot;
mod encoder;
mod form;
mod harness;
mod json;
#[cfg(test)]
mod language_tests;
mod model;
mod module;
mod names;
mod picture;
mod pipeline;
mod program;
mod raw;
mod raw_rows;
mod read;
mod rust;
mod rust_raw;
mod svg;
#[cfg(test)]
mod tests;
mod verilog;
mod vhdl;

use std::fmt;
use std::io::Write;
use std::str::FromStr;

use self::code::Code;
pub use self::harness::{HARNESS_BLOCK, harness, raw_harness};
pub use self::model::{
    ModelOptions, netlist_of, read_for, test_rows, write_model, write_model_c, write_model_test_bench,
};
pub use self::picture::{curve_picture, heat_map};
pub use self::raw_rows::{RawRows, raw_rows};
use crate::bits::BitView;
use crate::circuit::Netlist;
use crate::{Error, Result};

/// A file format that a circuit can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

    /// Whether [`read()`] reads it back.
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

/// What a file is to say besides the circuit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The name of the module, entity, model or prefix of functions.
    pub name: String,
    /// Lines for the comment at the top, such as what the model was trained on.
    pub facts: Vec<String>,
    /// The name of the header that C source includes; without one it declares all itself.
    pub header_file: Option<String>,
    /// Register stages between the inputs and the outputs of Verilog and VHDL; none makes them combinational.
    pub pipeline: usize,
    /// Whether the LUTs of Verilog are the cells `LUT1` to `LUT6` of AMD's (Xilinx's) devices, which synthesis leaves as they
    /// are, in place of formulas, which it maps anew.
    pub cells: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { name: "model".into(), facts: Vec::new(), header_file: None, pipeline: 0, cells: false }
    }
}

/// The most register stages a pipeline may have.
pub const MAX_PIPELINE: usize = 1000;

impl Options {
    /// Checks that the name is one in every language and that the stages are not too many.
    ///
    /// # Errors
    /// Says what is not as it should be.
    pub fn validate(&self) -> Result<()> {
        let mut bytes = self.name.bytes();
        let starts_well = bytes.next().is_some_and(|first| first.is_ascii_alphabetic());
        if !starts_well || !bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(Error::setting(format!(
                "{:?} cannot name a circuit: use a letter, then letters, digits and underscores",
                self.name
            )));
        }
        if names::is_reserved(&self.name) {
            return Err(Error::setting(format!("{} means something else in one of the formats", self.name)));
        }
        if self.pipeline > MAX_PIPELINE {
            return Err(Error::setting(format!(
                "{} pipeline stages are over the limit of {MAX_PIPELINE}",
                self.pipeline
            )));
        }
        Ok(())
    }

    /// The lines of the comment at the top of a file.
    fn header(&self, netlist: &Netlist) -> Vec<String> {
        let plural =
            |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let mut lines = self.header_start();
        lines.push(format!(
            "{}: {}, {}, {}, depth {}",
            self.name,
            plural(netlist.inputs(), "input"),
            plural(netlist.outputs(), "output"),
            plural(netlist.luts(), "LUT"),
            netlist.depth()
        ));
        lines.extend(self.header_facts());
        lines
    }

    fn header_start(&self) -> Vec<String> {
        vec![format!("Made by gatewood {}", env!("CARGO_PKG_VERSION"))]
    }

    fn header_facts(&self) -> impl Iterator<Item = String> {
        self.facts.iter().flat_map(|fact| fact.lines()).map(names::comment)
    }
}

/// Writes a netlist in a format. The same netlist and options give the same bytes.
///
/// # Errors
/// When the options are not valid, the format cannot show such a circuit, or writing fails.
pub fn write(netlist: &Netlist, format: Format, options: &Options, out: &mut impl Write) -> Result<()> {
    options.validate()?;
    check_hardware(options, format)?;
    check_shape(netlist, format)?;
    if options.cells && netlist.max_arity() > verilog::CELL_INPUTS {
        return Err(Error::data(format!(
            "a LUT of {} inputs is not a cell; cells have {} at the most",
            netlist.max_arity(),
            verilog::CELL_INPUTS
        )));
    }
    let mut out = std::io::BufWriter::with_capacity(1 << 16, out);
    match format {
        Format::Blif => blif::write(netlist, options, &mut out),
        Format::Aiger => aiger::write_binary(netlist, options, &mut out),
        Format::AigerAscii => aiger::write_ascii(netlist, options, &mut out),
        Format::Dot => dot::write(netlist, options, &mut out),
        Format::Json => json::write(netlist, options, &mut out),
        Format::Verilog => verilog::write(netlist, options, &mut out),
        Format::Vhdl => vhdl::write(netlist, options, &mut out),
        Format::Svg => svg::write(netlist, options, &mut out),
        Format::C | Format::Rust => {
            return write_code(&Code::of_netlist(netlist, options)?, format, options, &mut out);
        }
    }
    .and_then(|()| out.flush())
    .map_err(|error| write_failed(format, &error))
}

/// Writes the header that belongs to the C of a netlist.
///
/// # Errors
/// As [`write()`].
pub fn write_header(netlist: &Netlist, options: &Options, out: &mut impl Write) -> Result<()> {
    options.validate()?;
    check_shape(netlist, Format::C)?;
    let code = Code::of_netlist(netlist, options)?;
    c::write_header(&code, options, out).map_err(|error| write_failed(Format::C, &error))
}

/// Writes code as C or Rust.
fn write_code(code: &Code, format: Format, options: &Options, out: &mut impl Write) -> Result<()> {
    options.validate()?;
    check_hardware(options, format)?;
    let mut out = std::io::BufWriter::with_capacity(1 << 16, out);
    match format {
        Format::C => c::write(code, options, options.header_file.as_deref(), &mut out),
        Format::Rust => rust::write(code, &mut out),
        _ => return Err(Error::setting(format!("{format} is not a program; C and Rust are"))),
    }
    .and_then(|()| out.flush())
    .map_err(|error| write_failed(format, &error))
}

fn write_failed(format: Format, error: &std::io::Error) -> Error {
    Error::io(format!("the {format} file cannot be written: {error}"))
}

fn check_hardware(options: &Options, format: Format) -> Result<()> {
    if options.pipeline > 0 && !matches!(format, Format::Verilog | Format::Vhdl) {
        return Err(Error::setting(format!("{format} has no pipeline; only Verilog and VHDL have")));
    }
    if options.cells && format != Format::Verilog {
        return Err(Error::setting(format!("{format} has no LUT cells; only Verilog has")));
    }
    Ok(())
}

/// Languages with buses and arrays have none of no width.
fn check_shape(netlist: &Netlist, format: Format) -> Result<()> {
    let needs = matches!(format, Format::Verilog | Format::Vhdl | Format::C | Format::Rust);
    if needs && (netlist.inputs() == 0 || netlist.outputs() == 0) {
        return Err(Error::data(format!(
            "a circuit without inputs or outputs cannot be written as {format}"
        )));
    }
    if format == Format::Svg {
        svg::check(netlist)?;
    }
    Ok(())
}

/// Writes a test bench for what [`write()`] writes with the same options: it sends rows through the circuit, compares
/// what comes out with what the netlist says, and says PASSED or FAILED.
///
/// # Errors
/// When the format is not Verilog or VHDL, there are no rows or too many columns, or writing fails.
pub fn write_test_bench(
    netlist: &Netlist,
    format: Format,
    options: &Options,
    rows: BitView<'_>,
    out: &mut impl Write,
) -> Result<()> {
    options.validate()?;
    check_shape(netlist, format)?;
    if rows.rows() == 0 {
        return Err(Error::data("a test bench needs a row or more"));
    }
    let expected = netlist.evaluate(rows)?;
    let mut out = std::io::BufWriter::with_capacity(1 << 16, out);
    match format {
        Format::Verilog => verilog::write_test_bench(netlist, options, rows, expected.view(), &mut out),
        Format::Vhdl => vhdl::write_test_bench(netlist, options, rows, expected.view(), &mut out),
        _ => return Err(Error::setting(format!("{format} has no test bench; Verilog and VHDL have"))),
    }
    .and_then(|()| out.flush())
    .map_err(|error| Error::io(format!("the test bench cannot be written: {error}")))
}

/// Reads a netlist from the bytes of a file.
///
/// BLIF and AIGER may come from any tool, as long as they are combinational; Verilog is the subset that [`write()`] writes.
/// Registers of a pipeline are read as wires, after checking that all paths to the outputs have equally many.
///
/// # Errors
/// When the format cannot be read back, or the file is not in it; names the line or byte.
pub fn read(bytes: &[u8], format: Format) -> Result<Netlist> {
    match format {
        Format::Blif => read::blif(bytes),
        Format::Aiger | Format::AigerAscii => read::aiger(bytes),
        Format::Verilog => read::verilog(bytes),
        _ => Err(Error::setting(format!("{format} cannot be read back; BLIF, AIGER and Verilog can"))),
    }
}
