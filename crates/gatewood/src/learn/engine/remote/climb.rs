//! Trees that are climbed where parts are, one in each process.

use super::super::TreeToClimb;
use super::op;
use super::wire::{Reader, Writer};
use crate::bits::kernels::Kernels;
use crate::circuit::MAX_ARITY;
use crate::learn::gate::LogTable;
use crate::learn::search::{Climbed, Climber, MAX_CANDIDATES_ARITY, Sample};
use crate::{Error, Result};

/// Climbs a tree here.
pub(super) fn climb(tree: TreeToClimb<'_>, logs: &LogTable, kernels: Kernels) -> Result<Climbed> {
    let mut climber = Climber::new(tree.sample, tree.arities, tree.leaves, logs, kernels)?;
    climber.climb_drawn(&tree.trials, tree.candidates)?;
    Ok(climber.finish())
}

/// The message that has a part climb a tree.
pub(super) fn message(role: u8, tree: &TreeToClimb<'_>) -> Vec<u8> {
    let mut message = Writer::new();
    let (rows, words) = tree.sample.parts();
    let arities: Vec<u8> = tree.arities.iter().map(|&arity| arity as u8).collect();
    message.byte(op::CLIMB).byte(role).bytes(&arities).number(tree.candidates.into());
    message.numbers32(&rows).number(tree.sample.columns.len() as u64).numbers64(words);
    message.numbers32(&tree.leaves).numbers32(&tree.trials);
    message.finish()
}

/// Answers such a message, after its first two bytes.
pub(super) fn answer(message: &mut Reader<'_>, answer: &mut Writer, kernels: Kernels) -> Result<()> {
    let arities: Vec<usize> = message.bytes()?.iter().map(|&arity| usize::from(arity)).collect();
    let candidates = message.size()?;
    let (rows, columns) = (message.numbers32()?, message.size()?);
    let sent = message.numbers64()?;
    let (leaves, trials) = (message.numbers32()?, message.numbers32()?);
    let odd = || Error::data("a message has a tree that cannot be climbed");
    let places = arities.iter().try_fold(1usize, |places, &arity| places.checked_mul(arity));
    let is_tree = !arities.is_empty()
        && arities.iter().all(|arity| (2..=MAX_ARITY).contains(arity))
        && places == Some(leaves.len())
        && leaves.iter().all(|&leaf| (leaf as usize) < columns);
    let is_tried = candidates > 0
        && (candidates == 1 || arities.first().is_some_and(|&arity| arity <= MAX_CANDIDATES_ARITY))
        && trials.chunks(candidates.saturating_add(1)).all(|trial| {
            (trial[0] as usize) < leaves.len()
                && trial.len() == candidates + 1
                && trial[1..].iter().all(|&column| (column as usize) < columns)
        });
    let &[lower, upper] = rows.as_slice() else { return Err(odd()) };
    if !is_tree || !is_tried {
        return Err(odd());
    }
    let sample = Sample::from_words([lower, upper], columns, &sent)?;
    let logs = LogTable::new(lower as usize + upper as usize);
    let candidates = candidates as u32;
    let tree = TreeToClimb { sample: &sample, arities: &arities, leaves, candidates, trials };
    let climbed = climb(tree, &logs, kernels)?;
    answer.numbers32(&climbed.leaves).numbers64(&climbed.tables);
    Ok(())
}

/// The tree that a part has climbed.
pub(super) fn climbed(answer: &[u8]) -> Result<Climbed> {
    let mut answer = Reader::new(answer);
    Ok(Climbed { leaves: answer.numbers32()?, tables: answer.numbers64()? })
}
