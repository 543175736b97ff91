//! Hill climbing on one small tree.
//!
//! A trial gives one leaf another column, refits the gates from there to the root and is kept when the class is told
//! better by the root's address. Only one input of each gate on the path changes, so half of the counts follow from
//! the other half.

use super::candidates::{Cells, MAX_CANDIDATES_ARITY};
use super::cut::Cutter;
use super::sample::Sample;
use crate::Result;
use crate::bits::kernels::{HISTOGRAM_ARITY, Kernels, and_counts_to_addresses};
use crate::bits::{AlignedWords, WORD_BITS};
use crate::circuit::{MAX_ARITY, TruthTable};
use crate::learn::gate::LogTable;
use crate::random::Stream;

/// A climbed tree, its votes still to come.
#[derive(Debug, Clone)]
pub(crate) struct Climbed {
    pub(crate) leaves: Vec<u32>,
    /// The tables of the gates below the root, level by level from the bottom.
    pub(crate) tables: Vec<u64>,
}

/// Leaves times columns up to which it is noted which were tried in vain.
const FEW_PLACES: usize = 1024;

/// The trials of [`Climber::climb`], drawn beforehand: a leaf, then the columns that are compared for it.
pub(crate) fn draw_trials(
    trials: u32,
    candidates: u32,
    leaves: usize,
    stream: &mut Stream,
    mut candidate: impl FnMut(&mut Stream) -> u32,
) -> Vec<u32> {
    let mut drawn = Vec::new();
    for _ in 0..steps(trials, candidates) {
        drawn.push(stream.below(leaves as u32));
        drawn.extend((0..candidates).map(|_| candidate(stream)));
    }
    drawn
}

/// How many leaves are tried. To compare a column takes less than half of the time of a trial, so twice as many columns as
/// there are trials are drawn.
fn steps(trials: u32, candidates: u32) -> u64 {
    match candidates {
        ..=1 => trials.into(),
        _ => (2 * u64::from(trials)).div_ceil(candidates.into()),
    }
}

/// What is drawn for a trial.
#[derive(Clone, Copy)]
enum Wanted {
    Leaf,
    Column,
}

/// A gate: what its addresses count, its table and its output.
#[derive(Debug, Clone)]
struct Gate {
    counts: [Vec<u32>; 2],
    table: Vec<u64>,
    /// The output; empty for the root.
    column: AlignedWords,
}

/// A tree while it is climbed. Gates are numbered level by level from the bottom, the root last.
pub(crate) struct Climber<'a> {
    sample: &'a Sample,
    kernels: Kernels,
    cutter: Cutter<'a>,
    arities: &'a [usize],
    leaves: Vec<u32>,
    gates: Vec<Gate>,
    /// The refitted gates of a trial, one a level.
    path: Vec<Gate>,
    /// The number of the first gate of each level, level 1 at position 1.
    starts: Vec<usize>,
    /// The root's address of every row of each class, where the root has so many inputs that rows are counted by it.
    addresses: [Vec<u16>; 2],
    score: i64,
}

impl<'a> Climber<'a> {
    /// A tree with the given columns at its leaves, fitted from the bottom up.
    pub(crate) fn new(
        sample: &'a Sample,
        arities: &'a [usize],
        leaves: Vec<u32>,
        logs: &'a LogTable,
        kernels: Kernels,
    ) -> Result<Self> {
        let depth = arities.len();
        let mut starts = vec![0; depth + 2];
        for level in 1..=depth {
            starts[level + 1] = starts[level] + arities[level..].iter().product::<usize>();
        }
        let empty = |level: usize| {
            Ok(Gate {
                counts: [const { Vec::new() }; 2].map(|_: Vec<u32>| vec![0; 1 << arities[level - 1]]),
                table: vec![0; TruthTable::words_for(arities[level - 1])],
                column: AlignedWords::zeros(if level < depth { sample.stride } else { 0 })?,
            })
        };
        let mut climber = Self {
            sample,
            kernels,
            cutter: Cutter::new(sample.rows, logs, depth > 1),
            arities,
            leaves,
            gates: Vec::with_capacity(starts[depth + 1]),
            path: (1..=depth).map(empty).collect::<Result<_>>()?,
            starts,
            addresses: [const { Vec::new() }; 2],
            score: 0,
        };
        for level in 1..=depth {
            for _ in climber.starts[level]..climber.starts[level + 1] {
                let index = climber.gates.len();
                let mut gate = empty(level)?;
                climber.gates.push(gate.clone());
                let inputs = climber.inputs(level, index);
                let inputs = &inputs[..arities[level - 1]];
                climber.count(inputs, &mut gate.counts);
                if level < depth {
                    climber.cutter.cut(kernels, &gate.counts, &mut gate.table);
                    kernels.evaluate(&gate.table, inputs, &mut gate.column);
                    sample.clear_padding(&mut gate.column);
                }
                climber.gates[index] = gate;
            }
        }
        climber.note_addresses();
        climber.score = climber.cutter.score(&climber.gates[climber.gates.len() - 1].counts);
        Ok(climber)
    }

    /// Runs trials, the columns tried being those that `candidate` draws.
    ///
    /// Where columns are candidates, so many are drawn for a leaf, and only that which tells its gate most is tried, if it
    /// tells more than the one there.
    pub(crate) fn climb(
        &mut self,
        trials: u32,
        candidates: u32,
        stream: &mut Stream,
        mut candidate: impl FnMut(&mut Stream) -> u32,
    ) -> Result<()> {
        let leaves = self.leaves.len() as u32;
        self.climb_by(steps(trials, candidates), candidates, |what| match what {
            Wanted::Leaf => stream.below(leaves),
            Wanted::Column => candidate(stream),
        })
    }

    /// [`Climber::climb`] with trials that [`draw_trials`] has drawn.
    pub(crate) fn climb_drawn(&mut self, trials: &[u32], candidates: u32) -> Result<()> {
        let steps = trials.len() as u64 / (1 + u64::from(candidates));
        let mut left = trials.iter();
        self.climb_by(steps, candidates, |_| left.next().copied().unwrap_or_default())
    }

    fn climb_by(&mut self, steps: u64, candidates: u32, mut draw: impl FnMut(Wanted) -> u32) -> Result<()> {
        let arity = self.arities[0];
        if candidates > 1 {
            let mut cells = Cells::new(self.sample, arity)?;
            for _ in 0..steps {
                let leaf = draw(Wanted::Leaf) as usize;
                let most = self.most_telling(&mut cells, leaf, candidates, || draw(Wanted::Column));
                if let Some(column) = most {
                    self.trial(leaf, column);
                }
            }
            return Ok(());
        }
        // What was tried in vain since the tree last changed need not be tried again. Of many columns, few come up twice.
        let columns = self.sample.columns.len();
        let places = self.leaves.len() * columns;
        let mut vain = vec![false; if places <= FEW_PLACES { places } else { 0 }];
        for _ in 0..steps {
            let leaf = draw(Wanted::Leaf) as usize;
            let column = draw(Wanted::Column);
            let place = leaf * columns + column as usize;
            // A gate that reads a column twice is a smaller gate.
            if vain.get(place) == Some(&true)
                || self.leaves[leaf / arity * arity..][..arity].contains(&column)
            {
                continue;
            }
            if self.trial(leaf, column) {
                vain.fill(false);
            } else if let Some(vain) = vain.get_mut(place) {
                *vain = true;
            }
        }
        Ok(())
    }

    /// Of so many columns, that which tells the gate of a leaf most, if it tells more than the one there.
    fn most_telling(
        &self,
        cells: &mut Cells,
        leaf: usize,
        columns: u32,
        mut candidate: impl FnMut() -> u32,
    ) -> Option<u32> {
        let arity = self.arities[0];
        let (gate, input) = (leaf / arity, leaf % arity);
        let counts = &self.gates[gate].counts;
        let read = &self.leaves[gate * arity..][..arity];
        let mut others: [&[u64]; MAX_CANDIDATES_ARITY] = [&[]; MAX_CANDIDATES_ARITY];
        for (other, &column) in others.iter_mut().zip(read[..input].iter().chain(&read[input + 1..])) {
            *other = self.sample.column(column as usize);
        }
        let there = cells.part(self.sample, &others[..arity - 1], input, counts, self.kernels);
        let mut best = (there, None);
        for _ in 0..columns {
            let column = candidate();
            if !read.contains(&column) {
                let words = self.sample.column(column as usize);
                let impurity = cells.impurity(self.sample, words, self.kernels);
                if impurity < best.0 {
                    best = (impurity, Some(column));
                }
            }
        }
        best.1
    }

    /// The tree as it is.
    pub(crate) fn finish(self) -> Climbed {
        let below = self.gates.len() - 1;
        let tables = self.gates[..below].iter().flat_map(|gate| gate.table.iter().copied()).collect();
        Climbed { leaves: self.leaves, tables }
    }

    /// Gives a leaf another column, if that makes the root better.
    fn trial(&mut self, leaf: usize, column: u32) -> bool {
        let depth = self.arities.len();
        let mut place = leaf;
        let mut path = std::mem::take(&mut self.path);
        let mut better = false;
        let mut score = 0;
        for level in 1..=depth {
            let arity = self.arities[level - 1];
            let (below, here) = path.split_at_mut(level - 1);
            let here = &mut here[0];
            let input = place % arity;
            place /= arity;
            let gate = self.starts[level] + place;
            let changed = match level {
                1 => self.sample.column(column as usize),
                _ => &below[level - 2].column[..],
            };
            let mut inputs = self.inputs(level, gate);
            let known = &self.gates[gate].counts;
            if level == depth && arity > HISTOGRAM_ARITY {
                self.recount_root(input, changed, known, &mut here.counts);
            } else {
                self.recount(&mut inputs[..arity], input, changed, known, &mut here.counts);
            }
            if level == depth {
                score = self.cutter.score(&here.counts);
                better = score > self.score;
                break;
            }
            self.cutter.cut(self.kernels, &here.counts, &mut here.table);
            self.kernels.evaluate(&here.table, &inputs[..arity], &mut here.column);
            self.sample.clear_padding(&mut here.column);
            if here.column == self.gates[gate].column {
                break;
            }
        }
        if better {
            self.score = score;
            self.leaves[leaf] = column;
            let mut place = leaf;
            for (level, refitted) in path.iter_mut().enumerate() {
                place /= self.arities[level];
                std::mem::swap(&mut self.gates[self.starts[level + 1] + place], refitted);
            }
            self.note_addresses();
        }
        self.path = path;
        better
    }

    /// The columns a gate reads.
    fn inputs(&self, level: usize, gate: usize) -> [&[u64]; MAX_ARITY] {
        let arity = self.arities[level - 1];
        let first = (gate - self.starts[level]) * arity;
        let mut inputs: [&[u64]; MAX_ARITY] = [&[]; MAX_ARITY];
        for (j, input) in inputs[..arity].iter_mut().enumerate() {
            *input = match level {
                1 => self.sample.column(self.leaves[first + j] as usize),
                _ => &self.gates[self.starts[level - 1] + first + j].column[..],
            };
        }
        inputs
    }

    /// Counts the addresses of a gate from nothing.
    fn count(&self, inputs: &[&[u64]], counts: &mut [Vec<u32>; 2]) {
        for (class, counts) in counts.iter_mut().enumerate() {
            let mut parts: [&[u64]; MAX_ARITY] = [&[]; MAX_ARITY];
            let mut singles = [0u32; MAX_ARITY];
            for (j, input) in inputs.iter().enumerate() {
                parts[j] = match class {
                    0 => &input[..self.sample.split],
                    _ => &input[self.sample.split..],
                };
                singles[j] = self.kernels.popcount(parts[j]) as u32;
            }
            let rows = self.sample.rows[class] as usize;
            self.kernels.count(&parts[..inputs.len()], &singles[..inputs.len()], rows, counts);
        }
    }

    /// Brings the root's addresses up to date, where they are kept.
    fn note_addresses(&mut self) {
        let depth = self.arities.len();
        let arity = self.arities[depth - 1];
        if arity <= HISTOGRAM_ARITY {
            return;
        }
        let mut addresses = std::mem::take(&mut self.addresses);
        let inputs = self.inputs(depth, self.starts[depth]);
        for ((class, addresses), &rows) in addresses.iter_mut().enumerate().zip(&self.sample.rows) {
            let inputs = inputs.map(|input| input.get(class * self.sample.split..).unwrap_or_default());
            addresses.resize(rows as usize, 0);
            self.kernels.addresses(&inputs[..arity], addresses);
        }
        self.addresses = addresses;
    }

    /// Counts the root's addresses after one input changed, by the rows where that is one, or zero if those are fewer.
    fn recount_root(&self, input: usize, changed: &[u64], known: &[Vec<u32>; 2], counts: &mut [Vec<u32>; 2]) {
        let (zeros, ones) = changed.split_at(self.sample.split);
        let bit = 1usize << input;
        for (((column, addresses), known), counts) in
            [zeros, ones].into_iter().zip(&self.addresses).zip(known).zip(counts)
        {
            let rows = addresses.len();
            let flip = self.kernels.popcount(column) as usize * 2 > rows;
            counts.fill(0);
            for (&word, addresses) in column.iter().zip(addresses.chunks(WORD_BITS)) {
                let mut left = if flip { !word & (!0 >> (WORD_BITS - addresses.len())) } else { word };
                while left != 0 {
                    let address = addresses[left.trailing_zeros() as usize] as usize;
                    counts[address | bit] += 1;
                    left &= left - 1;
                }
            }
            for zero in (0..counts.len()).filter(|address| address & bit == 0) {
                let one = zero | bit;
                let (counted, both) = (counts[one], known[zero] + known[one]);
                (counts[zero], counts[one]) =
                    if flip { (counted, both - counted) } else { (both - counted, counted) };
            }
        }
    }

    /// Counts the addresses of a gate of which one input changed; the changed one is put among the inputs.
    fn recount<'i>(
        &self,
        inputs: &mut [&'i [u64]],
        input: usize,
        changed: &'i [u64],
        known: &[Vec<u32>; 2],
        counts: &mut [Vec<u32>; 2],
    ) {
        inputs[input] = changed;
        match inputs.len() {
            1 => self.recount_half::<1>(inputs, input, known, counts),
            2 => self.recount_half::<2>(inputs, input, known, counts),
            3 => self.recount_half::<4>(inputs, input, known, counts),
            4 => self.recount_half::<8>(inputs, input, known, counts),
            5 => self.recount_half::<16>(inputs, input, known, counts),
            6 => self.recount_half::<32>(inputs, input, known, counts),
            7 => self.recount_half::<64>(inputs, input, known, counts),
            8 => self.recount_half::<128>(inputs, input, known, counts),
            9 => self.recount_half::<256>(inputs, input, known, counts),
            _ => self.count(inputs, counts),
        }
    }

    /// [`Climber::recount`] for gates of twice `HALF` addresses, the changed input being in its place.
    fn recount_half<const HALF: usize>(
        &self,
        inputs: &[&[u64]],
        input: usize,
        known: &[Vec<u32>; 2],
        counts: &mut [Vec<u32>; 2],
    ) {
        const { assert!(HALF < 1 << HISTOGRAM_ARITY) };
        let mut others: [&[u64]; HISTOGRAM_ARITY] = [&[]; HISTOGRAM_ARITY];
        let mut next = 0;
        for (j, column) in inputs.iter().enumerate() {
            // Written over by the next one where it is the changed input.
            others[next] = column;
            next += usize::from(j != input);
        }
        let mut with = [[0u32; HALF]; 2];
        let [zeros, ones] = &mut with;
        self.kernels.count_changed(inputs[input], &others[..next], self.sample.split, zeros, ones);
        let low = (1usize << input) - 1;
        for ((with, known), counts) in with.iter_mut().zip(known).zip(counts) {
            and_counts_to_addresses(with);
            let (known, counts) = (&known[..2 * HALF], &mut counts[..2 * HALF]);
            for (other, &with) in with.iter().enumerate() {
                let zero = other & low | (other & !low) << 1;
                let one = zero | 1 << input;
                counts[zero] = known[zero] + known[one] - with;
                counts[one] = with;
            }
        }
    }
}
