//! One round of boosting.

use rayon::prelude::*;

use super::climb::{Climbed, Climber};
use super::focus::Focus;
use super::gates::Gates;
use super::link::Link;
use super::prune::OVERGROWN;
use super::sample::{Rows, Sample, draw};
use super::settings::GrovePlan;
use super::state::{State, Summand};
use super::votes::Voting;
use crate::Result;
use crate::bits::kernels::{Kernels, Sums};
use crate::bits::{BLOCK_WORDS, WORD_BITS};
use crate::circuit::{Target, VoteTree};
use crate::learn::gate::LogTable;
use crate::pool::each_awake;
use crate::random::{Purpose, Stream};

/// Words of columns that trees choose from, where there are as many; and where columns are screened, since of many they
/// would all find the same.
const WORDS: usize = 16;
const SCREENED_WORDS: usize = 4;

/// Trees that choose from the same columns where these are screened.
const ALIKE: usize = 2;

/// The number of trees after which rows are called easy or not.
const EARLY: usize = 40;

/// The share of rows told wrongly then, below which they are easy.
const EASY: f64 = 0.05;

/// Rows that a tree is climbed on at the most where they are easy: most have next to no gradient, and more would only be
/// the same few drawn more often. Each class has about half of them, and takes up whole blocks: a few less than blocks
/// hold, so that a little more than half fits too.
fn easy_sample(rows: usize) -> usize {
    let both = 2 * BLOCK_WORDS * WORD_BITS;
    (rows / 5 / both).max(1) * both - 32
}

/// How many words of columns trees get to see at the most.
pub(super) fn words_seen(plan: &GrovePlan) -> usize {
    if plan.candidates > 1 { SCREENED_WORDS } else { WORDS }
}

/// What all rounds share.
pub(super) struct Booster<'a> {
    pub(super) plan: GrovePlan,
    pub(super) kernels: Kernels,
    pub(super) rows: &'a Rows,
    pub(super) link: Link,
    pub(super) focus: Focus,
    pub(super) logs: &'a LogTable,
    pub(super) voting: Voting,
    /// Columns from here on are spans.
    pub(super) inputs: usize,
}

/// A tree and what it gained.
pub(super) struct Grown {
    pub(super) tree: VoteTree,
    /// What each leaf gained.
    pub(super) worth: Vec<f64>,
}

/// A climbed tree that wants only its votes.
struct Ready {
    bare: VoteTree,
    worth: Vec<f64>,
    /// The root's address of every row.
    addresses: Vec<u16>,
    /// Which rows it was climbed among, where some are kept apart.
    among: Vec<bool>,
}

impl Booster<'_> {
    /// Trees there is room for besides the gates there are, before the grove is pruned: each may have spans of its own.
    pub(super) fn room(&self, gates: &Gates) -> usize {
        let Some(most) = self.plan.max_gates else { return usize::MAX };
        let leaves: usize = self.plan.arities.iter().product();
        let spans = if self.rows.columns() > self.inputs { leaves } else { 0 };
        most.saturating_mul(OVERGROWN).saturating_sub(gates.total()) / (self.plan.gates_a_tree() + spans)
    }

    /// Runs a round: the trees it adds, no more than there is room for, the state being brought up to date.
    pub(super) fn round(&self, round: usize, state: &mut State<'_>, room: usize) -> Result<Vec<Grown>> {
        let grown = if state.margins.len() == 1 {
            self.round_of_two(round, state, room)?
        } else if self.plan.shared_trees {
            self.round_of_shared(round, state, room)?
        } else if room < state.margins.len() {
            Vec::new()
        } else {
            self.round_of_many(round, state)?
        };
        state.note_uses(grown.iter().map(|grown| &grown.tree));
        if state.margins.len() == 1
            && state.easy.is_none()
            && (round + 1) * self.plan.trees_per_round >= EARLY
        {
            state.easy = Some(state.judge().0 < EASY);
        }
        Ok(grown)
    }

    /// Two classes: trees climbed side by side, their votes made one after the other.
    ///
    /// They are climbed on the same rows; but where rows are kept apart, and so few, each has its own. Those that choose
    /// from the same columns share what is gathered, and are best climbed by the thread that gathered it.
    fn round_of_two(&self, round: usize, state: &mut State<'_>, room: usize) -> Result<Vec<Grown>> {
        let first = round * self.plan.trees_per_round;
        let positions: Vec<usize> = (first..first + self.plan.trees_per_round.min(room)).collect();
        let reading = &*state;
        let ready = |climbed: Climbed, among| -> Result<Option<Ready>> {
            let bare = self.bare(&climbed, 0)?;
            let addresses = reading.addresses(&bare);
            Ok(Some(Ready { bare, worth: climbed.worth, addresses, among }))
        };
        let climbed: Vec<Option<Ready>> = if self.plan.honest_fraction > 0.0 {
            let climb = |position: usize| match self.climb_for(0, position, reading)? {
                Some((climbed, among)) => ready(climbed, among),
                None => Ok(None),
            };
            each_awake(positions, climb).into_iter().collect::<Result<_>>()?
        } else {
            let mut stream = Stream::new(self.plan.seed, Purpose::Sample, first as u64);
            let picks = self.pick(0, reading, &[], &mut stream);
            let alike = if self.plan.candidates > 1 { ALIKE } else { positions.len().max(1) };
            let groups: Vec<(&[usize], Vec<u32>)> =
                positions.chunks(alike).map(|group| (group, self.choose(&mut stream))).collect();
            let climb_group = |(group, chosen): (&[usize], Vec<u32>)| -> Result<Vec<Option<Ready>>> {
                let Some(sample) = self.gather(&chosen, &picks)? else { return Ok(Vec::new()) };
                let climb = |position: usize| {
                    let mut stream = Stream::new(self.plan.seed, Purpose::Round, position as u64);
                    ready(self.climb(&sample, reading, &mut stream)?, Vec::new())
                };
                each_awake(group.to_vec(), climb).into_iter().collect()
            };
            let climbed = each_awake(groups, climb_group);
            climbed.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect()
        };
        let mut grown: Vec<Grown> = Vec::new();
        // The addresses of the last tree.
        let mut last = Vec::new();
        for Ready { bare, worth, addresses, among } in climbed.into_iter().flatten() {
            let voter = grown.last().map(|grown| (&grown.tree, &last[..]));
            let next = Summand { addresses: &addresses, count: bare.votes().len(), climbed: &among };
            let sums = state.vote_and_sum(voter, Some(next), &self.link);
            let tree = self.with_votes(bare, sums.iter().map(|&sums| self.voting.vote(sums)).collect())?;
            grown.push(Grown { tree, worth });
            last = addresses;
        }
        let voter = grown.last().map(|grown| (&grown.tree, &last[..]));
        state.vote_and_sum(voter, None, &self.link);
        Ok(grown)
    }

    /// Many classes: a tree for each, all from the margins before the round.
    fn round_of_many(&self, round: usize, state: &mut State<'_>) -> Result<Vec<Grown>> {
        let classes = state.margins.len();
        let reading = &*state;
        let grow = |class: usize| -> Result<Option<(Grown, Vec<u16>)>> {
            let Some((climbed, among)) = self.climb_for(class, round * classes + class, reading)? else {
                return Ok(None);
            };
            let bare = self.bare(&climbed, class)?;
            let addresses = reading.addresses(&bare);
            let count = bare.votes().len();
            let sums = reading.sums(class, &Summand { addresses: &addresses, count, climbed: &among });
            let votes = sums.iter().map(|&sums| self.voting.vote(sums)).collect();
            let tree = self.with_votes(bare, votes)?;
            Ok(Some((Grown { tree, worth: climbed.worth }, addresses)))
        };
        let grown = each_awake((0..classes).collect(), grow).into_iter().collect::<Result<Vec<_>>>()?;
        let grown: Vec<(Grown, Vec<u16>)> = grown.into_iter().flatten().collect();
        let votes: Vec<(&VoteTree, &[u16])> =
            grown.iter().map(|(grown, addresses)| (&grown.tree, &addresses[..])).collect();
        state.vote(&votes, &self.link);
        Ok(grown.into_iter().map(|(grown, _)| grown).collect())
    }

    /// Climbs a tree that tells the class of a margin from the others; says which rows it was climbed among, where some
    /// are kept apart.
    fn climb_for(
        &self,
        margin: usize,
        position: usize,
        state: &State<'_>,
    ) -> Result<Option<(Climbed, Vec<bool>)>> {
        let Some((sample, among)) = self.sample(margin, position, state)? else { return Ok(None) };
        let mut stream = Stream::new(self.plan.seed, Purpose::Round, position as u64);
        Ok(Some((self.climb(&sample, state, &mut stream)?, among)))
    }

    /// Draws and gathers rows to tell the class of a margin from the others; says which rows they were drawn among, where
    /// some are kept apart. None where they are all of one class.
    fn sample(
        &self,
        margin: usize,
        position: usize,
        state: &State<'_>,
    ) -> Result<Option<(Sample, Vec<bool>)>> {
        let among = self.among(position, state.labels.len());
        let mut stream = Stream::new(self.plan.seed, Purpose::Sample, position as u64);
        let picks = self.pick(margin, state, &among, &mut stream);
        Ok(self.gather(&self.choose(&mut stream), &picks)?.map(|sample| (sample, among)))
    }

    /// Draws rows among those that tell the class of a margin from the others.
    fn pick(&self, margin: usize, state: &State<'_>, among: &[bool], stream: &mut Stream) -> [Vec<u32>; 2] {
        let size = match state.easy {
            Some(false) => self.plan.sample_rows,
            None if self.plan.candidates == 1 => self.plan.sample_rows,
            _ => self.plan.sample_rows.min(easy_sample(state.labels.len())),
        };
        let focus = if state.easy == Some(false) { &Focus::default() } else { &self.focus };
        let gradients = &state.gradients[margin];
        draw(state.pulls(gradients, focus, among), gradients, size, stream)
    }

    /// The words of columns that trees choose from.
    fn choose(&self, stream: &mut Stream) -> Vec<u32> {
        self.rows.choose(words_seen(&self.plan), stream)
    }

    /// Gathers words of the picked rows; none where they are all of one class.
    fn gather(&self, chosen: &[u32], picks: &[Vec<u32>; 2]) -> Result<Option<Sample>> {
        if picks.iter().any(Vec::is_empty) {
            return Ok(None);
        }
        Sample::gather(self.rows, chosen, picks, self.kernels).map(Some)
    }

    /// Which rows a tree is climbed among; empty for all.
    fn among(&self, position: usize, rows: usize) -> Vec<bool> {
        if self.plan.honest_fraction == 0.0 {
            return Vec::new();
        }
        let mut stream = Stream::new(self.plan.seed, Purpose::Apart, position as u64);
        (0..rows).map(|_| stream.unit() >= self.plan.honest_fraction).collect()
    }

    /// Many classes, trees for all of them: each is climbed to tell a random half of the classes from the other, and
    /// votes on all, one tree after the other.
    fn round_of_shared(&self, round: usize, state: &mut State<'_>, room: usize) -> Result<Vec<Grown>> {
        let (classes, trees) = (state.margins.len(), self.plan.trees_per_round);
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
                let gradients = reading.group_gradients(&inside);
                let pulls = reading.pulls(&gradients, &self.focus, &[]);
                let picks = draw(pulls, &gradients, self.plan.sample_rows, &mut stream);
                let Some(sample) = self.gather(&self.choose(&mut stream), &picks)? else { return Ok(None) };
                self.climb(&sample, reading, &mut stream).map(Some)
            })
            .collect::<Result<_>>()?;
        let mut grown = Vec::new();
        for climbed in climbed.into_iter().flatten() {
            let bare = self.bare(&climbed, 0)?;
            let addresses = state.addresses(&bare);
            let count = bare.votes().len();
            let reading = &*state;
            let summand = Summand { addresses: &addresses, count, climbed: &[] };
            let sums: Vec<Vec<Sums>> =
                (0..classes).into_par_iter().map(|class| reading.sums(class, &summand)).collect();
            let votes = (0..count)
                .flat_map(|address| sums.iter().map(move |sums| sums[address]))
                .map(|sums| self.voting.vote(sums))
                .collect();
            let Climbed { leaves, tables, worth } = climbed;
            let tree = VoteTree::new(self.plan.arities.clone(), Target::All, leaves, tables, votes)?;
            state.vote(&[(&tree, &addresses)], &self.link);
            grown.push(Grown { tree, worth });
        }
        Ok(grown)
    }

    /// Climbs a tree on the rows of a sample.
    fn climb(&self, sample: &Sample, state: &State<'_>, stream: &mut Stream) -> Result<Climbed> {
        let columns = sample.columns.len() as u32;
        let leaves = self.plan.arities.iter().product();
        let leaves: Vec<u32> = (0..leaves).map(|_| stream.below(columns)).collect();
        let mut climber = Climber::new(sample, &self.plan.arities, leaves, self.logs, self.kernels)?;
        let habit = Habit::new(self.plan.feature_reuse, &sample.columns, &state.uses);
        let screened = if state.easy == Some(false) { 1 } else { self.plan.candidates };
        climber.climb(self.plan.climb, screened, stream, |stream| match &habit {
            Some(habit) => habit.draw(stream),
            None => stream.below(columns),
        })?;
        let mut climbed = climber.finish();
        climbed.leaves.iter_mut().for_each(|leaf| *leaf = sample.columns[*leaf as usize]);
        Ok(climbed)
    }

    fn bare(&self, climbed: &Climbed, margin: usize) -> Result<VoteTree> {
        let arities = self.plan.arities.clone();
        let addresses = 1usize << arities[arities.len() - 1];
        let target = Target::One(margin as u32);
        VoteTree::new(arities, target, climbed.leaves.clone(), climbed.tables.clone(), vec![0; addresses])
    }

    /// A tree with other votes.
    pub(super) fn with_votes(&self, tree: VoteTree, votes: Vec<i32>) -> Result<VoteTree> {
        VoteTree::new(
            tree.arities().to_vec(),
            tree.target(),
            tree.leaves().to_vec(),
            tree.tables().to_vec(),
            votes,
        )
    }
}

/// Columns drawn by how often they were read, in part.
struct Habit {
    /// The running sums of the columns' weights.
    sums: Vec<u64>,
}

impl Habit {
    /// For the columns of a sample; none where no column was read or all are to be drawn evenly.
    fn new(part: f64, columns: &[u32], uses: &[u32]) -> Option<Self> {
        let all: u64 = columns.iter().map(|&column| u64::from(uses[column as usize])).sum();
        // In parts of 256.
        let part = libm::rint(part * 256.0) as u64;
        if all == 0 || part == 0 {
            return None;
        }
        let mut sum = 0;
        let weight = |column: u32| u64::from(uses[column as usize]) * columns.len() as u64 * part;
        let add = |&column: &u32| {
            sum += weight(column) + all * (256 - part);
            sum
        };
        Some(Self { sums: columns.iter().map(add).collect() })
    }

    fn draw(&self, stream: &mut Stream) -> u32 {
        let place = (u128::from(stream.bits()) * u128::from(self.sums[self.sums.len() - 1])) >> 64;
        self.sums.partition_point(|&sum| sum <= place as u64) as u32
    }
}
