//! `gatewood verify`: whether an exported file computes what the model computes.

mod source;

use std::path::PathBuf;

use self::source::{Source, answers, packed};
use crate::terminal::{Usage, count, print};
use anyhow::{Context, Result, bail};
use gatewood::circuit::{Equivalence, Netlist, PROOF_CONFLICTS, prove_equal_within};
use gatewood::export::{Format, HARNESS_BLOCK, harness, raw_harness, raw_rows, read_for, test_rows};
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

    /// Conflicts that the SAT solver may meet for an output before the question is left undecided
    #[arg(long, value_name = "N", default_value_t = PROOF_CONFLICTS)]
    conflicts: u64,

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
    match prove_equal_within(&ours, &file, args.conflicts)? {
        Equivalence::Equal if args.json => print(&format!("{}\n", json!({"equal": true, "proven": true}))),
        Equivalence::Equal => print("equal: proven for all rows\n"),
        Equivalence::Differs { inputs, output } => {
            differs(args, &ours, &file, &inputs, output)?;
            bail!("{} does not compute what the model computes", place());
        }
        Equivalence::Undecided => {
            if args.json {
                print(&format!("{}\n", json!({"equal": null, "proven": false})))?;
            }
            bail!(
                "undecided: no row tells {} from the model, but {} conflicts were too few for a proof; \
                 allow more with --conflicts",
                place(),
                count(args.conflicts as usize)
            );
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

/// Compiles programs around the file and sends rows through them.
fn test(args: &Args, model: &Model, format: Format) -> Result<()> {
    let path = args.file.canonicalize().with_context(|| format!("{} cannot be read", args.file.display()))?;
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let source = Source::of(format, &path, text)?;
    let rows = args.rows.div_ceil(HARNESS_BLOCK).max(1) * HARNESS_BLOCK;
    test_bits(args, model, &source, rows)?;
    let raw = source.has_function("raw");
    if raw {
        test_raw(args, model, &source, rows)?;
    }
    if args.json {
        let value = json!({"equal": true, "proven": false, "rows": rows, "encoder": raw});
        return print(&format!("{value}\n"));
    }
    let also = if raw { " and on as many of raw values" } else { "" };
    print(&format!("equal on {} random rows{also}: a test, not a proof\n", count(rows)))
}

/// The outputs that a file shows for a class: its number, and after it one output a class where it has them.
struct Shown {
    class_bits: u32,
    one_hot: bool,
}

impl Shown {
    fn of(model: &Model, source: &Source) -> Result<Self> {
        let classes = model.classes().len();
        let class_bits = (usize::BITS - (classes - 1).leading_zeros()).max(1);
        let outputs = source.outputs()?;
        let one_hot = outputs == class_bits as usize + classes;
        if !one_hot && outputs != class_bits as usize {
            bail!("{} has {outputs} outputs, which code of the model never has", source.path.display());
        }
        Ok(Self { class_bits, one_hot })
    }

    fn word(&self, class: u32) -> u64 {
        let class = u64::from(class);
        if self.one_hot { class | 1 << (u64::from(self.class_bits) + class) } else { class }
    }
}

/// Sends rows of bits through the functions for one row, for 64 and for 256, and through that for the margins.
fn test_bits(args: &Args, model: &Model, source: &Source, rows: usize) -> Result<()> {
    let has_margins = source.has_function("margins");
    let folder = tempfile::tempdir().context("no temporary folder can be made")?;
    let main = harness(source.format, &source.options, &source.path, has_margins)?;
    let program = source.compile(folder.path(), &main)?;
    let bits = test_rows(rows, model.circuit().inputs(), 0)?;
    let answers = answers(&program, packed(&bits))?;
    let shown = Shown::of(model, source)?;
    let prediction = model.predict_bits(bits.view(), 0)?;
    let margins = prediction.margins().filter(|_| has_margins);
    let width = 3 + margins.map_or(0, |_| prediction.width().unwrap_or(0));
    if answers.len() != rows * width {
        let path = source.path.display();
        bail!("the program of {path} wrote {} words instead of {}", answers.len(), rows * width);
    }
    for (row, words) in answers.chunks(width).enumerate() {
        let outputs = shown.word(prediction.classes()[row]);
        let expected = margins.map_or(&[][..], |margins| &margins[row * (width - 3)..][..width - 3]);
        let said: Vec<i64> = words[3..].iter().map(|&word| word as i64).collect();
        let differs = if words[..3].iter().any(|&word| word != outputs) {
            let (one, narrow, wide) = (words[0], words[1], words[2]);
            format!(
                "the outputs are {outputs}, but the file says {one} (row), {narrow} (64 rows), {wide} (256 rows)"
            )
        } else if !said.iter().zip(expected).all(|(&said, &margin)| said == i64::from(margin)) {
            format!("the margins are {expected:?}, but the file says {said:?}")
        } else {
            continue;
        };
        let row_bits: String =
            (0..bits.columns()).map(|column| if bits.get(row, column) { '1' } else { '0' }).collect();
        print(&format!("differs: {differs}, for the row\n  {row_bits}\n"))?;
        bail!("{} does not compute what the model computes", args.file.display());
    }
    Ok(())
}

/// Sends raw values through the function that takes them.
fn test_raw(args: &Args, model: &Model, source: &Source, rows: usize) -> Result<()> {
    let folder = tempfile::tempdir().context("no temporary folder can be made")?;
    let main = raw_harness(source.format, &source.options, &source.path, model.encoder())?;
    let program = source.compile(folder.path(), &main)?;
    let raw = raw_rows(model.encoder(), rows, 0)?;
    let answers = answers(&program, raw.bytes)?;
    let shown = Shown::of(model, source)?;
    let prediction = model.predict(&raw.table, 0)?;
    if answers.len() != rows {
        bail!("the program of {} wrote {} words instead of {rows}", source.path.display(), answers.len());
    }
    for (row, (&said, &class)) in answers.iter().zip(prediction.classes()).enumerate() {
        let outputs = shown.word(class);
        if said != outputs {
            let values: Vec<String> = (0..raw.table.columns())
                .map(|column| format!("  {} = {:?}", raw.table.name(column), raw.table.value(row, column)))
                .collect();
            print(&format!(
                "differs: the outputs are {outputs}, but the file says {said}, for the raw values\n{}\n",
                values.join("\n")
            ))?;
            bail!("{} does not compute what the model computes", args.file.display());
        }
    }
    Ok(())
}
