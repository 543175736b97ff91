//! `gatewood verify`: whether an exported file computes what the model computes.

use std::path::PathBuf;

use crate::terminal::{Usage, count, print};
use anyhow::{Context, Result, bail};
use gatewood::circuit::{Equivalence, Netlist, PROOF_CONFLICTS, prove_equal_within};
use gatewood::export::{Format, read_for, test_code};
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
        _ => {
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
    let test = test_code(model, format, &args.file, args.rows)?;
    let equal = test.difference.is_none();
    if args.json {
        let value = json!({"equal": equal, "proven": false, "rows": test.rows, "encoder": test.raw_rows > 0,
            "difference": test.difference});
        print(&format!("{value}\n"))?;
    } else if let Some(difference) = &test.difference {
        print(&format!("differs: {difference}\n"))?;
    } else {
        let also = if test.raw_rows > 0 { " and on as many of raw values" } else { "" };
        print(&format!("equal on {} random rows{also}: a test, not a proof\n", count(test.rows)))?;
    }
    if !equal {
        bail!("{} does not compute what the model computes", args.file.display());
    }
    Ok(())
}
