//! The engine of this process: rows in memory, threads and SIMD.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::platform::parallel::*;

use super::addresses::RowAddresses;
use super::draw::{Weights, draw};
use super::made::{ByteRows, MakeColumns};
use super::rows::PackedRows;
use super::{ColumnOrder, Direction, Draw, Engine, Picks, SamplingPower, Scale, Start, Summand};
use crate::bits::kernels::{Kernels, Sums};
use crate::circuit::{CHUNK_ROWS, Scratch, VoteTree, Wide, add_votes, in_pieces};
use crate::learn::objective::{Hessian, Loss, ONE, Objective, WEIGHT_ONE, count_hessian};
use crate::learn::search::Sample;
use crate::pool::each_awake;
use crate::{Error, Result};

/// What a row that the tree was climbed on counts for beside honest rows: one part in so many.
const CLIMBED_PART: i64 = 4;

/// Rows that are updated at a time: what is known of them stays in the first-level cache.
const PIECE_ROWS: usize = 1024;

/// Rows that are worth handing to another thread, and how many times one is handed some.
const PART_ROWS: usize = 4096;
const PARTS_A_THREAD: usize = 4;

/// How many of some rows a thread has at a time, whole pieces: all where they are not worth sharing.
fn part_rows(rows: usize) -> usize {
    let parts = (rows / PART_ROWS).clamp(1, PARTS_A_THREAD * current_num_threads());
    rows.div_ceil(parts).next_multiple_of(PIECE_ROWS).max(PIECE_ROWS)
}

/// Rows in this process.
#[derive(Debug)]
pub(crate) struct CpuEngine<'a> {
    wide: Wide<'a>,
    pub(super) targets: &'a [u32],
    /// What each row counts for, in fixed point; empty for one each.
    weights: Vec<u32>,
    kernels: Kernels,
    /// The rows to gather from, with the order of their columns; only for rows that are learned from.
    pub(super) packed: Option<(&'a ColumnOrder, PackedRows)>,
    /// The same where the columns are held in this form alone.
    made: Option<(&'a ColumnOrder, ByteRows)>,
}

/// Margins, and what follows from them.
#[derive(Debug)]
pub(crate) struct CpuState {
    objective: Arc<dyn Objective>,
    /// What each row counts for; empty for one each.
    weights: Vec<u32>,
    /// Zero for rows that are held out, all ones for the others; empty where none is.
    learned: Vec<i32>,
    /// One list a margin.
    margins: Vec<Vec<i32>>,
    /// One list a margin.
    gradients: Vec<Vec<i32>>,
    /// What was counted last of these margins, and among which rows.
    counted: Mutex<Option<Counted>>,
}

/// The least margin of some rows, and how many of these have each margin from there on and are of the one class, or the other;
/// nothing where margins are spread so far that few rows would have the same.
type Counts = Option<(i32, Vec<u32>)>;

/// What was counted among which rows.
type Counted = (Option<Vec<bool>>, Arc<Counts>);

impl CpuState {
    /// Margins are about to change.
    fn forget_counts(&mut self) {
        *self.counted.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl<'a> CpuEngine<'a> {
    /// Rows whose margins are kept, but that are not learned from.
    pub(crate) fn new(wide: Wide<'a>, targets: &'a [u32], weights: Vec<u32>, kernels: Kernels) -> Self {
        Self { wide, targets, weights, kernels, packed: None, made: None }
    }

    /// Makes the rows ready to be learned from, by trees that choose from at most `words` words of their columns.
    pub(crate) fn packed(mut self, order: &'a ColumnOrder, words: usize) -> Result<Self> {
        self.packed = Some((order, PackedRows::new(self.wide, order, words, self.kernels)?));
        Ok(self)
    }

    /// Makes the rows ready to be learned from, their columns being made for it and held in no other form.
    pub(crate) fn made(mut self, source: &dyn MakeColumns, order: &'a ColumnOrder) -> Result<Self> {
        self.made = Some((order, ByteRows::new(source, order, self.kernels)?));
        Ok(self)
    }

    /// The sampling weights of all rows, given the gradients they are drawn by.
    pub(super) fn weigh(
        &self,
        state: &CpuState,
        gradients: &[i32],
        power: &SamplingPower,
        among: &[bool],
    ) -> Vec<Weights> {
        let rows = part_rows(gradients.len());
        let parts = gradients.chunks(rows).enumerate().map(|(part, gradients)| (part * rows, gradients));
        each_awake(parts.collect(), |(first, gradients): (usize, &[i32])| {
            let mut weights = vec![0; gradients.len()];
            self.kernels.sampling_weights(gradients, power.powers(), &mut weights);
            if let Some(rows) = state.weights.get(first..) {
                let weigh = |weight: u32, row: u32| ((u64::from(weight) * u64::from(row)) >> 8) as u32;
                weights.iter_mut().zip(rows).for_each(|(weight, &row)| *weight = weigh(*weight, row));
            }
            let learned = state.learned.get(first..).unwrap_or_default();
            weights.iter_mut().zip(learned).for_each(|(weight, &learned)| *weight &= learned as u32);
            let among = among.get(first..).unwrap_or_default();
            weights.iter_mut().zip(among).for_each(|(weight, &among)| *weight *= u32::from(among));
            Weights::new(first, weights)
        })
    }

    /// The gradients that a tree is learned from.
    pub(super) fn direction<'s>(
        &self,
        state: &'s CpuState,
        direction: Direction<'_>,
    ) -> std::borrow::Cow<'s, [i32]> {
        match direction {
            Direction::Margin(margin) => state.gradients[margin][..].into(),
            Direction::Group(inside) => {
                let mut sums = vec![0i32; self.targets.len()];
                for (gradients, _) in state.gradients.iter().zip(inside).filter(|(_, inside)| **inside) {
                    sums.iter_mut().zip(gradients).for_each(|(sum, &gradient)| *sum += gradient);
                }
                sums.into()
            }
        }
    }

    /// Whether all rows that are summed over count for one: then they are weighed when all are summed.
    fn is_even(state: &CpuState, next: &Summand<'_, RowAddresses>) -> bool {
        state.objective.hessian() != Hessian::Count && state.weights.is_empty() && next.climbed.is_empty()
    }

    /// Adds some rows to sums, given their part of the gradients.
    ///
    /// Sums are made once for many rows: a root of twelve inputs has more addresses than a piece has rows.
    fn add_rows(
        &self,
        state: &CpuState,
        next: &Summand<'_, RowAddresses>,
        gradients: &[i32],
        rows: Range<usize>,
        sums: &mut [Sums],
    ) {
        let addresses = &next.addresses[rows.clone()];
        let weights = state.weights.get(rows.clone());
        let climbed = next.climbed.get(rows.clone()).unwrap_or_default();
        let learned = state.learned.get(rows.clone());
        if Self::is_even(state, next) {
            match learned {
                _ if state.objective.hessian() == Hessian::One => {
                    self.kernels.sum_ones(addresses, gradients, learned.unwrap_or_default(), sums);
                }
                learned => self.kernels.sum(addresses, gradients, learned.unwrap_or_default(), sums),
            }
            return;
        }
        let (hessian, targets) = (state.objective.hessian(), &self.targets[rows]);
        for (i, (&gradient, &address)) in gradients.iter().zip(addresses).enumerate() {
            let weight = weights.map_or(WEIGHT_ONE, |weights| weights[i]);
            let weight = i64::from(weight & learned.map_or(u32::MAX, |learned| learned[i] as u32));
            let weight = weight / if climbed.get(i) == Some(&true) { CLIMBED_PART } else { 1 };
            let sums = &mut sums[usize::from(address)];
            match hessian {
                Hessian::Logistic => sums.add(gradient, weight),
                Hessian::One => sums.put(gradient, ONE, weight),
                Hessian::Count => sums.put(gradient, count_hessian(targets[i], gradient), weight),
            }
        }
    }

    /// What came of all rows, weighed.
    fn finish(state: &CpuState, next: &Summand<'_, RowAddresses>, sums: Option<Vec<Sums>>) -> Vec<Sums> {
        let mut sums = sums.unwrap_or_default();
        if Self::is_even(state, next) {
            sums.iter_mut().for_each(|sums| sums.weigh(WEIGHT_ONE.into()));
        }
        sums
    }

    /// How many rows have each margin, where one is learned; counted once for all scales.
    fn counts(&self, state: &CpuState, among: Option<&[bool]>) -> Arc<Counts> {
        let mut last = state.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((rows, counts)) = &*last
            && rows.as_deref() == among
        {
            return counts.clone();
        }
        let counts = Arc::new(self.count_margins(&state.margins[0], among));
        *last = Some((among.map(<[bool]>::to_vec), counts.clone()));
        counts
    }

    fn count_margins(&self, margins: &[i32], among: Option<&[bool]>) -> Counts {
        let (first, last) = (*margins.iter().min()?, *margins.iter().max()?);
        let places = 2 * usize::try_from(last.checked_sub(first)?).ok()? + 2;
        if places > margins.len() / 8 {
            return None;
        }
        let rows = part_rows(margins.len());
        let parts = margins.chunks(rows).zip(self.targets.chunks(rows)).enumerate();
        let counts = each_awake(parts.collect(), |(part, (margins, targets)): (usize, (&[i32], &[u32]))| {
            let mut counts = vec![0u32; places];
            let among = among.map(|among| &among[part * rows..]);
            for (row, (&margin, &target)) in margins.iter().zip(targets).enumerate() {
                if among.is_none_or(|among| among[row]) {
                    counts[2 * (margin - first) as usize + target as usize] += 1;
                }
            }
            counts
        });
        let all = counts.into_iter().reduce(|mut all, part| {
            all.iter_mut().zip(part).for_each(|(all, part)| *all += part);
            all
        });
        Some((first, all?))
    }

    fn chunks<'s>(&self, state: &'s CpuState, rows: Range<usize>) -> [Vec<&'s [i32]>; 2] {
        [&state.margins, &state.gradients].map(|lists| lists.iter().map(|list| &list[rows.clone()]).collect())
    }
}

/// Adds up what was summed over some rows and over others.
pub(super) fn add_sums(sums: Option<Vec<Sums>>, others: Option<Vec<Sums>>) -> Option<Vec<Sums>> {
    let (mut sums, others) = match (sums, others) {
        (Some(sums), Some(others)) => (sums, others),
        (sums, others) => return sums.or(others),
    };
    for (sum, other) in sums.iter_mut().zip(others) {
        sum.gradient += other.gradient;
        sum.hessian += other.hessian;
    }
    Some(sums)
}

impl Engine for CpuEngine<'_> {
    type State = CpuState;
    type Addresses = RowAddresses;

    fn rows(&self) -> usize {
        self.targets.len()
    }

    fn targets(&self) -> Result<Vec<u32>> {
        Ok(self.targets.to_vec())
    }

    fn totals(&self, objective: &dyn Objective) -> Result<Vec<i64>> {
        Ok(objective.totals(self.targets, &self.weights))
    }

    fn begin(&self, start: &Start<'_>) -> Result<CpuState> {
        let rows = self.rows();
        crate::memory::check(rows.saturating_mul(8 * start.bias.len()))?;
        let weights = self.weights.clone();
        let learned =
            start.held_out.unwrap_or_default().iter().map(|&held| if held { 0 } else { -1 }).collect();
        let margins = start.bias.iter().map(|&bias| vec![bias; rows]).collect();
        let gradients = start.bias.iter().map(|_| vec![0; rows]).collect();
        let objective = start.objective.clone();
        let counted = Mutex::default();
        let mut state = CpuState { objective, weights, learned, margins, gradients, counted };
        for tree in start.trees {
            let addresses = self.address(&state, tree)?;
            self.shift(&mut state, tree, &addresses)?;
        }
        self.update(&mut state, &[])?;
        Ok(state)
    }

    fn draw(&self, state: &CpuState, by: &Draw<'_>) -> Result<Picks> {
        let gradients = self.direction(state, by.direction);
        Ok(draw(self.weigh(state, &gradients, by.power, by.among), &gradients, by.size, by.start))
    }

    fn gather(&self, picks: &Picks, words: &[u32]) -> Result<Sample> {
        if let Some((order, rows)) = &self.made {
            return Sample::gather(rows, order, words, picks, self.kernels);
        }
        let Some((order, rows)) = &self.packed else {
            return Err(Error::data("rows that were not packed cannot be learned from"));
        };
        Sample::gather(rows, order, words, picks, self.kernels)
    }

    fn address(&self, _: &CpuState, tree: &VoteTree) -> Result<RowAddresses> {
        let held = self.made.as_ref().map(|(_, rows)| rows as _);
        let wide = Wide { held, ..self.wide };
        let mut addresses = RowAddresses::room(self.rows());
        addresses.par_chunks_mut(CHUNK_ROWS).enumerate().for_each_init(
            Scratch::default,
            |scratch, (chunk, addresses)| {
                tree.addresses(wide, chunk * CHUNK_ROWS, self.kernels, scratch, addresses);
            },
        );
        Ok(addresses)
    }

    fn sum(&self, state: &CpuState, what: &Summand<'_, RowAddresses>) -> Result<Vec<Sums>> {
        let rows = part_rows(self.rows());
        let gradients = state.gradients[what.margin].par_chunks(rows).enumerate();
        let sums = gradients.map(|(part, gradients)| {
            let mut sums = vec![Sums::default(); what.count];
            let pieces = gradients.chunks(CHUNK_ROWS);
            for (first, gradients) in (part * rows..).step_by(CHUNK_ROWS).zip(pieces) {
                self.add_rows(state, what, gradients, first..first + gradients.len(), &mut sums);
            }
            Some(sums)
        });
        Ok(Self::finish(state, what, sums.reduce(|| None, add_sums)))
    }

    fn update(&self, state: &mut CpuState, trees: &[(&VoteTree, &RowAddresses)]) -> Result<()> {
        state.forget_counts();
        let objective = &state.objective;
        let pieces = in_pieces(&mut state.margins, PIECE_ROWS).into_par_iter();
        let pieces = pieces.zip(in_pieces(&mut state.gradients, PIECE_ROWS));
        let pieces = pieces.zip(self.targets.par_chunks(PIECE_ROWS)).enumerate();
        pieces.for_each(|(piece, ((mut margins, mut gradients), targets))| {
            let rows = piece * PIECE_ROWS..piece * PIECE_ROWS + targets.len();
            for &(tree, addresses) in trees {
                add_votes(tree, &addresses[rows.clone()], &mut margins);
            }
            let margins: Vec<&[i32]> = margins.iter().map(|margins| &**margins).collect();
            objective.gradients(&margins, targets, &mut gradients);
        });
        Ok(())
    }

    fn update_and_sum(
        &self,
        state: &mut CpuState,
        tree: Option<(&VoteTree, &RowAddresses)>,
        next: Option<&Summand<'_, RowAddresses>>,
    ) -> Result<Vec<Sums>> {
        state.forget_counts();
        let rows = part_rows(self.rows());
        let [mut margins, mut gradients] =
            [&mut state.margins[0], &mut state.gradients[0]].map(std::mem::take);
        let reading = &*state;
        let both = margins.chunks_mut(rows).zip(gradients.chunks_mut(rows));
        let parts = both.enumerate().map(|(part, both)| (part * rows, both)).collect();
        let sums = each_awake(parts, |(start, (margins, gradients)): (usize, (&mut [i32], &mut [i32]))| {
            let mut sums = next.map(|next| vec![Sums::default(); next.count]);
            let mut room = [0; PIECE_ROWS];
            let pieces = margins.chunks_mut(PIECE_ROWS).zip(gradients.chunks_mut(PIECE_ROWS));
            for (first, (margins, mut gradients)) in (start..).step_by(PIECE_ROWS).zip(pieces) {
                let rows = first..first + margins.len();
                if let Some((tree, addresses)) = tree {
                    if next.is_some() {
                        // Of this tree's gradients nothing but the sums is wanted: after the next tree there are others.
                        gradients = &mut room[..margins.len()];
                    }
                    let (addresses, targets) = (&addresses[rows.clone()], &self.targets[rows.clone()]);
                    let objective = &reading.objective;
                    objective.update(self.kernels, tree.votes(), addresses, targets, margins, gradients);
                }
                if let (Some(next), Some(sums)) = (next, &mut sums) {
                    self.add_rows(reading, next, gradients, rows, sums);
                }
            }
            sums
        });
        (state.margins[0], state.gradients[0]) = (margins, gradients);
        let sums = sums.into_iter().fold(None, add_sums);
        Ok(next.map_or_else(Vec::new, |next| Self::finish(state, next, sums)))
    }

    fn shift(&self, state: &mut CpuState, tree: &VoteTree, addresses: &RowAddresses) -> Result<()> {
        state.forget_counts();
        let pieces = in_pieces(&mut state.margins, CHUNK_ROWS).into_par_iter();
        let pieces = pieces.zip(addresses.par_chunks(CHUNK_ROWS));
        pieces.for_each(|(mut margins, addresses)| add_votes(tree, addresses, &mut margins));
        Ok(())
    }

    fn margins(&self, state: &CpuState) -> Result<Vec<Vec<i32>>> {
        Ok(state.margins.clone())
    }

    fn loss(&self, state: &CpuState) -> Result<Loss> {
        let chunks = self.targets.par_chunks(CHUNK_ROWS).enumerate();
        let loss = |(chunk, targets): (usize, &[u32])| {
            let [margins, gradients] =
                self.chunks(state, chunk * CHUNK_ROWS..chunk * CHUNK_ROWS + targets.len());
            state.objective.loss(self.kernels, &margins, &gradients, targets)
        };
        Ok(chunks.map(loss).reduce(Loss::default, Loss::and))
    }

    fn scaled_loss(&self, state: &CpuState, among: Option<&[bool]>, scale: &Scale) -> Result<[i128; 3]> {
        let terms = |margins: &[i32], target: u32| {
            let terms = state.objective.scaled(margins, target, scale.factor, scale.doubt);
            terms.map(|term| (term * (1u64 << 32) as f64) as i128)
        };
        let add = |a: [i128; 3], b: [i128; 3]| std::array::from_fn(|i| a[i] + b[i]);
        if state.margins.len() == 1
            && state.objective.classifies()
            && let Some((first, counts)) = &*self.counts(state, among)
        {
            // Many rows have the same margin, and logarithms take long.
            let counts = counts.iter().enumerate().filter(|&(_, &count)| count > 0);
            return Ok(counts.fold([0; 3], |sums, (place, &count)| {
                let of_one = terms(&[*first + (place / 2) as i32], place as u32 % 2);
                add(sums, of_one.map(|term| term * i128::from(count)))
            }));
        }
        let chunks = self.targets.par_chunks(CHUNK_ROWS).enumerate();
        let sums = chunks.map(|(chunk, targets)| {
            let mut sums = [0i128; 3];
            let mut margins = vec![0; state.margins.len()];
            for (row, &target) in (chunk * CHUNK_ROWS..).zip(targets) {
                if among.is_none_or(|among| among[row]) {
                    margins.iter_mut().zip(&state.margins).for_each(|(to, from)| *to = from[row]);
                    sums = add(sums, terms(&margins, target));
                }
            }
            sums
        });
        Ok(sums.reduce(|| [0; 3], add))
    }
}
