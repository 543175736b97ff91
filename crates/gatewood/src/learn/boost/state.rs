//! What boosting knows of its rows: margins and gradients.

use std::ops::Range;

use rayon::prelude::*;

use super::focus::Focus;
use super::link::Link;
use super::sample::Pulls;
use crate::bits::BitView;
use crate::bits::kernels::{Kernels, Sums};
use crate::circuit::{CHUNK_ROWS, Scratch, VoteTree, Wide, add_votes, in_pieces};
use crate::pool::each_awake;

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

/// Rows whose votes are made at a time: what is known of them stays in the first-level cache.
const PIECE_ROWS: usize = 1024;

/// Rows whose votes are worth handing to another thread, and how many times one is handed some.
const PART_ROWS: usize = 4096;
const PARTS_A_THREAD: usize = 4;

/// Adds up what was summed over some rows and over others.
fn add_sums(sums: Option<Vec<Sums>>, others: Option<Vec<Sums>>) -> Option<Vec<Sums>> {
    let (mut sums, others) = match (sums, others) {
        (Some(sums), Some(others)) => (sums, others),
        (sums, others) => return sums.or(others),
    };
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
    /// The same for some of the rows.
    fn part(&self, rows: Range<usize>) -> Summand<'_> {
        let climbed = self.climbed.get(rows.clone()).unwrap_or_default();
        Summand { addresses: &self.addresses[rows], count: self.count, climbed }
    }

    /// The sums over the rows.
    fn sums(&self, kernels: Kernels, gradients: &[i32], weights: Option<&[u32]>) -> Vec<Sums> {
        let mut sums = vec![Sums::default(); self.count];
        if weights.is_none() && self.climbed.is_empty() {
            kernels.sum(self.addresses, gradients, &mut sums);
            sums.iter_mut().for_each(|sums| sums.weigh(WEIGHT_ONE.into()));
            return sums;
        }
        for (i, (&gradient, &address)) in gradients.iter().zip(self.addresses).enumerate() {
            let weight = i64::from(weights.map_or(WEIGHT_ONE, |weights| weights[i]));
            let part = if self.climbed.get(i) == Some(&true) { CLIMBED_PART } else { 1 };
            sums[address as usize].add(gradient, weight / part);
        }
        sums
    }
}

/// How many of some rows a thread has at a time, whole pieces: all where they are not worth sharing.
fn part_rows(rows: usize) -> usize {
    let parts = (rows / PART_ROWS).clamp(1, PARTS_A_THREAD * rayon::current_num_threads());
    rows.div_ceil(parts).next_multiple_of(PIECE_ROWS).max(PIECE_ROWS)
}

/// The margins of all rows of a set, and what follows from them.
#[derive(Debug)]
pub(super) struct State<'a> {
    pub(super) wide: Wide<'a>,
    pub(super) labels: &'a [u32],
    kernels: Kernels,
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
        wide: Wide<'a>,
        labels: &'a [u32],
        weights: Vec<u32>,
        margins: Vec<Vec<i32>>,
        link: &Link,
        kernels: Kernels,
    ) -> Self {
        let gradients = margins.iter().map(|margins| vec![0; margins.len()]).collect();
        let uses = vec![0; wide.columns()];
        let mut state = Self { wide, labels, kernels, weights, margins, gradients, uses, easy: None };
        state.vote(&[], link);
        state
    }

    /// Adds the votes of trees, given the address of every row in each, and brings the gradients up to date.
    pub(super) fn vote(&mut self, trees: &[(&VoteTree, &[u16])], link: &Link) {
        let pieces = in_pieces(&mut self.margins, PIECE_ROWS).into_par_iter();
        let pieces = pieces.zip(in_pieces(&mut self.gradients, PIECE_ROWS));
        let pieces = pieces.zip(self.labels.par_chunks(PIECE_ROWS)).enumerate();
        pieces.for_each(|(piece, ((mut margins, mut gradients), labels))| {
            let rows = piece * PIECE_ROWS..piece * PIECE_ROWS + labels.len();
            for &(tree, addresses) in trees {
                add_votes(tree, &addresses[rows.clone()], &mut margins);
            }
            link.gradients(&margins, labels, &mut gradients);
        });
    }

    /// Two classes: adds the votes of a tree, given the address of every row, and brings the gradients up to date; then
    /// sums them for the next tree, while the rows are at hand.
    pub(super) fn vote_and_sum(
        &mut self,
        voter: Option<(&VoteTree, &[u16])>,
        next: Option<Summand<'_>>,
        link: &Link,
    ) -> Vec<Sums> {
        let (labels, kernels, weights) = (self.labels, self.kernels, &self.weights[..]);
        let rows = part_rows(labels.len());
        let both = self.margins[0].chunks_mut(rows).zip(self.gradients[0].chunks_mut(rows));
        let parts = both.enumerate().map(|(part, both)| (part * rows, both)).collect();
        let sums = each_awake(parts, |(start, (margins, gradients)): (usize, (&mut [i32], &mut [i32]))| {
            let mut sums = None;
            let pieces = margins.chunks_mut(PIECE_ROWS).zip(gradients.chunks_mut(PIECE_ROWS));
            for (first, (margins, gradients)) in (start..).step_by(PIECE_ROWS).zip(pieces) {
                let rows = first..first + margins.len();
                if let Some((tree, addresses)) = voter {
                    let tree = (tree, &addresses[rows.clone()]);
                    link.vote(kernels, tree, &labels[rows.clone()], margins, gradients);
                }
                if let Some(next) = &next {
                    let here = next.part(rows.clone()).sums(kernels, gradients, weights.get(rows));
                    sums = add_sums(sums, Some(here));
                }
            }
            sums
        });
        sums.into_iter().fold(None, add_sums).unwrap_or_default()
    }

    /// Adds the votes of a tree, and leaves the gradients as they are.
    pub(super) fn add(&mut self, tree: &VoteTree, addresses: &[u16]) {
        let pieces =
            in_pieces(&mut self.margins, CHUNK_ROWS).into_par_iter().zip(addresses.par_chunks(CHUNK_ROWS));
        pieces.for_each(|(mut margins, addresses)| add_votes(tree, addresses, &mut margins));
    }

    /// What each row is drawn by, given its gradient: by the size of that, times what the row counts for; nothing, where
    /// it is not among those told.
    pub(super) fn pulls(&self, gradients: &[i32], focus: &Focus, among: &[bool]) -> Vec<Pulls> {
        let rows = part_rows(gradients.len());
        let parts = gradients.chunks(rows).enumerate().map(|(part, gradients)| (part * rows, gradients));
        each_awake(parts.collect(), |(first, gradients): (usize, &[i32])| {
            let mut pulls = vec![0; gradients.len()];
            self.kernels.pulls(gradients, focus.powers(), &mut pulls);
            if let Some(weights) = self.weights.get(first..) {
                let weigh = |pull: u32, weight: u32| ((u64::from(pull) * u64::from(weight)) >> 8) as u32;
                pulls.iter_mut().zip(weights).for_each(|(pull, &weight)| *pull = weigh(*pull, weight));
            }
            let among = among.get(first..).unwrap_or_default();
            pulls.iter_mut().zip(among).for_each(|(pull, &among)| *pull *= u32::from(among));
            let total = pulls.iter().map(|&pull| u64::from(pull)).sum();
            Pulls { first, pulls, total }
        })
    }

    /// The gradient of each row for a group of classes taken as one, which `inside` names; above zero for rows inside.
    pub(super) fn group_gradients(&self, inside: &[bool]) -> Vec<i32> {
        let mut sums = vec![0i32; self.labels.len()];
        for (gradients, _) in self.gradients.iter().zip(inside).filter(|(_, inside)| **inside) {
            sums.iter_mut().zip(gradients).for_each(|(sum, &gradient)| *sum += gradient);
        }
        sums
    }

    /// The root address of every row.
    pub(super) fn addresses(&self, tree: &VoteTree) -> Vec<u16> {
        let mut addresses = vec![0u16; self.labels.len()];
        addresses.par_chunks_mut(CHUNK_ROWS).enumerate().for_each_init(
            Scratch::default,
            |scratch, (chunk, addresses)| {
                tree.addresses(self.wide, chunk * CHUNK_ROWS, self.kernels, scratch, addresses);
            },
        );
        addresses
    }

    /// The sums of one margin's gradients over the rows of each address.
    pub(super) fn sums(&self, margin: usize, summand: &Summand<'_>) -> Vec<Sums> {
        let gradients = self.gradients[margin].par_chunks(CHUNK_ROWS).enumerate();
        let sums = gradients.map(|(chunk, gradients)| {
            let start = chunk * CHUNK_ROWS;
            let rows = start..start + gradients.len();
            Some(summand.part(rows.clone()).sums(self.kernels, gradients, self.weights.get(rows)))
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
            let rows = chunk * CHUNK_ROWS..chunk * CHUNK_ROWS + labels.len();
            let (wrong, log) = match (&self.margins[..], &self.gradients[..]) {
                ([margins], [gradients]) => {
                    let (margins, gradients) = (&margins[rows.clone()], &gradients[rows]);
                    let is_wrong = |(&margin, &gradient): (&i32, &i32)| (margin > 0) != (gradient > 0);
                    let wrong = margins.iter().zip(gradients).filter(|&row| is_wrong(row)).count();
                    (wrong, self.kernels.log_likelihood(gradients))
                }
                (margins, gradients) => {
                    let best = |row: usize| {
                        (1..margins.len()).fold(0, |best, class| {
                            if margins[class][row] > margins[best][row] { class } else { best }
                        })
                    };
                    let rows = || rows.clone().zip(labels.iter().map(|&label| label as usize));
                    let own: Vec<i32> = rows().map(|(row, label)| gradients[label][row]).collect();
                    let wrong = rows().filter(|&(row, label)| best(row) != label).count();
                    (wrong, self.kernels.log_likelihood(&own))
                }
            };
            // In fixed point, so that the sum does not depend on its order.
            (wrong as u64, (log * f64::from(1 << 20)) as i64)
        };
        let (wrong, log) = chunks.map(judge).reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        let rows = self.labels.len().max(1) as f64;
        (wrong as f64 / rows, -log as f64 / f64::from(1 << 20) / rows)
    }
}
