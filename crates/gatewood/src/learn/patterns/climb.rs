//! Patterns that are learned: climbed on the rows that those before them leave wrong.
//!
//! It is boosting of little trees: a root whose inputs are patterns, each varied for as long as that tells the classes
//! better. The trees are thrown away, the patterns are what is wanted.
//!
//! - [`Climb`]: the rounds, whoever climbs. [`ClimbPatterns`]: who holds the planes of images and climbs patterns there.

use super::draw::Draw;
use super::settings::PatternPlan;
use super::sketch::{Limits, Sketch};
use crate::Result;
use crate::bits::kernels::Sums;
use crate::circuit::{Pattern, Target, VoteTree};
use crate::learn::device::Device;
use crate::learn::engine::{self, Direction, Engine, Picks, SamplingPower, Start, Summand};
use crate::learn::grove::LeafStep;
use crate::learn::objective::MakeObjective;
use crate::learn::{Observer, Tracker};
use crate::platform::Instant;
use crate::random::{Purpose, Stream};

/// What patterns are learned for.
#[derive(Clone, Copy)]
pub(crate) struct Lesson<'a> {
    pub(crate) targets: &'a [u32],
    /// The objective of the grove, for votes of any worth.
    pub(crate) make: MakeObjective<'a>,
    /// Rows that patterns must not be learned from.
    pub(crate) held_out: Option<&'a [bool]>,
    /// When learning patterns must end.
    pub(crate) until: Option<Instant>,
    /// Where images are looked at, if not by this process.
    pub(crate) device: Option<&'a dyn Device>,
    pub(crate) observer: &'a dyn Observer,
}

/// Bits of a vote: for classes, and for values, which want finer ones.
const VOTE_BITS: u32 = 8;
const VALUE_VOTE_BITS: u32 = 12;

/// Where the streams of learned patterns begin.
const LEARNED: u64 = 1 << 40;

/// Patterns of one tree.
pub(super) const ARITY: usize = 4;

/// Patterns that are drawn for each, of which the best is varied.
pub(super) const DRAWN: usize = 16;

/// Trees that are climbed side by side where there is one margin.
const SIDE: usize = 4;

/// What the number of patterns of a kind is taken to be more than it is, so that none is given up too soon.
const PRIOR: u32 = 8;

/// Who holds the planes of images, and climbs patterns there. `E` is the engine that holds what else is known of the rows.
pub(super) trait ClimbPatterns<E: Engine>: Sync {
    /// The patterns of some trees, each climbed on rows of its own with a stream of its own; none where no pattern
    /// separates the sides.
    fn trees(
        &self,
        climb: &Climb<'_>,
        rows: Vec<(Picks, Stream)>,
        weights: &[u32],
    ) -> Result<Vec<Vec<Found>>>;

    /// The address of every row in trees of at most [`ARITY`] patterns of one threshold each.
    fn addresses(&self, trees: &[Vec<&Pattern>]) -> Result<Vec<E::Addresses>>;
}

pub(super) struct Climb<'a> {
    pub(super) draw: &'a Draw<'a>,
    pub(super) plan: &'a PatternPlan,
    pub(super) limits: Limits,
}

/// A pattern with the one threshold that separates the sides best.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) sketch: Sketch,
    pub(super) pattern: Pattern,
}

impl Climb<'_> {
    /// Learns so many patterns; and says how many of each kind they are, a few added.
    pub(super) fn patterns<E: Engine, P: ClimbPatterns<E>>(
        &self,
        planes: &P,
        engine: &E,
        lesson: &Lesson<'_>,
        count: usize,
    ) -> Result<(Vec<Pattern>, Vec<u32>)> {
        let rate = self.plan.learning_rate;
        let objective = (lesson.make)(1.0);
        let vote_bits = if objective.classifies() { VOTE_BITS } else { VALUE_VOTE_BITS };
        let unit = objective.unit(LeafStep::unit(objective.max_step(), rate, vote_bits));
        let objective = (lesson.make)(unit);
        let step = LeafStep::new(rate, vote_bits, unit, objective.reg_lambda(1.0));
        let bias = objective.bias(&engine.totals(&*objective)?)?;
        let start = Start { objective: &objective, bias: &bias, trees: &[], held_out: lesson.held_out };
        let mut state = engine.begin(&start)?;
        let power = SamplingPower::new(self.plan.sampling_power);
        let margins = objective.margins();
        let trees = if margins == 1 { SIDE } else { margins };
        let mut weights = vec![PRIOR; self.plan.kinds.len()];
        let mut all: Vec<Pattern> = Vec::new();
        let tracker = Tracker::new(lesson.observer, 1);
        for round in 0.. {
            let is_over = lesson.until.is_some_and(|until| Instant::now() >= until);
            if all.len() >= count || is_over || round as usize > count {
                break;
            }
            tracker.check()?;
            let stream = |index| {
                let position = round * trees as u64 + index as u64;
                Stream::new(self.plan.seed, Purpose::Patterns, LEARNED + position)
            };
            let mut streams: Vec<Stream> = (0..trees).map(stream).collect();
            let by = |(index, stream): (usize, &mut Stream)| engine::Draw {
                direction: Direction::Margin(index % margins),
                power: &power,
                among: &[],
                size: self.plan.sample_rows,
                start: stream.bits(),
            };
            let draws: Vec<engine::Draw<'_>> = streams.iter_mut().enumerate().map(by).collect();
            let picks = engine.draw_each(&state, &draws)?;
            let (mut of, mut rows) = (Vec::new(), Vec::new());
            for (index, (stream, picks)) in streams.into_iter().zip(picks).enumerate() {
                if !picks.iter().any(Vec::is_empty) {
                    of.push(index % margins);
                    rows.push((picks, stream));
                }
            }
            let grown = planes.trees(self, rows, &weights)?;
            let grown: Vec<(usize, Vec<Found>)> =
                of.into_iter().zip(grown).filter(|(_, tree)| !tree.is_empty()).collect();
            let looked_for: Vec<Vec<&Pattern>> =
                grown.iter().map(|(_, tree)| tree.iter().map(|found| &found.pattern).collect()).collect();
            let addresses = planes.addresses(&looked_for)?;
            let what = grown.iter().zip(&addresses).map(|((margin, tree), addresses)| Summand {
                margin: *margin,
                addresses,
                count: 1 << tree.len(),
                climbed: &[],
            });
            let sums = engine.sum_each(&state, &what.collect::<Vec<_>>())?;
            let vote = |((margin, tree), sums): (&(usize, Vec<Found>), Vec<Sums>)| {
                let leaves = (0..tree.len() as u32).collect();
                let said = sums.iter().map(|&sums| step.vote(sums)).collect();
                VoteTree::new(vec![tree.len()], Target::One(*margin as u32), leaves, Vec::new(), said)
            };
            let votes = grown.iter().zip(sums).map(vote).collect::<Result<Vec<_>>>()?;
            let both: Vec<_> = votes.iter().zip(&addresses).collect();
            engine.update(&mut state, &both)?;
            for found in grown.into_iter().flat_map(|(_, tree)| tree) {
                weights[found.sketch.kind] += 1;
                all.push(self.draw.laddered(found.pattern)?);
            }
        }
        all.truncate(count);
        Ok((all, weights))
    }

    /// Sketches of which the best is varied.
    pub(super) fn drawn(&self, weights: &[u32], stream: &mut Stream) -> Vec<Sketch> {
        (0..DRAWN).map(|_| self.draw.sketch(weights, stream)).collect()
    }

    /// A sketch as a pattern with all thresholds there may be; none where it is no pattern.
    pub(super) fn pattern(&self, sketch: &Sketch) -> Option<Pattern> {
        self.draw.pattern(sketch, self.plan.counts > 0)
    }

    /// A pattern that separates the sides of a sample, as far as variations find one. What `judge` says of a pattern is how well
    /// it does so, and the place of its threshold that does it best.
    pub(super) fn climb(
        &self,
        weights: &[u32],
        stream: &mut Stream,
        judge: impl Fn(&Pattern) -> (i64, usize),
    ) -> Result<Option<Found>> {
        let judged = |sketch: Sketch| {
            let pattern = self.pattern(&sketch)?;
            let (score, place) = judge(&pattern);
            Some((score, sketch, pattern, place))
        };
        let better = |one: Option<(i64, _, _, _)>, other: (i64, _, _, _)| match one {
            Some(one) if other.0 <= one.0 => Some(one),
            _ => Some(other),
        };
        let Some(mut best) = self.drawn(weights, stream).into_iter().filter_map(judged).fold(None, better)
        else {
            return Ok(None);
        };
        for _ in 0..self.plan.trials {
            let kind = &self.plan.kinds[best.1.kind];
            let varied = best.1.varied(kind, &self.limits, stream).and_then(judged);
            if let Some(varied) = varied.filter(|varied| varied.0 > best.0) {
                best = varied;
            }
        }
        let (_, sketch, pattern, place) = best;
        let pattern = pattern.with_thresholds(vec![pattern.thresholds()[place]])?;
        Ok(Some(Found { sketch, pattern }))
    }
}
