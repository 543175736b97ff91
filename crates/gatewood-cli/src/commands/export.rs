//! `gatewood export`: a model's circuit as a file for other tools.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::terminal::{OutputFile, Terminal, Usage, several};
use anyhow::{Result, bail};
use gatewood::circuit::GroveOutputs;
use gatewood::export::{
    CellFamily, Format, ModelOptions, exported_netlist, port_map, test_rows, write_model, write_model_c,
    write_model_test_bench,
};
use gatewood::model::Model;

/// Which model, in which format, where to.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// The format: verilog, vhdl, blif, aiger, aiger-ascii, c, rust, dot, svg or json [default: that of the file's ending]
    #[arg(long, value_name = "FORMAT", value_parser = str::parse::<Format>)]
    to: Option<Format>,

    /// Write to this file instead of standard output; C gets a header beside it
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Make the encoder part of the file: circuits read raw columns as signed integers, C and Rust get a function that
    /// takes raw numbers and texts
    #[arg(long)]
    with_encoder: bool,

    /// Bits behind the point of the numbers that a circuit with its encoder reads [default: none]
    #[arg(long, value_name = "BITS", requires = "with_encoder")]
    fraction_bits: Option<u32>,

    /// Make all of the encoder's bits inputs of a circuit, not only those that it reads
    #[arg(long, conflicts_with = "with_encoder")]
    all_inputs: bool,

    /// Also write what each input and output of a circuit is to this file, as JSON
    #[arg(long, value_name = "FILE")]
    port_map: Option<PathBuf>,

    /// Register stages of Verilog and VHDL [default: none, all is combinational]
    #[arg(long, value_name = "STAGES")]
    pipeline: Option<usize>,

    /// Write LUTs as cells that synthesis leaves as `inspect --luts 6` (or 4) counts them, instead of as formulas (Verilog):
    /// xilinx (LUT1 to LUT6 of AMD's devices), ice40 (SB_LUT4) or ecp5 (LUT4 of Lattice's) [default without a word: xilinx]
    #[arg(long, value_name = "FAMILY", num_args = 0..=1, require_equals = true, default_missing_value = "xilinx",
        value_parser = str::parse::<CellFamily>)]
    cells: Option<CellFamily>,

    /// Also write a test bench that checks itself to this file (Verilog and VHDL)
    #[arg(long, value_name = "FILE")]
    test_bench: Option<PathBuf>,

    /// Random rows of the test bench
    #[arg(long, value_name = "N", default_value_t = 256, requires = "test_bench")]
    rows: usize,

    /// The name of the module, or what the names of functions start with [default: model]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Show one output a class besides the number of the class (groves)
    #[arg(long)]
    one_hot: bool,

    /// Show a grove's margins besides the class (C and Rust have a function for them in any case)
    #[arg(long)]
    margins: bool,

    /// Write the circuit as it was learned, one LUT a gate
    #[arg(long)]
    no_simplify: bool,
}

/// Runs `gatewood export`.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    let ending = args.output.as_deref().and_then(Path::extension).and_then(|ending| ending.to_str());
    let Some(format) = args.to.or_else(|| Format::from_extension(ending?)) else {
        bail!(Usage(format!(
            "say the format with --to, or give a file whose ending is that of a format: {}",
            Format::ALL.map(|format| format!(".{} ({format})", format.extension())).join(", ")
        )));
    };
    let model = Model::load(&args.model)?;
    let sources = || std::iter::once(args.model.as_path());
    let mut options = ModelOptions {
        encoder: args.with_encoder,
        all_inputs: args.all_inputs,
        outputs: GroveOutputs { one_hot: args.one_hot, margins: args.margins },
        ..ModelOptions::default()
    };
    options.simplify &= !args.no_simplify;
    options.fraction = args.fraction_bits.unwrap_or(options.fraction);
    options.file.pipeline = args.pipeline.unwrap_or(options.file.pipeline);
    options.file.cells = args.cells.or(options.file.cells);
    if let Some(name) = &args.name {
        options.file.name.clone_from(name);
    }
    // All files are opened before any is written.
    let bench = match &args.test_bench {
        Some(path) => Some(OutputFile::create(Some(path), sources().chain(args.output.as_deref()))?),
        None => None,
    };
    match (args.output.as_deref(), format) {
        (Some(path), Format::C) => {
            let header = path.with_extension("h");
            options.file.header_file = header.file_name().map(|name| name.to_string_lossy().into_owned());
            let (mut source, mut header) =
                (OutputFile::create(Some(path), sources())?, OutputFile::create(Some(&header), sources())?);
            write_model_c(&model, &options, &mut source, &mut header)?;
            header.finish()?;
            source.finish()?;
        }
        (path, _) => {
            let mut out = OutputFile::create(path, sources())?;
            write_model(&model, format, &options, &mut out)?;
            out.finish()?;
        }
    }
    if let Some(mut out) = bench {
        let inputs = exported_netlist(&model, &options)?.inputs();
        let rows = test_rows(args.rows, inputs, 0)?;
        write_model_test_bench(&model, format, &options, rows.view(), &mut out)?;
        out.finish()?;
    }
    if let Some(path) = &args.port_map {
        let mut out = OutputFile::create(Some(path), sources().chain(args.output.as_deref()))?;
        out.write_all(port_map(&model, &options)?.as_bytes())?;
        out.finish()?;
    }
    if let Some(path) = &args.output {
        let gates = several(model.circuit().gates(), "gate");
        terminal.remark(&format!("{}: {format} of a circuit of {gates}", path.display()));
    }
    Ok(())
}
