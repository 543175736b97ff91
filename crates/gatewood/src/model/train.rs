//! From rows and settings to a model: the one way that the command and the Python package take.

use std::borrow::Cow;
use std::time::Duration;

use crate::platform::{Instant, processor_time};

use serde::Serialize;

use super::augment::Augmented;
use super::coverage::covering;
use super::digest::digest;
use super::patterns::{Learning, MOST_TWICE, Pictures, augmentation, fit_with_patterns, wanted};
use super::rows::encode;
use super::{Circuit, LabelledRows, LearnSettings, Model, Provenance, Rows, TrainSettings, UsedSettings};
use crate::bits::kernels::check_simd;
use crate::circuit::{Grove, Output, Span};
use crate::encode::{Augment, ColumnLeftOut, EncodeReport, Encoder, ImageShape, Labels, Test};
use crate::learn::device::Device;
use crate::learn::objective::{TargetScale, ValueLoss, ValueScale, for_classes};
use crate::learn::{
    CurvePoint, DataKind, Examples, FEW_GATES, GrovePlan, GroveSettings, GroveTask, Observer, Profile,
    fit_grove, fit_grove_for, fit_tree, fit_tree_on, image_spans,
};
use crate::{Error, Result};

/// What a training is given besides its settings.
#[derive(Debug, Clone, Copy)]
pub struct Training<'a> {
    /// The rows to learn from.
    pub train: LabelledRows<'a>,
    /// Rows that tell when to stop.
    pub validation: Option<LabelledRows<'a>>,
    /// A model to go on from: its encoder and its trees are kept.
    pub start: Option<&'a Model>,
    /// The name of the label column, where it has one.
    pub label: Option<&'a str>,
    /// The data, as the user named it.
    pub data: &'a str,
    /// Where a grove is learned, if not in this process; it is the same.
    pub device: Option<&'a dyn Device>,
}

impl<'a> Training<'a> {
    /// Rows and nothing else.
    pub fn new(rows: Rows<'a>, labels: &'a Labels) -> Self {
        Self {
            train: LabelledRows { rows, labels, weights: None },
            validation: None,
            start: None,
            label: None,
            data: "",
            device: None,
        }
    }
}

/// A model, and what there is to tell of its making.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Trained {
    /// The model.
    pub model: Model,
    /// What was made small, where values were learned.
    pub objective: Option<ValueLoss>,
    /// What became of the raw columns, where there were any to encode anew.
    pub encoding: Option<EncodeReport>,
    /// Time taken by fitting the encoder and encoding.
    pub encode_time: Duration,
    /// Time taken by learning alone.
    pub learn_time: Duration,
    /// What both took of the processor, all threads of the process, where the system tells.
    pub processor_time: Option<Duration>,
    /// What there is to tell of a grove's making.
    pub grove: Option<GroveReport>,
    /// Whether the observer stopped the trial of comparisons of columns, so that the model is the one without them.
    pub was_stopped: bool,
}

/// How a grove came to be.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct GroveReport {
    /// The settings with nothing left open.
    pub plan: GrovePlan,
    /// One point a round, rounds that early stopping took back included.
    pub curve: Vec<CurvePoint>,
    /// Rounds that were kept.
    pub rounds: usize,
    /// The mean loss of the rows that chose the rounds, where rows did.
    pub held_out_loss: Option<f64>,
}

/// What there is to tell of a training besides the model, to be serialized.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TrainingReport<'a> {
    /// What became of the raw columns.
    pub encoding: Option<&'a EncodeReport>,
    /// The columns that were left out.
    pub columns_left_out: Option<Vec<ColumnLeftOut>>,
    /// What was found out in doubt about columns.
    pub notes: Option<Vec<String>>,
    /// Time taken by fitting the encoder and encoding.
    pub encode_seconds: f64,
    /// Time taken by learning alone.
    pub learn_seconds: f64,
    /// How a grove came to be.
    pub grove: Option<&'a GroveReport>,
}

impl Trained {
    /// What the user should know of how the columns were read and of the training, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let stopped = self.was_stopped.then(|| {
            "the training was stopped while comparisons of columns were tried: the model is the one without them".to_owned()
        });
        self.encoding.iter().flat_map(EncodeReport::notes).chain(stopped).collect()
    }

    /// All but the model.
    pub fn report(&self) -> TrainingReport<'_> {
        TrainingReport {
            encoding: self.encoding.as_ref(),
            columns_left_out: self.encoding.as_ref().map(EncodeReport::columns_left_out),
            notes: self.encoding.as_ref().map(|_| self.notes()),
            encode_seconds: self.encode_time.as_secs_f64(),
            learn_seconds: self.learn_time.as_secs_f64(),
            grove: self.grove.as_ref(),
        }
    }
}

/// Learns with so many comparisons of columns; nothing where there are to be some and no two columns can be compared.
pub(super) fn learn_with(
    training: &Training<'_>,
    settings: &TrainSettings,
    comparisons: usize,
    observer: &dyn Observer,
) -> Result<Option<Trained>> {
    check_simd()?;
    let LabelledRows { rows, labels, .. } = training.train;
    check(&training.train, "training")?;
    let kinds = |other: bool| other == labels.values().is_some();
    if !training.start.is_none_or(|start| kinds(start.circuit().says_values())) {
        return Err(Error::data(
            "the model to go on from says classes where the rows have values, or values for classes",
        ));
    }
    if training.start.is_some_and(|start| start.classes() != labels.classes()) {
        return Err(Error::data("the rows have other classes than the model to go on from"));
    }
    if let Some(validation) = &training.validation {
        check(validation, "validation")?;
        if validation.labels.classes() != labels.classes() || !kinds(validation.labels.values().is_some()) {
            return Err(Error::data("the validation rows have other classes than the training rows"));
        }
    }
    let mut settings = settings.clone();
    if labels.values().is_some() {
        settings.encode = settings.encode.learning_values();
    }
    let threads = settings.learn.threads();
    let (begun, begun_work) = (Instant::now(), processor_time());
    let (mut encoder, encoding) = match (training.start, rows) {
        (Some(start), _) => (start.encoder().clone(), None),
        (None, Rows::Raw(table)) => {
            let (mut encoder, mut report) = Encoder::fit_on(table, &settings.encode, threads)?;
            if comparisons > 0 {
                let Some(comparing) = encoder.comparing(table, comparisons, settings.learn.seed())? else {
                    return Ok(None);
                };
                report.add_comparisons(comparing.bits() - encoder.bits());
                encoder = comparing;
            }
            (encoder, Some(report))
        }
        (None, Rows::Bits(bits)) => (Encoder::identity(bits.columns()), None),
    };
    // The images that patterns are learned of, and what is done to have more of them.
    let (pictured, ways) = match &settings.learn {
        LearnSettings::Grove(grove) => {
            let start = training.start.and_then(|start| match start.circuit() {
                Circuit::Grove(start) => Some(start),
                Circuit::Tree(_) => None,
            });
            let pictured = wanted(&training.train, settings.encode.image, grove, start)?;
            (pictured, augmentation(&settings.encode.augment, grove, pictured.is_some()))
        }
        LearnSettings::Tree(_) => (None, Vec::new()),
    };
    // Where only patterns look at the copies of images, these are made when they are asked for.
    let when_asked = pictured.is_some() && training.start.is_none();
    let augmented = Augmented::new(&training.train, settings.encode.image, &ways, when_asked)?;
    let made = augmented.as_ref().and_then(Augmented::images);
    let originals = rows.len();
    let LabelledRows { rows, labels, weights } = augmented.as_ref().map_or(training.train, Augmented::rows);
    let bits = encode(&encoder, rows, threads)?;
    let held = match &training.validation {
        Some(validation) => Some((encode(&encoder, validation.rows, threads)?, validation)),
        None => None,
    };

    let encode_time = begun.elapsed();

    let begun = Instant::now();
    let mut report = None;
    let circuit = match &mut settings.learn {
        LearnSettings::Grove(grove) => {
            let start = match training.start.map(Model::circuit) {
                Some(Circuit::Grove(start)) => Some(start),
                Some(Circuit::Tree(_)) => {
                    return Err(Error::setting("a tree cannot be continued as a grove"));
                }
                None => None,
            };
            let scale = match labels.values() {
                Some(values) => {
                    let loss = *grove.objective.get_or_insert_default();
                    let is_log = grove.target == Some(TargetScale::Log);
                    Some(scale_of(loss, values, is_log, start)?)
                }
                None => None,
            };
            let targets = targets_of(labels, scale.as_ref());
            let examples = Examples { bits: bits.view(), targets: &targets, weights };
            let mut task = GroveTask::new(examples, labels.classes().len());
            let are_images = settings.encode.image.is_some()
                || matches!(training.train.rows, Rows::Raw(table) if table.pixels().is_some());
            let sizes = (training.train.rows.len(), labels.classes().len());
            task.profile = profile_of(sizes, &encoder, are_images, pictured.is_some());
            // A setting out of range is refused before anything is made of it.
            grove.resolve(&task.profile)?;
            let held_targets = held.as_ref().map(|(_, rows)| targets_of(rows.labels, scale.as_ref()));
            task.validation = held.as_ref().zip(held_targets.as_deref()).map(|((bits, rows), targets)| {
                Examples { bits: bits.view(), targets, weights: rows.weights }
            });
            task.start = start;
            task.device = training.device;
            task.spans = spans(&encoder, settings.encode.image, labels.len(), grove)?;
            let classes = task.classes;
            let loss = grove.objective.unwrap_or_default();
            let make = |unit| match scale {
                None => for_classes(classes, unit),
                Some(scale) => loss.objective(scale, unit),
            };
            let fit = |task: &GroveTask<'_>, settings: &GroveSettings| match scale {
                None => fit_grove(task, settings, observer),
                Some(_) => {
                    let fit = fit_grove_for(&make, task, settings, observer)?;
                    covering(loss, &make, task, settings, fit, observer)
                }
            };
            let mirrors = ways.contains(&Augment::Mirror);
            let learning = Learning { make: &make, fit: &fit, mirrors, most_twice: MOST_TWICE };
            let validation = training.validation.map(|held| held.rows);
            let pictures = Pictures { train: rows, made, validation };
            let (whole, mut fit) =
                fit_with_patterns(&encoder, pictured, pictures, learning, task, grove, observer)?;
            fit.plan.augment = ways;
            encoder = whole;
            report = Some(GroveReport {
                plan: fit.plan,
                curve: fit.curve,
                rounds: fit.rounds,
                held_out_loss: fit.held_out_loss,
            });
            Circuit::Grove(fit.grove)
        }
        LearnSettings::Tree(tree) => {
            if weights.is_some() {
                return Err(Error::setting("a tree does not take weights of rows: use a grove"));
            }
            if training.validation.is_some() {
                return Err(Error::setting("a tree does not take validation rows: use a grove"));
            }
            if training.start.is_some() {
                return Err(Error::setting("a tree cannot be continued: use a grove"));
            }
            if labels.values().is_some() {
                return Err(Error::data("a tree is for two classes, and the target is a value: use a grove"));
            }
            if labels.classes().len() != 2 {
                return Err(Error::data(format!(
                    "a tree is for two classes, and there are {}: use a grove",
                    labels.classes().len()
                )));
            }
            let fit = match training.device {
                Some(device) => fit_tree_on(device, bits.view(), labels.codes(), tree, observer),
                None => fit_tree(bits.view(), labels.codes(), tree, observer),
            };
            Circuit::Tree(fit?)
        }
    };
    let model = Model::new(encoder, circuit, labels.classes().to_vec())?;
    let judged = match &held {
        Some((bits, rows)) => (bits.view(), rows.labels.codes()),
        // Of images whose copies are made when they are asked for, the originals; values have no codes.
        None => {
            let codes = labels.codes();
            (bits.view(), &codes[..codes.len().min(bits.view().rows())])
        }
    };
    let seed = settings.learn.seed();
    let importance = match training.start {
        None => model.measured_importance(judged.0, judged.1, seed, threads)?.unwrap_or_default(),
        Some(_) => Vec::new(),
    };
    let learn_time = begun.elapsed();
    let objective = match &settings.learn {
        LearnSettings::Grove(grove) => grove.objective,
        LearnSettings::Tree(_) => None,
    };
    let mut used = UsedSettings::new(&settings)?;
    if let Some(report) = &report {
        used = used.with_resolved(&report.plan, report.rounds)?;
    }
    let model = model
        .with_importance(importance)
        .with_label(training.label.map(str::to_owned))
        .with_settings(used)
        .with_provenance(Provenance {
            program: concat!("gatewood ", env!("CARGO_PKG_VERSION")).into(),
            data: training.data.into(),
            rows: originals as u64,
            digest: digest(bits.view(), &labels.marks()[..originals]),
        });
    let processor_time = processor_time().zip(begun_work).map(|(now, begun)| now.saturating_sub(begun));
    Ok(Some(Trained {
        model,
        objective,
        encoding,
        encode_time,
        learn_time,
        processor_time,
        grove: report,
        was_stopped: false,
    }))
}

/// How values become targets: as a model to go on from has it, else as suits them.
pub(super) fn scale_of(
    loss: ValueLoss,
    values: &[f64],
    is_log: bool,
    start: Option<&Grove>,
) -> Result<ValueScale> {
    let scale = loss.scale_of(values, is_log)?;
    let Some((Output::Value(before), unit)) = start.map(|start| (start.output(), start.unit())) else {
        return Ok(scale);
    };
    let Output::Value(now) = loss.objective(scale, unit).output() else { return Ok(scale) };
    if (before.is_log, before.quantiles) != (now.is_log, now.quantiles) {
        return Err(Error::setting("the model to go on from was learned with another objective"));
    }
    Ok(if loss == ValueLoss::Poisson { scale } else { scale.placed(before.offset, before.scale / unit) })
}

/// What the objective learns: classes, or values in fixed point.
pub(super) fn targets_of<'a>(labels: &'a Labels, scale: Option<&ValueScale>) -> Cow<'a, [u32]> {
    match labels.values().zip(scale) {
        Some((values, scale)) => values.iter().map(|&value| scale.target(value)).collect(),
        None => labels.codes().into(),
    }
}

/// What so many rows of so many classes are like.
pub(super) fn profile_of(
    (rows, classes): (usize, usize),
    encoder: &Encoder,
    are_images: bool,
    has_patterns: bool,
) -> Profile {
    let words = encoder.meanings().iter().filter(|meaning| matches!(meaning.test, Test::Word(_))).count();
    let kind = if has_patterns {
        DataKind::Patterns
    } else if are_images {
        DataKind::Image
    } else if 2 * words > encoder.bits() {
        DataKind::Text
    } else {
        DataKind::Table
    };
    Profile::new(rows, encoder.width(), encoder.bits(), classes, kind)
}

/// Pixels of a span, where nobody says: as many as a LUT of most chips reads.
const SPAN: usize = 6;

/// Bits that the spans of all rows may take, about; and how many there may be, where rows are many or few.
const MOST_BITS: usize = 1 << 31;
const FEWEST_SPANS: usize = 1 << 12;
const MOST_SPANS: usize = 1 << 17;

/// The spans a grove may read: lines of images.
pub(super) fn spans(
    encoder: &Encoder,
    image: Option<ImageShape>,
    rows: usize,
    settings: &GroveSettings,
) -> Result<Vec<Span>> {
    match (image, settings.spans) {
        (None, Some(1..)) => {
            Err(Error::setting("spans are lines of images, and the rows are not known to be any"))
        }
        (_, Some(0)) => Ok(Vec::new()),
        (Some(_), None) if settings.refits.is_some_and(|refits| refits > 0) => Ok(Vec::new()),
        (Some(_), None) if settings.max_gates.is_some_and(|most| most < FEW_GATES) => Ok(Vec::new()),
        (Some(image), pixels) => {
            let most = (MOST_BITS / rows.max(1)).clamp(FEWEST_SPANS, MOST_SPANS);
            image_spans(encoder, image, pixels.unwrap_or(SPAN), most)
        }
        (None, _) => Ok(Vec::new()),
    }
}

fn check(examples: &LabelledRows<'_>, name: &str) -> Result<()> {
    if examples.rows.len() != examples.labels.len() {
        return Err(Error::data(format!(
            "{} labels for {} {name} rows",
            examples.labels.len(),
            examples.rows.len()
        )));
    }
    if let Rows::Bits(bits) = examples.rows {
        bits.validate()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::rows::Encoded;
    use super::super::train;
    use super::*;
    use crate::bits::BitMatrix;
    use crate::encode::{EncodeSettings, Table};
    use crate::learn::{Silent, TreeSettings};

    fn settings() -> TrainSettings {
        let tree = TreeSettings { arity: 2, depth: 3, ..TreeSettings::default() };
        TrainSettings { learn: LearnSettings::Tree(tree), ..TrainSettings::default() }
    }

    fn bits() -> (BitMatrix, Labels) {
        let rows: Vec<bool> = (0..64).flat_map(|row| (0..6).map(move |bit| row >> bit & 1 != 0)).collect();
        let labels = (0..64).map(|row: u32| row >> 2 & 1).collect();
        (
            BitMatrix::from_bools(6, &rows).unwrap(),
            Labels::new(vec!["no".into(), "yes".into()], labels).unwrap(),
        )
    }

    #[test]
    fn ready_bits_and_a_table_of_them_give_one_circuit() {
        let (bits, labels) = bits();
        let lent = train(&Training::new(Rows::Bits(bits.view()), &labels), &settings(), &Silent).unwrap();
        let table = Table::from_bits(bits.clone());
        let encoded = train(&Training::new(Rows::Raw(table.view()), &labels), &settings(), &Silent).unwrap();
        assert_eq!(lent.model.circuit(), encoded.model.circuit());
        let said = lent.model.predict_rows(Rows::Bits(bits.view()), 1).unwrap();
        assert_eq!(said, encoded.model.predict(&table, 1).unwrap());
        let names = |names: [&str; 6]| {
            Table::from_bits(bits.clone()).with_names(names.map(String::from).to_vec()).unwrap()
        };
        let named = names(["a", "b", "c", "d", "e", "f"]);
        let (encoder, _) = Encoder::fit(&named, &EncodeSettings::keep_all(1)).unwrap();
        assert!(matches!(encode(&encoder, Rows::Raw(named.view()), 1).unwrap(), Encoded::Lent(_)));
        let turned = names(["b", "a", "c", "d", "e", "f"]);
        let moved = encode(&encoder, Rows::Raw(turned.view()), 1).unwrap();
        assert!(matches!(moved, Encoded::Made(_)));
        assert_eq!(moved.view().column(0), &bits.column(1)[..1]);
        let fewer = Encoder::identity(6).select(&[4, 2]).unwrap();
        let chosen = encode(&fewer, Rows::Bits(bits.view()), 1).unwrap();
        assert_eq!(chosen.view().column(1), &bits.column(2)[..1]);
        assert!(
            encode(&Encoder::identity(5), Rows::Bits(bits.view()), 1).is_err_and(|error| error.is_data())
        );
    }

    #[test]
    fn settings_come_back_from_the_file() {
        let (bits, labels) = bits();
        let training =
            Training { label: Some("kind"), data: "some", ..Training::new(Rows::Bits(bits.view()), &labels) };
        let model = train(&training, &settings(), &Silent).unwrap().model;
        let again = Model::from_bytes(&model.to_bytes()).unwrap();
        assert_eq!(again, model);
        assert_eq!(again.label(), Some("kind"));
        assert_eq!(again.provenance().data, "some");
        let read = again.settings().train_settings().unwrap();
        assert_eq!(read, settings());
    }

    #[test]
    fn groves_take_weights_and_validation_rows_and_go_on() {
        let (bits, labels) = bits();
        let plain = Training::new(Rows::Bits(bits.view()), &labels);
        let weights = vec![1.0; 64];
        let weighted = LabelledRows { weights: Some(&weights), ..plain.train };
        let chosen = serde_json::json!({"arity": 2, "rounds": 3, "trees": 1});
        let settings = TrainSettings::from_json("grove", &chosen.to_string()).unwrap();
        let training = Training { train: weighted, validation: Some(plain.train), ..plain };
        let first = train(&training, &settings, &Silent).unwrap();
        let trees = |model: &Model| match model.circuit() {
            Circuit::Grove(grove) => grove.trees().len(),
            Circuit::Tree(_) => 0,
        };
        assert_eq!(trees(&first.model), first.grove.unwrap().rounds);
        let more = Training { start: Some(&first.model), ..plain };
        let more = train(&more, &settings, &Silent).unwrap();
        assert_eq!(trees(&more.model), trees(&first.model) + 3);
        assert_eq!(more.report().grove.unwrap().curve.len(), 3);
    }

    #[test]
    fn a_wrong_setting_is_named() {
        for (name, value) in [("arity", serde_json::json!("four")), ("colour", serde_json::json!(3))] {
            for model in ["grove", "tree"] {
                let chosen = serde_json::json!({ name: value });
                let error = TrainSettings::from_json(model, &chosen.to_string()).unwrap_err();
                assert!(error.is_setting() && error.to_string().contains(name), "{error}");
            }
        }
        assert!(TrainSettings::from_json("forest", "{}").is_err());
        assert!(TrainSettings::from_json("tree", "[4]").unwrap_err().is_setting());
    }

    #[test]
    fn what_a_tree_cannot_take_is_refused() {
        let (bits, labels) = bits();
        let plain = Training::new(Rows::Bits(bits.view()), &labels);
        let weights = vec![1.0; 64];
        let weighted = LabelledRows { weights: Some(&weights), ..plain.train };
        let refused =
            |training: Training<'_>| train(&training, &settings(), &Silent).unwrap_err().is_setting();
        assert!(refused(Training { train: weighted, ..plain }));
        assert!(refused(Training { validation: Some(plain.train), ..plain }));
        let three = Labels::new(["a", "b", "c"].map(String::from).to_vec(), vec![0; 64]).unwrap();
        let rows = Training::new(Rows::Bits(bits.view()), &three);
        assert!(train(&rows, &settings(), &Silent).unwrap_err().is_data());
        let short = Labels::new(vec!["no".into(), "yes".into()], vec![0; 63]).unwrap();
        let rows = Training::new(Rows::Bits(bits.view()), &short);
        assert!(train(&rows, &settings(), &Silent).unwrap_err().is_data());
    }
}
