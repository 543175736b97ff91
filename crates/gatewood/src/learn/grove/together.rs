//! Rounds whose trees an engine climbs itself, side by side: all samples are gathered first.

use super::round::{Grower, Growing};
use crate::Result;
use crate::learn::engine::{Direction, Engine, TreeToClimb};
use crate::learn::search::{Climbed, FeatureReuse, Sample, draw_trials};
use crate::platform::parallel::*;
use crate::pool::each_awake;
use crate::random::{Purpose, Stream};

/// A sample with the rows it is of, where others are kept honest.
type SampleAmong = (Sample, Vec<bool>);

/// A climbed tree with the rows that it was climbed among, where others are kept honest.
pub(super) type ClimbedAmong = (Climbed, Vec<bool>);

impl<E: Engine> Grower<'_, E> {
    /// Whether the engine climbs the trees of the round itself.
    pub(super) fn searches(&self, growing: &Growing<E>) -> bool {
        self.engine.searches(&self.plan.arities, self.candidates(growing))
    }

    /// Climbs a tree for each of some margins, with its position among all trees; none where rows are all of one side.
    pub(super) fn climb_each(
        &self,
        wanted: &[(usize, usize)],
        growing: &Growing<E>,
    ) -> Result<Vec<Option<ClimbedAmong>>> {
        let among: Vec<Vec<bool>> = wanted.iter().map(|&(_, position)| self.among(position)).collect();
        let (mut draws, mut chosen) = (Vec::new(), Vec::new());
        for (&(margin, position), among) in wanted.iter().zip(&among) {
            let mut stream = Stream::new(self.plan.seed, Purpose::Sample, position as u64);
            draws.push(self.draw_by(Direction::Margin(margin), growing, among, &mut stream));
            chosen.push(self.choose(&mut stream));
        }
        // While rows are drawn and gathered, the trials are.
        let draw = |(&(_, position), chosen): (&(usize, usize), &Vec<u32>)| {
            let columns: Vec<u32> = chosen.iter().flat_map(|&word| self.order.word(word)).copied().collect();
            let mut stream = Stream::new(self.plan.seed, Purpose::Round, position as u64);
            self.leaves_and_trials(&columns, &mut stream, growing)
        };
        let (samples, drawn) = join(
            || self.engine.samples(&growing.rows, &draws, &chosen),
            || each_awake(wanted.iter().zip(&chosen).collect(), draw),
        );
        let samples = samples?;
        let trees = samples.iter().zip(drawn).filter_map(|(sample, drawn)| {
            let sample = sample.as_ref()?;
            Some(self.tree_to_climb(sample, drawn, growing))
        });
        let mut climbed = self.climb_all(trees.collect())?.into_iter();
        let with_rows = |(sample, among): (Option<Sample>, Vec<bool>)| {
            sample.and_then(|_| Some((climbed.next()?, among)))
        };
        Ok(samples.into_iter().zip(among).map(with_rows).collect())
    }

    /// Draws and gathers the rows that the tree of a margin is climbed on.
    pub(super) fn sample_for(
        &self,
        margin: usize,
        position: usize,
        growing: &Growing<E>,
    ) -> Result<Option<SampleAmong>> {
        let among = self.among(position);
        let mut stream = Stream::new(self.plan.seed, Purpose::Sample, position as u64);
        let picks = self.draw(Direction::Margin(margin), growing, &among, &mut stream)?;
        let chosen = self.choose(&mut stream);
        Ok(self.gather(&chosen, &picks, growing)?.map(|sample| (sample, among)))
    }

    /// Climbs a tree on each sample, all at once.
    pub(super) fn climb_together(
        &self,
        trees: Vec<(&Sample, Stream)>,
        growing: &Growing<E>,
    ) -> Result<Vec<Climbed>> {
        let prepare = |(sample, mut stream): (_, Stream)| {
            let sample: &Sample = sample;
            let drawn = self.leaves_and_trials(&sample.columns, &mut stream, growing);
            self.tree_to_climb(sample, drawn, growing)
        };
        self.climb_all(each_awake(trees, prepare))
    }

    fn climb_all(&self, trees: Vec<TreeToClimb<'_>>) -> Result<Vec<Climbed>> {
        let samples: Vec<&Sample> = trees.iter().map(|tree| tree.sample).collect();
        let mut climbed = self.engine.search(trees, self.logs)?;
        for (climbed, sample) in climbed.iter_mut().zip(samples) {
            climbed.leaves.iter_mut().for_each(|leaf| *leaf = sample.columns[*leaf as usize]);
        }
        Ok(climbed)
    }

    fn tree_to_climb<'s>(
        &'s self,
        sample: &'s Sample,
        (leaves, trials): (Vec<u32>, Vec<u32>),
        growing: &Growing<E>,
    ) -> TreeToClimb<'s> {
        TreeToClimb {
            sample,
            arities: &self.plan.arities,
            leaves,
            candidates: self.candidates(growing),
            trials,
        }
    }

    /// The leaves and the trials of a tree over some columns: what [`Grower::climb`] draws, drawn beforehand.
    fn leaves_and_trials(
        &self,
        columns: &[u32],
        stream: &mut Stream,
        growing: &Growing<E>,
    ) -> (Vec<u32>, Vec<u32>) {
        let count = columns.len() as u32;
        let leaves: Vec<u32> = (0..self.plan.arities.iter().product()).map(|_| stream.below(count)).collect();
        let reuse = FeatureReuse::new(self.plan.feature_reuse, columns, &growing.uses);
        let candidates = self.candidates(growing);
        let trials = draw_trials(self.plan.climb, candidates, leaves.len(), stream, |stream| match &reuse {
            Some(reuse) => reuse.draw(stream),
            None => stream.below(count),
        });
        (leaves, trials)
    }
}
