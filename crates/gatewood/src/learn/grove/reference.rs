//! The definition of learning a grove: plain loops, one row and one bit at a time.
//!
//! [`grove`] runs the rounds of a plan, without held-out rows and without pruning. Whatever an engine does to be fast, it
//! must learn the same grove. Streams of random numbers are drawn in the same order, and scores are the same integers.

use std::sync::Arc;

use super::features::grove_of;
use super::leaf_step::LeafStep;
use super::pairs;
use super::round::words_seen;
use super::settings::GrovePlan;
use crate::bits::kernels::{Kernels, Level, Sums};
use crate::circuit::{Grove, Span, Target, VoteTree};
use crate::learn::engine::ColumnOrder;
use crate::learn::gate::LogTable;
use crate::learn::objective::{BEND, ONE, Objective, ValueLoss, ValueScale, WEIGHT_ONE, for_classes};
use crate::random::{Purpose, Stream};

/// What is learned.
#[derive(Debug, Clone, Copy)]
pub(super) enum Aim {
    /// One of so many classes.
    Classes(usize),
    /// Values, by a loss.
    Values(ValueLoss, ValueScale),
}

impl Aim {
    pub(super) fn objective(self, unit: f64) -> Arc<dyn Objective> {
        match self {
            Self::Classes(classes) => for_classes(classes, unit),
            Self::Values(loss, scale) => loss.objective(scale, unit),
        }
    }
}

/// Rows as lists of bits, shared features being bits after the others.
struct Rows {
    bits: Vec<Vec<bool>>,
    targets: Vec<u32>,
    aim: Aim,
    weights: Vec<u32>,
    margins: Vec<Vec<i32>>,
    gradients: Vec<Vec<i32>>,
}

/// Learns a grove from `bits`, row after row; `weights` are in fixed point, empty for one each.
pub(super) fn grove(
    bits: &[bool],
    columns: usize,
    spans: &[Span],
    targets: &[u32],
    aim: Aim,
    weights: &[u32],
    plan: &GrovePlan,
) -> Grove {
    // The longest step, and whether hessians are less than one.
    let (longest, share) = match aim {
        Aim::Classes(_) => (2.0, 1.0),
        Aim::Values(ValueLoss::Poisson, scale) => (1.0, scale.mean()),
        Aim::Values(ValueLoss::Absolute, scale) => (BEND * scale.spread(), 1.0),
        Aim::Values(ValueLoss::Quantile(quantiles), scale) => {
            let furthest = quantiles.levels().iter().map(|&level| level.max(1.0 - level));
            (furthest.fold(0.0, f64::max) * 2.0 * BEND * scale.spread(), 1.0)
        }
        Aim::Values(..) => (0.5, 1.0),
    };
    let unit = match aim {
        Aim::Classes(_) => LeafStep::unit(longest, plan.learning_rate, plan.vote_bits),
        // The next power of two.
        Aim::Values(..) => {
            let wanted = LeafStep::unit(longest, plan.learning_rate, plan.vote_bits);
            (0..).map(|power| libm::exp2(-28.0 + f64::from(power))).find(|unit| *unit >= wanted).unwrap()
        }
    };
    let step = LeafStep::new(plan.learning_rate, plan.vote_bits, unit, plan.reg_lambda * share);
    let objective = aim.objective(unit);
    let bias = objective.bias(&objective.totals(targets, weights)).unwrap();
    let wide = |row: &[bool]| {
        let mut wide = row.to_vec();
        wide.extend(spans.iter().map(|span| {
            let mut bits = span.columns().iter().map(|&column| row[column as usize]);
            if span.is_all() { bits.all(|bit| bit) } else { bits.any(|bit| bit) }
        }));
        wide
    };
    let mut rows = Rows {
        bits: bits.chunks(columns).map(wide).collect(),
        targets: targets.to_vec(),
        aim,
        weights: if weights.is_empty() { vec![WEIGHT_ONE; targets.len()] } else { weights.to_vec() },
        margins: vec![bias.clone(); targets.len()],
        gradients: Vec::new(),
    };
    let width = columns + spans.len();
    let mut learner = Learner {
        plan,
        order: ColumnOrder::new(width, plan.seed),
        logs: LogTable::new(plan.sample_rows),
        uses: vec![0; width],
        easy: None,
    };
    let mut trees: Vec<VoteTree> = Vec::new();
    rows.update(unit);
    if plan.pairs && bias.len() == 1 {
        learner.note_pairs(&rows);
    }
    for round in 0..plan.rounds {
        let grown = match bias.len() {
            1 => learner.round_of_one(round, &mut rows, &step, unit),
            _ if plan.shared_trees => learner.round_of_shared(round, &mut rows, &step, unit),
            margins => learner.round_of_many(round, margins, &mut rows, &step, unit),
        };
        if grown.is_empty() {
            break;
        }
        for &leaf in grown.iter().flat_map(VoteTree::leaves) {
            learner.uses[leaf as usize] += 1;
        }
        trees.extend(grown);
        if bias.len() == 1 && learner.easy.is_none() && (round + 1) * plan.trees_per_round >= 40 {
            let wrong = (0..targets.len()).filter(|&row| (rows.margins[row][0] > 0) != (targets[row] == 1));
            let easy = (wrong.count() as f64) < 0.05 * targets.len() as f64;
            learner.easy = Some(easy && matches!(aim, Aim::Classes(_)));
        }
    }
    grove_of(columns, spans, objective.output(), bias, unit, &trees).unwrap()
}

impl Rows {
    /// Gradients of all rows at their margins.
    fn update(&mut self, unit: f64) {
        let limit = (15.0 / unit).clamp(1.0, f64::from(1 << 20)) as i32;
        let gradients = |(margins, &target): (&Vec<i32>, &u32)| -> Vec<i32> {
            if let Aim::Values(loss, scale) = self.aim {
                return value_gradients(loss, &scale, margins, target, unit);
            }
            if let [margin] = margins[..] {
                let p = 1.0 / (1.0 + libm::exp(-unit * f64::from(margin.clamp(-limit, limit))));
                let p = (libm::rint(p * f64::from(ONE)) as i32).clamp(1, ONE - 1);
                return vec![target as i32 * ONE - p];
            }
            let largest = *margins.iter().max().unwrap();
            let exponential =
                |margin: &i32| libm::exp(-unit * f64::from((largest - margin).min(limit))) as f32;
            let exponentials: Vec<f32> = margins.iter().map(exponential).collect();
            let share = ONE as f32 / exponentials.iter().fold(0f32, |sum, x| sum + x);
            let p = |x: &f32| ((x * share) as i32).clamp(1, ONE - 1);
            let is = |class: usize| if class == target as usize { ONE } else { 0 };
            exponentials.iter().enumerate().map(|(class, x)| is(class) - p(x)).collect()
        };
        self.gradients = self.margins.iter().zip(&self.targets).map(gradients).collect();
    }

    /// The root address of a row in a tree.
    fn address(&self, row: usize, tree: &VoteTree) -> usize {
        let mut bits: Vec<bool> = tree.leaves().iter().map(|&leaf| self.bits[row][leaf as usize]).collect();
        let mut tables = tree.tables().iter();
        for &arity in &tree.arities()[..tree.depth() - 1] {
            let words = (1usize << arity).div_ceil(64);
            bits = bits
                .chunks(arity)
                .map(|inputs| {
                    let table: Vec<u64> = tables.by_ref().take(words).copied().collect();
                    let address = number(inputs);
                    table[address / 64] >> (address % 64) & 1 == 1
                })
                .collect();
        }
        number(&bits)
    }

    /// Gradient and hessian of one margin by root address; rows of `climbed` count for a quarter.
    fn sums(&self, tree: &VoteTree, margin: usize, climbed: &[bool]) -> Vec<Sums> {
        let mut sums = vec![Sums::default(); 1 << tree.arities()[tree.depth() - 1]];
        for row in 0..self.targets.len() {
            let weight = i64::from(self.weights[row]) / if climbed.get(row) == Some(&true) { 4 } else { 1 };
            let gradient = i64::from(self.gradients[row][margin]);
            let sums = &mut sums[self.address(row, tree)];
            sums.gradient += gradient * weight;
            sums.hessian += weight
                * match self.aim {
                    Aim::Classes(_) => (gradient.abs() * (i64::from(ONE) - gradient.abs())) >> 24,
                    Aim::Values(ValueLoss::Poisson, _) => {
                        (i64::from(self.targets[row] as i32 >> 6) - gradient).max(1)
                    }
                    Aim::Values(..) => i64::from(ONE),
                };
        }
        sums
    }

    /// Adds the votes of a tree to the margins.
    fn vote(&mut self, tree: &VoteTree) {
        for row in 0..self.targets.len() {
            let address = self.address(row, tree);
            match tree.target() {
                Target::One(margin) => self.margins[row][margin as usize] += tree.votes()[address],
                Target::All => {
                    let votes = tree.votes_at(address).to_vec();
                    self.margins[row].iter_mut().zip(votes).for_each(|(margin, vote)| *margin += vote);
                }
            }
        }
    }
}

/// The gradients of a value at its margins.
fn value_gradients(loss: ValueLoss, scale: &ValueScale, margins: &[i32], target: u32, unit: f64) -> Vec<i32> {
    let target = f64::from(target as i32) / f64::from(1 << 30);
    let fixed = |gradient: f64| (gradient * f64::from(ONE)) as i32;
    let short = |margin: i32| target - unit * f64::from(margin);
    let bend = BEND * scale.spread();
    match (loss, margins) {
        (ValueLoss::Squared, &[margin]) => vec![fixed(short(margin).clamp(-1.0, 1.0))],
        (ValueLoss::Huber, &[margin]) => vec![fixed(short(margin).clamp(-scale.spread(), scale.spread()))],
        (ValueLoss::Absolute, &[margin]) => vec![fixed(short(margin).clamp(-bend, bend))],
        (ValueLoss::Poisson, &[margin]) => {
            let log = (unit * f64::from(margin)).min(libm::log(2.0 * scale.range()));
            vec![fixed((target - libm::exp(log) / scale.range()).clamp(-1.0, 1.0))]
        }
        (ValueLoss::Quantile(quantiles), margins) => {
            let of = |(&margin, &level): (&i32, &f64)| {
                let moved = short(margin) + (2.0 * level - 1.0) * bend;
                fixed(moved.clamp(-2.0 * (1.0 - level) * bend, 2.0 * level * bend))
            };
            margins.iter().zip(quantiles.levels()).map(of).collect()
        }
        _ => unreachable!("one margin but for quantiles"),
    }
}

/// Bits as a number, the first the lowest.
fn number(bits: &[bool]) -> usize {
    bits.iter().enumerate().map(|(place, &bit)| usize::from(bit) << place).sum()
}

/// What rounds share.
struct Learner<'a> {
    plan: &'a GrovePlan,
    order: ColumnOrder,
    logs: LogTable,
    uses: Vec<u32>,
    easy: Option<bool>,
}

/// Rows of the lower and the upper side, as the columns a tree may choose from.
struct Sample {
    columns: Vec<u32>,
    sides: [Vec<Vec<bool>>; 2],
}

impl Learner<'_> {
    /// Counts columns as read whose exclusive or tells the sides apart, one row at a time.
    fn note_pairs(&mut self, rows: &Rows) {
        let mut stream = Stream::new(self.plan.seed, Purpose::Sample, pairs::POSITION);
        let gradients: Vec<i32> = rows.gradients.iter().map(|gradients| gradients[0]).collect();
        let picks = self.draw(rows, &gradients, &[], self.size(rows), self.power(), &mut stream);
        let Some(sample) = self.gather(rows, &picks, &mut stream) else { return };
        let counts = |bit: &dyn Fn(&[bool]) -> bool| {
            [0, 1].map(|side: usize| sample.sides[side].iter().filter(|row| bit(row)).count() as u32)
        };
        let sizes = [0, 1].map(|side: usize| sample.sides[side].len() as u32);
        let mut found = Vec::new();
        for first in 0..sample.columns.len() {
            for second in first + 1..sample.columns.len() {
                let both = counts(&|row| row[first] != row[second]);
                let singles = [first, second].map(|column| counts(&|row| row[column]));
                if let Some(told) = pairs::told(both, singles, sizes, sample.columns.len()) {
                    found.push((told, [sample.columns[first], sample.columns[second]]));
                }
            }
        }
        for column in pairs::most_telling(found).into_iter().flatten() {
            self.uses[column as usize] += pairs::USES;
        }
    }

    fn round_of_one(&self, round: usize, rows: &mut Rows, step: &LeafStep, unit: f64) -> Vec<VoteTree> {
        let plan = self.plan;
        let first = round * plan.trees_per_round;
        let positions: Vec<usize> = (first..first + plan.trees_per_round).collect();
        let mut bare: Vec<(VoteTree, Vec<bool>)> = Vec::new();
        if plan.honest_fraction > 0.0 {
            bare.extend(positions.iter().filter_map(|&position| self.climb_for(0, position, rows)));
        } else {
            let mut stream = Stream::new(plan.seed, Purpose::Sample, first as u64);
            let gradients: Vec<i32> = rows.gradients.iter().map(|gradients| gradients[0]).collect();
            let picks = self.draw(rows, &gradients, &[], self.size(rows), self.power(), &mut stream);
            let alike = if plan.candidates > 1 { 2 } else { positions.len() };
            for group in positions.chunks(alike) {
                let sample = self.gather(rows, &picks, &mut stream);
                for &position in group {
                    let Some(sample) = &sample else { continue };
                    let mut stream = Stream::new(plan.seed, Purpose::Round, position as u64);
                    bare.push((self.climb(sample, 0, &mut stream), Vec::new()));
                }
            }
        }
        let mut grown = Vec::new();
        for (tree, among) in bare {
            let votes = rows.sums(&tree, 0, &among).into_iter().map(|sums| step.vote(sums)).collect();
            let tree = tree.with_votes(votes).unwrap();
            rows.vote(&tree);
            rows.update(unit);
            grown.push(tree);
        }
        grown
    }

    fn round_of_many(
        &self,
        round: usize,
        margins: usize,
        rows: &mut Rows,
        step: &LeafStep,
        unit: f64,
    ) -> Vec<VoteTree> {
        let grow = |margin: usize| {
            let (tree, among) = self.climb_for(margin, round * margins + margin, rows)?;
            let votes = rows.sums(&tree, margin, &among).into_iter().map(|sums| step.vote(sums)).collect();
            Some(tree.with_votes(votes).unwrap())
        };
        let grown: Vec<VoteTree> = (0..margins).filter_map(grow).collect();
        grown.iter().for_each(|tree| rows.vote(tree));
        rows.update(unit);
        grown
    }

    fn round_of_shared(&self, round: usize, rows: &mut Rows, step: &LeafStep, unit: f64) -> Vec<VoteTree> {
        let (plan, margins) = (self.plan, rows.margins[0].len());
        let climb = |tree: usize| {
            let mut stream =
                Stream::new(plan.seed, Purpose::Sample, (round * plan.trees_per_round + tree) as u64);
            let mut order: Vec<usize> = (0..margins).collect();
            stream.shuffle(&mut order);
            let inside = &order[..margins / 2];
            let sum = |gradients: &Vec<i32>| inside.iter().map(|&margin| gradients[margin]).sum();
            let gradients: Vec<i32> = rows.gradients.iter().map(sum).collect();
            let picks = self.draw(rows, &gradients, &[], plan.sample_rows, plan.sampling_power, &mut stream);
            let sample = self.gather(rows, &picks, &mut stream)?;
            Some(self.climb(&sample, 0, &mut stream))
        };
        let bare: Vec<VoteTree> = (0..plan.trees_per_round).filter_map(climb).collect();
        let mut grown = Vec::new();
        for tree in bare {
            let sums: Vec<Vec<Sums>> = (0..margins).map(|margin| rows.sums(&tree, margin, &[])).collect();
            let votes = (0..sums[0].len()).flat_map(|address| sums.iter().map(move |sums| sums[address]));
            let votes = votes.map(|sums| step.vote(sums)).collect();
            let (arities, leaves) = (tree.arities().to_vec(), tree.leaves().to_vec());
            let tree = VoteTree::new(arities, Target::All, leaves, tree.tables().to_vec(), votes).unwrap();
            rows.vote(&tree);
            rows.update(unit);
            grown.push(tree);
        }
        grown
    }

    /// How many rows are drawn, and by which power of their gradient.
    fn size(&self, rows: &Rows) -> usize {
        let easy = (rows.targets.len() / 5 / 1024).max(1) * 1024 - 32;
        match self.easy {
            Some(false) => self.plan.sample_rows,
            None if self.plan.candidates == 1 => self.plan.sample_rows,
            _ => self.plan.sample_rows.min(easy),
        }
    }

    fn power(&self) -> f64 {
        if self.easy == Some(false) { 1.0 } else { self.plan.sampling_power }
    }

    fn climb_for(&self, margin: usize, position: usize, rows: &Rows) -> Option<(VoteTree, Vec<bool>)> {
        let honest = self.plan.honest_fraction;
        let mut stream = Stream::new(self.plan.seed, Purpose::Honest, position as u64);
        let count = if honest > 0.0 { rows.targets.len() } else { 0 };
        let among: Vec<bool> = (0..count).map(|_| stream.unit() >= honest).collect();
        let mut stream = Stream::new(self.plan.seed, Purpose::Sample, position as u64);
        let gradients: Vec<i32> = rows.gradients.iter().map(|gradients| gradients[margin]).collect();
        let picks = self.draw(rows, &gradients, &among, self.size(rows), self.power(), &mut stream);
        let sample = self.gather(rows, &picks, &mut stream)?;
        let mut stream = Stream::new(self.plan.seed, Purpose::Round, position as u64);
        Some((self.climb(&sample, margin, &mut stream), among))
    }

    /// Draws rows in proportion to a power of their gradient: evenly spaced along the running sum of the weights.
    fn draw(
        &self,
        rows: &Rows,
        gradients: &[i32],
        among: &[bool],
        size: usize,
        power: f64,
        stream: &mut Stream,
    ) -> [Vec<usize>; 2] {
        let weight = |row: usize| {
            let size = gradients[row].unsigned_abs().min(ONE as u32);
            let powered = match power {
                1.0 => size,
                _ => {
                    // Sizes are taken by their highest bit and the six that follow.
                    let highest = size.max(1).ilog2();
                    let shift = highest.saturating_sub(6);
                    let first = f64::from(size.max(1) >> shift << shift) / f64::from(ONE);
                    libm::rint(libm::pow(first, power) * f64::from(ONE)).max(1.0) as u32
                }
            };
            let weighted = (u64::from(powered) * u64::from(rows.weights[row])) >> 8;
            if among.get(row) == Some(&false) { 0 } else { weighted }
        };
        let weights: Vec<u64> = (0..gradients.len()).map(weight).collect();
        let total: u64 = weights.iter().sum();
        let mut picks = [Vec::new(), Vec::new()];
        let random = stream.bits() >> 28;
        if total == 0 {
            return picks;
        }
        let shift = (64 - total.leading_zeros()).saturating_sub(36);
        let scale = (((size as u128) << 36) / (u128::from(total >> shift) + 1)) as u64;
        let places = |sum: u64| ((sum >> shift) * scale + random) >> 36;
        let mut sum = 0;
        for (row, weight) in weights.into_iter().enumerate() {
            for _ in places(sum)..places(sum + weight) {
                picks[usize::from(gradients[row] > 0)].push(row);
            }
            sum += weight;
        }
        picks
    }

    fn gather(&self, rows: &Rows, picks: &[Vec<usize>; 2], stream: &mut Stream) -> Option<Sample> {
        let words = self.order.choose(words_seen(self.plan), stream);
        if picks.iter().any(Vec::is_empty) {
            return None;
        }
        let columns: Vec<u32> = words.iter().flat_map(|&word| self.order.word(word)).copied().collect();
        let row = |&row: &usize| columns.iter().map(|&column| rows.bits[row][column as usize]).collect();
        let sides = [0, 1].map(|side: usize| picks[side].iter().map(row).collect());
        Some(Sample { columns, sides })
    }

    /// Climbs a tree: each trial gives one leaf another column, and is kept when the root's score gets better.
    fn climb(&self, sample: &Sample, margin: usize, stream: &mut Stream) -> VoteTree {
        let (plan, columns) = (self.plan, sample.columns.len() as u32);
        let arity = plan.arities[0];
        let leaves: usize = plan.arities.iter().product();
        let mut leaves: Vec<u32> = (0..leaves).map(|_| stream.below(columns)).collect();
        let uses: Vec<u64> =
            sample.columns.iter().map(|&column| u64::from(self.uses[column as usize])).collect();
        let all: u64 = uses.iter().sum();
        let part = libm::rint(plan.feature_reuse * 256.0) as u64;
        let draw = |stream: &mut Stream| {
            if all == 0 || part == 0 {
                return stream.below(columns);
            }
            let weights: Vec<u64> =
                uses.iter().map(|uses| uses * u64::from(columns) * part + all * (256 - part)).collect();
            let total: u64 = weights.iter().sum();
            let place = ((u128::from(stream.bits()) * u128::from(total)) >> 64) as u64;
            let mut sum = 0;
            let after = |weight: &u64| {
                sum += weight;
                sum > place
            };
            weights.iter().position(after).unwrap() as u32
        };
        let candidates = if self.easy == Some(false) { 1 } else { plan.candidates };
        let mut score = self.fit(sample, &leaves).1;
        let mut attempt = |leaves: &mut Vec<u32>, leaf: usize, column: u32| {
            let mut changed = leaves.clone();
            changed[leaf] = column;
            let (_, changed_score) = self.fit(sample, &changed);
            if changed_score > score {
                (*leaves, score) = (changed, changed_score);
            }
        };
        if candidates > 1 {
            for _ in 0..(2 * u64::from(plan.climb)).div_ceil(candidates.into()) {
                let leaf = stream.below(leaves.len() as u32) as usize;
                let gate = leaf / arity * arity;
                let read = leaves[gate..gate + arity].to_vec();
                let impurity = |column: u32| {
                    let mut inputs = read.clone();
                    inputs[leaf - gate] = column;
                    self.impurity(sample, &inputs, leaf - gate)
                };
                let mut best = (impurity(read[leaf - gate]), None);
                for _ in 0..candidates {
                    let column = draw(stream);
                    if !read.contains(&column) && impurity(column) < best.0 {
                        best = (impurity(column), Some(column));
                    }
                }
                if let Some(column) = best.1 {
                    attempt(&mut leaves, leaf, column);
                }
            }
        } else {
            for _ in 0..plan.climb {
                let leaf = stream.below(leaves.len() as u32) as usize;
                let column = draw(stream);
                if !leaves[leaf / arity * arity..][..arity].contains(&column) {
                    attempt(&mut leaves, leaf, column);
                }
            }
        }
        let tables = self.fit(sample, &leaves).0;
        let leaves = leaves.iter().map(|&leaf| sample.columns[leaf as usize]).collect();
        let votes = vec![0; 1 << plan.arities[plan.arities.len() - 1]];
        VoteTree::new(plan.arities.clone(), Target::One(margin as u32), leaves, tables, votes).unwrap()
    }

    /// The tables of a tree with these leaves, each gate fitted to its inputs, and the score of its root.
    fn fit(&self, sample: &Sample, leaves: &[u32]) -> (Vec<u64>, i64) {
        let bits = |row: &Vec<bool>| leaves.iter().map(|&leaf| row[leaf as usize]).collect();
        let mut sides: [Vec<Vec<bool>>; 2] =
            [0, 1].map(|side: usize| sample.sides[side].iter().map(bits).collect());
        let mut tables = Vec::new();
        for (level, &arity) in self.plan.arities.iter().enumerate() {
            let gates = sides[0][0].len() / arity;
            let counts = |gate: usize| {
                let count = |side: &Vec<Vec<bool>>| {
                    let mut counts = vec![0u32; 1 << arity];
                    side.iter().for_each(|row| counts[number(&row[gate * arity..][..arity])] += 1);
                    counts
                };
                [count(&sides[0]), count(&sides[1])]
            };
            if level + 1 == self.plan.arities.len() {
                let [lower, upper] = counts(0);
                let score = lower.iter().zip(&upper).map(|(&lower, &upper)| self.logs.purity(lower, upper));
                return (tables, score.sum());
            }
            let fitted: Vec<Vec<bool>> = (0..gates).map(|gate| self.cut(&counts(gate), &sides)).collect();
            for table in &fitted {
                let mut words = vec![0u64; table.len().div_ceil(64)];
                table.iter().enumerate().for_each(|(i, &bit)| words[i / 64] |= u64::from(bit) << (i % 64));
                tables.extend(words);
            }
            let output = |row: &Vec<bool>| {
                row.chunks(arity).zip(&fitted).map(|(inputs, table)| table[number(inputs)]).collect()
            };
            sides = [0, 1].map(|side: usize| sides[side].iter().map(output).collect());
        }
        unreachable!("the last level is the root")
    }

    /// A gate's table: addresses sorted by their share of the upper side, cut where the information gain is largest.
    fn cut(&self, counts: &[Vec<u32>; 2], sides: &[Vec<Vec<bool>>; 2]) -> Vec<bool> {
        let rows = [sides[0].len() as u32, sides[1].len() as u32];
        let prior = rows[1] as f32 / (rows[0] + rows[1]) as f32;
        let addresses = counts[0].len();
        let key = |address: usize| {
            let share = (counts[1][address] as f32 + prior)
                / ((counts[0][address] + counts[1][address]) as f32 + 1.0);
            // The lowest bits of the share give way to the address.
            (share.to_bits() & !(addresses as u32 - 1), address)
        };
        let mut order: Vec<usize> = (0..addresses).collect();
        order.sort_by_key(|&address| key(address));
        let parted = |part: u32, all: u32| self.logs.at(part) + self.logs.at(all - part);
        let mut before = [0, 0];
        let mut best = (i64::MIN, 1);
        for (cut, &address) in order[..addresses - 1].iter().enumerate() {
            before[0] += counts[0][address];
            before[1] += counts[1][address];
            let score = parted(before[0], rows[0]) + parted(before[1], rows[1])
                - parted(before[0] + before[1], rows[0] + rows[1]);
            if score > best.0 {
                best = (score, cut + 1);
            }
        }
        let mut table = vec![false; addresses];
        order[best.1..].iter().for_each(|&address| table[address] = true);
        table
    }

    /// How mixed the sides are at the addresses of a gate, in the order in which its cells without one input are summed.
    fn impurity(&self, sample: &Sample, inputs: &[u32], input: usize) -> f32 {
        let cells = 1 << (inputs.len() - 1);
        let count = |side: &Vec<Vec<bool>>| {
            let (mut all, mut with) = (vec![0u32; cells], vec![0u32; cells]);
            for row in side {
                let mut bits: Vec<bool> = inputs.iter().map(|&column| row[column as usize]).collect();
                let own = bits.remove(input);
                all[number(&bits)] += 1;
                with[number(&bits)] += u32::from(own);
            }
            (all, with)
        };
        let [lower, upper] = [0, 1].map(|side: usize| count(&sample.sides[side]));
        // The one float of the search: its sum is defined lane by lane, by the portable kernel.
        let kernels = Kernels::at(Level::Portable).unwrap();
        kernels.impurity([&lower.0, &upper.0], [&lower.1, &upper.1])
    }
}
