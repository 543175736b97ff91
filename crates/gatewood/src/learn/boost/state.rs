//! What boosting knows of its rows: margins, probabilities, gradients.

use rayon::prelude::*;

use super::link::{Link, ONE, POINT};
use crate::bits::BitView;
use crate::bits::kernels::Kernels;
use crate::circuit::{CHUNK_ROWS, Scratch, VoteTree, add_votes, by_chunks};

/// Rows with their labels.
#[derive(Debug, Clone, Copy)]
pub struct Examples<'a> {
    /// The bits of each row.
    pub bits: BitView<'a>,
    /// The class of each row, from 0.
    pub labels: &'a [u32],
    /// What each row counts for; one each where not given.
    pub weights: Option<&'a [f64]>,
}

/// A weight of one, in fixed point.
pub(super) const WEIGHT_ONE: u32 = 1 << 8;

/// What a row the tree was climbed on counts for in the votes, beside rows kept apart: one part in so many.
const CLIMBED_PART: i64 = 4;

/// Gradient and curvature, summed over the rows of one address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) gradient: i64,
    pub(super) curvature: i64,
}

/// The margins of all rows of a set, and what follows from them.
#[derive(Debug)]
pub(super) struct State<'a> {
    pub(super) bits: BitView<'a>,
    pub(super) labels: &'a [u32],
    /// What each row counts for, in fixed point; empty for one each.
    pub(super) weights: Vec<u32>,
    /// One list a margin.
    pub(super) margins: Vec<Vec<i32>>,
    /// The probability of class 1, or of each class.
    pub(super) probabilities: Vec<Vec<u32>>,
    /// How many leaves of the trees so far read each column.
    pub(super) uses: Vec<u32>,
}

impl<'a> State<'a> {
    pub(super) fn new(
        examples: &Examples<'a>,
        weights: Vec<u32>,
        margins: Vec<Vec<i32>>,
        link: &Link,
    ) -> Self {
        let probabilities = margins.iter().map(|margins| vec![0; margins.len()]).collect();
        let uses = vec![0; examples.bits.columns()];
        let mut state =
            Self { bits: examples.bits, labels: examples.labels, weights, margins, probabilities, uses };
        state.refresh(link);
        state
    }

    /// Brings the probabilities up to date.
    pub(super) fn refresh(&mut self, link: &Link) {
        if let ([margins], [probabilities]) = (&self.margins[..], &mut self.probabilities[..]) {
            let chunks = margins.par_chunks(CHUNK_ROWS).zip(probabilities.par_chunks_mut(CHUNK_ROWS));
            chunks.for_each(|(margins, probabilities)| {
                for (probability, &margin) in probabilities.iter_mut().zip(margins) {
                    *probability = link.logistic(margin);
                }
            });
            return;
        }
        let mut pieces = by_chunks(&mut self.probabilities);
        let margins = &self.margins;
        pieces.par_iter_mut().enumerate().for_each(|(chunk, out)| {
            let start = chunk * CHUNK_ROWS;
            let margins: Vec<&[i32]> =
                margins.iter().map(|margins| &margins[start..start + out[0].len()]).collect();
            link.softmax(&margins, out);
        });
    }

    /// Whether a row is of the class that a margin stands for.
    #[inline]
    pub(super) fn is_of(&self, margin: usize, row: usize) -> bool {
        self.labels[row] == self.class_of_margin(margin)
    }

    fn class_of_margin(&self, margin: usize) -> u32 {
        if self.margins.len() == 1 { 1 } else { margin as u32 }
    }

    /// The size of each row's gradient for a margin.
    pub(super) fn pulls(&self, margin: usize) -> impl Iterator<Item = u32> + Clone {
        let class = self.class_of_margin(margin);
        let weights = &self.weights;
        self.probabilities[margin].iter().zip(self.labels).enumerate().map(
            move |(row, (&probability, &label))| {
                let pull = if label == class { ONE - probability } else { probability };
                match weights.get(row) {
                    Some(&weight) => ((u64::from(pull) * u64::from(weight)) >> 8) as u32,
                    None => pull,
                }
            },
        )
    }

    /// The size of each row's gradient for a group of classes taken as one, which `inside` names.
    pub(super) fn group_pulls(&self, inside: &[bool]) -> Vec<u32> {
        let mut pulls = vec![0u32; self.labels.len()];
        for (probabilities, _) in self.probabilities.iter().zip(inside).filter(|(_, inside)| **inside) {
            pulls.iter_mut().zip(probabilities).for_each(|(sum, &probability)| *sum += probability);
        }
        for (row, pull) in pulls.iter_mut().enumerate() {
            *pull = (*pull).min(ONE);
            if inside[self.labels[row] as usize] {
                *pull = ONE - *pull;
            }
            if let Some(&weight) = self.weights.get(row) {
                *pull = ((u64::from(*pull) * u64::from(weight)) >> 8) as u32;
            }
        }
        pulls
    }

    /// The root address of every row.
    pub(super) fn addresses(&self, tree: &VoteTree, kernels: Kernels) -> Vec<u16> {
        let mut addresses = vec![0u16; self.labels.len()];
        addresses.par_chunks_mut(CHUNK_ROWS).enumerate().for_each_init(
            Scratch::default,
            |scratch, (chunk, addresses)| {
                tree.addresses(self.bits, chunk * CHUNK_ROWS, kernels, scratch, addresses);
            },
        );
        addresses
    }

    /// The sums of one margin's gradients over the rows of each address. Rows the tree was climbed on, where others
    /// were kept apart, count for [`CLIMBED_PART`].
    pub(super) fn sums(&self, margin: usize, addresses: &[u16], count: usize, climbed: &[bool]) -> Vec<Sums> {
        let class = self.class_of_margin(margin);
        let add = |mut sums: Vec<Sums>, chunk: usize| {
            let start = chunk * CHUNK_ROWS;
            let end = addresses.len().min(start + CHUNK_ROWS);
            let rows = self.labels[start..end]
                .iter()
                .zip(&self.probabilities[margin][start..end])
                .zip(&addresses[start..end]);
            for (i, ((&label, &probability), &address)) in rows.enumerate() {
                let mut weight = i64::from(*self.weights.get(start + i).unwrap_or(&WEIGHT_ONE));
                if climbed.get(start + i) == Some(&true) {
                    weight /= CLIMBED_PART;
                }
                let sums = &mut sums[address as usize];
                let gradient = i64::from(u32::from(label == class) * ONE) - i64::from(probability);
                let curvature = (u64::from(probability) * u64::from(ONE - probability)) >> POINT;
                sums.gradient += gradient * weight;
                sums.curvature += curvature as i64 * weight;
            }
            sums
        };
        let chunks = addresses.len().div_ceil(CHUNK_ROWS);
        (0..chunks).into_par_iter().with_min_len(4).fold(|| vec![Sums::default(); count], add).reduce(
            || vec![Sums::default(); count],
            |mut sums, others| {
                for (sum, other) in sums.iter_mut().zip(others) {
                    sum.gradient += other.gradient;
                    sum.curvature += other.curvature;
                }
                sums
            },
        )
    }

    /// Takes note of the columns that trees read.
    pub(super) fn note_uses<'t>(&mut self, trees: impl IntoIterator<Item = &'t VoteTree>) {
        for &column in trees.into_iter().flat_map(VoteTree::leaves) {
            self.uses[column as usize] += 1;
        }
    }

    /// Adds a tree's votes, given the address of every row.
    pub(super) fn vote(&mut self, tree: &VoteTree, addresses: &[u16]) {
        let mut pieces = by_chunks(&mut self.margins);
        let pieces = pieces.par_iter_mut().zip(addresses.par_chunks(CHUNK_ROWS));
        pieces.for_each(|(margins, addresses)| add_votes(tree, addresses, margins));
    }

    /// Of the rows that count: the share whose class is not what the margins say, and the mean of minus the logarithm
    /// of the probability of their class.
    pub(super) fn judge(&self, counts: impl Fn(usize) -> bool + Sync) -> (f64, f64) {
        let rows = self.labels.len();
        let chunks = rows.div_ceil(CHUNK_ROWS);
        let (judged, wrong, loss) = (0..chunks)
            .into_par_iter()
            .map(|chunk| {
                let mut result = (0u64, 0u64, 0i64);
                for row in chunk * CHUNK_ROWS..rows.min((chunk + 1) * CHUNK_ROWS) {
                    if !counts(row) {
                        continue;
                    }
                    let label = self.labels[row] as usize;
                    let (said, probability) = match &self.margins[..] {
                        [margins] => {
                            let one = self.probabilities[0][row];
                            (usize::from(margins[row] > 0), if label == 1 { one } else { ONE - one })
                        }
                        margins => {
                            let said = (1..margins.len()).fold(0, |best, class| {
                                if margins[class][row] > margins[best][row] { class } else { best }
                            });
                            (said, self.probabilities[label][row])
                        }
                    };
                    result.0 += 1;
                    result.1 += u64::from(said != label);
                    let loss = -libm::logf(probability as f32 / ONE as f32);
                    // In fixed point, so that the sum does not depend on its order.
                    result.2 += (loss * (1 << 20) as f32) as i64;
                }
                result
            })
            .reduce(|| (0, 0, 0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2));
        let judged = judged.max(1) as f64;
        (wrong as f64 / judged, loss as f64 / f64::from(1 << 20) / judged)
    }
}
