//! Learning and running groves, on one thread.

use divan::Bencher;
use divan::counter::ItemsCount;
use gatewood::bits::BitMatrix;
use gatewood::circuit::Grove;
use gatewood::learn::{Examples, GroveSettings, GroveTask, Silent, fit_grove};
use gatewood::random::{Purpose, Stream};

fn main() {
    divan::main();
}

const ROUNDS: usize = 20;

/// Random rows of 1,024 bits whose class counts pairs of bits that differ, a tenth of the labels random.
fn rows(count: usize, classes: u32) -> (BitMatrix, Vec<u32>) {
    let mut stream = Stream::new(1, Purpose::Generate, 0);
    let mut bits = BitMatrix::zeros(count, 1024).expect("a small matrix");
    bits.columns_mut().for_each(|column| column.iter_mut().for_each(|word| *word = stream.bits()));
    bits.clear_tail();
    let differing = |row: usize| {
        (0..6).filter(|&pair| bits.get(row, 2 * pair) != bits.get(row, 2 * pair + 1)).count() as u32
    };
    let labels = (0..count)
        .map(|row| match stream.below(10) {
            0 => stream.below(classes),
            _ if classes == 2 => u32::from(differing(row) >= 3),
            _ => differing(row).min(classes - 1),
        })
        .collect();
    (bits, labels)
}

fn learn(rows: &(BitMatrix, Vec<u32>), classes: u32) -> Grove {
    let train = Examples { bits: rows.0.view(), targets: &rows.1, weights: None };
    let settings = GroveSettings { rounds: Some(ROUNDS), threads: 1, ..GroveSettings::default() };
    fit_grove(&GroveTask::new(train, classes as usize), &settings, &Silent).expect("learns").grove
}

/// Rounds of the default grove of two classes.
#[divan::bench(args = [2_000, 20_000], sample_count = 5)]
fn learn_two(bencher: Bencher<'_, '_>, count: usize) {
    let rows = rows(count, 2);
    bencher.counter(ItemsCount::new(ROUNDS)).bench_local(|| learn(&rows, 2));
}

/// Rounds of the default grove of five classes.
#[divan::bench(args = [2_000, 20_000], sample_count = 5)]
fn learn_five(bencher: Bencher<'_, '_>, count: usize) {
    let rows = rows(count, 5);
    bencher.counter(ItemsCount::new(ROUNDS)).bench_local(|| learn(&rows, 5));
}

/// Rows through a grove.
#[divan::bench(args = [2, 5], sample_count = 10)]
fn predict(bencher: Bencher<'_, '_>, classes: u32) {
    let rows = rows(20_000, classes);
    let grove = learn(&rows, classes);
    bencher.counter(ItemsCount::new(20_000usize)).bench_local(|| grove.predict(rows.0.view(), 1));
}
