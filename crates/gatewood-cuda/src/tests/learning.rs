//! Groves and patterns that a device learns are those of the processor.

use gatewood::circuit::Span;
use gatewood::encode::{ImageShape, Labels, Table};
use gatewood::learn::device::Device;
use gatewood::learn::objective::ValueLoss;
use gatewood::learn::{Examples, GroveSettings, GroveTask, Silent, fit_grove, fit_grove_for};
use gatewood::model::{Circuit, LearnSettings, Rows, TrainSettings, Training, train};
use gatewood::random::{Purpose, Stream};

use super::limited::Limited;
use super::{devices, rows};
use crate::CudaDevice;

pub(super) fn settings(arity: usize, root: usize, depth: usize) -> GroveSettings {
    GroveSettings {
        arity: Some(arity),
        root_arity: Some(root),
        depth: Some(depth),
        climb: Some(30),
        rounds: Some(4),
        sample_rows: Some(300),
        learning_rate: Some(0.3),
        cv_folds: Some(0),
        seed: 7,
        threads: 2,
        ..GroveSettings::default()
    }
}

/// Both learn the same grove, with the same losses on the way.
fn agree(task: &GroveTask<'_>, settings: &GroveSettings, what: &str) {
    let expected = fit_grove(task, settings, &Silent).unwrap();
    for device in devices() {
        let mut task = task.clone();
        task.device = Some(&**device);
        let found = fit_grove(&task, settings, &Silent).unwrap();
        assert_eq!(found.grove, expected.grove, "{what} on {}", device.name());
        assert_eq!(found.curve, expected.curve, "{what} on {}", device.name());
    }
}

#[test]
fn two_classes_of_every_shape() {
    for (number, (arity, root, depth)) in
        [(2, 3, 1), (4, 3, 2), (1, 1, 3), (3, 2, 3), (5, 2, 2), (6, 2, 2), (2, 8, 2), (3, 12, 2), (7, 1, 2)]
            .into_iter()
            .enumerate()
    {
        let (bits, labels) = rows(300 + 700 * (number % 2), 20 + 60 * (number % 3), 2, number as u64);
        let task = GroveTask::new(Examples { bits: bits.view(), targets: &labels, weights: None }, 2);
        agree(&task, &settings(arity, root, depth), &format!("arity {arity}, root {root}, depth {depth}"));
    }
}

/// Where few rows of many are drawn, a device reads them from a copy that has them side by side.
#[test]
fn few_rows_of_many() {
    let (bits, labels) = rows(9_000, 70, 2, 11);
    let mut task = GroveTask::new(Examples { bits: bits.view(), targets: &labels, weights: None }, 2);
    agree(&task, &settings(3, 3, 2), "inputs");
    task.spans = vec![Span::any(vec![0, 1]).unwrap(), Span::all(vec![2, 60, 61]).unwrap()];
    agree(&task, &GroveSettings { trees_per_round: Some(2), ..settings(4, 4, 1) }, "spans");
}

/// Addresses of a root of many inputs are kept in other memory where a block shares too little.
#[test]
fn blocks_that_share_little() {
    let (bits, labels) = rows(2_500, 40, 2, 12);
    let task = GroveTask::new(Examples { bits: bits.view(), targets: &labels, weights: None }, 2);
    let settings = GroveSettings { sample_rows: Some(2_400), ..settings(2, 8, 2) };
    let expected = fit_grove(&task, &settings, &Silent).unwrap().grove;
    for device in devices() {
        let little = CudaDevice(Limited::new(device, usize::MAX / 2).sharing(6 << 10));
        let mut task = task.clone();
        task.device = Some(&little);
        assert_eq!(fit_grove(&task, &settings, &Silent).unwrap().grove, expected, "on {}", device.name());
    }
}

#[test]
fn settings_of_every_kind() {
    let (bits, labels) = rows(700, 70, 2, 3);
    let examples = Examples { bits: bits.view(), targets: &labels, weights: None };
    let task = GroveTask::new(examples, 2);
    let base = settings(3, 3, 2);
    agree(&task, &GroveSettings { trees_per_round: Some(3), ..base.clone() }, "trees side by side");
    agree(&task, &GroveSettings { sampling_power: Some(1.5), ..base.clone() }, "a sampling power");
    agree(&task, &GroveSettings { honest_fraction: Some(0.3), ..base.clone() }, "honest rows");
    agree(&task, &GroveSettings { candidates: Some(5), ..base.clone() }, "candidates");
    agree(&task, &GroveSettings { arity: Some(5), candidates: Some(3), ..base.clone() }, "candidates of 5");
    agree(&task, &GroveSettings { cv_folds: Some(2), ..base.clone() }, "folds");
    agree(
        &task,
        &GroveSettings { validation_fraction: Some(0.2), rounds: Some(12), ..base.clone() },
        "held out",
    );
    agree(&task, &GroveSettings { max_gates: Some(12), rounds: Some(8), ..base.clone() }, "pruning");
    agree(&task, &GroveSettings { class_weights: vec![1.0, 3.0], ..base.clone() }, "weights of classes");
    let weights: Vec<f64> = (0..labels.len()).map(|row| [0.0, 0.5, 1.0, 3.0][row % 4]).collect();
    let weighted = GroveTask::new(Examples { weights: Some(&weights), ..examples }, 2);
    agree(&weighted, &base, "weights of rows");
    let (held_bits, held_labels) = rows(100, 70, 2, 4);
    let mut held = task.clone();
    held.validation = Some(Examples { bits: held_bits.view(), targets: &held_labels, weights: None });
    agree(&held, &GroveSettings { early_stopping_rounds: Some(3), ..base.clone() }, "validation rows");
    let mut wide = task.clone();
    wide.spans = vec![Span::any(vec![0, 1]).unwrap(), Span::all(vec![0, 1, 2]).unwrap()];
    agree(&wide, &base, "spans");
    let start = fit_grove(&task, &base, &Silent).unwrap().grove;
    let mut more = task.clone();
    more.start = Some(&start);
    agree(&more, &base, "a grove that is continued");
}

#[test]
fn many_classes() {
    let (bits, labels) = rows(600, 40, 4, 5);
    let task = GroveTask::new(Examples { bits: bits.view(), targets: &labels, weights: None }, 4);
    agree(&task, &settings(3, 3, 2), "a tree for each class");
    agree(&task, &GroveSettings { shared_trees: Some(true), ..settings(3, 3, 2) }, "shared trees");
    agree(&task, &GroveSettings { honest_fraction: Some(0.3), ..settings(3, 3, 2) }, "honest rows");
    agree(&task, &GroveSettings { cv_folds: Some(1), ..settings(3, 3, 2) }, "a fold");
}

#[test]
fn values_of_every_loss() {
    let (bits, classes) = rows(500, 40, 5, 6);
    let mut stream = Stream::new(6, Purpose::Generate, 2);
    let values: Vec<f64> =
        classes.iter().map(|&class| f64::from(class) * 30.0 + 7.0 * stream.unit() + 0.1).collect();
    for loss in ["squared", "huber", "absolute", "poisson", "quantile:0.1,0.5,0.9"] {
        let kind: ValueLoss = loss.parse().unwrap();
        let scale = kind.scale_of(&values, false).unwrap();
        let targets: Vec<u32> = values.iter().map(|&value| scale.target(value)).collect();
        let task = GroveTask::new(Examples { bits: bits.view(), targets: &targets, weights: None }, 0);
        let make = |unit| kind.objective(scale, unit);
        let settings = GroveSettings { vote_bits: Some(12), ..settings(3, 3, 2) };
        let expected = fit_grove_for(&make, &task, &settings, &Silent).unwrap();
        for device in devices() {
            let mut task = task.clone();
            task.device = Some(&**device);
            let found = fit_grove_for(&make, &task, &settings, &Silent).unwrap();
            assert_eq!(found.grove, expected.grove, "{loss} on {}", device.name());
            assert_eq!(found.curve, expected.curve, "{loss} on {}", device.name());
        }
    }
}

/// Images of noise with a bright bar of one of two colours, across or down: of two classes, or of four with the colour.
fn images(count: usize, image: ImageShape, classes: u32) -> (Table, Labels) {
    let mut stream = Stream::new(8, Purpose::Generate, 0);
    let (mut pixels, mut codes) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let (class, at) =
            (stream.below(classes), stream.below(image.width.min(image.height) as u32) as usize);
        for place in 0..image.columns() {
            let (line, column) = (place / image.width % image.height, place % image.width);
            let is_bar = if class % 2 == 0 { line == at } else { column == at };
            let is_bright = is_bar && (class < 2 || place < image.width * image.height / 2);
            pixels.push(if is_bright { 160 + stream.below(90) } else { stream.below(150) } as u8);
        }
        codes.push(class);
    }
    let names = (0..classes).map(|class| class.to_string()).collect();
    (Table::from_pixels(image.columns(), pixels).unwrap(), Labels::new(names, codes).unwrap())
}

/// Patterns of every kind that a device climbs are those that the processor climbs: of pixels that are bits and of colours, that
/// match anywhere and that are counted, on samples of few and of many words, in many trees and in one that ends early.
#[test]
fn patterns_of_every_kind() {
    let colour = ImageShape { width: 7, height: 6, channels: 3 };
    for (image, classes, rows, pattern) in [
        (ImageShape::grey(9, 7), 2, 300, r#"{"counts": 0, "sample_rows": 256}"#),
        (ImageShape::grey(9, 7), 2, 900, r#"{"counts": 1, "sample_rows": 700, "trials": 9}"#),
        (colour, 4, 400, r#"{"counts": 3, "sample_rows": 300, "trials": 40, "radius": [0, 6]}"#),
        (ImageShape::grey(5, 5), 4, 2_600, r#"{"counts": 2, "sample_rows": 2400, "literals": [1, 12]}"#),
    ] {
        let (table, labels) = images(rows, image, classes);
        let mut settings = TrainSettings::default();
        settings.encode.image = Some(image);
        let mut grove = self::settings(3, 3, 2);
        (grove.patterns, grove.pattern) = (Some(60), serde_json::from_str(pattern).unwrap());
        settings.learn = LearnSettings::Grove(grove);
        let training = Training::new(Rows::Raw(table.view()), &labels);
        let expected = train(&training, &settings, &Silent).unwrap().model;
        for device in devices() {
            let there = Training { device: Some(&**device), ..training };
            let found = train(&there, &settings, &Silent).unwrap().model;
            assert_eq!(found.to_bytes(), expected.to_bytes(), "{pattern} on {}", device.name());
        }
    }
}

/// Patterns that a device looks for are in the model that the processor learns, and so when it is continued with others.
#[test]
fn patterns_of_images() {
    let (table, labels) = images(400, ImageShape::grey(9, 9), 2);
    let mut settings = TrainSettings::default();
    settings.encode.image = Some(ImageShape::grey(9, 9));
    let grove = GroveSettings { patterns: Some(40), ..self::settings(3, 3, 2) };
    settings.learn = LearnSettings::Grove(grove.clone());
    let other = GroveSettings { seed: 9, ..grove };
    let training = Training::new(Rows::Raw(table.view()), &labels);
    let expected = train(&training, &settings, &Silent).unwrap().model;
    assert!(matches!(expected.circuit(), Circuit::Grove(grove) if grove.patterns().columns() > 2));
    let continued = |device| {
        let training = Training { start: Some(&expected), device, ..training };
        let settings = TrainSettings { learn: LearnSettings::Grove(other.clone()), ..settings.clone() };
        train(&training, &settings, &Silent).unwrap().model.to_bytes()
    };
    for device in devices() {
        let there = Training { device: Some(&**device), ..training };
        let found = train(&there, &settings, &Silent).unwrap().model;
        assert_eq!(found.to_bytes(), expected.to_bytes(), "on {}", device.name());
        assert_eq!(continued(Some(&**device)), continued(None), "continued on {}", device.name());
    }
}
