//! What the rows decide before learning begins.

use super::split::{EARLY_STOPPING_SHARE, Subset, holdout};
use super::train::{Trained, Training, learn};
use super::{LearnSettings, TrainSettings};
use crate::learn::Observer;
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
