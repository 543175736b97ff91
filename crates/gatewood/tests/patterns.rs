//! Groves that read patterns of images, from training to circuit.

use gatewood::circuit::{Grove, Netlist, prove_equal};
use gatewood::encode::{EncodeSettings, ImageShape, Labels, PixelCode, Table, Test};
use gatewood::explain::{Explainer, Proof, Turning, contributions, pixel_worth};
use gatewood::export::{Format, ModelOptions, netlist_of, pattern_picture, read, write_model};
use gatewood::learn::Silent;
use gatewood::model::{Circuit, Model, Predictor, Rows, TrainSettings, Training, train};
use gatewood::random::{Purpose, Stream};

const SIDE: usize = 10;

/// Grey images of noise with a corner somewhere in it: of class 1 where it opens down, else of class 0. Each is darker or
/// brighter as a whole.
fn corners(rows: usize, seed: u64) -> (Table, Labels) {
    let mut bytes = Vec::new();
    let mut labels = Vec::new();
    for row in 0..rows {
        let mut stream = Stream::new(seed, Purpose::Generate, row as u64);
        let light = stream.below(120) as u8;
        let mut image: Vec<u8> = (0..SIDE * SIDE).map(|_| light + stream.below(40) as u8).collect();
        let class = stream.below(2);
        let (x, y) = (stream.below(SIDE as u32 - 2) as usize, stream.below(SIDE as u32 - 2) as usize);
        let corner = if class == 1 {
            [(0, 0), (1, 0), (2, 0), (0, 1), (0, 2)]
        } else {
            [(2, 0), (2, 1), (2, 2), (0, 2), (1, 2)]
        };
        corner.iter().for_each(|&(across, down)| image[(y + down) * SIDE + x + across] = light + 120);
        bytes.extend(image);
        labels.push(class);
    }
    let table = Table::from_pixels(SIDE * SIDE, bytes).unwrap();
    (table, Labels::new(vec!["up".into(), "down".into()], labels).unwrap())
}

fn settings(chosen: serde_json::Value) -> TrainSettings {
    let mut settings = TrainSettings::from_json("grove", &chosen.to_string()).unwrap();
    let image = Some(ImageShape::grey(SIDE, SIDE));
    settings.encode =
        EncodeSettings { image, pixel_bits: 3, pixel_code: PixelCode::Thermometer, ..settings.encode };
    settings
}

fn trained(rows: &(Table, Labels), chosen: serde_json::Value, start: Option<&Model>) -> Model {
    let training = Training { start, ..Training::new(Rows::Raw(rows.0.view()), &rows.1) };
    train(&training, &settings(chosen), &Silent).unwrap().model
}

fn error(model: &Model, rows: &(Table, Labels)) -> f64 {
    let said = model.predict(&rows.0, 1).unwrap();
    let wrong = said.classes().iter().zip(rows.1.codes()).filter(|(said, label)| said != label).count();
    wrong as f64 / rows.1.codes().len() as f64
}

fn grove(model: &Model) -> &Grove {
    match model.circuit() {
        Circuit::Grove(grove) => grove,
        Circuit::Tree(_) => panic!("a grove was asked for"),
    }
}

/// Whether a tree reads a pixel or a span.
fn reads_pixels(model: &Model) -> bool {
    let grove = grove(model);
    let others = (grove.inputs() + grove.spans().len()) as u32;
    grove.trees().iter().flat_map(|tree| tree.leaves()).any(|&leaf| leaf < others)
}

#[test]
fn what_lies_anywhere_is_told_by_patterns() {
    let (rows, others) = (corners(1500, 1), corners(1000, 2));
    let chosen = |patterns: usize, threads: usize| {
        let mut settings = settings(serde_json::json!({
            "patterns": patterns, "rounds": 40, "seed": 5,
            "pattern": {"radius": [9, 9], "window": [3, 4], "literals": [3, 5], "comparisons": 0.7, "counts": 1},
        }));
        settings.learn.set_threads(threads);
        settings
    };
    let model = |patterns, threads| {
        let training = Training::new(Rows::Raw(rows.0.view()), &rows.1);
        train(&training, &chosen(patterns, threads), &Silent).unwrap().model
    };
    let (bare, with) = (model(0, 1), model(2000, 1));
    assert!(grove(&bare).patterns().is_empty() && !grove(&with).patterns().is_empty());
    // Trees of grey images read nothing but patterns.
    assert!(!reads_pixels(&with) && reads_pixels(&bare));
    let (bare, better) = (error(&bare, &others), error(&with, &others));
    assert!(better < 0.04 && better < bare / 2.0, "{bare} without patterns, {better} with");
    assert_eq!(with, model(2000, 3));
    assert_eq!(Model::from_bytes(&with.to_bytes()).unwrap(), with);
    // One row at a time says the same.
    let predictor = Predictor::new(with.clone());
    let said = with.predict(&others.0, 1).unwrap();
    for (row, bytes) in others.0.pixels().unwrap().chunks(SIDE * SIDE).enumerate().take(100) {
        assert_eq!(predictor.predict_one(bytes).unwrap(), said.classes()[row]);
    }
    assert!(with.encoder().meanings().iter().any(|bit| matches!(bit.test, Test::Exceeds { .. })));
}

/// Few patterns that are learned do better than as many that are drawn, and they are the same on any number of threads.
#[test]
fn patterns_are_learned() {
    let (rows, others) = (corners(600, 1), corners(2000, 2));
    let model = |learned: f64, threads: usize| {
        let mut settings = settings(serde_json::json!({
            "patterns": 24, "rounds": 20, "augment": [],
            "pattern": {"literals": [2, 6], "window": [4, 4], "radius": [1, 6], "learned": learned, "trials": 60},
        }));
        settings.learn.set_threads(threads);
        train(&Training::new(Rows::Raw(rows.0.view()), &rows.1), &settings, &Silent).unwrap().model
    };
    let (drawn, learned) = (model(0.0, 1), model(1.0, 1));
    assert_eq!(learned, model(1.0, 3));
    let (drawn, learned) = (error(&drawn, &others), error(&learned, &others));
    assert!(learned < drawn, "{drawn} drawn, {learned} learned");
}

#[test]
fn circuits_of_patterns_say_what_the_grove_says() {
    let rows = corners(400, 3);
    let model = trained(
        &rows,
        serde_json::json!({
            "patterns": 300, "spans": 3, "rounds": 2, "trees_per_round": 2,
            "pattern": {"radius": [1, 2], "window": [3, 4], "literals": [3, 8], "counts": 2},
        }),
        None,
    );
    // Spans that are asked for are read.
    assert!(!grove(&model).patterns().is_empty() && reads_pixels(&model));
    let bits = model.encoder().transform(&rows.0).unwrap();
    let said = grove(&model).predict(bits.view(), 1).unwrap();
    let netlist = netlist_of(&model, &ModelOptions::default()).unwrap();
    let with_encoder = ModelOptions { encoder: true, ..ModelOptions::default() };
    let whole = netlist_of(&model, &with_encoder).unwrap();
    let pixels = rows.0.pixels().unwrap();
    for row in 0..400 {
        let read: Vec<bool> = (0..bits.columns()).map(|column| bits.get(row, column)).collect();
        assert_eq!(netlist.evaluate_row(&read), [said[row] == 1]);
        let raw: Vec<bool> = whole
            .input_names()
            .iter()
            .map(|name| {
                let (pixel, bit) =
                    name.strip_prefix("pixel_").unwrap().trim_end_matches(']').split_once('[').unwrap();
                let byte = pixels[row * SIDE * SIDE + pixel.parse::<usize>().unwrap()];
                byte >> bit.parse::<u32>().unwrap() & 1 != 0
            })
            .collect();
        assert_eq!(whole.evaluate_row(&raw), [said[row] == 1]);
    }
    let picture = pattern_picture(&model).unwrap();
    assert!(picture.starts_with("<svg") && picture.matches("<g ").count() > 1);
    for format in [Format::Blif, Format::Aiger, Format::Verilog] {
        let mut file = Vec::new();
        let options = ModelOptions { all_inputs: true, ..ModelOptions::default() };
        write_model(&model, format, &options, &mut file).unwrap();
        let again: Netlist = read(&file, format).unwrap();
        assert!(prove_equal(&netlist, &again).unwrap().is_equal(), "{format:?}");
    }
}

#[test]
fn a_grove_with_patterns_is_continued() {
    let rows = corners(600, 4);
    let first = trained(&rows, serde_json::json!({"patterns": 400, "rounds": 3}), None);
    let more = trained(&rows, serde_json::json!({"patterns": 400, "rounds": 3, "seed": 9}), Some(&first));
    let (old, new) = (grove(&first), grove(&more));
    assert!(new.trees().len() > old.trees().len());
    assert!(new.patterns().patterns().len() > old.patterns().patterns().len());
    // The old trees vote as they did.
    let bits = more.encoder().transform(&rows.0).unwrap();
    let of_old = first.encoder().transform(&rows.0).unwrap();
    for row in 0..50 {
        let votes = |grove: &Grove, trees: usize, bits: &gatewood::bits::BitMatrix| -> i32 {
            let some = Grove::with_features(
                grove.inputs(),
                grove.spans().to_vec(),
                grove.patterns().clone(),
                2,
                vec![0],
                1.0,
                grove.trees()[..trees].to_vec(),
            );
            some.unwrap().margins_of(|column| bits.get(row, column))[0]
        };
        assert_eq!(votes(new, old.trees().len(), &bits), votes(old, old.trees().len(), &of_old));
    }
}

/// The pixels that speak for the class are those of the corner, wherever it is.
/// Images left to right.
fn mirrored(table: &Table) -> Table {
    let mut bytes = table.pixels().unwrap().to_vec();
    bytes.chunks_exact_mut(SIDE).for_each(<[u8]>::reverse);
    Table::from_pixels(SIDE * SIDE, bytes).unwrap()
}

/// The margins of all rows, one after the other.
fn margins(model: &Model, table: &Table) -> Vec<i32> {
    let bits = model.encoder().transform(table).unwrap();
    let margins = grove(model).run(bits.view(), 1).unwrap();
    (0..table.rows()).flat_map(|row| margins.row(row)).collect()
}

#[test]
fn a_grove_looks_at_both_sides() {
    let rows = corners(700, 6);
    let (plain, turned) = (corners(300, 7).0, mirrored(&corners(300, 7).0));
    // Patterns alone, and pixels and spans beside them.
    for pixels in [false, true] {
        let chosen = |mirrored: bool| {
            let pattern = serde_json::json!({"pixels": pixels, "trials": 8, "mirrored": mirrored});
            let spans = if pixels { 4 } else { 0 };
            serde_json::json!({
                "patterns": 400, "rounds": 12, "seed": 3, "augment": ["mirror"], "spans": spans, "pattern": pattern,
            })
        };
        let one = trained(&rows, chosen(false), None);
        let both = trained(&rows, chosen(true), None);
        assert_eq!((reads_pixels(&one), reads_pixels(&both)), (pixels, pixels));
        assert_eq!(grove(&both).trees().len(), 2 * grove(&one).trees().len());
        assert_eq!(grove(&both).unit() * 2.0, grove(&one).unit());
        // It adds up what is said of the two sides, whichever it is shown.
        let sides = [margins(&one, &plain), margins(&one, &turned)];
        assert_ne!(sides[0], sides[1]);
        let sums: Vec<i32> = sides[0].iter().zip(&sides[1]).map(|(one, other)| one + other).collect();
        assert_eq!((margins(&both, &plain), margins(&both, &turned)), (sums.clone(), sums));
    }
}

#[test]
fn pixels_speak_for_a_class() {
    let rows = corners(800, 6);
    let chosen = serde_json::json!({
        "patterns": 300, "rounds": 20,
        "pattern": {"radius": [9, 9], "window": [3, 4], "literals": [3, 5]},
    });
    let model = trained(&rows, chosen, None);
    let (mut on, mut right) = (0.0, 0.0);
    for row in 0..20 {
        let image = rows.0.select_rows(&[row]).unwrap();
        let worth = pixel_worth(&model, &image, 1).unwrap();
        assert_eq!(worth.len(), SIDE * SIDE);
        let sum = worth.iter().sum::<f64>();
        assert!((sum == 0.0 || (sum - 1.0).abs() < 1e-9) && worth.iter().all(|&worth| worth >= 0.0));
        if model.predict(&image, 1).unwrap().classes()[0] != rows.1.codes()[row] {
            continue;
        }
        let pixels = image.pixels().unwrap();
        let light = *pixels.iter().max().unwrap();
        // Corners are 120 above the darkest their image can be.
        let bright = pixels.iter().zip(&worth).filter(|(pixel, _)| **pixel == light);
        on += bright.clone().map(|(_, worth)| worth).sum::<f64>();
        right += bright.count() as f64 / worth.len() as f64;
    }
    assert!(on > 3.0 * right, "corners speak for {on} in {right} of the images");
    assert!(pixel_worth(&model, &rows.0, 1).is_err_and(|error| error.is_data()));
}

#[test]
fn odd_settings_are_told() {
    let rows = corners(50, 5);
    let refused = |chosen: serde_json::Value, image: bool| {
        let mut settings = settings(chosen);
        settings.encode.image = settings.encode.image.filter(|_| image);
        let training = Training::new(Rows::Raw(rows.0.view()), &rows.1);
        train(&training, &settings, &Silent).unwrap_err().is_setting()
    };
    assert!(refused(serde_json::json!({"patterns": 5}), false));
    assert!(refused(serde_json::json!({"patterns": 50, "pattern": {"literals": [0, 3]}}), true));
    assert!(refused(serde_json::json!({"patterns": 50, "pattern": {"literals": [5, 13]}}), true));
    assert!(refused(serde_json::json!({"patterns": 50, "pattern": {"radius": [5, 3]}}), true));
    assert!(refused(serde_json::json!({"patterns": 50, "pattern": {"margin": -1.0}}), true));
}

/// Reasons hold for all rows that meet them, and changes turn the class, where pixels are compared with each other too.
#[test]
fn images_with_patterns_are_explained() {
    let rows = corners(600, 7);
    for comparisons in [0.0, 1.0] {
        let chosen = serde_json::json!({
            "patterns": 40, "rounds": 6, "trees_per_round": 1, "augment": [],
            "pattern": {"radius": [1, 3], "window": [3, 4], "literals": [2, 5], "comparisons": comparisons, "counts": 1},
        });
        let model = trained(&rows, chosen, None);
        let compares = model.encoder().meanings().iter().any(|bit| matches!(bit.test, Test::Exceeds { .. }));
        assert!(!grove(&model).patterns().is_empty() && compares == (comparisons == 1.0));
        let explainer = Explainer::new(&model).unwrap();
        let said = model.predict(&rows.0, 1).unwrap();
        let mut shorter = 0;
        for index in 0..6 {
            let row = explainer.row(Rows::Raw(rows.0.view()), index).unwrap();
            let class = explainer.class(&row);
            assert_eq!(class, said.classes()[index] as usize);
            let reason = explainer.reason(&row, Some(1.0));
            shorter += usize::from(reason.columns().len() < SIDE * SIDE);
            let completions = explainer.completions(&reason, 500, index as u64).unwrap();
            let kept = model.predict_bits(completions.view(), 1).unwrap();
            assert!(kept.classes().iter().all(|&said| said as usize == class), "{comparisons} {index}");
            if let Turning::By(found) = explainer.counterfactual(&row, &[], Some(0.5)) {
                let changed = explainer.table(&[found.values()]).unwrap();
                let after = model.predict(&changed, 1).unwrap().classes()[0] as usize;
                assert!(after == found.class() && after != class, "{comparisons} {index}");
            }
        }
        assert!(shorter > 0, "no reason leaves a pixel out");
        let proof =
            explainer.prove(&explainer.property("never up when pixel_0 > 256").unwrap(), None).unwrap();
        assert_eq!(proof, Proof::Proven);
        let alone = rows.0.select_rows(&[0]).unwrap();
        let refused = contributions(&model, Rows::Raw(alone.view()), Rows::Raw(alone.view()), 1);
        assert!(refused.is_err_and(|error| error.is_too_large()));
    }
}
