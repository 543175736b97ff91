//! `gatewood verify`: whether an exported file computes what the model computes.

use std::path::PathBuf;
use std::time::Duration;

use crate::terminal::{Usage, count, print};
use anyhow::{Context, Result, bail};
use gatewood::circuit::{Equivalence, PROOF_CONFLICTS, ProofLimits};
use gatewood::export::{CodeTestOptions, Format, Verification, VerifyOptions, test_code, verify};
use gatewood::model::Model;
use serde_json::json;

/// Which model, which file.
///
/// Verilog, BLIF and AIGER are proven equal to the model for all rows. C and Rust are compiled and tested on random rows, which
/// is no proof. VHDL is checked by its own test bench ("gatewood export --test-bench") in a simulator.
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

    /// Bits behind the point of the numbers that a circuit with its encoder reads, where the file has no header that says so
    #[arg(long, value_name = "BITS")]
    fraction_bits: Option<u32>,

    /// Conflicts that the SAT solver may meet for an output before the question is left undecided
    #[arg(long, value_name = "N", default_value_t = PROOF_CONFLICTS)]
    conflicts: u64,

    /// Seconds that it may take before the question is left undecided
    #[arg(long, value_name = "SECONDS", default_value_t = VerifyOptions::TIME_LIMIT.as_secs_f64())]
    time_limit: f64,

    /// Random rows to test C and Rust with
    #[arg(long, value_name = "N", default_value_t = CodeTestOptions::default().rows)]
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
    let Ok(time_limit) = Duration::try_from_secs_f64(args.time_limit) else {
        bail!(Usage(format!("{} seconds are no time limit", args.time_limit)));
    };
    let model = Model::load(&args.model)?;
    match format {
        Format::C | Format::Rust => test(args, &model, format, time_limit),
        _ if format.is_readable() => proof(args, &model, format, time_limit),
        _ => bail!(Usage(format!("{format} cannot be verified; BLIF, AIGER, Verilog, C and Rust can"))),
    }
}

fn proof(args: &Args, model: &Model, format: Format, time_limit: Duration) -> Result<()> {
    let place = || args.file.display().to_string();
    let bytes = std::fs::read(&args.file).with_context(|| format!("{} cannot be read", place()))?;
    let limits = ProofLimits { conflicts: args.conflicts, time: Some(time_limit) };
    let options = VerifyOptions { fraction: args.fraction_bits, limits };
    let verification = verify(model, &bytes, format, &options).map_err(|error| error.at(place()))?;
    let interface = verification.interface;
    match &verification.found {
        Equivalence::Equal if args.json => {
            let interface = interface.to_string();
            print(&format!("{}\n", json!({"equal": true, "proven": true, "interface": interface})))
        }
        Equivalence::Equal => {
            let how = if verification.said_by_header { "" } else { ", as no header says" };
            print(&format!("equal: proven for all rows ({interface}{how})\n"))
        }
        Equivalence::Differs { inputs, output } => {
            differs(args, &verification, inputs, *output)?;
            bail!("{} does not compute what the model computes", place());
        }
        _ => {
            if args.json {
                let interface = interface.to_string();
                print(&format!("{}\n", json!({"equal": null, "proven": false, "interface": interface})))?;
            }
            bail!(
                "undecided: no row tells {} from the model, but {} conflicts and {} seconds were too few for a proof; \
                 allow more with --conflicts and --time-limit",
                place(),
                count(args.conflicts as usize),
                args.time_limit
            );
        }
    }
}

/// Shows the row that tells a file from the model.
fn differs(args: &Args, verification: &Verification, inputs: &[bool], output: usize) -> Result<()> {
    let row: String = inputs.iter().map(|&bit| if bit { '1' } else { '0' }).collect();
    let named = verification.inputs.iter().zip(inputs);
    let ones: Vec<&str> = named.filter_map(|(name, &bit)| bit.then_some(name.as_str())).collect();
    let name = &verification.outputs[output];
    let said = verification.expected[output];
    let interface = verification.interface;
    if args.json {
        let value = json!({
            "equal": false, "proven": true, "interface": interface.to_string(), "row": row, "ones": ones,
            "output": name, "model": u8::from(said), "file": u8::from(!said),
        });
        return print(&format!("{value}\n"));
    }
    print(&format!(
        "differs ({interface}): output {name} of the model is {}, that of the file {}, for the row\n  {row}\n\
         whose ones are\n  {}\n",
        u8::from(said),
        u8::from(!said),
        if ones.is_empty() { "none".into() } else { ones.join(", ") }
    ))
}

/// Compiles programs around the file and sends rows through them.
fn test(args: &Args, model: &Model, format: Format, time_limit: Duration) -> Result<()> {
    let options = CodeTestOptions { rows: args.rows, time_limit: Some(time_limit) };
    let test = test_code(model, format, &args.file, &options)?;
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
