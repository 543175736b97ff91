//! Rounds whose trees an engine climbs itself, side by side: all samples are gathered first.

use super::round::{Grower, Growing};
use crate::Result;
use crate::learn::engine::{Direction, Engine, TreeToClimb};
use crate::learn::search::{Climbed, FeatureReuse, Sample, draw_trials};
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
        let gather = |(margin, position)| self.sample_for(margin, position, growing);
        let samples = each_awake(wanted.to_vec(), gather);
        let samples = samples.into_iter().collect::<Result<Vec<Option<SampleAmong>>>>()?;
        let trees = samples.iter().zip(wanted).filter_map(|(sample, &(_, position))| {
            let stream = Stream::new(self.plan.seed, Purpose::Round, position as u64);
            Some((&sample.as_ref()?.0, stream))
        });
        let mut climbed = self.climb_together(trees.collect(), growing)?.into_iter();
        let with_rows =
            |sample: Option<SampleAmong>| sample.and_then(|(_, among)| Some((climbed.next()?, among)));
        Ok(samples.into_iter().map(with_rows).collect())
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
        let samples: Vec<&Sample> = trees.iter().map(|(sample, _)| *sample).collect();
        let prepare = |(sample, mut stream): (_, Stream)| self.tree_to_climb(sample, &mut stream, growing);
        let mut climbed = self.engine.search(each_awake(trees, prepare), self.logs)?;
        for (climbed, sample) in climbed.iter_mut().zip(samples) {
            climbed.leaves.iter_mut().for_each(|leaf| *leaf = sample.columns[*leaf as usize]);
        }
        Ok(climbed)
    }

    /// The leaves and the trials of a tree: what [`Grower::climb`] draws, drawn beforehand.
    fn tree_to_climb<'s>(
        &'s self,
        sample: &'s Sample,
        stream: &mut Stream,
        growing: &Growing<E>,
    ) -> TreeToClimb<'s> {
        let columns = sample.columns.len() as u32;
        let leaves: Vec<u32> =
            (0..self.plan.arities.iter().product()).map(|_| stream.below(columns)).collect();
        let reuse = FeatureReuse::new(self.plan.feature_reuse, &sample.columns, &growing.uses);
        let candidates = self.candidates(growing);
        let trials = draw_trials(self.plan.climb, candidates, leaves.len(), stream, |stream| match &reuse {
            Some(reuse) => reuse.draw(stream),
            None => stream.below(columns),
        });
        TreeToClimb { sample, arities: &self.plan.arities, leaves, candidates, trials }
    }
}
