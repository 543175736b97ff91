//! How far margins are to be trusted, measured on rows that were not learned from.

use crate::Result;
use crate::learn::engine::{Engine, Scale};
use crate::learn::objective::Objective;

/// The loss of held-out rows when all margins are multiplied by the factor that suits them best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Calibrated {
    pub(super) loss: f64,
    /// What one vote is worth then, as a multiple of what it was worth while learning.
    pub(super) factor: f64,
    /// How sharply the loss rises when the factor is another: the second derivative.
    pub(super) bend: f64,
}

/// The factors there can be.
const FACTORS: (f64, f64) = (0.02, 50.0);

/// Newton steps towards the best factor; each starts where the last one ended.
const STEPS: usize = 3;

/// How far the logarithm of the factor is from zero, before any row is seen: few rows that all fit are no reason to
/// double what the margins say.
const SPREAD: f64 = 0.7;

/// The same where all rows fit: then nothing else limits what margins may say but the doubt that is left.
const SPREAD_OF_CERTAIN: f64 = 3.0;

/// Finds the factor that suits rows best, all or those of `among`, from a first guess; so many folds have as many rows.
pub(super) fn calibrate<E: Engine>(
    engine: &E,
    state: &E::State,
    objective: &dyn Objective,
    among: Option<&[bool]>,
    guess: f64,
    folds: usize,
) -> Result<Calibrated> {
    let rows = among.map_or(engine.rows(), |among| among.iter().filter(|among| **among).count()) as f64;
    let rows = rows.max(1.0);
    let derivatives = |factor: f64, doubt: f64, spread: f64| -> Result<[f64; 3]> {
        let sums = engine.scaled_loss(state, among, &Scale { factor, doubt })?;
        let [loss, slope, bend] = sums.map(|sum| sum as f64 / (1u64 << 32) as f64 / rows);
        // What is thought beforehand, of which a row has its part.
        let prior = 1.0 / (spread * spread * rows * factor);
        Ok([loss, slope + prior * libm::log(factor), bend + prior / factor])
    };
    if !objective.classifies() {
        // Values are not scaled.
        let [loss, _, bend] = derivatives(guess, 0.0, SPREAD)?;
        return Ok(Calibrated { loss, factor: guess, bend });
    }
    // A row that is wrong loses log 2 or more. Where none is, the classes may well be certain, as the other folds will
    // tell; else any row may be wrong.
    let all = rows * folds as f64;
    let certain = 1.0 / ((all + 1.0) * (all + 2.0));
    let all_fit = derivatives(guess, certain, SPREAD)?[0] * rows < std::f64::consts::LN_2;
    let (doubt, spread) = if all_fit { (certain, SPREAD_OF_CERTAIN) } else { (1.0 / (rows + 1.0), SPREAD) };
    let mut factor = guess;
    for _ in 0..STEPS {
        let [_, slope, bend] = derivatives(factor, doubt, spread)?;
        // The loss is convex in the factor; far from the best one, steps are kept short.
        let step = if bend > 0.0 { -slope / bend } else { 0.0 };
        factor = (factor + step.clamp(-factor / 2.0, factor)).clamp(FACTORS.0, FACTORS.1);
    }
    let [loss, _, bend] = derivatives(factor, doubt, spread)?;
    Ok(Calibrated { loss, factor, bend })
}
