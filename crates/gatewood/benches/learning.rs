//! Greedy learning, climbing and running, on one thread.

use divan::Bencher;
use divan::counter::ItemsCount;
use gatewood::bits::BitMatrix;
use gatewood::learn::{Silent, TreeSettings, fit_tree};
use gatewood::random::{Purpose, Stream};

fn main() {
    divan::main();
}

/// Random rows whose class is the majority of five columns.
fn rows(count: usize) -> (BitMatrix, Vec<u32>) {
    let mut stream = Stream::new(1, Purpose::Generate, 0);
    let mut bits = BitMatrix::zeros(count, 1024).expect("a small matrix");
    bits.columns_mut().for_each(|column| column.iter_mut().for_each(|word| *word = stream.bits()));
    bits.clear_tail();
    let labels =
        (0..count).map(|row| u32::from((0..5).filter(|&column| bits.get(row, column)).count() > 2)).collect();
    (bits, labels)
}

/// The default tree.
#[divan::bench(args = [2_000, 12_000, 50_000], sample_count = 10)]
fn greedy(bencher: Bencher<'_, '_>, count: usize) {
    let (bits, labels) = rows(count);
    let settings = TreeSettings { threads: 1, ..TreeSettings::default() };
    bencher.bench_local(|| fit_tree(bits.view(), &labels, &settings, &Silent));
}

/// Trials at height 3 over 12,000 rows.
#[divan::bench(args = [4, 6], sample_count = 5)]
fn climb(bencher: Bencher<'_, '_>, arity: usize) {
    let (bits, labels) = rows(12_000);
    let settings =
        TreeSettings { arity, depth: 4, height: 3, climb: 20_000, threads: 1, ..TreeSettings::default() };
    bencher
        .counter(ItemsCount::new(settings.climb as usize))
        .bench_local(|| fit_tree(bits.view(), &labels, &settings, &Silent));
}

/// Rows through the default tree.
#[divan::bench(sample_count = 10)]
fn run(bencher: Bencher<'_, '_>) {
    let (bits, labels) = rows(20_000);
    let settings = TreeSettings { threads: 1, ..TreeSettings::default() };
    let tree = fit_tree(bits.view(), &labels, &settings, &Silent).expect("learns");
    bencher.counter(ItemsCount::new(20_000usize)).bench_local(|| tree.run(bits.view(), 1));
}
