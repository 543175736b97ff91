//! Groves of different seeds that are learned side by side and averaged: together they are one grove.
//!
//! Each of them learns from its own margins as if it were alone. Their trees are put together round by round, and a vote is
//! worth so many times less: the margins of all are the mean of theirs. Where rows are few, what one grove makes of chance
//! another does not.

use super::fit::Setup;
use super::round::{Grower, Growing};
use super::settings::GrovePlan;
use crate::Result;
use crate::circuit::VoteTree;
use crate::learn::engine::Engine;
use crate::pool::each_awake;
use crate::random::{Purpose, Stream};

/// Groves that grow side by side, or one that grows alone.
pub(super) struct Bags<'a, E: Engine> {
    engine: &'a E,
    bags: Vec<(Grower<'a, E>, Growing<E>)>,
    /// What is known of the rows by the trees of all; none where there is one grove.
    all: Option<E::State>,
}

impl<'a, E: Engine> Bags<'a, E> {
    /// The groves of a plan, before their first round.
    pub(super) fn begin(
        setup: &'a Setup<'_, E>,
        plan: &GrovePlan,
        held_out: Option<&[bool]>,
    ) -> Result<Self> {
        let bag = |bag: usize| {
            let grower = setup.grower(GrovePlan { seed: seed_of(plan.seed, bag), ..plan.clone() });
            let growing = setup.begin(&grower, held_out)?;
            Ok((grower, growing))
        };
        let bags = (0..plan.bags).map(bag).collect::<Result<_>>()?;
        let all = (plan.bags > 1).then(|| setup.state_of_all(setup.engine, &setup.trees, held_out));
        Ok(Self { engine: setup.engine, bags, all: all.transpose()? })
    }

    /// Runs a round of each grove: the trees they add, no more of each than there is room for.
    pub(super) fn round(&mut self, round: usize, room: usize) -> Result<Vec<VoteTree>> {
        let grow = |(grower, growing): &mut (Grower<'a, E>, Growing<E>)| grower.round(round, growing, room);
        let grown = each_awake(self.bags.iter_mut().collect(), grow);
        let grown: Vec<VoteTree> =
            grown.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        if let Some(all) = &mut self.all {
            add_trees(self.engine, all, &grown)?;
        }
        Ok(grown)
    }

    /// What is known of the rows by all trees.
    pub(super) fn rows(&self) -> &E::State {
        self.all.as_ref().unwrap_or(&self.bags[0].1.rows)
    }

    /// Whether the first rounds of all groves fitted nearly all rows.
    pub(super) fn is_easy(&self) -> bool {
        self.bags.iter().all(|(_, growing)| growing.easy == Some(true))
    }

    /// The first grove's grower.
    pub(super) fn grower(&self) -> &Grower<'a, E> {
        &self.bags[0].0
    }
}

/// Adds the votes of trees to the margins of rows.
pub(super) fn add_trees<E: Engine>(engine: &E, rows: &mut E::State, trees: &[VoteTree]) -> Result<()> {
    let addresses = trees.iter().map(|tree| engine.address(rows, tree)).collect::<Result<Vec<_>>>()?;
    let votes: Vec<(&VoteTree, &E::Addresses)> = trees.iter().zip(&addresses).collect();
    engine.update(rows, &votes)
}

/// The seed of one of several groves: the first has that of the plan.
pub(super) fn seed_of(seed: u64, bag: usize) -> u64 {
    if bag == 0 { seed } else { Stream::new(seed, Purpose::Bag, bag as u64).bits() }
}
