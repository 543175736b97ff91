//! `gatewood train`: rows in, a tested model out.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use super::learner::{LearnArgs, more_fields, shown};
use super::sources::{SourceArgs, data_spec, input};
use crate::terminal::{Grid, OutputFile, Terminal, Usage, bytes, count, name, print, seconds, share};
use anyhow::{Context, Result, bail};
use gatewood::encode::{EncodeReport, EncodeSettings, ImageShape};
use gatewood::export::{CurvePicturePoint, curve_picture};
use gatewood::model::{Circuit, ClassWeight, Metrics, Model, Rows, TrainSettings, Trained, Training};
use gatewood_data::{Dataset, Split, holdout, load, load_labelled, renumbered};
use serde_json::{Map, Value, json};

/// What to learn from, how to test it, where to put the model.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Rows to learn from: a file, "-", or a named set
    #[arg(value_name = "DATA")]
    data: String,

    /// Rows to test on, instead of the set's own
    #[arg(long, value_name = "DATA", conflicts_with_all = ["holdout", "cv"])]
    test: Option<String>,

    /// Put this share of every class aside to test on, as in 0.2
    #[arg(long, value_name = "SHARE", conflicts_with = "cv")]
    holdout: Option<f64>,

    /// Learn and test K times, each row being tested on once; writes no model
    #[arg(long, value_name = "K", conflicts_with = "output")]
    cv: Option<usize>,

    /// Write the model to this file
    #[arg(long, short, value_name = "MODEL")]
    output: Option<PathBuf>,

    /// Grove: go on from this model, whose columns and classes stay, with further rounds
    #[arg(long = "continue", value_name = "MODEL", conflicts_with_all = ["cv", "EncodeArgs"])]
    start: Option<PathBuf>,

    /// Grove: what a row of a class counts for, as in spam=2, one option a class; or "balanced", for classes that count
    /// alike however many rows they have
    #[arg(long = "class-weight", value_name = "CLASS=WEIGHT")]
    class_weights: Vec<String>,

    /// Grove: draw the error by round to this SVG file
    #[arg(long, value_name = "FILE", conflicts_with = "cv")]
    curve: Option<PathBuf>,

    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    learn: LearnArgs,

    #[command(flatten)]
    encode: EncodeArgs,

    #[command(flatten)]
    source: SourceArgs,
}

/// How raw columns become bits, where the user wants it otherwise.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Encoding")]
struct EncodeArgs {
    #[arg(long, alias = "number-bits", value_name = "N", help = format!("Most thresholds of a column of numbers [default: {}]", EncodeSettings::default().max_bins))]
    max_bins: Option<u32>,

    #[arg(long, value_name = "N", help = format!("Most categories of a text column with a bit of their own [default: {}]", EncodeSettings::default().categories))]
    categories: Option<u32>,

    #[arg(long, value_name = "N", help = format!("Most words of a text column with a bit [default: {}]", EncodeSettings::default().words))]
    words: Option<u32>,

    /// Drop bits of less entropy than this, from 0 to 1 [default: the set's; 0 keeps all]
    #[arg(long, value_name = "BITS")]
    min_entropy: Option<f64>,

    /// Merge bits that differ on at most this share of the rows [default: the set's; only equal bits are merged]
    #[arg(long, value_name = "SHARE")]
    merge_within: Option<f64>,

    /// The columns are images of so many lines and pixels in a line, and perhaps colours, as in 28x28 or 32x32x3; or
    /// sequences, as in 1x128
    #[arg(long, value_name = "LINESxPIXELS", value_parser = shape)]
    shape: Option<ImageShape>,
}

fn shape(text: &str) -> Result<ImageShape, String> {
    let sizes: Option<Vec<usize>> =
        text.split('x').map(|size| size.parse().ok().filter(|size| (1..=1 << 14).contains(size))).collect();
    match sizes.as_deref() {
        Some(&[height, width]) => Ok(ImageShape::grey(width, height)),
        Some(&[height, width, channels]) => Ok(ImageShape { width, height, channels }),
        _ => Err("lines and pixels in a line are wanted, as in 28x28, and perhaps colours".into()),
    }
}

impl EncodeArgs {
    fn apply(&self, mut settings: EncodeSettings) -> Result<EncodeSettings> {
        settings.max_bins = self.max_bins.unwrap_or(settings.max_bins);
        settings.categories = self.categories.unwrap_or(settings.categories);
        settings.words = self.words.unwrap_or(settings.words);
        settings.min_entropy = self.min_entropy.unwrap_or(settings.min_entropy);
        settings.image = self.shape.or(settings.image);
        if let Some(distance) = self.merge_within {
            settings.merge_within = distance;
            settings.merge_equal = true;
        }
        settings.check()?;
        Ok(settings)
    }
}

/// A model with how good it is.
struct Tested {
    trained: Trained,
    train: Metrics,
    test: Option<Metrics>,
}

/// Runs `gatewood train`.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    let learn = args.learn.settings()?;
    if args.curve.is_some() && learn.name() != "grove" {
        bail!(Usage("--curve goes with --model grove: a tree is learned in one round".into()));
    }
    let data = data_spec(&args.data)?;
    let test = args.test.as_deref().map(data_spec).transpose()?;
    let inputs = || {
        let rows = [Some(&data), test.as_ref()].into_iter().flatten();
        rows.filter_map(input).chain(args.start.as_deref())
    };
    let start = args.start.as_deref().map(Model::load).transpose()?;
    // A model that cannot be written is not worth learning.
    if let Some(path) = &args.output {
        drop(OutputFile::create(Some(path), inputs())?);
    }
    if let Some(path) = &args.curve {
        drop(OutputFile::create(Some(path), inputs().chain(args.output.as_deref()))?);
    }
    let started = Instant::now();
    let mut dataset = match &start {
        Some(start) => {
            let mut dataset = load(&data, &args.source.load_options_for(start))?;
            for rows in std::iter::once(&mut dataset.train).chain(&mut dataset.test) {
                rows.labels = renumbered(&rows.labels, start.classes())?;
            }
            dataset
        }
        None => load(&data, &args.source.load_options())?,
    };
    dataset.note.iter().for_each(|note| terminal.remark(note));
    let settings = TrainSettings {
        encode: args.encode.apply(dataset.encode.clone())?,
        class_weight: class_weight(&args.class_weights, learn.name(), dataset.classes())?,
        learn,
    };
    if let Some(test) = &test {
        let mut options = args.source.load_options();
        options.usual_label = dataset.label.clone();
        let kinds = (0..dataset.train.table.columns())
            .map(|column| (dataset.train.table.name(column).into_owned(), dataset.train.table.kind(column)));
        options.read.kinds = kinds.collect();
        dataset.test = Some(load_labelled(test, &options, dataset.classes())?);
    } else if let Some(share) = args.holdout {
        let parts = holdout(&dataset.train.labels, share, settings.learn.seed())?;
        dataset.test = Some(dataset.train.select_rows(&parts.test)?);
        dataset.train = dataset.train.select_rows(&parts.train)?;
    }
    let load_seconds = started.elapsed().as_secs_f64();
    if let Some(count) = args.cv {
        return cross_validate(args, &dataset, &settings, count, terminal, load_seconds);
    }
    let tested =
        train(args, &dataset, &dataset.train, dataset.test.as_ref(), start.as_ref(), &settings, terminal)?;
    let size = match &args.output {
        Some(path) => {
            tested.trained.model.save(path)?;
            Some(std::fs::metadata(path).map_or(0, |metadata| metadata.len()))
        }
        None => None,
    };
    if let (Some(path), Some(story)) = (&args.curve, &tested.trained.grove) {
        let mut file = OutputFile::create(Some(path), inputs())?;
        let points: Vec<CurvePicturePoint> = story
            .curve
            .iter()
            .map(|point| CurvePicturePoint {
                round: point.round,
                train_error: point.train_error,
                validation_error: point.validation_error,
            })
            .collect();
        file.write_all(curve_picture(&points, story.rounds).as_bytes())?;
        file.finish()?;
    }
    let load_seconds = load_seconds + tested.trained.encode_time.as_secs_f64();
    if args.json {
        print(&format!("{}\n", json_result(&settings, &tested, load_seconds)))
    } else {
        print(&summary(args, &dataset, &tested, load_seconds, size, terminal))
    }
}

fn train(
    args: &Args,
    dataset: &Dataset,
    train: &Split,
    test: Option<&Split>,
    start: Option<&Model>,
    settings: &TrainSettings,
    terminal: &Terminal,
) -> Result<Tested> {
    let training = Training {
        start,
        label: dataset.label.as_deref(),
        data: &dataset.name,
        ..Training::new(Rows::Raw(train.table.view()), &train.labels)
    };
    let bar = terminal.bar("learning");
    let trained = gatewood::model::train(&training, settings, &bar)?;
    drop(bar);
    let metrics = |rows: &Split| -> Result<Metrics> {
        let prediction = trained.model.predict_rows(Rows::Raw(rows.table.view()), args.learn.threads())?;
        Ok(Metrics::new(dataset.classes().len(), rows.labels.codes(), &prediction)?)
    };
    let of_train = metrics(train)?;
    let of_test = test.map(metrics).transpose().context("the test rows do not fit")?;
    Ok(Tested { trained, train: of_train, test: of_test })
}

/// What a row of each class counts for, as the options say.
fn class_weight(options: &[String], kind: &str, classes: &[String]) -> Result<ClassWeight> {
    if options.is_empty() {
        return Ok(ClassWeight::default());
    }
    if kind != "grove" {
        bail!(Usage("--class-weight goes with --model grove".into()));
    }
    if options == ["balanced"] {
        return Ok(ClassWeight::Balanced);
    }
    let mut weights = BTreeMap::new();
    for option in options {
        let Some((class, weight)) = option.rsplit_once('=') else {
            bail!(Usage(format!("--class-weight {option} is not CLASS=WEIGHT, and not \"balanced\" alone")));
        };
        if !classes.iter().any(|name| name == class) {
            bail!(Usage(format!("--class-weight {option}: the classes are {}", classes.join(", "))));
        }
        let weight: f64 = weight
            .parse()
            .map_err(|_| Usage(format!("--class-weight {option}: {weight:?} is not a number")))?;
        weights.insert(class.to_owned(), weight);
    }
    Ok(ClassWeight::ByName(weights))
}

/// The fields the contract names, in its order.
fn json_result(settings: &TrainSettings, tested: &Tested, load_seconds: f64) -> Value {
    let circuit = tested.trained.model.circuit();
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| {
        fields.insert(name.into(), value);
    };
    put("train_error", json!(tested.train.error));
    if let Some(test) = &tested.test {
        put("test_error", json!(test.error));
    }
    put("train_rows", json!(tested.train.rows));
    put("test_rows", json!(tested.test.as_ref().map_or(0, |test| test.rows)));
    put("inputs", json!(circuit.inputs()));
    put("gates", json!(circuit.gates()));
    put("depth", json!(circuit.depth()));
    put("train_seconds", json!(tested.trained.learn_time.as_secs_f64()));
    put("load_seconds", json!(load_seconds));
    put("encode_seconds", json!(tested.trained.encode_time.as_secs_f64()));
    put("seed", json!(settings.learn.seed()));
    put("settings", shown(&settings.learn, &tested.trained));
    for (name, value) in more_fields(&tested.trained) {
        put(name, value);
    }
    Value::Object(fields)
}

fn summary(
    args: &Args,
    dataset: &Dataset,
    tested: &Tested,
    load_seconds: f64,
    size: Option<u64>,
    terminal: &Terminal,
) -> String {
    let circuit = tested.trained.model.circuit();
    let mut text = String::new();
    if !terminal.is_quiet() {
        let classes = dataset.classes();
        let classes = match classes {
            [first, second] => format!("{} or {}", name(first), name(second)),
            _ => format!("{} classes", classes.len()),
        };
        let columns = dataset.train.table.columns();
        let raw = if columns == circuit.inputs() {
            String::new()
        } else {
            format!(" from {} columns", count(columns))
        };
        text += &format!("{}: {classes}, {} bits{raw}\n", name(&dataset.name), count(circuit.inputs()));
        let left_out = tested.trained.encoding.as_ref().map(EncodeReport::dropped).unwrap_or_default();
        if dataset.image.is_some() && !left_out.is_empty() {
            text += &format!("left out: {} pixels that hardly ever change\n", count(left_out.len()));
        } else if !left_out.is_empty() {
            let mut names: Vec<Cow<'_, str>> =
                left_out.iter().take(8).map(|column| name(&column.name)).collect();
            if left_out.len() > 8 {
                names.push(format!("and {} more", left_out.len() - 8).into());
            }
            text += &format!("left out as constant, an id or a repeat: {}\n", names.join(", "));
        }
        text += "\n";
    }
    let mut grid = Grid::new(&["", ">rows", ">error", ">wrong"]);
    for (name, metrics) in [("train", Some(&tested.train)), ("test", tested.test.as_ref())] {
        if let Some(metrics) = metrics {
            let wrong = (metrics.error * metrics.rows as f64).round() as u64;
            grid.row(vec![name.into(), count(metrics.rows), share(metrics.error), count(wrong)]);
        }
    }
    text += &grid.show("  ");
    if terminal.is_quiet() {
        return text;
    }
    let kind = match circuit {
        Circuit::Grove(grove) if !grove.patterns().is_empty() => format!(
            "grove of {} trees, {} spans and {} patterns,",
            count(grove.trees().len()),
            count(grove.spans().len()),
            count(grove.patterns().patterns().len())
        ),
        Circuit::Grove(grove) if !grove.spans().is_empty() => {
            format!("grove of {} trees and {} spans,", count(grove.trees().len()), count(grove.spans().len()))
        }
        Circuit::Grove(grove) => format!("grove of {} trees,", count(grove.trees().len())),
        Circuit::Tree(_) => "tree of".into(),
    };
    text += &format!(
        "\n{kind} {} gates, depth {}, reads {} of {} bits\n",
        count(circuit.gates()),
        circuit.depth(),
        count(circuit.used_inputs().len()),
        count(circuit.inputs()),
    );
    text += &format!(
        "learned in {}, data read in {}\n",
        seconds(tested.trained.learn_time.as_secs_f64()),
        seconds(load_seconds)
    );
    match (&args.output, size) {
        (Some(path), Some(size)) => {
            let path = path.display();
            text += &format!("wrote {path} ({})\n\nnext: gatewood inspect {path}\n", bytes(size));
            text += &format!("      gatewood predict {path} ROWS -o classes.csv\n");
        }
        _ => text += "\nnext: -o model.gw keeps the model for gatewood predict, eval and inspect\n",
    }
    if tested.test.is_none() {
        text += "      --holdout 0.2 or --cv 5 tests it on rows it has not seen\n";
    }
    text
}

fn cross_validate(
    args: &Args,
    dataset: &Dataset,
    settings: &TrainSettings,
    folds_wanted: usize,
    terminal: &Terminal,
    load_seconds: f64,
) -> Result<()> {
    let training = Training {
        label: dataset.label.as_deref(),
        data: &dataset.name,
        ..Training::new(Rows::Raw(dataset.train.table.view()), &dataset.train.labels)
    };
    let bar = terminal.bar("learning");
    let results = gatewood::model::cross_validate(&training, settings, folds_wanted, &bar)?;
    drop(bar);
    let results: Vec<Tested> = results
        .into_iter()
        .map(|fold| Tested { trained: fold.trained, train: fold.train, test: Some(fold.test) })
        .collect();
    let errors: Vec<f64> = results.iter().filter_map(|trained| Some(trained.test.as_ref()?.error)).collect();
    let train_errors: Vec<f64> = results.iter().map(|trained| trained.train.error).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let spread = |values: &[f64]| {
        let mean = mean(values);
        (values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (values.len() - 1) as f64)
            .sqrt()
    };
    if args.json {
        let last = results.last().context("there are two folds at least")?;
        let train_seconds: f64 = results.iter().map(|trained| trained.trained.learn_time.as_secs_f64()).sum();
        let mut value = json_result(settings, last, load_seconds);
        value["train_error"] = json!(mean(&train_errors));
        value["test_error"] = json!(mean(&errors));
        value["train_rows"] = json!(dataset.train.rows());
        value["test_rows"] = json!(dataset.train.rows());
        value["train_seconds"] = json!(train_seconds);
        value["fold_errors"] = json!(errors);
        return print(&format!("{value}\n"));
    }
    let mut grid = Grid::new(&["fold", ">rows", ">train error", ">test error"]);
    for (fold, trained) in (1..).zip(&results) {
        let rows = trained.test.as_ref().map_or(0, |test| test.rows);
        let test = trained.test.as_ref().map_or(String::new(), |test| share(test.error));
        grid.row(vec![fold.to_string(), count(rows), share(trained.train.error), test]);
    }
    grid.row(vec![
        "mean".into(),
        count(dataset.train.rows()),
        share(mean(&train_errors)),
        share(mean(&errors)),
    ]);
    grid.row(vec!["spread".into(), String::new(), share(spread(&train_errors)), share(spread(&errors))]);
    print(&grid.show("  "))
}
