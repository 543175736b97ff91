//! Values: learned, predicted, kept in files, written as circuits.

use gatewood::circuit::{Output, ValueOutput};
use gatewood::encode::{Column, LabelKind, Labels, Numbers, Row, Table, Texts};
use gatewood::export::{Format, ModelOptions, VerifyOptions, verify, write_model};
use gatewood::learn::Silent;
use gatewood::model::{
    Circuit, FORMAT_VERSION, LabelledRows, Model, Rows, TrainSettings, Trained, Training, ValueMetrics, train,
};
use gatewood::random::{Purpose, Stream};

/// Rows of three numbers and a category, and what they are worth: steps, products and noise.
fn rows(count: usize, seed: u64) -> (Table, Vec<f64>) {
    let mut stream = Stream::new(seed, Purpose::Generate, 0);
    let mut columns = vec![Vec::new(); 3];
    let (mut kinds, mut values) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let x: [f64; 3] = [(); 3].map(|()| stream.unit());
        let kind = stream.below(3);
        let noise = stream.unit() - 0.5;
        values.push(
            200.0 + 40.0 * x[0] * x[1] + if x[2] > 0.6 { 15.0 } else { 0.0 } + f64::from(kind) * 4.0 + noise,
        );
        columns.iter_mut().zip(x).for_each(|(column, x)| column.push(x));
        kinds.push(Some(["a", "b", "c"][kind as usize]));
    }
    let mut named: Vec<(String, Column)> = columns
        .into_iter()
        .enumerate()
        .map(|(index, column)| (format!("x{index}"), Column::Number(Numbers::F64(column))))
        .collect();
    named.push(("kind".into(), Column::Text(Texts::from_rows(kinds))));
    (Table::new(named).unwrap(), values)
}

fn settings(chosen: serde_json::Value) -> TrainSettings {
    TrainSettings::from_json("grove", &chosen.to_string()).unwrap()
}

fn learned(table: &Table, values: &[f64], chosen: serde_json::Value) -> Trained {
    let labels = Labels::from_values(values.to_vec()).unwrap();
    train(&Training::new(Rows::Raw(table.view()), &labels), &settings(chosen), &Silent).unwrap()
}

fn measured(model: &Model, table: &Table, truth: &[f64]) -> ValueMetrics {
    ValueMetrics::new(truth, &model.predict(table, 1).unwrap()).unwrap()
}

#[test]
fn values_are_learned_and_predicted_alike_everywhere() {
    let (table, values) = rows(3_000, 1);
    let (fresh, truth) = rows(1_000, 2);
    let trained = learned(&table, &values, serde_json::json!({}));
    let metrics = measured(&trained.model, &fresh, &truth);
    // The noise alone is 0.29.
    assert!(metrics.rmse < 0.15 * metrics.baseline_rmse, "{metrics:?}");
    assert!(metrics.r2 > 0.97 && metrics.mae < metrics.rmse);
    // One row at a time says the same, and so does the file.
    let predictor = trained.model.predictor();
    let all = trained.model.predict(&fresh, 2).unwrap().values().unwrap();
    for (row, &value) in all.iter().enumerate().take(20) {
        assert_eq!(predictor.predict_value_one(Row::Of(fresh.view(), row)).unwrap(), value);
    }
    assert!(predictor.predict_one(Row::Of(fresh.view(), 0)).unwrap_err().is_setting());
    assert!(predictor.predict_proba_one(Row::Of(fresh.view(), 0), &mut []).unwrap_err().is_setting());
    assert!(trained.model.predict(&fresh, 1).unwrap().classes().is_empty());
    let bytes = trained.model.to_bytes();
    assert_eq!(Model::from_bytes(&bytes).unwrap(), trained.model);
    assert!(u32::from_le_bytes(bytes[8..12].try_into().unwrap()) <= FORMAT_VERSION);
    // A margin stands for an exact multiple of a power of two.
    let Circuit::Grove(grove) = trained.model.circuit() else { unreachable!() };
    let Output::Value(ValueOutput { offset, scale, .. }) = grove.output() else { unreachable!() };
    assert_eq!(scale, libm::exp2(libm::log2(scale).round()));
    let margins = trained.model.predict(&fresh, 1).unwrap().margins().unwrap().to_vec();
    assert!(margins.iter().zip(&all).all(|(&margin, &value)| offset + scale * f64::from(margin) == value));
}

#[test]
fn the_model_does_not_depend_on_threads() {
    let (table, values) = rows(1_500, 3);
    let models = [1, 3].map(|threads| {
        let labels = Labels::from_values(values.clone()).unwrap();
        let mut settings = settings(serde_json::json!({"rounds": 20}));
        settings.learn.set_threads(threads);
        train(&Training::new(Rows::Raw(table.view()), &labels), &settings, &Silent).unwrap().model.to_bytes()
    });
    assert_eq!(models[0], models[1]);
}

/// Rounding votes to few bits must not be seen in the error.
#[test]
fn rounding_costs_nothing() {
    let (table, values) = rows(3_000, 4);
    let (fresh, truth) = rows(1_000, 5);
    let trained = learned(&table, &values, serde_json::json!({}));
    let rmse = measured(&trained.model, &fresh, &truth).rmse;
    let Circuit::Grove(grove) = trained.model.circuit() else { unreachable!() };
    let Output::Value(ValueOutput { scale, .. }) = grove.output() else { unreachable!() };
    // What rounding adds to a margin has this deviation, each tree being off by at most half a vote.
    let rounding = scale * libm::sqrt(grove.trees().len() as f64 / 12.0);
    assert!(rounding < 0.1 * rmse, "{rounding} {rmse}");
    let whole = libm::sqrt(rmse * rmse + rounding * rounding);
    assert!(whole < 1.005 * rmse, "{whole} {rmse}");
}

/// A few wild values move the mean more than what Huber's loss learns.
#[test]
fn huber_bears_outliers() {
    let (table, mut values) = rows(3_000, 8);
    let (fresh, truth) = rows(1_000, 9);
    values.iter_mut().step_by(50).for_each(|value| *value += 3_000.0);
    let mae = |objective: &str| {
        let trained = learned(&table, &values, serde_json::json!({"objective": objective, "rounds": 100}));
        measured(&trained.model, &fresh, &truth).mae
    };
    let [squared, huber] = ["squared", "huber"].map(mae);
    assert!(huber < 0.7 * squared, "{squared} {huber}");
}

#[test]
fn validation_rows_stop_learning_and_models_go_on() {
    let (table, values) = rows(1_000, 10);
    let (held, truth) = rows(500, 11);
    let labels = Labels::from_values(values).unwrap();
    let of_held = Labels::from_values(truth.clone()).unwrap();
    let validation = LabelledRows { rows: Rows::Raw(held.view()), labels: &of_held, weights: None };
    let plain = Training::new(Rows::Raw(table.view()), &labels);
    let chosen = settings(serde_json::json!({"rounds": 60, "early_stopping_rounds": 10}));
    let first = train(&Training { validation: Some(validation), ..plain }, &chosen, &Silent).unwrap();
    let curve = &first.grove.as_ref().unwrap().curve;
    assert!(curve.last().unwrap().validation_loss < curve[0].validation_loss);
    let more = train(&Training { start: Some(&first.model), ..plain }, &chosen, &Silent).unwrap();
    let rmse = |model: &Model| measured(model, &held, &truth).rmse;
    assert!(rmse(&more.model) < rmse(&first.model));
    // Classes and values do not mix.
    let classes = Labels::new(vec!["a".into(), "b".into()], vec![0; 1_000]).unwrap();
    let mixed = Training { start: Some(&first.model), ..Training::new(Rows::Raw(table.view()), &classes) };
    assert!(train(&mixed, &chosen, &Silent).unwrap_err().is_data());
    let tree = TrainSettings::from_json("tree", "{}").unwrap();
    assert!(train(&plain, &tree, &Silent).unwrap_err().to_string().contains("use a grove"));
    let odd = settings(serde_json::json!({"objective": "huber"}));
    let of_classes =
        Labels::new(vec!["a".into(), "b".into()], (0..1_000).map(|row| row % 2).collect()).unwrap();
    let error = train(&Training::new(Rows::Raw(table.view()), &of_classes), &odd, &Silent).unwrap_err();
    assert!(error.is_setting() && error.to_string().contains("huber"), "{error}");
}

#[test]
fn circuits_of_values_are_proven() {
    let (table, values) = rows(400, 12);
    let trained =
        learned(&table, &values, serde_json::json!({"rounds": 3, "trees_per_round": 2, "arity": 3}));
    for format in [Format::Blif, Format::Aiger, Format::Verilog] {
        let mut file = Vec::new();
        write_model(&trained.model, format, &ModelOptions::default(), &mut file).unwrap();
        let verification = verify(&trained.model, &file, format, &VerifyOptions::default()).unwrap();
        assert!(verification.found.is_equal() && verification.interface.value, "{format}");
        assert!(verification.outputs.iter().all(|name| name.starts_with("margin_0_")));
    }
    let mut verilog = Vec::new();
    write_model(&trained.model, Format::Verilog, &ModelOptions::default(), &mut verilog).unwrap();
    let text = String::from_utf8(verilog).unwrap();
    assert!(text.contains("Value: ") && text.contains("// Interface: bits to value"), "{text}");
}

/// The median bears outliers, counts are learned by their mean, and logarithms by their ratio.
#[test]
fn other_losses_learn_what_they_are_for() {
    let (table, mut values) = rows(3_000, 13);
    let (fresh, truth) = rows(1_000, 14);
    let poisson = learned(&table, &values, serde_json::json!({"objective": "poisson", "rounds": 200}));
    let log = learned(&table, &values, serde_json::json!({"target": "log", "rounds": 200}));
    for model in [&poisson.model, &log.model] {
        let metrics = measured(model, &fresh, &truth);
        assert!(metrics.rmse < 0.25 * metrics.baseline_rmse, "{metrics:?}");
        assert_eq!(&Model::from_bytes(&model.to_bytes()).unwrap(), model);
    }
    values.iter_mut().step_by(20).for_each(|value| *value += 300.0);
    let absolute = learned(&table, &values, serde_json::json!({"objective": "absolute", "rounds": 300}));
    let squared = learned(&table, &values, serde_json::json!({"rounds": 300}));
    let mae = |model: &Model| measured(model, &fresh, &truth).mae;
    assert!(mae(&absolute.model) < 0.5 * mae(&squared.model));
}

#[test]
fn quantiles_cover_what_they_say_and_never_cross() {
    let mut stream = Stream::new(15, Purpose::Generate, 0);
    let mut rows = |count: usize| {
        let x: Vec<f64> = (0..count).map(|_| stream.unit()).collect();
        let y: Vec<f64> = x.iter().map(|x| 10.0 * x + (1.0 + 4.0 * x) * (stream.unit() - 0.5)).collect();
        (Table::new(vec![("x".into(), Column::Number(Numbers::F64(x)))]).unwrap(), y)
    };
    let ((table, values), (fresh, truth)) = (rows(4_000), rows(2_000));
    let objective = "quantile:0.1,0.5,0.9";
    let chosen =
        serde_json::json!({"objective": objective, "rounds": 300, "learning_rate": 0.1, "climb": 100});
    let trained = learned(&table, &values, chosen);
    let prediction = trained.model.predict(&fresh, 1).unwrap();
    let said = prediction.values().unwrap();
    assert_eq!((said.len(), prediction.quantiles().unwrap().levels()), (6_000, &[0.1, 0.5, 0.9][..]));
    assert!(said.chunks(3).all(<[f64]>::is_sorted));
    let metrics = measured(&trained.model, &fresh, &truth).quantiles.unwrap();
    assert!((metrics.coverage - 0.8).abs() < 0.04, "{metrics:?}");
    // One row at a time, the file and the circuit say the same.
    let predictor = trained.model.predictor();
    for (row, values) in said.chunks(3).enumerate().take(20) {
        assert_eq!(predictor.predict_value_one(Row::Of(fresh.view(), row)).unwrap(), values[1]);
    }
    assert_eq!(Model::from_bytes(&trained.model.to_bytes()).unwrap(), trained.model);
    let small = learned(
        &table,
        &values,
        serde_json::json!({"objective": objective, "rounds": 2, "arity": 2, "root_arity": 2}),
    );
    let mut file = Vec::new();
    write_model(&small.model, Format::Blif, &ModelOptions::default(), &mut file).unwrap();
    let verification = verify(&small.model, &file, Format::Blif, &VerifyOptions::default()).unwrap();
    assert!(verification.found.is_equal());
    let bits = small.model.encoder().transform(&fresh).unwrap();
    let netlist = gatewood::export::netlist_of(&small.model, &ModelOptions::default()).unwrap();
    let margins = small.model.predict(&fresh, 1).unwrap().margins().unwrap().to_vec();
    let width = netlist.outputs() / 3;
    for (row, expected) in margins.chunks(3).enumerate().take(200) {
        let bits: Vec<bool> = (0..bits.columns()).map(|column| bits.get(row, column)).collect();
        let said = netlist.evaluate_row(&bits);
        for (margin, expected) in said.chunks(width).zip(expected) {
            let number = margin.iter().enumerate().fold(0i64, |sum, (place, &bit)| {
                sum + if place + 1 == width { -1 } else { 1 } * (i64::from(bit) << place)
            });
            assert_eq!(number, i64::from(*expected));
        }
    }
}

#[test]
fn columns_are_taken_for_classes_or_values() {
    let numbers = |values: Vec<f64>| Column::Number(Numbers::F64(values));
    let price = numbers((0..200).map(|row| 100.0 + f64::from(row) * 1.25).collect());
    let grade = numbers((0..200).map(|row| f64::from(row % 5)).collect());
    let riders = numbers((0..2_000).map(|row| f64::from(row * 7 % 150)).collect());
    let is_value =
        |column: &Column, kind| Labels::of_kind("y", column, kind).map(|labels| labels.values().is_some());
    assert_eq!(is_value(&price, LabelKind::Guess), Ok(true));
    assert_eq!(is_value(&grade, LabelKind::Guess), Ok(false));
    assert_eq!(is_value(&riders, LabelKind::Guess), Ok(true));
    assert_eq!(is_value(&riders, LabelKind::Classes), Ok(false));
    assert_eq!(is_value(&grade, LabelKind::Values), Ok(true));
    assert!(is_value(&price, LabelKind::Classes).unwrap_err().to_string().contains("quantity"));
    let mut written: Vec<String> = (0..90).map(|row| (0.5 + f64::from(row) * 1.25).to_string()).collect();
    written[59] = "unknown".into();
    let stray = Column::Text(Texts::from_rows(written.iter().map(|text| Some(text.as_str()))));
    let refused = is_value(&stray, LabelKind::Guess).unwrap_err().to_string();
    assert!(refused.contains("row 60 has the label \"unknown\""), "{refused}");
    assert_eq!(is_value(&stray, LabelKind::Classes), Ok(false));
    let texts = |texts: [&'static str; 3]| Column::Text(Texts::from_rows(texts.map(Some)));
    let parsed = Labels::values_of("y", &texts(["1", "2.5", " -3e2"])).unwrap();
    assert_eq!(parsed.values(), Some(&[1.0, 2.5, -300.0][..]));
    assert_eq!(parsed.select_rows(&[2, 0]).values(), Some(&[-300.0, 1.0][..]));
    for (column, message) in [
        (texts(["1", "two", "3"]), "row 2 has the label \"two\""),
        (texts(["1", "2", "inf"]), "row 3 has the label \"inf\""),
        (numbers(vec![1.0, f64::NAN]), "row 2 has no label"),
        (numbers(vec![f64::INFINITY, 1.0]), "row 1 has"),
        (numbers(vec![1.0, -1e300]), "row 2 has the target -1e300"),
        (Column::Date(Numbers::F64(vec![1.0, 2.0])), "dates"),
    ] {
        let error = Labels::values_of("y", &column).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    let constant = Labels::from_values(vec![4.0; 10]).unwrap();
    let table = Table::new(vec![("x".into(), numbers((0..10).map(f64::from).collect()))]).unwrap();
    let error = train(&Training::new(Rows::Raw(table.view()), &constant), &TrainSettings::default(), &Silent)
        .unwrap_err();
    assert!(error.to_string().contains("the target is 4 on every row"), "{error}");
}
