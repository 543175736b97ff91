//! Hill climbing on a device: many trials at once, the first that makes a tree better is taken.

use std::sync::{Arc, PoisonError};

use gatewood::Result;
use gatewood::learn::device::DeviceClimb;
use gatewood::learn::gate::LogTable;

use crate::backend::{Backend, Buffer};
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

/// Most columns that a trial compares.
const MOST_CANDIDATES: u32 = 128;

/// Most inputs of a gate below the root: its addresses are sorted by comparing all with all.
const MOST_INNER: usize = 8;

/// Inputs of a root up to which each address is a mask.
const FEW_INPUTS: usize = 6;

/// Numbers of 64 bits of a tree's description, as the kernels have it.
const CLIMB_WORDS: usize = 15;

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
    // Some words of a column for every thread.
    let words = 2 * samples.iter().map(|sample| sample.stride).max().unwrap_or(0) as u32;
    let threads = (words / WORDS_A_THREAD).next_multiple_of(32).clamp(64, backend.threads()[1]);
    // Where the root has many inputs, its address of every row is kept: by each block for itself, if it has room.
    let is_kept = arities[depth - 1] > FEW_INPUTS;
    let kept = if is_kept { 64 * words as usize } else { 0 };
    let cells = if is_kept { 2usize << arities[depth - 1] } else { 0 };
    let mut shared = trial_bytes(arities, candidates);
    let is_shared = is_kept && shared + kept <= backend.shared_bytes();
    shared += if is_shared { kept } else { 0 };
    let leaves = first.leaves.len();
    let inner = gates_below(arities);
    // The columns of a tree are shared, too, where they are short.
    let own = 4 * words as usize * (leaves + inner + depth - 1) + 16;
    let is_own = !is_kept && own <= OWN_BYTES && shared + own <= backend.shared_bytes();
    shared += if is_own { own } else { 0 };
    // Blocks of a tree wait for each other, so that all of them run at once; where trees are many, some after the others.
    let most = backend.together("climb_trials", threads, shared as u32)?;
    let most = most.min(BLOCKS_A_PROCESSOR * backend.blocks()).max(1);
    let together = (climbs.len() as u32).min((most / FEWEST_TRIALS).max(1));
    let width = (most / together).min(MOST_TRIALS);
    let slots = slots_of(arities, width);
    let logs = logs_up_to(rows, logs, samples.iter().map(|sample| sample.rows[0] + sample.rows[1]).max())?;

    let all_leaves: Vec<u32> = climbs.iter().flat_map(|climb| &climb.leaves).copied().collect();
    let all_leaves = Buffer::of(backend, &all_leaves)?;
    let all_trials: Vec<u32> = climbs.iter().flat_map(|climb| &climb.trials).copied().collect();
    let all_trials = Buffer::of(backend, &all_trials)?;
    let all_slots: Vec<u32> = climbs.iter().flat_map(|_| 0..slots as u32).collect();
    let all_slots = Buffer::of(backend, &all_slots)?;
    let tables: Buffer<u64> = Buffer::new(backend, (climbs.len() * slots * table).max(1))?;
    let strides: usize = samples.iter().map(|sample| sample.stride).sum();
    let columns: Buffer<u64> = Buffer::new(backend, strides * slots)?;
    // Of a step, and of the step before it.
    let outcome_words = 2 * width as usize * OUTCOME_WORDS;
    let outcomes: Buffer<u64> = Buffer::new(backend, climbs.len() * outcome_words)?;
    let copies = if is_shared { 1 } else { 1 + width as usize };
    let addresses = is_kept.then(|| Buffer::<u16>::new(backend, 64 * strides * copies)).transpose()?;
    let counts: Buffer<u32> = Buffer::new(backend, (2 * climbs.len() * width as usize * cells).max(1))?;
    let mut described: Vec<u64> = Vec::new();
    let mut column = 0;
    for (number, (climb, sample)) in climbs.iter().zip(&samples).enumerate() {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let [lower, upper] = sample.rows;
        let prior = upper as f32 / (lower + upper) as f32;
        let place = |buffer: u64, bytes: usize| buffer + (number * bytes) as u64;
        described.extend([
            sample.words.address(),
            pair(2 * sample.split as u32, 2 * sample.stride as u32),
            pair(lower, upper),
            pair(prior.to_bits(), 0),
            place(all_leaves.address(), 4 * leaves),
            place(all_trials.address(), 4 * climb.trials.len()),
            place(all_slots.address(), 4 * slots),
            columns.address() + 8 * (column * slots) as u64,
            place(tables.address(), 8 * slots * table),
            0,
            place(outcomes.address(), 8 * outcome_words),
            addresses.as_ref().map_or(0, |addresses| addresses.address() + (128 * column * copies) as u64),
            place(counts.address(), 8 * width as usize * cells),
            0,
            0,
        ]);
        column += sample.stride;
    }
    let described_at = Buffer::of(backend, &described)?;
    let mut at = [0; 16];
    (at[0], at[1]) = (described_at.address(), depth as u64);
    for (level, &arity) in arities.iter().enumerate() {
        at[2 + level] = arity as u64;
    }
    at[5..9].copy_from_slice(&[trials as u64, candidates.into(), logs.address(), table as u64]);
    at[10..14].copy_from_slice(&[leaves as u64, slots as u64, is_shared.into(), is_own.into()]);
    for level in 0..depth {
        let gates: usize = arities[level + 1..].iter().product();
        at[9] = level as u64;
        let grid = [gates as u32, climbs.len() as u32];
        backend.launch("climb_fit", grid, threads, shared_bytes(arities, candidates) as u32, at)?;
    }
    for begun in (0..climbs.len()).step_by(together as usize) {
        at[0] = described_at.address() + (8 * CLIMB_WORDS * begun) as u64;
        let grid = [width, together.min((climbs.len() - begun) as u32)];
        backend.launch_together("climb_trials", grid, threads, shared as u32, at)?;
    }
    let (all_leaves, all_slots, tables) = (all_leaves.list()?, all_slots.list()?, tables.list()?);
    let climbed = (0..climbs.len()).map(|number| {
        let slots_of = &all_slots[number * slots..][..inner];
        let mut gates = slots_of.iter();
        let mut own = Vec::new();
        for level in 0..depth - 1 {
            let level_gates: usize = arities[level + 1..].iter().product();
            for &slot in gates.by_ref().take(level_gates) {
                let first = (number * slots + slot as usize) * table;
                own.extend_from_slice(&tables[first..][..table_words(arities[level])]);
            }
        }
        (all_leaves[number * leaves..][..leaves].to_vec(), own)
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
