//! What boosting knows of its rows: margins and gradients.

use std::ops::Range;

use rayon::prelude::*;

use super::focus::Focus;
use super::link::{Link, ONE, POINT};
use crate::bits::BitView;
use crate::bits::kernels::Kernels;
use crate::circuit::{CHUNK_ROWS, Scratch, VoteTree, add_votes, in_pieces};

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

/// Rows whose probabilities, none below 2^-[`POINT`], are multiplied before a logarithm is taken.
const LOG_ROWS: usize = 32;

/// Rows whose votes are one piece of work, for one thread: many enough to be worth handing out.
const PIECE_ROWS: usize = 1024;

/// Gradient and curvature, summed over the rows of one address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) gradient: i64,
    pub(super) curvature: i64,
}

impl Sums {
    #[inline]
    fn add(&mut self, gradient: i32, weight: i64) {
        let size = u64::from(gradient.unsigned_abs());
        self.gradient += i64::from(gradient) * weight;
        self.curvature += ((size * (u64::from(ONE) - size)) >> POINT) as i64 * weight;
    }
}

/// Adds up what was summed over some rows and over others.
fn add_sums(sums: Option<Vec<Sums>>, others: Option<Vec<Sums>>) -> Option<Vec<Sums>> {
    let (Some(mut sums), Some(others)) = (sums.clone(), &others) else { return sums.or(others) };
    for (sum, other) in sums.iter_mut().zip(others) {
        sum.gradient += other.gradient;
        sum.curvature += other.curvature;
    }
    Some(sums)
}

/// A tree whose addresses gradients are to be summed over.
pub(super) struct Summand<'a> {
    /// The address of every row.
    pub(super) addresses: &'a [u16],
    /// How many addresses there are.
    pub(super) count: usize,
    /// Which rows it was climbed among, where others were kept apart, else empty: they count for [`CLIMBED_PART`].
    pub(super) climbed: &'a [bool],
}

impl Summand<'_> {
    /// The sums over some rows, given the gradients of these and the weights of all.
    fn sums(&self, gradients: &[i32], weights: &[u32], range: Range<usize>) -> Vec<Sums> {
        let mut sums = vec![Sums::default(); self.count];
        let rows = gradients.iter().zip(&self.addresses[range.clone()]);
        match (weights.get(range.clone()), self.climbed.get(range)) {
            (None, None) => rows.for_each(|(&gradient, &address)| {
                sums[address as usize].add(gradient, WEIGHT_ONE.into());
            }),
            (Some(weights), None) => rows.zip(weights).for_each(|((&gradient, &address), &weight)| {
                sums[address as usize].add(gradient, weight.into());
            }),
            (weights, Some(climbed)) => {
                for (i, ((&gradient, &address), &climbed)) in rows.zip(climbed).enumerate() {
                    let weight = i64::from(weights.map_or(WEIGHT_ONE, |weights| weights[i]));
                    let weight = if climbed { weight / CLIMBED_PART } else { weight };
                    sums[address as usize].add(gradient, weight);
                }
            }
        }
        sums
    }
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
    /// How far each margin falls short of what the row's label asks for: one less the probability of a margin's class for
    /// rows of that class, minus it for others. Never zero, so the sign tells the label. One list a margin.
    pub(super) gradients: Vec<Vec<i32>>,
    /// How many leaves of the trees so far read each column.
    pub(super) uses: Vec<u32>,
    /// Two classes: whether the first rounds told nearly all rows rightly, once they are over.
    pub(super) easy: Option<bool>,
}

impl<'a> State<'a> {
    pub(super) fn new(
        examples: &Examples<'a>,
        weights: Vec<u32>,
        margins: Vec<Vec<i32>>,
        link: &Link,
    ) -> Self {
        let gradients = margins.iter().map(|margins| vec![0; margins.len()]).collect();
        let uses = vec![0; examples.bits.columns()];
        let mut state = Self {
            bits: examples.bits,
            labels: examples.labels,
            weights,
            margins,
            gradients,
            uses,
            easy: None,
        };
        state.vote(&[], link);
        state
    }

    /// Adds the votes of trees, given the address of every row in each, and brings the gradients up to date.
    pub(super) fn vote(&mut self, trees: &[(&VoteTree, &[u16])], link: &Link) {
        self.vote_and_sum(trees, link, None);
    }

    /// As [`State::vote`]; then gives [`State::sums`] of the first margin for the next tree, while the rows are at hand.
    pub(super) fn vote_and_sum(
        &mut self,
        trees: &[(&VoteTree, &[u16])],
        link: &Link,
        next: Option<&Summand<'_>>,
    ) -> Vec<Sums> {
        let (labels, weights) = (self.labels, &self.weights[..]);
        let pieces = in_pieces(&mut self.margins, PIECE_ROWS).into_par_iter();
        let pieces = pieces.zip(in_pieces(&mut self.gradients, PIECE_ROWS));
        let sums = pieces.zip(labels.par_chunks(PIECE_ROWS)).enumerate().map(
            |(piece, ((mut margins, mut gradients), labels))| {
                let rows = piece * PIECE_ROWS..piece * PIECE_ROWS + labels.len();
                for &(tree, addresses) in trees {
                    add_votes(tree, &addresses[rows.clone()], &mut margins);
                }
                link.gradients(&margins, labels, &mut gradients);
                next.map(|next| next.sums(gradients[0], weights, rows))
            },
        );
        sums.reduce(|| None, add_sums).unwrap_or_default()
    }

    /// Adds the votes of a tree, and leaves the gradients as they are.
    pub(super) fn add(&mut self, tree: &VoteTree, addresses: &[u16]) {
        let pieces =
            in_pieces(&mut self.margins, CHUNK_ROWS).into_par_iter().zip(addresses.par_chunks(CHUNK_ROWS));
        pieces.for_each(|(mut margins, addresses)| add_votes(tree, addresses, &mut margins));
    }

    /// What each row is drawn by for a margin: by the size of its gradient, times what the row counts for.
    pub(super) fn pulls(&self, margin: usize, focus: &Focus) -> Vec<u32> {
        self.weighted(self.gradients[margin].iter().map(|gradient| focus.of(gradient.unsigned_abs())))
    }

    /// The gradient of each row for a group of classes taken as one, which `inside` names; above zero for rows inside.
    pub(super) fn group_gradients(&self, inside: &[bool]) -> Vec<i32> {
        let mut sums = vec![0i32; self.labels.len()];
        for (gradients, _) in self.gradients.iter().zip(inside).filter(|(_, inside)| **inside) {
            sums.iter_mut().zip(gradients).for_each(|(sum, &gradient)| *sum += gradient);
        }
        sums
    }

    /// Sizes of gradients, each times what the row counts for.
    pub(super) fn weighted(&self, sizes: impl Iterator<Item = u32>) -> Vec<u32> {
        if self.weights.is_empty() {
            return sizes.collect();
        }
        let weigh = |(size, &weight): (u32, &u32)| ((u64::from(size) * u64::from(weight)) >> 8) as u32;
        sizes.zip(&self.weights).map(weigh).collect()
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

    /// The sums of one margin's gradients over the rows of each address.
    pub(super) fn sums(&self, margin: usize, summand: &Summand<'_>) -> Vec<Sums> {
        let gradients = self.gradients[margin].par_chunks(CHUNK_ROWS).enumerate();
        let sums = gradients.map(|(chunk, gradients)| {
            let start = chunk * CHUNK_ROWS;
            Some(summand.sums(gradients, &self.weights, start..start + gradients.len()))
        });
        sums.reduce(|| None, add_sums).unwrap_or_default()
    }

    /// Takes note of the columns that trees read.
    pub(super) fn note_uses<'t>(&mut self, trees: impl IntoIterator<Item = &'t VoteTree>) {
        for &column in trees.into_iter().flat_map(VoteTree::leaves) {
            self.uses[column as usize] += 1;
        }
    }

    /// Of the rows: the share whose class is not what the margins say, and the mean of minus the logarithm of the
    /// probability of their class.
    pub(super) fn judge(&self) -> (f64, f64) {
        let chunks = self.labels.par_chunks(CHUNK_ROWS).enumerate();
        let judge = |(chunk, labels): (usize, &[u32])| {
            let first = chunk * CHUNK_ROWS;
            let (mut wrong, mut loss) = (0u64, 0i64);
            for (part, labels) in labels.chunks(LOG_ROWS).enumerate() {
                // One logarithm for many rows: that of the product of their probabilities.
                let mut product = 1.0;
                for (i, &label) in labels.iter().enumerate() {
                    let row = first + part * LOG_ROWS + i;
                    let label = label as usize;
                    let (said, gradient) = match (&self.margins[..], &self.gradients[..]) {
                        ([margins], [gradients]) => (usize::from(margins[row] > 0), gradients[row]),
                        (margins, gradients) => {
                            let best = |best: usize, class: usize| {
                                if margins[class][row] > margins[best][row] { class } else { best }
                            };
                            ((1..margins.len()).fold(0, best), gradients[label][row])
                        }
                    };
                    wrong += u64::from(said != label);
                    product *= f64::from(ONE - gradient.unsigned_abs()) * (1.0 / ONE as f64);
                }
                // In fixed point, so that the sum does not depend on its order.
                loss -= (libm::log(product) * f64::from(1 << 20)) as i64;
            }
            (wrong, loss)
        };
        let (wrong, loss) = chunks.map(judge).reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        let rows = self.labels.len().max(1) as f64;
        (wrong as f64 / rows, loss as f64 / f64::from(1 << 20) / rows)
    }
}
