//! `gatewood export`: a model's circuit as a file for other tools.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::sources::{SourceArgs, data_spec};
use crate::terminal::{OutputFile, Terminal, Usage, count, several};
use anyhow::{Context, Result, bail};
use gatewood::circuit::GroveOutputs;
use gatewood::export::{
    CellFamily, Format, Frequency, ModelOptions, Project, ProjectOptions, exported_netlist, make_project,
    port_map, port_struct, test_rows, write_model, write_model_c, write_model_test_bench,
};
use gatewood::model::{Model, Rows};
use gatewood_data::load_unlabelled;

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

    /// Make the encoder part of the file: circuits read raw columns as numbers of just enough bits, C and Rust get a function
    /// that takes raw numbers and texts
    #[arg(long)]
    with_encoder: bool,

    /// Bits behind the point of the numbers that a circuit with its encoder reads [default: as many for each column as its
    /// thresholds ask for]
    #[arg(long, value_name = "BITS", requires = "with_encoder")]
    fraction_bits: Option<u32>,

    /// Make all of the encoder's bits inputs of a circuit, not only those that it reads, and one bus of them
    #[arg(long, conflicts_with = "with_encoder")]
    all_inputs: bool,

    /// Make the inputs of Verilog and VHDL one bus x and the outputs one bus y, in place of ports named after columns
    #[arg(long)]
    bus: bool,

    /// Also write what each input and output of a circuit is to this file: as a C struct where it ends in .h, else as JSON
    #[arg(long, value_name = "FILE")]
    port_map: Option<PathBuf>,

    /// Register stages of Verilog and VHDL [default: none, all is combinational]
    #[arg(long, value_name = "STAGES")]
    pipeline: Option<usize>,

    /// Make as many register stages as keep up with this clock, as in 250MHz, by an estimate for the family of --cells
    #[arg(long, value_name = "FREQUENCY", conflicts_with = "pipeline", value_parser = str::parse::<Frequency>)]
    clock: Option<Frequency>,

    /// Give a pipeline enable, reset, and valid beside each row
    #[arg(long)]
    handshake: bool,

    /// Write LUTs as cells that synthesis leaves as `inspect --luts 6` (or 4) counts them, instead of as formulas (Verilog):
    /// xilinx (LUT1 to LUT6 of AMD's devices), ice40 (SB_LUT4), ecp5 (LUT4 of Lattice's) or gowin (LUT1 to LUT4 of Gowin's)
    /// [default without a word: xilinx]
    #[arg(long, value_name = "FAMILY", num_args = 0..=1, require_equals = true, default_missing_value = "xilinx",
        value_parser = str::parse::<CellFamily>)]
    cells: Option<CellFamily>,

    /// Also write a test bench that checks itself to this file (Verilog and VHDL)
    #[arg(long, value_name = "FILE")]
    test_bench: Option<PathBuf>,

    /// Rows of the test bench: random ones, or of --data
    #[arg(long, value_name = "N", default_value_t = ProjectOptions::default().rows)]
    rows: usize,

    /// Write a whole design of Verilog or VHDL to this folder: the module behind a stream, a test bench, scripts for synthesis and
    /// routing, constraints and a README [default of --cells there: ecp5; of --clock: 100MHz]
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["output", "port_map", "test_bench", "bus"])]
    project: Option<PathBuf>,

    /// Rows for the test bench of a project, as for training [default: random rows]
    #[arg(long, value_name = "DATA", requires = "project")]
    data: Option<String>,

    /// Bits of the words that a project's rows come in: 8, 16, 32 or 64 [default: 32]
    #[arg(long, value_name = "BITS", requires = "project")]
    word_bits: Option<usize>,

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

    #[command(flatten)]
    source: SourceArgs,
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
        bus: args.bus,
        outputs: GroveOutputs { one_hot: args.one_hot, margins: args.margins },
        ..ModelOptions::default()
    };
    options.simplify &= !args.no_simplify;
    options.clock = args.clock;
    options.fraction = args.fraction_bits.or(options.fraction);
    options.file.pipeline = args.pipeline.unwrap_or(options.file.pipeline);
    options.file.handshake |= args.handshake;
    options.file.cells = args.cells.or(options.file.cells);
    if let Some(name) = &args.name {
        options.file.name.clone_from(name);
    }
    if let Some(folder) = &args.project {
        return project(args, &model, format, options, folder, terminal);
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
        let text = match path.extension().is_some_and(|ending| ending == "h") {
            true => port_struct(&model, &options)?,
            false => port_map(&model, &options)?,
        };
        out.write_all(text.as_bytes())?;
        out.finish()?;
    }
    if let Some(path) = &args.output {
        let gates = several(model.circuit().gates(), "gate");
        terminal.remark(&format!("{}: {format} of a circuit of {gates}", path.display()));
    }
    let are_formulas = matches!(format, Format::Verilog | Format::Vhdl) && options.file.cells.is_none();
    if are_formulas && model.circuit().gates() >= MANY_GATES {
        terminal.remark(
            "the LUTs are formulas, of which synthesis makes a fifth more LUTs, and of large circuits in many minutes; for an FPGA, \
             --cells=xilinx, ice40, ecp5 or gowin writes cells, which it keeps",
        );
    }
    Ok(())
}

/// Gates from which cells are worth a remark: of 120 gates of digits, yosys makes more LUTs of formulas (see bench/hardware.md).
const MANY_GATES: usize = 100;

/// Writes the files of a project into a folder, which is made where it is not there.
fn project(
    args: &Args,
    model: &Model,
    format: Format,
    options: ModelOptions,
    folder: &Path,
    terminal: &Terminal,
) -> Result<()> {
    let mut settings = ProjectOptions { model: options, rows: args.rows, ..ProjectOptions::default() };
    settings.word = args.word_bits.unwrap_or(settings.word);
    let table = match &args.data {
        Some(data) => Some(load_unlabelled(&data_spec(data)?, &args.source.load_options_for(model))?),
        None => None,
    };
    let rows = table.as_ref().map(|table| Rows::Raw(table.view()));
    let project = make_project(model, format, &settings, rows)?;
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let mut files = Vec::new();
    for file in &project.files {
        let path = folder.join(&file.name);
        files.push((OutputFile::create(Some(&path), [args.model.as_path()])?, &file.text));
    }
    for (mut out, text) in files {
        out.write_all(text.as_bytes())?;
        out.finish()?;
    }
    terminal.remark(&format!("{}: {}", folder.display(), summary(&project)));
    if project.differing > 0 {
        terminal.remark(&format!(
            "{} of {} rows have another class than the model gives them: their numbers have more bits behind the point than the \
            circuit reads, and --fraction-bits makes them more",
            count(project.differing),
            count(project.rows)
        ));
    }
    Ok(())
}

fn summary(project: &Project) -> String {
    format!(
        "{} in {}, {}, a row in {} and an answer {} later; about {:.0} MHz on {}, by an estimate",
        several(project.luts, "LUT"),
        several(project.pipeline.stages, "stage"),
        several(project.pipeline.registers, "register"),
        several(project.words, "word"),
        several(project.latency, "clock"),
        project.estimate.megahertz(),
        project.chip.name
    )
}
