//! The engine of a device: rows in its memory, this process telling it what to do.

use std::sync::{Arc, Mutex, PoisonError};

use super::draw::start_of;
use super::{ColumnOrder, Direction, Draw, Engine, Picks, Scale, Start, Summand, TreeToClimb};
use crate::bits::kernels::{Kernels, Sums, log_of_product};
use crate::circuit::{CHUNK_ROWS, VoteTree, Wide};
use crate::learn::device::*;
use crate::learn::gate::LogTable;
use crate::learn::objective::{Loss, Objective};
use crate::learn::search::{Climbed, Sample};
use crate::platform::parallel::*;
use crate::{Error, Result};

/// Rows on a device.
pub(crate) struct DeviceEngine<'a> {
    rows: Box<dyn DeviceRows + 'a>,
    targets: &'a [u32],
    weights: Vec<u32>,
    /// For rows that are learned from.
    order: Option<&'a ColumnOrder>,
    kernels: Kernels,
}

/// Margins and gradients on a device.
pub(crate) struct DeviceState {
    handle: Handle,
    objective: Arc<dyn Objective>,
    /// What was counted last of these margins, and among which rows.
    tally: Mutex<Option<Tally>>,
    /// The margins that were read last, and of which rows.
    read: Mutex<Option<Read>>,
}

type Tally = (Option<Vec<bool>>, Arc<Vec<MarginCount>>);

type Read = (Option<Vec<bool>>, Arc<SomeMargins>);

/// Rows, and a list of each margin of these.
struct SomeMargins {
    rows: Vec<u32>,
    lists: Vec<Vec<i32>>,
}

impl DeviceState {
    /// Whether the device knows the objective: else the processor makes the gradients.
    fn is_known(&self) -> bool {
        !matches!(self.objective.on_device(), DeviceObjective::Processor)
    }

    fn is_logistic(&self) -> bool {
        matches!(self.objective.on_device(), DeviceObjective::Logistic { .. })
    }

    /// Margins are about to change: what was read of them is no longer true.
    fn forget(&mut self) {
        *self.tally.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        *self.read.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl<'a> DeviceEngine<'a> {
    /// Loads rows onto a device, for so many margins.
    pub(crate) fn new(
        device: &dyn Device,
        Wide { bits, spans, .. }: Wide<'a>,
        targets: &'a [u32],
        weights: Vec<u32>,
        margins: usize,
        kernels: Kernels,
    ) -> Result<Self> {
        let columns = ColumnsToLoad { bits, spans };
        let rows = device.load(columns, &RowsToLoad { targets, weights: &weights, margins })?;
        Ok(Self { rows, targets, weights, order: None, kernels })
    }

    /// Makes the rows ready to be learned from.
    pub(crate) fn ordered(self, order: &'a ColumnOrder) -> Self {
        Self { order: Some(order), ..self }
    }

    /// The columns in some words.
    fn columns_of(&self, words: &[u32]) -> Result<Vec<u32>> {
        let Some(order) = self.order else {
            return Err(Error::data("rows that were not put in order cannot be learned from"));
        };
        Ok(words.iter().flat_map(|&word| order.word(word)).copied().collect())
    }

    /// Makes the gradients here, where the device does not know the objective.
    fn make_gradients(&self, state: &mut DeviceState) -> Result<()> {
        let margins = self.rows.margins(&state.handle)?;
        let mut gradients: Vec<Vec<i32>> = margins.iter().map(|list| vec![0; list.len()]).collect();
        let margins: Vec<&[i32]> = margins.iter().map(Vec::as_slice).collect();
        let mut lists: Vec<&mut [i32]> = gradients.iter_mut().map(Vec::as_mut_slice).collect();
        state.objective.gradients(&margins, self.targets, &mut lists);
        self.rows.set_gradients(&mut state.handle, &gradients)
    }

    /// How many rows have each margin and target, where that is known; counted once for all scales.
    fn tally(&self, state: &DeviceState, among: Option<&[bool]>) -> Result<Option<Arc<Vec<MarginCount>>>> {
        let mut last = state.tally.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((rows, tally)) = &*last
            && rows.as_deref() == among
        {
            return Ok(Some(tally.clone()));
        }
        let Some(tally) = self.rows.tally(&state.handle, among)? else { return Ok(None) };
        let tally = Arc::new(tally);
        *last = Some((among.map(<[bool]>::to_vec), tally.clone()));
        Ok(Some(tally))
    }

    /// The margins of some rows, read once for all scales.
    fn margins_among(&self, state: &DeviceState, among: Option<&[bool]>) -> Result<Arc<SomeMargins>> {
        let mut last = state.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((rows, margins)) = &*last
            && rows.as_deref() == among
        {
            return Ok(margins.clone());
        }
        let all = 0..self.targets.len() as u32;
        let (rows, lists) = match among {
            None => (all.collect(), self.rows.margins(&state.handle)?),
            Some(among) => {
                let rows: Vec<u32> = all.filter(|&row| among[row as usize]).collect();
                let lists = self.rows.margins_of(&state.handle, &rows)?;
                (rows, lists)
            }
        };
        let margins = Arc::new(SomeMargins { rows, lists });
        *last = Some((among.map(<[bool]>::to_vec), margins.clone()));
        Ok(margins)
    }
}

/// What a device gave for one tree.
fn only<T>(mut all: Vec<T>) -> Result<T> {
    all.pop().ok_or_else(|| Error::data("a device gave nothing for a tree"))
}

/// Rows whose scaled loss is one task: few, since logarithms and exponentials take long.
const SCALED_ROWS: usize = 256;

/// Draws as a device takes them.
fn with_draws<T>(draws: &[Draw<'_>], work: impl FnOnce(&[DeviceDraw<'_>]) -> T) -> T {
    let margins = |by: &Draw<'_>| match by.direction {
        Direction::Margin(margin) => vec![margin],
        Direction::Group(inside) => (0..inside.len()).filter(|&margin| inside[margin]).collect(),
    };
    let margins: Vec<Vec<usize>> = draws.iter().map(margins).collect();
    let all: Vec<DeviceDraw<'_>> = draws
        .iter()
        .zip(&margins)
        .map(|(draw, margins)| DeviceDraw {
            margins,
            powers: draw.power.powers(),
            among: draw.among,
            size: draw.size as u64,
            start: start_of(draw.start),
        })
        .collect();
    work(&all)
}

impl Engine for DeviceEngine<'_> {
    type State = DeviceState;
    type Addresses = Handle;

    fn rows(&self) -> usize {
        self.targets.len()
    }

    fn targets(&self) -> Result<Vec<u32>> {
        Ok(self.targets.to_vec())
    }

    fn totals(&self, objective: &dyn Objective) -> Result<Vec<i64>> {
        Ok(objective.totals(self.targets, &self.weights))
    }

    fn begin(&self, start: &Start<'_>) -> Result<DeviceState> {
        let objective = start.objective.clone();
        let handle = self.rows.begin(&DeviceStart {
            objective: objective.on_device(),
            hessian: objective.hessian(),
            bias: start.bias,
            held_out: start.held_out,
        })?;
        let mut state = DeviceState { handle, objective, tally: Mutex::default(), read: Mutex::default() };
        for tree in start.trees {
            let addresses = self.address(&state, tree)?;
            self.shift(&mut state, tree, &addresses)?;
        }
        self.update(&mut state, &[])?;
        Ok(state)
    }

    fn draw(&self, state: &DeviceState, by: &Draw<'_>) -> Result<Picks> {
        Ok(self.draw_each(state, std::slice::from_ref(by))?.pop().unwrap_or_default())
    }

    fn draw_each(&self, state: &DeviceState, draws: &[Draw<'_>]) -> Result<Vec<Picks>> {
        with_draws(draws, |draws| self.rows.draw(&state.handle, draws))
    }

    fn gather(&self, picks: &Picks, words: &[u32]) -> Result<Sample> {
        let columns = self.columns_of(words)?;
        let handle = self.rows.gather(picks, &columns)?;
        Ok(Sample::on_device(picks.each_ref().map(|side| side.len() as u32), columns, handle))
    }

    fn samples(
        &self,
        state: &DeviceState,
        draws: &[Draw<'_>],
        words: &[Vec<u32>],
    ) -> Result<Vec<Option<Sample>>> {
        let columns = words.iter().map(|words| self.columns_of(words)).collect::<Result<Vec<_>>>()?;
        let samples = with_draws(draws, |draws| self.rows.samples(&state.handle, draws, &columns))?;
        let sample = |(sample, columns): (Option<DeviceSample>, Vec<u32>)| {
            sample.map(|(rows, handle)| Sample::on_device(rows, columns, handle))
        };
        Ok(samples.into_iter().zip(columns).map(sample).collect())
    }

    fn fetch(&self, sample: Sample) -> Result<Sample> {
        sample.fetched(|handle, words| self.rows.sample_words(handle, words))
    }

    fn searches(&self, arities: &[usize], candidates: u32) -> bool {
        self.rows.climbs(arities, candidates)
    }

    fn search(&self, trees: Vec<TreeToClimb<'_>>, logs: &LogTable) -> Result<Vec<Climbed>> {
        let climbs = trees.into_iter().map(|tree| {
            let TreeToClimb { sample, arities, leaves, candidates, trials } = tree;
            let sample = sample.handle().ok_or_else(|| Error::data("a sample is not on the device"))?;
            Ok(DeviceClimb { sample, arities, leaves, candidates, trials })
        });
        let climbs = climbs.collect::<Result<Vec<_>>>()?;
        let climbed = self.rows.climb(&climbs, logs)?;
        Ok(climbed.into_iter().map(|(leaves, tables)| Climbed { leaves, tables }).collect())
    }

    fn address(&self, _: &DeviceState, tree: &VoteTree) -> Result<Handle> {
        only(self.rows.address(&[tree])?)
    }

    fn address_each(&self, _: &DeviceState, trees: &[VoteTree]) -> Result<Vec<Handle>> {
        self.rows.address(&trees.iter().collect::<Vec<_>>())
    }

    fn sum(&self, state: &DeviceState, what: &Summand<'_, Handle>) -> Result<Vec<Sums>> {
        only(self.sum_each(state, std::slice::from_ref(what))?)
    }

    fn sum_each(&self, state: &DeviceState, all: &[Summand<'_, Handle>]) -> Result<Vec<Vec<Sums>>> {
        let all = all.iter().map(|&Summand { margin, addresses, count, climbed }| DeviceSum {
            margin,
            addresses,
            count,
            climbed,
        });
        let sums = self.rows.sum(&state.handle, &all.collect::<Vec<_>>())?;
        let of_tree = |sums: Vec<[i64; 2]>| {
            sums.into_iter().map(|[gradient, hessian]| Sums { gradient, hessian }).collect()
        };
        Ok(sums.into_iter().map(of_tree).collect())
    }

    fn update(&self, state: &mut DeviceState, trees: &[(&VoteTree, &Handle)]) -> Result<()> {
        let is_known = state.is_known();
        state.forget();
        self.rows.update(&mut state.handle, trees, is_known)?;
        if is_known { Ok(()) } else { self.make_gradients(state) }
    }

    fn update_and_sum(
        &self,
        state: &mut DeviceState,
        tree: Option<(&VoteTree, &Handle)>,
        next: Option<&Summand<'_, Handle>>,
    ) -> Result<Vec<Sums>> {
        if tree.is_some() {
            self.update(state, tree.as_slice())?;
        }
        next.map_or_else(|| Ok(Vec::new()), |next| self.sum(state, next))
    }

    fn shift(&self, state: &mut DeviceState, tree: &VoteTree, addresses: &Handle) -> Result<()> {
        state.forget();
        self.rows.update(&mut state.handle, &[(tree, addresses)], false)
    }

    fn margins(&self, state: &DeviceState) -> Result<Vec<Vec<i32>>> {
        self.rows.margins(&state.handle)
    }

    fn loss(&self, state: &DeviceState) -> Result<Loss> {
        if state.is_known() && state.objective.classifies() {
            let parts = self.rows.likelihoods(&state.handle)?;
            let loss = |part: &Likelihood| Loss::new(part.wrong, -log_of_product(part.product, part.power));
            return Ok(parts.iter().map(loss).fold(Loss::default(), Loss::and));
        }
        let lists = self.rows.margins(&state.handle)?;
        let chunks = self.targets.par_chunks(CHUNK_ROWS).enumerate();
        let loss = |(chunk, targets): (usize, &[u32])| {
            let rows = chunk * CHUNK_ROWS..chunk * CHUNK_ROWS + targets.len();
            let margins: Vec<&[i32]> = lists.iter().map(|list| &list[rows.clone()]).collect();
            let mut gradients = vec![vec![0; targets.len()]; lists.len()];
            let mut filled: Vec<&mut [i32]> = gradients.iter_mut().map(Vec::as_mut_slice).collect();
            state.objective.gradients(&margins, targets, &mut filled);
            let gradients: Vec<&[i32]> = gradients.iter().map(Vec::as_slice).collect();
            state.objective.loss(self.kernels, &margins, &gradients, targets)
        };
        Ok(chunks.map(loss).reduce(Loss::default, Loss::and))
    }

    fn scaled_loss(&self, state: &DeviceState, among: Option<&[bool]>, scale: &Scale) -> Result<[i128; 3]> {
        let fixed = |term: f64| (term * (1u64 << 32) as f64) as i128;
        let add = |a: [i128; 3], b: [i128; 3]| std::array::from_fn(|i| a[i] + b[i]);
        if state.is_logistic()
            && let Some(tally) = self.tally(state, among)?
        {
            // Few margins differ: each is scaled once for all rows that have it.
            let sums = tally.iter().map(|count| {
                let terms = state.objective.scaled(&[count.margin], count.target, scale.factor, scale.doubt);
                terms.map(|term| fixed(term) * i128::from(count.rows))
            });
            return Ok(sums.fold([0; 3], add));
        }
        let SomeMargins { rows, lists } = &*self.margins_among(state, among)?;
        let chunks = rows.par_chunks(SCALED_ROWS).enumerate();
        let sums = chunks.map(|(chunk, rows)| {
            let mut sums = [0i128; 3];
            let mut margins = vec![0; lists.len()];
            for (place, &row) in (chunk * SCALED_ROWS..).zip(rows) {
                margins.iter_mut().zip(lists).for_each(|(to, from)| *to = from[place]);
                let target = self.targets[row as usize];
                let terms = state.objective.scaled(&margins, target, scale.factor, scale.doubt);
                sums = add(sums, terms.map(fixed));
            }
            sums
        });
        Ok(sums.reduce(|| [0; 3], add))
    }
}
