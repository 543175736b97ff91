//! Probabilities hold on rows that were not learned from, whatever the number of columns, and noise is not learned.

use gatewood::encode::{Column, ImageShape, Labels, Numbers, Table};
use gatewood::learn::{GroveSettings, Silent};
use gatewood::model::{LearnSettings, Rows, TrainSettings, Trained, Training, train};
use gatewood::random::{Purpose, Stream};

/// Noisy rows of numbers: the log-odds are the sum of the first column and the product of two others.
fn rows(count: usize, columns: usize, seed: u64) -> (Table, Labels) {
    let mut stream = Stream::new(seed, Purpose::Generate, 0);
    let mut numbers = vec![Vec::new(); columns];
    let mut labels = Vec::new();
    for _ in 0..count {
        let row: Vec<f64> = (0..columns).map(|_| 4.0 * stream.unit() - 2.0).collect();
        let odds = row[0] + row[1] * row[2];
        labels.push(u32::from(stream.unit() < 1.0 / (1.0 + (-odds).exp())));
        numbers.iter_mut().zip(row).for_each(|(column, number)| column.push(number));
    }
    let named = |(number, values)| (format!("x{number}"), Column::Number(Numbers::F64(values)));
    let table = Table::new(numbers.into_iter().enumerate().map(named).collect()).unwrap();
    (table, Labels::new(vec!["no".into(), "yes".into()], labels).unwrap())
}

fn learn(rows: &(Table, Labels), settings: &TrainSettings) -> Trained {
    train(&Training::new(Rows::Raw(rows.0.view()), &rows.1), settings, &Silent).unwrap()
}

/// The mean loss, and the mean distance of what is said from what is seen, in ten bins of probability.
fn judge(trained: &Trained, rows: &(Table, Labels)) -> (f64, f64) {
    let prediction = trained.model.predict(&rows.0, 1).unwrap();
    let mut bins = [(0.0, 0.0, 0.0); 10];
    let mut loss = 0.0;
    for (row, &label) in rows.1.codes().iter().enumerate() {
        let row = prediction.probabilities(row).unwrap();
        loss -= row[label as usize].max(1e-12).ln();
        let bin = &mut bins[(row[1] * 10.0).min(9.0) as usize];
        *bin = (bin.0 + 1.0, bin.1 + row[1], bin.2 + f64::from(label));
    }
    let off: f64 = bins.iter().map(|(_, said, seen): &(f64, f64, f64)| (said - seen).abs()).sum();
    (loss / rows.1.len() as f64, off / rows.1.len() as f64)
}

#[test]
fn tables_of_any_width_are_calibrated_and_do_not_learn_noise() {
    for (columns, most) in [(5, 0.60), (12, 0.61), (40, 0.62), (200, 0.64)] {
        let (known, new) = (rows(2_500, columns, 1), rows(4_000, columns, 2));
        let trained = learn(&known, &TrainSettings::default());
        let ((seen, _), (loss, off)) = (judge(&trained, &known), judge(&trained, &new));
        // Noise alone makes 0.53; to say nothing makes 0.693.
        assert!(loss < most, "{columns} columns: a loss of {loss}");
        assert!(off < 0.05, "{columns} columns: off by {off}");
        assert!(seen > 0.35, "{columns} columns: noise was learned, a training loss of {seen}");
    }
}

#[test]
fn noisy_images_are_calibrated() {
    let noisy = |count: usize, seed: u64| {
        let mut stream = Stream::new(seed, Purpose::Generate, 0);
        let (mut pixels, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let row: Vec<u8> = (0..64).map(|_| stream.below(2) as u8 * 255).collect();
            let truth = u32::from(row[9] > 0 && row[10] > 0 || row[20] > 0);
            labels.push(if stream.below(4) == 0 { stream.below(2) } else { truth });
            pixels.extend(row);
        }
        let labels = Labels::new(vec!["0".into(), "1".into()], labels).unwrap();
        (Table::from_pixels(64, pixels).unwrap(), labels)
    };
    let mut settings = TrainSettings::default();
    settings.encode.image = Some(ImageShape::grey(8, 8));
    let (known, new) = (noisy(2_000, 3), noisy(4_000, 4));
    let trained = learn(&known, &settings);
    let (loss, off) = judge(&trained, &new);
    // Noise alone makes 0.377.
    assert!(off < 0.08 && loss < 0.43, "off by {off}, a loss of {loss}");
    // A fold learns beside the grove: neither depends on which of them is ahead.
    for threads in [1, 3] {
        settings.learn.set_threads(threads);
        assert_eq!(learn(&known, &settings).model.circuit(), trained.model.circuit());
    }
    // Rounds that are given are not judged by held-out rows: they are far too sure.
    settings.learn = LearnSettings::Grove(GroveSettings { rounds: Some(250), ..GroveSettings::default() });
    let sure = judge(&learn(&known, &settings), &new);
    assert!(sure.0 > loss && sure.1 > off, "{sure:?}");
}
