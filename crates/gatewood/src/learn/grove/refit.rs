//! Learning rounds anew, with all others in place.
//!
//! A round is learned before those that come after it are known. In a grove of few trees it pays to come back: the trees of a
//! round are taken out, others are climbed in their place, and those that leave the smaller loss stay.

use super::round::{Grower, Growing};
use crate::Result;
use crate::circuit::VoteTree;
use crate::learn::Tracker;
use crate::learn::engine::Engine;

/// Trees by rounds, in passes over all rounds; says how many rounds were replaced.
///
/// `trees` are those of all rounds, `ends` the number of trees after each, `first` those before the first round. The state is
/// that of all trees.
pub(super) fn refit<E: Engine>(
    grower: &Grower<'_, E>,
    growing: &mut Growing<E>,
    trees: &mut [VoteTree],
    ends: &[usize],
    first: usize,
    position: usize,
    tracker: &Tracker<'_>,
) -> Result<usize> {
    let mut replaced = 0;
    let rounds = ends.len();
    for pass in 0..grower.plan.refits {
        for round in 0..rounds {
            tracker.check()?;
            let begin = if round == 0 { first } else { ends[round - 1] };
            let old = trees[begin..ends[round]].to_vec();
            let before = grower.engine.loss(&growing.rows)?.loss;
            vote(grower, growing, &old, -1)?;
            let new = grower.round(position + pass * rounds + round, growing, usize::MAX)?;
            if new.len() == old.len() && grower.engine.loss(&growing.rows)?.loss < before {
                trees[begin..ends[round]].clone_from_slice(&new);
                replaced += 1;
            } else {
                vote(grower, growing, &new, -1)?;
                vote(grower, growing, &old, 1)?;
            }
        }
    }
    Ok(replaced)
}

/// Adds the votes of trees to the margins, times one or minus one.
fn vote<E: Engine>(
    grower: &Grower<'_, E>,
    growing: &mut Growing<E>,
    trees: &[VoteTree],
    times: i32,
) -> Result<()> {
    for tree in trees {
        let addresses = grower.engine.address(&growing.rows, tree)?;
        let votes = tree.votes().iter().map(|vote| times * vote).collect();
        grower.engine.shift(&mut growing.rows, &tree.with_votes(votes)?, &addresses)?;
    }
    grower.engine.update(&mut growing.rows, &[])
}
