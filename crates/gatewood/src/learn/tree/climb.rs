//! Hill climbing on the leaves of one subtree.
//!
//! A trial gives one leaf another column and refits the gates on the path from it to the judge, the gate at the top
//! of the subtree. It is kept when the judge's score gets strictly better, or as [`Judge`] says. Only one input of each gate on the path
//! changes, so half of its and-counts are known and the other half are counted anew. When the output of a refitted gate
//! is what it was before, nothing above can change and the trial ends there.

use std::cell::RefCell;

use super::Judge;
use super::greedy::{Branch, Column, Grower, gates_below};
use super::view::ByClass;
use crate::Result;
use crate::bits::kernels::{HISTOGRAM_ARITY, and_counts_to_addresses};
use crate::circuit::{MAX_ARITY, TruthTable};
use crate::learn::gate::Fit;
use crate::random::{Purpose, Stream};

/// Trials between two reports of progress.
const REPORT_EVERY: u32 = 512;

/// What the trials of a subtree draw: a leaf, and a column among all but the one that the leaf has by then.
fn draw(stream: &mut Stream, leaves: u32, columns: u32) -> [u32; 2] {
    let leaf = stream.below(leaves);
    [leaf, stream.below(columns - 1)]
}

/// All that the trials of a subtree draw.
pub(super) fn drawn_trials<V: ByClass>(grower: &Grower<'_, V>, index: usize) -> Vec<[u32; 2]> {
    let leaves = grower.settings.arity.pow(grower.settings.height as u32) as u32;
    let columns = grower.view.columns() as u32;
    let trials = if columns > 1 { grower.trials.get(index).copied().unwrap_or(0) } else { 0 };
    let mut stream = Stream::new(grower.settings.seed, Purpose::Climb, index as u64);
    (0..trials).map(|_| draw(&mut stream, leaves, columns)).collect()
}

/// Climbs the subtree under gate `index` of the climbing height; its output goes to `output`, its parts to `branch`.
pub(super) fn climb(
    grower: &Grower<'_>,
    index: usize,
    output: &mut Column,
    branch: &mut Branch,
) -> Result<()> {
    let (arity, height) = (grower.settings.arity, grower.settings.height);
    let mut climber = Climber::new(grower, index)?;
    let trials = grower.trials[index];
    let leaves = climber.leaves.len() as u32;
    let columns = grower.view.columns() as u32;
    let mut stream = Stream::new(grower.settings.seed, Purpose::Climb, index as u64);
    let mut left = if columns > 1 { trials } else { 0 };
    while left > 0 {
        let batch = left.min(REPORT_EVERY);
        for _ in 0..batch {
            let [leaf, column] = draw(&mut stream, leaves, columns);
            let leaf = leaf as usize;
            climber.trial(leaf, column + u32::from(column >= climber.leaves[leaf]));
        }
        left -= batch;
        grower.tracker.advance(u64::from(batch) * height as u64)?;
    }
    grower.tracker.advance(gates_below(arity, height))?;

    branch.leaves.extend_from_slice(&climber.leaves);
    let mut gates = climber.gates.iter();
    for level in 1..=height {
        for gate in gates.by_ref().take(arity.pow((height - level) as u32)) {
            branch.levels[level - 1].extend_from_slice(&gate.table);
        }
    }
    let judge = climber.gates.last().expect("a subtree has a gate");
    output.ones = judge.fit.ones;
    if height < grower.settings.depth {
        let inputs = climber.inputs(height, climber.gates.len() - 1);
        grower.kernels.evaluate(&judge.table, &inputs[..arity], &mut output.words);
        grower.view.clear_padding(&mut output.words);
    }
    Ok(())
}

/// One gate of the subtree.
#[derive(Debug, Clone)]
struct Gate {
    /// For each class and each subset of the inputs, the rows in which all of the subset are one. Kept for arities
    /// counted that way.
    and_counts: [Vec<u32>; 2],
    table: Vec<u64>,
    fit: Fit,
    /// The output, but for the judge, whose output nobody reads during the climb.
    column: Column,
}

/// The subtree while it is climbed. Gates are numbered level by level from the bottom, the judge last.
struct Climber<'a> {
    grower: &'a Grower<'a>,
    leaves: Vec<u32>,
    gates: Vec<Gate>,
    /// The refitted gates of a trial, one a level.
    path: Vec<Gate>,
    /// The number of the first gate of each level, level 1 at position 1.
    starts: Vec<usize>,
    /// Room for the counts of each class at the addresses of a gate.
    at_address: RefCell<[Vec<u32>; 2]>,
    /// Room for the counts of subsets with the changed input.
    with_changed: RefCell<Vec<u32>>,
}

impl<'a> Climber<'a> {
    /// The greedy subtree.
    fn new(grower: &'a Grower<'a>, index: usize) -> Result<Self> {
        let (arity, height) = (grower.settings.arity, grower.settings.height);
        let mut starts = vec![0; height + 2];
        for level in 1..=height {
            starts[level + 1] = starts[level] + arity.pow((height - level) as u32);
        }
        let leaves_here = arity.pow(height as u32);
        let empty = Gate {
            and_counts: [vec![0; 1 << arity], vec![0; 1 << arity]],
            table: vec![0; TruthTable::words_for(arity)],
            fit: Fit { score: 0, ones: [0; 2] },
            column: Column::new(grower.view)?,
        };
        let mut climber = Self {
            grower,
            leaves: grower.leaves[index * leaves_here..][..leaves_here].to_vec(),
            gates: Vec::with_capacity(starts[height + 1]),
            path: vec![empty.clone(); height + 1],
            starts,
            at_address: RefCell::new([vec![0; 1 << arity], vec![0; 1 << arity]]),
            with_changed: RefCell::new(vec![0; 1 << (arity - 1)]),
        };
        for level in 1..=height {
            for _ in climber.starts[level]..climber.starts[level + 1] {
                let gate = climber.gates.len();
                climber.gates.push(empty.clone());
                climber.count_all(level, gate);
                let mut fitted = std::mem::replace(&mut climber.gates[gate], empty.clone());
                fitted.fit = climber.fit(level, &mut fitted.and_counts, &mut fitted.table);
                if level < height {
                    climber.evaluate(level, gate, &fitted.table, None, &mut fitted.column.words);
                    fitted.column.ones = fitted.fit.ones;
                }
                climber.gates[gate] = fitted;
            }
        }
        Ok(climber)
    }

    /// Gives a leaf another column, if the judge is for it.
    fn trial(&mut self, leaf: usize, column: u32) -> bool {
        let (arity, height) = (self.grower.settings.arity, self.grower.settings.height);
        let mut place = leaf;
        let mut path = std::mem::take(&mut self.path);
        // The levels to be changed; none while the trial is not to be kept.
        let mut kept = 0;
        for level in 1..=height {
            let (below, here) = path.split_at_mut(level);
            let here = &mut here[0];
            let input = place % arity;
            place /= arity;
            let gate = self.starts[level] + place;
            let (changed, ones) = match level {
                1 => (self.grower.view.column(column as usize), self.grower.view.ones(column as usize)),
                _ => (&below[level - 1].column.words[..], below[level - 1].fit.ones),
            };
            self.recount(level, gate, input, changed, ones, &mut here.and_counts);
            here.fit = self.fit(level, &mut here.and_counts, &mut here.table);
            if level == height {
                if self.grower.keeps(&self.gates[gate].fit, &here.fit) {
                    kept = height;
                }
                break;
            }
            self.evaluate(level, gate, &here.table, Some((input, changed)), &mut here.column.words);
            if here.column.words == self.gates[gate].column.words {
                // Nothing above changes, so the judge gets neither better nor worse.
                if self.grower.settings.judge == Judge::NotWorse {
                    kept = level;
                }
                break;
            }
        }
        if kept > 0 {
            self.leaves[leaf] = column;
            let mut place = leaf;
            for (level, refitted) in path.iter_mut().enumerate().take(kept + 1).skip(1) {
                place /= arity;
                std::mem::swap(&mut self.gates[self.starts[level] + place], refitted);
            }
        }
        self.path = path;
        kept > 0
    }

    /// The columns a gate reads.
    fn inputs(&self, level: usize, gate: usize) -> [&[u64]; MAX_ARITY] {
        let arity = self.grower.settings.arity;
        let first = (gate - self.starts[level]) * arity;
        std::array::from_fn(|j| match level {
            _ if j >= arity => &[][..],
            1 => self.grower.view.column(self.leaves[first + j] as usize),
            _ => &self.gates[self.starts[level - 1] + first + j].column.words[..],
        })
    }

    /// The ones of each class in the columns a gate reads.
    fn input_ones(&self, level: usize, gate: usize) -> [[u32; 2]; MAX_ARITY] {
        let arity = self.grower.settings.arity;
        let first = (gate - self.starts[level]) * arity;
        std::array::from_fn(|j| match level {
            _ if j >= arity => [0; 2],
            1 => self.grower.view.ones(self.leaves[first + j] as usize),
            _ => self.gates[self.starts[level - 1] + first + j].fit.ones,
        })
    }

    /// Counts a gate from nothing.
    fn count_all(&mut self, level: usize, gate: usize) {
        let arity = self.grower.settings.arity;
        let mut counts = std::mem::take(&mut self.gates[gate].and_counts);
        let (inputs, ones) = (self.inputs(level, gate), self.input_ones(level, gate));
        self.count(&inputs[..arity], &ones, &mut counts);
        self.gates[gate].and_counts = counts;
    }

    /// Counts over these inputs: of addresses for arities counted by histogram, else of subsets.
    fn count(&self, inputs: &[&[u64]], ones: &[[u32; 2]; MAX_ARITY], counts: &mut [Vec<u32>; 2]) {
        let view = self.grower.view;
        for (class, counts) in counts.iter_mut().enumerate() {
            let parts: [&[u64]; MAX_ARITY] = std::array::from_fn(|j| match inputs.get(j) {
                Some(input) => view.classes(input)[class],
                None => &[],
            });
            let parts = &parts[..inputs.len()];
            let rows = view.rows()[class];
            if inputs.len() >= HISTOGRAM_ARITY {
                let singles: [u32; MAX_ARITY] = std::array::from_fn(|j| ones[j][class]);
                self.grower.kernels.count(parts, &singles[..inputs.len()], rows as usize, counts);
                continue;
            }
            self.grower.kernels.and_counts(parts, counts);
            counts[0] = rows;
            for j in 0..inputs.len() {
                counts[1 << j] = ones[j][class];
            }
        }
    }

    /// Counts a gate with one input changed.
    fn recount(
        &self,
        level: usize,
        gate: usize,
        input: usize,
        changed: &[u64],
        ones: [u32; 2],
        counts: &mut [Vec<u32>; 2],
    ) {
        let (arity, view) = (self.grower.settings.arity, self.grower.view);
        let mut inputs = self.inputs(level, gate);
        if arity >= HISTOGRAM_ARITY {
            inputs[input] = changed;
            let mut all_ones = self.input_ones(level, gate);
            all_ones[input] = ones;
            return self.count(&inputs[..arity], &all_ones, counts);
        }
        // The other inputs, moved together.
        inputs.copy_within(input + 1..arity, input);
        let others = &inputs[..arity - 1];
        for (class, counts) in counts.iter_mut().enumerate() {
            let parts: [&[u64]; MAX_ARITY] = std::array::from_fn(|j| match others.get(j) {
                Some(other) => view.classes(other)[class],
                None => &[],
            });
            let with = &mut *self.with_changed.borrow_mut();
            with[0] = ones[class];
            self.grower.kernels.and_counts_with(view.classes(changed)[class], &parts[..arity - 1], with);
            let known = &self.gates[gate].and_counts[class];
            let low = (1usize << input) - 1;
            for (subset, &count) in with.iter().enumerate() {
                let without = subset & low | (subset & !low) << 1;
                counts[without] = known[without];
                counts[without | 1 << input] = count;
            }
        }
    }

    /// Fits a table to counts as [`Climber::count`] and [`Climber::recount`] leave them.
    fn fit(&self, level: usize, counts: &mut [Vec<u32>; 2], table: &mut [u64]) -> Fit {
        if self.grower.settings.arity >= HISTOGRAM_ARITY {
            return self.grower.fit_counts(level, &counts[0], &counts[1], table);
        }
        let [zeros, ones] = &mut *self.at_address.borrow_mut();
        for (at_address, counts) in [&mut *zeros, &mut *ones].into_iter().zip(counts.iter()) {
            at_address.copy_from_slice(counts);
            and_counts_to_addresses(at_address);
        }
        self.grower.fit_counts(level, zeros, ones, table)
    }

    /// Writes the output of a gate, with one input changed where that is given.
    fn evaluate(
        &self,
        level: usize,
        gate: usize,
        table: &[u64],
        change: Option<(usize, &[u64])>,
        output: &mut [u64],
    ) {
        let mut inputs = self.inputs(level, gate);
        if let Some((input, changed)) = change {
            inputs[input] = changed;
        }
        self.grower.kernels.evaluate(table, &inputs[..self.grower.settings.arity], output);
        self.grower.view.clear_padding(output);
    }
}
