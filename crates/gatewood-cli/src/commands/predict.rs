//! `gatewood predict`: the class of each row, as CSV.

use std::io::Write;
use std::path::PathBuf;

use super::sources::{ModelArgs, data_spec, input};
use crate::terminal::{OutputFile, Usage};
use anyhow::{Result, bail};
use gatewood::model::Rows;
use gatewood_data::load_unlabelled;

/// Which model, which rows, where to.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,

    /// Raw rows: a file, "-", or a named set, of which the test rows are taken. The label need not be there
    #[arg(value_name = "DATA")]
    data: String,

    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also give the probability of each class
    #[arg(long)]
    proba: bool,
}

/// Runs `gatewood predict`: a line `row,class` for each row, counted from 1.
pub(crate) fn run(args: &Args) -> Result<()> {
    let (model, options) = args.model.load()?;
    let spec = data_spec(&args.data)?;
    let mut out =
        OutputFile::create(args.output.as_deref(), [args.model.path()].into_iter().chain(input(&spec)))?;
    let table = load_unlabelled(&spec, &options)?;
    let prediction = model.predictor().predict(Rows::Raw(table.view()), args.model.threads)?;
    if args.proba && prediction.width().is_none() {
        bail!(Usage("a single tree says a class and no probability; leave --proba out".into()));
    }
    let classes: Vec<String> = model.classes().iter().map(|class| quoted(class)).collect();
    write!(out, "row,class")?;
    if args.proba {
        for class in model.classes() {
            write!(out, ",{}", quoted(&format!("p_{class}")))?;
        }
    }
    writeln!(out)?;
    for (row, &class) in prediction.classes().iter().enumerate() {
        write!(out, "{},{}", row + 1, classes[class as usize])?;
        if args.proba {
            for probability in prediction.probabilities(row).unwrap_or_default() {
                write!(out, ",{probability:.6}")?;
            }
        }
        writeln!(out)?;
    }
    out.finish()
}

/// A field of CSV.
pub(super) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
