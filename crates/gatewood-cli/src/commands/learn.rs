//! `gatewood learn`: a Boolean function from samples, as a small circuit.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::terminal::{Grid, OutputFile, Terminal, Usage, count, print, seconds, several, share};
use anyhow::{Result, bail};
use gatewood::circuit::prove_equal;
use gatewood::export::{self, Format, Options};
use gatewood::learn::{FunctionFit, FunctionSettings, FunctionTask, learn_function};
use gatewood_data::read::{PlaFunction, open, read_pla_function};
use serde_json::json;

/// Which samples, how many ANDs, where to.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Samples as a PLA file: the input bits and the output bits of each row
    #[arg(value_name = "FILE")]
    samples: PathBuf,

    /// ANDs of two inputs that the circuit may have, inverters not counted
    #[arg(long, value_name = "N", default_value_t = FunctionSettings::default().max_ands)]
    max_ands: usize,

    /// Other samples that choose among circuits [default: a fifth of FILE]
    #[arg(long, value_name = "FILE")]
    validation: Option<PathBuf>,

    /// Other samples to test the circuit on
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,

    /// Write the circuit to this file: AIGER (.aig, .aag), BLIF (.blif), Verilog (.v) and others
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The format: verilog, vhdl, blif, aiger, aiger-ascii, c, rust, dot, svg or json [default: that of the file's ending]
    #[arg(long, value_name = "FORMAT", value_parser = str::parse::<Format>, requires = "output")]
    to: Option<Format>,

    /// Where all randomness comes from: one seed, one circuit
    #[arg(long, value_name = "S", default_value_t = FunctionSettings::default().seed)]
    seed: u64,

    /// Threads to use [default: one a core]; the circuit does not depend on it
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,

    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

/// Runs `gatewood learn`.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    let format = format_of(args)?;
    let samples = read(&args.samples)?;
    let validation = args.validation.as_deref().map(read).transpose()?;
    let test = args.test.as_deref().map(read).transpose()?;
    let task = FunctionTask {
        inputs: samples.bits.view(),
        outputs: samples.values.view(),
        input_names: &samples.inputs,
        output_names: &samples.outputs,
        validation: validation.as_ref().map(|rows| (rows.bits.view(), rows.values.view())),
    };
    let settings = FunctionSettings { max_ands: args.max_ands, seed: args.seed, threads: args.threads };
    let started = Instant::now();
    let fit = learn_function(&task, &settings, &terminal.bar("learning"))?;
    let learn_seconds = started.elapsed().as_secs_f64();
    let tested = test.as_ref().map(|rows| fit.errors(rows.bits.view(), rows.values.view())).transpose()?;
    let proven = match (&args.output, format) {
        (Some(path), Some(format)) => Some(write(args, path, format, &fit)?),
        _ => None,
    };
    if args.json {
        let mut value = json!({"ands": fit.ands, "inputs": fit.netlist.inputs(), "outputs": fit.outputs,
            "train_rows": samples.bits.rows(), "train_seconds": learn_seconds, "seed": args.seed});
        if let Some(errors) = &tested {
            value["test_errors"] = json!(errors);
            value["test_error"] = json!(errors.iter().sum::<f64>() / errors.len() as f64);
        }
        if let Some(proven) = proven {
            value["proven"] = json!(proven);
        }
        return print(&format!("{value}\n"));
    }
    print(&table(&fit, tested.as_deref()))?;
    print(&format!(
        "\ncircuit of {} and {}, learned in {}\n",
        several(fit.netlist.inputs(), "input"),
        several(fit.ands, "AND"),
        seconds(learn_seconds)
    ))?;
    if let (Some(path), Some(proven)) = (&args.output, proven) {
        let how = if proven { ", proven equal to what was learned" } else { "" };
        terminal.remark(&format!("{}: the circuit{how}", path.display()));
    }
    Ok(())
}

fn format_of(args: &Args) -> Result<Option<Format>> {
    let Some(path) = &args.output else { return Ok(None) };
    let ending = path.extension().and_then(|ending| ending.to_str());
    match args.to.or_else(|| Format::from_extension(ending?)) {
        Some(format) => Ok(Some(format)),
        None => {
            bail!(Usage("say the format with --to, or give a file whose ending is that of a format".into()))
        }
    }
}

fn read(path: &Path) -> Result<PlaFunction> {
    Ok(read_pla_function(&mut open(path)?).map_err(|error| error.at(path.display()))?)
}

/// Writes the circuit; says whether the file, read back, was proven to be the same.
fn write(args: &Args, path: &Path, format: Format, fit: &FunctionFit) -> Result<bool> {
    let inputs = [Some(&args.samples), args.validation.as_ref(), args.test.as_ref()];
    let mut out = OutputFile::create(Some(path), inputs.into_iter().flatten().map(PathBuf::as_path))?;
    let mut bytes = Vec::new();
    export::write(&fit.netlist, format, &Options::default(), &mut bytes)?;
    let proven =
        format.is_readable() && prove_equal(&fit.netlist, &export::read(&bytes, format)?)?.is_equal();
    out.write_all(&bytes)?;
    out.finish()?;
    Ok(proven)
}

fn table(fit: &FunctionFit, tested: Option<&[f64]>) -> String {
    let mut head = vec!["output", ">train error", ">held out"];
    head.extend(tested.map(|_| ">test"));
    head.extend([">ANDs", "shape"]);
    let mut grid = Grid::new(&head);
    for (place, output) in fit.outputs.iter().enumerate() {
        let mut row = vec![output.name.clone(), share(output.train_error), share(output.held_out_error)];
        row.extend(tested.map(|errors| share(errors[place])));
        row.extend([count(output.ands), output.shape.clone()]);
        grid.row(row);
    }
    grid.show("  ")
}
