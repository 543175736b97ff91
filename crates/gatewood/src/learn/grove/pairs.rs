//! Pairs of columns whose exclusive or tells the classes, which neither of them does: found by counting all pairs.
//!
//! A climb changes one leaf at a time, so that it finds such a pair by luck. Columns of these pairs count as read before the
//! first round, and are drawn as often as those that trees read.

use super::round::{Grower, Growing};
use crate::Result;
use crate::bits::kernels::Kernels;
use crate::learn::engine::{Direction, Engine};
use crate::learn::search::Sample;
use crate::random::{Purpose, Stream};

/// Columns up to which all pairs are counted.
const MOST_COLUMNS: usize = 512;

/// Pairs that are noted at the most, and how often each of their columns counts as read.
pub(super) const MOST_PAIRS: usize = 8;
pub(super) const USES: u32 = 64;

/// The stream that the rows to count over are drawn by: after those of all trees.
pub(super) const POSITION: u64 = (1 << 56) - 1;

/// How far two shares of ones are apart: of the rows of the lower side, and of the upper.
fn apart(ones: [u32; 2], rows: [u32; 2]) -> f64 {
    let share = |side: usize| f64::from(ones[side]) / f64::from(rows[side]);
    (share(1) - share(0)).abs()
}

/// What a pair tells, given the ones of its exclusive or and of both columns on each side: nothing where chance or one of the
/// columns would tell about as much.
pub(super) fn told(both: [u32; 2], singles: [[u32; 2]; 2], rows: [u32; 2], columns: usize) -> Option<f64> {
    let pairs = (columns * columns) as f64 / 2.0;
    // Of so many pairs, chance takes hardly one so many standard deviations away.
    let deviations = libm::sqrt(2.0 * libm::log(100.0 * pairs));
    let spread = libm::sqrt(0.25 / f64::from(rows[0]) + 0.25 / f64::from(rows[1]));
    let told = apart(both, rows);
    let alone = singles.map(|ones| apart(ones, rows));
    (told > deviations * spread && told > 3.0 * alone[0].max(alone[1])).then_some(told)
}

/// The most telling of the pairs found, the first of equals.
pub(super) fn most_telling(mut found: Vec<(f64, [u32; 2])>) -> Vec<[u32; 2]> {
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found.into_iter().take(MOST_PAIRS).map(|(_, pair)| pair).collect()
}

impl<E: Engine> Grower<'_, E> {
    /// Whether telling pairs are looked for.
    pub(super) fn seeks_pairs(&self) -> bool {
        self.plan.pairs && self.objective.margins() == 1 && self.inputs <= MOST_COLUMNS
    }

    /// The telling pairs of rows that no tree has voted on.
    pub(super) fn telling_pairs(&self, growing: &Growing<E>) -> Result<Vec<[u32; 2]>> {
        let mut stream = Stream::new(self.plan.seed, Purpose::Sample, POSITION);
        let picks = self.draw(Direction::Margin(0), growing, &[], &mut stream)?;
        if picks.iter().any(Vec::is_empty) {
            return Ok(Vec::new());
        }
        let chosen = self.choose(&mut stream);
        let sample = self.engine.fetch(self.engine.gather(&picks, &chosen)?)?;
        Ok(pairs_of(&sample, self.kernels))
    }
}

fn pairs_of(sample: &Sample, kernels: Kernels) -> Vec<[u32; 2]> {
    let (columns, rows) = (sample.columns.len(), sample.side_rows());
    let ones = |words: [&[u64]; 2]| words.map(|words| kernels.popcount(words) as u32);
    let singles: Vec<[u32; 2]> = (0..columns).map(|column| ones(sample.sides(column))).collect();
    let mut found = Vec::new();
    for first in 0..columns {
        for second in first + 1..columns {
            let (a, b) = (sample.sides(first), sample.sides(second));
            let both = [0, 1].map(|side| {
                let both = a[side].iter().zip(b[side]).map(|(a, b)| (a ^ b).count_ones());
                both.sum::<u32>()
            });
            if let Some(told) = told(both, [singles[first], singles[second]], rows, columns) {
                found.push((told, [sample.columns[first], sample.columns[second]]));
            }
        }
    }
    most_telling(found)
}
