//! Learning one row at a time: the paper's definitions, written plainly.
//!
//! [`fit_tree`] gives the same tree as [`learn::fit_tree`](super::fit_tree), many times slower. Tests compare the two,
//! and `gatewood bench` measures how much the bit-parallel one gains.

use super::gate::{Fit, GateFitter};
use super::tree::{random_leaves, trials_by_subtree};
use super::{Criterion, Judge, TreeSettings};
use crate::Result;
use crate::bits::BitView;
use crate::circuit::{Shape, Tree, TruthTable};
use crate::random::{Purpose, Stream};

/// A gate that was fitted: its table, what it says for every row, and its score.
struct Fitted {
    table: Vec<u64>,
    outputs: Vec<bool>,
    fit: Fit,
}

/// Learns a tree by the definitions. The labels must be 0 or 1, with rows of both.
///
/// # Errors
/// When a setting is out of range.
pub fn fit_tree(bits: BitView<'_>, labels: &[u32], settings: &TreeSettings) -> Result<Tree> {
    settings.check()?;
    let (arity, depth) = (settings.arity, settings.depth);
    let shape = Shape::new(arity, depth)?;
    let ones = labels.iter().filter(|&&label| label == 1).count() as u32;
    let learner = Learner {
        rows: (0..bits.rows())
            .map(|row| (0..bits.columns()).map(|column| bits.get(row, column)).collect())
            .collect(),
        labels,
        settings,
        fitter: GateFitter::new([labels.len() as u32 - ones, ones], settings.unseen),
    };
    let mut leaves = random_leaves(settings.seed, shape.leaves, bits.columns())?;
    let trials = trials_by_subtree(settings)?;
    if !trials.is_empty() {
        let leaves_each = arity.pow(settings.height as u32);
        for (index, leaves) in leaves.chunks_mut(leaves_each).enumerate() {
            learner.climb(index, trials[index], leaves);
        }
    }
    let mut tables = Vec::new();
    let mut outputs = learner.leaf_values(&leaves);
    for level in 1..=depth {
        let fitted: Vec<Fitted> = outputs.chunks(arity).map(|inputs| learner.gate(level, inputs)).collect();
        outputs = fitted.iter().map(|gate| gate.outputs.clone()).collect();
        fitted.iter().for_each(|gate| tables.extend_from_slice(&gate.table));
    }
    Tree::new(arity, depth, bits.columns(), leaves, tables)
}

struct Learner<'a> {
    rows: Vec<Vec<bool>>,
    labels: &'a [u32],
    settings: &'a TreeSettings,
    fitter: GateFitter,
}

impl Learner<'_> {
    /// What each leaf says for every row.
    fn leaf_values(&self, leaves: &[u32]) -> Vec<Vec<bool>> {
        leaves.iter().map(|&leaf| self.rows.iter().map(|row| row[leaf as usize]).collect()).collect()
    }

    /// Counts the rows of each class at each address, one by one, and fits the gate.
    fn gate(&self, level: usize, inputs: &[Vec<bool>]) -> Fitted {
        let mut counts = [vec![0u32; 1 << inputs.len()], vec![0u32; 1 << inputs.len()]];
        let addresses: Vec<usize> = (0..self.rows.len())
            .map(|row| inputs.iter().enumerate().fold(0, |a, (j, input)| a | usize::from(input[row]) << j))
            .collect();
        for (&address, &label) in addresses.iter().zip(self.labels) {
            counts[label as usize][address] += 1;
        }
        let criterion =
            if level == self.settings.depth { Criterion::Accuracy } else { self.settings.criterion };
        let mut table = vec![0; TruthTable::words_for(inputs.len())];
        let fit = self.fitter.fit(criterion, &counts[0], &counts[1], &mut table);
        let outputs =
            addresses.iter().map(|address| table[address / 64] >> (address % 64) & 1 != 0).collect();
        Fitted { table, outputs, fit }
    }

    /// The score of the judge of a subtree with these leaves.
    fn judge(&self, leaves: &[u32]) -> i64 {
        let mut outputs = self.leaf_values(leaves);
        for level in 1..=self.settings.height {
            let fitted: Vec<Fitted> =
                outputs.chunks(self.settings.arity).map(|inputs| self.gate(level, inputs)).collect();
            if level == self.settings.height {
                return match self.settings.judge {
                    Judge::Better => fitted[0].fit.score,
                    Judge::NotWorse => {
                        let right = fitted[0].outputs.iter().zip(self.labels);
                        right.filter(|&(&output, &label)| output == (label == 1)).count() as i64
                    }
                };
            }
            outputs = fitted.into_iter().map(|gate| gate.outputs).collect();
        }
        unreachable!("the judge is at the height of the subtree")
    }

    fn climb(&self, index: usize, trials: u32, leaves: &mut [u32]) {
        let columns = self.rows[0].len() as u32;
        if columns < 2 {
            return;
        }
        let mut stream = Stream::new(self.settings.seed, Purpose::Climb, index as u64);
        let mut score = self.judge(leaves);
        for _ in 0..trials {
            let leaf = stream.below(leaves.len() as u32) as usize;
            let column = stream.below(columns - 1);
            let before = std::mem::replace(&mut leaves[leaf], column);
            leaves[leaf] += u32::from(column >= before);
            let changed = self.judge(leaves);
            if changed > score || changed == score && self.settings.judge == Judge::NotWorse {
                score = changed;
            } else {
                leaves[leaf] = before;
            }
        }
    }
}
