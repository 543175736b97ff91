//! Subtrees of the paper's tree: fitted with a block for each gate; climbed with a block for each subtree, which makes its trials one after
//! the other.

use std::sync::Arc;

use gatewood::circuit::TruthTable;
use gatewood::learn::device::DeviceTreeClimb;
use gatewood::learn::{Criterion, Judge, Unseen};
use gatewood::{Error, Result};

use crate::backend::{Backend, Buffer};
use crate::gates::{GateList, Sheet};
use crate::rows::parameters;
use crate::sheet::CudaSheet;

/// Trials of each subtree between two questions whether to go on.
const TRIALS_AT_ONCE: u32 = 256;

/// Numbers of 32 bits that the kernels have of a gate, the first being its column.
const GATE_NUMBERS: usize = 6;

/// The bytes that the threads of a block share.
fn shared_bytes(arity: usize) -> usize {
    let addresses = 1usize << arity;
    8 * (16 + 96 + TruthTable::words_for(arity) + addresses) + 4 * 3 * addresses
}

/// Fits and climbs subtrees side by side.
pub(crate) fn climb(sheet: &CudaSheet, climb: &DeviceTreeClimb<'_>) -> Result<(Vec<u32>, Vec<u64>)> {
    let backend: &Arc<dyn Backend> = &sheet.backend;
    let settings = climb.settings;
    let (arity, height, words) = (settings.arity, climb.height, TruthTable::words_for(settings.arity));
    let (gates, outputs) = (DeviceTreeClimb::gates(arity, height), DeviceTreeClimb::outputs(arity, height));
    let (made, subtrees) = (gates + height, climb.trials.len());
    let shared = shared_bytes(arity);
    if shared > backend.shared_bytes() || subtrees > 65_535 {
        return Err(Error::setting(format!(
            "trees of arity {arity} are not climbed by this GPU: use --device cpu"
        )));
    }
    // Columns for all gates but the last, then for those that a trial makes.
    let mut described = vec![0u32; GATE_NUMBERS * made * subtrees];
    for (subtree, described) in described.chunks_exact_mut(GATE_NUMBERS * made).enumerate() {
        let places = (0..gates - 1).chain(gates..made - 1);
        for (column, place) in (climb.first + (subtree * outputs) as u32..).zip(places) {
            described[GATE_NUMBERS * place] = column;
        }
    }
    let described_at = Buffer::of(backend, &described)?;
    let leaves = Buffer::of(backend, climb.leaves)?;
    let tables: Buffer<u64> = Buffer::zeros(backend, words * made * subtrees)?;
    let logs = Buffer::of(backend, climb.logs)?;
    let flags = [
        settings.criterion == Criterion::Accuracy,
        climb.judged_by == Criterion::Accuracy,
        settings.unseen == Unseen::Zero,
        settings.judge == Judge::NotWorse,
    ];
    let flags = (0..).zip(flags).fold(0u64, |flags, (place, flag)| flags | u64::from(flag) << place);
    let mut at = vec![
        sheet.columns.address(),
        2 * sheet.split as u64,
        2 * sheet.stride as u64,
        sheet.rows[0].into(),
        sheet.rows[1].into(),
        arity as u64,
        height as u64,
        flags,
        logs.address(),
        leaves.address(),
        described_at.address(),
        tables.address(),
    ];
    let threads = sheet.threads();
    let (mut first, mut below) = (0, 0);
    for level in 0..height {
        let across = arity.pow((height - 1 - level) as u32);
        at.truncate(12);
        at.extend([level as u64, first as u64, below as u64]);
        backend.launch(
            "tree_fit",
            [across as u32, subtrees as u32],
            threads,
            shared as u32,
            parameters(&at),
        )?;
        (below, first) = (first, first + across);
    }
    let counts = climb.trials.iter().map(Vec::len);
    let ends: Vec<u32> = counts
        .scan(0, |end, count| {
            *end += count as u32;
            Some(*end)
        })
        .collect();
    let begins: Vec<u32> = std::iter::once(0).chain(ends.iter().copied()).take(subtrees).collect();
    let drawn: Vec<u32> = climb.trials.iter().flatten().flatten().copied().collect();
    let (drawn, begins, ends) =
        (Buffer::of(backend, &drawn)?, Buffer::of(backend, &begins)?, Buffer::of(backend, &ends)?);
    at.truncate(12);
    at.extend([drawn.address(), begins.address(), ends.address(), TRIALS_AT_ONCE.into()]);
    let most = climb.trials.iter().map(Vec::len).max().unwrap_or(0);
    for begun in (0..most).step_by(TRIALS_AT_ONCE as usize) {
        backend.launch("tree_climb", [subtrees as u32, 1], threads, shared as u32, parameters(&at))?;
        backend.wait()?;
        let now =
            |trials: &Vec<[u32; 2]>| trials.len().saturating_sub(begun).min(TRIALS_AT_ONCE as usize) as u64;
        (climb.done)(climb.trials.iter().map(now).sum())?;
    }
    let (leaves, tables) = (leaves.list()?, tables.list()?);
    let own: Vec<&[u64]> = tables.chunks_exact(words * made).map(|tables| &tables[..words * gates]).collect();
    if let Some(output) = climb.output {
        let described = described_at.list()?;
        let mut judges = GateList::default();
        for (subtree, column) in (0..subtrees).zip(output..) {
            let gate = |place: usize| described[GATE_NUMBERS * (subtree * made + place)];
            let last = &own[subtree][words * (gates - 1)..];
            match height {
                1 => judges.push(leaves[subtree * arity..][..arity].iter().copied(), last, column),
                _ => judges.push((gates - 1 - arity..gates - 1).map(gate), last, column),
            }
        }
        let judges = judges.load(backend)?;
        judges.run(Sheet { address: sheet.columns.address(), stride: sheet.stride, words: sheet.stride })?;
        backend.wait()?;
    }
    Ok((leaves, own.concat()))
}
