//! Quantiles that cover as many rows as they say.
//!
//! A grove fits the rows it learned from better than others, so that too many of the others lie outside of its quantiles. Rows that
//! were not learned from say by how much each quantile must move.

use crate::Result;
use crate::circuit::Grove;
use crate::learn::objective::{MakeObjective, ValueLoss};
use crate::learn::{Examples, GroveFit, GroveSettings, GroveTask, Observer, fit_grove_for};
use crate::random::{Purpose, Stream};

/// Parts of the rows, and how many of them are held out, one after the other. What is learned without a tenth is close to what is
/// learned from all; one tenth alone would say too little.
const PARTS: u32 = 10;
const HELD: u32 = 2;

/// Fewer rows than this say too little.
const FEWEST: usize = 500;

/// The margins of rows, a list a margin.
type Margins = Vec<Vec<i32>>;

/// Learns with such weights and settings: the grove, and the margins of all training rows.
type Refit<'a> = &'a dyn Fn(&[f64], &GroveSettings) -> Result<(Grove, Margins)>;

/// Rows that say how far quantiles must move, wherever their bits are.
#[derive(Clone, Copy)]
pub(super) struct JudgedRows<'a> {
    pub(super) targets: &'a [u32],
    pub(super) weights: Option<&'a [f64]>,
    /// Rows before copies were made of them.
    pub(super) originals: usize,
}

impl<'a> JudgedRows<'a> {
    pub(super) fn new(targets: &'a [u32], weights: Option<&'a [f64]>) -> Self {
        Self { targets, weights, originals: targets.len() }
    }
}

/// All it takes to move quantiles so that rows that were not learned from lie below each as often as it says.
///
/// Those are the validation rows, where there are some. Else the same is learned again without a tenth of the rows, twice.
pub(super) struct Coverage<'a> {
    pub(super) loss: ValueLoss,
    pub(super) train: JudgedRows<'a>,
    pub(super) validation: Option<JudgedRows<'a>>,
    /// Whether the grove was not continued.
    pub(super) is_new: bool,
    pub(super) settings: &'a GroveSettings,
    /// Learns the same with other weights.
    pub(super) refit: Refit<'a>,
    /// The margins of the validation rows.
    pub(super) judge: &'a dyn Fn(&Grove) -> Result<Margins>,
}

/// [`Coverage`] of rows that are here.
pub(super) fn covering(
    loss: ValueLoss,
    make: MakeObjective<'_>,
    task: &GroveTask<'_>,
    settings: &GroveSettings,
    fit: GroveFit,
    observer: &dyn Observer,
) -> Result<GroveFit> {
    let margins = |grove: &Grove, rows: &Examples<'_>| -> Result<Margins> {
        let margins = grove.run(rows.bits, settings.threads)?;
        Ok((0..grove.margins()).map(|margin| margins.column(margin).to_vec()).collect())
    };
    let coverage = Coverage {
        loss,
        train: JudgedRows {
            originals: task.originals(),
            ..JudgedRows::new(task.train.targets, task.train.weights)
        },
        validation: task.validation.as_ref().map(|held| JudgedRows::new(held.targets, held.weights)),
        is_new: task.start.is_none(),
        settings,
        refit: &|weights, settings| {
            let mut without = task.clone();
            without.train.weights = Some(weights);
            let fit = fit_grove_for(make, &without, settings, observer)?;
            let margins = margins(&fit.grove, &task.train)?;
            Ok((fit.grove, margins))
        },
        judge: &|grove| match &task.validation {
            Some(held) => margins(grove, held),
            None => Ok(Vec::new()),
        },
    };
    coverage.of(fit)
}

impl Coverage<'_> {
    /// A grove whose quantiles are moved.
    pub(super) fn of(&self, fit: GroveFit) -> Result<GroveFit> {
        let ValueLoss::Quantile(quantiles) = self.loss else { return Ok(fit) };
        let levels = quantiles.levels();
        let rows = self.train.targets.len();
        let moved = if let Some(held) = &self.validation {
            shifts(&fit.grove, &(self.judge)(&fit.grove)?, held, |_| true, levels)
        } else if rows >= FEWEST && self.is_new && self.settings.time_limit.is_none() {
            let mut stream = Stream::new(self.settings.seed, Purpose::Split, 1);
            // Copies of an image are held out with it.
            let originals: Vec<u32> = (0..self.train.originals).map(|_| stream.below(PARTS)).collect();
            let parts: Vec<u32> = (0..rows).map(|row| originals[row % originals.len()]).collect();
            let mut settings = self.settings.clone();
            settings.rounds = Some((fit.rounds * (PARTS as usize - 1) / PARTS as usize).max(1));
            let mut sums = vec![0i64; levels.len()];
            for held in 0..HELD {
                let weight = |row: usize| match parts[row] == held {
                    true => 0.0,
                    false => self.train.weights.map_or(1.0, |weights| weights[row]),
                };
                let weights: Vec<f64> = (0..rows).map(weight).collect();
                let (grove, margins) = (self.refit)(&weights, &settings)?;
                let moved = shifts(&grove, &margins, &self.train, |row| parts[row] == held, levels);
                sums.iter_mut().zip(moved).for_each(|(sum, shift)| *sum += i64::from(shift));
            }
            sums.into_iter().map(|sum| (sum / i64::from(HELD)) as i32).collect()
        } else {
            return Ok(fit);
        };
        let grove = &fit.grove;
        let bias = grove.bias().iter().zip(moved).map(|(&bias, shift)| bias.saturating_add(shift)).collect();
        let features = (grove.spans().to_vec(), grove.patterns().clone());
        let trees = grove.trees().to_vec();
        let grove = Grove::with_output(grove.inputs(), features, grove.output(), bias, grove.unit(), trees)?;
        Ok(GroveFit { grove, ..fit })
    }
}

/// How far each margin must move for such parts of the rows to lie below it.
fn shifts(
    grove: &Grove,
    margins: &[Vec<i32>],
    rows: &JudgedRows<'_>,
    among: impl Fn(usize) -> bool,
    levels: &[f64],
) -> Vec<i32> {
    let in_votes = 1.0 / grove.unit() / f64::from(1u32 << 30);
    let shift = |(margins, &level): (&Vec<i32>, &f64)| {
        let mut short: Vec<(i64, f64)> = margins
            .iter()
            .zip(rows.targets)
            .enumerate()
            .filter(|(row, _)| among(*row))
            .map(|(row, (&margin, &target))| {
                let votes = libm::rint(f64::from(target as i32) * in_votes) as i64;
                (votes - i64::from(margin), rows.weights.map_or(1.0, |weights| weights[row]))
            })
            .collect();
        short.sort_unstable_by_key(|&(short, _)| short);
        let all: f64 = short.iter().map(|&(_, weight)| weight).sum();
        let mut below = 0.0;
        for (short, weight) in short {
            below += weight;
            if below >= level * all {
                return short.clamp(-(1 << 28), 1 << 28) as i32;
            }
        }
        0
    };
    margins.iter().zip(levels).map(shift).collect()
}
