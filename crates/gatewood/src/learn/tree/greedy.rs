//! Growing subtrees from the bottom up, each gate as if its output were the circuit's.

use super::climb::climb;
use super::{Criterion, Judge, TrainingView, TreeSettings};
use crate::bits::AlignedWords;
use crate::bits::kernels::Kernels;
use crate::circuit::{MAX_ARITY, TruthTable};
use crate::learn::Tracker;
use crate::learn::gate::{Fit, GateFitter};
use crate::{Error, Result};

/// The output of a gate for all training rows, or room for one.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) words: AlignedWords,
    /// Ones of each class.
    pub(super) ones: [u32; 2],
}

impl Column {
    pub(super) fn new(view: &TrainingView) -> Result<Self> {
        Ok(Self { words: AlignedWords::zeros(view.stride())?, ones: [0; 2] })
    }
}

/// The tables and leaves of a subtree, in the order of the whole tree.
#[derive(Debug, Default)]
pub(super) struct Branch {
    pub(super) leaves: Vec<u32>,
    /// One list of table words a level, the bottom first.
    pub(super) levels: Vec<Vec<u64>>,
}

impl Branch {
    pub(super) fn new(height: usize) -> Self {
        Self { leaves: Vec::new(), levels: vec![Vec::new(); height] }
    }
}

/// All that growing needs to know, the rows being held in some way.
pub(super) struct Grower<'a, V = TrainingView> {
    pub(super) view: &'a V,
    pub(super) kernels: Kernels,
    pub(super) fitter: GateFitter,
    pub(super) settings: &'a TreeSettings,
    /// The column each leaf of the tree starts with.
    pub(super) leaves: &'a [u32],
    /// How many trials fall on each subtree of the climbing height; empty without climbing.
    pub(super) trials: &'a [u32],
    pub(super) tracker: Tracker<'a>,
}

/// Room for the inputs of one gate at each level, so that growing a subtree takes no more memory.
pub(super) struct Scratch {
    levels: Vec<Vec<Column>>,
}

impl Scratch {
    pub(super) fn new(grower: &Grower<'_>, height: usize) -> Result<Self> {
        let arity = grower.settings.arity;
        let lowest = if grower.trials.is_empty() { 1 } else { grower.settings.height };
        let level = |level| match level {
            level if level <= lowest => Ok(Vec::new()),
            _ => (0..arity).map(|_| Column::new(grower.view)).collect::<Result<_>>(),
        };
        Ok(Self { levels: (0..=height).map(level).collect::<Result<_>>()? })
    }
}

impl Grower<'_> {
    /// Grows the subtree under gate `index` of a level; its output goes to `output`, its parts to the end of `branch`.
    pub(super) fn grow(
        &self,
        level: usize,
        index: usize,
        scratch: &mut Scratch,
        output: &mut Column,
        branch: &mut Branch,
    ) -> Result<()> {
        if level == self.settings.height && !self.trials.is_empty() {
            return climb(self, index, output, branch);
        }
        let arity = self.settings.arity;
        if level == 1 {
            let leaves = &self.leaves[index * arity..][..arity];
            branch.leaves.extend_from_slice(leaves);
            let inputs =
                leaves.iter().map(|&leaf| (self.view.column(leaf as usize), self.view.ones(leaf as usize)));
            self.fit(1, inputs, output, &mut branch.levels[0]);
        } else {
            let mut children = std::mem::take(&mut scratch.levels[level]);
            for (child, column) in children.iter_mut().enumerate() {
                self.grow(level - 1, index * arity + child, scratch, column, branch)?;
            }
            let inputs = children.iter().map(|child| (&child.words[..], child.ones));
            self.fit(level, inputs, output, &mut branch.levels[level - 1]);
            scratch.levels[level] = children;
        }
        // Small subtrees are not worth a report of their own.
        match level {
            REPORTED_LEVEL => self.tracker.advance(gates_below(arity, level)),
            _ if level > REPORTED_LEVEL => self.tracker.advance(1),
            _ => Ok(()),
        }
    }

    /// Reports a piece of work that is too small to have reported anything itself.
    pub(super) fn report_piece(&self, level: usize) -> Result<()> {
        match self.trials.is_empty() && level < REPORTED_LEVEL {
            true => self.tracker.advance(gates_below(self.settings.arity, level)),
            false => Ok(()),
        }
    }

    /// Fits the gate over these inputs, appends its table and writes its output. The root's output is not written.
    pub(super) fn fit<'i>(
        &self,
        level: usize,
        inputs: impl Iterator<Item = (&'i [u64], [u32; 2])>,
        output: &mut Column,
        tables: &mut Vec<u64>,
    ) {
        let arity = self.settings.arity;
        let mut columns: [&[u64]; MAX_ARITY] = [&[]; MAX_ARITY];
        let mut ones = [[0u32; MAX_ARITY]; 2];
        for (j, (column, counts)) in inputs.enumerate() {
            columns[j] = column;
            ones[0][j] = counts[0];
            ones[1][j] = counts[1];
        }
        let columns = &columns[..arity];
        let mut counts = vec![0u32; 2 << arity];
        let (zeros, ones_at) = counts.split_at_mut(1 << arity);
        for (class, counts) in [&mut *zeros, &mut *ones_at].into_iter().enumerate() {
            let mut parts: [&[u64]; MAX_ARITY] = [&[]; MAX_ARITY];
            for (part, column) in parts.iter_mut().zip(columns) {
                *part = self.view.classes(column)[class];
            }
            let rows = self.view.rows()[class] as usize;
            self.kernels.count(&parts[..arity], &ones[class][..arity], rows, counts);
        }
        let start = tables.len();
        tables.resize(start + TruthTable::words_for(arity), 0);
        let table = &mut tables[start..];
        let fit = self.fit_counts(level, zeros, ones_at, table);
        output.ones = fit.ones;
        if level < self.settings.depth {
            self.kernels.evaluate(table, columns, &mut output.words);
            self.view.clear_padding(&mut output.words);
        }
    }

    /// Whether a trial that changes the judge's fit is kept.
    pub(super) fn keeps(&self, before: &Fit, after: &Fit) -> bool {
        match self.settings.judge {
            Judge::Better => after.score > before.score,
            // Rows got right are the ones of class 1 less those of class 0, and a constant.
            Judge::NotWorse => {
                let right = |fit: &Fit| i64::from(fit.ones[1]) - i64::from(fit.ones[0]);
                right(after) >= right(before)
            }
        }
    }
}

impl<V> Grower<'_, V> {
    /// Chooses the table of a gate at a level: the root goes by accuracy, whatever the criterion.
    pub(super) fn fit_counts(&self, level: usize, zeros: &[u32], ones: &[u32], table: &mut [u64]) -> Fit {
        let criterion =
            if level == self.settings.depth { Criterion::Accuracy } else { self.settings.criterion };
        self.fitter.fit(criterion, zeros, ones, table)
    }
}

/// Subtrees of this height are reported as one piece of progress.
const REPORTED_LEVEL: usize = 3;

/// Reserves room for a list that is about to be filled.
pub(super) fn reserved<T>(length: usize) -> Result<Vec<T>> {
    crate::memory::check(length.saturating_mul(size_of::<T>()))?;
    let mut list = Vec::new();
    list.try_reserve_exact(length)
        .map_err(|_| Error::too_large(format!("{length} entries of the tree do not fit in memory")))?;
    Ok(list)
}

/// Gates of a full subtree.
pub(super) fn gates_below(arity: usize, level: usize) -> u64 {
    (0..level).map(|below| (arity as u64).pow(below as u32)).sum()
}
