//! One round of boosting.

use rayon::prelude::*;

use super::climb::{Climbed, Climber};
use super::link::Link;
use super::sample::{Rows, Sample, draw};
use super::settings::GrovePlan;
use super::state::State;
use super::votes::Voting;
use crate::Result;
use crate::bits::kernels::Kernels;
use crate::circuit::{Target, VoteTree};
use crate::learn::gate::LogTable;
use crate::random::{Purpose, Stream};

/// What all rounds share.
pub(super) struct Booster<'a> {
    pub(super) plan: &'a GrovePlan,
    pub(super) kernels: Kernels,
    pub(super) rows: Rows,
    pub(super) columns: u32,
    pub(super) link: Link,
    pub(super) logs: LogTable,
    pub(super) voting: Voting,
}

/// A tree and what it gained.
pub(super) struct Grown {
    pub(super) tree: VoteTree,
    /// What each leaf gained.
    pub(super) worth: Vec<f64>,
}

impl Booster<'_> {
    /// Runs a round: the trees it adds, no more than there is room for, the state being brought up to date.
    pub(super) fn round(&self, round: usize, state: &mut State<'_>, room: usize) -> Result<Vec<Grown>> {
        if state.margins.len() == 1 {
            self.round_of_two(round, state, room)
        } else if room < state.margins.len() {
            Ok(Vec::new())
        } else {
            self.round_of_many(round, state)
        }
    }

    /// Two classes: trees climbed side by side on parts of one sample, their votes made one after the other.
    fn round_of_two(&self, round: usize, state: &mut State<'_>, room: usize) -> Result<Vec<Grown>> {
        let trees = self.plan.trees;
        let mut stream = Stream::new(self.plan.seed, Purpose::Sample, round as u64);
        let samples = draw(state.pulls(0), |row| state.is_of(0, row), self.plan.sample, trees, &mut stream);
        let climbed: Vec<Option<Climbed>> = samples
            .par_iter()
            .take(room)
            .enumerate()
            .map(|(tree, picks)| self.climb(round * trees + tree, picks))
            .collect::<Result<_>>()?;
        let mut grown = Vec::new();
        for climbed in climbed.into_iter().flatten() {
            let bare = self.bare(&climbed, 0)?;
            let addresses = state.addresses(&bare, self.kernels);
            let sums = state.sums(0, &addresses, bare.votes().len());
            let tree = self.with_votes(bare, sums.iter().map(|&sums| self.voting.vote(sums)).collect())?;
            state.vote(&tree, &addresses);
            state.refresh(&self.link);
            grown.push(Grown { tree, worth: climbed.worth });
        }
        Ok(grown)
    }

    /// Many classes: a tree for each, all from the margins before the round.
    fn round_of_many(&self, round: usize, state: &mut State<'_>) -> Result<Vec<Grown>> {
        let classes = state.margins.len();
        let reading = &*state;
        let grown: Vec<Option<(Grown, Vec<u16>)>> = (0..classes)
            .into_par_iter()
            .with_max_len(1)
            .map(|class| {
                let position = round * classes + class;
                let mut stream = Stream::new(self.plan.seed, Purpose::Sample, position as u64);
                let is_of = |row| reading.is_of(class, row);
                let samples = draw(reading.pulls(class), is_of, self.plan.sample, 1, &mut stream);
                let Some(climbed) = self.climb(position, &samples[0])? else { return Ok(None) };
                let bare = self.bare(&climbed, class)?;
                let addresses = reading.addresses(&bare, self.kernels);
                let sums = reading.sums(class, &addresses, bare.votes().len());
                let votes = sums.iter().map(|&sums| self.voting.vote(sums)).collect();
                let tree = self.with_votes(bare, votes)?;
                Ok(Some((Grown { tree, worth: climbed.worth }, addresses)))
            })
            .collect::<Result<_>>()?;
        let mut trees = Vec::new();
        for (grown, addresses) in grown.into_iter().flatten() {
            state.vote(&grown.tree, &addresses);
            trees.push(grown);
        }
        state.refresh(&self.link);
        Ok(trees)
    }

    /// Climbs a tree on the picked rows; none where they are all of one class.
    fn climb(&self, position: usize, picks: &[Vec<u32>; 2]) -> Result<Option<Climbed>> {
        if picks.iter().any(Vec::is_empty) {
            return Ok(None);
        }
        let sample = Sample::gather(&self.rows, picks)?;
        let mut stream = Stream::new(self.plan.seed, Purpose::Round, position as u64);
        let leaves = self.plan.arities.iter().product();
        let leaves: Vec<u32> = (0..leaves).map(|_| stream.below(self.columns)).collect();
        let mut climber = Climber::new(&sample, &self.plan.arities, leaves, &self.logs, self.kernels)?;
        climber.climb(self.plan.climb, &mut stream, |stream| stream.below(self.columns));
        Ok(Some(climber.finish()))
    }

    fn bare(&self, climbed: &Climbed, margin: usize) -> Result<VoteTree> {
        let arities = self.plan.arities.clone();
        let addresses = 1usize << arities[arities.len() - 1];
        let target = Target::One(margin as u32);
        VoteTree::new(arities, target, climbed.leaves.clone(), climbed.tables.clone(), vec![0; addresses])
    }

    fn with_votes(&self, tree: VoteTree, votes: Vec<i32>) -> Result<VoteTree> {
        VoteTree::new(
            tree.arities().to_vec(),
            tree.target(),
            tree.leaves().to_vec(),
            tree.tables().to_vec(),
            votes,
        )
    }
}
