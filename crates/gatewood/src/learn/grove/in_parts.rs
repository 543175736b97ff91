//! Learning a grove from rows that live in parts elsewhere.

use super::features::trees_among;
use super::fit::GroveFit;
use super::round::words_seen;
use super::settings::GroveSettings;
use super::task::{Fit, check_targets, plan_of, row_weights};
use super::time_limit::Clock;
use crate::bits::kernels::Kernels;
use crate::circuit::{Grove, Span};
use crate::learn::engine::remote::{Link, Parts, RemoteEngine};
use crate::learn::engine::{ColumnOrder, Engine, Start};
use crate::learn::objective::MakeObjective;
use crate::learn::{Observer, Profile};
use crate::pool::in_pool;
use crate::{Error, Result};

/// Rows in parts, as the coordinator knows them.
#[derive(Clone, Copy)]
pub(crate) struct RowsInParts<'a> {
    /// The rows of each part.
    pub(crate) sizes: &'a [usize],
    pub(crate) targets: &'a [u32],
    pub(crate) weights: Option<&'a [f64]>,
}

/// What a grove is learned from where rows are in parts, besides the settings.
#[derive(Clone)]
pub(crate) struct PartsTask<'a> {
    pub(crate) parts: &'a dyn Parts,
    /// What a part that knows nothing is told, so that it has its bits and is ready to learn.
    pub(crate) prepare: &'a (dyn Fn(usize, &Prepared<'_>) -> Vec<Vec<u8>> + Sync),
    pub(crate) train: RowsInParts<'a>,
    pub(crate) validation: Option<RowsInParts<'a>>,
    /// Bits of a row.
    pub(crate) bits: usize,
    pub(crate) profile: Profile,
    /// What trees may read besides the bits: none is the same for all rows.
    pub(crate) spans: Vec<Span>,
    pub(crate) kernels: Kernels,
    /// Whether parts that are ready have rows of other weights.
    pub(crate) reweighs: bool,
}

/// What parts need to know of a fit before it begins.
pub(crate) struct Prepared<'a> {
    /// The seed of the order of columns.
    pub(crate) seed: u64,
    /// Words of columns that trees choose from.
    pub(crate) words: usize,
    pub(crate) spans: &'a [Span],
    /// What each row counts for, in fixed point; empty for one each.
    pub(crate) weights: &'a [u32],
}

/// [`fit_grove_for`](super::fit_grove_for) where rows are in parts: the same grove.
///
/// # Errors
/// As [`fit_grove_for`](super::fit_grove_for), and when a part is unavailable.
pub(crate) fn fit_grove_in_parts(
    make: MakeObjective<'_>,
    task: &PartsTask<'_>,
    settings: &GroveSettings,
    observer: &dyn Observer,
) -> Result<GroveFit> {
    let clock = Clock::new(settings.time_limit);
    let plan = plan_of(settings, &task.profile, task.validation.is_some())?;
    if plan.refits > 0 || plan.use_dont_cares {
        return Err(Error::setting("refits and use_dont_cares need all rows in one process"));
    }
    by_engines(make, task, settings, |order, train, held| {
        let fit = Fit {
            make,
            settings,
            profile: &task.profile,
            start: None,
            originals: task.train.targets.len(),
            inputs: task.bits,
            kernels: task.kernels,
            plan,
            order,
            spans: &task.spans,
            clock,
            observer,
        };
        fit.run(train, held)
    })
}

/// The margins of all rows by a grove, a list a margin: of the rows that were learned from, or of those that judge.
///
/// # Errors
/// When a part is unavailable.
pub(crate) fn margins_in_parts(
    make: MakeObjective<'_>,
    task: &PartsTask<'_>,
    settings: &GroveSettings,
    grove: &Grove,
    of_judges: bool,
) -> Result<Vec<Vec<i32>>> {
    let (objective, trees) = (make(grove.unit()), trees_among(grove, &task.spans)?);
    let start = Start { objective: &objective, bias: grove.bias(), trees: &trees, held_out: None };
    by_engines(make, task, settings, |_, train, held| {
        let engine = held.filter(|_| of_judges).unwrap_or(train);
        engine.margins(&engine.begin(&start)?)
    })
}

/// Does something with the engines of the rows that are learned from, and of those that judge.
fn by_engines<T: Send>(
    make: MakeObjective<'_>,
    task: &PartsTask<'_>,
    settings: &GroveSettings,
    work: impl FnOnce(&ColumnOrder, &RemoteEngine<'_>, Option<&RemoteEngine<'_>>) -> Result<T> + Send,
) -> Result<T> {
    let objective = make(1.0);
    for (rows, name) in std::iter::once((&task.train, "training"))
        .chain(task.validation.iter().map(|rows| (rows, "validation")))
    {
        let count = rows.sizes.iter().sum();
        if count == 0 || task.bits == 0 {
            return Err(Error::data(format!(
                "nothing to learn from: {count} {name} rows of {} bits",
                task.bits
            )));
        }
        if u32::try_from(count).is_err() {
            return Err(Error::too_large(format!("{count} {name} rows: the limit is 2^32")));
        }
        check_targets(count, rows.targets, rows.weights, &*objective, name)?;
    }
    let plan = plan_of(settings, &task.profile, task.validation.is_some())?;
    let weights = row_weights(task.train.targets, task.train.weights, &settings.class_weights)?;
    let order = ColumnOrder::new(task.bits + task.spans.len(), plan.seed);
    let prepared =
        Prepared { seed: plan.seed, words: words_seen(&plan), spans: &task.spans, weights: &weights };
    // Parts are told when they say that they do not know.
    let link = Link::new(task.parts, |part| (task.prepare)(part, &prepared));
    if task.reweighs {
        link.tell(task.train.sizes)?;
    }
    let engine = |role: u8, rows: &RowsInParts<'_>, weights: &[u32]| {
        RemoteEngine::new(
            &link,
            role,
            rows.sizes,
            (rows.targets.to_vec(), weights.to_vec()),
            &order,
            task.kernels,
        )
    };
    let train = engine(0, &task.train, &weights);
    let held = task.validation.as_ref().map(|rows| engine(1, rows, &[]));
    in_pool(settings.threads, || work(&order, &train, held.as_ref()))
}
