//! The rounds of a plan, one after the other: what they add, and what held-out rows say of them.

use std::sync::OnceLock;

use super::calibrate::{Calibrated, calibrate};
use super::choose_rounds::{Chosen, Judged, best_of, is_better, is_enough, judging_after};
use super::eval_metric::{EvalMetric, mean_area};
use super::fit::{CurvePoint, Setup, mean_loss};
use super::gates::Gates;
use super::round::{Grower, Growing};
use super::time_limit::Clock;
use crate::Result;
use crate::circuit::VoteTree;
use crate::learn::engine::Engine;
use crate::learn::{Observer, Tracker};

/// Trees as they were grown, round by round.
pub(super) struct Grown {
    /// Those there were, then those of each round.
    pub(super) trees: Vec<VoteTree>,
    /// The number of trees after each round.
    pub(super) ends: Vec<usize>,
    pub(super) curve: Vec<CurvePoint>,
    /// The round best on validation rows or rows held out, where there are any.
    pub(super) best: Option<usize>,
    /// What rows held out for good say of it.
    pub(super) judged: Option<Calibrated>,
}

impl Grown {
    /// The rounds after which the trees had at most so many gates, columns from `inputs` on being shared features.
    pub(super) fn rounds_within(&self, most: usize, inputs: usize) -> usize {
        let (mut gates, mut begun) = (Gates::of(inputs, []), 0);
        let within = |&&end: &&usize| {
            self.trees[begun..end].iter().for_each(|tree| gates.add(tree));
            begun = end;
            gates.total() <= most
        };
        self.ends.iter().take_while(within).count()
    }

    /// Takes back the rounds after one.
    pub(super) fn cut(&mut self, rounds: usize) {
        self.ends.truncate(rounds);
        if let Some(&end) = self.ends.last() {
            self.trees.truncate(end);
        }
    }
}

/// Rounds that are under way.
pub(super) struct Growth<'a, E: Engine> {
    growing: Growing<E>,
    /// The validation rows.
    held: Option<(&'a E, E::State)>,
    /// The rows that are held out for good.
    held_out: Option<Vec<bool>>,
    grown: Grown,
    gates: Gates,
    /// What rows that are held out said so far, and the round after which they are asked next.
    judged: Vec<Judged>,
    judge_at: usize,
    /// The least loss so far and its round: that of scaled margins. The error of few rows is too much a matter of luck.
    best: (f64, usize),
    factor: f64,
    is_over: bool,
}

impl<'a, E: Engine> Growth<'a, E> {
    /// Before the first round.
    pub(super) fn begin(
        setup: &Setup<'_, E>,
        grower: &Grower<'_, E>,
        validation: Option<&'a E>,
        held_out: Option<Vec<bool>>,
    ) -> Result<Self> {
        let state = |engine| Ok((engine, setup.state_of(engine, &setup.trees, grower, None)?));
        let trees = setup.trees.clone();
        Ok(Self {
            growing: setup.begin(grower, held_out.as_deref())?,
            held: validation.map(state).transpose()?,
            held_out,
            grown: Grown { trees, ends: Vec::new(), curve: Vec::new(), best: None, judged: None },
            gates: setup.gates(),
            judged: Vec::new(),
            judge_at: judging_after(0),
            best: (f64::INFINITY, 0),
            factor: 1.0,
            is_over: false,
        })
    }

    /// What rows that are held out lose by now.
    pub(super) fn held_out_loss(&self, setup: &Setup<'_, E>) -> Result<f64> {
        let rows = &self.growing.rows;
        Ok(calibrate(setup.engine, rows, setup.objective(), self.held_out.as_deref(), 1.0, 1)?.loss)
    }

    /// The last round, as far as it is known: where folds choose, rounds are theirs alone, and how far they are by now is a
    /// matter of luck.
    fn last(&self, grower: &Grower<'_, E>, chosen: Option<&OnceLock<Chosen>>) -> usize {
        match chosen.map(OnceLock::get) {
            Some(chosen) => chosen.map_or(grower.plan.rounds, |chosen| chosen.rounds),
            None if self.growing.easy == Some(true) => grower.plan.easy_rounds,
            None => grower.plan.rounds,
        }
    }

    /// Runs a round, unless the last one was the last.
    pub(super) fn round(
        &mut self,
        setup: &Setup<'_, E>,
        grower: &Grower<'_, E>,
        chosen: Option<&OnceLock<Chosen>>,
        clock: Clock,
    ) -> Result<Option<CurvePoint>> {
        let (plan, round) = (&grower.plan, self.grown.ends.len() + 1);
        if self.is_over || round > plan.rounds {
            return Ok(None);
        }
        let position = setup.first_round(plan) + round - 1;
        let trees = grower.round(position, &mut self.growing, grower.room(&self.gates))?;
        if trees.is_empty() {
            self.is_over = true;
            return Ok(None);
        }
        if let Some((engine, held)) = &mut self.held {
            let addresses =
                trees.iter().map(|tree| engine.address(held, tree)).collect::<Result<Vec<_>>>()?;
            let votes: Vec<(&VoteTree, &E::Addresses)> = trees.iter().zip(&addresses).collect();
            engine.update(held, &votes)?;
        }
        trees.iter().for_each(|tree| self.gates.add(tree));
        self.grown.trees.extend(trees);
        self.grown.ends.push(self.grown.trees.len());
        let (train_error, train_loss) = mean_loss(setup.engine, &self.growing.rows)?;
        let mut point = CurvePoint {
            round,
            gates: self.gates.total(),
            train_error,
            train_loss,
            validation_error: None,
            validation_loss: None,
            validation_auc: None,
        };
        if let Some((engine, held)) = &self.held {
            let now = calibrate(*engine, held, setup.objective(), None, self.factor, 1)?;
            self.factor = now.factor;
            let (error, _) = mean_loss(*engine, held)?;
            (point.validation_error, point.validation_loss) = (Some(error), Some(now.loss));
            let judged_by = match plan.eval_metric {
                EvalMetric::LogLoss => now.loss,
                EvalMetric::Error => error,
                EvalMetric::Auc => {
                    point.validation_auc = mean_area(&engine.margins(held)?, &engine.targets()?);
                    point.validation_auc.map_or(now.loss, |auc| -auc)
                }
            };
            if judged_by < self.best.0 {
                self.best = (judged_by, round);
                self.grown.best = Some(round);
            }
        }
        self.is_over = clock.is_over() || round >= self.last(grower, chosen);
        if let Some(held_out) = &self.held_out
            && (round == self.judge_at || self.is_over)
        {
            let rows = &self.growing.rows;
            let now = calibrate(setup.engine, rows, setup.objective(), Some(held_out), self.factor, 1)?;
            self.factor = now.factor;
            point.validation_loss = Some(now.loss);
            self.judged.push((round, now));
            self.judge_at = judging_after(round);
            if is_better(now.loss, self.best.0, setup.objective()) {
                self.best = (now.loss, round);
            }
            self.is_over |= is_enough(round, self.best.1, plan, setup.objective());
        }
        self.grown.curve.push(point);
        let is_stopped = plan.early_stopping_rounds.is_some_and(|rounds| round - self.best.1 >= rounds);
        self.is_over |= self.held.is_some() && is_stopped;
        Ok(Some(point))
    }

    /// Runs all rounds that are left, or those that are being chosen: then it may run some more until it is told.
    pub(super) fn go_on(
        mut self,
        setup: &Setup<'_, E>,
        grower: &Grower<'_, E>,
        chosen: Option<&OnceLock<Chosen>>,
        clock: Clock,
        observer: &dyn Observer,
    ) -> Result<Grown> {
        let mut tracker = Tracker::new(observer, grower.plan.rounds as u64);
        self.grown.curve.iter().for_each(|point| observer.round(point));
        tracker.advance(self.grown.curve.len() as u64)?;
        while let Some(point) = self.round(setup, grower, chosen, clock)? {
            observer.round(&point);
            tracker.advance(1)?;
            tracker.expect(self.last(grower, chosen) as u64);
        }
        if let Some((round, best)) = best_of(&self.judged, &grower.plan) {
            (self.grown.best, self.grown.judged) = (Some(round), Some(best));
        }
        Ok(self.grown)
    }
}
