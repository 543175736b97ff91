//! Proofs beside brute force over every row that can exist.

use super::explainer::Explainer;
use super::prove::{Proof, Witness};
use super::words::RawValue;
use crate::circuit::testing::{below, generator, random_grove};
use crate::circuit::{Grove, Target, VoteTree};
use crate::encode::{Column, EncodeSettings, Encoder, Numbers, Table, Texts};
use crate::model::{Circuit, Model};

fn table(seed: u64) -> Table {
    let mut rng = generator(seed);
    let age = (0..60).map(|_| below(&mut rng, 6) as f64).collect();
    let hours =
        (0..60).map(|_| if below(&mut rng, 5) == 0 { f64::NAN } else { below(&mut rng, 4) as f64 }).collect();
    let kinds: Vec<Option<&str>> =
        (0..60).map(|_| [Some("red"), Some("green"), Some("blue"), None][below(&mut rng, 4)]).collect();
    Table::new(vec![
        ("age".into(), Column::Number(Numbers::F64(age))),
        ("hours".into(), Column::Number(Numbers::F64(hours))),
        ("kind".into(), Column::Text(Texts::from_rows(kinds))),
    ])
    .unwrap()
}

/// Every value that makes a difference in a column.
fn values() -> Vec<Vec<RawValue>> {
    let halves = |most: i32| (-1..=2 * most).map(|half| f64::from(half) / 2.0);
    // Whole numbers too: bits may ask for one.
    let numbers = |most| halves(most).flat_map(|half| [half, half + 0.1]).map(RawValue::Number);
    let age = numbers(6).chain([RawValue::Missing]).collect();
    let hours = numbers(4).chain([RawValue::Missing]).collect();
    let text = |text: &str| RawValue::Text(text.to_owned());
    vec![age, hours, vec![text("red"), text("green"), text("blue"), text("odd"), RawValue::Missing]]
}

/// The class and margins of raw values, by the definitions of the encoder and the grove.
fn said(model: &Model, row: &[RawValue]) -> (usize, Vec<i32>) {
    let Circuit::Grove(grove) = model.circuit() else { panic!("a grove was made") };
    let encoder = model.encoder();
    let margins = grove.margins_of(|bit| {
        let meaning = &encoder.meanings()[bit];
        let input = &encoder.inputs()[meaning.column as usize];
        meaning.test.holds(row[meaning.column as usize].as_value(), &input.categories)
    });
    (Grove::class_of(&margins), margins)
}

fn all_rows() -> Vec<Vec<RawValue>> {
    let mut rows: Vec<Vec<RawValue>> = vec![Vec::new()];
    for values in values() {
        rows = rows
            .into_iter()
            .flat_map(|row| values.iter().map(move |value| [row.clone(), vec![value.clone()]].concat()))
            .collect();
    }
    rows
}

fn number(value: &RawValue) -> Option<f64> {
    match value {
        RawValue::Number(number) => Some(*number),
        _ => None,
    }
}

/// Checks a proof against the truth, and rows that show a property false against what it says.
fn check(model: &Model, text: &str, holds: bool, shows: impl Fn(&[Witness]) -> bool) {
    let explainer = Explainer::new(model).unwrap();
    match explainer.prove(&explainer.property(text).unwrap(), None).unwrap() {
        Proof::Proven => assert!(holds, "{text} was proven, but is false"),
        Proof::Undecided => panic!("{text} has no limit of time"),
        Proof::False(rows) => {
            assert!(!holds, "{text} is true, but was shown false by {rows:?}");
            for row in &rows {
                let (class, margins) = said(model, &row.values);
                assert_eq!(class, row.class, "predict says the same class");
                assert_eq!(margins.iter().map(|&margin| i64::from(margin)).collect::<Vec<_>>(), row.margins);
            }
            assert!(shows(&rows), "{text}: {rows:?}");
        }
    }
}

#[test]
fn proofs_agree_with_brute_force() {
    let rows = all_rows();
    for seed in 0..16 {
        let classes = 2 + seed as usize % 2;
        let (encoder, _) = Encoder::fit(&table(seed), &EncodeSettings::default()).unwrap();
        let grove = random_grove(seed, encoder.bits(), classes, 3 + seed as usize % 6, 12);
        let names: Vec<String> = (0..classes).map(|class| format!("c{class}")).collect();
        let model = Model::new(encoder, Circuit::Grove(grove), names).unwrap();
        let class = |row: &[RawValue]| said(&model, row).0;

        let young =
            |row: &[RawValue]| number(&row[0]).is_some_and(|age| age <= 2.0) && row[2] != RawValue::Missing;
        let truth = !rows.iter().any(|row| young(row) && class(row) == 1);
        check(&model, "never c1 when age <= 2 and kind is not missing", truth, |rows| {
            rows[0].class == 1 && number(&rows[0].values[0]).is_some_and(|age| age <= 2.0)
        });
        let coloured = |row: &[RawValue]| {
            row[2] == RawValue::Text("red".into()) || number(&row[1]).is_some_and(|hours| hours > 1.5)
        };
        let truth = rows.iter().filter(|row| coloured(row)).all(|row| class(row) == 0);
        check(&model, "if kind = red or hours > 1.5 then class is c0", truth, |rows| {
            rows[0].class != 0 && coloured(&rows[0].values)
        });
        for (column, name) in ["age", "hours", "kind"].into_iter().enumerate() {
            let mut truth = true;
            for row in &rows {
                let mut other = row.clone();
                for value in &values()[column] {
                    other[column] = value.clone();
                    truth &= class(row) == class(&other);
                }
            }
            check(&model, &format!("independent of {name}"), truth, |rows| {
                let differ =
                    (0..3).filter(|&at| rows[0].values[at] != rows[1].values[at]).collect::<Vec<_>>();
                rows[0].class != rows[1].class && differ == [column]
            });
        }
        for (up, word) in [(true, "up"), (false, "down")] {
            let (mut by_margin, mut by_class) = (true, true);
            for row in &rows {
                let Some(low) = number(&row[0]) else { continue };
                let mut higher = row.clone();
                for value in &values()[0] {
                    if number(value).is_some_and(|high| high > low) {
                        higher[0] = value.clone();
                        let ((class, margins), (other, others)) = (said(&model, row), said(&model, &higher));
                        by_margin &= if up { margins[0] <= others[0] } else { margins[0] >= others[0] };
                        by_class &= if up { class != 1 || other == 1 } else { other != 1 || class == 1 };
                    }
                }
            }
            let rises = |rows: &[Witness]| number(&rows[0].values[0]) < number(&rows[1].values[0]);
            if classes == 2 {
                check(&model, &format!("monotone {word} in age"), by_margin, |rows| {
                    let (low, high) = (rows[0].margins[0], rows[1].margins[0]);
                    rises(rows) && if up { low > high } else { low < high }
                });
            }
            check(&model, &format!("monotone {word} in age for c1"), by_class, |rows| {
                rises(rows) && rows[0].class != rows[1].class
            });
        }
    }
}

#[test]
fn what_is_no_property_is_refused_with_a_reason() {
    let (encoder, _) = Encoder::fit(&table(1), &EncodeSettings::default()).unwrap();
    let grove = random_grove(1, encoder.bits(), 3, 4, 9);
    let model =
        Model::new(encoder, Circuit::Grove(grove), vec!["a".into(), ">50K".into(), "b c".into()]).unwrap();
    let explainer = Explainer::new(&model).unwrap();
    for (text, why) in [
        ("", "starts with none"),
        ("always a", "starts with none"),
        ("monotone sideways in age", "\"down\" is expected"),
        ("independent of sex", "no column \"sex\""),
        ("never d when age > 3", "no class \"d\""),
        ("never a when age", "a comparison is expected"),
        ("never a when age > young", "no value of column"),
        ("never a when kind > 3", "holds texts"),
        ("if age > 3 then class is a or b", "after it"),
        ("never \"a when age > 3", "quote"),
        ("never a when age >< 3", "no comparison"),
    ] {
        let error = explainer.property(text).unwrap_err();
        assert!(error.is_setting() && error.to_string().contains(why), "{text}: {error}");
    }
    for text in [
        "never \">50K\" when age<=17 and kind != 'red'",
        "if hours is missing then class is 'b c'",
        "never a",
    ] {
        assert_eq!(explainer.property(text).unwrap().text(), text);
    }
    for text in ["monotone up in age", "monotone up in kind for a"] {
        let property = explainer.property(text).unwrap();
        assert!(explainer.prove(&property, None).unwrap_err().is_setting(), "{text}");
    }
}

#[test]
fn an_undecided_property_says_so() {
    // No time at all, and nothing that a first look decides.
    let trees = (0..40u32)
        .map(|tree| {
            let leaves = (0..4).map(|leaf| (tree * 7 + leaf * 5) % 30).collect();
            let votes = (0..16).map(|address: u32| (address * (tree + 3) % 7) as i32 - 3).collect();
            VoteTree::new(vec![4], Target::One(0), leaves, vec![], votes).unwrap()
        })
        .collect();
    let grove = Grove::new(30, 2, vec![-110], 0.1, trees).unwrap();
    let model =
        Model::new(Encoder::identity(30), Circuit::Grove(grove), vec!["no".into(), "yes".into()]).unwrap();
    let explainer = Explainer::new(&model).unwrap();
    let property = explainer.property("never yes when bit_0 = 1").unwrap();
    assert_eq!(explainer.prove(&property, Some(0.0)).unwrap(), Proof::Undecided);
    assert_eq!(explainer.prove(&property, Some(60.0)).unwrap(), Proof::Proven);
}
