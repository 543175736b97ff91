//! What a grove is learned from.

use super::choose_rounds::better_by_folds;
use super::dont_cares::{Seen, without_unseen};
use super::features::candidates;
use super::fit::{GroveFit, Known, Place, Setup, learn_grove};
use super::refit::{Judges, refit};
use super::round::words_seen;
use super::settings::{GrovePlan, GroveSettings};
use super::time_limit::Clock;
use crate::bits::BitView;
use crate::bits::kernels::Kernels;
use crate::circuit::{CHUNK_ROWS, Grove, Span, Wide};
use crate::learn::device::Device;
use crate::learn::engine::{ColumnOrder, CpuEngine, DeviceEngine, Engine, MakeColumns};
use crate::learn::objective::{MakeObjective, Objective, WEIGHT_ONE, for_classes};
use crate::learn::{Observer, Profile, Tracker};
use crate::pool::in_wakeful_pool;
use crate::{Error, Result};

/// Rows with their targets.
#[derive(Debug, Clone, Copy)]
pub struct Examples<'a> {
    /// The bits of each row.
    pub bits: BitView<'a>,
    /// What each row is to come out as: its class from 0 on, or what the objective takes.
    pub targets: &'a [u32],
    /// What each row counts for; one each where not given.
    pub weights: Option<&'a [f64]>,
}

impl<'a> Examples<'a> {
    /// The rows in this process.
    fn engine(&self, spans: &'a [Span], weights: Vec<u32>, kernels: Kernels) -> CpuEngine<'a> {
        CpuEngine::new(Wide::new(self.bits, spans), self.targets, weights, kernels)
    }

    /// The rows on a device.
    fn on_device(
        &self,
        device: &dyn Device,
        spans: &'a [Span],
        weights: Vec<u32>,
        margins: usize,
        kernels: Kernels,
    ) -> Result<DeviceEngine<'a>> {
        DeviceEngine::new(device, Wide::new(self.bits, spans), self.targets, weights, margins, kernels)
    }
}

/// What a grove is learned from, besides the settings.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GroveTask<'a> {
    /// The rows to learn from.
    pub train: Examples<'a>,
    /// Number of classes; none where the objective learns values.
    pub classes: usize,
    /// What the data is like, by which settings that are left open are chosen.
    pub profile: Profile,
    /// Rows by which learning stops: the grove is cut back to the round that was best on them.
    pub validation: Option<Examples<'a>>,
    /// A grove to continue: the trees it has are kept, and the new rounds come after them.
    pub start: Option<&'a Grove>,
    /// What trees may read besides the columns; the grove has those that they read.
    pub spans: Vec<Span>,
    /// The SIMD level to use.
    pub kernels: Kernels,
    /// Where rows are learned from, if not in this process; the grove is the same.
    pub device: Option<&'a dyn Device>,
    /// Who makes the columns of the training rows, where their bits are not there; without spans, refits or a device.
    pub(crate) made: Option<&'a dyn MakeColumns>,
}

impl<'a> GroveTask<'a> {
    /// Rows of so many classes and nothing else, their bits taken for columns of a table.
    pub fn new(train: Examples<'a>, classes: usize) -> Self {
        let profile = Profile::of_bits(train.bits.rows(), train.bits.columns(), classes);
        let kernels = Kernels::best();
        Self {
            train,
            classes,
            profile,
            validation: None,
            start: None,
            spans: Vec::new(),
            kernels,
            device: None,
            made: None,
        }
    }

    /// Columns of the training rows.
    fn columns(&self) -> usize {
        self.made.map_or(self.train.bits.columns(), |made| made.columns())
    }

    /// Rows before copies were made of them: those that the profile is of, where all are a multiple of them.
    pub(crate) fn originals(&self) -> usize {
        let rows = self.train.targets.len();
        if self.profile.rows > 0 && rows.is_multiple_of(self.profile.rows) { self.profile.rows } else { rows }
    }
}

/// Learns a grove that classifies rows.
///
/// The grove depends on the data and the settings alone, not on threads, SIMD level or machine.
///
/// ```
/// use gatewood::bits::BitMatrix;
/// use gatewood::learn::{Examples, GroveSettings, GroveTask, Silent, fit_grove};
/// // The exclusive or of two bits.
/// let bits = BitMatrix::from_bools(2, &[false, false, true, false, false, true, true, true])?;
/// let rows = Examples { bits: bits.view(), targets: &[0, 1, 1, 0], weights: None };
/// let settings = GroveSettings { arity: Some(2), rounds: Some(10), ..GroveSettings::default() };
/// let fit = fit_grove(&GroveTask::new(rows, 2), &settings, &Silent)?;
/// assert_eq!(fit.grove.predict(bits.view(), 1)?, [0, 1, 1, 0]);
/// # Ok::<(), gatewood::Error>(())
/// ```
///
/// # Errors
/// When a setting is out of range, the rows do not fit each other or the start, a class has no rows, memory runs out, or
/// the observer stops the work.
pub fn fit_grove(
    task: &GroveTask<'_>,
    settings: &GroveSettings,
    observer: &dyn Observer,
) -> Result<GroveFit> {
    if !(2..=1000).contains(&task.classes) {
        return Err(Error::data(format!("{} classes are not between 2 and 1000", task.classes)));
    }
    fit_grove_for(&|unit| for_classes(task.classes, unit), task, settings, observer)
}

/// [`fit_grove`] for another objective.
///
/// # Errors
/// As [`fit_grove`].
pub fn fit_grove_for(
    make: MakeObjective<'_>,
    task: &GroveTask<'_>,
    settings: &GroveSettings,
    observer: &dyn Observer,
) -> Result<GroveFit> {
    let clock = Clock::new(settings.time_limit);
    let GroveTask { train, validation, start, kernels, .. } = task;
    let objective = make(1.0);
    check(task, &*objective)?;
    let plan = plan_of(settings, &task.profile, validation.is_some())?;
    if plan.refits > 0 && (start.is_some() || !task.spans.is_empty()) {
        return Err(Error::setting("refits are for groves that are learned anew, without spans"));
    }
    // More threads than there are trees of all folds, or chunks of rows, would only look on.
    let margins = objective.margins();
    let side_by_side = (plan.cv_folds + 1) * if margins == 1 { plan.trees_per_round } else { margins };
    let most = side_by_side.max(train.targets.len().div_ceil(CHUNK_ROWS));
    in_wakeful_pool(settings.threads, most, move || {
        let spans = candidates(train.bits, task.spans.clone(), *start);
        let order = ColumnOrder::new(task.columns() + spans.len(), plan.seed);
        let weights = row_weights(train.targets, train.weights, &settings.class_weights)?;
        let fit = Fit {
            make,
            settings,
            profile: &task.profile,
            start: *start,
            originals: task.originals(),
            inputs: task.columns(),
            kernels: *kernels,
            plan,
            order: &order,
            spans: &spans,
            clock,
            observer,
        };
        // A page has no device; without this, all that learns would be in it twice.
        if !cfg!(target_family = "wasm")
            && let Some(device) = task.device
        {
            let held =
                validation.as_ref().map(|held| held.on_device(device, &spans, Vec::new(), margins, *kernels));
            let held = held.transpose()?;
            // Each fold has margins of its own.
            let margins = margins * (fit.plan.cv_folds + 1);
            let engine = train.on_device(device, &spans, weights, margins, *kernels)?.ordered(&order);
            return refitted(fit.run(&engine, held.as_ref())?, task, settings, clock, observer);
        }
        let held = validation.as_ref().map(|held| held.engine(&spans, Vec::new(), *kernels));
        let (engine, words) = (train.engine(&spans, weights, *kernels), words_seen(&fit.plan));
        let engine = match task.made {
            Some(made) => engine.made(made, &order)?,
            None => engine.packed(&order, words)?,
        };
        refitted(fit.run(&engine, held.as_ref())?, task, settings, clock, observer)
    })
}

/// A fit whose gates are fitted anew and lose inputs, if its plan says so.
fn refitted(
    mut fit: GroveFit,
    task: &GroveTask<'_>,
    settings: &GroveSettings,
    clock: Clock,
    observer: &dyn Observer,
) -> Result<GroveFit> {
    if fit.plan.refits > 0 {
        let Examples { bits, targets, weights } = task.train;
        let weights = row_weights(targets, weights, &settings.class_weights)?;
        let train = Judges { bits, targets, weights: &weights };
        let held =
            task.validation.map(|held| Judges { bits: held.bits, targets: held.targets, weights: &[] });
        let tracker = Tracker::new(observer, fit.plan.refits as u64);
        fit.grove = refit(&fit.grove, train, held, &fit.plan, task.kernels, clock, &tracker)?;
    }
    if fit.plan.use_dont_cares {
        let Examples { bits, targets, .. } = task.train;
        let seen = Seen { bits, targets, originals: task.originals(), kernels: task.kernels };
        fit.grove = without_unseen(&fit.grove, seen)?;
    }
    Ok(fit)
}

/// Rows up to which whole folds choose the shape.
const FOLDS_CHOOSE: usize = 20_000;

/// All there is to know before an engine has the rows.
pub(super) struct Fit<'a> {
    pub(super) make: MakeObjective<'a>,
    pub(super) settings: &'a GroveSettings,
    pub(super) profile: &'a Profile,
    pub(super) start: Option<&'a Grove>,
    pub(super) originals: usize,
    pub(super) inputs: usize,
    pub(super) kernels: Kernels,
    pub(super) plan: GrovePlan,
    pub(super) order: &'a ColumnOrder,
    pub(super) spans: &'a [Span],
    pub(super) clock: Clock,
    pub(super) observer: &'a dyn Observer,
}

impl Fit<'_> {
    /// Learns a grove by an engine, with another that has the validation rows.
    pub(super) fn run<E: Engine>(self, engine: &E, held: Option<&E>) -> Result<GroveFit> {
        let Self { make, settings, start, order, spans, clock, observer, .. } = self;
        let mut plan = self.plan;
        let only_time = settings.time_limit.is_some()
            && (settings.rounds, settings.learning_rate, settings.max_gates) == (None, None, None)
            && held.is_none()
            && start.is_none();
        let place = Place {
            engine,
            order,
            kernels: self.kernels,
            inputs: self.inputs,
            originals: self.originals,
            spans,
        };
        let mut setup = Setup::new(place, make, start, &plan)?;
        let mut known = Known::Nothing;
        let others = settings.other_shapes(self.profile)?;
        if !others.is_empty() && start.is_none() {
            let tracker = Tracker::new(observer, 1);
            if plan.cv_folds > 0 && self.profile.rows < FOLDS_CHOOSE {
                let (better, rounds) = better_by_folds(&mut setup, plan, others, clock, &tracker)?;
                (plan, known) = (better, Known::Rounds(rounds));
            } else if plan.cv_folds > 0 || plan.validation_fraction > 0.0 {
                // Many rows: the first rounds tell, and whole folds of all shapes would take several times as long.
                let (better, begun) = setup.better_shape(plan, others, &tracker)?;
                (plan, known) = (better, begun.map_or(Known::Nothing, |begun| Known::Begun(Box::new(begun))));
            }
        }
        learn_grove(&mut setup, held, (plan, known), only_time, clock, observer)
    }
}

/// The plan of a fit; validation rows choose the rounds where there are some.
pub(super) fn plan_of(
    settings: &GroveSettings,
    profile: &Profile,
    has_validation: bool,
) -> Result<GrovePlan> {
    let mut plan = settings.resolve(profile)?;
    if has_validation {
        (plan.cv_folds, plan.validation_fraction, plan.easy_rounds) = (0, 0.0, plan.rounds);
    }
    Ok(plan)
}

/// Checks that the rows can be learned from, and fit each other and the start.
fn check(task: &GroveTask<'_>, objective: &dyn Objective) -> Result<()> {
    let GroveTask { train, validation, start, spans, .. } = task;
    let bits = task.columns();
    check_rows(train, bits, objective, "training")?;
    if let Some(column) = spans.iter().flat_map(Span::columns).find(|&&column| column as usize >= bits) {
        return Err(Error::data(format!("a span reads column {column} of {bits}")));
    }
    if let Some(validation) = validation {
        check_rows(validation, validation.bits.columns(), objective, "validation")?;
        if validation.bits.columns() != bits {
            return Err(Error::data(format!(
                "validation rows of {} bits, training rows of {bits}",
                validation.bits.columns(),
            )));
        }
    }
    if let Some(start) = start
        && (start.inputs() != bits || start.margins() != objective.margins())
    {
        return Err(Error::data(format!(
            "a grove of {} inputs and {} classes cannot be continued on rows of {bits} bits and {} classes",
            start.inputs(),
            start.classes(),
            task.classes,
        )));
    }
    Ok(())
}

/// Checks that rows of so many columns can be learned from.
fn check_rows(examples: &Examples<'_>, columns: usize, objective: &dyn Objective, name: &str) -> Result<()> {
    let rows = examples.bits.rows();
    if rows == 0 || columns == 0 {
        return Err(Error::data(format!("nothing to learn from: {rows} {name} rows of {columns} bits")));
    }
    if u32::try_from(rows).is_err() || u32::try_from(columns).is_err() {
        return Err(Error::too_large(format!("{rows} {name} rows of {columns} bits: the limit is 2^32")));
    }
    check_targets(rows, examples.targets, examples.weights, objective, name)
}

/// Checks that there are targets for so many rows, and weights if any.
pub(super) fn check_targets(
    rows: usize,
    targets: &[u32],
    weights: Option<&[f64]>,
    objective: &dyn Objective,
    name: &str,
) -> Result<()> {
    if targets.len() != rows {
        return Err(Error::data(format!("{} labels for {rows} {name} rows", targets.len())));
    }
    if let Some(row) = targets.iter().position(|&target| !objective.accepts(target)) {
        return Err(Error::data(format!(
            "{name} row {row} has label {}, which is not one of the classes",
            targets[row]
        )));
    }
    if let Some(weights) = weights {
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

/// What each row counts for, in fixed point, class weights included; empty for one each.
pub(super) fn row_weights(
    targets: &[u32],
    weights: Option<&[f64]>,
    class_weights: &[f64],
) -> Result<Vec<u32>> {
    if weights.is_none() && class_weights.is_empty() {
        return Ok(Vec::new());
    }
    let weight = |row: usize| {
        weights.map_or(1.0, |weights| weights[row]) * class_weights.get(targets[row] as usize).unwrap_or(&1.0)
    };
    let rows = targets.len();
    let all: f64 = (0..rows).map(weight).sum();
    if all <= 0.0 {
        return Err(Error::data("all rows have weight zero"));
    }
    // Only proportions matter: one is the mean. No weight above 2^7 times the mean, so that sampling weights stay below 2^32, and
    // none but zero becomes zero: a class of light rows is still a class.
    let scale = f64::from(WEIGHT_ONE) * rows as f64 / all;
    let fixed =
        |weight: f64| if weight > 0.0 { libm::rint(weight * scale).clamp(1.0, 32767.0) as u32 } else { 0 };
    Ok((0..rows).map(|row| fixed(weight(row))).collect())
}
