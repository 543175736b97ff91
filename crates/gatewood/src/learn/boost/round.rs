//! One round of boosting.

use rayon::prelude::*;

use super::climb::{Climbed, Climber};
use super::link::Link;
use super::sample::{Rows, Sample, draw};
use super::settings::GrovePlan;
use super::state::{State, Sums};
use super::votes::Voting;
use crate::Result;
use crate::bits::WORD_BITS;
use crate::bits::kernels::Kernels;
use crate::circuit::{Target, VoteTree};
use crate::learn::gate::LogTable;
use crate::random::{Purpose, Stream};

/// Words of columns a tree chooses from at the least.
const FEWEST_WORDS: usize = 16;

/// What all rounds share.
pub(super) struct Booster<'a> {
    pub(super) plan: GrovePlan,
    pub(super) kernels: Kernels,
    pub(super) rows: &'a Rows,
    pub(super) link: Link,
    pub(super) logs: &'a LogTable,
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
        } else if self.plan.shared {
            self.round_of_shared(round, state, room)
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

    /// Many classes, trees for all of them: each is climbed to tell a random half of the classes from the other, and
    /// votes on all, one tree after the other.
    fn round_of_shared(&self, round: usize, state: &mut State<'_>, room: usize) -> Result<Vec<Grown>> {
        let (classes, trees) = (state.margins.len(), self.plan.trees);
        let reading = &*state;
        let climbed: Vec<Option<Climbed>> = (0..trees.min(room))
            .into_par_iter()
            .map(|tree| {
                let position = round * trees + tree;
                let mut stream = Stream::new(self.plan.seed, Purpose::Sample, position as u64);
                let mut order: Vec<usize> = (0..classes).collect();
                stream.shuffle(&mut order);
                let mut inside = vec![false; classes];
                order[..classes / 2].iter().for_each(|&class| inside[class] = true);
                let pulls = reading.group_pulls(&inside);
                let is_of = |row: usize| inside[reading.labels[row] as usize];
                let samples = draw(pulls.iter().copied(), is_of, self.plan.sample, 1, &mut stream);
                self.climb(position, &samples[0])
            })
            .collect::<Result<_>>()?;
        let mut grown = Vec::new();
        for climbed in climbed.into_iter().flatten() {
            let bare = self.bare(&climbed, 0)?;
            let addresses = state.addresses(&bare, self.kernels);
            let count = bare.votes().len();
            let reading = &*state;
            let sums: Vec<Vec<Sums>> =
                (0..classes).into_par_iter().map(|class| reading.sums(class, &addresses, count)).collect();
            let votes = (0..count)
                .flat_map(|address| sums.iter().map(move |sums| sums[address]))
                .map(|sums| self.voting.vote(sums))
                .collect();
            let Climbed { leaves, tables, worth } = climbed;
            let tree = VoteTree::new(self.plan.arities.clone(), Target::All, leaves, tables, votes)?;
            state.vote(&tree, &addresses);
            state.refresh(&self.link);
            grown.push(Grown { tree, worth });
        }
        Ok(grown)
    }

    /// Climbs a tree on the picked rows; none where they are all of one class.
    fn climb(&self, position: usize, picks: &[Vec<u32>; 2]) -> Result<Option<Climbed>> {
        if picks.iter().any(Vec::is_empty) {
            return Ok(None);
        }
        let mut stream = Stream::new(self.plan.seed, Purpose::Round, position as u64);
        let chosen = self.rows.choose(self.words_a_tree(), &mut stream);
        let sample = Sample::gather(self.rows, &chosen, picks)?;
        let columns = sample.columns.len() as u32;
        let leaves = self.plan.arities.iter().product();
        let leaves: Vec<u32> = (0..leaves).map(|_| stream.below(columns)).collect();
        let mut climber = Climber::new(&sample, &self.plan.arities, leaves, self.logs, self.kernels)?;
        climber.climb(self.plan.climb, &mut stream, |stream| stream.below(columns));
        let mut climbed = climber.finish();
        climbed.leaves.iter_mut().for_each(|leaf| *leaf = sample.columns[*leaf as usize]);
        Ok(Some(climbed))
    }

    /// Words of columns that a tree chooses from: about as many columns as it has trials, or all where they are few.
    fn words_a_tree(&self) -> usize {
        (self.plan.climb as usize).div_ceil(WORD_BITS).max(FEWEST_WORDS)
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
