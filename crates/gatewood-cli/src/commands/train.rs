//! `gatewood train`: rows in, a tested model out.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use super::columns::ColumnArgs;
use super::data::{ending_of, write_split};
use super::encoding::EncodeArgs;
use super::learner::{LearnArgs, more_fields, shown};
use super::sources::{SourceArgs, data_spec, input};
use super::values::Learn;
use crate::terminal::{
    Grid, OutputFile, Terminal, Usage, bytes, count, name, print, seconds, several, share,
};
use anyhow::{Context, Result, bail};
use gatewood::encode::{EncodeReport, EncodeSettings};
use gatewood::export::{CurveMetric, CurvePicturePoint, curve_picture};
use gatewood::learn::device::Device;
use gatewood::model::{
    Circuit, ClassWeight, LabelledRows, Metrics, Model, Rows, TrainSettings, Trained, Training,
};
use gatewood::text::{quote, short};
use gatewood_cuda::DeviceChoice;
use gatewood_data::{Dataset, LoadOptions, Split, holdout, load, load_labelled, renumbered};
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

    /// Write the rows that --holdout puts aside to this file: .csv or .tsv, also with .gz
    #[arg(long, value_name = "FILE", requires = "holdout")]
    holdout_rows: Option<PathBuf>,

    /// The column of a file that says what each row counts for; it is not learned from
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,

    /// Write the model to this file
    #[arg(long, short, value_name = "MODEL")]
    output: Option<PathBuf>,

    /// Grove: go on from this model, whose columns and classes stay, with further rounds
    #[arg(long = "continue", value_name = "MODEL", conflicts_with_all = ["cv", "EncodeArgs", "ColumnArgs"])]
    start: Option<PathBuf>,

    /// Grove: what a row of a class counts for, as in spam=2, one option a class; or "balanced", for classes that count
    /// alike however many rows they have
    #[arg(long = "class-weight", value_name = "CLASS=WEIGHT")]
    class_weights: Vec<String>,

    /// Grove: draw the error by round to this SVG file, or what --eval-metric names
    #[arg(long, value_name = "FILE", conflicts_with = "cv")]
    curve: Option<PathBuf>,

    /// Where it is learned: cpu, cuda, cuda:N for a certain GPU, or auto for a GPU where there is one and rows of a grove are
    /// many; the model is the same
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceChoice,

    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    learn: LearnArgs,

    #[command(flatten)]
    encode: EncodeArgs,

    #[command(flatten)]
    columns: ColumnArgs,

    #[command(flatten)]
    source: SourceArgs,
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
    if !args.learn.uses_metric(args.curve.is_some()) {
        bail!(Usage(
            "--eval-metric says what --early-stopping-rounds goes by, and what --curve draws (auc: of the rows put aside to stop \
             early); without them, rounds are chosen by log loss"
                .into()
        ));
    }
    let is_chosen = matches!(args.device, DeviceChoice::Cuda(_));
    // A GPU that cannot be used is told before rows are read.
    let chosen = if is_chosen { args.device.open(0)? } else { None };
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
    let held_rows = match &args.holdout_rows {
        Some(path) => {
            let (ending, is_packed) = ending_of(path)?;
            let others = [args.output.as_deref(), args.curve.as_deref()].into_iter().flatten();
            Some((OutputFile::create(Some(path), inputs().chain(others))?, ending, is_packed))
        }
        None => None,
    };
    let started = Instant::now();
    let encode = args.encode.apply(&args.columns, EncodeSettings::default())?;
    let mut options = args.source.load_options();
    options.weight.clone_from(&args.weight);
    options.label_kind = args.learn.label_kind();
    options.read = options.read.for_settings(&encode);
    let mut dataset = match &start {
        Some(start) => {
            let options = LoadOptions { weight: args.weight.clone(), ..args.source.load_options_for(start) };
            let mut dataset = load(&data, &options)?;
            let classes = start.classes();
            let splits = std::iter::once(&mut dataset.train).chain(&mut dataset.test);
            for rows in splits.filter(|_| !classes.is_empty()) {
                rows.labels = renumbered(&rows.labels, classes)?;
            }
            dataset
        }
        None => load(&data, &options)?,
    };
    dataset.note.iter().for_each(|note| terminal.doubt(note));
    let is_value = dataset.train.labels.values().is_some();
    if is_value && (!args.class_weights.is_empty() || args.curve.is_some()) {
        bail!(Usage("--class-weight and --curve go with classes, and the label is a number".into()));
    }
    let settings = TrainSettings {
        encode: args.encode.apply(&args.columns, dataset.encode.clone())?,
        class_weight: class_weight(&args.class_weights, learn.name(), dataset.classes())?,
        learn,
    };
    if let Some(test) = &test {
        options.usual_label.clone_from(&dataset.label);
        options.learned_from = Some(dataset.name.clone());
        options.weight = None;
        let kinds = (0..dataset.train.table.columns())
            .map(|column| (dataset.train.table.name(column).into_owned(), dataset.train.table.kind(column)));
        options.read.kinds = kinds.collect();
        dataset.test = Some(load_labelled(test, &options, dataset.classes())?);
    } else if let Some(share) = args.holdout {
        let parts = holdout(&dataset.train.labels, share, settings.learn.seed())?;
        dataset.test = Some(dataset.train.select_rows(&parts.test)?);
        dataset.train = dataset.train.select_rows(&parts.train)?;
        if let (Some((out, ending, is_packed)), Some(rows)) = (held_rows, &dataset.test) {
            write_split(out, rows, dataset.label.as_deref().unwrap_or("label"), ending, is_packed)?;
        }
    }
    let load_seconds = started.elapsed().as_secs_f64();
    let device = match (chosen, settings.learn.name()) {
        (None, "grove") => args.device.open(dataset.train.rows())?,
        (chosen, _) => chosen,
    };
    let device = device.as_deref();
    if is_value {
        let learn = Learn {
            dataset: &dataset,
            settings: &settings,
            start: start.as_ref(),
            load_seconds,
            json: args.json,
            device,
            terminal,
        };
        if let Some(count) = args.cv {
            return learn.cross_validate(count);
        }
        let model = learn.run()?;
        if let Some(path) = &args.output {
            model.save(path)?;
            if !args.json && !terminal.is_quiet() {
                let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
                print(&format!("wrote {} ({})\n", path.display(), bytes(size)))?;
            }
        }
        return Ok(());
    }
    if let Some(count) = args.cv {
        return cross_validate(args, &dataset, &settings, (count, device), terminal, load_seconds);
    }
    let tested = train(
        args,
        &dataset,
        &dataset.train,
        dataset.test.as_ref(),
        (start.as_ref(), device),
        &settings,
        terminal,
    )?;
    let size = match &args.output {
        Some(path) => {
            tested.trained.model.save(path)?;
            Some(std::fs::metadata(path).map_or(0, |metadata| metadata.len()))
        }
        None => None,
    };
    if let (Some(path), Some(story)) = (&args.curve, &tested.trained.grove) {
        let mut file = OutputFile::create(Some(path), inputs())?;
        let metric = args.learn.curve_metric();
        let points: Vec<CurvePicturePoint> = story
            .curve
            .iter()
            .map(|point| {
                let (train, validation) = match metric {
                    CurveMetric::Error => (Some(point.train_error), point.validation_error),
                    CurveMetric::LogLoss => (Some(point.train_loss), point.validation_loss),
                    CurveMetric::Auc => (None, point.validation_auc),
                };
                CurvePicturePoint { round: point.round, train, validation }
            })
            .collect();
        file.write_all(curve_picture(metric, &points, story.rounds).as_bytes())?;
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
    (start, device): (Option<&Model>, Option<&dyn Device>),
    settings: &TrainSettings,
    terminal: &Terminal,
) -> Result<Tested> {
    let training = Training {
        train: LabelledRows {
            rows: Rows::Raw(train.table.view()),
            labels: &train.labels,
            weights: train.weights.as_deref(),
        },
        start,
        label: dataset.label.as_deref(),
        data: &dataset.name,
        device,
        ..Training::new(Rows::Raw(train.table.view()), &train.labels)
    };
    let bar = terminal.bar("learning");
    let trained = gatewood::train_sized(&training, settings, &bar)?;
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
    put("train_baseline_error", json!(tested.train.baseline_error));
    if let Some(test) = &tested.test {
        put("test_error", json!(test.error));
        put("test_baseline_error", json!(test.baseline_error));
        put("test_f1", json!(test.f1));
        for (name, value) in [("test_log_loss", test.log_loss), ("test_auc", test.auc)] {
            if let Some(value) = value {
                put(name, json!(value));
            }
        }
    }
    put("train_rows", json!(tested.train.rows));
    put("test_rows", json!(tested.test.as_ref().map_or(0, |test| test.rows)));
    put("inputs", json!(circuit.inputs()));
    put("gates", json!(circuit.gates()));
    put("depth", json!(circuit.depth()));
    put("train_seconds", json!(tested.trained.learn_time.as_secs_f64()));
    put("load_seconds", json!(load_seconds));
    put("encode_seconds", json!(tested.trained.encode_time.as_secs_f64()));
    put("train_cpu_seconds", json!(tested.trained.processor_time.map(|time| time.as_secs_f64())));
    put("seed", json!(settings.learn.seed()));
    put("label", json!(tested.trained.model.label()));
    put("classes", json!(tested.trained.model.classes()));
    let left_out = tested.trained.encoding.as_ref().map(EncodeReport::columns_left_out);
    put("columns_left_out", json!(left_out.unwrap_or_default()));
    put("notes", json!(tested.trained.notes()));
    let judged = tested.test.as_ref().unwrap_or(&tested.train);
    if let Some(remark) = judged.remark(tested.trained.model.classes()) {
        put("remark", json!(remark));
    }
    put("settings", shown(&settings.learn, &tested.trained));
    for (name, value) in more_fields(&tested.trained) {
        put(name, value);
    }
    Value::Object(fields)
}

/// Which column the label is, and its classes.
fn label_line(dataset: &Dataset) -> String {
    let Some(label) = &dataset.label else { return String::new() };
    let classes: Vec<String> = dataset.classes().iter().take(10).map(|class| short(class)).collect();
    let more = dataset.classes().len().saturating_sub(10);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("label: {}, {} classes: {}{more}\n", quote(label), dataset.classes().len(), classes.join(", "))
}

/// What is said of a training beside its figures: which columns are left out and why, and how others were read. A quiet run says
/// only what may be wrong.
pub(super) fn told(dataset: &Dataset, trained: &Trained, terminal: &Terminal) -> String {
    if trained.was_stopped {
        trained.notes().last().into_iter().for_each(|note| terminal.doubt(note));
    }
    if terminal.is_quiet() {
        let doubts = trained.encoding.iter().flat_map(EncodeReport::doubts);
        doubts.take(SHOWN).for_each(|doubt| terminal.doubt(&doubt));
        return String::new();
    }
    left_out_lines(dataset, trained.encoding.as_ref())
}

/// Columns of which something is said, at the most.
const SHOWN: usize = 8;

fn left_out_lines(dataset: &Dataset, report: Option<&EncodeReport>) -> String {
    let Some(report) = report else { return String::new() };
    let left_out = report.dropped();
    if dataset.image.is_some() && !left_out.is_empty() {
        return format!("left out: {} pixels that hardly ever change\n", count(left_out.len()));
    }
    let mut text = String::new();
    for column in left_out.iter().take(SHOWN) {
        let reason = column.reason().unwrap_or_default();
        text += &format!("left out: {}, {reason}\n", quote(&column.name));
    }
    if left_out.len() > SHOWN {
        text += &format!(
            "left out: {} more columns; gatewood data info lists them\n",
            count(left_out.len() - SHOWN)
        );
    }
    report.notes().iter().take(SHOWN).for_each(|note| text += &format!("{note}\n"));
    text
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
            format!(" from {}", several(columns, "column"))
        };
        text += &format!("{}: {classes}, {}{raw}\n", name(&dataset.name), several(circuit.inputs(), "bit"));
        text += &label_line(dataset);
    }
    text += &told(dataset, &tested.trained, terminal);
    if !terminal.is_quiet() {
        text += "\n";
    }
    let mut grid = Grid::new(&["", ">rows", ">error", ">wrong", ">baseline", ">AUC", ">log loss", ">F1"]);
    let four = |figure: Option<f64>| figure.map_or(String::new(), |figure| format!("{figure:.4}"));
    for (name, metrics) in [("train", Some(&tested.train)), ("test", tested.test.as_ref())] {
        if let Some(metrics) = metrics {
            let wrong = (metrics.error * metrics.rows as f64).round() as u64;
            grid.row(vec![
                name.into(),
                count(metrics.rows),
                share(metrics.error),
                count(wrong),
                share(metrics.baseline_error),
                four(metrics.auc),
                four(metrics.log_loss),
                four(Some(metrics.f1)),
            ]);
        }
    }
    text += &grid.show("  ");
    let (which, judged) = tested.test.as_ref().map_or(("training", &tested.train), |test| ("test", test));
    if let Some(remark) = judged.remark(dataset.classes()) {
        text += &format!("\n  on the {which} rows, the model is {remark}\n");
    }
    if terminal.is_quiet() {
        return text;
    }
    let kind = match circuit {
        Circuit::Grove(grove) if !grove.patterns().is_empty() => format!(
            "grove of {}, {} and {},",
            several(grove.trees().len(), "tree"),
            several(grove.spans().len(), "span"),
            several(grove.patterns().patterns().len(), "pattern")
        ),
        Circuit::Grove(grove) if !grove.spans().is_empty() => {
            format!(
                "grove of {} and {},",
                several(grove.trees().len(), "tree"),
                several(grove.spans().len(), "span")
            )
        }
        Circuit::Grove(grove) => format!("grove of {},", several(grove.trees().len(), "tree")),
        Circuit::Tree(_) => "tree of".into(),
    };
    text += &format!(
        "\n{kind} {}, depth {}, reads {} of {}\n",
        several(circuit.gates(), "gate"),
        circuit.depth(),
        count(circuit.used_inputs().len()),
        several(circuit.inputs(), "bit"),
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
    (folds_wanted, device): (usize, Option<&dyn Device>),
    terminal: &Terminal,
    load_seconds: f64,
) -> Result<()> {
    let training = Training {
        train: LabelledRows {
            rows: Rows::Raw(dataset.train.table.view()),
            labels: &dataset.train.labels,
            weights: dataset.train.weights.as_deref(),
        },
        label: dataset.label.as_deref(),
        data: &dataset.name,
        device,
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
        let tests = || results.iter().filter_map(|trained| trained.test.as_ref());
        let figures: [(&str, Vec<f64>); 4] = [
            ("test_baseline_error", tests().map(|test| test.baseline_error).collect()),
            ("test_f1", tests().map(|test| test.f1).collect()),
            ("test_auc", tests().filter_map(|test| test.auc).collect()),
            ("test_log_loss", tests().filter_map(|test| test.log_loss).collect()),
        ];
        for (name, values) in figures {
            if values.len() == results.len() {
                value[name] = json!(mean(&values));
            }
        }
        return print(&format!("{value}\n"));
    }
    let mut grid =
        Grid::new(&["fold", ">rows", ">train error", ">test error", ">baseline", ">AUC", ">log loss", ">F1"]);
    let four = |figure: Option<f64>| figure.map_or(String::new(), |figure| format!("{figure:.4}"));
    let figures = |find: &dyn Fn(&Metrics) -> Option<f64>| -> Option<f64> {
        let found: Option<Vec<f64>> =
            results.iter().map(|trained| trained.test.as_ref().and_then(find)).collect();
        found.map(|found| mean(&found))
    };
    for (fold, trained) in (1..).zip(&results) {
        let Some(test) = &trained.test else { continue };
        grid.row(vec![
            fold.to_string(),
            count(test.rows),
            share(trained.train.error),
            share(test.error),
            share(test.baseline_error),
            four(test.auc),
            four(test.log_loss),
            four(Some(test.f1)),
        ]);
    }
    grid.row(vec![
        "mean".into(),
        count(dataset.train.rows()),
        share(mean(&train_errors)),
        share(mean(&errors)),
        figures(&|test| Some(test.baseline_error)).map_or(String::new(), share),
        four(figures(&|test| test.auc)),
        four(figures(&|test| test.log_loss)),
        four(figures(&|test| Some(test.f1))),
    ]);
    let nothing = || String::new();
    grid.row(vec![
        "spread".into(),
        nothing(),
        share(spread(&train_errors)),
        share(spread(&errors)),
        nothing(),
        nothing(),
        nothing(),
        nothing(),
    ]);
    let mut text = grid.show("  ");
    if figures(&|test| Some(test.error - test.baseline_error)).is_some_and(|mean| mean >= 0.0) {
        text += "\n  no better than saying the most frequent class of every row\n";
    }
    let told = results.last().map_or(String::new(), |last| told(dataset, &last.trained, terminal));
    if !terminal.is_quiet() {
        text = format!("{}{told}\n{text}", label_line(dataset));
    }
    print(&text)
}
