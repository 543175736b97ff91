//! How far margins are to be trusted, told from rows that were not learned from.

use super::state::State;

/// The loss of held-out rows when all margins are multiplied by the factor that suits them best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Calibrated {
    pub(super) loss: f64,
    /// What one vote is worth then, as a multiple of what it was worth while learning.
    pub(super) factor: f64,
}

/// The factors there can be.
const FACTORS: (f64, f64) = (0.02, 50.0);

/// Newton steps towards the best factor; each starts where the last judging ended.
const STEPS: usize = 3;

/// Judges the rows that count, from a first guess of the factor.
pub(super) fn calibrate(
    state: &State<'_>,
    unit: f64,
    counts: impl Fn(usize) -> bool,
    guess: f64,
) -> Calibrated {
    let rows: Vec<usize> = (0..state.labels.len()).filter(|&row| counts(row)).collect();
    let mut factor = guess;
    for _ in 0..STEPS {
        let [_, slope, bend] = derivatives(state, &rows, unit, factor);
        // The loss is convex in the factor; far from the best one, steps are kept short.
        let step = if bend > 0.0 { -slope / bend } else { 0.0 };
        factor = (factor + step.clamp(-factor / 2.0, factor)).clamp(FACTORS.0, FACTORS.1);
    }
    Calibrated { loss: derivatives(state, &rows, unit, factor)[0], factor }
}

/// The mean loss, and its first and second derivative by the factor.
///
/// One row more, of no known class, is counted in with every row's share: else rows that are all told rightly would
/// make any margin certain.
fn derivatives(state: &State<'_>, rows: &[usize], unit: f64, factor: f64) -> [f64; 3] {
    let classes = state.margins.len();
    let doubt = 1.0 / (rows.len() as f64 + 1.0);
    let mut sums = [0.0; 3];
    for &row in rows {
        let label = state.labels[row] as usize;
        let margin = |class: usize| unit * f64::from(state.margins[class][row]);
        let terms = if classes == 1 {
            let lead = if label == 1 { margin(0) } else { -margin(0) };
            let odds = libm::exp((-factor * lead).clamp(-700.0, 700.0));
            let wrong = odds / (1.0 + odds);
            let doubt = doubt / 2.0;
            [
                libm::log1p(odds) + doubt * factor * lead,
                lead * (doubt - wrong),
                lead * lead * wrong * (1.0 - wrong),
            ]
        } else {
            let most = (0..classes).map(margin).fold(f64::NEG_INFINITY, f64::max);
            let (mut all, mut mean, mut square, mut plain) = (0.0, 0.0, 0.0, 0.0);
            for class in 0..classes {
                let below = margin(class) - most;
                let share = libm::exp(factor * below);
                all += share;
                mean += share * below;
                square += share * below * below;
                plain += below;
            }
            let own = (margin(label) - most) * (1.0 - doubt) + plain / classes as f64 * doubt;
            mean /= all;
            [libm::log(all) - factor * own, mean - own, square / all - mean * mean]
        };
        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
    }
    sums.map(|sum| sum / rows.len().max(1) as f64)
}
