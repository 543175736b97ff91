//! Images whose target is a number: patterns of them, from training to circuit.

use gatewood::circuit::{Grove, Output};
use gatewood::encode::{Augment, EncodeSettings, ImageShape, Labels, PixelCode, Table};
use gatewood::export::{Format, ModelOptions, VerifyOptions, verify, write_model};
use gatewood::learn::Silent;
use gatewood::model::{
    Circuit, LabelledRows, Model, Predictor, Rows, TrainSettings, Training, ValueMetrics, train,
};
use gatewood::random::{Purpose, Stream};

const SIDE: usize = 10;

/// Images of one bit a pixel with bars in them, of two or three pixels, lying or standing: the target is how many more pixels
/// lie than stand, wherever they are.
fn bars(rows: usize, seed: u64) -> (Table, Vec<f64>) {
    let (mut bytes, mut values) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let mut stream = Stream::new(seed, Purpose::Generate, row as u64);
        let mut image = vec![0u8; SIDE * SIDE];
        let mut value = 0.0;
        for _ in 0..2 + stream.below(3) {
            let (is_lying, length) = (stream.below(2) == 1, 2 + stream.below(2) as usize);
            let (wide, high) = if is_lying { (length, 1) } else { (1, length) };
            let x = stream.below((SIDE - wide + 1) as u32) as usize;
            let y = stream.below((SIDE - high + 1) as u32) as usize;
            for at in 0..length {
                image[(y + if is_lying { 0 } else { at }) * SIDE + x + if is_lying { at } else { 0 }] = 255;
            }
            value += if is_lying { length as f64 } else { -(length as f64) };
        }
        bytes.extend(image);
        values.push(value + 0.01 * stream.unit());
    }
    (Table::from_pixels(SIDE * SIDE, bytes).unwrap(), values)
}

fn settings(chosen: serde_json::Value) -> TrainSettings {
    let mut settings = TrainSettings::from_json("grove", &chosen.to_string()).unwrap();
    let image = Some(ImageShape::grey(SIDE, SIDE));
    settings.encode =
        EncodeSettings { image, pixel_bits: 1, pixel_code: PixelCode::Thermometer, ..settings.encode };
    settings
}

fn small(objective: &str) -> serde_json::Value {
    serde_json::json!({
        "patterns": 60, "rounds": 30, "trees_per_round": 2, "objective": objective, "learning_rate": 0.1,
        "pattern": {"radius": [2, 9], "window": [3, 4], "literals": [2, 5], "counts": 1},
    })
}

fn learned(rows: &(Table, Vec<f64>), settings: &TrainSettings, start: Option<&Model>) -> Model {
    let labels = Labels::from_values(rows.1.clone()).unwrap();
    let training = Training { start, ..Training::new(Rows::Raw(rows.0.view()), &labels) };
    train(&training, settings, &Silent).unwrap().model
}

fn grove(model: &Model) -> &Grove {
    match model.circuit() {
        Circuit::Grove(grove) => grove,
        Circuit::Tree(_) => panic!("a grove was asked for"),
    }
}

fn rmse(model: &Model, rows: &(Table, Vec<f64>)) -> f64 {
    ValueMetrics::new(&rows.1, &model.predict(&rows.0, 1).unwrap()).unwrap().rmse
}

#[test]
fn patterns_tell_values_of_what_lies_anywhere() {
    let (rows, others) = (bars(1500, 1), bars(800, 2));
    let with = |chosen: serde_json::Value| learned(&rows, &settings(chosen), None);
    let open = with(serde_json::json!({"rounds": 100}));
    assert!(!grove(&open).patterns().is_empty(), "images have patterns without being asked for");
    let bare = with(serde_json::json!({"rounds": 100, "patterns": 0}));
    assert!(grove(&bare).patterns().is_empty());
    let (better, bare) = (rmse(&open, &others), rmse(&bare, &others));
    assert!(better < 0.75 * bare, "{better} with patterns, {bare} without");
}

/// What is said of many rows, of one row and by the definition is the same, whatever the loss, the threads and the file.
#[test]
fn values_of_patterns_are_the_same_everywhere() {
    let rows = bars(700, 3);
    for objective in ["squared", "huber", "absolute", "quantile:0.1,0.9"] {
        let mut settings = settings(small(objective));
        let model = learned(&rows, &settings, None);
        settings.learn.set_threads(3);
        assert_eq!(learned(&rows, &settings, None), model, "{objective}");
        assert!(!grove(&model).patterns().is_empty(), "{objective}");
        assert_eq!(Model::from_bytes(&model.to_bytes()).unwrap(), model);
        let bits = model.encoder().transform(&rows.0).unwrap();
        let said = model.predict(&rows.0, 2).unwrap();
        let margins = grove(&model).margins();
        let Output::Value(output) = grove(&model).output() else { panic!("values were learned") };
        assert_eq!(output.margins(), margins);
        let predictor = Predictor::new(model.clone());
        for row in 0..60 {
            let defined = grove(&model).margins_of(|column| bits.get(row, column));
            assert_eq!(said.margins().unwrap()[row * margins..][..margins], defined, "{objective} {row}");
        }
        if margins == 1 {
            let values = said.values().unwrap();
            for (row, image) in rows.0.pixels().unwrap().chunks(SIDE * SIDE).enumerate().take(60) {
                assert_eq!(predictor.predict_value_one(image).unwrap(), values[row]);
            }
        }
    }
}

#[test]
fn circuits_of_values_with_patterns_are_proven() {
    let rows = bars(500, 4);
    let chosen = serde_json::json!({
        "patterns": 30, "rounds": 2, "trees_per_round": 2, "vote_bits": 6, "depth": 1, "arity": 3,
        "pattern": {"radius": [1, 2], "window": [3, 4], "literals": [2, 4]},
    });
    let model = learned(&rows, &settings(chosen), None);
    assert!(!grove(&model).patterns().is_empty());
    for format in [Format::Blif, Format::Aiger, Format::Verilog] {
        let mut file = Vec::new();
        write_model(&model, format, &ModelOptions::default(), &mut file).unwrap();
        let found = verify(&model, &file, format, &VerifyOptions::default()).unwrap();
        assert!(found.found.is_equal(), "{format:?}: {found:?}");
    }
}

#[test]
fn a_grove_of_values_with_patterns_goes_on_and_stops_by_validation_rows() {
    let (rows, others) = (bars(800, 5), bars(400, 6));
    let first = learned(&rows, &settings(small("squared")), None);
    let more = learned(&rows, &settings(small("squared")), Some(&first));
    assert!(grove(&more).trees().len() > grove(&first).trees().len());
    assert!(rmse(&more, &rows) < rmse(&first, &rows));
    let labels = [&rows, &others].map(|rows| Labels::from_values(rows.1.clone()).unwrap());
    let validation = LabelledRows { rows: Rows::Raw(others.0.view()), labels: &labels[1], weights: None };
    let training =
        Training { validation: Some(validation), ..Training::new(Rows::Raw(rows.0.view()), &labels[0]) };
    let stopped = train(&training, &settings(small("quantile:0.2,0.8")), &Silent).unwrap().model;
    assert!(!grove(&stopped).patterns().is_empty());
}

/// Moved images have the same value; quantiles are moved by rows whose copies were not learned from.
#[test]
fn images_of_values_are_moved() {
    let (rows, others) = (bars(700, 7), bars(700, 8));
    let chosen = |objective: &str, moved: bool| {
        let mut settings = settings(small(objective));
        if let gatewood::model::LearnSettings::Grove(grove) = &mut settings.learn {
            grove.augment = Some(if moved { vec![Augment::Shift] } else { Vec::new() });
        }
        settings
    };
    let [moved, still] = [true, false].map(|moved| learned(&rows, &chosen("squared", moved), None));
    assert_ne!(moved.circuit(), still.circuit());
    assert!(rmse(&moved, &others) < 1.1 * rmse(&still, &others));
    let range = learned(&rows, &chosen("quantile:0.1,0.9", true), None);
    let said = range.predict(&others.0, 1).unwrap();
    let metrics = ValueMetrics::new(&others.1, &said).unwrap();
    let coverage = metrics.quantiles.as_ref().map(|quantiles| quantiles.coverage);
    assert!(coverage.is_some_and(|share| (0.7..=0.9).contains(&share)), "{metrics:?}");
}
