//! `gatewood verify`: whether an exported file computes what the model computes.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::terminal::{Usage, count, print};
use anyhow::{Context, Result, bail};
use gatewood::bits::BitMatrix;
use gatewood::circuit::{Equivalence, Netlist, prove_equal};
use gatewood::export::{Format, HARNESS_BLOCK, Options, harness, read_for, test_rows};
use gatewood::model::Model;
use serde_json::json;

/// Which model, which file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// A file that "gatewood export" wrote, or that another tool made of one: BLIF, AIGER and Verilog are proven, C and
    /// Rust are compiled and tested
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The format of the file [default: that of its ending]
    #[arg(long, value_name = "FORMAT", value_parser = str::parse::<Format>)]
    from: Option<Format>,

    /// Bits behind the point of the numbers that a circuit with its encoder reads
    #[arg(long, value_name = "BITS", default_value_t = 0, hide_default_value = true)]
    fraction_bits: u32,

    /// Random rows to test C and Rust with
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    rows: usize,

    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

/// Runs `gatewood verify`; a file that differs is an error.
pub(crate) fn run(args: &Args) -> Result<()> {
    let ending = args.file.extension().and_then(|ending| ending.to_str());
    let Some(format) = args.from.or_else(|| Format::from_extension(ending?)) else {
        bail!(Usage("say the format of the file with --from".into()));
    };
    let model = Model::load(&args.model)?;
    match format {
        Format::C | Format::Rust => test(args, &model, format),
        _ if format.is_readable() => proof(args, &model, format),
        _ => bail!(Usage(format!("{format} cannot be verified; BLIF, AIGER, Verilog, C and Rust can"))),
    }
}

fn proof(args: &Args, model: &Model, format: Format) -> Result<()> {
    let place = || args.file.display().to_string();
    let bytes = std::fs::read(&args.file).with_context(|| format!("{} cannot be read", place()))?;
    let (ours, file) =
        read_for(model, &bytes, format, args.fraction_bits).map_err(|error| error.at(place()))?;
    match prove_equal(&ours, &file)? {
        Equivalence::Equal if args.json => print(&format!("{}\n", json!({"equal": true, "proven": true}))),
        Equivalence::Equal => print("equal: proven for all rows\n"),
        Equivalence::Differs { inputs, output } => {
            differs(args, &ours, &file, &inputs, output)?;
            bail!("{} does not compute what the model computes", place());
        }
    }
}

/// Shows the row that tells a file from the model.
fn differs(args: &Args, ours: &Netlist, file: &Netlist, inputs: &[bool], output: usize) -> Result<()> {
    let row: String = inputs.iter().map(|&bit| if bit { '1' } else { '0' }).collect();
    let ones: Vec<&str> = ours
        .input_names()
        .iter()
        .zip(inputs)
        .filter_map(|(name, &bit)| bit.then_some(name.as_str()))
        .collect();
    let name = &ours.output_list()[output].0;
    let said = ours.evaluate_row(inputs)[output];
    debug_assert_eq!(file.inputs(), inputs.len());
    if args.json {
        let value = json!({
            "equal": false, "proven": true, "row": row, "ones": ones, "output": name,
            "model": u8::from(said), "file": u8::from(!said),
        });
        return print(&format!("{value}\n"));
    }
    print(&format!(
        "differs: output {name} of the model is {}, that of the file {}, for the row\n  {row}\nwhose ones are\n  {}\n",
        u8::from(said),
        u8::from(!said),
        if ones.is_empty() { "none".into() } else { ones.join(", ") }
    ))
}

/// Compiles a program around the file and sends rows through it.
fn test(args: &Args, model: &Model, format: Format) -> Result<()> {
    let path = args.file.canonicalize().with_context(|| format!("{} cannot be read", args.file.display()))?;
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let folder = tempfile::tempdir().context("no temporary folder can be made")?;
    let has_margins = match format {
        Format::C => text.contains("_margins("),
        _ => text.contains("pub fn margins("),
    };
    let program = compile(folder.path(), format, &path, &text, has_margins)?;
    let rows = args.rows.div_ceil(HARNESS_BLOCK).max(1) * HARNESS_BLOCK;
    let bits = test_rows(rows, model.circuit().inputs(), 0)?;
    let answers = answers(&program, &bits)?;
    let prediction = model.predict_bits(bits.view(), 0)?;
    let margins = prediction.margins().filter(|_| has_margins);
    let width = 3 + margins.map_or(0, |_| prediction.width().unwrap_or(0));
    if answers.len() != rows * width {
        bail!("the program of {} wrote {} words instead of {}", path.display(), answers.len(), rows * width);
    }
    for (row, words) in answers.chunks(width).enumerate() {
        let class = prediction.classes()[row];
        let expected = margins.map_or(&[][..], |margins| &margins[row * (width - 3)..][..width - 3]);
        let same = words[..3].iter().all(|&word| word == u64::from(class))
            && words[3..].iter().zip(expected).all(|(&word, &margin)| word as i64 == i64::from(margin));
        if !same {
            let row_bits: String =
                (0..bits.columns()).map(|column| if bits.get(row, column) { '1' } else { '0' }).collect();
            let (one, narrow, wide) = (words[0], words[1], words[2]);
            print(&format!(
                "differs: the class is {class}, but the file says {one} (row), {narrow} (64 rows), {wide} (256 rows), \
                 for the row\n  {row_bits}\n"
            ))?;
            bail!("{} does not compute what the model computes", args.file.display());
        }
    }
    if args.json {
        return print(&format!("{}\n", json!({"equal": true, "proven": false, "rows": rows})));
    }
    print(&format!("equal on {} random rows: a test, not a proof\n", count(rows)))
}

/// The name that the functions of C start with.
fn prefix(text: &str) -> Option<&str> {
    let (before, _) = text.split_once("_row(const uint64_t row[")?;
    before.rsplit([' ', '\n']).next()
}

fn compile(folder: &Path, format: Format, path: &Path, text: &str, margins: bool) -> Result<PathBuf> {
    let (main, program) = (folder.join(format!("main.{}", format.extension())), folder.join("program"));
    let mut options = Options::default();
    if format == Format::C {
        let name = prefix(text).with_context(|| format!("{} is not C that was exported", path.display()))?;
        options.name = name.to_owned();
    }
    std::fs::write(&main, harness(format, &options, path, margins)?)
        .with_context(|| format!("{} cannot be written", main.display()))?;
    let compiler = |variable: &str, usual: &str| std::env::var_os(variable).unwrap_or_else(|| usual.into());
    let mut command = match format {
        Format::C => {
            let mut command = Command::new(compiler("CC", "cc"));
            command.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
            command
        }
        _ => {
            let mut command = Command::new(compiler("RUSTC", "rustc"));
            command.args(["--edition=2021", "-Copt-level=2"]);
            command
        }
    };
    command.arg("-o").arg(&program).arg(&main).current_dir(folder);
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("the compiler {name} does not start"))?;
    if !output.status.success() {
        bail!("{name} refuses {}:\n{}", path.display(), String::from_utf8_lossy(&output.stderr));
    }
    Ok(program)
}

/// Sends rows through a program; gives the words it writes.
fn answers(program: &Path, rows: &BitMatrix) -> Result<Vec<u64>> {
    let mut bytes = Vec::new();
    for row in 0..rows.rows() {
        for first in (0..rows.columns()).step_by(64) {
            let columns = first..(first + 64).min(rows.columns());
            let word = columns.rev().fold(0u64, |word, column| word << 1 | u64::from(rows.get(row, column)));
            bytes.extend(word.to_ne_bytes());
        }
    }
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("the compiled program does not start")?;
    let mut input = child.stdin.take().context("the compiled program takes no input")?;
    let writer = std::thread::spawn(move || input.write_all(&bytes));
    let output = child.wait_with_output().context("the compiled program cannot be waited for")?;
    if !output.status.success() || !matches!(writer.join(), Ok(Ok(()))) {
        bail!("the compiled program ended with {}", output.status);
    }
    Ok(output.stdout.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect())
}
