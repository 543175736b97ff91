//! Adding up the votes of small trees without looking at single rows.

use super::grove_run::Scratch;
use super::predict::add_votes;
use super::{Grove, Target, VoteTree};
use crate::bits::kernels::{Ballot, Kernels, MAX_ROOT};
use crate::bits::{BitView, WORD_BITS};

/// Rows whose votes are added up at a time: the columns of a few thousand bits for them stay in the second-level cache.
const TALLY_ROWS: usize = 1024;

const TALLY_WORDS: usize = TALLY_ROWS / WORD_BITS;

/// Bits of a sum of votes at the most.
const MAX_PLANES: usize = 16;

/// A tree of two levels, ready for [`Kernels::vote`].
#[derive(Debug)]
struct Small {
    /// Its place among the grove's trees.
    tree: usize,
    tables: Vec<u64>,
    /// For each bit of its votes above the least of them, the table of that bit.
    votes: Vec<u16>,
}

/// The small trees that vote on one margin.
#[derive(Debug, Default)]
struct Group {
    trees: Vec<Small>,
    /// What the margin is before any vote above the least is added.
    base: i32,
    /// Bits of the sum of votes.
    planes: usize,
}

/// The trees of a grove, those apart whose votes can be added bit by bit.
#[derive(Debug)]
pub(super) struct Tally<'a> {
    grove: &'a Grove,
    groups: Vec<Group>,
    /// The other trees.
    others: Vec<&'a VoteTree>,
}

impl<'a> Tally<'a> {
    pub(super) fn new(grove: &'a Grove) -> Self {
        let mut groups: Vec<Group> =
            grove.bias().iter().map(|&base| Group { base, ..Group::default() }).collect();
        let mut others = Vec::new();
        let mut most = vec![0u64; groups.len()];
        for (index, tree) in grove.trees().iter().enumerate() {
            let Target::One(margin) = tree.target() else {
                others.push(tree);
                continue;
            };
            let margin = margin as usize;
            let (low, high) = tree
                .votes()
                .iter()
                .fold((i32::MAX, i32::MIN), |(low, high), &vote| (low.min(vote), high.max(vote)));
            let range = i64::from(high).abs_diff(i64::from(low));
            let fits =
                matches!(tree.arities(), [2..=6, 2..=MAX_ROOT]) && (most[margin] + range) >> MAX_PLANES == 0;
            let base = groups[margin].base.checked_add(low);
            let (true, Some(base)) = (fits, base) else {
                others.push(tree);
                continue;
            };
            most[margin] += range;
            let bits = 64 - range.leading_zeros();
            let table = |bit: u32| {
                tree.votes().iter().enumerate().fold(0u16, |table, (address, &vote)| {
                    table | ((((i64::from(vote) - i64::from(low)) >> bit & 1) as u16) << address)
                })
            };
            let tables = (0..tree.level_gates(1)).map(|gate| tree.table_words(1, gate)[0]).collect();
            let votes = (0..bits).map(table).collect();
            groups[margin].base = base;
            groups[margin].trees.push(Small { tree: index, tables, votes });
        }
        for (group, most) in groups.iter_mut().zip(most) {
            group.planes = (64 - most.leading_zeros()) as usize;
        }
        Self { grove, groups, others }
    }

    /// Writes the margins of rows from `first_row`, a multiple of the word; `addresses` is room to work in.
    pub(super) fn add_all(
        &self,
        bits: BitView<'_>,
        first_row: usize,
        kernels: Kernels,
        scratch: &mut Scratch,
        addresses: &mut Vec<u16>,
        margins: &mut [&mut [i32]],
    ) {
        addresses.resize(margins[0].len().max(TALLY_ROWS), 0);
        self.add_small(bits, first_row, kernels, margins, addresses);
        let addresses = &mut addresses[..margins[0].len()];
        for tree in &self.others {
            tree.addresses(bits, first_row, kernels, scratch, addresses);
            add_votes(tree, addresses, margins);
        }
    }

    /// The margins as far as the small trees tell them.
    fn add_small(
        &self,
        bits: BitView<'_>,
        first_row: usize,
        kernels: Kernels,
        margins: &mut [&mut [i32]],
        sums: &mut [u16],
    ) {
        let rows = margins[0].len();
        let mut planes = [0u64; MAX_PLANES * TALLY_WORDS];
        for start in (0..rows).step_by(TALLY_ROWS) {
            let rows = TALLY_ROWS.min(rows - start);
            let words = rows.div_ceil(WORD_BITS);
            let first = (first_row + start) / WORD_BITS;
            for (group, margins) in self.groups.iter().zip(&mut *margins) {
                let margins = &mut margins[start..start + rows];
                let planes = &mut planes[..group.planes * words];
                planes.fill(0);
                for small in &group.trees {
                    let tree = &self.grove.trees()[small.tree];
                    let mut inputs: [&[u64]; 6 * MAX_ROOT] = [&[]; 6 * MAX_ROOT];
                    for (input, &leaf) in inputs.iter_mut().zip(tree.leaves()) {
                        *input = &bits.column(leaf as usize)[first..first + words];
                    }
                    let ballot =
                        Ballot { arity: tree.arities()[0], tables: &small.tables, votes: &small.votes };
                    kernels.vote(ballot, &inputs[..tree.leaves().len()], words, planes);
                }
                if group.planes == 0 {
                    margins.fill(group.base);
                    continue;
                }
                let mut inputs: [&[u64]; MAX_PLANES] = [&[]; MAX_PLANES];
                for (input, plane) in inputs.iter_mut().zip(planes.chunks_exact(words)) {
                    *input = plane;
                }
                kernels.addresses(&inputs[..group.planes], &mut sums[..rows]);
                for (margin, &sum) in margins.iter_mut().zip(&sums[..rows]) {
                    *margin = group.base + i32::from(sum);
                }
            }
        }
    }
}
