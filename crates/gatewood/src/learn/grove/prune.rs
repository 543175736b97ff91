//! Making a grove fit its gates: the trees that matter least go, and the others vote anew.

use crate::platform::parallel::*;

use super::gates::Gates;
use super::round::Grower;
use crate::Result;
use crate::circuit::{Target, VoteTree};
use crate::learn::engine::{Engine, Summand};

/// How many times the gates it may have a grove may grow to before it is pruned.
pub(super) const OVERGROWN: usize = 2;

/// Steps in which trees are dropped; after each the trees left vote anew.
const STEPS: usize = 4;

/// Drops trees until the others have at most so many gates; says which were kept.
///
/// A tree matters as much as the loss over the training rows would grow without it, by its first two derivatives. The
/// state is that of all trees, and is brought up to date.
pub(super) fn prune<E: Engine>(
    grower: &Grower<'_, E>,
    state: &mut E::State,
    trees: &mut Vec<VoteTree>,
    most: usize,
) -> Result<Vec<bool>> {
    let mut kept = vec![true; trees.len()];
    let mut gates = Gates::of(grower.inputs, trees.iter());
    for step in 0..STEPS {
        if gates.total() <= most {
            break;
        }
        let target = most + (gates.total() - most) * (STEPS - 1 - step) / (STEPS - step);
        drop_least(grower, state, trees, &mut kept, &mut gates, target)?;
        vote_anew(grower, state, trees, &kept)?;
    }
    let mut keep = kept.iter();
    trees.retain(|_| *keep.next().expect("a mark for every tree"));
    Ok(kept)
}

fn left<'t>(trees: &'t [VoteTree], kept: &'t [bool]) -> impl Iterator<Item = (usize, &'t VoteTree)> {
    trees.iter().enumerate().filter(|(index, _)| kept[*index])
}

/// Drops the trees that matter least until no more than `target` gates are left.
fn drop_least<E: Engine>(
    grower: &Grower<'_, E>,
    state: &mut E::State,
    trees: &[VoteTree],
    kept: &mut [bool],
    gates: &mut Gates,
    target: usize,
) -> Result<()> {
    let (reading, counted) = (&*state, &*gates);
    let mut order: Vec<(f64, usize)> = left(trees, kept)
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|(index, tree)| Ok((matters(grower, reading, tree)? / counted.share(tree), index)))
        .collect::<Result<_>>()?;
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for (_, index) in order {
        if gates.total() <= target {
            break;
        }
        kept[index] = false;
        gates.remove(&trees[index]);
        let without = trees[index].votes().iter().map(|vote| -vote).collect();
        add(grower, state, &trees[index], without)?;
    }
    grower.engine.update(state, &[])
}

/// What the loss would grow by without a tree.
fn matters<E: Engine>(grower: &Grower<'_, E>, state: &E::State, tree: &VoteTree) -> Result<f64> {
    let addresses = grower.engine.address(state, tree)?;
    let mut loss = 0.0;
    for margin in margins_of(tree, grower.objective.margins()) {
        let what = Summand { margin, addresses: &addresses, count: root_addresses(tree), climbed: &[] };
        let sums = grower.engine.sum(state, &what)?;
        let votes = sums.iter().enumerate();
        loss += votes
            .map(|(address, &sums)| grower.step.cost(sums, -vote_at(tree, address, margin)))
            .sum::<f64>();
    }
    Ok(loss)
}

/// Lets each tree move its votes by a step from where all trees have come to.
fn vote_anew<E: Engine>(
    grower: &Grower<'_, E>,
    state: &mut E::State,
    trees: &mut [VoteTree],
    kept: &[bool],
) -> Result<()> {
    let mut changed = vec![false; grower.objective.margins()];
    for tree in trees.iter_mut().zip(kept).filter(|(_, kept)| **kept).map(|(tree, _)| tree) {
        let margins = margins_of(tree, grower.objective.margins());
        // Gradients depend on all margins, so that they are made anew when a margin comes round again.
        if margins.clone().any(|margin| changed[margin]) {
            grower.engine.update(state, &[])?;
            changed.fill(false);
        }
        let addresses = grower.engine.address(state, tree)?;
        let mut votes = tree.votes().to_vec();
        for (place, margin) in margins.clone().enumerate() {
            let what = Summand { margin, addresses: &addresses, count: root_addresses(tree), climbed: &[] };
            let sums = grower.engine.sum(state, &what)?;
            for (address, &sums) in sums.iter().enumerate() {
                let vote = &mut votes[address * margins.len() + place];
                *vote = grower.step.moved(*vote, sums);
            }
            changed[margin] = true;
        }
        let moves = votes.iter().zip(tree.votes()).map(|(new, old)| new - old).collect();
        add(grower, state, tree, moves)?;
        *tree = tree.with_votes(votes)?;
    }
    grower.engine.update(state, &[])
}

/// Adds other votes at the root addresses of a tree to the margins.
fn add<E: Engine>(
    grower: &Grower<'_, E>,
    state: &mut E::State,
    tree: &VoteTree,
    votes: Vec<i32>,
) -> Result<()> {
    let addresses = grower.engine.address(state, tree)?;
    grower.engine.shift(state, &tree.with_votes(votes)?, &addresses)
}

fn margins_of(tree: &VoteTree, margins: usize) -> std::ops::Range<usize> {
    match tree.target() {
        Target::One(margin) => margin as usize..margin as usize + 1,
        Target::All => 0..margins,
    }
}

fn root_addresses(tree: &VoteTree) -> usize {
    1 << tree.arities()[tree.depth() - 1]
}

fn vote_at(tree: &VoteTree, address: usize, margin: usize) -> i32 {
    match tree.target() {
        Target::One(_) => tree.votes()[address],
        Target::All => tree.votes_at(address)[margin],
    }
}
