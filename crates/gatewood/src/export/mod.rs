//! Circuits out, and back in: netlists as the files of other tools.
//!
//! - [`write_model`]: a model as a file, with [`ModelOptions`];
//! - [`Format`]: what can be written, and what of it can be read back;
//! - [`write()`]: a netlist as a file, streaming, the same bytes every time;
//! - [`write_test_bench`]: a test bench that checks itself, for Verilog and VHDL;
//! - [`read()`]: a netlist from BLIF, AIGER or the Verilog written here;
//! - [`verify`]: proves that such a file computes what a model computes; [`test_code`] tests C and Rust;
//! - [`explorer_page`]: a model as a page to look into with a browser;
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

mod code;
mod draft;
mod encoder;
mod explorer;
mod fixed_point;
mod form;
mod format;
mod hdl;
mod interface;
mod logic;
mod model;
mod names;
mod options;
mod picture;
mod ports;
#[cfg(test)]
mod tests;
mod verify;

use std::io::Write;

use self::code::{Code, c, rust};
pub use self::code::{CodeTest, CodeTestOptions, test_code};
pub use self::explorer::{EXPLORER_ROWS, ExplorerOptions, ExplorerRows, explorer_data, explorer_page};
pub use self::fixed_point::FixedPoint;
pub use self::format::Format;
pub use self::hdl::cells::CellFamily;
pub use self::hdl::project::{Project, ProjectFile, ProjectOptions, make_project};
pub use self::hdl::timing::{Chip, Frequency, PipelineSize};
use self::hdl::{verilog, verilog_reader, vhdl};
pub use self::interface::Interface;
use self::logic::{aiger, aiger_reader, blif, blif_reader, json};
pub use self::model::{
    ModelOptions, exported_netlist, netlist_of, port_map, port_struct, size_in_parts, test_rows, write_model,
    write_model_c, write_model_test_bench,
};
pub use self::options::{MAX_PIPELINE, Options};
pub use self::picture::{CurveMetric, CurvePicturePoint, curve_picture, heat_map, pattern_picture};
use self::picture::{dot, svg};
pub use self::ports::{Port, PortKind, Ports};
pub use self::verify::{Verification, VerifyOptions, verify};
use crate::bits::BitView;
use crate::circuit::Netlist;
use crate::{Error, Result};

/// Writes a netlist in a format. The same netlist and options give the same bytes.
///
/// # Errors
/// When the options are not valid, the format cannot show such a circuit, or writing fails.
pub fn write(netlist: &Netlist, format: Format, options: &Options, out: &mut impl Write) -> Result<()> {
    options.validate()?;
    check_hardware(options, format)?;
    check_shape(netlist, format)?;
    check_ports(netlist, options)?;
    if let Some(family) = options.cells
        && netlist.max_arity() > family.inputs()
    {
        return Err(Error::data(format!(
            "a LUT of {} inputs is not a cell; cells of {family} have {} at the most",
            netlist.max_arity(),
            family.inputs()
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
    Error::writing(format!("the {format} file cannot be written"), error)
}

fn check_hardware(options: &Options, format: Format) -> Result<()> {
    if options.pipeline > 0 && !matches!(format, Format::Verilog | Format::Vhdl) {
        return Err(Error::setting(format!("{format} has no pipeline; only Verilog and VHDL have")));
    }
    if options.handshake && options.pipeline == 0 {
        return Err(Error::setting("only a pipeline has registers to enable and reset"));
    }
    if options.cells.is_some() && !matches!(format, Format::Verilog | Format::Vhdl) {
        return Err(Error::setting(format!("{format} has no LUT cells; only Verilog and VHDL have")));
    }
    Ok(())
}

fn check_ports(netlist: &Netlist, options: &Options) -> Result<()> {
    match &options.ports {
        Some(ports) if !ports.suit(netlist) => Err(Error::data("the ports are not the lines of the circuit")),
        _ => Ok(()),
    }
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
    check_ports(netlist, options)?;
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
    .map_err(|error| Error::writing("the test bench cannot be written", &error))
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
        Format::Blif => blif_reader::read(bytes),
        Format::Aiger | Format::AigerAscii => aiger_reader::read(bytes),
        Format::Verilog => verilog_reader::read(bytes),
        _ => Err(Error::setting(format!("{format} cannot be read back; BLIF, AIGER and Verilog can"))),
    }
}
