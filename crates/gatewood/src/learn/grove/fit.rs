//! Learning a grove: rounds, early stopping, pruning, whatever the objective and the engine.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::calibrate::{Calibrated, calibrate};
use super::choose_rounds::{Chosen, choose_while, held_out_part, pruning_pays};
use super::features::{grove_of, trees_among};
use super::gates::Gates;
use super::grow::{Grown, Growth};
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

    /// Of several plans, that whose first rounds leave the smaller loss on held-out rows; and these rounds, where they are
    /// those that the plan begins with and the rows are still as they left them.
    pub(super) fn better_shape(
        &mut self,
        plan: GrovePlan,
        others: Vec<GrovePlan>,
        tracker: &Tracker<'_>,
    ) -> Result<(GrovePlan, Option<Growth<'a, E>>)> {
        let held_out = held_out_part(self, &plan)?;
        let rounds = if plan.cv_folds > 0 { SHAPE_ROUNDS_OF_A_FOLD } else { SHAPE_ROUNDS };
        // A gate alone learns less a round.
        let rounds = |plan: &GrovePlan| if plan.arities.len() == 1 { rounds * 3 / 2 } else { rounds };
        let mut best: Option<(f64, GrovePlan)> = None;
        // An engine has room for one state: that of the plan tried last.
        let mut last: Option<Growth<'a, E>> = None;
        for plan in std::iter::once(plan).chain(others) {
            self.rebase(&plan)?;
            last = None;
            let grower = self.grower(plan.clone());
            let mut growth = Growth::begin(self, &grower, None, Some(held_out.clone()))?;
            for _ in 0..rounds(&plan) {
                growth.round(self, &grower, None, Clock::new(None))?;
                tracker.check()?;
            }
            let loss = growth.held_out_loss(self)?;
            if best.as_ref().is_none_or(|(least, _)| loss < *least) {
                best = Some((loss, plan));
                last = Some(growth);
            }
        }
        let (_, best) = best.expect("there is a plan");
        self.rebase(&best)?;
        // Folds hold other rows out.
        Ok((best.clone(), last.filter(|_| best.cv_folds == 0)))
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
            plain: SamplingPower::default(),
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
    pub(super) fn state_of(
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

/// What is known of a plan that was chosen among several.
pub(super) enum Known<'a, E: Engine> {
    /// Nothing: it was not chosen, or by rows that are gone.
    Nothing,
    /// The rounds that folds have chosen.
    Rounds(Chosen),
    /// Its first rounds.
    Begun(Box<Growth<'a, E>>),
}

/// Learns a grove as a plan says, given what is known of it; `only_time` where nothing but the
/// time says how long.
pub(super) fn learn_grove<E: Engine>(
    setup: &mut Setup<'_, E>,
    validation: Option<&E>,
    (plan, known): (GrovePlan, Known<'_, E>),
    only_time: bool,
    clock: Clock,
    observer: &dyn Observer,
) -> Result<GroveFit> {
    let learned = if only_time {
        drop(known);
        learn_within(setup, plan, clock, &Timed { observer, clock })?
    } else {
        learn(setup, validation, plan, known, clock, observer)?
    };
    finish(setup, validation, learned, observer)
}

/// The share of rows that are wrong, and the mean loss.
pub(super) fn mean_loss<E: Engine>(engine: &E, state: &E::State) -> Result<(f64, f64)> {
    let (loss, rows) = (engine.loss(state)?, engine.rows().max(1) as f64);
    Ok((loss.wrong as f64 / rows, loss.loss as f64 / f64::from(1 << 20) / rows))
}

/// What came of a plan.
struct Learned {
    /// With the rounds that were chosen.
    plan: GrovePlan,
    grown: Grown,
    /// What a vote is worth, as a multiple of what it was worth while learning.
    factor: f64,
    /// What it lost on rows held out to choose the rounds, where there were any.
    loss: f64,
}

fn learn<E: Engine>(
    setup: &Setup<'_, E>,
    validation: Option<&E>,
    mut plan: GrovePlan,
    known: Known<'_, E>,
    clock: Clock,
    observer: &dyn Observer,
) -> Result<Learned> {
    let grower = setup.grower(plan.clone());
    if plan.cv_folds == 0 {
        let growth = match known {
            Known::Begun(growth) => *growth,
            _ => {
                let is_held_out =
                    validation.is_none() && plan.validation_fraction > 0.0 && setup.trees.is_empty();
                let held_out = is_held_out.then(|| held_out_part(setup, &plan)).transpose()?;
                Growth::begin(setup, &grower, validation, held_out)?
            }
        };
        let grown = growth.go_on(setup, &grower, None, clock, observer)?;
        let (factor, loss) = grown.judged.map_or((1.0, f64::INFINITY), |best| (best.factor, best.loss));
        return Ok(Learned { plan, grown, factor, loss });
    }
    let tracker = Tracker::new(observer, plan.rounds as u64);
    let grow = |chosen: &OnceLock<Chosen>| {
        let growth = Growth::begin(setup, &grower, None, None)?;
        growth.go_on(setup, &grower, Some(chosen), clock, observer)
    };
    let (chosen, mut grown) = match known {
        Known::Rounds(chosen) => (chosen, grow(&OnceLock::from(chosen))?),
        _ => choose_while(setup, &plan, clock, &tracker, grow)?,
    };
    grown.curve.truncate(chosen.rounds);
    grown.cut(chosen.rounds);
    (plan.rounds, plan.easy_rounds) = (chosen.rounds, chosen.rounds);
    Ok(Learned { plan, grown, factor: chosen.factor, loss: chosen.loss })
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
        let learned = learn(setup, None, plan.clone(), Known::Nothing, clock, observer)?;
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
    let Learned { plan, mut grown, mut factor, mut loss } = learned;
    if let Some(best) = grown.best {
        grown.cut(best);
    }
    let of = |trees: &[VoteTree]| Gates::of(setup.inputs, trees).total();
    let mut most = plan.max_gates.filter(|&most| of(&grown.trees) > most);
    if let Some(gates) = most {
        let (rounds, stop) = (grown.ends.len(), grown.rounds_within(gates, setup.inputs));
        let tracker = Tracker::new(observer, rounds as u64);
        // To ask takes about as long as to learn: not where time is short.
        let ask = stop > 0 && plan.time_limit.is_none();
        if ask && !pruning_pays(setup, &plan, rounds, gates, &tracker)? {
            grown.cut(stop);
            most = None;
        }
    }
    let Grown { mut trees, curve, ends, .. } = grown;
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
