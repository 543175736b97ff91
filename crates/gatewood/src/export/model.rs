//! Models out: their circuit, with or without the encoder, in every format.

use std::io::Write;

use serde_json::json;

use super::code::{Code, c};
use super::fixed_point::MAX_FRACTION;
use super::hdl::project::Layout;
use super::ports::{Port, Ports};
use super::{Chip, Format, Frequency, Interface, Options, encoder, names};
use crate::bits::{BitMatrix, BitView};
use crate::circuit::{
    GroveOutputs, Netlist, NetlistBuilder, NetlistSize, Output, SimplifySettings, SumsOf, column_names,
};
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
    /// Bits behind the point of the numbers that a circuit with its encoder reads; without a number, as many for each column
    /// as its thresholds ask for.
    pub fraction: Option<u32>,
    /// What a grove shows besides its class.
    pub outputs: GroveOutputs,
    /// Whether bits that the circuit never reads are inputs of the file, too; they are one bus then.
    pub all_inputs: bool,
    /// Whether Verilog and VHDL have one bus of inputs and one of outputs in place of ports named after columns.
    pub bus: bool,
    /// The clock that a pipeline of cells is to keep up with, in place of a number of stages.
    pub clock: Option<Frequency>,
    /// Whether the circuit is made smaller first.
    pub simplify: bool,
    /// What sums of votes are made of; as suits the file where it is left open.
    pub sums: Option<SumsOf>,
}

impl ModelOptions {
    /// The same options with sums made for a format: AIGER counts ANDs, and cells of four inputs hold no counters of six.
    pub(super) fn made_for(&self, format: Format) -> Self {
        let is_narrow = self.file.cells.is_some_and(|family| family.inputs() < 6);
        let ands = matches!(format, Format::Aiger | Format::AigerAscii);
        let sums = if ands || is_narrow { SumsOf::FullAdders } else { SumsOf::Counters };
        Self { sums: self.sums.or(Some(sums)), ..self.clone() }
    }
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self {
            file: Options::default(),
            encoder: false,
            fraction: None,
            outputs: GroveOutputs::default(),
            all_inputs: false,
            bus: false,
            clock: None,
            simplify: true,
            sums: None,
        }
    }
}

/// The netlist that a model stands for, not simplified. Its inputs are the encoder's bits, each named by what it means, or
/// with the encoder the bits of raw columns; its outputs are the bits of the class, and what else is asked for.
///
/// # Errors
/// When the encoder cannot be part of it.
pub fn netlist_of(model: &Model, options: &ModelOptions) -> Result<Netlist> {
    Ok(with_ports(model, options)?.0)
}

/// The netlist that a model stands for, and the ports of its inputs where they are raw columns.
fn with_ports(model: &Model, options: &ModelOptions) -> Result<(Netlist, Vec<Port>)> {
    if let Some(fraction) = options.fraction.filter(|&fraction| fraction > MAX_FRACTION) {
        return Err(Error::setting(format!(
            "{fraction} bits behind the point are over the limit of {MAX_FRACTION}"
        )));
    }
    let names = bit_names(model);
    let netlist = match model.circuit() {
        Circuit::Tree(tree) => Netlist::from_tree(tree, names)?,
        Circuit::Grove(grove) => {
            Netlist::from_grove_with(grove, names, options.outputs, options.sums.unwrap_or_default())?
        }
    };
    match options.encoder {
        true => encoder::attach(model.encoder(), &netlist, options.fraction),
        false => Ok((netlist, Vec::new())),
    }
}

/// The netlist of a model with the inputs and outputs that its exported files have, not simplified: as [`netlist_of`], but only
/// bits that are read are inputs unless [`ModelOptions::all_inputs`] is set. One input stays in any case.
///
/// # Errors
/// As [`netlist_of`].
pub fn exported_netlist(model: &Model, options: &ModelOptions) -> Result<Netlist> {
    Ok(exported(model, options)?.0)
}

/// The netlist of an exported file, and its ports.
pub(super) fn exported(model: &Model, options: &ModelOptions) -> Result<(Netlist, Ports)> {
    let (netlist, ports) = with_ports(model, options)?;
    let module = &options.file.name;
    // A tree that reads nothing has no raw column either, but a module has an input.
    if options.encoder && !ports.is_empty() {
        let ports = Ports::new(ports, &netlist, module);
        return Ok((netlist, ports));
    }
    let bits = match options.all_inputs {
        true => (0..netlist.inputs()).collect(),
        false => encoder::read_inputs(&netlist),
    };
    let netlist = if options.all_inputs { netlist } else { encoder::without_unread(&netlist)? };
    let ports = Ports::new(Ports::of_bits(model.encoder(), &bits), &netlist, module);
    Ok((netlist, ports))
}

/// What is joined to each port of an exported circuit, as one JSON object: `inputs` with the name of the `port`, what it means
/// as its `name`, its `lines` among all inputs (those of the bus `x` where there is one), its `width`, whether it is `signed`, its
/// `column` and, where it is one, the number of the encoder's `bit`; `outputs` likewise.
///
/// # Errors
/// As [`netlist_of`].
pub fn port_map(model: &Model, options: &ModelOptions) -> Result<String> {
    let (inputs, outputs) = exported(model, options)?.1.json(model.encoder());
    let interface = interface(model, options).to_string();
    let map =
        json!({"module": options.file.name, "interface": interface, "inputs": inputs, "outputs": outputs});
    Ok(format!("{map:#}\n"))
}

/// What the inputs and outputs of a file with these options are.
fn interface(model: &Model, options: &ModelOptions) -> Interface {
    let value = model.circuit().says_values();
    Interface {
        encoder: options.encoder,
        fraction: options.fraction.filter(|_| options.encoder),
        all_inputs: !options.encoder && options.all_inputs,
        outputs: if value { GroveOutputs::default() } else { options.outputs },
        value,
    }
}

fn bit_names(model: &Model) -> Vec<String> {
    names::unique((0..model.encoder().bits()).map(|bit| model.encoder().describe(bit)).collect())
}

/// The options with what is known of the model added to the facts, and with the ports unless they are buses.
pub(super) fn with_facts(model: &Model, options: &ModelOptions, ports: Option<Ports>) -> Options {
    let mut file = options.file.clone();
    file.ports = ports.filter(|_| !options.bus && !options.all_inputs);
    let provenance = model.provenance();
    if !provenance.data.is_empty() {
        file.facts.push(format!("Trained on {}, {} rows", provenance.data, provenance.rows));
    }
    file.interface = Some(interface(model, options));
    if let Some(fact) = value_fact(model) {
        file.facts.push(fact);
        return file;
    }
    let classes: Vec<String> = model
        .classes()
        .iter()
        .enumerate()
        .map(|(class, name)| format!("{class} is {}", names::safe(name)))
        .collect();
    file.facts.push(format!("Classes: {}", classes.join(", ")));
    file
}

/// What the margin of a model that says values stands for.
fn value_fact(model: &Model) -> Option<String> {
    let Circuit::Grove(grove) = model.circuit() else { return None };
    let Output::Value(output) = grove.output() else { return None };
    let quantiles: Vec<String> = output.quantiles.levels().iter().map(f64::to_string).collect();
    let of = match &quantiles[..] {
        [] => String::new(),
        [one] => format!(", the quantile {one}"),
        several => format!(", the quantiles {}", several.join(", ")),
    };
    Some(format!("Value: {}, the margin being signed{of}", output.formula()))
}

/// The code of a model for C or Rust: votes added up where it is a grove, else its netlist.
///
/// Margins are a function of their own there, so that they need not be asked for.
fn code_of(model: &Model, format: Format, options: &ModelOptions, file: &Options) -> Result<Code> {
    let code = match model.circuit() {
        Circuit::Grove(grove) => Code::of_grove(grove, &bit_names(model), options.outputs.one_hot, file)?,
        Circuit::Tree(_) => {
            let bits_only = ModelOptions { encoder: false, all_inputs: true, ..options.clone() };
            let netlist = smaller(&exported_netlist(model, &bits_only)?, format, &bits_only)?;
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
    if matches!(format, Format::C | Format::Rust) {
        let file = with_facts(model, options, None);
        return super::write_code(&code_of(model, format, options, &file)?, format, &file, out);
    }
    let (netlist, ports) = exported(model, &options.made_for(format))?;
    let netlist = smaller(&netlist, format, options)?;
    let file = with_stages(&netlist, options, with_facts(model, options, Some(ports)))?;
    super::write(&netlist, format, &file, out)
}

/// So many LUTs of `inputs` inputs are enough for a grove, on so many levels: the circuit alone, and with the comparisons of the
/// encoder, where these can be part of it. Counted by [`Grove::size_in_parts`](crate::circuit::Grove::size_in_parts); the
/// encoder is one of the parts.
///
/// # Errors
/// When `inputs` is out of range, the model is no grove, or memory runs out.
pub fn size_in_parts(model: &Model, inputs: usize) -> Result<(NetlistSize, Option<NetlistSize>)> {
    let Circuit::Grove(grove) = model.circuit() else {
        return Err(Error::setting("only groves are counted in parts"));
    };
    let circuit = grove.size_in_parts(inputs)?;
    // An inverter for each bit that is read, which is none of the encoder's.
    let bits = model.circuit().used_inputs();
    let mut builder = NetlistBuilder::new(column_names(model.encoder().bits()))?;
    for (place, &bit) in bits.iter().enumerate() {
        let read = builder.input(bit as usize);
        let signal = builder.add(&[0b01], &[read])?;
        builder.output(format!("out{place}"), signal)?;
    }
    let Ok((encoder, _)) = encoder::attach(model.encoder(), &builder.finish(), None) else {
        return Ok((circuit, None));
    };
    let mut size = encoder.size();
    if encoder.max_arity() > inputs {
        size = encoder.map_to_luts(inputs)?.size();
    } else {
        (size.luts, size.depth) = (size.luts - bits.len(), size.depth - 1);
    }
    (size.luts, size.depth) = (size.luts + circuit.luts, size.depth + circuit.depth);
    Ok((circuit, Some(size)))
}

/// The options with the stages that a clock asks for, of the netlist as it is written.
pub(super) fn with_stages(netlist: &Netlist, options: &ModelOptions, mut file: Options) -> Result<Options> {
    let Some(clock) = options.clock else { return Ok(file) };
    if file.pipeline > 0 {
        return Err(Error::setting(
            "a pipeline has so many stages, or as many as a clock asks for; not both",
        ));
    }
    let Some(family) = file.cells else {
        return Err(Error::setting("the stages for a clock depend on the chip: say the family of its cells"));
    };
    file.pipeline = Chip::of_family(family).stages(netlist, clock)?;
    Ok(file)
}

/// A row of an exported circuit as a C struct, for a processor that sends rows word by word.
///
/// # Errors
/// As [`netlist_of`].
pub fn port_struct(model: &Model, options: &ModelOptions) -> Result<String> {
    let (netlist, ports) = exported(model, options)?;
    let file = with_facts(model, options, None);
    Ok(Layout::new(&ports, 32)?.c_header(&ports, &file.name, &file.header(&netlist)))
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
    let file = with_facts(model, options, None);
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
    let (netlist, ports) = exported(model, &options.made_for(format))?;
    let mut file = with_facts(model, options, Some(ports));
    if options.clock.is_some() {
        file = with_stages(&smaller(&netlist, format, options)?, options, file)?;
    }
    super::write_test_bench(&netlist, format, &file, rows, out)
}

/// The netlist as it is written.
pub(super) fn smaller(netlist: &Netlist, format: Format, options: &ModelOptions) -> Result<Netlist> {
    if let Some(family) = options.file.cells
        && options.simplify
    {
        return netlist.map_to_luts(family.inputs());
    }
    let mut settings = SimplifySettings::default();
    if matches!(format, Format::C | Format::Rust | Format::Aiger | Format::AigerAscii) {
        // On a processor a wide LUT costs more than the narrow ones it is made of, and ANDs take it apart again, into more.
        settings.merge = 0;
    }
    Ok(if options.simplify { netlist.simplify(&settings)?.netlist } else { netlist.clone() })
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
