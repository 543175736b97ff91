//! What columns are worth, on data where that is known.

use gatewood::bits::BitMatrix;
use gatewood::encode::{Column, Labels, Numbers, Table};
use gatewood::learn::Silent;
use gatewood::model::{Model, Rows, TrainSettings, Training, train};

/// Numbers between 0 and 1, by a generator of its own.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as f64) / f64::from(1u32 << 31)
    }
}

/// What a unit of each column adds to the log-odds. The last two columns are bits: they have one threshold each, the
/// others hundreds.
const WEIGHTS: [f64; 10] = [6.0, 4.0, 2.6, 1.6, 0.9, 0.4, 0.0, 0.0, 2.2, 0.0];
const BITS: usize = 2;

fn made(rows: usize, seed: u64) -> (Table, Labels) {
    let mut random = Random(seed);
    let mut columns = vec![Vec::with_capacity(rows); WEIGHTS.len()];
    let mut codes = Vec::with_capacity(rows);
    for _ in 0..rows {
        let mut odds = 0.0;
        for (index, (column, weight)) in columns.iter_mut().zip(WEIGHTS).enumerate() {
            let unit = random.unit();
            let value = if index >= WEIGHTS.len() - BITS { f64::from(u8::from(unit > 0.5)) } else { unit };
            odds += weight * (value - 0.5);
            column.push(value);
        }
        codes.push(u32::from(random.unit() < 1.0 / (1.0 + (-odds).exp())));
    }
    let columns = columns
        .into_iter()
        .enumerate()
        .map(|(index, values)| (format!("c{index}"), Column::Number(Numbers::F64(values))));
    let labels = Labels::new(vec!["no".into(), "yes".into()], codes).unwrap();
    (Table::new(columns.collect()).unwrap(), labels)
}

/// The rank correlation of two lists, ties sharing the mean of their places.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let rank = |value: f64| {
            let less = values.iter().filter(|&&other| other < value).count();
            let equal = values.iter().filter(|&&other| other == value).count();
            less as f64 + (equal as f64 - 1.0) / 2.0
        };
        values.iter().map(|&value| rank(value)).collect()
    };
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

#[test]
fn importance_is_what_columns_are_worth_on_other_rows() {
    let (table, labels) = made(3000, 1);
    let training = Training::new(Rows::Raw(table.view()), &labels);
    let model = train(&training, &TrainSettings::default(), &Silent).unwrap().model;
    let worth = model.importance();
    assert!((worth.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    // What is known: bits vary more than evenly spread numbers do, with a deviation of 1/2 against 1/sqrt(12).
    let deviation = |index| if index >= WEIGHTS.len() - BITS { 0.5 } else { 1.0 / 12f64.sqrt() };
    let known: Vec<f64> = (0..WEIGHTS.len()).map(|index| WEIGHTS[index] * deviation(index)).collect();
    let found = rank_correlation(&worth, &known);
    assert!(found >= 0.9, "{found}: {worth:?}");
    // The same on rows that were not learned from.
    let (other, other_labels) = made(3000, 2);
    let bits: BitMatrix = model.encoder().transform(&other).unwrap();
    let shuffled = model.permutation_importance(bits.view(), other_labels.codes(), 7).unwrap();
    let found = rank_correlation(&worth, &shuffled);
    assert!(found >= 0.9, "{found}: {worth:?} {shuffled:?}");
    // Columns of many thresholds that say nothing are not worth more than a bit that says much.
    assert!(worth[8] > 3.0 * worth[6].max(worth[7]), "{worth:?}");
    // The file keeps it.
    assert_eq!(Model::from_bytes(&model.to_bytes()).unwrap().importance(), worth);
}
