//! Patterns that are learned: climbed on the rows that those before them leave wrong.
//!
//! It is boosting of little trees: a root whose inputs are patterns, each varied for as long as that tells the classes
//! better. The trees are thrown away, the patterns are what is wanted.
//!
//! - [`Climb`]: the climbing, whoever judges. [`Judge`]: who holds the planes of images and says how well patterns do.

use super::draw::Draw;
use super::settings::PatternPlan;
use super::sketch::{Limits, Sketch};
use crate::Result;
use crate::circuit::{Pattern, Target, VoteTree};
use crate::learn::device::Device;
use crate::learn::engine::{self, Direction, Engine, Picks, SamplingPower, Start, Summand};
use crate::learn::grove::LeafStep;
use crate::learn::objective::MakeObjective;
use crate::learn::{Observer, Tracker};
use crate::platform::Instant;
use crate::platform::parallel::*;
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
const DRAWN: usize = 16;

/// Trees that are climbed side by side where there is one margin.
const SIDE: usize = 4;

/// What the number of patterns of a kind is taken to be more than it is, so that none is given up too soon.
const PRIOR: u32 = 8;

/// A tree that votes on one margin, and its patterns with their kinds.
struct Tree {
    margin: usize,
    patterns: Vec<(Pattern, usize)>,
}

/// Who holds the planes of images, and says how well patterns separate the sides of a sample of them. `E` is the engine that
/// holds what else is known of the rows.
pub(super) trait Judge<E: Engine>: Sync {
    /// Rows drawn by their gradient, and the patterns of a tree so far, which part them into cells.
    type Sample;

    /// Patterns that are judged at once, since that takes no longer than to judge one.
    fn at_once(&self) -> usize;

    /// The planes of picked rows.
    fn gather(&self, picks: &Picks) -> Result<Self::Sample>;

    /// How well each pattern separates the sides within all cells, and the place of its threshold that does so best: the
    /// first of those that are as good.
    fn judge(&self, sample: &Self::Sample, patterns: &[Pattern]) -> Result<Vec<(i64, usize)>>;

    /// Parts every cell by a pattern of one threshold.
    fn part(&self, sample: &mut Self::Sample, pattern: &Pattern) -> Result<()>;

    /// The address of every row in trees of at most [`ARITY`] patterns of one threshold each.
    fn addresses(&self, trees: &[Vec<&Pattern>]) -> Result<Vec<E::Addresses>>;
}

pub(super) struct Climb<'a> {
    pub(super) draw: &'a Draw<'a>,
    pub(super) plan: &'a PatternPlan,
    pub(super) limits: Limits,
}

/// A pattern with one threshold, and how well it does.
struct Found {
    score: i64,
    sketch: Sketch,
    pattern: Pattern,
}

impl Climb<'_> {
    /// Learns so many patterns; and says how many of each kind they are, a few added.
    pub(super) fn patterns<E: Engine, J: Judge<E>>(
        &self,
        judge: &J,
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
            let grow = |(index, (mut stream, picks)): (usize, (Stream, Picks))| -> Result<Tree> {
                let margin = index % margins;
                let patterns = match picks.iter().any(Vec::is_empty) {
                    true => Vec::new(),
                    false => self.tree(judge, judge.gather(&picks)?, &weights, &mut stream)?,
                };
                Ok(Tree { margin, patterns })
            };
            let begun: Vec<(usize, (Stream, Picks))> = streams.into_iter().zip(picks).enumerate().collect();
            let mut grown = begun.into_par_iter().map(grow).collect::<Result<Vec<_>>>()?;
            grown.retain(|tree| !tree.patterns.is_empty());
            let looked_for: Vec<Vec<&Pattern>> =
                grown.iter().map(|tree| tree.patterns.iter().map(|(pattern, _)| pattern).collect()).collect();
            let addresses = judge.addresses(&looked_for)?;
            let mut votes = Vec::with_capacity(grown.len());
            for (tree, addresses) in grown.iter().zip(&addresses) {
                let arity = tree.patterns.len();
                let what = Summand { margin: tree.margin, addresses, count: 1 << arity, climbed: &[] };
                let sums = engine.sum(&state, &what)?;
                let target = Target::One(tree.margin as u32);
                let leaves = (0..arity as u32).collect();
                let said = sums.iter().map(|&sums| step.vote(sums)).collect();
                votes.push(VoteTree::new(vec![arity], target, leaves, Vec::new(), said)?);
            }
            let both: Vec<_> = votes.iter().zip(&addresses).collect();
            engine.update(&mut state, &both)?;
            for (pattern, kind) in grown.into_iter().flat_map(|tree| tree.patterns) {
                weights[kind] += 1;
                all.push(self.draw.laddered(pattern)?);
            }
        }
        all.truncate(count);
        Ok((all, weights))
    }

    /// Climbs the patterns of a tree, one after the other.
    fn tree<E: Engine, J: Judge<E>>(
        &self,
        judge: &J,
        mut sample: J::Sample,
        weights: &[u32],
        stream: &mut Stream,
    ) -> Result<Vec<(Pattern, usize)>> {
        let mut patterns = Vec::with_capacity(ARITY);
        while let Some(Found { pattern, sketch, .. }) = self.climb(judge, &sample, weights, stream)? {
            patterns.push((pattern, sketch.kind));
            if patterns.len() == ARITY {
                break;
            }
            judge.part(&mut sample, &patterns[patterns.len() - 1].0)?;
        }
        Ok(patterns)
    }

    /// A pattern that separates the sides, as far as variations find one.
    fn climb<E: Engine, J: Judge<E>>(
        &self,
        judge: &J,
        sample: &J::Sample,
        weights: &[u32],
        stream: &mut Stream,
    ) -> Result<Option<Found>> {
        let drawn: Vec<Sketch> = (0..DRAWN).map(|_| self.draw.sketch(weights, stream)).collect();
        let mut best: Option<Found> = None;
        for drawn in drawn.chunks(judge.at_once()) {
            for found in self.judged(judge, sample, drawn)?.into_iter().flatten() {
                best = match best {
                    Some(best) if found.score <= best.score => Some(best),
                    _ => Some(found),
                };
            }
        }
        let Some(mut best) = best else { return Ok(None) };
        // Variations are judged as if those before them were no better; the first that is better is taken, and what was drawn
        // after it is drawn again.
        let mut left = self.plan.trials as usize;
        while left > 0 {
            let kind = &self.plan.kinds[best.sketch.kind];
            // With each, how many variations were tried by then, and how far the stream was.
            let (mut varied, mut ends) = (Vec::new(), Vec::new());
            let mut tried = 0;
            while tried < left && varied.len() < judge.at_once() {
                tried += 1;
                if let Some(sketch) = best.sketch.varied(kind, &self.limits, stream) {
                    varied.push(sketch);
                    ends.push((tried, stream.place()));
                }
            }
            let mut judged = self.judged(judge, sample, &varied)?;
            let better = |found: &Option<Found>| found.as_ref().is_some_and(|found| found.score > best.score);
            if let Some(at) = judged.iter().position(better) {
                let end = ends[at];
                tried = end.0;
                stream.go_on_from(end.1);
                best = judged.swap_remove(at).unwrap_or(best);
            }
            left -= tried;
        }
        Ok(Some(best))
    }

    /// Sketches as patterns, each with the threshold that separates the sides best; none where a sketch is no pattern.
    fn judged<E: Engine, J: Judge<E>>(
        &self,
        judge: &J,
        sample: &J::Sample,
        sketches: &[Sketch],
    ) -> Result<Vec<Option<Found>>> {
        let made: Vec<Option<Pattern>> =
            sketches.iter().map(|sketch| self.draw.pattern(sketch, self.plan.counts > 0)).collect();
        let patterns: Vec<Pattern> = made.iter().flatten().cloned().collect();
        let mut scores =
            if patterns.is_empty() { Vec::new() } else { judge.judge(sample, &patterns)? }.into_iter();
        let found = |(sketch, made): (&Sketch, Option<Pattern>)| -> Result<Option<Found>> {
            let Some((pattern, (score, at))) = made.and_then(|pattern| Some((pattern, scores.next()?)))
            else {
                return Ok(None);
            };
            let pattern = pattern.with_thresholds(vec![pattern.thresholds()[at]])?;
            Ok(Some(Found { score, sketch: sketch.clone(), pattern }))
        };
        sketches.iter().zip(made).map(found).collect()
    }
}
