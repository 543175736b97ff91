//! Models out: their circuit, with or without the encoder, in every format.

use std::io::Write;

use super::code::{Code, c};
use super::{Format, Interface, Options, encoder, names};
use crate::bits::{BitMatrix, BitView};
use crate::circuit::{GroveOutputs, Netlist, SimplifySettings};
use crate::model::{Circuit, Model};
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

/// What of a model is written, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelOptions {
    /// What the file says besides the circuit.
    pub file: Options,
    /// Whether raw columns are read, and compared inside, in place of the encoder's bits.
    pub encoder: bool,
    /// Bits behind the point of the numbers that a circuit with its encoder reads.
    pub fraction: u32,
    /// What a grove shows besides its class.
    pub outputs: GroveOutputs,
    /// Whether the circuit is made smaller first.
    pub simplify: bool,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self {
            file: Options::default(),
            encoder: false,
            fraction: 0,
            outputs: GroveOutputs::default(),
            simplify: true,
        }
    }
}

/// The most bits behind the point.
const MAX_FRACTION: u32 = 32;

/// The netlist that a model stands for, not simplified. Its inputs are the encoder's bits, each named by what it means, or
/// with the encoder the bits of raw columns; its outputs are the bits of the class, and what else is asked for.
///
/// # Errors
/// When the encoder cannot be part of it.
pub fn netlist_of(model: &Model, options: &ModelOptions) -> Result<Netlist> {
    if options.fraction > MAX_FRACTION {
        return Err(Error::setting(format!(
            "{} bits behind the point are over the limit of {MAX_FRACTION}",
            options.fraction
        )));
    }
    let names = bit_names(model);
    let netlist = match model.circuit() {
        Circuit::Tree(tree) => Netlist::from_tree(tree, names)?,
        Circuit::Grove(grove) => Netlist::from_grove(grove, names, options.outputs)?,
    };
    if options.encoder { encoder::attach(model.encoder(), &netlist, options.fraction) } else { Ok(netlist) }
}

fn bit_names(model: &Model) -> Vec<String> {
    names::unique((0..model.encoder().bits()).map(|bit| model.encoder().describe(bit)).collect())
}

/// The options with what is known of the model added to the facts.
fn with_facts(model: &Model, options: &ModelOptions) -> Options {
    let mut file = options.file.clone();
    let provenance = model.provenance();
    if !provenance.data.is_empty() {
        file.facts.push(format!("Trained on {}, {} rows", provenance.data, provenance.rows));
    }
    let classes: Vec<String> = model
        .classes()
        .iter()
        .enumerate()
        .map(|(class, name)| format!("{class} is {}", names::safe(name)))
        .collect();
    file.facts.push(format!("Classes: {}", classes.join(", ")));
    let fraction = if options.encoder { options.fraction } else { 0 };
    file.interface = Some(Interface { encoder: options.encoder, fraction, outputs: options.outputs });
    file
}

/// The code of a model for C or Rust: votes added up where it is a grove, else its netlist.
///
/// Margins are a function of their own there, so that they need not be asked for.
fn code_of(model: &Model, format: Format, options: &ModelOptions, file: &Options) -> Result<Code> {
    let code = match model.circuit() {
        Circuit::Grove(grove) => Code::of_grove(grove, &bit_names(model), options.outputs.one_hot, file)?,
        Circuit::Tree(_) => {
            let bits_only = ModelOptions { encoder: false, ..options.clone() };
            let netlist = smaller(model, format, &bits_only)?;
            super::check_shape(&netlist, format)?;
            Code::of_netlist(&netlist, file)?
        }
    };
    if options.encoder { code.with_encoder(model.encoder()) } else { Ok(code) }
}

/// Writes a model in a format.
///
/// # Errors
/// When the options do not suit the format or the model, or writing fails.
pub fn write_model(
    model: &Model,
    format: Format,
    options: &ModelOptions,
    out: &mut impl Write,
) -> Result<()> {
    let file = with_facts(model, options);
    if matches!(format, Format::C | Format::Rust) {
        return super::write_code(&code_of(model, format, options, &file)?, format, &file, out);
    }
    super::write(&smaller(model, format, options)?, format, &file, out)
}

/// Writes a model as C, the header apart from the source, which includes it by the name in
/// [`Options::header_file`].
///
/// # Errors
/// As [`write_model`].
pub fn write_model_c(
    model: &Model,
    options: &ModelOptions,
    source: &mut impl Write,
    header: &mut impl Write,
) -> Result<()> {
    let file = with_facts(model, options);
    let code = code_of(model, Format::C, options, &file)?;
    super::write_code(&code, Format::C, &file, source)?;
    c::write_header(&code, &file, header).map_err(|error| super::write_failed(Format::C, &error))
}

/// Writes a test bench for the Verilog or VHDL of a model.
///
/// # Errors
/// As [`super::write_test_bench`].
pub fn write_model_test_bench(
    model: &Model,
    format: Format,
    options: &ModelOptions,
    rows: BitView<'_>,
    out: &mut impl Write,
) -> Result<()> {
    super::write_test_bench(&netlist_of(model, options)?, format, &with_facts(model, options), rows, out)
}

fn smaller(model: &Model, format: Format, options: &ModelOptions) -> Result<Netlist> {
    let netlist = netlist_of(model, options)?;
    if let Some(family) = options.file.cells
        && options.simplify
    {
        return netlist.map_to_luts(family.inputs());
    }
    let mut settings = SimplifySettings::default();
    if matches!(format, Format::C | Format::Rust) {
        // On a processor a wide LUT costs more than the narrow ones it is made of.
        settings.merge = 0;
    }
    Ok(if options.simplify { netlist.simplify(&settings)?.netlist } else { netlist })
}

/// Rows to test with: random, each with a share of ones of its own, since circuits that were learned say little
/// about rows that are half ones.
///
/// # Errors
/// When memory runs out.
pub fn test_rows(rows: usize, columns: usize, seed: u64) -> Result<BitMatrix> {
    let mut matrix = BitMatrix::zeros(rows, columns)?;
    for row in 0..rows {
        let mut stream = Stream::new(seed, Purpose::Generate, row as u64);
        let share = stream.below(15) + 1;
        for column in 0..columns {
            if stream.below(16) < share {
                matrix.set(row, column, true);
            }
        }
    }
    Ok(matrix)
}
