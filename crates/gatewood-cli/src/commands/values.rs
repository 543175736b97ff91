//! Labels that are numbers: what `train` and `eval` do with them.

use super::learner::{more_fields, shown};
use super::train::told;
use crate::terminal::{Grid, Terminal, count, name, print, seconds, several, share};
use anyhow::Result;
use gatewood::encode::{EncodeReport, Labels};
use gatewood::learn::device::Device;
use gatewood::model::{
    LabelledRows, Model, Prediction, QuantileMetrics, Rows, TrainSettings, Trained, Training, ValueMetrics,
};
use gatewood_data::{Dataset, Split, folds};
use serde_json::{Map, Value, json};

/// The headings of a table of figures.
const HEADINGS: [&str; 6] = ["", ">rows", ">RMSE", ">MAE", ">R²", ">RMSE of the mean"];

/// How predictions compare with labels that are numbers.
pub(super) fn metrics(labels: &Labels, prediction: &Prediction) -> Result<ValueMetrics> {
    Ok(ValueMetrics::new(labels.values().unwrap_or_default(), prediction)?)
}

/// A table of figures, a line for each of some rows.
pub(super) fn table(lines: &[(String, &ValueMetrics)]) -> String {
    let mut grid = Grid::new(&HEADINGS);
    for (name, metrics) in lines {
        grid.row(vec![
            name.clone(),
            count(metrics.rows),
            number(metrics.rmse),
            number(metrics.mae),
            format!("{:.4}", metrics.r2),
            number(metrics.baseline_rmse),
        ]);
    }
    let mut text = grid.show("  ");
    if lines.iter().any(|(_, metrics)| metrics.quantiles.is_some()) {
        let mut grid =
            Grid::new(&["", ">pinball loss", ">coverage", ">should be", "at or below each quantile"]);
        for (name, metrics) in lines {
            if let Some(found) = &metrics.quantiles {
                let below: Vec<String> = found.below.iter().map(|&part| share(part)).collect();
                grid.row(vec![
                    name.clone(),
                    number(found.pinball),
                    share(found.coverage),
                    share(found.nominal_coverage),
                    below.join(", "),
                ]);
            }
        }
        text += &format!("\n{}", grid.show("  "));
    }
    text
}

fn put(rows: &str, metrics: &ValueMetrics, fields: &mut Map<String, Value>) {
    let figures = [
        ("rmse", metrics.rmse),
        ("mae", metrics.mae),
        ("r2", metrics.r2),
        ("baseline_rmse", metrics.baseline_rmse),
    ];
    fields.extend(figures.map(|(name, figure)| (format!("{rows}_{name}"), json!(figure))));
    if let Some(found) = &metrics.quantiles {
        fields.insert(format!("{rows}_pinball"), json!(found.pinball));
        fields.insert(format!("{rows}_coverage"), json!(found.coverage));
        fields.insert(format!("{rows}_below"), json!(found.below));
    }
}

/// Which columns were left out, and what else there is to say.
fn put_told(trained: &Trained, put: &mut dyn FnMut(&str, Value)) {
    let left_out = trained.encoding.as_ref().map(EncodeReport::columns_left_out);
    put("columns_left_out", json!(left_out.unwrap_or_default()));
    put("notes", json!(trained.notes()));
}

/// Learns values and tests them.
pub(super) struct Learn<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) settings: &'a TrainSettings,
    pub(super) start: Option<&'a Model>,
    pub(super) load_seconds: f64,
    pub(super) json: bool,
    pub(super) device: Option<&'a dyn Device>,
    pub(super) terminal: &'a Terminal,
}

impl Learn<'_> {
    fn train(&self, train: &Split, test: Option<&Split>) -> Result<(Trained, Vec<ValueMetrics>)> {
        let rows = Rows::Raw(train.table.view());
        let training = Training {
            train: LabelledRows { rows, labels: &train.labels, weights: train.weights.as_deref() },
            start: self.start,
            label: self.dataset.label.as_deref(),
            data: &self.dataset.name,
            device: self.device,
            ..Training::new(rows, &train.labels)
        };
        let bar = self.terminal.bar("learning");
        let trained = gatewood::train_sized(&training, self.settings, &bar)?;
        drop(bar);
        let threads = self.settings.learn.threads();
        let measure = |rows: &Split| {
            metrics(&rows.labels, &trained.model.predict_rows(Rows::Raw(rows.table.view()), threads)?)
        };
        let found = [Some(train), test].into_iter().flatten().map(measure).collect::<Result<_>>()?;
        Ok((trained, found))
    }

    /// Learns, tests and says how it went; gives the model.
    pub(super) fn run(&self) -> Result<Model> {
        let (trained, found) = self.train(&self.dataset.train, self.dataset.test.as_ref())?;
        let names = ["train", "test"];
        let circuit = trained.model.circuit();
        if self.json {
            let mut fields = Map::new();
            names.iter().zip(&found).for_each(|(name, metrics)| put(name, metrics, &mut fields));
            let mut put = |name: &str, value: Value| drop(fields.insert(name.into(), value));
            put("objective", json!(trained.objective));
            put("train_rows", json!(self.dataset.train.rows()));
            put("test_rows", json!(self.dataset.test.as_ref().map_or(0, Split::rows)));
            put("inputs", json!(circuit.inputs()));
            put("gates", json!(circuit.gates()));
            put("depth", json!(circuit.depth()));
            put("train_seconds", json!(trained.learn_time.as_secs_f64()));
            put("train_cpu_seconds", json!(trained.processor_time.map(|time| time.as_secs_f64())));
            put("load_seconds", json!(self.load_seconds));
            put("seed", json!(self.settings.learn.seed()));
            put("encode_seconds", json!(trained.encode_time.as_secs_f64()));
            put("label", json!(self.dataset.label));
            put_told(&trained, &mut put);
            if let Some(remark) = found.last().and_then(ValueMetrics::remark) {
                put("remark", json!(remark));
            }
            put("settings", shown(&self.settings.learn, &trained));
            more_fields(&trained).into_iter().for_each(|(name, value)| put(name, value));
            print(&format!("{}\n", Value::Object(fields)))?;
            return Ok(trained.model);
        }
        let mut text = self.head(&trained);
        let lines: Vec<(String, &ValueMetrics)> = names.map(str::to_owned).into_iter().zip(&found).collect();
        text += &table(&lines);
        if let Some(remark) = found.last().and_then(ValueMetrics::remark) {
            let which = if found.len() > 1 { "test" } else { "training" };
            text += &format!("\n  on the {which} rows, the model is {remark}\n");
        }
        text += &format!(
            "\n{}, reads {} of {}, learned in {}\n",
            several(circuit.gates(), "gate"),
            count(circuit.used_inputs().len()),
            several(circuit.inputs(), "bit"),
            seconds(trained.learn_time.as_secs_f64())
        );
        print(&text)?;
        Ok(trained.model)
    }

    /// The target, the columns left out, and how others were read.
    fn head(&self, trained: &Trained) -> String {
        let values = self.dataset.train.labels.values().unwrap_or_default();
        format!(
            "{}: target {}, {} from {} to {}, {}{}\n{}\n",
            name(&self.dataset.name),
            name(self.dataset.label.as_deref().unwrap_or("label")),
            several(values.len(), "value"),
            number(values.iter().copied().fold(f64::INFINITY, f64::min)),
            number(values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            trained.objective.unwrap_or_default().words(),
            if trained.model.circuit().is_log() { " of the logarithm" } else { "" },
            told(self.dataset, trained, self.terminal),
        )
    }

    /// Learns and tests several times, each row being tested on once.
    pub(super) fn cross_validate(&self, wanted: usize) -> Result<()> {
        let mut found = Vec::new();
        let mut last = None;
        for parts in folds(&self.dataset.train.labels, wanted, self.settings.learn.seed())? {
            let [learned, tested] =
                [&parts.train, &parts.test].map(|rows| self.dataset.train.select_rows(rows));
            let (trained, mut metrics) = self.train(&learned?, Some(&tested?))?;
            found.extend(metrics.pop());
            last = Some(trained);
        }
        let rmse: Vec<f64> = found.iter().map(|metrics| metrics.rmse).collect();
        let mean = |of: fn(&ValueMetrics) -> f64| found.iter().map(of).sum::<f64>() / found.len() as f64;
        if self.json {
            let mut value = json!({
                "test_rmse": mean(|metrics| metrics.rmse),
                "test_mae": mean(|metrics| metrics.mae),
                "test_r2": mean(|metrics| metrics.r2),
                "test_baseline_rmse": mean(|metrics| metrics.baseline_rmse),
                "train_rows": self.dataset.train.rows(),
                "test_rows": self.dataset.train.rows(),
                "fold_rmse": rmse,
                "seed": self.settings.learn.seed(),
            });
            let of = |of: fn(&QuantileMetrics) -> f64| {
                let all: Option<Vec<f64>> =
                    found.iter().map(|metrics| metrics.quantiles.as_ref().map(of)).collect();
                all.map(|all| all.iter().sum::<f64>() / all.len() as f64)
            };
            if let (Some(pinball), Some(coverage)) = (of(|found| found.pinball), of(|found| found.coverage)) {
                value["test_pinball"] = json!(pinball);
                value["test_coverage"] = json!(coverage);
            }
            value["label"] = json!(self.dataset.label);
            if let Some(trained) = &last {
                put_told(trained, &mut |name, said| value[name] = said);
            }
            return print(&format!("{value}\n"));
        }
        let lines: Vec<(String, &ValueMetrics)> =
            (1..).zip(&found).map(|(fold, metrics): (usize, _)| (format!("fold {fold}"), metrics)).collect();
        let head = last.map_or(String::new(), |trained| self.head(&trained));
        print(&format!(
            "{head}{}\n  mean test RMSE {}\n",
            table(&lines),
            number(mean(|metrics| metrics.rmse))
        ))
    }
}

/// A number with four digits or more that count.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size if size >= 1000.0 => format!("{value:.1}"),
        size if size >= 1e-4 => {
            let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
            format!("{value:.decimals$}")
        }
        _ => format!("{value:.3e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_four_digits() {
        let cases = [
            (0.0, "0"),
            (0.43521, "0.4352"),
            (-12.3456, "-12.35"),
            (48211.23, "48211.2"),
            (2.5e-7, "2.500e-7"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
}
