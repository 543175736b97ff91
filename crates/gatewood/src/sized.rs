//! The best model for a number of LUTs or ANDs, its encoder counted.
//!
//! Several shapes of trees are learned from four fifths of the rows, each with as many rounds as fit, and compared on the others.
//! The best is then learned from all rows. Gates that are fitted anew take long, so that few passes over few rows say how many rounds
//! fit.

use crate::circuit::{SimplifySettings, SumsOf};
use crate::encode::{Augment, Labels};
use crate::export::{ModelOptions, netlist_of};
use crate::learn::objective::ValueLoss;
use crate::learn::{GroveSettings, Observer};
use crate::model::{
    LearnSettings, Metrics, Model, Prediction, TrainSettings, Trained, Training, ValueMetrics, holdout, train,
};
use crate::{Error, Result};

/// What a circuit may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Budget {
    /// LUTs of six inputs.
    Luts(usize),
    /// ANDs of two inputs.
    Ands(usize),
}

impl Budget {
    fn of(settings: &GroveSettings) -> Result<Option<Self>> {
        match (settings.max_luts, settings.max_ands) {
            (None, None) => Ok(None),
            (Some(0), _) | (_, Some(0)) => {
                Err(Error::setting("a circuit of no LUTs or no ANDs says nothing"))
            }
            (Some(luts), None) => Ok(Some(Self::Luts(luts))),
            (None, Some(ands)) => Ok(Some(Self::Ands(ands))),
            (Some(_), Some(_)) => Err(Error::setting("max_luts and max_ands do not go together")),
        }
    }

    fn most(self) -> usize {
        match self {
            Self::Luts(most) | Self::Ands(most) => most,
        }
    }

    /// What a bit of a vote takes, about: its table, and a place in the sum.
    fn a_vote_bit(self) -> usize {
        match self {
            Self::Luts(_) => 2,
            Self::Ands(_) => 25,
        }
    }

    /// What a model takes, with its encoder where that can be part of a circuit.
    fn size(self, model: &Model) -> Result<usize> {
        let sums = match self {
            Self::Luts(_) => SumsOf::Counters,
            Self::Ands(_) => SumsOf::FullAdders,
        };
        let options = |encoder| ModelOptions { encoder, sums: Some(sums), ..ModelOptions::default() };
        let netlist = netlist_of(model, &options(true)).or_else(|_| netlist_of(model, &options(false)))?;
        match self {
            Self::Luts(_) => Ok(netlist.map_to_luts(6)?.luts()),
            Self::Ands(_) => {
                Ok(netlist.simplify(&SimplifySettings { proofs: true, merge: 0 })?.netlist.ands())
            }
        }
    }
}

/// A shape of trees to compare: one gate each.
#[derive(Clone, Copy)]
struct Shape {
    arity: usize,
    /// Bits of a vote: few LUTs each.
    vote_bits: u32,
    /// Whether gates are fitted anew, with gates that trees share.
    refits: bool,
}

const SHAPES: [Shape; 5] = [
    Shape { arity: 6, vote_bits: 1, refits: true },
    Shape { arity: 6, vote_bits: 1, refits: false },
    Shape { arity: 6, vote_bits: 2, refits: false },
    Shape { arity: 4, vote_bits: 3, refits: false },
    Shape { arity: 4, vote_bits: 5, refits: false },
];

/// Those for values: their votes have more bits.
const VALUE_SHAPES: [Shape; 3] = [
    Shape { arity: 6, vote_bits: 6, refits: false },
    Shape { arity: 6, vote_bits: 8, refits: false },
    Shape { arity: 4, vote_bits: 6, refits: false },
];

/// Passes in which gates are fitted anew, and gates that trees then share for each tree: on ten digits, 220 shared gates for
/// 200 trees have 2.3 % of held-out rows wrong after 12 passes, and none 3.5 %.
const REFITS: usize = 12;
const SHARED_A_TREE: f64 = 1.18;

/// Rows on which columns are compared, and trials of the climb before the first pass.
const REFIT_SAMPLE: usize = 16_384;
const REFIT_CLIMB: u32 = 500;

/// Passes and their rows that say how many rounds fit.
const SHORT_REFITS: usize = 3;
const SHORT_ROWS: usize = 30_000;

/// Part of the rows that choose among shapes.
const HELD_OUT: f64 = 0.2;

/// How often the rounds are corrected by what the circuit took, and how full it should be.
const CORRECTIONS: usize = 8;
const FULL: f64 = 0.9;

/// Rounds at the most.
const MOST_ROUNDS: usize = 4_000;

/// Trains a model as [`train`] does; where [`GroveSettings::max_luts`] or [`GroveSettings::max_ands`] is given, the best that
/// fits. What is set is kept; rounds, shape, bits of votes and rate are chosen on held-out rows where they are left open.
///
/// # Errors
/// As [`train`], and when nothing fits.
pub fn train_sized(
    training: &Training<'_>,
    settings: &TrainSettings,
    observer: &dyn Observer,
) -> Result<Trained> {
    let LearnSettings::Grove(grove) = &settings.learn else { return train(training, settings, observer) };
    let Some(budget) = Budget::of(grove)? else { return train(training, settings, observer) };
    let labels = training.train.labels;
    if training.start.is_some() {
        return Err(Error::setting("a model that is continued has no limit of LUTs or ANDs"));
    }
    let is_fixed = grove.rounds.is_some();
    let parts = holdout(labels, HELD_OUT, grove.seed)?;
    let (learned, held) = (training.train.select(&parts.train)?, training.train.select(&parts.test)?);
    let part = Training { train: learned.view(), validation: None, ..*training };
    let with =
        |shape: GroveSettings| TrainSettings { learn: LearnSettings::Grove(shape), ..settings.clone() };
    let mut best: Option<(f64, GroveSettings)> = None;
    let margins = match labels.classes().len() {
        0..=2 => 1,
        classes => classes,
    };
    let is_value = labels.values().is_some();
    for shape in shapes(grove, is_value, settings.encode.image.is_some(), &settings.encode.augment) {
        let short = |shape: &GroveSettings| short(shape, part.train.rows.len());
        let fit = |shape: &GroveSettings| train(&part, &with(short(shape)), observer);
        let Some((shape, mut trained)) = within(shape, is_fixed, budget, margins, fit)? else {
            continue;
        };
        if short(&shape) != shape {
            trained = train(&part, &with(shape.clone()), observer)?;
        }
        let view = held.view();
        let prediction = trained.model.predict_rows(view.rows, grove.threads)?;
        let error = error_of(view.labels, &prediction, grove.objective.as_ref())?;
        if best.as_ref().is_none_or(|(least, _)| error < *least) {
            best = Some((error, shape));
        }
    }
    let nothing = || Error::setting(format!("no circuit of {} fits: allow more", budget.most()));
    let (_, shape) = best.ok_or_else(nothing)?;
    let fit = |shape: &GroveSettings| train(training, &with(shape.clone()), observer);
    let (_, trained) = within(shape, is_fixed, budget, margins, fit)?.ok_or_else(nothing)?;
    Ok(trained)
}

/// What is compared: the part of rows that are wrong, or for values the root of the mean squared difference, the mean difference
/// or the pinball loss, as the objective has it.
fn error_of(labels: &Labels, prediction: &Prediction, objective: Option<&ValueLoss>) -> Result<f64> {
    let Some(values) = labels.values() else {
        return Ok(Metrics::new(labels.classes().len(), labels.codes(), prediction)?.error);
    };
    let metrics = ValueMetrics::new(values, prediction)?;
    Ok(match (metrics.quantiles, objective) {
        (Some(quantiles), _) => quantiles.pinball,
        (None, Some(ValueLoss::Absolute)) => metrics.mae,
        _ => metrics.rmse,
    })
}

/// The shapes to compare: what is set stays, the rest is varied.
fn shapes(
    settings: &GroveSettings,
    is_value: bool,
    are_images: bool,
    copies: &[Augment],
) -> Vec<GroveSettings> {
    let open = settings.arity.is_none() && settings.root_arity.is_none() && settings.depth.is_none();
    let must_refit = settings.refits.is_some_and(|refits| refits > 0);
    // Gates are fitted anew where nothing stands against it.
    let can_refit = !is_value
        && (open, settings.vote_bits.unwrap_or(1)) == (true, 1)
        && settings.refits != Some(0)
        && settings.spans.unwrap_or(0) + settings.patterns.unwrap_or(0) == 0
        && settings.shared_trees != Some(true);
    let mut shapes: Vec<GroveSettings> = Vec::new();
    let all: &[Shape] = if is_value { &VALUE_SHAPES } else { &SHAPES };
    for &Shape { arity, vote_bits, refits } in all {
        if if refits { !can_refit && !must_refit } else { must_refit } {
            continue;
        }
        let mut shape = settings.clone();
        (shape.max_luts, shape.max_ands) = (None, None);
        if open {
            (shape.arity, shape.depth) = (Some(arity), Some(1));
        }
        shape.vote_bits = shape.vote_bits.or(Some(vote_bits));
        shape.patterns = shape.patterns.or(Some(0));
        shape.trees_per_round = shape.trees_per_round.or(Some(1));
        if refits {
            shape.refits = shape.refits.or(Some(REFITS));
            shape.sample_rows = shape.sample_rows.or(Some(REFIT_SAMPLE));
            shape.climb = shape.climb.or(Some(REFIT_CLIMB));
            // Images that may be turned a little may be warped.
            let warp = copies.contains(&Augment::Turn);
            shape.augment = shape.augment.or(warp.then(|| vec![Augment::Warp]));
        } else if are_images {
            // Spans cost a LUT each, and less where trees share them.
            shape.feature_reuse = shape.feature_reuse.or(Some(0.97));
        }
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    shapes
}

/// What chooses the rounds of a shape. Of many rows, where gates are fitted anew: few passes over few rows, and no copies of
/// images, since the size of the circuit is about the same.
fn short(shape: &GroveSettings, rows: usize) -> GroveSettings {
    let mut short = shape.clone();
    if let Some(refits @ 1..) = shape.refits.filter(|_| rows > SHORT_ROWS) {
        short.refits = Some(refits.min(SHORT_REFITS));
        short.refit_rows = Some(shape.refit_rows.map_or(SHORT_ROWS, |rows| rows.min(SHORT_ROWS)));
        short.augment = Some(Vec::new());
    }
    short
}

/// A shape with as many rounds as fit, and what is learned with them. Rounds that the shape has are where the search starts,
/// or all that is tried where they are fixed.
fn within(
    mut shape: GroveSettings,
    is_fixed: bool,
    budget: Budget,
    margins: usize,
    fit: impl Fn(&GroveSettings) -> Result<Trained>,
) -> Result<Option<(GroveSettings, Trained)>> {
    let rate = shape.learning_rate;
    let bits = shape.vote_bits.unwrap_or(8);
    let refits = shape.refits.is_some_and(|refits| refits > 0);
    let shared = shape.shared_gates;
    let a_round = budget.a_vote_bit() * bits as usize * margins * if refits { 3 } else { 2 } / 2;
    let mut rounds = shape.rounds.unwrap_or((budget.most() / a_round).clamp(1, MOST_ROUNDS));
    let mut best: Option<(GroveSettings, Trained)> = None;
    let mut largest = 0;
    let mut before: Option<(usize, usize)> = None;
    for _ in 0..CORRECTIONS {
        shape.rounds = Some(rounds);
        shape.learning_rate = rate.or(Some(usual_rate(bits, rounds, refits)));
        if refits {
            shape.shared_gates = shared.or(Some(((rounds * margins) as f64 * SHARED_A_TREE) as usize));
        }
        let trained = fit(&shape)?;
        let size = budget.size(&trained.model)?;
        if size <= budget.most() && size >= largest {
            largest = size;
            best = Some((shape.clone(), trained));
        }
        // Steps that round to votes of zero add nothing, however many rounds there are.
        let stalls = before.is_some_and(|(fewer, was)| fewer < rounds && size <= was + was / 50);
        before = Some((rounds, size));
        let full = size as f64 / budget.most() as f64;
        let next = ((rounds as f64 * 0.98 / full) as usize).clamp(1, MOST_ROUNDS);
        if is_fixed || stalls || next == rounds || (FULL..=1.0).contains(&full) || full > 1.0 && rounds == 1 {
            break;
        }
        rounds = if full > 1.0 { next.min(rounds - 1) } else { next };
    }
    Ok(best)
}

/// The rate that suits so many rounds: with votes of one bit every vote counts the same, so that more of them want to be smaller.
fn usual_rate(bits: u32, rounds: usize, refits: bool) -> f64 {
    let rounds = rounds.max(1) as f64;
    match bits {
        1 if refits => (1.3 * libm::pow(rounds, -0.67)).min(0.5),
        1 => libm::pow(rounds, -0.55).min(0.5),
        _ => (8.0 / rounds).clamp(0.05, 0.5),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::BitMatrix;
    use crate::encode::Labels;
    use crate::learn::Silent;
    use crate::model::Rows;

    #[test]
    fn circuits_of_values_stay_within_their_luts() {
        let bit = |row: usize, column: usize| ((row * 2_654_435_761) >> (column * 3 + 4)) % 5 < 2;
        let bits: Vec<bool> = (0..600).flat_map(|row| (0..10).map(move |column| bit(row, column))).collect();
        let bits = BitMatrix::from_bools(10, &bits).unwrap();
        let value =
            |row: usize| (0..6).map(|column| f64::from(u8::from(bit(row, column))) * column as f64).sum();
        let values: Vec<f64> = (0..600).map(value).collect();
        let labels = Labels::from_values(values.clone()).unwrap();
        let training = Training::new(Rows::Bits(bits.view()), &labels);
        let settings = GroveSettings { max_luts: Some(100), ..GroveSettings::default() };
        let settings = TrainSettings { learn: LearnSettings::Grove(settings), ..TrainSettings::default() };
        let trained = train_sized(&training, &settings, &Silent).unwrap();
        assert!(Budget::Luts(100).size(&trained.model).unwrap() <= 100);
        let said = trained.model.predict_rows(Rows::Bits(bits.view()), 1).unwrap();
        let metrics = ValueMetrics::new(&values, &said).unwrap();
        assert!(metrics.r2 > 0.8, "{}", metrics.r2);
    }

    #[test]
    fn circuits_stay_within_their_luts_and_ands() {
        let bit = |row: usize, column: usize| ((row * 2_654_435_761) >> (column * 3 + 4)) % 5 < 2;
        let bits: Vec<bool> = (0..600).flat_map(|row| (0..10).map(move |column| bit(row, column))).collect();
        let bits = BitMatrix::from_bools(10, &bits).unwrap();
        let ones = |row: usize| (0..6).filter(|&column| bit(row, column)).count();
        let codes = (0..600).map(|row| u32::from(ones(row) > 2)).collect();
        let labels = Labels::new(vec!["no".into(), "yes".into()], codes).unwrap();
        let training = Training::new(Rows::Bits(bits.view()), &labels);
        for (budget, settings) in [
            (Budget::Luts(12), GroveSettings { max_luts: Some(12), ..GroveSettings::default() }),
            (Budget::Ands(120), GroveSettings { max_ands: Some(120), ..GroveSettings::default() }),
        ] {
            let settings =
                TrainSettings { learn: LearnSettings::Grove(settings), ..TrainSettings::default() };
            let trained = train_sized(&training, &settings, &Silent).unwrap();
            assert!(budget.size(&trained.model).unwrap() <= budget.most());
            let said = trained.model.predict_rows(Rows::Bits(bits.view()), 1).unwrap();
            let error = Metrics::new(2, labels.codes(), &said).unwrap().error;
            assert!(error < 0.2, "{error}");
            assert!(train(&training, &settings, &Silent).unwrap_err().is_setting());
        }
    }
}
