//! Quantiles that cover as many rows as they say.
//!
//! A grove fits the rows it learned from better than others, so that too many of the others lie outside of its quantiles. Rows that
//! were not learned from say by how much each quantile must move.

use crate::Result;
use crate::circuit::{Grove, Output};
use crate::learn::objective::ValueLoss;
use crate::learn::{Examples, GroveFit, GroveSettings, GroveTask, Observer, fit_grove_for};
use crate::random::{Purpose, Stream};

/// Parts of the rows, and how many of them are held out, one after the other. What is learned without a tenth is close to what is
/// learned from all; one tenth alone would say too little.
const PARTS: u32 = 10;
const HELD: u32 = 2;

/// Fewer rows than this say too little.
const FEWEST: usize = 500;

/// A grove whose quantiles are moved so that rows that were not learned from lie below each as often as it says.
///
/// Those are the validation rows, where there are some. Else the same is learned again without a tenth of the rows, twice.
pub(super) fn covering(
    loss: ValueLoss,
    make: &(dyn Fn(f64) -> std::sync::Arc<dyn crate::learn::objective::Objective> + Sync),
    task: &GroveTask<'_>,
    settings: &GroveSettings,
    fit: GroveFit,
    observer: &dyn Observer,
) -> Result<GroveFit> {
    let ValueLoss::Quantile(quantiles) = loss else { return Ok(fit) };
    let levels = quantiles.levels();
    let rows = task.train.targets.len();
    let moved = if let Some(held) = &task.validation {
        shifts(&fit.grove, held, |_| true, levels, settings.threads)?
    } else if rows >= FEWEST && task.start.is_none() && settings.time_limit.is_none() {
        let mut stream = Stream::new(settings.seed, Purpose::Split, 1);
        let parts: Vec<u32> = (0..rows).map(|_| stream.below(PARTS)).collect();
        let mut settings = settings.clone();
        settings.rounds = Some((fit.rounds * (PARTS as usize - 1) / PARTS as usize).max(1));
        let mut sums = vec![0i64; levels.len()];
        for held in 0..HELD {
            let weight = |row: usize| match parts[row] == held {
                true => 0.0,
                false => task.train.weights.map_or(1.0, |weights| weights[row]),
            };
            let weights: Vec<f64> = (0..rows).map(weight).collect();
            let mut without = task.clone();
            without.train.weights = Some(&weights);
            let part = fit_grove_for(make, &without, &settings, observer)?;
            let moved = shifts(&part.grove, &task.train, |row| parts[row] == held, levels, settings.threads)?;
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

/// How far each margin must move for such parts of the rows to lie below it.
fn shifts(
    grove: &Grove,
    rows: &Examples<'_>,
    among: impl Fn(usize) -> bool,
    levels: &[f64],
    threads: usize,
) -> Result<Vec<i32>> {
    debug_assert!(matches!(grove.output(), Output::Value(_)));
    let margins = grove.run(rows.bits, threads)?;
    let in_votes = 1.0 / grove.unit() / f64::from(1u32 << 30);
    let shift = |(margin, &level): (usize, &f64)| {
        let mut short: Vec<(i64, f64)> = margins
            .column(margin)
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
    Ok(levels.iter().enumerate().map(shift).collect())
}
