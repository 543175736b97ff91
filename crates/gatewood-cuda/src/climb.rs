//! Hill climbing on a device: many trials at once, the first that makes a tree better is taken.

use std::sync::{Arc, PoisonError};

use gatewood::Result;
use gatewood::learn::device::DeviceClimb;
use gatewood::learn::gate::LogTable;

use crate::backend::{Backend, Buffer, Staging};
use crate::rows::{CudaRows, Sample, held, table_words};

/// Trials of a tree at once, at least where trees are many, and at most.
const FEWEST_TRIALS: u32 = 8;
const MOST_TRIALS: u32 = 64;

/// Words of 32 bits of a column that a thread has in a trial.
const WORDS_A_THREAD: u32 = 1;

/// Blocks of trials for every one that runs at a time.
const BLOCKS_A_PROCESSOR: u32 = 3;

/// Bytes of columns that a block shares at the most, so that several blocks run at a time.
const OWN_BYTES: usize = 40 << 10;

/// Inputs of gates up to which a lane has an address, and a warp makes a trial by itself.
const LANE_INPUTS: usize = 5;

/// Warps of a block that make a trial each, and blocks of a tree then.
const WARPS: u32 = 8;
const WARP_BLOCKS: u32 = 12;

/// Rows of a side that a half of a number of 32 bits counts.
const HALF_ROWS: u32 = u16::MAX as u32;

/// Most columns that a trial compares.
const MOST_CANDIDATES: u32 = 128;

/// Most inputs of a gate below the root: its addresses are sorted by comparing all with all.
const MOST_INNER: usize = 8;

/// Inputs of a root up to which each address is a mask.
const FEW_INPUTS: usize = 6;

/// Numbers of 64 bits of a tree's description, as the kernels have it.
const CLIMB_WORDS: usize = 17;

/// Numbers of 64 bits of the outcome of a trial.
const OUTCOME_WORDS: usize = 3;

/// Words of tables, those of the widest gate below the root.
fn most_table_words(arities: &[usize]) -> usize {
    arities[..arities.len() - 1].iter().map(|&arity| table_words(arity)).max().unwrap_or(1)
}

/// The bytes that the threads of a block share while gates are fitted.
fn shared_bytes(arities: &[usize], candidates: u32) -> usize {
    let addresses = |arity: &usize| 1usize << arity;
    let inner = arities[..arities.len() - 1].iter().map(addresses).max().unwrap_or(1);
    let all = arities.iter().map(addresses).max().unwrap_or(1);
    let compared = if candidates > 1 { (candidates as usize + 1) << arities[0] } else { 0 };
    8 * (16 + 96 + most_table_words(arities)) + 4 * (2 * inner + 2 * all.max(compared))
}

/// Gates below the root.
fn gates_below(arities: &[usize]) -> usize {
    (1..arities.len()).map(|level| arities[level..].iter().product::<usize>()).sum()
}

/// The slots of a tree: its gates below the root, and what so many trials make.
fn slots_of(arities: &[usize], width: u32) -> usize {
    gates_below(arities) + width as usize * (arities.len() - 1)
}

/// The bytes that a block shares while trials are made, without addresses: it keeps its tree for itself.
fn trial_bytes(arities: &[usize], candidates: u32) -> usize {
    let leaves: usize = arities.iter().product();
    let lists = (leaves + slots_of(arities, MOST_TRIALS)).next_multiple_of(2);
    let root = arities[arities.len() - 1];
    let counts = if root > FEW_INPUTS { 8usize << root } else { 0 };
    shared_bytes(arities, candidates) + 8 * CLIMB_WORDS + 4 * lists + counts
}

/// How trials are made.
struct Way {
    kernel: &'static str,
    threads: u32,
    /// Bytes that a block shares.
    shared: usize,
    /// Trees at a time, blocks of each, and trials of each at a time.
    together: u32,
    blocks: u32,
    width: u32,
    /// Numbers that are counted for each trial of a step and of the one before it.
    cells: usize,
    /// Copies of the root's address of every row.
    copies: usize,
    /// Whether a block shares its copy, and whether it shares the columns of its tree.
    shares_addresses: bool,
    shares_columns: bool,
}

impl Way {
    /// For trees whose columns have so many words of 32 bits.
    fn new(
        backend: &dyn Backend,
        first: &DeviceClimb<'_>,
        trees: usize,
        samples: &[&Sample],
        words: usize,
    ) -> Result<Self> {
        match Self::by_warps(backend, first, samples, words) {
            Some(way) => way.placed(backend, trees, [1, WARP_BLOCKS], backend.blocks()),
            None => {
                let way = Self::by_blocks(backend, first, words);
                let mut way = way.placed(
                    backend,
                    trees,
                    [FEWEST_TRIALS, MOST_TRIALS],
                    BLOCKS_A_PROCESSOR * backend.blocks(),
                )?;
                if way.copies > 0 && !way.shares_addresses {
                    way.copies += way.width as usize;
                }
                Ok(way)
            }
        }
    }

    /// A warp for each trial; none where trees are too large for that.
    fn by_warps(
        backend: &dyn Backend,
        first: &DeviceClimb<'_>,
        samples: &[&Sample],
        words: usize,
    ) -> Option<Self> {
        let arities = first.arities;
        let fits = first.candidates <= 1
            && arities.iter().all(|&arity| arity <= LANE_INPUTS)
            && samples.iter().flat_map(|sample| sample.rows).all(|rows| rows <= HALF_ROWS);
        let threads = (32 * WARPS).min(backend.threads()[0]);
        let (leaves, inner) = (first.leaves.len(), gates_below(arities));
        let columns = leaves + inner + 1 + threads as usize / 32 * (arities.len() - 1);
        let shared = 4 * (words * columns + 32 * (inner + 1) + leaves + inner + 1);
        (fits && shared <= backend.shared_bytes()).then_some(Self {
            kernel: "climb_warps",
            threads,
            shared,
            together: 0,
            blocks: 0,
            width: 0,
            cells: 32 * arities.len(),
            copies: 0,
            shares_addresses: false,
            shares_columns: true,
        })
    }

    /// A block for each trial.
    fn by_blocks(backend: &dyn Backend, first: &DeviceClimb<'_>, words: usize) -> Self {
        let arities = first.arities;
        let (depth, root) = (arities.len(), arities[arities.len() - 1]);
        let mut shared = trial_bytes(arities, first.candidates.max(1));
        // Where the root has many inputs, its address of every row is kept: by each block for itself, if it has room.
        let is_kept = root > FEW_INPUTS;
        let kept = if is_kept { 64 * words } else { 0 };
        let shares_addresses = is_kept && shared + kept <= backend.shared_bytes();
        shared += if shares_addresses { kept } else { 0 };
        // The columns of a tree are shared, too, where they are short.
        let own = 4 * words * (first.leaves.len() + gates_below(arities) + depth - 1) + 16;
        let shares_columns = !is_kept && own <= OWN_BYTES && shared + own <= backend.shared_bytes();
        shared += if shares_columns { own } else { 0 };
        Self {
            kernel: "climb_trials",
            threads: threads_of(backend, words),
            shared,
            together: 0,
            blocks: 0,
            width: 0,
            cells: if is_kept { 2 << root } else { 0 },
            copies: is_kept.into(),
            shares_addresses,
            shares_columns,
        }
    }

    /// Blocks of a tree wait for each other, so that all of them run at once: at least and at most so many of a tree, and no more of
    /// all. Where trees are many, some are climbed after the others.
    fn placed(
        mut self,
        backend: &dyn Backend,
        trees: usize,
        [fewest, most]: [u32; 2],
        all: u32,
    ) -> Result<Self> {
        let all = backend.together(self.kernel, self.threads, self.shared as u32)?.min(all).max(1);
        self.together = (trees as u32).min((all / fewest).max(1));
        self.blocks = (all / self.together).min(most);
        self.width = if self.kernel == "climb_warps" { self.blocks * self.threads / 32 } else { self.blocks };
        Ok(self)
    }
}

/// The threads of a block where each has some words of a column.
fn threads_of(backend: &dyn Backend, words: usize) -> u32 {
    (words as u32 / WORDS_A_THREAD).next_multiple_of(32).clamp(64, backend.threads()[1])
}

/// Whether trees of such arities are climbed here.
pub(crate) fn climbs(backend: &dyn Backend, arities: &[usize], candidates: u32) -> bool {
    (1..=3).contains(&arities.len())
        && arities[..arities.len() - 1].iter().all(|&arity| arity <= MOST_INNER)
        && candidates <= MOST_CANDIDATES
        && trial_bytes(arities, candidates) <= backend.shared_bytes()
}

/// Climbs trees of one shape side by side.
pub(crate) fn climb(
    rows: &CudaRows<'_>,
    climbs: &[DeviceClimb<'_>],
    logs: &LogTable,
) -> Result<Vec<(Vec<u32>, Vec<u64>)>> {
    let Some(first) = climbs.first() else { return Ok(Vec::new()) };
    let backend = &rows.backend;
    let (arities, candidates) = (first.arities, first.candidates.max(1));
    let trials = first.trials.len() / (1 + candidates as usize);
    let (depth, table) = (arities.len(), most_table_words(arities));
    let samples = climbs.iter().map(|climb| held::<Sample>(climb.sample)).collect::<Result<Vec<_>>>()?;
    let words = 2 * samples.iter().map(|sample| sample.stride).max().unwrap_or(0);
    let way = Way::new(&**backend, first, climbs.len(), &samples, words)?;
    let (width, leaves, inner) = (way.width as usize, first.leaves.len(), gates_below(arities));
    // What warps made is kept for a step and the one before it.
    let slots = slots_of(arities, if way.kernel == "climb_warps" { 2 * way.width } else { way.width });
    let logs = logs_up_to(rows, logs, samples.iter().map(|sample| sample.rows[0] + sample.rows[1]).max())?;

    // What a device is told goes there in one go, and so does what it says: descriptions, trials, leaves, slots, then tables.
    let halves = |each: usize| (climbs.len() * each).div_ceil(2);
    let begin_trials = CLIMB_WORDS * climbs.len();
    let begin_leaves = begin_trials + halves(first.trials.len());
    let begin_slots = begin_leaves + halves(leaves);
    let begin_tables = begin_slots + halves(slots);
    let end = begin_tables + climbs.len() * slots * table;
    let there: Buffer<u64> = Buffer::new(backend, end)?;
    let mut here: Staging<u64> = Staging::new(backend, end)?;
    let strides: usize = samples.iter().map(|sample| sample.stride).sum();
    let columns: Buffer<u64> = Buffer::new(backend, strides * slots)?;
    // Of a step, and of the step before it.
    let outcome_words = 2 * width * OUTCOME_WORDS;
    let outcomes: Buffer<u64> = Buffer::new(backend, climbs.len() * outcome_words)?;
    let addresses = Buffer::<u16>::new(backend, 64 * strides * way.copies)?;
    let counts: Buffer<u32> = Buffer::new(backend, 2 * climbs.len() * width * way.cells)?;
    let mut described: Vec<u64> = Vec::with_capacity(begin_trials);
    let own_slots: Vec<u32> = (0..slots as u32).collect();
    let mut column = 0;
    for (number, (climb, sample)) in climbs.iter().zip(&samples).enumerate() {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let [lower, upper] = sample.rows;
        let prior = upper as f32 / (lower + upper) as f32;
        let place = |buffer: u64, bytes: usize| buffer + (number * bytes) as u64;
        let within = |begin: usize, bytes: usize| place(there.address() + 8 * begin as u64, bytes);
        described.extend([
            sample.words.address(),
            pair(2 * sample.split as u32, 2 * sample.stride as u32),
            pair(lower, upper),
            pair(prior.to_bits(), 0),
            within(begin_leaves, 4 * leaves),
            within(begin_trials, 4 * climb.trials.len()),
            within(begin_slots, 4 * slots),
            columns.address() + 8 * (column * slots) as u64,
            within(begin_tables, 8 * slots * table),
            0,
            place(outcomes.address(), 8 * outcome_words),
            if way.copies > 0 { addresses.address() + (128 * column * way.copies) as u64 } else { 0 },
            place(counts.address(), 8 * width * way.cells),
            0,
            0,
            u64::MAX,
            u64::MAX,
        ]);
        column += sample.stride;
    }
    here.list()[..begin_trials].copy_from_slice(&described);
    let told = here.halves();
    for (number, climb) in climbs.iter().enumerate() {
        let mut tell = |begin: usize, list: &[u32]| {
            told[2 * begin + number * list.len()..][..list.len()].copy_from_slice(list);
        };
        tell(begin_trials, &climb.trials);
        tell(begin_leaves, &climb.leaves);
        tell(begin_slots, &own_slots);
    }
    there.put(0, &here.list()[..begin_tables])?;
    let mut at = [0; 16];
    (at[0], at[1]) = (there.address(), depth as u64);
    for (level, &arity) in arities.iter().enumerate() {
        at[2 + level] = arity as u64;
    }
    at[5..9].copy_from_slice(&[trials as u64, candidates.into(), logs.address(), table as u64]);
    at[10..14].copy_from_slice(&[
        leaves as u64,
        slots as u64,
        way.shares_addresses.into(),
        way.shares_columns.into(),
    ]);
    for level in 0..depth {
        let gates: usize = arities[level + 1..].iter().product();
        at[9] = level as u64;
        let grid = [gates as u32, climbs.len() as u32];
        let threads = threads_of(&**backend, words);
        backend.launch("climb_fit", grid, threads, shared_bytes(arities, candidates) as u32, at)?;
    }
    for begun in (0..climbs.len()).step_by(way.together as usize) {
        at[0] = there.address() + (8 * CLIMB_WORDS * begun) as u64;
        let grid = [way.blocks, way.together.min((climbs.len() - begun) as u32)];
        backend.launch_together(way.kernel, grid, way.threads, way.shared as u32, at)?;
    }
    let said = &mut here.list()[begin_leaves..];
    there.get_from(begin_leaves, said)?;
    let number =
        |begin: usize, place: usize| (said[begin - begin_leaves + place / 2] >> (32 * (place % 2))) as u32;
    let climbed = (0..climbs.len()).map(|tree| {
        let mut gates = (0..inner).map(|gate| number(begin_slots, tree * slots + gate));
        let mut own = Vec::new();
        for level in 0..depth - 1 {
            let level_gates: usize = arities[level + 1..].iter().product();
            for slot in gates.by_ref().take(level_gates) {
                let first = begin_tables - begin_leaves + (tree * slots + slot as usize) * table;
                own.extend_from_slice(&said[first..][..table_words(arities[level])]);
            }
        }
        ((0..leaves).map(|leaf| number(begin_leaves, tree * leaves + leaf)).collect(), own)
    });
    Ok(climbed.collect())
}

/// `x log2 x` up to a number of rows, kept from one climb to the next.
fn logs_up_to(rows: &CudaRows<'_>, logs: &LogTable, most: Option<u32>) -> Result<Arc<Buffer<i64>>> {
    let most = most.unwrap_or(0) as usize;
    let mut kept = rows.logs.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = &*kept
        && kept.len() > most
    {
        return Ok(kept.clone());
    }
    // Some more than asked for: samples are not all of one size.
    let list: Vec<i64> = (0..=most + most / 16).map(|x| logs.at(x as u32)).collect();
    let list = Arc::new(Buffer::of(&rows.backend, &list)?);
    rows.backend.wait()?;
    *kept = Some(list.clone());
    Ok(list)
}
