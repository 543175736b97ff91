//! Rows in parts give the model of rows in one table, byte for byte, also when parts are lost on the way.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gatewood::encode::{Column, ImageShape, Labels, Numbers, Table, Texts};
use gatewood::learn::{Parts, Silent};
use gatewood::model::{
    LabelledRows, Part, PartsTraining, Rows, TrainSettings, Trained, Training, train, train_parts,
};
use gatewood::random::{Purpose, Stream};
use gatewood::{Error, Result};

/// Parts in this process. Every so many messages one is lost, and made anew from its rows.
struct Here {
    tables: Vec<(Table, bool)>,
    parts: Vec<Mutex<Part>>,
    asked: AtomicUsize,
    /// Messages after which a part is lost; 0 for never.
    lost_after: usize,
    /// Parts that climb trees.
    climbers: Vec<usize>,
}

impl Here {
    fn new(tables: Vec<(Table, bool)>, lost_after: usize) -> Self {
        let parts = tables.iter().map(|(table, judges)| Mutex::new(part(table, *judges))).collect();
        // More than there are threads, where parts are lost: then they climb, too.
        let climbers = if lost_after > 0 {
            (0..tables.len()).filter(|&part| !tables[part].1).collect()
        } else {
            Vec::new()
        };
        Self { tables, parts, asked: AtomicUsize::new(0), lost_after, climbers }
    }
}

fn part(table: &Table, judges: bool) -> Part {
    Part::new(table.clone(), judges, 1).unwrap()
}

impl Parts for Here {
    fn count(&self) -> usize {
        self.parts.len()
    }

    fn climbers(&self) -> &[usize] {
        &self.climbers
    }

    fn ask(&self, messages: Vec<Option<Vec<u8>>>) -> Result<Vec<Option<Vec<u8>>>> {
        let answer = |(place, message): (usize, Option<Vec<u8>>)| {
            let message = message?;
            let mut held = self.parts[place].lock().unwrap();
            let asked = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
            if self.lost_after > 0 && asked.is_multiple_of(self.lost_after) {
                let (table, judges) = &self.tables[place];
                *held = part(table, *judges);
            }
            Some(held.answer(&message))
        };
        Ok(messages.into_iter().enumerate().map(answer).collect())
    }
}

/// Rows of numbers with gaps, small numbers, categories, an identifier and numbers written with commas.
fn table(rows: usize, seed: u64) -> (Table, Vec<f64>) {
    let mut stream = Stream::new(seed, Purpose::Generate, 0);
    let mut sizes = Vec::new();
    let mut counts = Vec::new();
    let mut colours = Vec::new();
    let mut prices = Vec::new();
    let mut names = Vec::new();
    let mut scores = Vec::new();
    for row in 0..rows {
        let size = stream.unit() * 10.0;
        let count = stream.below(5) as u8;
        let colour = ["red", "green", "blue", "grey"][stream.below(4) as usize];
        scores.push(size + f64::from(count) * 2.0 + if colour == "red" { 4.0 } else { 0.0 } + stream.unit());
        sizes.push(if stream.below(20) == 0 { f64::NAN } else { size });
        counts.push(u32::from(count));
        colours.push((stream.below(30) > 0).then_some(colour));
        prices.push(format!("{},{}", stream.below(90), 1 + stream.below(9)));
        names.push(format!("row {row}"));
    }
    let texts =
        |texts: &[String]| Column::Text(Texts::from_rows(texts.iter().map(|text| Some(text.as_str()))));
    let counts = Numbers::coded(counts.into_iter().collect(), (0..=255).map(f64::from).collect()).unwrap();
    let columns = vec![
        ("size".into(), Column::Number(Numbers::F64(sizes))),
        ("count".into(), Column::Number(counts)),
        ("colour".into(), Column::Text(Texts::from_rows(colours))),
        ("price".into(), texts(&prices)),
        ("name".into(), texts(&names)),
    ];
    (Table::new(columns).unwrap(), scores)
}

fn classes(scores: &[f64], count: usize) -> Labels {
    let class = |score: &f64| ((score / 22.0 * count as f64) as u32).min(count as u32 - 1);
    let names = (0..count).map(|class| format!("c{class}")).collect();
    Labels::new(names, scores.iter().map(class).collect()).unwrap()
}

fn cut(table: &Table, cuts: &[usize], judges: bool) -> Vec<(Table, bool)> {
    let cut = |ends: &[usize]| (table.select_rows(&(ends[0]..ends[1]).collect::<Vec<_>>()).unwrap(), judges);
    cuts.windows(2).map(cut).collect()
}

/// The model of a whole table and that of its parts, to be compared.
fn both(
    (whole, labels): (&Table, &Labels),
    weights: Option<&[f64]>,
    held: Option<(&Table, &Labels)>,
    (cuts, lost_after): (&[usize], usize),
    settings: &str,
) -> (Trained, Trained) {
    let mut settings = TrainSettings::from_json("grove", settings).unwrap();
    // Parts are not tried with comparisons of columns.
    settings.encode.compare = Some(0);
    let mut training = Training::new(Rows::Raw(whole.view()), labels);
    training.train.weights = weights;
    training.validation =
        held.map(|(table, labels)| LabelledRows { rows: Rows::Raw(table.view()), labels, weights: None });
    let expected = train(&training, &settings, &Silent).unwrap();
    let mut tables = cut(whole, cuts, false);
    if let Some((table, _)) = held {
        tables.extend(cut(table, &[0, table.rows() / 3, table.rows()], true));
    }
    let parts = Here::new(tables, lost_after);
    settings.learn.set_threads(usize::from(!parts.climbers.is_empty()));
    let validation = held.map(|(_, labels)| labels);
    let training = PartsTraining { parts: &parts, labels, weights, validation, label: None, data: "" };
    (expected, train_parts(&training, &settings, &Silent).unwrap())
}

fn assert_same((expected, found): (Trained, Trained)) {
    assert_eq!(found.model, expected.model);
    assert_eq!(found.model.to_bytes(), expected.model.to_bytes());
    let reports = [&expected, &found].map(|trained| trained.encoding.as_ref().unwrap().to_string());
    assert_eq!(reports[0], reports[1]);
}

const CUTS: [usize; 7] = [0, 1, 1, 400, 700, 1033, 1500];

#[test]
fn classes_are_learned_the_same() {
    let (rows, scores) = table(1500, 3);
    let weights: Vec<f64> = (0..1500).map(|row| [0.5, 1.0, 3.0][row % 3]).collect();
    for (count, lost_after, settings) in [
        (2, 0, r#"{"rounds": 12, "seed": 1}"#),
        (2, 37, r#"{"rounds": 12, "seed": 1, "honest_fraction": 0.3, "sampling_power": 1.5}"#),
        (3, 41, r#"{"rounds": 6, "seed": 2, "class_weight": "balanced"}"#),
        (4, 53, r#"{"rounds": 6, "seed": 2, "shared_trees": true}"#),
    ] {
        let labels = classes(&scores, count);
        assert_same(both((&rows, &labels), None, None, (&CUTS, lost_after), settings));
        assert_same(both((&rows, &labels), Some(&weights), None, (&CUTS, 0), settings));
    }
}

#[test]
fn rounds_are_chosen_and_gates_pruned_the_same() {
    let (rows, scores) = table(1500, 4);
    let labels = classes(&scores, 2);
    for settings in [
        r#"{"cv_folds": 2, "arity": 4, "seed": 5}"#,
        r#"{"rounds": 20, "max_gates": 60, "seed": 6}"#,
        r#"{"rounds": 30, "early_stopping_rounds": 4, "seed": 7}"#,
        r#"{"cv_folds": 0, "validation_fraction": 0.2, "arity": 4, "seed": 8}"#,
    ] {
        assert_same(both((&rows, &labels), None, None, (&CUTS, 301), settings));
    }
}

#[test]
fn rows_that_judge_are_in_parts_too() {
    let (rows, scores) = table(1200, 5);
    let (held, held_scores) = table(400, 6);
    let cuts = [0, 500, 1200];
    for metric in ["logloss", "error", "auc"] {
        let settings =
            format!(r#"{{"rounds": 25, "early_stopping_rounds": 5, "eval_metric": "{metric}", "seed": 3}}"#);
        let labels = [classes(&scores, 2), classes(&held_scores, 2)];
        let held = Some((&held, &labels[1]));
        assert_same(both((&rows, &labels[0]), None, held, (&cuts, 97), &settings));
    }
}

#[test]
fn values_are_learned_the_same() {
    let (rows, scores) = table(1500, 7);
    let labels = Labels::from_values(scores).unwrap();
    for objective in ["squared", "huber", "absolute", "poisson"] {
        let settings = format!(r#"{{"rounds": 10, "objective": "{objective}", "seed": 3}}"#);
        assert_same(both((&rows, &labels), None, None, (&CUTS, 43), &settings));
    }
}

/// Quantiles are moved by rows that were held out: the parts learn again without them, or have others that judge.
#[test]
fn quantiles_are_learned_the_same() {
    let (rows, scores) = table(1500, 8);
    let (held, held_scores) = table(300, 9);
    let [labels, held_labels] = [scores, held_scores].map(|scores| Labels::from_values(scores).unwrap());
    let weights: Vec<f64> = (0..1500).map(|row| [0.5, 1.0, 3.0][row % 3]).collect();
    let settings = r#"{"rounds": 8, "objective": "quantile:0.1,0.9", "seed": 3}"#;
    for (weights, held, lost_after) in [
        (None, None, 0),
        (None, None, 43),
        (Some(&weights[..]), None, 31),
        (None, Some((&held, &held_labels)), 37),
    ] {
        assert_same(both((&rows, &labels), weights, held, (&CUTS, lost_after), settings));
    }
}

#[test]
fn images_and_their_spans_are_learned_the_same() {
    let mut stream = Stream::new(9, Purpose::Generate, 0);
    let (width, rows) = (6, 500);
    let pixels: Vec<u8> = (0..rows * width * width).map(|_| stream.below(256) as u8).collect();
    let bright = |row: &[u8]| row[7..10].iter().all(|&pixel| pixel > 90) || row[20] > 200;
    let labels = pixels.chunks(width * width).map(|row| u32::from(bright(row))).collect();
    let labels = Labels::new(vec!["dark".into(), "bright".into()], labels).unwrap();
    let table = Table::from_pixels(width * width, pixels).unwrap();
    let image = serde_json::to_string(&ImageShape { width, height: width, channels: 1 }).unwrap();
    let settings = format!(
        r#"{{"rounds": 8, "spans": 3, "patterns": 0, "seed": 2, "encode": {{"pixel_bits": 2, "image": {image}}}}}"#
    );
    assert_same(both((&table, &labels), None, None, (&[0, 100, 101, 500], 29), &settings));
}

#[test]
fn thresholds_of_many_rows_are_placed_by_the_same_sample() {
    let rows = 270_000;
    let mut stream = Stream::new(10, Purpose::Generate, 0);
    let numbers: Vec<f64> = (0..rows).map(|_| stream.unit() * stream.unit()).collect();
    let singles: Vec<f32> =
        (0..rows).map(|row| if row == 5 { f32::NAN } else { stream.unit() as f32 }).collect();
    let label = |row: usize| u32::from(numbers[row] + f64::from(singles[row]) > 0.7);
    let labels = Labels::new(vec!["a".into(), "b".into()], (0..rows).map(label).collect()).unwrap();
    let columns = vec![
        ("x".into(), Column::Number(Numbers::F64(numbers))),
        ("y".into(), Column::Number(Numbers::F32(singles))),
    ];
    let table = Table::new(columns).unwrap();
    let cuts = [0, 100_000, 100_003, rows];
    let settings = r#"{"rounds": 2, "seed": 2}"#;
    assert_same(both((&table, &labels), None, None, (&cuts, 0), settings));
}

#[test]
fn what_is_wrong_is_said() {
    let (rows, scores) = table(300, 11);
    let labels = classes(&scores, 2);
    let parts = Here::new(cut(&rows, &[0, 100, 300], false), 0);
    let training = PartsTraining {
        parts: &parts,
        labels: &labels,
        weights: None,
        validation: None,
        label: None,
        data: "",
    };
    let wrong = |settings: &str| -> Error {
        let settings = TrainSettings::from_json("grove", settings).unwrap();
        train_parts(&training, &settings, &Silent).unwrap_err()
    };
    assert!(wrong(r#"{"patterns": 5}"#).is_setting());
    assert!(wrong(r#"{"rounds": 3, "encode": {"merge_within": 0.1}}"#).is_setting());
    assert!(wrong(r#"{"rounds": 3, "encode": {"drop": ["weight"]}}"#).to_string().contains("weight"));
    let other = Table::new(vec![("size".into(), Column::Number(Numbers::F64(vec![1.0; 5])))]).unwrap();
    let mut tables = cut(&rows, &[0, 295], false);
    tables.push((other, false));
    let mixed = Here::new(tables, 0);
    let settings = TrainSettings::from_json("grove", "{}").unwrap();
    let error = train_parts(&PartsTraining { parts: &mixed, ..training }, &settings, &Silent).unwrap_err();
    assert!(error.to_string().contains("other columns"), "{error}");
    let short = classes(&scores[..200], 2);
    let error = train_parts(&PartsTraining { labels: &short, ..training }, &settings, &Silent).unwrap_err();
    assert_eq!(error.to_string(), "200 labels for 300 training rows");
}

#[test]
fn any_bytes_to_a_part_are_answered() {
    let (rows, _) = table(50, 12);
    let mut stream = Stream::new(13, Purpose::Generate, 0);
    let mut held = part(&rows, false);
    for _ in 0..3000 {
        let length = stream.below(40) as usize;
        let mut message: Vec<u8> = (0..length).map(|_| stream.below(256) as u8).collect();
        if let Some(first) = message.first_mut() {
            *first %= 44;
        }
        assert!(!held.answer(&message).is_empty());
    }
}
