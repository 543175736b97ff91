//! A compiled predictor says what its model says, bit for bit, however the rows are handed over.

use gatewood::bits::BitMatrix;
use gatewood::circuit::{Grove, Target, VoteTree};
use gatewood::encode::{
    Codes, Column, EncodeSettings, Encoder, ImageShape, Kind, Labels, Numbers, Row, Table, Texts, Value,
};
use gatewood::learn::{GroveSettings, Silent, TreeSettings};
use gatewood::model::{
    Circuit, LearnSettings, Model, Prediction, Predictor, Rows, TrainSettings, Training, train,
};
use gatewood::random::{Purpose, Stream};
use proptest::prelude::*;

const TEXTS: [&str; 7] =
    ["red", "green", "Blue", "the RED one", "état d'Âme", "", "a long text, of the green one"];

/// A column of some kind; `wild` ones hold values that training has not seen.
fn column(kind: usize, rows: usize, wild: bool, stream: &mut Stream) -> Column {
    let gap = |stream: &mut Stream| stream.below(7) == 0;
    let number = |stream: &mut Stream| match stream.below(if wild { 12 } else { 10 }) {
        10 => f64::INFINITY,
        11 => f64::NEG_INFINITY,
        step => f64::from(stream.below(40)) / 3.0 - f64::from(step),
    };
    match kind {
        0 => Column::Number(Numbers::F64(
            (0..rows).map(|_| if gap(stream) { f64::NAN } else { number(stream) }).collect(),
        )),
        1 => Column::Number(Numbers::F32((0..rows).map(|_| number(stream) as f32).collect())),
        2 => {
            let codes: Codes = (0..rows).map(|_| stream.below(4)).collect();
            Column::Number(Numbers::coded(codes, vec![1.0, f64::NAN, 2.0, 7.5]).unwrap())
        }
        3 => {
            let listed: Vec<u32> = (0..rows as u32).filter(|_| stream.below(3) == 0).collect();
            let values = listed.iter().map(|_| number(stream)).collect();
            Column::Number(Numbers::sparse(rows, listed, values).unwrap())
        }
        4 => {
            let day = |stream: &mut Stream| {
                f64::from(stream.below(800)) * 86_400.0 + 3_600.0 * f64::from(stream.below(24))
            };
            Column::Date(Numbers::F64(
                (0..rows).map(|_| if gap(stream) { f64::NAN } else { day(stream) }).collect(),
            ))
        }
        _ => {
            // Few of the texts in training, all of them later.
            let known = if kind == 5 && !wild { 3 } else { TEXTS.len() as u32 };
            let texts: Vec<Option<&str>> =
                (0..rows).map(|_| (!gap(stream)).then(|| TEXTS[stream.below(known) as usize])).collect();
            Column::Text(Texts::from_rows(texts))
        }
    }
}

fn table(kinds: &[usize], rows: usize, wild: bool, stream: &mut Stream) -> Table {
    let columns = kinds.iter().enumerate();
    Table::new(
        columns.map(|(place, &kind)| (format!("c{place}"), column(kind, rows, wild, stream))).collect(),
    )
    .unwrap()
}

fn labels(rows: usize, classes: u32, stream: &mut Stream) -> Labels {
    let names = (0..classes).map(|class| format!("class {class}")).collect();
    Labels::new(names, (0..rows).map(|_| stream.below(classes)).collect()).unwrap()
}

fn learned(rows: Rows<'_>, labels: &Labels, shape: usize, encode: EncodeSettings) -> Model {
    let learn = match shape {
        0 if labels.classes().len() == 2 => {
            LearnSettings::Tree(TreeSettings { arity: 3, depth: 3, ..TreeSettings::default() })
        }
        depth => LearnSettings::Grove(GroveSettings {
            rounds: Some(3),
            depth: Some(1 + depth % 3),
            arity: Some(3),
            threads: 1,
            ..GroveSettings::default()
        }),
    };
    train(&Training::new(rows, labels), &TrainSettings { learn, encode, ..TrainSettings::default() }, &Silent)
        .unwrap()
        .model
}

fn row_of(prediction: &Prediction, row: usize) -> (u32, Option<&[i32]>, Option<Vec<f64>>) {
    let margins = prediction.width().map(|width| &prediction.margins().unwrap()[row * width..][..width]);
    (prediction.classes()[row], margins, prediction.probabilities(row))
}

/// Compares what is said of each row, given in several ways, with what the model says of all.
fn check<'a>(predictor: &Predictor, all: &Prediction, row: usize, ways: impl IntoIterator<Item = Row<'a>>) {
    let expected = row_of(all, row);
    for way in ways {
        let few = predictor.predict_few([way]).unwrap();
        assert_eq!(row_of(&few, 0), expected, "row {row} as {way:?}");
        assert_eq!(predictor.predict_one(way).unwrap(), expected.0);
        let mut probabilities = vec![f64::NAN; predictor.model().classes().len()];
        assert_eq!(predictor.predict_proba_one(way, &mut probabilities).unwrap(), expected.0);
        match &expected.2 {
            Some(expected) => assert_eq!(&probabilities, expected),
            None => assert_eq!(probabilities[expected.0 as usize], 1.0),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn tables_of_any_columns(
        seed: u64,
        kinds in prop::collection::vec(0usize..7, 1..8),
        classes in 2u32..5,
        shape in 0usize..4,
        categories in 2u32..8,
    ) {
        let mut stream = Stream::new(seed, Purpose::Sample, 0);
        let train_rows = table(&kinds, 90, false, &mut stream);
        let labels = labels(90, classes, &mut stream);
        let encode = EncodeSettings { categories, min_entropy: 0.0, ..EncodeSettings::default() };
        prop_assume!(Encoder::fit(&train_rows, &encode).is_ok());
        let model = learned(Rows::Raw(train_rows.view()), &labels, shape, encode);
        let predictor = model.predictor();
        for rows in [1usize, 5, 70] {
            let fresh = table(&kinds, rows, true, &mut stream);
            let all = model.predict(&fresh, 1).unwrap();
            prop_assert_eq!(&predictor.predict(Rows::Raw(fresh.view()), 2).unwrap(), &all);
            for row in 0..rows {
                let values: Vec<Value<'_>> = (0..fresh.columns()).map(|column| fresh.value(row, column)).collect();
                check(&predictor, &all, row, [Row::Of(fresh.view(), row), Row::Values(&values)]);
            }
            // Columns are found by their names.
            let turned: Vec<(String, Column)> = (0..fresh.columns())
                .rev()
                .map(|column| (fresh.name(column).into_owned(), fresh.column(column).unwrap().clone()))
                .collect();
            let turned = Table::new(turned).unwrap();
            check(&predictor, &all, rows - 1, [Row::Of(turned.view(), rows - 1)]);
        }
    }

    #[test]
    fn numbers_images_and_bits(seed: u64, classes in 2u32..4, shape in 0usize..4, way in 0usize..4) {
        let mut stream = Stream::new(seed, Purpose::Sample, 0);
        let (rows, columns) = (80usize, 30usize);
        let bytes: Vec<u8> = (0..rows * columns).map(|_| stream.below(256) as u8).collect();
        let labels = labels(rows, classes, &mut stream);
        let encode = EncodeSettings {
            image: (way == 1).then_some(ImageShape { width: 6, height: 5, channels: 1 }),
            ..EncodeSettings::default()
        };
        let bools: Vec<bool> = bytes.iter().map(|&byte| byte > 127).collect();
        let bits = BitMatrix::from_bools(columns, &bools).unwrap();
        let raw = match way {
            0 | 1 => Table::from_pixels(columns, bytes.clone()).unwrap(),
            2 => Table::from_bits(bits.clone()),
            _ => {
                let column = |column: usize| {
                    let values = bytes.iter().skip(column).step_by(columns);
                    Column::Number(Numbers::F64(values.map(|&byte| f64::from(byte)).collect()))
                };
                Table::unnamed((0..columns).map(column).collect()).unwrap()
            }
        };
        let model = learned(Rows::Raw(raw.view()), &labels, shape, encode);
        let predictor = Predictor::new(model.clone());
        let all = model.predict(&raw, 1).unwrap();
        prop_assert_eq!(&predictor.predict(Rows::Raw(raw.view()), 1).unwrap(), &all);
        for row in 0..rows {
            let bytes = &bytes[row * columns..][..columns];
            let numbers: Vec<f64> = bytes.iter().map(|&byte| f64::from(byte)).collect();
            match way {
                // Whole numbers can stand for pixels, and pixels for numbers.
                0 | 1 | 3 => check(&predictor, &all, row, [Row::Pixels(bytes), Row::Numbers(&numbers)]),
                _ => {
                    let zeros: Vec<f64> = numbers.iter().map(|&byte| f64::from(u8::from(byte > 127.0))).collect();
                    let bools = &bools[row * columns..][..columns];
                    let ways = [Row::Bits(bools), Row::Numbers(&zeros), Row::Packed(bits.view(), row)];
                    check(&predictor, &all, row, ways);
                }
            }
        }
        if way == 2 {
            let few = BitMatrix::from_bools(columns, &bools[..columns * 3]).unwrap();
            let said = predictor.predict(Rows::Bits(few.view()), 1).unwrap();
            prop_assert_eq!(said, model.predict_rows(Rows::Bits(few.view()), 1).unwrap());
        }
    }
}

#[test]
fn rows_that_do_not_fit_are_refused_as_the_model_refuses_them() {
    let mut stream = Stream::new(5, Purpose::Sample, 0);
    let rows = table(&[0, 5], 60, false, &mut stream);
    let model = learned(Rows::Raw(rows.view()), &labels(60, 2, &mut stream), 1, EncodeSettings::default());
    let predictor = model.predictor();
    let one = |values: [Value<'_>; 2]| predictor.predict_one(&values[..]);
    // A number written as text is a number; another text is not.
    assert_eq!(
        one([Value::Text(" 3.5"), Value::Text("red")]).unwrap(),
        one([Value::Number(3.5), Value::Text("red")]).unwrap()
    );
    let refused = one([Value::Text("three"), Value::Missing]).unwrap_err();
    assert!(refused.is_data() && refused.to_string().contains("\"three\""), "{refused}");
    let texts = Column::Text(Texts::from_rows([Some("three")]));
    let table = Table::new(vec![("c0".into(), texts.clone()), ("c1".into(), texts.clone())]).unwrap();
    assert_eq!(predictor.predict(Rows::Raw(table.view()), 1), model.predict(&table, 1));
    let short = Table::new(vec![("c0".into(), texts)]).unwrap();
    assert_eq!(predictor.predict(Rows::Raw(short.view()), 1), model.predict(&short, 1));
    assert!(predictor.predict_one(&[1.0][..]).unwrap_err().is_data());
    assert!(predictor.predict_proba_one(&[1.0, 2.0][..], &mut [0.0; 3]).unwrap_err().is_data());
    let bits = BitMatrix::from_bools(2, &[true, false]).unwrap();
    assert!(predictor.predict(Rows::Bits(bits.view()), 1).unwrap_err().is_data());
}

#[test]
fn threads_share_a_predictor() {
    let mut stream = Stream::new(9, Purpose::Sample, 0);
    let rows = table(&[0, 1, 4, 6], 200, false, &mut stream);
    let model = learned(Rows::Raw(rows.view()), &labels(200, 3, &mut stream), 1, EncodeSettings::default());
    let predictor = model.predictor();
    let all = model.predict(&rows, 1).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope
                .spawn(|| (0..200).for_each(|row| check(&predictor, &all, row, [Row::Of(rows.view(), row)])));
        }
    });
}

#[test]
fn votes_that_pass_32_bits_are_refused() {
    let tree = |votes| VoteTree::new(vec![1], Target::One(0), vec![0], vec![], votes).unwrap();
    let grove = |trees, bias| Grove::new(1, 2, vec![bias], 0.1, trees);
    let half = i32::MAX / 2;
    assert!(grove(vec![tree(vec![half, -half]), tree(vec![half, 0])], 1).is_ok());
    assert!(grove(vec![tree(vec![half, -half]), tree(vec![half, 0])], 2).is_err_and(|error| error.is_data()));
    assert!(grove(vec![tree(vec![i32::MIN, 0])], 0).is_err_and(|error| error.is_data()));
    let largest = grove(vec![tree(vec![half, -half]), tree(vec![half, 0])], 1).unwrap();
    let names = vec!["no".into(), "yes".into()];
    let model = Model::new(Encoder::identity(1), Circuit::Grove(largest), names).unwrap();
    assert_eq!(model.encoder().inputs()[0].kind, Kind::Bit);
    let said = model.predictor().predict_few([Row::Bits(&[false])]).unwrap();
    assert_eq!(said.margins(), Some(&[i32::MAX][..]));
    let table = Table::from_bits(BitMatrix::from_bools(1, &[false]).unwrap());
    assert_eq!(model.predict(&table, 1).unwrap(), said);
}
