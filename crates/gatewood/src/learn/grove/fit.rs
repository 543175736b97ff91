//! Learning a grove: rounds, early stopping, pruning, whatever the objective and the engine.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::calibrate::{Calibrated, calibrate};
use super::choose_rounds::{
    Chosen, best_of, choose_while, held_out_part, is_better, is_enough, judgings, pruning_pays,
};
use super::eval_metric::{EvalMetric, mean_area};
use super::features::{grove_of, trees_among};
use super::gates::Gates;
use super::leaf_step::LeafStep;
use super::pairs;
use super::prune::prune;
use super::round::{Grower, Growing};
use super::settings::GrovePlan;
use super::time_limit::{Clock, Timed, plan_within, slower_plan};
use crate::Result;
use crate::bits::kernels::Kernels;
use crate::circuit::{Grove, Span, VoteTree};
use crate::learn::engine::{ColumnOrder, Engine, SamplingPower, Start};
use crate::learn::gate::LogTable;
use crate::learn::objective::{MakeObjective, Objective};
use crate::learn::{Observer, Tracker};

/// How good the grove was after a round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CurvePoint {
    /// Rounds done.
    pub round: usize,
    /// Gates of all trees, and the shared features they read.
    pub gates: usize,
    /// Share of training rows whose class is wrong; zero where values are learned.
    pub train_error: f64,
    /// Mean of minus the logarithm of the probability given to the right class, over the training rows. Where values are
    /// learned, the mean loss as a share of what the standard deviation of the targets would lose.
    pub train_loss: f64,
    /// Share of validation rows whose class is wrong.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub validation_error: Option<f64>,
    /// The mean loss over the validation rows, of margins scaled to suit them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub validation_loss: Option<f64>,
    /// The area under the ROC curve of the validation rows, where that is what they choose by.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub validation_auc: Option<f64>,
}

/// A learned grove and how it came to be.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GroveFit {
    /// The grove.
    pub grove: Grove,
    /// The settings with nothing left open.
    pub plan: GrovePlan,
    /// One point a round, rounds that early stopping took back included; as it was before pruning.
    pub curve: Vec<CurvePoint>,
    /// Rounds the grove has.
    pub rounds: usize,
    /// The mean loss of the rows that chose the rounds: those of folds, those held out, or the validation rows.
    pub held_out_loss: Option<f64>,
}

/// Rounds after which shapes are compared: on a million rows of a smooth function 0.249 against 0.255, on Covertype
/// 0.27 against 0.44.
const SHAPE_ROUNDS: usize = 10;
/// The same for fewer rows, where a fold judges: wide roots lose 0.428 on Electricity after 20 rounds, one gate a tree 0.432
/// after half as many again; on Adult 0.283 and 0.276.
const SHAPE_ROUNDS_OF_A_FOLD: usize = 20;

/// What all fits to the same rows share.
pub(super) struct Setup<'a, E> {
    pub(super) engine: &'a E,
    make: MakeObjective<'a>,
    order: &'a ColumnOrder,
    kernels: Kernels,
    inputs: usize,
    /// Rows after so many are copies of these.
    pub(super) originals: usize,
    /// What trees may read besides the columns.
    spans: &'a [Span],
    /// The trees before the first round, their leaves among the columns and all features.
    pub(super) trees: Vec<VoteTree>,
    bias: Vec<i32>,
    /// What a vote is worth.
    unit: f64,
    objective: Arc<dyn Objective>,
    logs: LogTable,
}

/// What trees may read, and where they are learned.
pub(super) struct Place<'a, E> {
    pub(super) engine: &'a E,
    pub(super) order: &'a ColumnOrder,
    pub(super) kernels: Kernels,
    pub(super) inputs: usize,
    /// Rows after so many are copies of these.
    pub(super) originals: usize,
    pub(super) spans: &'a [Span],
}

impl<'a, E: Engine> Setup<'a, E> {
    pub(super) fn new(
        place: Place<'a, E>,
        make: MakeObjective<'a>,
        start: Option<&Grove>,
        plan: &GrovePlan,
    ) -> Result<Self> {
        let Place { engine, order, kernels, inputs, originals, spans } = place;
        let logs = LogTable::new(plan.sample_rows);
        let trees = start.map_or_else(|| Ok(Vec::new()), |start| trees_among(start, spans))?;
        let unit = start.map_or(1.0, Grove::unit);
        let bias = start.map(|start| start.bias().to_vec()).unwrap_or_default();
        let objective = make(unit);
        let mut setup = Self {
            engine,
            make,
            order,
            kernels,
            inputs,
            originals,
            spans,
            trees,
            bias,
            unit,
            objective,
            logs,
        };
        if start.is_none() {
            setup.rebase(plan)?;
        }
        Ok(setup)
    }

    /// Begins again, with votes worth what the plan says.
    pub(super) fn rebase(&mut self, plan: &GrovePlan) -> Result<()> {
        let unit = LeafStep::unit(self.objective.max_step(), plan.learning_rate, plan.vote_bits);
        self.unit = self.objective.unit(unit);
        self.objective = (self.make)(self.unit);
        self.bias = self.objective.bias(&self.engine.totals(&*self.objective)?)?;
        Ok(())
    }

    /// Of several plans, that whose first rounds leave the smaller loss on held-out rows.
    pub(super) fn better_shape(
        &mut self,
        plan: GrovePlan,
        others: Vec<GrovePlan>,
        tracker: &Tracker<'_>,
    ) -> Result<GrovePlan> {
        let held_out = held_out_part(self, &plan)?;
        let rounds = if plan.cv_folds > 0 { SHAPE_ROUNDS_OF_A_FOLD } else { SHAPE_ROUNDS };
        // A gate alone learns less a round.
        let rounds = |plan: &GrovePlan| if plan.arities.len() == 1 { rounds * 3 / 2 } else { rounds };
        let mut best: Option<(f64, GrovePlan)> = None;
        for plan in std::iter::once(plan).chain(others) {
            self.rebase(&plan)?;
            let grower = self.grower(plan.clone());
            let mut growing = self.begin(&grower, Some(&held_out))?;
            for round in 0..rounds(&plan) {
                grower.round(round, &mut growing, usize::MAX)?;
                tracker.check()?;
            }
            let loss = calibrate(self.engine, &growing.rows, self.objective(), Some(&held_out), 1.0, 1)?.loss;
            if best.as_ref().is_none_or(|(least, _)| loss < *least) {
                best = Some((loss, plan));
            }
        }
        let (_, best) = best.expect("there is a plan");
        self.rebase(&best)?;
        Ok(best)
    }

    pub(super) fn objective(&self) -> &dyn Objective {
        &*self.objective
    }

    /// A grove of trees whose leaves are among the columns and all features.
    fn grove(&self, unit: f64, trees: &[VoteTree]) -> Result<Grove> {
        grove_of(self.inputs, self.spans, self.objective.output(), self.bias.clone(), unit, trees)
    }

    pub(super) fn grower(&self, plan: GrovePlan) -> Grower<'_, E> {
        let reg_lambda = self.objective.reg_lambda(plan.reg_lambda);
        Grower {
            engine: self.engine,
            objective: self.objective.clone(),
            step: LeafStep::new(plan.learning_rate, plan.vote_bits, self.unit, reg_lambda),
            power: SamplingPower::new(plan.sampling_power),
            order: self.order,
            logs: &self.logs,
            kernels: self.kernels,
            inputs: self.inputs,
            plan,
        }
    }

    /// The gates before the first round.
    pub(super) fn gates(&self) -> Gates {
        Gates::of(self.inputs, &self.trees)
    }

    /// What is known of the training rows before the first round.
    pub(super) fn begin(&self, grower: &Grower<'_, E>, held_out: Option<&[bool]>) -> Result<Growing<E>> {
        let rows = self.state_of(self.engine, &self.trees, grower, held_out)?;
        let columns = self.order.columns().len();
        let mut growing = Growing::new(rows, columns, &self.trees);
        if grower.seeks_pairs() {
            // Before the first tree also where a grove is continued, so that it goes on as it would have.
            let pairs = match self.trees.is_empty() {
                true => grower.telling_pairs(&growing)?,
                false => {
                    let rows = self.state_of(self.engine, &[], grower, held_out)?;
                    grower.telling_pairs(&Growing::new(rows, columns, &[]))?
                }
            };
            pairs.into_iter().flatten().for_each(|column| growing.uses[column as usize] += pairs::USES);
        }
        Ok(growing)
    }

    /// What is known of rows after some trees.
    fn state_of(
        &self,
        engine: &E,
        trees: &[VoteTree],
        grower: &Grower<'_, E>,
        held_out: Option<&[bool]>,
    ) -> Result<E::State> {
        engine.begin(&Start { objective: &grower.objective, bias: &self.bias, trees, held_out })
    }

    /// The number of the first round, counted from that of a grove's first tree.
    pub(super) fn first_round(&self, plan: &GrovePlan) -> usize {
        let margins = self.bias.len();
        let trees = if margins == 1 || plan.shared_trees { plan.trees_per_round } else { margins };
        self.trees.len().div_ceil(trees)
    }
}

/// Learns a grove as a plan says, with the rounds that folds have chosen where they have; `only_time` where nothing but the
/// time says how long.
pub(super) fn learn_grove<E: Engine>(
    setup: &mut Setup<'_, E>,
    validation: Option<&E>,
    (plan, known): (GrovePlan, Option<Chosen>),
    only_time: bool,
    clock: Clock,
    observer: &dyn Observer,
) -> Result<GroveFit> {
    let learned = if only_time {
        learn_within(setup, plan, clock, &Timed { observer, clock })?
    } else {
        learn(setup, validation, plan, known, clock, observer)?
    };
    finish(setup, validation, learned, observer)
}

/// The share of rows that are wrong, and the mean loss.
fn mean_loss<E: Engine>(engine: &E, state: &E::State) -> Result<(f64, f64)> {
    let (loss, rows) = (engine.loss(state)?, engine.rows().max(1) as f64);
    Ok((loss.wrong as f64 / rows, loss.loss as f64 / f64::from(1 << 20) / rows))
}

/// What came of a plan.
struct Learned {
    /// With the rounds that were chosen.
    plan: GrovePlan,
    growth: Growth,
    /// What a vote is worth, as a multiple of what it was worth while learning.
    factor: f64,
    /// What it lost on rows held out to choose the rounds, where there were any.
    loss: f64,
}

fn learn<E: Engine>(
    setup: &Setup<'_, E>,
    validation: Option<&E>,
    mut plan: GrovePlan,
    known: Option<Chosen>,
    clock: Clock,
    observer: &dyn Observer,
) -> Result<Learned> {
    if plan.cv_folds == 0 {
        let held_out = match validation {
            None if plan.validation_fraction > 0.0 && setup.trees.is_empty() => {
                Some(held_out_part(setup, &plan)?)
            }
            _ => None,
        };
        let growth = grow(setup, validation, held_out.as_deref(), &plan, None, clock, observer)?;
        let (factor, loss) = growth.judged.map_or((1.0, f64::INFINITY), |best| (best.factor, best.loss));
        return Ok(Learned { plan, growth, factor, loss });
    }
    let tracker = Tracker::new(observer, plan.rounds as u64);
    let grow = |chosen: &OnceLock<Chosen>| grow(setup, None, None, &plan, Some(chosen), clock, observer);
    let (chosen, mut growth) = match known {
        Some(chosen) => (chosen, grow(&OnceLock::from(chosen))?),
        None => choose_while(setup, &plan, clock, &tracker, grow)?,
    };
    growth.curve.truncate(chosen.rounds);
    growth.cut(chosen.rounds);
    (plan.rounds, plan.easy_rounds) = (chosen.rounds, chosen.rounds);
    Ok(Learned { plan, growth, factor: chosen.factor, loss: chosen.loss })
}

/// Learns with the rounds and the rate that make most of the time there is.
fn learn_within<E: Engine>(
    setup: &mut Setup<'_, E>,
    plan: GrovePlan,
    clock: Clock,
    observer: &dyn Observer,
) -> Result<Learned> {
    let usual_rate = plan.learning_rate;
    let mut plan = plan_within(setup, plan, clock, &Tracker::new(observer, 1))?;
    let mut best: Option<Learned> = None;
    loop {
        setup.rebase(&plan)?;
        let begun = clock.spent();
        let learned = learn(setup, None, plan.clone(), None, clock, observer)?;
        let took = clock.spent() - begun;
        if let Some(best) = best.take_if(|best| best.loss <= learned.loss) {
            setup.rebase(&best.plan)?;
            return Ok(best);
        }
        match slower_plan(&plan, usual_rate, took, clock) {
            Some(slower) => plan = slower,
            None => return Ok(learned),
        }
        best = Some(learned);
    }
}

/// Makes a grove of the trees: those of the best rounds, and no more gates than there may be.
fn finish<E: Engine>(
    setup: &Setup<'_, E>,
    validation: Option<&E>,
    learned: Learned,
    observer: &dyn Observer,
) -> Result<GroveFit> {
    let Learned { plan, mut growth, mut factor, mut loss } = learned;
    if let Some(best) = growth.best {
        growth.cut(best);
    }
    let of = |trees: &[VoteTree]| Gates::of(setup.inputs, trees).total();
    let mut most = plan.max_gates.filter(|&most| of(&growth.trees) > most);
    if let Some(gates) = most {
        let (rounds, stop) = (growth.ends.len(), growth.rounds_within(gates, setup.inputs));
        let tracker = Tracker::new(observer, rounds as u64);
        // To ask takes about as long as to learn: not where time is short.
        let ask = stop > 0 && plan.time_limit.is_none();
        if ask && !pruning_pays(setup, &plan, rounds, gates, &tracker)? {
            growth.cut(stop);
            most = None;
        }
    }
    let Growth { mut trees, curve, ends, .. } = growth;
    let grower = setup.grower(plan);
    if let Some(most) = most {
        let mut state = setup.state_of(setup.engine, &trees, &grower, None)?;
        prune(&grower, &mut state, &mut trees, most)?;
    }
    if let Some(validation) = validation {
        let state = setup.state_of(validation, &trees, &grower, None)?;
        Calibrated { factor, loss, .. } = calibrate(validation, &state, setup.objective(), None, 1.0, 1)?;
    }
    let grove = setup.grove(setup.unit * factor, &trees)?;
    Ok(GroveFit {
        grove,
        plan: grower.plan,
        curve,
        rounds: ends.len(),
        held_out_loss: loss.is_finite().then_some(loss),
    })
}

/// Trees as they were grown, round by round.
struct Growth {
    /// Those there were, then those of each round.
    trees: Vec<VoteTree>,
    /// The number of trees after each round.
    ends: Vec<usize>,
    curve: Vec<CurvePoint>,
    /// The round best on validation rows or rows held out, where there are any.
    best: Option<usize>,
    /// What rows held out for good say of it.
    judged: Option<Calibrated>,
}

impl Growth {
    /// The rounds after which the trees had at most so many gates, columns from `inputs` on being shared features.
    fn rounds_within(&self, most: usize, inputs: usize) -> usize {
        let (mut gates, mut begun) = (Gates::of(inputs, []), 0);
        let within = |&&end: &&usize| {
            self.trees[begun..end].iter().for_each(|tree| gates.add(tree));
            begun = end;
            gates.total() <= most
        };
        self.ends.iter().take_while(within).count()
    }

    /// Takes back the rounds after one.
    fn cut(&mut self, rounds: usize) {
        self.ends.truncate(rounds);
        if let Some(&end) = self.ends.last() {
            self.trees.truncate(end);
        }
    }
}

/// Runs the rounds of a plan, or those that are being chosen: then it may run some more until it is told.
fn grow<E: Engine>(
    setup: &Setup<'_, E>,
    validation: Option<&E>,
    held_out: Option<&[bool]>,
    plan: &GrovePlan,
    chosen: Option<&OnceLock<Chosen>>,
    clock: Clock,
    observer: &dyn Observer,
) -> Result<Growth> {
    let grower = setup.grower(plan.clone());
    let mut held = match validation {
        Some(engine) => Some((engine, setup.state_of(engine, &setup.trees, &grower, None)?)),
        None => None,
    };
    let mut growing = setup.begin(&grower, held_out)?;
    let mut judged: Vec<(usize, Calibrated)> = Vec::new();
    let mut judgings = judgings().peekable();
    let mut tracker = Tracker::new(observer, plan.rounds as u64);
    let mut growth =
        Growth { trees: setup.trees.clone(), ends: Vec::new(), curve: Vec::new(), best: None, judged: None };
    let mut gates = setup.gates();
    // The best round so far and its loss: that whose scaled margins have the least. The error of few rows is too much a
    // matter of luck.
    let mut best = (f64::INFINITY, 0);
    let mut factor = 1.0;
    for round in 1..=plan.rounds {
        let first = setup.first_round(plan);
        let grown = grower.round(first + round - 1, &mut growing, grower.room(&gates))?;
        if grown.is_empty() {
            break;
        }
        if let Some((engine, held)) = &mut held {
            let addresses =
                grown.iter().map(|tree| engine.address(held, tree)).collect::<Result<Vec<_>>>()?;
            let votes: Vec<(&VoteTree, &E::Addresses)> = grown.iter().zip(&addresses).collect();
            engine.update(held, &votes)?;
        }
        grown.iter().for_each(|tree| gates.add(tree));
        growth.trees.extend(grown);
        growth.ends.push(growth.trees.len());
        let (train_error, train_loss) = mean_loss(setup.engine, &growing.rows)?;
        let mut point = CurvePoint {
            round,
            gates: gates.total(),
            train_error,
            train_loss,
            validation_error: None,
            validation_loss: None,
            validation_auc: None,
        };
        if let Some((engine, held)) = &held {
            let now = calibrate(*engine, held, setup.objective(), None, factor, 1)?;
            factor = now.factor;
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
            if judged_by < best.0 {
                best = (judged_by, round);
                growth.best = Some(round);
            }
        }
        // Where folds choose, the rounds are theirs alone: how far they are by now is a matter of luck.
        let rounds = match chosen.map(OnceLock::get) {
            Some(chosen) => chosen.map_or(plan.rounds, |chosen| chosen.rounds),
            None if growing.easy == Some(true) => plan.easy_rounds,
            None => plan.rounds,
        };
        let mut is_over = clock.is_over() || round >= rounds;
        if let Some(held_out) = held_out
            && (judgings.next_if_eq(&round).is_some() || is_over)
        {
            let now = calibrate(setup.engine, &growing.rows, setup.objective(), Some(held_out), factor, 1)?;
            factor = now.factor;
            point.validation_loss = Some(now.loss);
            judged.push((round, now));
            if is_better(now.loss, best.0, setup.objective()) {
                best = (now.loss, round);
            }
            is_over |= is_enough(round, best.1, plan, setup.objective());
        }
        growth.curve.push(point);
        observer.round(&point);
        tracker.advance(1)?;
        tracker.expect(rounds as u64);
        let is_stopped = plan.early_stopping_rounds.is_some_and(|rounds| round - best.1 >= rounds);
        if held.is_some() && is_stopped || is_over {
            break;
        }
    }
    if let Some((round, best)) = best_of(&judged, plan) {
        (growth.best, growth.judged) = (Some(round), Some(best));
    }
    Ok(growth)
}
