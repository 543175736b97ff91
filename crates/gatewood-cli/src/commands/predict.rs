//! `gatewood predict`: the class of each row, as CSV.

use std::io::Write;
use std::path::PathBuf;

use super::sources::{ModelArgs, data_spec, input};
use crate::terminal::{OutputFile, Usage};
use anyhow::{Result, bail};
use gatewood::encode::Table;
use gatewood::explain::{BACKGROUND_ROWS, Contributions, contributions, spread};
use gatewood::model::{Model, Rows};
use gatewood_data::{LoadOptions, load_unlabelled};

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

    /// Also give what each column adds to the margin of the row's class (for two classes: of the second), in log-odds:
    /// exact Shapley values, which add up to the margin minus the mean margin of the background rows
    #[arg(long)]
    contributions: bool,

    /// The rows that contributions compare with [default: rows of DATA, evenly spread]
    #[arg(long, value_name = "DATA", requires = "contributions")]
    background: Option<String>,

    /// How many background rows to take at the most, evenly spread
    #[arg(long, value_name = "N", default_value_t = BACKGROUND_ROWS, requires = "contributions")]
    background_rows: usize,
}

/// What each column adds, for each row.
pub(super) fn contributions_of(
    model: &Model,
    table: &Table,
    background: Option<&str>,
    most: usize,
    options: &LoadOptions,
    threads: usize,
) -> Result<Contributions> {
    let loaded = background.map(|data| Ok::<_, anyhow::Error>(load_unlabelled(&data_spec(data)?, options)?));
    let loaded = loaded.transpose()?;
    let rows = loaded.as_ref().unwrap_or(table);
    let background = rows.select_rows(&spread(rows.rows(), most))?;
    Ok(contributions(model, Rows::Raw(table.view()), Rows::Raw(background.view()), threads)?)
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
    let (background, most, threads) = (args.background.as_deref(), args.background_rows, args.model.threads);
    let added = args
        .contributions
        .then(|| contributions_of(&model, &table, background, most, &options, threads))
        .transpose()?;
    let classes: Vec<String> = model.classes().iter().map(|class| quoted(class)).collect();
    write!(out, "row,class")?;
    if args.proba {
        for class in model.classes() {
            write!(out, ",{}", quoted(&format!("p_{class}")))?;
        }
    }
    if let Some(added) = &added {
        for column in 0..added.columns() {
            write!(out, ",{}", quoted(&format!("c_{}", table.name(column))))?;
        }
        write!(out, ",c_mean")?;
    }
    writeln!(out)?;
    for (row, &class) in prediction.classes().iter().enumerate() {
        write!(out, "{},{}", row + 1, classes[class as usize])?;
        if args.proba {
            for probability in prediction.probabilities(row).unwrap_or_default() {
                write!(out, ",{probability:.6}")?;
            }
        }
        if let Some(added) = &added {
            let margin = if added.margins() == 1 { 0 } else { class as usize };
            for value in added.log_odds(row, margin) {
                write!(out, ",{value:.6}")?;
            }
            write!(out, ",{:.6}", added.mean_log_odds(margin))?;
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
