//! The facade, and what it stands on: early stopping, cross-validation, weights of classes, stages, importance.

use gatewood::Classifier;
use gatewood::encode::{Column, Encoder, Labels, Numbers, Table, Texts};
use gatewood::learn::{GroveSettings, Silent, TreeSettings};
use gatewood::model::{
    Circuit, ClassWeight, LabelledRows, LearnSettings, Metrics, Model, Predictor, Rows, TrainSettings,
    Training, cross_validate, folds, holdout, train,
};
use gatewood::random::{Purpose, Stream};

/// Rows whose class depends on the first column much, on the second less, on the third not at all; one in ten is wrong.
fn rows(count: usize, classes: u32, seed: u64) -> (Table, Labels) {
    let mut stream = Stream::new(seed, Purpose::Sample, 0);
    let mut columns = vec![Vec::new(); 3];
    let mut texts = Vec::new();
    let mut labels = Vec::new();
    for _ in 0..count {
        let values: Vec<f64> = (0..3).map(|_| stream.unit()).collect();
        let red = stream.below(2) == 1;
        let score = 2.0 * values[0] + 0.7 * values[1] + if red { 0.2 } else { 0.0 };
        let class = ((score / 2.9 * f64::from(classes)) as u32).min(classes - 1);
        labels.push(if stream.below(10) == 0 { stream.below(classes) } else { class });
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        texts.push(Some(if red { "red" } else { "blue" }));
    }
    let mut named: Vec<(String, Column)> = (0..)
        .zip(columns)
        .map(|(place, values)| (format!("c{place}"), Column::Number(Numbers::F64(values))))
        .collect();
    named.push(("colour".into(), Column::Text(Texts::from_rows(texts))));
    let names = (0..classes).map(|class| format!("k{class}")).collect();
    (Table::new(named).unwrap(), Labels::new(names, labels).unwrap())
}

fn grove(choose: impl FnOnce(&mut GroveSettings)) -> TrainSettings {
    let mut grove = GroveSettings { rounds: Some(12), threads: 1, ..GroveSettings::default() };
    choose(&mut grove);
    TrainSettings { learn: LearnSettings::Grove(grove), ..TrainSettings::default() }
}

#[test]
fn the_facade_is_thin() {
    let (table, labels) = rows(300, 3, 1);
    let classifier =
        Classifier::settings().rounds(12).seed(5).threads(1).max_bins(16).fit(&table, &labels).unwrap();
    let mut settings = grove(|grove| grove.seed = 5);
    settings.encode.max_bins = 16;
    let model = train(&Training::new(Rows::Raw(table.view()), &labels), &settings, &Silent).unwrap().model;
    assert_eq!(classifier.model(), &model);
    let prediction = model.predict(&table, 1).unwrap();
    assert_eq!(classifier.predict(&table).unwrap(), prediction.classes());
    let probabilities = classifier.predict_proba(&table).unwrap();
    assert_eq!(probabilities[7], prediction.probabilities(7).unwrap());
    assert_eq!(
        classifier.evaluate(&table, &labels).unwrap(),
        Metrics::new(3, labels.codes(), &prediction).unwrap()
    );
    let folder = tempfile::tempdir().unwrap();
    classifier.save(folder.path().join("a.gw")).unwrap();
    let again = Classifier::load(folder.path().join("a.gw")).unwrap();
    assert_eq!(again.model(), &model);
    assert_eq!(again.classes(), ["k0", "k1", "k2"]);
}

#[test]
fn a_tree_is_certain_and_takes_no_settings_of_groves() {
    let (table, labels) = rows(120, 2, 2);
    let tree = TreeSettings { arity: 2, depth: 3, ..TreeSettings::default() };
    let settings = Classifier::settings().tree(tree).seed(3);
    let classifier = settings.fit(&table, &labels).unwrap();
    let classes = classifier.predict(&table).unwrap();
    let certain = classifier.predict_proba(&table).unwrap();
    assert!(classes.iter().zip(&certain).all(|(&class, row)| row[class as usize] == 1.0));
    let refused = settings.rounds(5).fit(&table, &labels).unwrap_err();
    assert!(refused.is_setting() && refused.to_string().contains("rounds"), "{refused}");
}

#[test]
fn early_stopping_holds_a_tenth_of_the_rows_out() {
    let (table, labels) = rows(400, 2, 3);
    let settings = grove(|grove| {
        grove.rounds = Some(60);
        grove.early_stopping_rounds = Some(4);
    });
    let training = Training::new(Rows::Raw(table.view()), &labels);
    let own = train(&training, &settings, &Silent).unwrap();
    // The same by hand.
    let parts = holdout(&labels, 0.1, 0).unwrap();
    let [learned, kept] = [&parts.train, &parts.test].map(|rows| training.train.select(rows).unwrap());
    let by_hand = Training { train: learned.view(), validation: Some(kept.view()), ..training };
    assert_eq!(own.model, train(&by_hand, &settings, &Silent).unwrap().model);
    assert!(own.grove.unwrap().curve.iter().all(|point| point.validation_error.is_some()));
    // Packed bits and weights are split as well.
    let bits = Encoder::fit(&table, &settings.encode).unwrap().0.transform(&table).unwrap();
    let weights = vec![1.0; 400];
    let packed = LabelledRows { rows: Rows::Bits(bits.view()), labels: &labels, weights: Some(&weights) };
    let [learned, kept] = [&parts.train, &parts.test].map(|rows| packed.select(rows).unwrap());
    let by_hand = Training { train: learned.view(), validation: Some(kept.view()), ..training };
    let packed = train(&Training { train: packed, ..training }, &settings, &Silent).unwrap();
    assert_eq!(packed.model, train(&by_hand, &settings, &Silent).unwrap().model);
    assert_eq!(learned.view().weights.map(<[f64]>::len), Some(parts.train.len()));
    // Labels that do not fit are refused, not cut to size.
    let short = Labels::new(labels.classes().to_vec(), labels.codes()[..399].to_vec()).unwrap();
    let wrong = train(&Training::new(Rows::Raw(table.view()), &short), &settings, &Silent).unwrap_err();
    assert!(wrong.is_data() && wrong.to_string().contains("399"), "{wrong}");
}

#[test]
fn cross_validation_is_training_by_hand() {
    let (table, labels) = rows(200, 3, 4);
    let settings = grove(|grove| grove.seed = 9);
    let training = Training::new(Rows::Raw(table.view()), &labels);
    let found = cross_validate(&training, &settings, 4, &Silent).unwrap();
    let parts = folds(&labels, 4, 9).unwrap();
    assert_eq!(found.len(), 4);
    for (fold, parts) in found.iter().zip(&parts) {
        let [learned, tested] = [&parts.train, &parts.test]
            .map(|rows| (table.select_rows(rows).unwrap(), labels.select_rows(rows)));
        let by_hand = Training::new(Rows::Raw(learned.0.view()), &learned.1);
        let model = train(&by_hand, &settings, &Silent).unwrap().model;
        assert_eq!(fold.trained.model, model);
        let said = model.predict(&tested.0, 1).unwrap();
        assert_eq!(fold.test, Metrics::new(3, tested.1.codes(), &said).unwrap());
        assert_eq!(fold.train.rows, 150);
    }
    assert!(cross_validate(&training, &settings, 1, &Silent).unwrap_err().is_setting());
    let start = found[0].trained.model.clone();
    let continued = Training { start: Some(&start), ..training };
    assert!(cross_validate(&continued, &settings, 4, &Silent).unwrap_err().is_setting());
}

#[test]
fn stages_end_with_the_whole() {
    for classes in [2, 3] {
        let (table, labels) = rows(150, classes, 5);
        let settings = grove(|_| {});
        let model =
            train(&Training::new(Rows::Raw(table.view()), &labels), &settings, &Silent).unwrap().model;
        let predictor = Predictor::new(model.clone());
        let Circuit::Grove(whole) = model.circuit() else { unreachable!() };
        let trees = whole.trees().len();
        let ends = [0, 1, trees / 2, trees / 2, trees];
        let stages = predictor.predict_stages(Rows::Raw(table.view()), &ends, 1).unwrap();
        assert_eq!(stages[4], model.predict(&table, 1).unwrap());
        assert_eq!(stages[2], stages[3]);
        for (stage, &end) in stages.iter().zip(&ends) {
            let part = gatewood::circuit::Grove::with_spans(
                whole.inputs(),
                whole.spans().to_vec(),
                whole.classes(),
                whole.bias().to_vec(),
                whole.unit(),
                whole.trees()[..end].to_vec(),
            )
            .unwrap();
            let part =
                Model::new(model.encoder().clone(), Circuit::Grove(part), model.classes().to_vec()).unwrap();
            assert_eq!(*stage, part.predict(&table, 1).unwrap());
        }
        for wrong in [vec![2, 1], vec![trees + 1]] {
            assert!(predictor.predict_stages(Rows::Raw(table.view()), &wrong, 1).unwrap_err().is_data());
        }
    }
}

#[test]
fn shuffling_a_column_costs_what_it_is_worth() {
    for classes in [2, 3] {
        let (table, labels) = rows(2000, classes, 6);
        let settings = grove(|grove| grove.rounds = Some(40));
        let model =
            train(&Training::new(Rows::Raw(table.view()), &labels), &settings, &Silent).unwrap().model;
        let bits = model.encoder().transform(&table).unwrap();
        let worth = model.permutation_importance(bits.view(), labels.codes(), 0).unwrap();
        assert!(worth[0] > worth[1] && worth[1] > worth[2].max(0.0), "{worth:?}");
        assert_eq!(worth, model.permutation_importance(bits.view(), labels.codes(), 0).unwrap());
        assert!(model.permutation_importance(bits.view(), &labels.codes()[1..], 0).unwrap_err().is_data());
    }
    // A column that no leaf reads changes nothing.
    let tree = gatewood::circuit::Tree::new(2, 1, 3, vec![0, 1], vec![0b0110]).unwrap();
    let names = vec!["no".into(), "yes".into()];
    let model = Model::new(Encoder::identity(3), Circuit::Tree(tree), names).unwrap();
    let (_, labels) = rows(64, 2, 7);
    let bools: Vec<bool> = (0..64).flat_map(|row| (0..3).map(move |bit| row >> bit & 1 != 0)).collect();
    let bits = gatewood::bits::BitMatrix::from_bools(3, &bools).unwrap();
    assert_eq!(model.permutation_importance(bits.view(), labels.codes(), 0).unwrap()[2], 0.0);
}

#[test]
fn balanced_weights_make_classes_count_alike() {
    let (_, labels) = rows(300, 3, 8);
    let weights = ClassWeight::Balanced.weights(&labels).unwrap();
    let sums: Vec<f64> =
        labels.counts().iter().zip(&weights).map(|(&count, weight)| count as f64 * weight).collect();
    assert!(sums.iter().all(|sum| (sum - 100.0).abs() < 1e-9), "{sums:?}");
}
