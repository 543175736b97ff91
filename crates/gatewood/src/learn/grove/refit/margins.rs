//! Margins of all rows, and what the loss gains when a gate says yes instead of no.

use super::rows::each_change;
use crate::bits::WORD_BITS;
use crate::circuit::CHUNK_ROWS;
use crate::learn::objective::WEIGHT_ONE;
use crate::platform::parallel::*;

/// The loss is counted in parts of this.
const PARTS: f32 = 65536.0;

/// Log-odds past which a margin is as good as sure: exponentials stay finite.
const SURE: f64 = 60.0;

/// A gate that votes and reads another: its margin, what it says now, and where the other says no and yes.
pub(super) struct Reader {
    pub(super) margin: usize,
    pub(super) now: Vec<u64>,
    pub(super) no: Vec<u64>,
    pub(super) yes: Vec<u64>,
}

/// The margins of all rows. Two classes have one, and class 1 is likely where it is large.
pub(super) struct Margins<'a> {
    targets: &'a [u32],
    /// What each row counts for, in fixed point; empty for one each.
    weights: &'a [u32],
    margins: Vec<Vec<i32>>,
    /// The exponentials of the margins of each row, those of a row side by side.
    powers: Vec<f32>,
    /// The exponentials of all classes, summed for each row.
    sums: Vec<f32>,
    /// Log-odds of a vote.
    unit: f64,
    exponentials: Vec<f32>,
}

impl<'a> Margins<'a> {
    /// Rows whose margins are the bias.
    pub(super) fn new(targets: &'a [u32], weights: &'a [u32], bias: &[i32], unit: f64) -> Self {
        let limit = (SURE / unit) as i32;
        let exponential = |margin: i32| libm::exp(unit * f64::from(margin)) as f32;
        let exponentials = (-limit..=limit).map(exponential).collect();
        let margins = bias.iter().map(|&bias| vec![bias; targets.len()]).collect();
        let (powers, sums) = (Vec::new(), Vec::new());
        let mut all = Self { targets, weights, margins, powers, sums, unit, exponentials };
        let row: Vec<f32> = bias.iter().map(|&bias| all.exponential(bias)).collect();
        all.powers = row.repeat(targets.len());
        all.sums = (0..targets.len()).map(|row| all.sum(row)).collect();
        all
    }

    fn exponential(&self, margin: i32) -> f32 {
        let limit = (self.exponentials.len() / 2) as i32;
        self.exponentials[(margin.clamp(-limit, limit) + limit) as usize]
    }

    fn sum(&self, row: usize) -> f32 {
        let classes = self.margins.len();
        let other = if classes == 1 { 1.0 } else { 0.0 };
        self.powers[row * classes..][..classes].iter().fold(other, |sum, power| sum + power)
    }

    /// The target of rows whose own margin this is.
    fn own(&self, margin: usize) -> u32 {
        if self.margins.len() == 1 { 1 } else { margin as u32 }
    }

    fn weighed(&self, row: usize, gain: f32) -> i32 {
        let gain = (gain * PARTS) as i32;
        match self.weights.get(row) {
            Some(&weight) => (i64::from(gain) * i64::from(weight) / i64::from(WEIGHT_ONE)) as i32,
            None => gain,
        }
    }

    /// Brings margins up to date when a gate that votes says something else.
    pub(super) fn change(&mut self, margin: usize, before: &[u64], after: &[u64]) {
        each_change(before, after, |row, yes| {
            self.margins[margin][row] += if yes { 2 } else { -2 };
            let power = self.exponential(self.margins[margin][row]);
            self.powers[row * self.margins.len() + margin] = power;
            self.sums[row] = self.sum(row);
        });
    }

    /// What the loss of each row grows by when a gate that votes says yes instead of no, given what it says now.
    pub(super) fn vote_gains(&self, margin: usize, now: &[u64], gains: &mut [i32]) {
        let (own, step) = (self.own(margin), 2.0 * self.unit as f32);
        let more = libm::expm1(2.0 * self.unit) as f32;
        gains.par_chunks_mut(CHUNK_ROWS).enumerate().for_each(|(chunk, gains)| {
            let first = chunk * CHUNK_ROWS;
            let margins = &self.margins[margin][first..];
            let rows = margins.iter().zip(&self.sums[first..]).zip(&self.targets[first..]);
            for (place, (gain, ((&margin, &sum), &target))) in gains.iter_mut().zip(rows).enumerate() {
                let row = first + place;
                let says = now[row / WORD_BITS] >> (row % WORD_BITS) & 1;
                let no = self.exponential(margin - 2 * says as i32);
                // What all classes sum up to where the gate says no: never less than that of its own.
                let all = (sum - self.exponential(margin) + no).max(no);
                let loss = log_of_one_and(no / all * more) - if target == own { step } else { 0.0 };
                *gain = self.weighed(row, loss);
            }
        });
    }

    /// What the loss of each row grows by when a shared gate says yes instead of no, given its readers.
    pub(super) fn shared_gains(&self, readers: &[Reader], gains: &mut [i32]) {
        let mut voted: Vec<usize> = readers.iter().map(|reader| reader.margin).collect();
        voted.sort_unstable();
        voted.dedup();
        // Where the votes of each reader are among those of the margins that any votes on.
        let places: Vec<usize> =
            readers.iter().map(|reader| voted.partition_point(|&m| m < reader.margin)).collect();
        gains.par_chunks_mut(CHUNK_ROWS).enumerate().for_each(|(chunk, gains)| {
            let words = chunk * CHUNK_ROWS / WORD_BITS..;
            let mut votes = vec![[0i32; 2]; voted.len()];
            for (word, gains) in words.zip(gains.chunks_mut(WORD_BITS)) {
                gains.fill(0);
                let mut left =
                    readers.iter().fold(0, |any, reader| any | (reader.no[word] ^ reader.yes[word]));
                while left != 0 {
                    let bit = left.trailing_zeros() as usize;
                    left &= left - 1;
                    let row = word * WORD_BITS + bit;
                    votes.fill([0; 2]);
                    for (Reader { now, no, yes, .. }, &place) in readers.iter().zip(&places) {
                        let [now, no, yes] = [now, no, yes].map(|says| (says[word] >> bit & 1) as i32);
                        votes[place][0] += 2 * (no - now);
                        votes[place][1] += 2 * (yes - now);
                    }
                    gains[bit] = self.weighed(row, self.loss_between(row, &voted, &votes));
                }
            }
        });
    }

    /// What the loss of a row grows by from the first votes more for some margins to the second.
    fn loss_between(&self, row: usize, voted: &[usize], votes: &[[i32; 2]]) -> f32 {
        let mut sums = [self.sums[row]; 2];
        let mut own = 0;
        for (&margin, votes) in voted.iter().zip(votes) {
            let there = self.margins[margin][row];
            let now = self.exponential(there);
            // Never less than that of one class.
            sums = [0, 1].map(|case| {
                let then = self.exponential(there + votes[case]);
                (sums[case] - now + then).max(then)
            });
            if self.own(margin) == self.targets[row] {
                own = votes[1] - votes[0];
            }
        }
        libm::logf(sums[1] / sums[0]) - self.unit as f32 * own as f32
    }

    /// The mean loss of rows, and how many are wrong.
    pub(super) fn loss(&self) -> (f64, usize) {
        let (mut loss, mut wrong) = (0i64, 0);
        for (row, &target) in self.targets.iter().enumerate() {
            let margin = |margin: usize| self.margins[margin][row];
            let (own, best) = match self.margins.len() {
                1 => (if target == 1 { margin(0) } else { 0 }, u32::from(margin(0) > 0)),
                classes => {
                    let best = (1..classes)
                        .fold(0, |best, class| if margin(class) > margin(best) { class } else { best });
                    (margin(target as usize), best as u32)
                }
            };
            let row_loss = libm::logf(self.sums[row]) - self.unit as f32 * own as f32;
            loss += i64::from(self.weighed(row, row_loss));
            wrong += usize::from(best != target);
        }
        (loss as f64 / f64::from(PARTS) / self.targets.len().max(1) as f64, wrong)
    }
}

/// The logarithm of one and a number that is not negative, to about a thousandth for numbers up to three.
fn log_of_one_and(more: f32) -> f32 {
    let part = more / (2.0 + more);
    let square = part * part;
    let series = 1.0 + square * (1.0 / 3.0 + square * (0.2 + square * (1.0 / 7.0 + square * (1.0 / 9.0))));
    2.0 * part * series
}
