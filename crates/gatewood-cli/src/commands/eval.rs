//! `gatewood eval`: a model's predictions beside the labels.

use std::time::Instant;

use super::sources::{ModelArgs, data_spec};
use super::values;
use crate::terminal::{Grid, Terminal, count, print, several, share};
use anyhow::Result;
use gatewood::model::{Metrics, Rows};
use gatewood_data::load_labelled;
use serde_json::json;

/// Which model, which rows.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,

    /// Rows with their label: a file, "-", or a named set, of which the test rows are taken
    #[arg(value_name = "DATA")]
    data: String,

    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

/// The share of the training rows from which their being among the rows to test on is told. Rows may be alike by chance.
const LEARNED_SHARE: f64 = 0.25;

/// Runs `gatewood eval`.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    let (model, options) = args.model.load()?;
    let rows = load_labelled(&data_spec(&args.data)?, &options, model.classes())?;
    let predictor = model.predictor();
    let started = Instant::now();
    let prediction = predictor
        .predict(Rows::Raw(rows.table.view()), args.model.threads)
        .map_err(|error| error.at(&args.data))?;
    let predict_seconds = started.elapsed().as_secs_f64();
    let learned = model.training_share(&rows.table, &rows.labels, args.model.threads)?;
    let learned = learned.filter(|&share| share >= LEARNED_SHARE);
    if let Some(share) = learned.filter(|_| !args.json) {
        terminal.doubt(&format!(
            "about {:.0} % of the rows that the model was learned from, or rows just like them, are among these: their error \
             says little about other rows",
            100.0 * share
        ));
    }
    if rows.labels.values().is_some() {
        let metrics = values::metrics(&rows.labels, &prediction)?;
        let remark = metrics.remark();
        if args.json {
            let mut value = serde_json::to_value(&metrics)?;
            if let Some(remark) = remark {
                value["remark"] = json!(remark);
            }
            value["training_rows_share"] = json!(learned);
            value["predict_seconds"] = json!(predict_seconds);
            return print(&format!("{value}\n"));
        }
        let remark = remark.map_or(String::new(), |remark| format!("\n  {remark}\n"));
        return print(&format!("{}{remark}", values::table(&[("test".into(), &metrics)])));
    }
    let metrics = Metrics::new(model.classes().len(), rows.labels.codes(), &prediction)?;
    if args.json {
        let mut value = serde_json::to_value(&metrics)?;
        value["classes"] = json!(model.classes());
        if let Some(remark) = metrics.remark(model.classes()) {
            value["remark"] = json!(remark);
        }
        value["training_rows_share"] = json!(learned);
        value["predict_seconds"] = json!(predict_seconds);
        return print(&format!("{value}\n"));
    }
    let remark = metrics.remark(model.classes());
    let mut text = format!("{}\n\n", several(metrics.rows, "row"));
    let mut figures = vec![
        ("error", share(metrics.error)),
        ("error of the most frequent class", share(metrics.baseline_error)),
        ("accuracy", share(metrics.accuracy)),
        ("balanced accuracy", share(metrics.balanced_accuracy)),
        ("F1", format!("{:.4}", metrics.f1)),
    ];
    if let Some(auc) = metrics.auc {
        figures.push(("AUC", format!("{auc:.4}")));
    }
    if let Some(loss) = metrics.log_loss {
        figures.push(("log loss", format!("{loss:.4}")));
    }
    let mut grid = Grid::new(&["", ">"]);
    figures.into_iter().for_each(|(name, figure)| grid.row(vec![name.into(), figure]));
    text += &grid.show("  ");
    if let Some(remark) = remark {
        text += &format!("\n  {remark}\n");
    }
    text += "\n  true class in lines, predicted class in columns\n";
    let headings: Vec<String> = model.classes().iter().map(|class| format!(">{class}")).collect();
    let headings: Vec<&str> = std::iter::once("").chain(headings.iter().map(String::as_str)).collect();
    let mut grid = Grid::new(&headings);
    for (class, line) in model.classes().iter().zip(&metrics.confusion) {
        grid.row(std::iter::once(class.clone()).chain(line.iter().map(|&rows| count(rows))).collect());
    }
    text += &grid.show("  ");
    print(&text)
}
