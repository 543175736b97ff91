//! Learning one row at a time: the paper's definitions, written plainly.
//!
//! [`fit_tree`] gives the same tree as [`learn::fit_tree`](super::fit_tree), many times slower. Rows lie one after the
//! other with a byte for each bit, and every level of the tree goes through them twice: once to count the addresses its
//! gates see, once to write what the fitted gates say. Tests compare the two learners, and `gatewood bench` and `gatewood
//! paper timing` measure what working on whole words gains.

use super::fit::{random_leaves, trials_by_subtree};
use super::{Criterion, Judge, TreeSettings};
use crate::Result;
use crate::bits::BitView;
use crate::circuit::{Shape, Tree, TruthTable};
use crate::learn::gate::{Fit, GateFitter, LogTable};
use crate::pool::in_pool;
use crate::random::{Purpose, Stream};

/// Learns a tree by the definitions, on one thread. The labels must be 0 or 1, with rows of both.
///
/// # Errors
/// When a setting is out of range.
pub fn fit_tree(bits: BitView<'_>, labels: &[u32], settings: &TreeSettings) -> Result<Tree> {
    settings.check()?;
    let shape = Shape::new(settings.arity, settings.depth)?;
    let leaves = in_pool(1, || random_leaves(settings.seed, shape.leaves, bits.columns()))?;
    let trials = trials_by_subtree(settings)?;
    let ones = labels.iter().filter(|&&label| label == 1).count() as u32;
    let rows = [labels.len() as u32 - ones, ones];
    let fitter = GateFitter::new(rows, settings.unseen, LogTable::new(labels.len()));
    Learner { rows: Rows::of(bits), labels, settings, fitter }.tree(leaves, &trials)
}

/// Bits, a byte each, row after row.
struct Rows {
    width: usize,
    bytes: Vec<u8>,
}

impl Rows {
    fn zeros(count: usize, width: usize) -> Self {
        Self { width, bytes: vec![0; count * width] }
    }

    fn of(bits: BitView<'_>) -> Self {
        let mut rows = Self::zeros(bits.rows(), bits.columns());
        for (index, row) in rows.bytes.chunks_exact_mut(bits.columns()).enumerate() {
            for (column, byte) in row.iter_mut().enumerate() {
                *byte = u8::from(bits.get(index, column));
            }
        }
        rows
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.width)
    }
}

/// The address a row gives to the gate that reads it at `wires`.
#[inline]
fn address(row: &[u8], wires: &[u32]) -> usize {
    wires.iter().enumerate().fold(0, |address, (j, &wire)| address | usize::from(row[wire as usize]) << j)
}

/// What a table says at an address.
#[inline]
fn output(table: &[u64], address: usize) -> u8 {
    (table[address / 64] >> (address % 64) & 1) as u8
}

struct Learner<'a> {
    rows: Rows,
    labels: &'a [u32],
    settings: &'a TreeSettings,
    fitter: GateFitter,
}

impl Learner<'_> {
    fn tree(&self, mut leaves: Vec<u32>, trials: &[u32]) -> Result<Tree> {
        let (arity, depth) = (self.settings.arity, self.settings.depth);
        if !trials.is_empty() {
            let leaves_each = arity.pow(self.settings.height as u32);
            for (index, leaves) in leaves.chunks_mut(leaves_each).enumerate() {
                self.climb(index, trials[index], leaves);
            }
        }
        let (mut outputs, mut tables, _) = self.level(1, &self.rows, &leaves);
        for level in 2..=depth {
            let wires: Vec<u32> = (0..outputs.width as u32).collect();
            let (next, fitted, _) = self.level(level, &outputs, &wires);
            tables.extend(fitted);
            outputs = next;
        }
        Tree::new(arity, depth, self.rows.width, leaves, tables)
    }

    /// Fits the gates of a level, each to the inputs its wires name: what they say for every row, their tables, and the
    /// last one's fit.
    fn level(&self, level: usize, inputs: &Rows, wires: &[u32]) -> (Rows, Vec<u64>, Fit) {
        let arity = self.settings.arity;
        let (gates, addresses) = (wires.len() / arity, 1 << arity);
        let mut counts = vec![0u32; gates * 2 * addresses];
        for (row, &label) in inputs.iter().zip(self.labels) {
            let gates = wires.chunks_exact(arity).zip(counts.chunks_exact_mut(2 * addresses));
            for (wires, counts) in gates {
                counts[label as usize * addresses + address(row, wires)] += 1;
            }
        }
        let words = TruthTable::words_for(arity);
        let mut tables = vec![0; gates * words];
        let mut last = Fit { score: 0, ones: [0; 2] };
        for (counts, table) in counts.chunks_exact(2 * addresses).zip(tables.chunks_exact_mut(words)) {
            last = self.fit(level, counts, table);
        }
        let mut outputs = Rows::zeros(self.labels.len(), gates);
        for (row, said) in inputs.iter().zip(outputs.bytes.chunks_exact_mut(gates)) {
            let gates = wires.chunks_exact(arity).zip(tables.chunks_exact(words));
            for ((wires, table), said) in gates.zip(said) {
                *said = output(table, address(row, wires));
            }
        }
        (outputs, tables, last)
    }

    /// Fits a gate to the rows of class 0 and then of class 1 at each address. The root goes by accuracy.
    fn fit(&self, level: usize, counts: &[u32], table: &mut [u64]) -> Fit {
        let criterion =
            if level == self.settings.depth { Criterion::Accuracy } else { self.settings.criterion };
        let (zeros, ones) = counts.split_at(counts.len() / 2);
        self.fitter.fit(criterion, zeros, ones, table)
    }

    /// What the trials of a subtree are judged by.
    fn verdict(&self, fit: Fit) -> i64 {
        match self.settings.judge {
            Judge::Better => fit.score,
            // The rows it gets right, less a constant.
            Judge::NotWorse => i64::from(fit.ones[1]) - i64::from(fit.ones[0]),
        }
    }

    /// Climbs a subtree: each trial gives a leaf another column and fits the gates above it again.
    fn climb(&self, index: usize, trials: u32, leaves: &mut [u32]) {
        let columns = self.rows.width as u32;
        if columns < 2 {
            return;
        }
        let height = self.settings.height;
        let (first, _, fit) = self.level(1, &self.rows, leaves);
        // What the gates of each level say.
        let mut levels = vec![first];
        let mut best = self.verdict(fit);
        for level in 2..=height {
            let below = &levels[level - 2];
            let wires: Vec<u32> = (0..below.width as u32).collect();
            let (outputs, _, fit) = self.level(level, below, &wires);
            levels.push(outputs);
            best = self.verdict(fit);
        }
        let mut stream = Stream::new(self.settings.seed, Purpose::Climb, index as u64);
        for _ in 0..trials {
            let leaf = stream.below(leaves.len() as u32) as usize;
            let column = stream.below(columns - 1);
            let before = std::mem::replace(&mut leaves[leaf], column);
            leaves[leaf] += u32::from(column >= before);
            let (changed, verdict) = self.trial(leaf, leaves, &levels);
            if verdict > best || verdict == best && self.settings.judge == Judge::NotWorse {
                best = verdict;
                let mut gate = leaf;
                for (outputs, changed) in levels.iter_mut().zip(changed) {
                    gate /= self.settings.arity;
                    for (row, said) in outputs.bytes.chunks_exact_mut(outputs.width).zip(changed) {
                        row[gate] = said;
                    }
                }
            } else {
                leaves[leaf] = before;
            }
        }
    }

    /// Fits the gates above a leaf: what each of them says for every row, and the verdict of the highest.
    fn trial(&self, leaf: usize, leaves: &[u32], levels: &[Rows]) -> (Vec<Vec<u8>>, i64) {
        let arity = self.settings.arity;
        let mut changed: Vec<Vec<u8>> = Vec::new();
        let mut verdict = 0;
        let mut input = leaf;
        for level in 1..=self.settings.height {
            let gate = input / arity;
            let (inputs, wires): (&Rows, Vec<u32>) = match level {
                1 => (&self.rows, leaves[gate * arity..][..arity].to_vec()),
                _ => (&levels[level - 2], (0..arity).map(|j| (gate * arity + j) as u32).collect()),
            };
            // The input that changed is not in the rows yet, unless it is a leaf.
            let replaced = changed.last().map(|said| (input % arity, said));
            let address_of = |index: usize, row: &[u8]| {
                let address = address(row, &wires);
                replaced.map_or(address, |(j, said)| address & !(1 << j) | usize::from(said[index]) << j)
            };
            let mut counts = vec![0u32; 2 << arity];
            for (index, (row, &label)) in inputs.iter().zip(self.labels).enumerate() {
                counts[((label as usize) << arity) + address_of(index, row)] += 1;
            }
            let mut table = vec![0; TruthTable::words_for(arity)];
            verdict = self.verdict(self.fit(level, &counts, &mut table));
            let said = inputs.iter().enumerate().map(|(index, row)| output(&table, address_of(index, row)));
            let said = said.collect();
            changed.push(said);
            input = gate;
        }
        (changed, verdict)
    }
}
