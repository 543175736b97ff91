//! Counting, evaluating and transposing, at every SIMD level of this machine.

use divan::Bencher;
use divan::counter::ItemsCount;
use gatewood::bits::BitMatrix;
use gatewood::bits::kernels::{Kernels, Level};
use gatewood::random::{Purpose, Stream};

/// Words of a column: 12,000 rows.
const WORDS: usize = 192;

fn main() {
    divan::main();
}

fn random(columns: usize) -> BitMatrix {
    let mut stream = Stream::new(1, Purpose::Generate, 0);
    let mut bits = BitMatrix::zeros(WORDS * 64, columns).expect("a small matrix");
    bits.columns_mut().for_each(|column| column.iter_mut().for_each(|word| *word = stream.bits()));
    bits
}

fn levels() -> Vec<Level> {
    Level::available()
}

/// And-popcounts of a gate of 4 and of 6 inputs, per word.
#[divan::bench(args = levels(), consts = [4, 6])]
fn and_counts<const ARITY: usize>(bencher: Bencher<'_, '_>, level: &Level) {
    let kernels = Kernels::at(*level).expect("available");
    let bits = random(ARITY);
    let inputs: Vec<&[u64]> = (0..ARITY).map(|column| bits.column(column)).collect();
    let mut counts = vec![0; 1 << ARITY];
    bencher
        .counter(ItemsCount::new(WORDS * ((1 << ARITY) - 1 - ARITY)))
        .bench_local(|| kernels.and_counts(divan::black_box(&inputs), &mut counts));
}

/// The same when one input changed.
#[divan::bench(args = levels(), consts = [4, 6])]
fn and_counts_with<const ARITY: usize>(bencher: Bencher<'_, '_>, level: &Level) {
    let kernels = Kernels::at(*level).expect("available");
    let bits = random(ARITY);
    let inputs: Vec<&[u64]> = (0..ARITY).map(|column| bits.column(column)).collect();
    let (changed, others) = inputs.split_last().expect("a gate has inputs");
    let mut counts = vec![0; 1 << (ARITY - 1)];
    bencher
        .counter(ItemsCount::new(WORDS * ((1 << (ARITY - 1)) - 1)))
        .bench_local(|| kernels.and_counts_with(divan::black_box(changed), others, &mut counts));
}

/// Words of output of a gate.
#[divan::bench(args = levels(), consts = [2, 4, 6, 8])]
fn evaluate<const ARITY: usize>(bencher: Bencher<'_, '_>, level: &Level) {
    let kernels = Kernels::at(*level).expect("available");
    let bits = random(ARITY);
    let inputs: Vec<&[u64]> = (0..ARITY).map(|column| bits.column(column)).collect();
    let table = random(1).column(0)[..4].to_vec();
    let mut output = vec![0; WORDS];
    bencher
        .counter(ItemsCount::new(WORDS))
        .bench_local(|| kernels.evaluate(divan::black_box(&table), &inputs, &mut output));
}

/// Addresses of wide gates, counted one by one.
#[divan::bench(args = levels(), consts = [9, 12])]
fn count_wide<const ARITY: usize>(bencher: Bencher<'_, '_>, level: &Level) {
    let kernels = Kernels::at(*level).expect("available");
    let bits = random(ARITY);
    let inputs: Vec<&[u64]> = (0..ARITY).map(|column| bits.column(column)).collect();
    let singles: Vec<u32> = inputs.iter().map(|input| kernels.popcount(input) as u32).collect();
    let mut counts = vec![0; 1 << ARITY];
    bencher
        .counter(ItemsCount::new(WORDS * 64))
        .bench_local(|| kernels.count(divan::black_box(&inputs), &singles, WORDS * 64, &mut counts));
}

/// Row-major packed rows of 784 bits to columns, bytes of input.
#[divan::bench]
fn transpose(bencher: Bencher<'_, '_>) {
    let mut stream = Stream::new(2, Purpose::Generate, 0);
    let bytes: Vec<u8> = (0..10_000 * 98).map(|_| stream.bits() as u8).collect();
    bencher
        .counter(divan::counter::BytesCount::new(bytes.len()))
        .bench_local(|| BitMatrix::from_packed_rows(10_000, 784, divan::black_box(&bytes)));
}
