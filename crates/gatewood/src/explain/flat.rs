//! A tree of a grove as a function of the encoder's bits, evaluated for 64 rows at a time.

use crate::circuit::{Grove, Span, TruthTable, VoteTree};

/// A tree over the bits that it reads, itself or through the gates that trees share.
///
/// Signals are numbered: first the bits in [`Flat::inputs`], then the gates in the order they are evaluated.
#[derive(Debug, Clone)]
pub(super) struct Flat<'g> {
    tree: &'g VoteTree,
    inputs: Vec<u32>,
    gates: Vec<Gate>,
    /// The signals that make the root's address, the lowest bit first.
    root: Vec<usize>,
}

#[derive(Debug, Clone)]
struct Gate {
    words: Vec<u64>,
    reads: Vec<usize>,
}

impl<'g> Flat<'g> {
    /// A tree over the encoder's bits.
    pub(super) fn new(grove: &Grove, tree: &'g VoteTree) -> Self {
        Self::over(tree, |leaf| grove.span(leaf))
    }

    /// A tree over the columns that its leaves read, shared gates among them.
    pub(super) fn over_columns(tree: &'g VoteTree) -> Self {
        Self::over(tree, |_| None)
    }

    fn over<'s>(tree: &'g VoteTree, span_of: impl Fn(u32) -> Option<&'s Span>) -> Self {
        let mut inputs: Vec<u32> = tree
            .leaves()
            .iter()
            .flat_map(|&leaf| span_of(leaf).map_or_else(|| vec![leaf], |span| span.columns().to_vec()))
            .collect();
        inputs.sort_unstable();
        inputs.dedup();
        let signal = |bit: u32| inputs.binary_search(&bit).expect("every bit that is read is listed");
        let mut gates = Vec::new();
        let mut shared: Vec<(u32, usize)> = Vec::new();
        let mut below: Vec<usize> = Vec::with_capacity(tree.leaves().len());
        for &leaf in tree.leaves() {
            let Some(span) = span_of(leaf) else {
                below.push(signal(leaf));
                continue;
            };
            let known = shared.iter().find(|(other, _)| *other == leaf).map(|(_, signal)| *signal);
            below.push(known.unwrap_or_else(|| {
                let number = inputs.len() + gates.len();
                gates.push(Gate {
                    words: Self::table_of(span),
                    reads: span.columns().iter().map(|&bit| signal(bit)).collect(),
                });
                shared.push((leaf, number));
                number
            }));
        }
        for level in 1..tree.depth() {
            below = below
                .chunks(tree.arities()[level - 1])
                .enumerate()
                .map(|(index, reads)| {
                    gates
                        .push(Gate { words: tree.table_words(level, index).to_vec(), reads: reads.to_vec() });
                    inputs.len() + gates.len() - 1
                })
                .collect();
        }
        Self { tree, inputs, gates, root: below }
    }

    /// The words of the table of a gate that trees share: whatever it computes, asked one address at a time.
    pub(super) fn table_of(span: &Span) -> Vec<u64> {
        let columns = span.columns();
        let table = TruthTable::from_fn(columns.len(), |address| {
            span.holds(|column| {
                columns
                    .iter()
                    .position(|&other| other as usize == column)
                    .is_some_and(|j| address >> j & 1 != 0)
            })
        });
        table.words().to_vec()
    }

    /// The gates: the words of each table, and the signals it reads.
    pub(super) fn gates(&self) -> impl Iterator<Item = (&[u64], &[usize])> {
        self.gates.iter().map(|gate| (&gate.words[..], &gate.reads[..]))
    }

    /// The signals that make the root's address, the lowest bit first.
    pub(super) fn root(&self) -> &[usize] {
        &self.root
    }

    /// The columns that it reads, ascending.
    pub(super) fn inputs(&self) -> &[u32] {
        &self.inputs
    }

    pub(super) fn tree(&self) -> &'g VoteTree {
        self.tree
    }

    /// Adds the values of all gates to those of the inputs, 64 rows in each word.
    pub(super) fn evaluate(&self, values: &mut Vec<u64>, scratch: &mut Vec<u64>) {
        debug_assert_eq!(values.len(), self.inputs.len());
        for gate in &self.gates {
            let value = look_up(&gate.words, &gate.reads, values, scratch);
            values.push(value);
        }
    }

    /// The root's address in one row of evaluated values.
    pub(super) fn address(&self, values: &[u64], row: usize) -> usize {
        self.root
            .iter()
            .enumerate()
            .fold(0, |address, (place, &signal)| address | ((values[signal] >> row & 1) as usize) << place)
    }

    /// The root's address for every value of the inputs, input `j` being bit `j`.
    pub(super) fn addresses(&self) -> Vec<u16> {
        let count = 1usize << self.inputs.len();
        let mut all = Vec::with_capacity(count);
        let (mut values, mut scratch) = (Vec::new(), Vec::new());
        for first in (0..count).step_by(64) {
            values.clear();
            values.extend((0..self.inputs.len()).map(|input| lanes(input, first)));
            self.evaluate(&mut values, &mut scratch);
            all.extend((0..64.min(count - first)).map(|row| self.address(&values, row) as u16));
        }
        all
    }
}

/// Bit `bit` of the numbers `first` to `first + 63`, where `first` is a multiple of 64.
pub(super) fn lanes(bit: usize, first: usize) -> u64 {
    const LOW: [u64; 6] = [
        0xaaaa_aaaa_aaaa_aaaa,
        0xcccc_cccc_cccc_cccc,
        0xf0f0_f0f0_f0f0_f0f0,
        0xff00_ff00_ff00_ff00,
        0xffff_0000_ffff_0000,
        0xffff_ffff_0000_0000,
    ];
    LOW.get(bit).copied().unwrap_or_else(|| 0u64.wrapping_sub((first >> bit & 1) as u64))
}

/// A table's output in 64 rows: halved by one input after the other.
fn look_up(words: &[u64], reads: &[usize], values: &[u64], scratch: &mut Vec<u64>) -> u64 {
    let bit = |address: usize| 0u64.wrapping_sub(words[address / 64] >> (address % 64) & 1);
    scratch.clear();
    let Some((&lowest, others)) = reads.split_first() else { return bit(0) };
    let select = values[lowest];
    scratch
        .extend((0..1usize << others.len()).map(|pair| bit(2 * pair) & !select | bit(2 * pair + 1) & select));
    for &read in others {
        let select = values[read];
        let half = scratch.len() / 2;
        for pair in 0..half {
            scratch[pair] = scratch[2 * pair] & !select | scratch[2 * pair + 1] & select;
        }
        scratch.truncate(half);
    }
    scratch[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::testing::random_span_grove;

    #[test]
    fn a_flat_tree_has_the_address_of_the_tree() {
        for seed in 0..30 {
            let grove = random_span_grove(seed, 9, 2 + seed as usize % 3, 6, 20);
            for tree in grove.trees() {
                let flat = Flat::new(&grove, tree);
                let addresses = flat.addresses();
                for row in 0..1usize << 9 {
                    let bit = |column: usize| row >> column & 1 != 0;
                    let wide = |column: usize| {
                        grove.span(column as u32).map_or_else(|| bit(column), |s| s.holds(bit))
                    };
                    let key = flat
                        .inputs()
                        .iter()
                        .enumerate()
                        .fold(0, |key, (j, &input)| key | usize::from(bit(input as usize)) << j);
                    assert_eq!(usize::from(addresses[key]), tree.address(wide));
                }
            }
        }
    }
}
