//! Rows on a device, and the phases of a round that touch them all.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use gatewood::circuit::{Target, VoteTree};
use gatewood::learn::device::*;
use gatewood::learn::gate::LogTable;
use gatewood::learn::objective::Hessian;
use gatewood::{Error, Result};

use crate::backend::{Backend, Buffer, Parameters, Staging, address_or_none};
use crate::climb;
use crate::columns::Columns;
use crate::draw::alike;

/// Rows of a block whose sums fit in two numbers of 32 bits.
const SUM_ROWS: usize = 1 << 16;

/// Addresses that are many.
const MANY_SUMS: usize = 512;

/// Bytes of the sums of a block: with a quarter of them, several blocks run side by side.
const MOST_SUM_BYTES: usize = 96 << 10;

/// Margins that can be tallied: from the least to the largest.
const TALLIED: i64 = 1 << 22;

/// Rows on a device.
pub(crate) struct CudaRows<'a> {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) rows: usize,
    pub(crate) columns: Columns<'a>,
    targets: Buffer<u32>,
    pub(crate) weights: Option<Buffer<u32>>,
    /// What sizes of gradients are drawn by, kept from one draw to the next.
    powers: Mutex<Option<Powers>>,
    /// `x log2 x`, as far as it was needed.
    pub(crate) logs: Mutex<Option<Arc<Buffer<i64>>>>,
}

/// Powers here, and there.
type Powers = (Vec<u32>, Arc<Buffer<u32>>);

/// Margins and gradients.
pub(crate) struct State {
    objective: Objective,
    hessian: u64,
    /// How many margins a row has.
    count: usize,
    margins: Buffer<i32>,
    pub(crate) gradients: Buffer<i32>,
    pub(crate) learned: Option<Buffer<u8>>,
}

/// An objective's tables.
enum Objective {
    Logistic(Buffer<u32>),
    Softmax(Buffer<f32>),
    Slopes(f64, Buffer<f64>),
    Processor,
}

/// A sample of rows.
pub(crate) struct Sample {
    pub(crate) rows: [u32; 2],
    /// Words of 64 bits of the lower side, and of both.
    pub(crate) split: usize,
    pub(crate) stride: usize,
    pub(crate) words: Buffer<u64>,
}

/// What a handle of this device holds.
pub(crate) fn held<T: 'static>(handle: &Handle) -> Result<&T> {
    handle.downcast_ref().ok_or_else(|| Error::data("a device was handed what another device made"))
}

/// Words of a side: whole blocks of eight.
pub(crate) fn padded_words(rows: usize) -> usize {
    rows.div_ceil(64).next_multiple_of(8)
}

impl<'a> CudaRows<'a> {
    pub(crate) fn load(
        backend: Arc<dyn Backend>,
        columns: ColumnsToLoad<'a>,
        rows: &RowsToLoad<'_>,
    ) -> Result<Self> {
        let columns = Columns::load(backend.clone(), columns, rows)?;
        let targets = Buffer::of(&backend, rows.targets)?;
        let weights = Some(rows.weights).filter(|weights| !weights.is_empty());
        let weights = weights.map(|weights| Buffer::of(&backend, weights)).transpose()?;
        backend.wait()?;
        let (powers, logs) = (Mutex::default(), Mutex::default());
        Ok(Self { backend, rows: rows.targets.len(), columns, targets, weights, powers, logs })
    }

    /// Powers on the device; none for none.
    pub(crate) fn powers_there(&self, powers: &[u32]) -> Result<Option<Arc<Buffer<u32>>>> {
        if powers.is_empty() {
            return Ok(None);
        }
        let mut kept = self.powers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, there)) = kept.as_ref().filter(|(here, _)| here == powers) {
            return Ok(Some(there.clone()));
        }
        let there = Arc::new(Buffer::of(&self.backend, powers)?);
        // Other threads read it, too.
        self.backend.wait()?;
        *kept = Some((powers.to_vec(), there.clone()));
        Ok(Some(there))
    }

    /// Begins a kernel with a thread for each of some items, or fewer that take several.
    fn launch(&self, kernel: &'static str, items: usize, at: &[u64]) -> Result<()> {
        self.launch_lines(kernel, items, 1, at)
    }

    /// The same for each of some lines of blocks.
    fn launch_lines(&self, kernel: &'static str, items: usize, lines: usize, at: &[u64]) -> Result<()> {
        let threads = self.backend.threads()[0];
        let most = (16 * self.backend.blocks() as usize).div_ceil(lines.max(1));
        let grid = [items.div_ceil(threads as usize).clamp(1, most) as u32, lines as u32];
        self.backend.launch(kernel, grid, threads, 0, parameters(at))
    }

    /// Begins to add the votes of trees of different margins, which are kept until that is done.
    fn add_votes(&self, state: &State, trees: &[(&VoteTree, &Handle)]) -> Result<Buffer<u64>> {
        // For each tree four numbers, then the votes, two in a number.
        let mut list = vec![0; 4 * trees.len()];
        let mut begin = Vec::with_capacity(trees.len());
        for (tree, _) in trees {
            begin.push(8 * list.len() as u64);
            let both = |votes: &[i32]| {
                u64::from(votes[0] as u32) | u64::from(votes.get(1).map_or(0, |&vote| vote as u32)) << 32
            };
            list.extend(tree.votes().chunks(2).map(both));
        }
        let there: Buffer<u64> = Buffer::new(&self.backend, list.len())?;
        for ((described, &(tree, addresses)), begin) in list.chunks_exact_mut(4).zip(trees).zip(begin) {
            let (first, count) = match tree.target() {
                Target::One(margin) => (margin as u64, 1),
                Target::All => (0, state.count as u64),
            };
            let addresses = held::<Buffer<u16>>(addresses)?.address();
            described.copy_from_slice(&[addresses, there.address() + begin, first, count]);
        }
        there.put(0, &list)?;
        let at = [state.margins.address(), self.rows as u64, there.address()];
        let threads = self.backend.threads()[0];
        let blocks = self.rows.div_ceil(threads as usize).clamp(1, 16 * self.backend.blocks() as usize);
        self.backend.launch("vote", [blocks as u32, trees.len() as u32], threads, 0, parameters(&at))?;
        Ok(there)
    }

    fn update_gradients(&self, state: &State, tree: Option<(&VoteTree, &Buffer<u16>)>) -> Result<()> {
        let (margins, gradients) = (state.margins.address(), state.gradients.address());
        let (rows, targets) = (self.rows as u64, self.targets.address());
        match &state.objective {
            Objective::Logistic(probabilities) => {
                let votes = tree.map(|(tree, _)| Buffer::of(&self.backend, tree.votes())).transpose()?;
                let addresses = address_or_none(tree.map(|(_, addresses)| addresses));
                let limit = probabilities.len() as u64 / 2;
                let votes_at = address_or_none(votes.as_ref());
                let at =
                    [margins, rows, addresses, votes_at, targets, probabilities.address(), limit, gradients];
                self.launch("update_logistic", self.rows, &at)?;
                // The votes are given back.
                return self.backend.wait();
            }
            Objective::Softmax(exponentials) => {
                let (count, limit) = (state.count as u64, exponentials.len() as u64 - 1);
                let at = [margins, rows, count, targets, exponentials.address(), limit, gradients];
                self.launch("gradient_softmax", self.rows, &at)?;
            }
            Objective::Slopes(unit, slopes) => {
                let count = state.count as u64;
                let at = [margins, rows, count, targets, unit.to_bits(), slopes.address(), gradients];
                self.launch("gradient_slopes", self.rows, &at)?;
            }
            Objective::Processor => {}
        }
        self.backend.wait()
    }
}

/// The parameters of a kernel.
pub(crate) fn parameters(at: &[u64]) -> Parameters {
    let mut all = [0; 16];
    all[..at.len()].copy_from_slice(at);
    all
}

impl DeviceRows for CudaRows<'_> {
    fn begin(&self, start: &DeviceStart<'_>) -> Result<Handle> {
        let backend = &self.backend;
        let count = start.bias.len();
        let margins = Buffer::new(backend, count * self.rows)?;
        for (margin, &bias) in start.bias.iter().enumerate() {
            let at = margins.address() + (margin * self.rows * 4) as u64;
            self.launch("fill", self.rows, &[at, self.rows as u64, bias as u32 as u64])?;
        }
        let objective = match &start.objective {
            DeviceObjective::Logistic { probabilities } => {
                Objective::Logistic(Buffer::of(backend, probabilities)?)
            }
            DeviceObjective::Softmax { exponentials } => {
                Objective::Softmax(Buffer::of(backend, exponentials)?)
            }
            DeviceObjective::Slopes { unit, slopes } => {
                Objective::Slopes(*unit, Buffer::of(backend, slopes.as_flattened())?)
            }
            _ => Objective::Processor,
        };
        let hessian = match start.hessian {
            Hessian::Logistic => 0,
            Hessian::One => 1,
            Hessian::Count => 2,
            other => return Err(Error::setting(format!("the GPU knows no hessian of {other:?}"))),
        };
        let learned: Vec<bool> = start.held_out.unwrap_or_default().iter().map(|held| !held).collect();
        let learned = Buffer::marks(backend, &learned)?;
        let gradients = Buffer::zeros(backend, count * self.rows)?;
        backend.wait()?;
        Ok(Box::new(State { objective, hessian, count, margins, gradients, learned }))
    }

    fn draw(&self, state: &Handle, draws: &[DeviceDraw<'_>]) -> Result<Vec<[Vec<u32>; 2]>> {
        let mut all = Vec::with_capacity(draws.len());
        for draws in alike(draws) {
            let drawn = self.begin_draws(held(state)?, draws)?;
            all.extend(self.picks_here(drawn)?);
        }
        Ok(all)
    }

    fn gather(&self, picks: &[Vec<u32>; 2], columns: &[u32]) -> Result<Handle> {
        let sample = self.samples_of(self.picked(picks)?, &[columns])?.pop().flatten();
        Ok(Box::new(sample.ok_or_else(|| Error::data("rows of a sample are all of one side"))?))
    }

    fn samples(
        &self,
        state: &Handle,
        draws: &[DeviceDraw<'_>],
        columns: &[Vec<u32>],
    ) -> Result<Vec<Option<DeviceSample>>> {
        let mut all = Vec::with_capacity(draws.len());
        for draws in alike(draws) {
            let drawn = self.begin_draws(held(state)?, draws)?;
            let wanted: Vec<&[u32]> =
                columns[all.len()..][..draws.len()].iter().map(|columns| &columns[..]).collect();
            let handle = |sample: Sample| (sample.rows, Box::new(sample) as Handle);
            all.extend(self.samples_of(drawn, &wanted)?.into_iter().map(|sample| sample.map(handle)));
        }
        Ok(all)
    }

    fn sample_words(&self, sample: &Handle, words: &mut [u64]) -> Result<()> {
        held::<Sample>(sample)?.words.get(words)
    }

    fn climbs(&self, arities: &[usize], candidates: u32) -> bool {
        climb::climbs(&*self.backend, arities, candidates)
    }

    fn climb(&self, climbs: &[DeviceClimb<'_>], logs: &LogTable) -> Result<Vec<(Vec<u32>, Vec<u64>)>> {
        climb::climb(self, climbs, logs)
    }

    fn address(&self, trees: &[&VoteTree]) -> Result<Vec<Handle>> {
        let backend = &self.backend;
        let Some(first) = trees.first() else { return Ok(Vec::new()) };
        let arities = first.arities();
        if arities.len() > 3 || trees.iter().any(|tree| tree.arities() != arities) {
            return Err(Error::setting("the GPU knows trees of one shape and of three levels at the most"));
        }
        let tables: Vec<u64> = trees.iter().flat_map(|tree| tree.tables()).copied().collect();
        let leaves: Vec<u32> = trees.iter().flat_map(|tree| tree.leaves()).copied().collect();
        let tables = Buffer::of(backend, &tables)?;
        // Those of 32 rows are written at once.
        let addresses = trees.iter().map(|_| Buffer::new(backend, self.rows.next_multiple_of(64)));
        let addresses: Vec<Buffer<u16>> = addresses.collect::<Result<_>>()?;
        let to = Buffer::of(backend, &addresses.iter().map(Buffer::address).collect::<Vec<u64>>())?;
        let mut at = [0; 16];
        (at[4], at[5], at[12]) = (tables.address(), arities.len() as u64, to.address());
        (at[13], at[14]) = (first.leaves().len() as u64, first.tables().len() as u64);
        let (mut gates, mut table) = (first.leaves().len(), 0);
        for (level, &arity) in arities.iter().enumerate() {
            gates /= arity;
            at[6 + level] = arity as u64;
            at[9 + level] = table as u64;
            table += gates * table_words(arity);
        }
        self.columns.each_block(&leaves, |piece| {
            let words = 2 * piece.words.len();
            (at[0], at[1]) = (piece.sheet.address, 2 * piece.sheet.stride as u64);
            (at[2], at[3]) = (words as u64, piece.places.address());
            at[15] = 2 * piece.words.start as u64;
            self.launch_lines("address", words, trees.len(), &at)
        })?;
        Ok(addresses.into_iter().map(|addresses| Box::new(addresses) as Handle).collect())
    }

    fn sum(&self, state: &Handle, sums: &[DeviceSum<'_>]) -> Result<Vec<Vec<[i64; 2]>>> {
        let (state, backend) = (held::<State>(state)?, &self.backend);
        let count = sums.iter().map(|sum| sum.count).max().unwrap_or(0);
        let climbed =
            sums.iter().map(|sum| Buffer::marks(backend, sum.climbed)).collect::<Result<Vec<_>>>()?;
        let mut trees = Vec::with_capacity(3 * sums.len());
        for (sum, climbed) in sums.iter().zip(&climbed) {
            let gradients = state.gradients.address() + (sum.margin * self.rows * 4) as u64;
            let addresses = held::<Buffer<u16>>(sum.addresses)?.address();
            trees.extend([gradients, addresses, address_or_none(climbed.as_ref())]);
        }
        let trees = Buffer::of(backend, &trees)?;
        let all: Buffer<u64> = Buffer::zeros(backend, 2 * count * sums.len())?;
        let learned = address_or_none(state.learned.as_ref());
        let threads = backend.threads()[0] as usize;
        // Blocks of each tree: as many as keep all processors busy, and no more rows of one than its sums have room for.
        let wanted = (4 * backend.blocks() as usize).div_ceil(sums.len().max(1));
        let blocks = self.rows.div_ceil(4 * threads).clamp(1, wanted).max(self.rows.div_ceil(SUM_ROWS));
        let rows = self.rows as u64;
        let is_even = state.hessian == 0 && self.weights.is_none() && climbed.iter().all(Option::is_none);
        // Sums for every lane where there is room; the fewest that share them else.
        let most = backend.shared_bytes().min(MOST_SUM_BYTES);
        let lanes = [32, 16, 8, 4, 2].into_iter().find(|lanes| 16 * count * lanes <= most / 4);
        let lanes = lanes.or((16 * count <= most).then_some(1)).filter(|_| is_even);
        match lanes {
            Some(lanes) => {
                let at = [trees.address(), rows, count as u64, lanes as u64, learned, all.address()];
                // Of many addresses, few blocks of many threads: what a block adds to the sums of all counts, too.
                let (blocks, threads) = match count >= MANY_SUMS {
                    true => {
                        (self.rows.div_ceil(SUM_ROWS).max(backend.blocks() as usize), backend.threads()[1])
                    }
                    false => (blocks, backend.threads()[0]),
                };
                let grid = [blocks as u32, sums.len() as u32];
                backend.launch("sum_even", grid, threads, (16 * count * lanes) as u32, parameters(&at))?;
            }
            None => {
                let shared = if 16 * count <= most { 16 * count } else { 0 };
                let at = [
                    trees.address(),
                    rows,
                    count as u64,
                    self.targets.address(),
                    learned,
                    all.address(),
                    address_or_none(self.weights.as_ref()),
                    state.hessian,
                    (shared > 0).into(),
                ];
                let grid = [blocks as u32, sums.len() as u32];
                backend.launch("sum_weighed", grid, threads as u32, shared as u32, parameters(&at))?;
            }
        }
        // Rows that count for one are weighed all at once.
        let weight = if lanes.is_some() { 256 } else { 1 };
        let both = |sums: &[u64]| [sums[0] as i64 * weight, sums[1] as i64 * weight];
        let of_tree = |(found, sum): (&[u64], &DeviceSum<'_>)| {
            found.chunks_exact(2).take(sum.count).map(both).collect()
        };
        Ok(all.list()?.chunks((2 * count).max(1)).zip(sums).map(of_tree).collect())
    }

    fn update(&self, state: &mut Handle, trees: &[(&VoteTree, &Handle)], gradients: bool) -> Result<()> {
        let state = held::<State>(state)?;
        let fused = gradients && matches!(state.objective, Objective::Logistic(_));
        let (first, last) = match trees.split_last() {
            Some((&(tree, addresses), first)) if fused => {
                (first, Some((tree, held::<Buffer<u16>>(addresses)?)))
            }
            _ => (trees, None),
        };
        // Trees that vote on the same margin do so one after the other.
        let margins = first.iter().filter_map(|(tree, _)| match tree.target() {
            Target::One(margin) => Some(margin),
            Target::All => None,
        });
        let are_apart = margins.collect::<BTreeSet<_>>().len() == first.len();
        let together = if are_apart { first.len().max(1) } else { 1 };
        let votes = first.chunks(together).map(|trees| self.add_votes(state, trees));
        let votes = votes.collect::<Result<Vec<_>>>();
        // Votes are given back when all work is done, whatever failed.
        let updated = if gradients { self.update_gradients(state, last) } else { Ok(()) };
        self.backend.wait().and(votes.map(|_| ())).and(updated)
    }

    fn set_gradients(&self, state: &mut Handle, gradients: &[Vec<i32>]) -> Result<()> {
        let state = held::<State>(state)?;
        for (margin, gradients) in gradients.iter().enumerate() {
            state.gradients.put(margin * self.rows, gradients)?;
        }
        self.backend.wait()
    }

    fn margins(&self, state: &Handle) -> Result<Vec<Vec<i32>>> {
        let margins = held::<State>(state)?.margins.list()?;
        Ok(margins.chunks(self.rows.max(1)).map(<[i32]>::to_vec).collect())
    }

    fn margins_of(&self, state: &Handle, rows: &[u32]) -> Result<Vec<Vec<i32>>> {
        let (state, backend) = (held::<State>(state)?, &self.backend);
        let there = Buffer::of(backend, rows)?;
        let mut some: Staging<i32> = Staging::new(backend, state.count * rows.len())?;
        let (count, to) = (rows.len() as u64, some.list().as_ptr() as u64);
        let at = [state.margins.address(), self.rows as u64, there.address(), count, state.count as u64, to];
        self.launch("margins_of", some.list().len(), &at)?;
        backend.wait()?;
        Ok(some.list().chunks(rows.len().max(1)).map(<[i32]>::to_vec).collect())
    }

    fn likelihoods(&self, state: &Handle) -> Result<Vec<Likelihood>> {
        let (state, backend) = (held::<State>(state)?, &self.backend);
        let chunks = self.rows.div_ceil(LOSS_ROWS);
        let mut products: Staging<f64> = Staging::new(backend, 8 * chunks)?;
        let mut powers: Staging<i64> = Staging::new(backend, 8 * chunks)?;
        let mut wrong: Staging<u32> = Staging::new(backend, chunks)?;
        let at = [
            state.margins.address(),
            self.rows as u64,
            state.count as u64,
            self.targets.address(),
            state.gradients.address(),
            products.list().as_ptr() as u64,
            powers.list().as_ptr() as u64,
            wrong.list().as_ptr() as u64,
        ];
        // A number for each row, and a word for each warp.
        let (threads, shared) = (backend.threads()[1], 4 * LOSS_ROWS + 8 * 32);
        backend.launch("likelihood", [chunks as u32, 1], threads, shared as u32, parameters(&at))?;
        backend.wait()?;
        let (products, powers, wrong) = (products.list(), powers.list(), wrong.list());
        let chunk = |chunk: usize| {
            let lanes = 8 * chunk..8 * chunk + 8;
            let rows = LOSS_ROWS.min(self.rows - chunk * LOSS_ROWS) as i64;
            Likelihood {
                wrong: wrong[chunk].into(),
                product: products[lanes.clone()].iter().product(),
                power: powers[lanes].iter().sum::<i64>() - 24 * rows,
            }
        };
        Ok((0..chunks).map(chunk).collect())
    }

    fn tally(&self, state: &Handle, among: Option<&[bool]>) -> Result<Option<Vec<MarginCount>>> {
        let (state, backend) = (held::<State>(state)?, &self.backend);
        let among = Buffer::marks(backend, among.unwrap_or_default())?;
        let range = Buffer::of(backend, &[i32::MAX, i32::MIN])?;
        let (rows, chosen) = (self.rows as u64, address_or_none(among.as_ref()));
        let at = [state.margins.address(), rows, chosen, range.address()];
        self.launch("margin_range", self.rows, &at)?;
        let range = range.list()?;
        let [least, most] = [range[0], range[1]].map(i64::from);
        if least > most {
            return Ok(Some(Vec::new()));
        }
        let margins = most - least + 1;
        if margins > TALLIED || self.rows > u32::MAX as usize {
            return Ok(None);
        }
        let counts: Buffer<u32> = Buffer::zeros(backend, 2 * margins as usize)?;
        let least_bits = range[0] as u32 as u64;
        let at =
            [state.margins.address(), rows, chosen, least_bits, self.targets.address(), counts.address()];
        self.launch("tally", self.rows, &at)?;
        let counts = counts.list()?;
        let counts = counts.chunks_exact(2).zip(range[0]..).flat_map(|(counts, margin)| {
            let count = move |target: u32, rows: u32| MarginCount { margin, target, rows: rows.into() };
            [count(0, counts[0]), count(1, counts[1])]
        });
        Ok(Some(counts.filter(|count| count.rows > 0).collect()))
    }
}

/// Words of a table of so many inputs.
pub(crate) fn table_words(arity: usize) -> usize {
    (1usize << arity).div_ceil(64)
}
