//! Measures learning and predicting on one core, on all cores and on a GPU: `measure ROWS COLUMNS CLASSES ROUNDS [cpu1|cpu|cuda]…`
//!
//! Rows are made: normal columns cut into eleven bits each, and a class that hangs on some of them in a smooth way. Lines
//! say what it took, without making the rows, and digests of the grove, of its margins, and of the paper's tree where there are two
//! classes.

use std::time::Instant;

use gatewood::bits::{BitMatrix, BitView};
use gatewood::circuit::Grove;
use gatewood::learn::device::{Device, SheetToLoad};
use gatewood::learn::{
    CurvePoint, Examples, GroveSettings, GroveTask, Observer, Progress, Silent, TreeSettings, fit_grove,
    fit_tree, fit_tree_on,
};
use gatewood::random::{Purpose, Stream};
use gatewood_cuda::DeviceChoice;

/// Bits of a column: whether it is above each of so many thresholds.
const BITS: usize = 11;

/// Columns that the class hangs on.
const TELLING: usize = 10;

/// Notes when rounds end.
struct Rounds(std::sync::Mutex<Vec<Instant>>);

impl Observer for Rounds {
    fn progress(&self, _: Progress) {}

    fn round(&self, _: &CurvePoint) {
        self.0.lock().expect("no thread has failed").push(Instant::now());
    }

    fn stop(&self) -> bool {
        false
    }
}

/// A few uniform numbers make one that is nearly normal.
fn normal(stream: &mut Stream) -> f64 {
    (0..4).map(|_| stream.unit()).sum::<f64>() - 2.0
}

/// Writes the bits of a column, and gives what it adds to the score of each row where it tells.
fn make_column(rows: usize, column: usize, bits: &mut [&mut [u64]]) -> Vec<f32> {
    let mut stream = Stream::new(1, Purpose::Generate, column as u64);
    let sign = if column.is_multiple_of(2) { 1.0 } else { -1.0 };
    let mut adds = Vec::new();
    for row in 0..rows {
        let number = normal(&mut stream);
        if column < TELLING {
            adds.push((sign * number + if column.is_multiple_of(3) { number * number } else { 0.0 }) as f32);
        }
        for (bit, words) in bits.iter_mut().enumerate() {
            let threshold = (bit as f64 - (BITS / 2) as f64) * 0.18;
            words[row / 64] |= u64::from(number > threshold) << (row % 64);
        }
    }
    adds
}

fn make(rows: usize, columns: usize, classes: u32) -> (BitMatrix, Vec<u32>) {
    let mut bits = BitMatrix::zeros(rows, columns * BITS).expect("rows fit in memory");
    let mut lists: Vec<&mut [u64]> = bits.columns_mut().collect();
    let mut work: Vec<(usize, &mut [&mut [u64]])> = lists.chunks_mut(BITS).enumerate().collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut adds: Vec<(usize, Vec<f32>)> = std::thread::scope(|scope| {
        let size = columns.div_ceil(threads);
        let mut begun = Vec::new();
        while !work.is_empty() {
            let part = work.split_off(work.len().saturating_sub(size));
            let make = move |(column, bits)| (column, make_column(rows, column, bits));
            begun.push(scope.spawn(move || part.into_iter().map(make).collect::<Vec<_>>()));
        }
        begun.into_iter().flat_map(|thread| thread.join().expect("a thread ends")).collect()
    });
    adds.sort_by_key(|(column, _)| *column);
    let mut scores = vec![0f32; rows];
    for (_, adds) in adds.iter().take(TELLING) {
        scores.iter_mut().zip(adds).for_each(|(score, add)| *score += add);
    }
    let mut stream = Stream::new(1, Purpose::Generate, columns as u64);
    let class = |score: &f32| {
        let score = f64::from(*score) - 1.3 + normal(&mut stream);
        ((score * 1.2 + f64::from(classes) / 2.0).floor().max(0.0) as u32).min(classes - 1)
    };
    let labels = scores.iter().map(class).collect();
    (bits, labels)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize| arguments[place].parse::<usize>().expect("a number");
    let (rows, columns, classes, rounds) = (number(0), number(1), number(2), number(3));
    let begun = Instant::now();
    let (bits, labels) = make(rows, columns, classes as u32);
    println!("{rows} rows of {} bits made in {:.1} s", columns * BITS, begun.elapsed().as_secs_f64());
    for place in &arguments[4..] {
        let threads = if place == "cpu1" { 1 } else { 0 };
        let begun = Instant::now();
        let choice =
            if place.starts_with("cpu") { DeviceChoice::Cpu } else { place.parse().expect("a device") };
        let device = choice.open(rows).expect("the device opens");
        let opened = begun.elapsed().as_secs_f64();
        let examples = Examples { bits: bits.view(), targets: &labels, weights: None };
        let mut task = GroveTask::new(examples, classes);
        task.device = device.as_deref();
        let settings = GroveSettings { rounds: Some(rounds), threads, seed: 1, ..GroveSettings::default() };
        let observer = Rounds(Vec::new().into());
        let begun = Instant::now();
        let fit = fit_grove(&task, &settings, &observer).expect("a grove is learned");
        let took = begun.elapsed().as_secs_f64();
        let ends = observer.0.into_inner().expect("no thread has failed");
        let last = ends.last().zip(ends.first()).map_or(0.0, |(last, first)| (*last - *first).as_secs_f64());
        let digest = digest(format!("{:?}", fit.grove).bytes());
        println!(
            "{place}: opened in {opened:.2} s, learned in {took:.2} s, {:.2} ms a round; arities {:?}, {} rounds, digest {digest:016x}",
            1e3 * last / (ends.len().max(2) - 1) as f64,
            fit.plan.arities,
            fit.rounds,
        );
        predict(place, &fit.grove, bits.view(), device.as_deref(), threads);
        if classes == 2 {
            grow(place, bits.view(), &labels, device.as_deref(), threads);
        }
    }
}

/// FNV-1a.
fn digest(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Runs a grove over all rows, twice: copies are part of it.
fn predict(place: &str, grove: &Grove, bits: BitView<'_>, device: Option<&dyn Device>, threads: usize) {
    let begun = Instant::now();
    let there = device.map(|device| device.grove(grove).expect("the grove is loaded"));
    let loaded = begun.elapsed().as_secs_f64();
    for _ in 0..2 {
        let begun = Instant::now();
        let margins: Vec<Vec<i32>> = match &there {
            Some(there) => there.run(bits).expect("rows are run"),
            None => {
                let margins = grove.run(bits, threads).expect("rows are run");
                (0..grove.margins()).map(|margin| margins.column(margin).to_vec()).collect()
            }
        };
        let took = begun.elapsed().as_secs_f64();
        println!(
            "{place}: grove loaded in {loaded:.2} s, ran in {took:.3} s, {:.1} million rows a second; digest {:016x}",
            bits.rows() as f64 / took / 1e6,
            digest(margins.iter().flatten().flat_map(|margin| margin.to_le_bytes())),
        );
    }
    let Some(there) = there else { return };
    let held = there.hold(bits).expect("rows are held");
    let mut classes = vec![0; bits.rows()];
    let seconds = (0..5).map(|_| {
        let begun = Instant::now();
        there.classes(&held, &mut classes).expect("rows are classified");
        begun.elapsed().as_secs_f64()
    });
    let best = seconds.fold(f64::INFINITY, f64::min);
    println!("{place}: {:.1} million rows a second that are there", bits.rows() as f64 / best / 1e6);
}

/// Learns the paper's default tree; what it takes to bring the rows to a device, which is part of that, is measured by itself, too.
fn grow(place: &str, bits: BitView<'_>, labels: &[u32], device: Option<&dyn Device>, threads: usize) {
    if let Some(device) = device {
        let of = |class| (0u32..).zip(labels).filter(move |&(_, &label)| label == class).map(|(row, _)| row);
        let rows = SheetToLoad { bits, rows: &[of(0).collect(), of(1).collect()] };
        let took = (0..3).map(|_| {
            let begun = Instant::now();
            device.sheet(&rows, 1).expect("rows are loaded");
            format!("{:.1}", 1e3 * begun.elapsed().as_secs_f64())
        });
        println!("{place}: rows loaded for the paper's tree in {} ms", took.collect::<Vec<_>>().join(", "));
    }
    let settings = TreeSettings { threads, seed: 1, ..TreeSettings::default() };
    let mut took = Vec::new();
    let mut found = None;
    for _ in 0..3 {
        let begun = Instant::now();
        let tree = match device {
            Some(device) => fit_tree_on(device, bits, labels, &settings, &Silent),
            None => fit_tree(bits, labels, &settings, &Silent),
        };
        found = Some(tree.expect("a tree is learned"));
        took.push(format!("{:.1}", 1e3 * begun.elapsed().as_secs_f64()));
    }
    let digest = digest(format!("{:?}", found.expect("there is a tree")).bytes());
    println!("{place}: the paper's tree in {} ms, digest {digest:016x}", took.join(", "));
}
