//! Drawing patterns from training images.

use crate::platform::parallel::*;

use super::planes::PlaneEncoder;
use super::settings::PatternPlan;
use super::sketch::Sketch;
use crate::Result;
use crate::bits::kernels::{Kernels, Line};
use crate::bits::{BLOCK_WORDS, BitMatrix, WORD_BITS};
use crate::circuit::{Literal, Pattern, PatternRun, Planes};
use crate::random::{Purpose, Stream};

/// Shares of the rows that a column is on in, outside of which it tells too little.
const RARE: f64 = 0.02;
const COMMON: f64 = 0.98;

/// Times that a literal is drawn anew before there are fewer of them.
const TRIES: u32 = 30;

/// The places of a plane that have an answer: a rectangle.
#[derive(Debug, Clone, Copy)]
struct Area {
    x: (usize, usize),
    y: (usize, usize),
}

/// Images to draw from and to try patterns on.
pub(super) struct Draw<'a> {
    plan: &'a PatternPlan,
    planes: &'a Planes,
    /// Planes that ask for levels; the others compare.
    levels: usize,
    areas: Vec<Option<Area>>,
    bits: &'a BitMatrix,
    /// The planes of each block of rows.
    blocks: Vec<Vec<Line>>,
    kernels: Kernels,
}

impl<'a> Draw<'a> {
    /// From the bits of some images.
    pub(super) fn new(
        plan: &'a PatternPlan,
        made: &'a PlaneEncoder,
        bits: &'a BitMatrix,
        kernels: Kernels,
    ) -> Self {
        let planes = &made.planes;
        let lay_out = |block: usize| {
            let line = |input: Option<u32>| -> Line {
                let words = input.map(|input| &bits.column(input as usize)[block * BLOCK_WORDS..]);
                words.and_then(|words| words.first_chunk().copied()).unwrap_or_default()
            };
            planes.inputs().map(line).collect()
        };
        let blocks = (0..bits.rows().div_ceil(BLOCK_WORDS * WORD_BITS)).map(lay_out).collect();
        let areas = (0..planes.count()).map(|plane| area(planes, plane)).collect();
        Self { plan, planes, levels: made.levels, areas, bits, blocks, kernels }
    }

    /// So many patterns, less those that tell too little, of each kind in proportion to its weight.
    pub(super) fn patterns(&self, count: usize, weights: &[u32]) -> Vec<Pattern> {
        let draw = |index: usize| {
            let mut stream = Stream::new(self.plan.seed, Purpose::Patterns, index as u64 + 1);
            let sketch = self.sketch(weights, &mut stream);
            self.telling(self.moved(&sketch)?)
        };
        (0..count).into_par_iter().filter_map(draw).collect()
    }

    /// The places of each plane that have an answer, if any have: the first and the last of a line, the first and the last line.
    pub(super) fn areas(&self) -> Vec<Option<[u16; 4]>> {
        let ends = |area: Area| [area.x.0, area.x.1, area.y.0, area.y.1].map(|end| end as u16);
        self.areas.iter().map(|area| area.map(ends)).collect()
    }

    /// A pattern of an image, that matches it there.
    pub(super) fn sketch(&self, weights: &[u32], stream: &mut Stream) -> Sketch {
        let mut left = stream.below(weights.iter().sum::<u32>().max(1));
        let at = weights.iter().position(|&weight| {
            let here = left < weight;
            left = left.wrapping_sub(weight);
            here
        });
        let at = at.unwrap_or(0);
        let kind = &self.plan.kinds[at];
        let mut between = |[low, high]: [u32; 2]| low + stream.below(high - low + 1);
        let (wanted, window, radius) = (between(kind.literals), between(kind.window), between(kind.radius));
        let row = stream.below(self.bits.rows() as u32) as usize;
        let mut place = |size: usize| {
            let window = (window as usize).min(size);
            (stream.below((size - window + 1) as u32) as usize, window as u32)
        };
        let ((left, wide), (top, high)) = (place(self.planes.width()), place(self.planes.height()));
        let compares = self.levels == 0 || kind.compares && self.levels < self.planes.count();
        let planes = match compares {
            true => self.levels..self.planes.count(),
            false => 0..self.levels,
        };
        let mut literals: Vec<Literal> = Vec::with_capacity(wanted as usize);
        for index in 0..wanted {
            for _ in 0..TRIES {
                let plane = planes.start + stream.below(planes.len() as u32) as usize;
                let x = left + stream.below(wide) as usize;
                let y = top + stream.below(high) as usize;
                let Some(input) = self.planes.input(plane, x, y) else { continue };
                let value = self.bits.get(row, input as usize);
                let at = Literal { plane: plane as u16, x: x as u16, y: y as u16, value };
                let known = literals.iter().any(|other| Literal { value, ..*other } == at);
                // Levels that are reached take turns with those that are not.
                if !known && (compares || value == (index % 2 == 0)) {
                    literals.push(at);
                    break;
                }
            }
        }
        literals.sort_unstable();
        Sketch { literals, radius: (radius as usize, radius as usize), kind: at }
    }

    /// A pattern of a sketch, moved as far as the planes have answers.
    fn moved(&self, sketch: &Sketch) -> Option<Pattern> {
        let mut literals = sketch.literals.clone();
        let (mut right, mut left) = (sketch.radius.0, sketch.radius.0);
        let (mut down, mut up) = (sketch.radius.1, sketch.radius.1);
        for literal in &literals {
            let area = self.areas[usize::from(literal.plane)]?;
            let (x, y) = (usize::from(literal.x), usize::from(literal.y));
            (left, right) = (left.min(x.checked_sub(area.x.0)?), right.min(area.x.1.checked_sub(x)?));
            (up, down) = (up.min(y.checked_sub(area.y.0)?), down.min(area.y.1.checked_sub(y)?));
        }
        for literal in &mut literals {
            (literal.x, literal.y) = (literal.x - left as u16, literal.y - up as u16);
        }
        literals.sort_unstable();
        Pattern::new(literals, ((left + right + 1) as u16, (up + down + 1) as u16), vec![1]).ok()
    }

    /// The pattern of a sketch: one that matches anywhere, or with all thresholds there may be.
    pub(super) fn pattern(&self, sketch: &Sketch, counts: bool) -> Option<Pattern> {
        let pattern = self.moved(sketch)?;
        if !counts {
            return Some(pattern);
        }
        let most = pattern.matches() as u32;
        let mut ladder: Vec<u32> =
            (0..24).flat_map(|step| [1 << step, 3 << step]).filter(|&at| at <= most).collect();
        ladder.sort_unstable();
        pattern.with_thresholds(ladder).ok()
    }

    /// The pattern with as many thresholds as its columns may be: the one it has, twice and half of it, and so on.
    pub(super) fn laddered(&self, pattern: Pattern) -> Result<Pattern> {
        let Some(&best) = pattern.thresholds().first() else { return Ok(pattern) };
        let most = pattern.matches() as u64;
        let steps = (1..u32::BITS).flat_map(|step| [u64::from(best) << step, u64::from(best) >> step]);
        let others = steps.filter(|count| (1..=most).contains(count)).map(|count| count as u32);
        let wanted = self.plan.counts.max(1) as usize;
        let mut thresholds: Vec<u32> = std::iter::once(best).chain(others).take(wanted).collect();
        thresholds.sort_unstable();
        thresholds.dedup();
        pattern.with_thresholds(thresholds)
    }

    /// The pattern with thresholds that tell rows from each other, if there are any.
    fn telling(&self, pattern: Pattern) -> Option<Pattern> {
        let counts = self.plan.counts;
        let most = pattern.matches() as u32;
        let ladder: Vec<u32> = match counts {
            0 => vec![1],
            _ => (0..24).flat_map(|step| [1 << step, 3 << step]).collect(),
        };
        let mut ladder: Vec<u32> = ladder.into_iter().filter(|&threshold| threshold <= most).collect();
        ladder.sort_unstable();
        let pattern = pattern.with_thresholds(ladder.clone()).ok()?;
        let shares = self.shares(&pattern);
        let tells = |share: f64| (RARE..=COMMON).contains(&share);
        let mut thresholds: Vec<u32> = Vec::new();
        for part in 1..=counts.max(1) {
            let wanted = f64::from(part) / f64::from(counts + 1);
            let near = |&&(_, share): &&(u32, f64)| ((share - wanted).abs() * 1e9) as u64;
            let all: Vec<(u32, f64)> = ladder.iter().copied().zip(shares.iter().copied()).collect();
            thresholds
                .extend(all.iter().filter(|(_, share)| tells(*share)).min_by_key(near).map(|best| best.0));
        }
        thresholds.sort_unstable();
        thresholds.dedup();
        pattern.with_thresholds(thresholds).ok()
    }

    /// The share of rows in which each column of a pattern is on.
    fn shares(&self, pattern: &Pattern) -> Vec<f64> {
        let rows = self.bits.rows();
        let stencil = PatternRun::stencil(self.planes, pattern);
        let mut ones = vec![0u32; pattern.thresholds().len()];
        let mut lines = vec![Line::default(); ones.len()];
        for (block, planes) in self.blocks.iter().enumerate() {
            self.kernels.matches(&stencil, planes, self.planes.width(), &mut lines);
            for (ones, line) in ones.iter_mut().zip(&lines) {
                for (word, &bits) in line.iter().enumerate() {
                    let first = (block * BLOCK_WORDS + word) * WORD_BITS;
                    let here = rows.saturating_sub(first).min(WORD_BITS);
                    let kept = if here == 0 { 0 } else { u64::MAX >> (WORD_BITS - here) };
                    *ones += (bits & kept).count_ones();
                }
            }
        }
        ones.into_iter().map(|ones| f64::from(ones) / rows as f64).collect()
    }
}

/// The smallest rectangle around the places of a plane that have an answer.
fn area(planes: &Planes, plane: usize) -> Option<Area> {
    let mut area: Option<Area> = None;
    for y in 0..planes.height() {
        for x in 0..planes.width() {
            if planes.input(plane, x, y).is_some() {
                let known = area.unwrap_or(Area { x: (x, x), y: (y, y) });
                let widen = |(low, high): (usize, usize), at: usize| (low.min(at), high.max(at));
                area = Some(Area { x: widen(known.x, x), y: widen(known.y, y) });
            }
        }
    }
    area
}
