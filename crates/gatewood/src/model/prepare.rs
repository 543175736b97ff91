//! What the rows decide before learning begins.

use std::borrow::Cow;

use super::comparing::learn;
use super::split::{EARLY_STOPPING_SHARE, Subset, holdout};
use super::train::{Trained, Training};
use super::{LabelledRows, LearnSettings, TrainSettings};
use crate::learn::Observer;
use crate::text::quote;
use crate::{Error, Result};

/// Trains a model: fits the encoder, encodes, learns. The one way that the command, the Python package and
/// [`Classifier`](crate::Classifier) take.
///
/// The same rows and settings give the same model, byte for byte, whoever asks. Where a grove is to stop early and no
/// validation rows are given, a tenth of the rows of every class is put aside for that.
///
/// ```
/// use gatewood::encode::{Column, Labels, Numbers, Table};
/// use gatewood::learn::{Silent, TreeSettings};
/// use gatewood::model::{LearnSettings, Rows, TrainSettings, Training, train};
///
/// let width = Column::Number(Numbers::F64(vec![1.0, 2.0, 3.0, 4.0]));
/// let table = Table::new(vec![("width".into(), width)])?;
/// let labels = Labels::new(vec!["small".into(), "large".into()], vec![0, 0, 1, 1])?;
/// let tree = TreeSettings { arity: 2, depth: 2, ..TreeSettings::default() };
/// let settings = TrainSettings { learn: LearnSettings::Tree(tree), ..TrainSettings::default() };
/// let trained = train(&Training::new(Rows::Raw(table.view()), &labels), &settings, &Silent)?;
/// assert_eq!(trained.model.predict(&table, 1)?.classes(), [0, 0, 1, 1]);
/// # Ok::<(), gatewood::Error>(())
/// ```
///
/// # Errors
/// When a setting is out of range, the rows do not fit the labels or each other, there is nothing to learn from, the
/// memory is unavailable, or the observer stops the work.
pub fn train(training: &Training<'_>, settings: &TrainSettings, observer: &dyn Observer) -> Result<Trained> {
    let mut settings = settings.clone();
    if let LearnSettings::Grove(grove) = &settings.learn
        && (grove.max_luts.is_some() || grove.max_ands.is_some())
    {
        return Err(Error::setting(
            "max_luts and max_ands are met by comparing several models, which is done where one model is trained by itself",
        ));
    }
    if !settings.class_weight.is_even() {
        let LearnSettings::Grove(grove) = &mut settings.learn else {
            return Err(Error::setting("a tree does not take weights of classes: use a grove"));
        };
        grove.class_weights = settings.class_weight.weights(training.train.labels)?;
    }
    let weights = usable_weights(&training.train)?;
    let training =
        &Training { train: LabelledRows { weights: weights.as_deref(), ..training.train }, ..*training };
    match early_stopping(training, &settings)? {
        Some([learned, kept]) => {
            let training = Training { train: learned.view(), validation: Some(kept.view()), ..*training };
            learn(&training, &settings, observer)
        }
        None => learn(training, &settings, observer),
    }
}

/// The rows to learn from and those that tell when to stop, where these are to be taken from the training rows.
fn early_stopping(training: &Training<'_>, settings: &TrainSettings) -> Result<Option<[Subset; 2]>> {
    let rows = &training.train;
    let LearnSettings::Grove(grove) = &settings.learn else { return Ok(None) };
    let fits = rows.rows.len() == rows.labels.len()
        && rows.weights.is_none_or(|weights| weights.len() == rows.labels.len());
    // Rows that do not fit their labels are refused by name when learning begins.
    if grove.early_stopping_rounds.is_none() || training.validation.is_some() || !fits {
        return Ok(None);
    }
    let parts = holdout(rows.labels, EARLY_STOPPING_SHARE, grove.seed)?;
    Ok(Some([rows.select(&parts.train)?, rows.select(&parts.test)?]))
}

/// The largest weight that the learner takes. Only proportions matter, so that larger ones are made smaller together.
const LARGEST_WEIGHT: f64 = 1e6;

/// Weights of rows as the learner takes them; those that do not fit the rows are refused when learning begins.
///
/// # Errors
/// When no row of a second class has a weight above zero.
fn usable_weights<'a>(rows: &LabelledRows<'a>) -> Result<Option<Cow<'a, [f64]>>> {
    let Some(weights) = rows.weights else { return Ok(None) };
    let codes = rows.labels.codes();
    let mut heavy = codes.iter().zip(weights).filter(|&(_, &weight)| weight > 0.0).map(|(&code, _)| code);
    if let Some(first) = heavy.next()
        && heavy.all(|code| code == first)
        && codes.iter().any(|&code| code != first)
    {
        return Err(Error::data(format!(
            "all rows that weigh more than zero are of class {}: there must be two classes",
            quote(&rows.labels.classes()[first as usize])
        )));
    }
    let largest = weights.iter().copied().fold(0.0, f64::max);
    if largest <= LARGEST_WEIGHT || !largest.is_finite() {
        return Ok(Some(weights.into()));
    }
    // By a power of two, which changes no digit.
    let scale = libm::exp2(-libm::ceil(libm::log2(largest / LARGEST_WEIGHT)));
    Ok(Some(weights.iter().map(|weight| weight * scale).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Labels;
    use crate::learn::Silent;
    use crate::model::Rows;

    #[test]
    fn weights_of_any_size_are_taken_by_their_proportions() {
        let rows: Vec<bool> = (0..64).flat_map(|row| (0..6).map(move |bit| row >> bit & 1 != 0)).collect();
        let bits = crate::bits::BitMatrix::from_bools(6, &rows).unwrap();
        let labels = (0..64).map(|row: u32| u32::from(row % 5 == 2)).collect();
        let labels = Labels::new(vec!["no".into(), "yes".into()], labels).unwrap();
        let plain = Training::new(Rows::Bits(bits.view()), &labels);
        let settings = TrainSettings::from_json("grove", r#"{"rounds": 5}"#).unwrap();
        let learned = |weights: &[f64]| {
            let train = LabelledRows { weights: Some(weights), ..plain.train };
            train_of(&Training { train, ..plain }, &settings).map(|trained| trained.model.circuit().clone())
        };
        let small: Vec<f64> = (0..64).map(|row| f64::from(row % 7) + 1.0).collect();
        let large: Vec<f64> = small.iter().map(|weight| weight * 262_144.0).collect();
        let huge: Vec<f64> = small.iter().map(|weight| weight * libm::exp2(900.0)).collect();
        assert_eq!(learned(&large).unwrap(), learned(&small).unwrap());
        assert_eq!(learned(&huge).unwrap(), learned(&small).unwrap());
        let of_one: Vec<f64> = (0..64).map(|row| if row % 5 == 2 { 0.0 } else { 3.0 }).collect();
        let error = learned(&of_one).unwrap_err();
        assert!(error.is_data() && error.to_string().contains("of class \"no\""), "{error}");
        assert!(learned(&[1.0]).is_err());
        for wrong in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(learned(&vec![wrong; 64]).unwrap_err().is_data());
        }
    }

    fn train_of(training: &Training<'_>, settings: &TrainSettings) -> Result<Trained> {
        train(training, settings, &Silent)
    }
}
