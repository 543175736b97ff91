//! One round of boosting, whatever engine has the rows.

use std::sync::Arc;

use super::gates::Gates;
use super::leaf_step::LeafStep;
use super::prune::OVERGROWN;
use super::settings::GrovePlan;
use crate::Result;
use crate::bits::kernels::{Kernels, Sums};
use crate::bits::{BLOCK_WORDS, WORD_BITS};
use crate::circuit::{Target, VoteTree};
use crate::learn::engine::{ColumnOrder, Direction, Draw, Engine, Picks, SamplingPower, Summand};
use crate::learn::gate::LogTable;
use crate::learn::objective::Objective;
use crate::learn::search::{Climbed, Climber, FeatureReuse, Sample};
use crate::pool::each_awake;
use crate::random::{Purpose, Stream};

/// Words of columns that trees choose from, where there are as many; and where candidates are compared, since of many
/// they would all find the same.
const WORDS: usize = 16;
const WORDS_WITH_CANDIDATES: usize = 4;

/// The same for trees of one gate on large samples: gathering them would take longer than climbing does.
const WORDS_OF_LARGE_SAMPLES: usize = 8;
const LARGE_SAMPLE: usize = 1 << 16;

/// Trees that choose from the same columns where candidates are compared.
const ALIKE: usize = 2;

/// The number of trees after which rows are called easy or not.
const EARLY: usize = 40;

/// The share of rows wrong then, below which they are easy.
const EASY: f64 = 0.05;

/// Rows that a tree is climbed on at the most where they are easy: most have next to no gradient, and more would only be
/// the same few drawn more often. Each side has about half of them, and takes up whole blocks: a few less than blocks
/// hold, so that a little more than half fits too.
fn easy_sample(rows: usize) -> usize {
    let both = 2 * BLOCK_WORDS * WORD_BITS;
    (rows / 5 / both).max(1) * both - 32
}

/// How many words of columns trees choose from at the most.
pub(super) fn words_seen(plan: &GrovePlan) -> usize {
    match plan.arities.len() {
        _ if plan.candidates > 1 => WORDS_WITH_CANDIDATES,
        1 if plan.sample_rows >= LARGE_SAMPLE => WORDS_OF_LARGE_SAMPLES,
        _ => WORDS,
    }
}

/// What all rounds of a fit share.
pub(super) struct Grower<'a, E> {
    pub(super) engine: &'a E,
    pub(super) plan: GrovePlan,
    pub(super) objective: Arc<dyn Objective>,
    pub(super) step: LeafStep,
    pub(super) power: SamplingPower,
    /// That of rows which the first rounds do not fit.
    pub(super) plain: SamplingPower,
    pub(super) order: &'a ColumnOrder,
    pub(super) logs: &'a LogTable,
    pub(super) kernels: Kernels,
    /// Columns from here on are shared features.
    pub(super) inputs: usize,
}

/// What a fit knows of its rows and of the trees so far.
pub(super) struct Growing<E: Engine> {
    pub(super) rows: E::State,
    /// How many leaves of the trees so far read each column.
    pub(super) uses: Vec<u32>,
    /// One margin: whether the first rounds fitted nearly all rows, once they are over.
    pub(super) easy: Option<bool>,
}

impl<E: Engine> Growing<E> {
    pub(super) fn new(rows: E::State, columns: usize, trees: &[VoteTree]) -> Self {
        let mut growing = Self { rows, uses: vec![0; columns], easy: None };
        growing.note_uses(trees);
        growing
    }

    fn note_uses(&mut self, trees: &[VoteTree]) {
        for &column in trees.iter().flat_map(VoteTree::leaves) {
            self.uses[column as usize] += 1;
        }
    }
}

/// A climbed tree that wants only its votes.
struct Ready<E: Engine> {
    bare: VoteTree,
    addresses: E::Addresses,
    /// Rows it was climbed among, where others are kept honest.
    among: Vec<bool>,
}

impl<E: Engine> Grower<'_, E> {
    /// Trees there is room for besides the gates there are, before the grove is pruned: each may have features of its own.
    pub(super) fn room(&self, gates: &Gates) -> usize {
        let Some(most) = self.plan.max_gates else { return usize::MAX };
        let leaves: usize = self.plan.arities.iter().product();
        let features = if self.order.columns().len() > self.inputs { leaves } else { 0 };
        most.saturating_mul(OVERGROWN).saturating_sub(gates.total()) / (self.plan.gates_a_tree() + features)
    }

    /// Runs a round: the trees it adds, no more than there is room for, the state being brought up to date.
    pub(super) fn round(&self, round: usize, growing: &mut Growing<E>, room: usize) -> Result<Vec<VoteTree>> {
        let margins = self.objective.margins();
        let grown = if margins == 1 {
            self.round_of_one(round, growing, room)?
        } else if self.plan.shared_trees {
            self.round_of_shared(round, growing, room)?
        } else if room < margins {
            Vec::new()
        } else {
            self.round_of_many(round, growing)?
        };
        growing.note_uses(&grown);
        if margins == 1 && growing.easy.is_none() && (round + 1) * self.plan.trees_per_round >= EARLY {
            let wrong = self.engine.loss(&growing.rows)?.wrong;
            let easy = (wrong as f64) < EASY * self.engine.rows() as f64;
            growing.easy = Some(self.objective.classifies() && easy);
        }
        Ok(grown)
    }

    /// One margin: trees climbed side by side, their votes made one after the other.
    ///
    /// They are climbed on the same rows; but where rows are kept honest, and so few, each has its own. Those that choose
    /// from the same columns share what is gathered, and are best climbed by the thread that gathered it.
    fn round_of_one(&self, round: usize, growing: &mut Growing<E>, room: usize) -> Result<Vec<VoteTree>> {
        let first = round * self.plan.trees_per_round;
        let positions: Vec<usize> = (first..first + self.plan.trees_per_round.min(room)).collect();
        let reading = &*growing;
        let ready = |climbed: Climbed, among| -> Result<Option<Ready<E>>> {
            let bare = self.bare(climbed, 0)?;
            let addresses = self.engine.address(&reading.rows, &bare)?;
            Ok(Some(Ready { bare, addresses, among }))
        };
        let climbed: Vec<Option<Ready<E>>> = if self.plan.honest_fraction > 0.0 && self.searches(reading) {
            let wanted: Vec<(usize, usize)> = positions.iter().map(|&position| (0, position)).collect();
            let climbed = self.climb_each(&wanted, reading)?.into_iter();
            climbed
                .map(|climbed| climbed.map_or(Ok(None), |(tree, among)| ready(tree, among)))
                .collect::<Result<_>>()?
        } else if self.plan.honest_fraction > 0.0 {
            let climb = |position: usize| match self.climb_for(0, position, reading)? {
                Some((climbed, among)) => ready(climbed, among),
                None => Ok(None),
            };
            each_awake(positions, climb).into_iter().collect::<Result<_>>()?
        } else {
            let mut stream = Stream::new(self.plan.seed, Purpose::Sample, first as u64);
            let picks = self.draw(Direction::Margin(0), reading, &[], &mut stream)?;
            let alike = if self.plan.candidates > 1 { ALIKE } else { positions.len().max(1) };
            let groups: Vec<(&[usize], Vec<u32>)> =
                positions.chunks(alike).map(|group| (group, self.choose(&mut stream))).collect();
            if self.searches(reading) {
                let gather = |(group, chosen): (&'_ [usize], Vec<u32>)| {
                    Ok((group.to_vec(), self.gather(&chosen, &picks, reading)?))
                };
                let samples = each_awake(groups, gather).into_iter().collect::<Result<Vec<_>>>()?;
                let trees = samples.iter().flat_map(|(group, sample)| {
                    let stream =
                        |&position: &usize| Stream::new(self.plan.seed, Purpose::Round, position as u64);
                    let sample = sample.as_ref();
                    group.iter().filter_map(move |position| Some((sample?, stream(position))))
                });
                let climbed = self.climb_together(trees.collect(), reading)?;
                each_awake(climbed, |tree| ready(tree, Vec::new())).into_iter().collect::<Result<_>>()?
            } else {
                let climb_group = |(group, chosen): (&[usize], Vec<u32>)| -> Result<Vec<Option<Ready<E>>>> {
                    let Some(sample) = self.gather(&chosen, &picks, reading)? else { return Ok(Vec::new()) };
                    let climb = |position: usize| {
                        let mut stream = Stream::new(self.plan.seed, Purpose::Round, position as u64);
                        ready(self.climb(&sample, reading, &mut stream)?, Vec::new())
                    };
                    each_awake(group.to_vec(), climb).into_iter().collect()
                };
                let climbed = each_awake(groups, climb_group);
                climbed.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect()
            }
        };
        let mut grown: Vec<VoteTree> = Vec::new();
        // The addresses of the last tree.
        let mut last: Option<E::Addresses> = None;
        for Ready { bare, addresses, among } in climbed.into_iter().flatten() {
            let voter = grown.last().zip(last.as_ref());
            let next =
                Summand { margin: 0, addresses: &addresses, count: bare.votes().len(), climbed: &among };
            let sums = self.engine.update_and_sum(&mut growing.rows, voter, Some(&next))?;
            grown.push(bare.with_votes(self.votes(&sums))?);
            last = Some(addresses);
        }
        self.engine.update_and_sum(&mut growing.rows, grown.last().zip(last.as_ref()), None)?;
        Ok(grown)
    }

    /// Many margins: a tree for each, all from the margins before the round.
    fn round_of_many(&self, round: usize, growing: &mut Growing<E>) -> Result<Vec<VoteTree>> {
        let margins = self.objective.margins();
        let reading = &*growing;
        let position = |margin: usize| round * margins + margin;
        if self.searches(reading) {
            let wanted: Vec<(usize, usize)> = (0..margins).map(|margin| (margin, position(margin))).collect();
            let climbed = self.climb_each(&wanted, reading)?;
            let (mut bare, mut among) = (Vec::new(), Vec::new());
            for (margin, (climbed, rows)) in
                climbed.into_iter().enumerate().filter_map(|(margin, tree)| Some((margin, tree?)))
            {
                bare.push(self.bare(climbed, margin)?);
                among.push((margin, rows));
            }
            let addresses = self.engine.address_each(&reading.rows, &bare)?;
            let each = bare.iter().zip(&addresses).zip(&among);
            let what = each.map(|((bare, addresses), (margin, climbed))| Summand {
                margin: *margin,
                addresses,
                count: bare.votes().len(),
                climbed,
            });
            let sums = self.engine.sum_each(&reading.rows, &what.collect::<Vec<_>>())?;
            let trees = bare.into_iter().zip(sums).map(|(bare, sums)| bare.with_votes(self.votes(&sums)));
            let trees = trees.collect::<Result<Vec<_>>>()?;
            let votes: Vec<(&VoteTree, &E::Addresses)> = trees.iter().zip(&addresses).collect();
            self.engine.update(&mut growing.rows, &votes)?;
            return Ok(trees);
        }
        let grow = |margin: usize| -> Result<Option<(VoteTree, E::Addresses)>> {
            let Some((climbed, among)) = self.climb_for(margin, position(margin), reading)? else {
                return Ok(None);
            };
            let bare = self.bare(climbed, margin)?;
            let addresses = self.engine.address(&reading.rows, &bare)?;
            let count = bare.votes().len();
            let what = Summand { margin, addresses: &addresses, count, climbed: &among };
            let sums = self.engine.sum(&reading.rows, &what)?;
            Ok(Some((bare.with_votes(self.votes(&sums))?, addresses)))
        };
        let grown = each_awake((0..margins).collect(), grow).into_iter().collect::<Result<Vec<_>>>()?;
        let (trees, addresses): (Vec<VoteTree>, Vec<E::Addresses>) = grown.into_iter().flatten().unzip();
        let votes: Vec<(&VoteTree, &E::Addresses)> = trees.iter().zip(&addresses).collect();
        self.engine.update(&mut growing.rows, &votes)?;
        Ok(trees)
    }

    /// Many margins, trees for all of them: each is climbed to separate a random half of the margins from the other, and
    /// votes on all, one tree after the other.
    fn round_of_shared(&self, round: usize, growing: &mut Growing<E>, room: usize) -> Result<Vec<VoteTree>> {
        let (margins, trees) = (self.objective.margins(), self.plan.trees_per_round);
        let reading = &*growing;
        let searches = self.searches(reading);
        let sample = |tree: usize| -> Result<Option<(Sample, Stream)>> {
            let position = round * trees + tree;
            let mut stream = Stream::new(self.plan.seed, Purpose::Sample, position as u64);
            let mut order: Vec<usize> = (0..margins).collect();
            stream.shuffle(&mut order);
            let mut inside = vec![false; margins];
            order[..margins / 2].iter().for_each(|&margin| inside[margin] = true);
            let by = Draw {
                direction: Direction::Group(&inside),
                power: &self.power,
                among: &[],
                size: self.plan.sample_rows,
                start: stream.bits(),
            };
            let picks = self.engine.draw(&reading.rows, &by)?;
            let chosen = self.choose(&mut stream);
            Ok(self.gather(&chosen, &picks, reading)?.map(|sample| (sample, stream)))
        };
        let wanted = (0..trees.min(room)).collect();
        let climbed: Vec<Climbed> = if searches {
            let samples = each_awake(wanted, sample).into_iter().collect::<Result<Vec<_>>>()?;
            let (samples, streams): (Vec<Sample>, Vec<Stream>) = samples.into_iter().flatten().unzip();
            self.climb_together(samples.iter().zip(streams).collect(), reading)?
        } else {
            let climb = |tree: usize| -> Result<Option<Climbed>> {
                let Some((sample, mut stream)) = sample(tree)? else { return Ok(None) };
                self.climb(&sample, reading, &mut stream).map(Some)
            };
            let climbed = each_awake(wanted, climb).into_iter().collect::<Result<Vec<_>>>()?;
            climbed.into_iter().flatten().collect()
        };
        let mut grown = Vec::new();
        for climbed in climbed {
            let bare = self.bare(climbed, 0)?;
            let addresses = self.engine.address(&growing.rows, &bare)?;
            let count = bare.votes().len();
            let reading = &growing.rows;
            let sum = |margin| {
                self.engine.sum(reading, &Summand { margin, addresses: &addresses, count, climbed: &[] })
            };
            let sums: Vec<Vec<Sums>> =
                each_awake((0..margins).collect(), sum).into_iter().collect::<Result<_>>()?;
            let votes = (0..count).flat_map(|address| sums.iter().map(move |sums| sums[address]));
            let votes = votes.map(|sums| self.step.vote(sums)).collect();
            let (arities, leaves) = (self.plan.arities.clone(), bare.leaves().to_vec());
            let tree = VoteTree::new(arities, Target::All, leaves, bare.tables().to_vec(), votes)?;
            self.engine.update(&mut growing.rows, &[(&tree, &addresses)])?;
            grown.push(tree);
        }
        Ok(grown)
    }

    fn votes(&self, sums: &[Sums]) -> Vec<i32> {
        sums.iter().map(|&sums| self.step.vote(sums)).collect()
    }

    /// Climbs a tree on the gradients of a margin; says which rows it was climbed among, where others are kept honest.
    fn climb_for(
        &self,
        margin: usize,
        position: usize,
        growing: &Growing<E>,
    ) -> Result<Option<(Climbed, Vec<bool>)>> {
        let Some((sample, among)) = self.sample_for(margin, position, growing)? else { return Ok(None) };
        let mut stream = Stream::new(self.plan.seed, Purpose::Round, position as u64);
        Ok(Some((self.climb(&sample, growing, &mut stream)?, among)))
    }

    /// Weighs rows and draws some.
    pub(super) fn draw(
        &self,
        direction: Direction<'_>,
        growing: &Growing<E>,
        among: &[bool],
        stream: &mut Stream,
    ) -> Result<Picks> {
        self.engine.draw(&growing.rows, &self.draw_by(direction, growing, among, stream))
    }

    /// How rows are weighed and drawn.
    pub(super) fn draw_by<'d>(
        &'d self,
        direction: Direction<'d>,
        growing: &Growing<E>,
        among: &'d [bool],
        stream: &mut Stream,
    ) -> Draw<'d> {
        let size = match growing.easy {
            Some(false) => self.plan.sample_rows,
            None if self.plan.candidates == 1 => self.plan.sample_rows,
            _ => self.plan.sample_rows.min(easy_sample(self.engine.rows())),
        };
        let power = if growing.easy == Some(false) { &self.plain } else { &self.power };
        Draw { direction, power, among, size, start: stream.bits() }
    }

    /// The words of columns that trees choose from.
    pub(super) fn choose(&self, stream: &mut Stream) -> Vec<u32> {
        self.order.choose(words_seen(&self.plan), stream)
    }

    /// Gathers words of the picked rows; none where they are all of one side.
    pub(super) fn gather(
        &self,
        chosen: &[u32],
        picks: &Picks,
        growing: &Growing<E>,
    ) -> Result<Option<Sample>> {
        if picks.iter().any(Vec::is_empty) {
            return Ok(None);
        }
        let sample = self.engine.gather(picks, chosen)?;
        if self.searches(growing) { Ok(Some(sample)) } else { self.engine.fetch(sample).map(Some) }
    }

    /// Columns that a trial compares.
    pub(super) fn candidates(&self, growing: &Growing<E>) -> u32 {
        if growing.easy == Some(false) { 1 } else { self.plan.candidates }
    }

    /// Which rows a tree is climbed among; empty for all.
    pub(super) fn among(&self, position: usize) -> Vec<bool> {
        if self.plan.honest_fraction == 0.0 {
            return Vec::new();
        }
        let mut stream = Stream::new(self.plan.seed, Purpose::Honest, position as u64);
        (0..self.engine.rows()).map(|_| stream.unit() >= self.plan.honest_fraction).collect()
    }

    /// Climbs a tree on the rows of a sample.
    fn climb(&self, sample: &Sample, growing: &Growing<E>, stream: &mut Stream) -> Result<Climbed> {
        let columns = sample.columns.len() as u32;
        let leaves = self.plan.arities.iter().product();
        let leaves: Vec<u32> = (0..leaves).map(|_| stream.below(columns)).collect();
        let mut climber = Climber::new(sample, &self.plan.arities, leaves, self.logs, self.kernels)?;
        let reuse = FeatureReuse::new(self.plan.feature_reuse, &sample.columns, &growing.uses);
        climber.climb(self.plan.climb, self.candidates(growing), stream, |stream| match &reuse {
            Some(reuse) => reuse.draw(stream),
            None => stream.below(columns),
        })?;
        let mut climbed = climber.finish();
        climbed.leaves.iter_mut().for_each(|leaf| *leaf = sample.columns[*leaf as usize]);
        Ok(climbed)
    }

    /// The tree without votes.
    fn bare(&self, climbed: Climbed, margin: usize) -> Result<VoteTree> {
        let arities = self.plan.arities.clone();
        let addresses = 1usize << arities[arities.len() - 1];
        let target = Target::One(margin as u32);
        VoteTree::new(arities, target, climbed.leaves, climbed.tables, vec![0; addresses])
    }
}
