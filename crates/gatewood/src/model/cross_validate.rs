//! Learning and testing several times, each row being tested on once.

use super::split::folds;
use super::{Metrics, Predictor, TrainSettings, Trained, Training, train};
use crate::learn::Observer;
use crate::{Error, Result};

/// One of the models of a cross-validation, and how good it is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Fold {
    /// The model, and how it came to be.
    pub trained: Trained,
    /// How good it is on the rows it learned from.
    pub train: Metrics,
    /// How good it is on the rows put aside.
    pub test: Metrics,
}

/// Learns and tests `count` times, each time with another part of the rows put aside to test on. The parts have equal shares
/// of every class, and come from the settings' seed.
///
/// ```
/// use gatewood::encode::{Column, Labels, Numbers, Table};
/// use gatewood::learn::Silent;
/// use gatewood::model::{Rows, TrainSettings, Training, cross_validate};
///
/// let width: Vec<f64> = (0..60).map(f64::from).collect();
/// let table = Table::new(vec![("width".into(), Column::Number(Numbers::F64(width)))])?;
/// let labels = Labels::new(vec!["small".into(), "large".into()], (0..60).map(|row| u32::from(row > 30)).collect())?;
/// let training = Training::new(Rows::Raw(table.view()), &labels);
/// let folds = cross_validate(&training, &TrainSettings::default(), 3, &Silent)?;
/// assert_eq!(folds.iter().map(|fold| fold.test.rows).sum::<usize>(), 60);
/// assert!(folds.iter().all(|fold| fold.test.error < 0.2));
/// # Ok::<(), gatewood::Error>(())
/// ```
///
/// # Errors
/// As [`train`]; also when there are fewer than two folds, or too few rows of a class.
pub fn cross_validate(
    training: &Training<'_>,
    settings: &TrainSettings,
    count: usize,
    observer: &dyn Observer,
) -> Result<Vec<Fold>> {
    if training.start.is_some() || training.validation.is_some() {
        return Err(Error::setting("cross-validation takes neither validation rows nor a model to continue"));
    }
    let labels = training.train.labels;
    if labels.values().is_some() {
        return Err(Error::setting("cross-validation compares classes, and the labels are values"));
    }
    let threads = settings.learn.threads();
    let mut found = Vec::new();
    for (fold, parts) in folds(labels, count, settings.learn.seed())?.iter().enumerate() {
        let [learned, tested] = [training.train.select(&parts.train)?, training.train.select(&parts.test)?];
        if learned.view().labels.counts().contains(&0) {
            return Err(Error::data(format!(
                "fold {} has a class with no rows to learn from: use fewer folds",
                fold + 1
            )));
        }
        let trained = train(&Training { train: learned.view(), ..*training }, settings, observer)?;
        let predictor = Predictor::new(trained.model.clone());
        let metrics = |rows: &super::Subset| {
            let rows = rows.view();
            let prediction = predictor.predict(rows.rows, threads)?;
            Metrics::new(labels.classes().len(), rows.labels.codes(), &prediction)
        };
        let (train, test) = (metrics(&learned)?, metrics(&tested)?);
        found.push(Fold { trained, train, test });
    }
    Ok(found)
}
