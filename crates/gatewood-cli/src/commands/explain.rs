//! `gatewood explain`: why a row has its class, and what would turn it.

mod robustness;
mod sample;
mod values;

use std::fmt::Write;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::predict::contributions_of;
use super::sources::{ModelArgs, data_spec};
use crate::terminal::{OutputFile, Usage, count, print, seconds};
use anyhow::{Result, bail};
use gatewood::encode::Table;
use gatewood::explain::{
    BACKGROUND_ROWS, Contributions, EXPLAIN_SECONDS, ExplainedRow, Explainer, Reason, Turning, pixel_worth,
};
use gatewood::export::heat_map;
use gatewood::model::{Circuit, Model, Rows};
use gatewood_data::{LoadOptions, load_unlabelled};
use serde_json::{Value, json};

/// Which model, which rows, what to tell.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,

    /// Raw rows: a file, "-", or a named set, of which the test rows are taken
    #[arg(value_name = "DATA")]
    data: String,

    /// The row to explain, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    row: usize,

    /// Columns that a change of the row may not touch: names with commas between them
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    fixed: Vec<String>,

    /// Give the reason alone, without the change that would turn the row, which can take longer
    #[arg(long)]
    no_change: bool,

    /// Seconds that the reason may take, and as many for the change; what is not proven by then is marked so
    #[arg(long, value_name = "SECONDS", default_value_t = EXPLAIN_SECONDS)]
    time_limit: f64,

    /// The rows that contributions compare with [default: rows of DATA, evenly spread]
    #[arg(long, value_name = "DATA")]
    background: Option<String>,

    /// How many background rows to take at the most, evenly spread
    #[arg(long, value_name = "N", default_value_t = BACKGROUND_ROWS)]
    background_rows: usize,

    /// Explain so many rows, evenly spread, and tell medians; every reason is tested with random rows that meet it
    #[arg(long, value_name = "ROWS", conflicts_with = "row")]
    sample: Option<usize>,

    /// Random rows that test each reason of --sample
    #[arg(long, value_name = "N", default_value_t = 10_000, requires = "sample")]
    completions: usize,

    /// Tell the certified error instead, over so many labelled rows: the share that is wrong or could be turned by
    /// changing 1, 2 or 3 columns, or by moving every number by 1, 2 or 3 of the encoder's thresholds
    #[arg(long, value_name = "ROWS", conflicts_with_all = ["row", "sample"])]
    robustness: Option<usize>,

    /// Only draw which pixels of the row, an image, speak for its class or value: how much the lead of the class falls, or the
    /// value moves, when a pixel is turned from dark to bright or back. Models with patterns too
    #[arg(long, value_name = "FILE.svg", conflicts_with_all = ["sample", "robustness", "json"])]
    heat_map: Option<PathBuf>,

    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

/// Runs `gatewood explain`.
pub(crate) fn run(args: &Args) -> Result<()> {
    if args.time_limit.is_nan() || args.time_limit < 0.0 {
        bail!(Usage("--time-limit is a number of seconds".into()));
    }
    let (model, options) = args.model.load()?;
    if let Some(path) = &args.heat_map {
        let table = load_unlabelled(&data_spec(&args.data)?, &options)?;
        let row = table.select_rows(&[row_of(args, &table)?])?;
        return draw_heat_map(args, &model, &row, path);
    }
    if model.circuit().says_values() && args.robustness.is_none() && args.sample.is_none() {
        let table = load_unlabelled(&data_spec(&args.data)?, &options)?;
        return values::run(args, &model, &table, row_of(args, &table)?, &options);
    }
    let explainer = Explainer::new(&model)?;
    if let Some(rows) = args.robustness {
        return robustness::run(args, &explainer, rows, &options);
    }
    let table = load_unlabelled(&data_spec(&args.data)?, &options)?;
    if let Some(rows) = args.sample {
        return sample::run(args, &explainer, &table, rows);
    }
    explain_row(args, &model, &explainer, &table, row_of(args, &table)?, &options)
}

/// Draws which pixels of an image speak for its class.
fn draw_heat_map(args: &Args, model: &Model, row: &Table, path: &Path) -> Result<()> {
    let Some(image) = model.image() else {
        bail!(Usage(
            "the model is not known to be of images: its columns are not named by line and column".into()
        ));
    };
    let worth = pixel_worth(model, row, args.model.threads)?;
    let said = model.predict(row, 1)?;
    let class = match said.values() {
        Some(values) => format!("{} {}", model.label().unwrap_or("value"), values[0]),
        None => model.classes()[said.classes()[0] as usize].clone(),
    };
    let title = format!("Row {}: what speaks for {class}", args.row);
    let mut file = OutputFile::create(Some(path), [args.model.path()])?;
    file.write_all(heat_map(&title, &worth, image.width, image.height)?.as_bytes())?;
    file.finish()?;
    print(&format!("row {}: {class}\n", args.row))
}

/// The place of the row that is asked for.
fn row_of(args: &Args, table: &Table) -> Result<usize> {
    match args.row.checked_sub(1).filter(|&index| index < table.rows()) {
        Some(index) => Ok(index),
        None => bail!(Usage(format!("there is no row {}: there are {}", args.row, count(table.rows())))),
    }
}

fn explain_row(
    args: &Args,
    model: &Model,
    explainer: &Explainer<'_>,
    table: &Table,
    index: usize,
    options: &LoadOptions,
) -> Result<()> {
    let fixed = explainer.columns_named(&args.fixed)?;
    let one = table.select_rows(&[index])?;
    let row = explainer.row(Rows::Raw(one.view()), 0)?;
    let prediction = model.predict(&one, 1)?;
    let class = prediction.classes()[0] as usize;
    let started = Instant::now();
    let reason = explainer.reason(&row, Some(args.time_limit));
    let reason_seconds = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let turning = (!args.no_change).then(|| explainer.counterfactual(&row, &fixed, Some(args.time_limit)));
    let turning_seconds = started.elapsed().as_secs_f64();
    let added = match model.circuit() {
        Circuit::Tree(_) => None,
        Circuit::Grove(_) => {
            let (background, most) = (args.background.as_deref(), args.background_rows);
            let whole = if background.is_some() { &one } else { table };
            // The background comes from all rows, the contributions are for one.
            let found = contributions_for(model, &one, whole, background, most, options, args.model.threads);
            // Contributions that would take too long are left out; other errors are errors.
            match found {
                Ok(found) => Some(found),
                Err(error) if too_large(&error) => None,
                Err(error) => return Err(error),
            }
        }
    };
    let probability = prediction.probabilities(0).map(|all| all[class]);
    if args.json {
        let with_time = |mut value: Value, seconds: f64| {
            value["seconds"] = json!(seconds);
            value
        };
        let value = json!({
            "row": index + 1,
            "class": model.classes()[class],
            "probability": probability,
            "reason": with_time(reason.to_json(model), reason_seconds),
            "counterfactual": turning.map(|turning| with_time(turning.to_json(model), turning_seconds)),
            "contributions": added.as_ref().map(|added| added.to_json(model, 0, class)),
        });
        return print(&format!("{value}\n"));
    }
    let mut text = format!("row {}: {}", index + 1, model.classes()[class]);
    if let Some(probability) = probability {
        write!(text, ", probability {probability:.4}")?;
    }
    text += "\n\n";
    text += &reason_text(model, &reason, reason_seconds);
    if let Some(turning) = &turning {
        text += &turning_text(model, &row, turning, turning_seconds);
    }
    if let Some(added) = &added {
        text += &bars(model, added, class, &row);
    }
    print(&text)
}

/// Contributions of one row against a background out of many.
fn contributions_for(
    model: &Model,
    one: &Table,
    table: &Table,
    background: Option<&str>,
    most: usize,
    options: &LoadOptions,
    threads: usize,
) -> Result<Contributions> {
    if background.is_some() {
        return contributions_of(model, one, background, most, options, threads);
    }
    let rows = table.select_rows(&gatewood::explain::spread(table.rows(), most))?;
    Ok(gatewood::explain::contributions(model, Rows::Raw(one.view()), Rows::Raw(rows.view()), threads)?)
}

/// Whether something would take too long.
fn too_large(error: &anyhow::Error) -> bool {
    error.downcast_ref::<gatewood::Error>().is_some_and(gatewood::Error::is_too_large)
}

fn reason_text(model: &Model, reason: &Reason, time: f64) -> String {
    let class = &model.classes()[reason.class()];
    let columns = model.encoder().inputs().len();
    let mut text = if reason.conditions().is_empty() {
        format!("every row is {class}\n")
    } else {
        format!("it is {class} because, whatever the rest says,\n")
    };
    reason.conditions().iter().for_each(|condition| text += &format!("  {condition}\n"));
    let marked = if reason.is_minimal() {
        "proven sufficient and minimal"
    } else {
        "proven sufficient, perhaps not minimal"
    };
    text += &format!("  ({marked}: {} of {columns} columns, {})\n\n", reason.columns().len(), seconds(time));
    text
}

fn turning_text(model: &Model, row: &ExplainedRow, turning: &Turning, time: f64) -> String {
    let found = match turning {
        Turning::Impossible => return "no change that is allowed turns it: proven\n\n".into(),
        Turning::Unknown => return "no change that turns it was found in time\n\n".into(),
        Turning::By(found) => found,
    };
    let mut text = format!("it would be {} with\n", model.classes()[found.class()]);
    for change in found.changes() {
        let name = &model.encoder().inputs()[change.column].name;
        text += &format!(
            "  {name} {} in place of {} ({})\n",
            change.to,
            row.values()[change.column],
            change.range
        );
    }
    let marked = match (found.is_fewest(), found.is_nearest()) {
        (_, true) => "proven: no fewer columns do, and no nearer values of as few",
        (true, _) => "proven: no fewer columns do; nearer values may",
        _ => "the best found; fewer columns may do",
    };
    text += &format!("  ({marked}, {})\n\n", seconds(time));
    text
}

/// What each column adds to the margin, as bars.
fn bars(model: &Model, added: &Contributions, class: usize, row: &ExplainedRow) -> String {
    const WIDTH: f64 = 30.0;
    const SHOWN: usize = 15;
    let (margin, of) = match added.margins() {
        1 => (0, &model.classes()[1]),
        _ => (class, &model.classes()[class]),
    };
    let values = added.log_odds(0, margin);
    let inputs = model.encoder().inputs();
    let mut columns: Vec<(f64, &str, String)> = inputs
        .iter()
        .zip(row.values())
        .map(|(input, value)| (values[input.position], input.name.as_str(), value.to_string()))
        .collect();
    columns.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let largest = columns.first().map_or(1.0, |column| column.0.abs()).max(1e-9);
    let mean = added.mean_log_odds(margin);
    let mut text = format!("what each column adds to the log-odds of {of}, from a mean of {mean:+.3}\n");
    let width =
        columns.iter().take(SHOWN).map(|c| c.1.chars().count() + c.2.chars().count() + 3).max().unwrap_or(0);
    for (value, name, own) in columns.iter().take(SHOWN) {
        let label = format!("{name} = {own}");
        let space = " ".repeat(width.saturating_sub(label.chars().count()));
        let bar =
            if *value < 0.0 { "░" } else { "█" }.repeat((value.abs() / largest * WIDTH).round() as usize);
        text += &format!("  {label}{space} {value:+8.3}  {bar}\n");
    }
    if columns.len() > SHOWN {
        text += &format!("  … and {} more\n", columns.len() - SHOWN);
    }
    let total: f64 = mean + values.iter().sum::<f64>();
    text += &format!("  together {total:+.3}\n");
    text
}
