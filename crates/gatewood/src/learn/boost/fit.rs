//! Learning a grove.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::budget::{Clock, Timed, plan_within, slower_plan};
use super::calibrate::calibrate;
use super::choose::{Chosen, choose_while, pruning_pays};
use super::focus::Focus;
use super::gates::Gates;
use super::link::Link;
use super::prune::prune;
use super::round::{Booster, words_seen};
use super::sample::Rows;
use super::settings::{GrovePlan, GroveSettings};
use super::spans::{candidates, fit_grove_with_spans, grove_of, trees_among};
use super::state::{Examples, State, WEIGHT_ONE};
use super::votes::Voting;
use crate::bits::kernels::Kernels;
use crate::circuit::{CHUNK_ROWS, Grove, Span, VoteTree, Wide};
use crate::learn::gate::LogTable;
use crate::learn::{Observer, Tracker};
use crate::pool::in_wakeful_pool;
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

/// How good the grove was after a round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Rounds done.
    pub round: usize,
    /// Gates of all trees, and the spans they read.
    pub gates: usize,
    /// Share of training rows told wrongly.
    pub train_error: f64,
    /// Mean of minus the logarithm of the probability given to the right class, over the training rows.
    pub train_loss: f64,
    /// Share of validation rows told wrongly.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub validation_error: Option<f64>,
    /// The mean loss over the validation rows, of margins scaled to suit them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub validation_loss: Option<f64>,
}

/// A learned grove and how it came to be.
#[derive(Debug, Clone)]
pub struct GroveFit {
    /// The grove.
    pub grove: Grove,
    /// The settings with nothing left open.
    pub plan: GrovePlan,
    /// One point a round, rounds that early stopping took back included; as it was before pruning.
    pub curve: Vec<CurvePoint>,
    /// Rounds the grove has.
    pub rounds: usize,
    /// What each column is worth: the gain of the trees that read it, shared among their leaves by
    /// what each tells the gate above it; they add up to one.
    pub importance: Vec<f64>,
}

/// Learns a grove that tells `classes` classes apart.
///
/// The grove depends on the data and the settings alone, not on threads, SIMD level or machine. With validation rows,
/// the grove is cut back to the round that was best on them. A grove given as `start` is continued: the trees it has
/// are kept, and the new rounds come after them.
///
/// ```
/// use gatewood::bits::BitMatrix;
/// use gatewood::learn::{Examples, GroveSettings, Ignore, fit_grove};
/// // The exclusive or of two bits.
/// let bits = BitMatrix::from_bools(2, &[false, false, true, false, false, true, true, true])?;
/// let rows = Examples { bits: bits.view(), labels: &[0, 1, 1, 0], weights: None };
/// let settings = GroveSettings { arity: Some(2), rounds: Some(10), ..GroveSettings::default() };
/// let fit = fit_grove(&rows, 2, None, None, &settings, &Ignore)?;
/// assert_eq!(fit.grove.predict(bits.view(), 1)?, [0, 1, 1, 0]);
/// # Ok::<(), gatewood::Error>(())
/// ```
///
/// # Errors
/// When a setting is out of range, the rows do not fit each other or the start, a class has no rows, the memory is not
/// to be had, or the observer stops the work.
pub fn fit_grove(
    train: &Examples<'_>,
    classes: usize,
    validation: Option<&Examples<'_>>,
    start: Option<&Grove>,
    settings: &GroveSettings,
    observer: &dyn Observer,
) -> Result<GroveFit> {
    fit_grove_with_spans(Vec::new(), train, classes, validation, start, settings, observer)
}

/// [`fit_grove`] with given kernels.
///
/// # Errors
/// As [`fit_grove`].
pub fn fit_grove_at(
    train: &Examples<'_>,
    classes: usize,
    validation: Option<&Examples<'_>>,
    start: Option<&Grove>,
    settings: &GroveSettings,
    observer: &dyn Observer,
    kernels: Kernels,
) -> Result<GroveFit> {
    fit(Task { train, spans: Vec::new(), classes, validation, start }, settings, observer, kernels)
}

/// What a grove is learned from.
pub(super) struct Task<'a> {
    pub(super) train: &'a Examples<'a>,
    /// What trees may read besides the columns.
    pub(super) spans: Vec<Span>,
    pub(super) classes: usize,
    pub(super) validation: Option<&'a Examples<'a>>,
    pub(super) start: Option<&'a Grove>,
}

/// Learns a grove.
pub(super) fn fit(
    task: Task<'_>,
    settings: &GroveSettings,
    observer: &dyn Observer,
    kernels: Kernels,
) -> Result<GroveFit> {
    let clock = Clock::new(settings.time_limit);
    let Task { train, spans, classes, validation, start } = task;
    check(train, classes, "training")?;
    let bits = train.bits.columns();
    if let Some(column) = spans.iter().flat_map(Span::columns).find(|&&column| column as usize >= bits) {
        return Err(Error::data(format!("a span reads column {column} of {bits}")));
    }
    if let Some(validation) = validation {
        check(validation, classes, "validation")?;
        if validation.bits.columns() != train.bits.columns() {
            return Err(Error::data(format!(
                "validation rows of {} bits, training rows of {}",
                validation.bits.columns(),
                train.bits.columns()
            )));
        }
    }
    if let Some(start) = start
        && (start.inputs() != train.bits.columns() || start.classes() != classes)
    {
        return Err(Error::data(format!(
            "a grove of {} inputs and {} classes cannot be continued on rows of {} bits and {classes} classes",
            start.inputs(),
            start.classes(),
            train.bits.columns()
        )));
    }
    let mut plan = settings.resolve(train.labels.len(), bits, classes)?;
    if validation.is_some() {
        // The validation rows choose the rounds.
        (plan.cv_folds, plan.easy_rounds) = (0, plan.rounds);
    }
    // Whether nothing but the time says how long to learn.
    let only_time = settings.time_limit.is_some()
        && (settings.rounds, settings.learning_rate, settings.max_gates) == (None, None, None)
        && validation.is_none()
        && start.is_none();
    // More threads than there are trees of all folds, or chunks of rows, would only look on.
    let side_by_side = (plan.cv_folds + 1) * if classes == 2 { plan.trees_per_round } else { classes };
    let most = side_by_side.max(train.labels.len().div_ceil(CHUNK_ROWS));
    in_wakeful_pool(settings.threads, most, || {
        let spans = candidates(train.bits, spans, start);
        let mut setup = Setup::new(train, &spans, classes, start, settings, &plan, kernels)?;
        let learned = if only_time {
            learn_within(&mut setup, plan, clock, &Timed { observer, clock })?
        } else {
            learn(&setup, validation, plan, clock, observer)?
        };
        finish(&setup, validation, learned, observer)
    })
}

/// Checks that rows can be learned from.
fn check(examples: &Examples<'_>, classes: usize, name: &str) -> Result<()> {
    let rows = examples.bits.rows();
    if rows == 0 || examples.bits.columns() == 0 {
        return Err(Error::data(format!(
            "nothing to learn from: {rows} {name} rows of {} bits",
            examples.bits.columns()
        )));
    }
    if examples.labels.len() != rows {
        return Err(Error::data(format!("{} labels for {rows} {name} rows", examples.labels.len())));
    }
    if u32::try_from(rows).is_err() || u32::try_from(examples.bits.columns()).is_err() {
        return Err(Error::too_large(format!(
            "{rows} {name} rows of {} bits: the limit is 2^32",
            examples.bits.columns()
        )));
    }
    if !(2..=1000).contains(&classes) {
        return Err(Error::data(format!("{classes} classes are not between 2 and 1000")));
    }
    if let Some(row) = examples.labels.iter().position(|&label| label as usize >= classes) {
        return Err(Error::data(format!(
            "{name} row {row} has label {}, but there are {classes} classes",
            examples.labels[row]
        )));
    }
    if let Some(weights) = examples.weights {
        if weights.len() != rows {
            return Err(Error::data(format!("{} weights for {rows} {name} rows", weights.len())));
        }
        if let Some(row) = weights.iter().position(|weight| !(0.0..=1e6).contains(weight)) {
            return Err(Error::data(format!(
                "{name} row {row} has weight {}, which is not between 0 and a million",
                weights[row]
            )));
        }
    }
    Ok(())
}

/// What all fits to the same rows share.
pub(super) struct Setup<'a> {
    pub(super) train: &'a Examples<'a>,
    /// What trees may read besides the columns.
    spans: &'a [Span],
    pub(super) classes: usize,
    /// What each row counts for, in fixed point; empty for one each.
    pub(super) weights: Vec<u32>,
    /// The trees before the first round, their leaves among the columns and all spans.
    pub(super) trees: Vec<VoteTree>,
    bias: Vec<i32>,
    /// What a vote is worth.
    pub(super) unit: f64,
    rows: Rows,
    logs: LogTable,
    kernels: Kernels,
}

impl<'a> Setup<'a> {
    fn new(
        train: &'a Examples<'a>,
        spans: &'a [Span],
        classes: usize,
        start: Option<&Grove>,
        settings: &GroveSettings,
        plan: &GrovePlan,
        kernels: Kernels,
    ) -> Result<Self> {
        let weights = row_weights(train, &settings.class_weights)?;
        let mut stream = Stream::new(plan.seed, Purpose::Leaves, 0);
        let rows = Rows::new(Wide { bits: train.bits, spans }, words_seen(plan), kernels, &mut stream)?;
        let logs = LogTable::new(plan.sample_rows);
        let trees = start.map_or_else(|| Ok(Vec::new()), |start| trees_among(start, spans))?;
        let bias = Vec::new();
        let mut setup = Self { train, spans, classes, weights, trees, bias, unit: 1.0, rows, logs, kernels };
        match start {
            Some(start) => (setup.bias, setup.unit) = (start.bias().to_vec(), start.unit()),
            None => setup.rebase(plan)?,
        }
        Ok(setup)
    }

    /// Begins again, with votes worth what the plan says.
    fn rebase(&mut self, plan: &GrovePlan) -> Result<()> {
        self.unit = Voting::unit(plan.learning_rate, plan.vote_bits);
        self.bias = bias(self.train.labels, &self.weights, self.classes, self.unit)?;
        Ok(())
    }

    /// The columns of some rows.
    fn wide(&self, examples: &Examples<'a>) -> Wide<'a> {
        Wide { bits: examples.bits, spans: self.spans }
    }

    fn inputs(&self) -> usize {
        self.train.bits.columns()
    }

    /// A grove of trees whose leaves are among the columns and all spans.
    fn grove(&self, unit: f64, trees: &[VoteTree]) -> Result<Grove> {
        grove_of(self.inputs(), self.spans, self.classes, self.bias.clone(), unit, trees)
    }

    pub(super) fn booster(&self, plan: GrovePlan) -> Booster<'_> {
        let unit = self.unit;
        Booster {
            kernels: self.kernels,
            rows: &self.rows,
            link: Link::new(self.classes, unit),
            focus: Focus::new(plan.sampling_power),
            logs: &self.logs,
            voting: Voting::new(plan.learning_rate, plan.vote_bits, unit, plan.reg_lambda),
            inputs: self.inputs(),
            plan,
        }
    }

    /// The gates before the first round.
    pub(super) fn gates(&self) -> Gates {
        Gates::of(self.inputs(), &self.trees)
    }

    /// What is known of the training rows before the first round, with the weights given.
    pub(super) fn state(&self, weights: Vec<u32>, link: &Link) -> Result<State<'a>> {
        let mut state = self.state_of(self.train, weights, &self.trees, link)?;
        state.note_uses(&self.trees);
        Ok(state)
    }

    /// What is known of rows after some trees.
    fn state_of(
        &self,
        examples: &Examples<'a>,
        weights: Vec<u32>,
        trees: &[VoteTree],
        link: &Link,
    ) -> Result<State<'a>> {
        let grove = self.grove(self.unit, trees)?;
        let margins = grove.run_here(examples.bits, self.kernels)?;
        let margins = (0..grove.margins()).map(|margin| margins.column(margin).to_vec()).collect();
        Ok(State::new(self.wide(examples), examples.labels, weights, margins, link, self.kernels))
    }

    /// The number of the first round, counted from that of a grove's first tree.
    pub(super) fn first_round(&self, plan: &GrovePlan) -> usize {
        let trees = if self.classes == 2 || plan.shared_trees { plan.trees_per_round } else { self.classes };
        self.trees.len().div_ceil(trees)
    }
}

/// What came of a plan.
struct Learned {
    /// With the rounds that were chosen.
    plan: GrovePlan,
    growth: Growth,
    /// What a vote is worth, as a multiple of what it is worth while learning.
    worth: f64,
    /// What it lost on rows held out to choose the rounds, where there were any.
    loss: f64,
}

fn learn(
    setup: &Setup<'_>,
    validation: Option<&Examples<'_>>,
    mut plan: GrovePlan,
    clock: Clock,
    observer: &dyn Observer,
) -> Result<Learned> {
    if plan.cv_folds == 0 {
        let growth = grow(setup, validation, &plan, None, clock, observer)?;
        return Ok(Learned { plan, growth, worth: 1.0, loss: f64::INFINITY });
    }
    let tracker = Tracker::new(observer, plan.rounds as u64);
    let grow = |chosen: &OnceLock<Chosen>| grow(setup, None, &plan, Some(chosen), clock, observer);
    let (chosen, mut growth) = choose_while(setup, &plan, clock, &tracker, grow)?;
    growth.curve.truncate(chosen.rounds);
    growth.cut(chosen.rounds);
    (plan.rounds, plan.easy_rounds) = (chosen.rounds, chosen.rounds);
    Ok(Learned { plan, growth, worth: chosen.factor, loss: chosen.loss })
}

/// Learns with the rounds and the rate that make most of the time there is.
fn learn_within(
    setup: &mut Setup<'_>,
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
        let learned = learn(setup, None, plan.clone(), clock, observer)?;
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
fn finish(
    setup: &Setup<'_>,
    validation: Option<&Examples<'_>>,
    learned: Learned,
    observer: &dyn Observer,
) -> Result<GroveFit> {
    let Learned { plan, mut growth, mut worth, .. } = learned;
    if let Some(best) = growth.best {
        growth.cut(best);
    }
    let of = |trees: &[VoteTree]| Gates::of(setup.inputs(), trees).total();
    let mut most = plan.max_gates.filter(|&most| of(&growth.trees) > most);
    if let Some(gates) = most {
        let (rounds, stop) = (growth.ends.len(), growth.rounds_within(gates, setup.inputs()));
        let tracker = Tracker::new(observer, rounds as u64);
        // To ask takes about as long as to learn: not where time is short.
        let ask = stop > 0 && plan.time_limit.is_none();
        if ask && !pruning_pays(setup, &plan, rounds, gates, &tracker)? {
            growth.cut(stop);
            most = None;
        }
    }
    let Growth { mut trees, mut worths, curve, ends, .. } = growth;
    let booster = setup.booster(plan);
    let mut kept = vec![true; trees.len()];
    if let Some(most) = most {
        let mut state = setup.state_of(setup.train, setup.weights.clone(), &trees, &booster.link)?;
        kept = prune(&booster, &mut state, &mut trees, most)?;
    }
    let (old, new) = kept.split_at(setup.trees.len());
    let mut marks = new.iter().chain(std::iter::repeat(&false));
    worths.retain(|_| marks.next() == Some(&true));
    let old = old.iter().filter(|kept| **kept).count();
    let importance = importance(setup.wide(setup.train), trees[old..].iter().zip(&worths));
    if let Some(validation) = validation {
        let state = setup.state_of(validation, Vec::new(), &trees, &booster.link)?;
        worth = calibrate(&state, setup.unit, |_| true, 1.0).factor;
    }
    let grove = setup.grove(setup.unit * worth, &trees)?;
    Ok(GroveFit { grove, plan: booster.plan, curve, rounds: ends.len(), importance })
}

/// Trees as they were grown, round by round.
struct Growth {
    /// Those there were, then those of each round.
    trees: Vec<VoteTree>,
    /// What each leaf of each new tree gained.
    worths: Vec<Vec<f64>>,
    /// The number of trees after each round.
    ends: Vec<usize>,
    curve: Vec<CurvePoint>,
    /// The round best on validation rows, where there are any.
    best: Option<usize>,
}

impl Growth {
    /// The rounds after which the trees had at most so many gates, columns from `inputs` on being spans.
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
fn grow(
    setup: &Setup<'_>,
    validation: Option<&Examples<'_>>,
    plan: &GrovePlan,
    chosen: Option<&OnceLock<Chosen>>,
    clock: Clock,
    observer: &dyn Observer,
) -> Result<Growth> {
    let booster = setup.booster(plan.clone());
    let mut held = match validation {
        Some(rows) => Some(setup.state_of(rows, Vec::new(), &setup.trees, &booster.link)?),
        None => None,
    };
    let mut state = setup.state(setup.weights.clone(), &booster.link)?;
    let mut tracker = Tracker::new(observer, plan.rounds as u64);
    let mut growth = Growth {
        trees: setup.trees.clone(),
        worths: Vec::new(),
        ends: Vec::new(),
        curve: Vec::new(),
        best: None,
    };
    let mut gates = setup.gates();
    // The best round so far and its loss: that whose scaled margins have the least. The error of few rows is too much a
    // matter of luck.
    let mut best = (f64::INFINITY, 0);
    let mut factor = 1.0;
    for round in 1..=plan.rounds {
        let grown = booster.round(setup.first_round(plan) + round - 1, &mut state, booster.room(&gates))?;
        if grown.is_empty() {
            break;
        }
        if let Some(held) = &mut held {
            let addresses: Vec<Vec<u16>> = grown.iter().map(|grown| held.addresses(&grown.tree)).collect();
            let votes: Vec<(&VoteTree, &[u16])> = grown
                .iter()
                .zip(&addresses)
                .map(|(grown, addresses)| (&grown.tree, &addresses[..]))
                .collect();
            held.vote(&votes, &booster.link);
        }
        for grown in grown {
            gates.add(&grown.tree);
            growth.worths.push(grown.worth);
            growth.trees.push(grown.tree);
        }
        growth.ends.push(growth.trees.len());
        let (train_error, train_loss) = state.judge();
        let mut point = CurvePoint {
            round,
            gates: gates.total(),
            train_error,
            train_loss,
            validation_error: None,
            validation_loss: None,
        };
        if let Some(held) = &held {
            let now = calibrate(held, setup.unit, |_| true, factor);
            factor = now.factor;
            (point.validation_error, point.validation_loss) = (Some(held.judge().0), Some(now.loss));
            if now.loss < best.0 {
                best = (now.loss, round);
                growth.best = Some(round);
            }
        }
        growth.curve.push(point);
        tracker.advance(1)?;
        let impatient = plan.early_stopping_rounds.is_some_and(|rounds| round - best.1 >= rounds);
        let rounds = match chosen.and_then(OnceLock::get) {
            Some(chosen) => chosen.rounds,
            None if state.easy == Some(true) => plan.easy_rounds,
            None => plan.rounds,
        };
        tracker.expect(rounds as u64);
        if held.is_some() && impatient || clock.is_over() || round >= rounds {
            break;
        }
    }
    Ok(growth)
}

/// The share of each column in what trees gained, given what each of their leaves did; that of a span is shared among
/// the columns it is made of.
fn importance<'t>(wide: Wide<'_>, trees: impl Iterator<Item = (&'t VoteTree, &'t Vec<f64>)>) -> Vec<f64> {
    let mut importance = vec![0.0; wide.columns()];
    for (tree, worth) in trees {
        for (&column, worth) in tree.leaves().iter().zip(worth) {
            importance[column as usize] += worth;
        }
    }
    let all: f64 = importance.iter().sum();
    if all > 0.0 {
        importance.iter_mut().for_each(|share| *share /= all);
    }
    let shares = importance.split_off(wide.bits.columns());
    for (span, share) in wide.spans.iter().zip(shares) {
        let share = share / span.columns().len() as f64;
        span.columns().iter().for_each(|&column| importance[column as usize] += share);
    }
    importance
}

/// What each row counts for, in fixed point, class weights included; empty for one each.
fn row_weights(train: &Examples<'_>, class_weights: &[f64]) -> Result<Vec<u32>> {
    if train.weights.is_none() && class_weights.is_empty() {
        return Ok(Vec::new());
    }
    let weight = |row: usize| {
        train.weights.map_or(1.0, |weights| weights[row])
            * class_weights.get(train.labels[row] as usize).unwrap_or(&1.0)
    };
    let rows = train.labels.len();
    let all: f64 = (0..rows).map(weight).sum();
    if all <= 0.0 {
        return Err(Error::data("all rows have weight zero"));
    }
    // Only proportions matter: one is the mean. No weight above 2^7 times the mean, so that pulls stay below 2^32, and
    // none but zero becomes zero: a class of light rows is still a class.
    let scale = f64::from(WEIGHT_ONE) * rows as f64 / all;
    let fixed =
        |weight: f64| if weight > 0.0 { libm::rint(weight * scale).clamp(1.0, 32767.0) as u32 } else { 0 };
    Ok((0..rows).map(|row| fixed(weight(row))).collect())
}

/// The margins every row starts from: the log-odds of the classes.
fn bias(labels: &[u32], weights: &[u32], classes: usize, unit: f64) -> Result<Vec<i32>> {
    let mut counts = vec![0u64; classes];
    for (row, &label) in labels.iter().enumerate() {
        counts[label as usize] += u64::from(*weights.get(row).unwrap_or(&WEIGHT_ONE));
    }
    let present = counts.iter().filter(|&&count| count > 0).count();
    if present < 2 {
        return Err(Error::data("all rows are of one class: nothing to tell apart"));
    }
    let all: u64 = counts.iter().sum();
    let log_share = |count: u64| libm::log((count as f64).max(0.5) / all as f64);
    let votes = |odds: f64| libm::rint((odds / unit).clamp(-1e6, 1e6)) as i32;
    Ok(match &counts[..] {
        [zeros, ones] => vec![votes(log_share(*ones) - log_share(*zeros))],
        _ => counts.iter().map(|&count| votes(log_share(count))).collect(),
    })
}
