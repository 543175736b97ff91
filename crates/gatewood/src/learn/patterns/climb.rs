//! Patterns that are learned: climbed on the rows that those before them leave wrong.
//!
//! It is boosting of little trees: a root whose inputs are patterns, each varied for as long as that tells the classes
//! better. The trees are thrown away, the patterns are what is wanted.

use super::draw::Draw;
use super::packed::{BLOCK_ROWS, PackedPlanes};
use super::settings::PatternPlan;
use super::sketch::{Limits, Sketch};
use crate::Result;
use crate::bits::kernels::{Kernels, Line, Stencil};
use crate::bits::{BLOCK_WORDS, BitView, WORD_BITS};
use crate::circuit::{Pattern, PatternRun, Planes, Target, VoteTree, Wide};
use crate::learn::engine::{self, CpuEngine, Direction, Engine, Picks, SamplingPower, Start, Summand};
use crate::learn::gate::LogTable;
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
    pub(crate) observer: &'a dyn Observer,
}

/// Bits of a vote: for classes, and for values, which want finer ones.
const VOTE_BITS: u32 = 8;
const VALUE_VOTE_BITS: u32 = 12;

/// Where the streams of learned patterns begin.
const LEARNED: u64 = 1 << 40;

/// Patterns of one tree.
const ARITY: usize = 4;

/// Patterns that are drawn for each, of which the best is varied.
const DRAWN: usize = 16;

/// Trees that are climbed side by side where there is one margin.
const SIDE: usize = 4;

/// What the number of patterns of a kind is taken to be more than it is, so that none is given up too soon.
const PRIOR: u32 = 8;

/// Rows drawn by their gradient, block by block, the lower side first.
struct Rows {
    blocks: Vec<Vec<Line>>,
    /// Which of them there are.
    there: Vec<Line>,
    /// Blocks of the lower side.
    split: usize,
}

impl Drop for Rows {
    fn drop(&mut self) {
        SPARE.set(std::mem::take(&mut self.blocks));
    }
}

thread_local! {
    /// The blocks of the last rows, for the next: fresh ones are zeroed page by page as they are first written, and that
    /// took a third of the time. Threads live as long as the work they were started for.
    static SPARE: std::cell::Cell<Vec<Vec<Line>>> = const { std::cell::Cell::new(Vec::new()) };
}

/// A tree that votes on one margin, and its patterns with their kinds.
struct Tree {
    margin: usize,
    patterns: Vec<(Pattern, usize)>,
}

/// The rows of a sample that share an address of a tree.
type Cell = Vec<Line>;

pub(super) struct Climb<'a> {
    pub(super) draw: &'a Draw<'a>,
    pub(super) plan: &'a PatternPlan,
    pub(super) planes: &'a Planes,
    pub(super) packed: &'a PackedPlanes,
    pub(super) limits: Limits,
    pub(super) logs: LogTable,
    /// All rows block by block, where they are few.
    pub(super) everything: Vec<Vec<Line>>,
    pub(super) kernels: Kernels,
}

/// A pattern, and how well it does.
struct Found {
    score: i64,
    sketch: Sketch,
    pattern: Pattern,
    column: Cell,
}

impl Found {
    /// The better one; the first where they are alike.
    fn better(self, other: Self) -> Self {
        if other.score > self.score { other } else { self }
    }
}

impl Climb<'_> {
    /// Learns so many patterns; and says how many of each kind they are, a few added.
    pub(super) fn patterns(&self, lesson: &Lesson<'_>, count: usize) -> Result<(Vec<Pattern>, Vec<u32>)> {
        // What rows say is asked of the planes, not of columns.
        let wide = Wide::new(BitView::of_no_columns(lesson.targets.len()), &[]);
        let engine = CpuEngine::new(wide, lesson.targets, Vec::new(), self.kernels);
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
            let grow = |index: usize| -> Result<Tree> {
                let margin = index % margins;
                let position = round * trees as u64 + index as u64;
                let mut stream = Stream::new(self.plan.seed, Purpose::Patterns, LEARNED + position);
                let by = engine::Draw {
                    direction: Direction::Margin(margin),
                    power: &power,
                    among: &[],
                    size: self.plan.sample_rows,
                    start: stream.bits(),
                };
                let picks = engine.draw(&state, &by)?;
                let patterns = match picks.iter().any(Vec::is_empty) {
                    true => Vec::new(),
                    false => self.tree(&self.gather(&picks), &weights, &mut stream),
                };
                Ok(Tree { margin, patterns })
            };
            let mut grown = (0..trees).into_par_iter().map(grow).collect::<Result<Vec<_>>>()?;
            grown.retain(|tree| !tree.patterns.is_empty());
            let addresses = self.addresses(&grown);
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
            let both: Vec<(&VoteTree, &Vec<u16>)> = votes.iter().zip(&addresses).collect();
            engine.update(&mut state, &both)?;
            for (pattern, kind) in grown.into_iter().flat_map(|tree| tree.patterns) {
                weights[kind] += 1;
                all.push(self.draw.laddered(pattern)?);
            }
        }
        all.truncate(count);
        Ok((all, weights))
    }

    /// What trees of patterns say of all rows.
    fn addresses(&self, trees: &[Tree]) -> Vec<Vec<u16>> {
        let rows = self.packed.rows();
        let stencils: Vec<Vec<_>> = trees
            .iter()
            .map(|tree| {
                let patterns = tree.patterns.iter();
                patterns.map(|(pattern, _)| PatternRun::stencil(self.planes, pattern)).collect()
            })
            .collect();
        let firsts: Vec<usize> = (0..rows).step_by(BLOCK_ROWS).collect();
        let block = |&first: &usize| -> Vec<Vec<u16>> {
            let made;
            let lines = match self.everything.get(first / BLOCK_ROWS) {
                Some(lines) => lines,
                None => {
                    made = self.packed.block(first..rows);
                    &made
                }
            };
            let here = BLOCK_ROWS.min(rows - first);
            let of_tree = |stencils: &Vec<Stencil>| {
                // Patterns that a tree has fewer of match nowhere.
                let mut found = [[Line::default()]; ARITY];
                for (stencil, line) in stencils.iter().zip(&mut found) {
                    self.kernels.matches(stencil, lines, self.planes.width(), line);
                }
                let mut addresses = vec![0u16; here];
                for (word, addresses) in addresses.chunks_mut(WORD_BITS).enumerate() {
                    let words = found.map(|line| line[0][word]);
                    for (row, address) in addresses.iter_mut().enumerate() {
                        let bits = words.map(|word| (word >> row & 1) as u16);
                        *address = bits[0] | bits[1] << 1 | bits[2] << 2 | bits[3] << 3;
                    }
                }
                addresses
            };
            stencils.iter().map(of_tree).collect()
        };
        let blocks: Vec<Vec<Vec<u16>>> = firsts.par_iter().map(block).collect();
        (0..trees.len())
            .map(|tree| blocks.iter().flat_map(|block| block[tree].iter().copied()).collect())
            .collect()
    }

    fn gather(&self, picks: &Picks) -> Rows {
        let mut rows = Rows { blocks: Vec::new(), there: Vec::new(), split: 0 };
        let mut spare = SPARE.take();
        for (side, picks) in picks.iter().enumerate() {
            for picks in picks.chunks(BLOCK_ROWS) {
                let mut block = spare.pop().unwrap_or_default();
                self.packed.fill_block(picks.iter().map(|&row| row as usize), &mut block);
                rows.blocks.push(block);
                rows.there.push(std::array::from_fn(|word| {
                    let here = picks.len().saturating_sub(word * WORD_BITS).min(WORD_BITS);
                    if here == 0 { 0 } else { u64::MAX >> (WORD_BITS - here) }
                }));
            }
            if side == 0 {
                rows.split = rows.blocks.len();
            }
        }
        rows
    }

    /// Climbs the patterns of a tree, one after the other.
    fn tree(&self, rows: &Rows, weights: &[u32], stream: &mut Stream) -> Vec<(Pattern, usize)> {
        let mut cells: Vec<Cell> = vec![rows.there.clone()];
        let mut patterns = Vec::with_capacity(ARITY);
        for _ in 0..ARITY {
            let Some(Found { pattern, column, sketch, .. }) = self.climb(rows, &cells, weights, stream)
            else {
                break;
            };
            let mut split = Vec::with_capacity(cells.len() * 2);
            for cell in &cells {
                let with = |keep: fn(u64, u64) -> u64| -> Cell {
                    cell.iter().zip(&column).map(|(a, b)| std::array::from_fn(|i| keep(a[i], b[i]))).collect()
                };
                split.push(with(|cell, column| cell & !column));
                split.push(with(|cell, column| cell & column));
            }
            cells = split;
            patterns.push((pattern, sketch.kind));
        }
        patterns
    }

    /// A pattern that separates the sides, as far as variations find one.
    fn climb(&self, rows: &Rows, cells: &[Cell], weights: &[u32], stream: &mut Stream) -> Option<Found> {
        let counts: Vec<[u32; 2]> = cells.iter().map(|cell| count(rows, cell)).collect();
        let mut best: Option<Found> = None;
        for _ in 0..DRAWN {
            let sketch = self.draw.sketch(weights, stream);
            let found = self.judge(rows, cells, &counts, sketch);
            best = best.into_iter().chain(found).reduce(Found::better);
        }
        for _ in 0..self.plan.trials {
            let there = &best.as_ref()?.sketch;
            let Some(varied) = there.varied(&self.plan.kinds[there.kind], &self.limits, stream) else {
                continue;
            };
            let found = self.judge(rows, cells, &counts, varied);
            best = best.into_iter().chain(found).reduce(Found::better);
        }
        best
    }

    /// How well a pattern separates the sides, with the threshold that does so best.
    fn judge(&self, rows: &Rows, cells: &[Cell], counts: &[[u32; 2]], sketch: Sketch) -> Option<Found> {
        let pattern = self.draw.pattern(&sketch, self.plan.counts > 0)?;
        let stencil = PatternRun::stencil(self.planes, &pattern);
        let thresholds = pattern.thresholds().len();
        let mut lines = vec![Line::default(); thresholds];
        let mut columns: Vec<Cell> = vec![Vec::with_capacity(rows.blocks.len()); thresholds];
        for (block, there) in rows.blocks.iter().zip(&rows.there) {
            self.kernels.matches(&stencil, block, self.planes.width(), &mut lines);
            for (column, line) in columns.iter_mut().zip(&lines) {
                column.push(std::array::from_fn(|i| line[i] & there[i]));
            }
        }
        let score = |column: &Cell| -> i64 {
            let parts = cells.iter().zip(counts).map(|(cell, all)| {
                let ones = count_both(rows, cell, column);
                self.logs.purity(ones[0], ones[1]) + self.logs.purity(all[0] - ones[0], all[1] - ones[1])
            });
            parts.sum()
        };
        let scores = columns.into_iter().enumerate().map(|(at, column)| (score(&column), at, column));
        let (score, at, column) = scores.max_by_key(|(score, at, _)| (*score, std::cmp::Reverse(*at)))?;
        let pattern = pattern.with_thresholds(vec![pattern.thresholds()[at]]).ok()?;
        Some(Found { score, sketch, pattern, column })
    }
}

/// Rows of each side.
fn count(rows: &Rows, cell: &Cell) -> [u32; 2] {
    count_both(rows, cell, cell)
}

/// Rows of each side that are in both.
fn count_both(rows: &Rows, cell: &Cell, column: &Cell) -> [u32; 2] {
    let ones = |range: std::ops::Range<usize>| {
        let mut ones = 0;
        for (a, b) in cell[range.clone()].iter().zip(&column[range]) {
            for i in 0..BLOCK_WORDS {
                ones += (a[i] & b[i]).count_ones();
            }
        }
        ones
    };
    [ones(0..rows.split), ones(rows.split..cell.len())]
}
