//! Exclusive ors of few columns that tell something of the output, found by counting all of them.

use super::samples::Samples;

/// Columns up to which pairs and triples are counted.
const PAIRS: usize = 1_500;
const TRIPLES: usize = 320;

/// Rows that triples are counted over at the most: they are many.
const TRIPLE_WORDS: usize = 64;

/// The exclusive or of some columns, and how far it and the output agree: from -1 to 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Telling {
    pub(super) columns: Vec<usize>,
    pub(super) correlation: f64,
}

/// Exclusive ors of two columns that tell more than chance would, the most telling first.
pub(super) fn pairs(samples: &Samples, most: usize) -> Vec<Telling> {
    if samples.columns() > PAIRS {
        return Vec::new();
    }
    let rows = samples.rows();
    let mut found = Best::new(most, rows, samples.columns().pow(2) / 2);
    for first in 0..samples.columns() {
        let sum = xor(&samples.label, samples.column(first));
        for second in first + 1..samples.columns() {
            found.offer(differ(&sum, samples.column(second)), || vec![first, second]);
        }
    }
    found.finish()
}

/// Exclusive ors of three columns that tell more than chance would, the most telling first.
pub(super) fn triples(samples: &Samples, most: usize) -> Vec<Telling> {
    let columns = samples.columns();
    if columns > TRIPLES {
        return Vec::new();
    }
    let words = samples.label.len().min(TRIPLE_WORDS);
    let mut found = Best::new(most, samples.rows().min(words * 64), columns.pow(3) / 6);
    for first in 0..columns {
        let one = xor(&samples.label[..words], samples.column(first));
        for second in first + 1..columns {
            let two = xor(&one, samples.column(second));
            for third in second + 1..columns {
                found.offer(differ(&two, samples.column(third)), || vec![first, second, third]);
            }
        }
    }
    found.finish()
}

fn xor(a: &[u64], b: &[u64]) -> Vec<u64> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// In how many rows two columns differ.
fn differ(a: &[u64], b: &[u64]) -> usize {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
}

/// The most telling of many.
struct Best {
    most: usize,
    rows: usize,
    /// What chance alone hardly reaches, in rows away from half.
    least: f64,
    found: Vec<Telling>,
}

impl Best {
    fn new(most: usize, rows: usize, tried: usize) -> Self {
        // Of so many tries, hardly one is so many standard deviations away.
        let deviations = libm::sqrt(2.0 * libm::log((20 * tried.max(1)) as f64));
        Self { most, rows, least: deviations * libm::sqrt(rows as f64) / 2.0, found: Vec::new() }
    }

    fn offer(&mut self, differ: usize, columns: impl FnOnce() -> Vec<usize>) {
        let away = self.rows as f64 / 2.0 - differ as f64;
        if away.abs() < self.least {
            return;
        }
        self.found.push(Telling { columns: columns(), correlation: 2.0 * away / self.rows as f64 });
        if self.found.len() >= 4 * self.most + 64 {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        let key = |telling: &Telling| telling.correlation.abs();
        self.found.sort_by(|a, b| key(b).total_cmp(&key(a)).then_with(|| a.columns.cmp(&b.columns)));
        self.found.truncate(self.most);
    }

    fn finish(mut self) -> Vec<Telling> {
        self.shorten();
        self.found
    }
}
