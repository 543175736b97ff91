//! `gatewood predict`: the class or the value of each row, as CSV.

use std::io::Write;
use std::path::PathBuf;

use super::sources::{ModelArgs, data_spec, input};
use crate::terminal::{OutputFile, Usage, print};
use anyhow::{Result, bail};
use gatewood::encode::{Column, Kind, Table, show_date};
use gatewood::explain::{BACKGROUND_ROWS, Contributions, contributions, spread};
use gatewood::model::{Model, Prediction, Rows};
use gatewood_cuda::DeviceChoice;
use gatewood_data::{LoadOptions, load_unlabelled, load_unlabelled_with};
use serde_json::{Value, json};

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

    /// Carry this column of the rows through to the output, such as an id; may be given several times
    #[arg(long = "with", value_name = "COLUMN")]
    carried: Vec<String>,

    /// Where rows are run: cpu, cuda, cuda:N for a certain GPU, or auto, which is the processor for now; the answers are the same
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceChoice,

    /// Print one JSON object and nothing else
    #[arg(long, conflicts_with_all = ["output", "contributions"])]
    json: bool,
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

/// Runs `gatewood predict`: a line `row,class` or `row,value` for each row, counted from 1, with the columns asked for between them.
pub(crate) fn run(args: &Args) -> Result<()> {
    let (model, options) = args.model.load()?;
    // A GPU that cannot be used is told before rows are read.
    let predictor = match args.device.open_to_predict()? {
        Some(device) => model.predictor().on(&*device)?,
        None => model.predictor(),
    };
    let spec = data_spec(&args.data)?;
    let mut out =
        OutputFile::create(args.output.as_deref(), [args.model.path()].into_iter().chain(input(&spec)))?;
    let (table, carried) = load_unlabelled_with(&spec, &options, &args.carried)?;
    let prediction = predictor
        .predict(Rows::Raw(table.view()), args.model.threads)
        .map_err(|error| error.at(&args.data))?;
    if let Some(values) = prediction.values() {
        if args.proba {
            bail!(Usage("the model says values, which have no probability; leave --proba out".into()));
        }
        let quantiles = prediction.quantiles().unwrap_or_default();
        let mut names = args.carried.clone();
        match quantiles.levels() {
            [] => names.push("value".into()),
            levels => names.extend(levels.iter().map(|level| format!("q{level}"))),
        }
        let (background, most) = (args.background.as_deref(), args.background_rows);
        let added = args
            .contributions
            .then(|| contributions_of(&model, &table, background, most, &options, args.model.threads))
            .transpose()?;
        if added.is_some() {
            names.extend((0..table.columns()).map(|column| format!("c_{}", table.name(column))));
            names.push("c_mean".into());
        }
        if args.json {
            let mut value = match quantiles.levels() {
                [] => json!({"rows": table.rows(), "predicted": values}),
                levels => {
                    let rows: Vec<&[f64]> = values.chunks(levels.len()).collect();
                    json!({"rows": table.rows(), "quantiles": levels, "predicted": rows})
                }
            };
            put_carried(args, &carried, &mut value);
            return print(&format!("{value}\n"));
        }
        let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        writeln!(out, "row,{}", names.join(","))?;
        for (row, values) in values.chunks(quantiles.levels().len().max(1)).enumerate() {
            write!(out, "{}", row + 1)?;
            for column in &carried {
                write!(out, ",{}", quoted(&shown(column, row)))?;
            }
            for value in values {
                write!(out, ",{value}")?;
            }
            if let Some(added) = &added {
                for value in added.log_odds(row, 0) {
                    write!(out, ",{value:.6}")?;
                }
                write!(out, ",{:.6}", added.mean_log_odds(0))?;
            }
            writeln!(out)?;
        }
        return out.finish();
    }
    if args.proba && prediction.width().is_none() {
        bail!(Usage("a single tree says a class and no probability; leave --proba out".into()));
    }
    let (background, most, threads) = (args.background.as_deref(), args.background_rows, args.model.threads);
    let added = args
        .contributions
        .then(|| contributions_of(&model, &table, background, most, &options, threads))
        .transpose()?;
    if args.json {
        return print(&format!("{}\n", json_result(args, model.classes(), &prediction, &carried)));
    }
    let classes: Vec<String> = model.classes().iter().map(|class| quoted(class)).collect();
    write!(out, "row,")?;
    for name in &args.carried {
        write!(out, "{},", quoted(name))?;
    }
    write!(out, "class")?;
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
        write!(out, "{},", row + 1)?;
        for column in &carried {
            write!(out, "{},", quoted(&shown(column, row)))?;
        }
        write!(out, "{}", classes[class as usize])?;
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

fn json_result(args: &Args, classes: &[String], prediction: &Prediction, carried: &[Column]) -> Value {
    let said: Vec<&String> = prediction.classes().iter().map(|&class| &classes[class as usize]).collect();
    let mut value = json!({"rows": said.len(), "classes": classes, "predicted": said});
    if args.proba {
        let rows = 0..prediction.classes().len();
        value["probabilities"] = rows.map(|row| json!(prediction.probabilities(row))).collect();
    }
    put_carried(args, carried, &mut value);
    value
}

/// Puts the columns that are carried through beside the rest.
fn put_carried(args: &Args, carried: &[Column], value: &mut Value) {
    for (name, column) in args.carried.iter().zip(carried) {
        value["with"][name] = (0..column.len()).map(|row| json!(shown(column, row))).collect();
    }
}

/// A value as it is written.
fn shown(column: &Column, row: usize) -> String {
    match column.get(row) {
        gatewood::encode::Value::Number(seconds) if column.kind() == Kind::Date => show_date(seconds),
        gatewood::encode::Value::Number(number) => number.to_string(),
        gatewood::encode::Value::Text(text) => text.to_owned(),
        _ => String::new(),
    }
}

/// A field of CSV.
pub(super) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
