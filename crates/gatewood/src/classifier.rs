//! One way in: settings, `fit`, `predict`, `save` and `load`.

use std::path::Path;

use crate::encode::{Labels, Table};
use crate::model::{Metrics, Model, Prediction, Predictor, Rows};
use crate::{Error, Result};

#[cfg(feature = "train")]
mod settings;

#[cfg(feature = "train")]
pub use settings::ClassifierSettings;

/// A trained classifier: takes raw rows, says classes and probabilities.
///
/// [`Classifier::fit`] trains one with the library's defaults; [`Classifier::settings`] chooses otherwise.
///
/// ```
/// use gatewood::Classifier;
/// use gatewood::encode::{Column, Labels, Numbers, Table, Texts};
///
/// let size: Vec<f64> = (0..200).map(|row| f64::from(row % 50)).collect();
/// let colour: Vec<_> = (0..200).map(|row| Some(if row % 3 == 0 { "red" } else { "blue" })).collect();
/// let ripe = (0..200).map(|row| u32::from(row % 50 > 20 && row % 3 == 0)).collect();
/// let fruit = Table::new(vec![
///     ("size".into(), Column::Number(Numbers::F64(size))),
///     ("colour".into(), Column::Text(Texts::from_rows(colour))),
/// ])?;
/// let labels = Labels::new(vec!["unripe".into(), "ripe".into()], ripe)?;
///
/// let classifier = Classifier::settings().rounds(60).seed(7).fit(&fruit, &labels)?;
/// let wrong = classifier.predict(&fruit)?.iter().zip(labels.codes()).filter(|(a, b)| a != b).count();
/// assert_eq!(wrong, 0);
/// assert_eq!(classifier.classes()[1], "ripe");
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Classifier {
    predictor: Predictor,
    threads: usize,
}

impl Classifier {
    /// A model as a classifier.
    pub fn new(model: Model) -> Self {
        Self { predictor: Predictor::new(model), threads: 0 }
    }

    /// The same classifier, predicting on so many threads, 0 for one a core.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// What the model says of rows, where it says classes.
    fn said(&self, table: &Table) -> Result<Prediction> {
        if self.model().circuit().says_values() {
            return Err(Error::setting("the model says values, not classes: ask its predictor"));
        }
        self.predictor.predict(Rows::Raw(table.view()), self.threads)
    }

    /// The class of each row, by its position in [`Classifier::classes`].
    ///
    /// # Errors
    /// When a column is missing or of the wrong kind.
    pub fn predict(&self, table: &Table) -> Result<Vec<u32>> {
        Ok(self.said(table)?.into_classes())
    }

    /// The probability of each class for each row; a single tree is always certain.
    ///
    /// # Errors
    /// When a column is missing or of the wrong kind.
    pub fn predict_proba(&self, table: &Table) -> Result<Vec<Vec<f64>>> {
        let prediction = self.said(table)?;
        let certain = |class: u32| {
            let mut probabilities = vec![0.0; self.classes().len()];
            probabilities[class as usize] = 1.0;
            probabilities
        };
        let rows = prediction.classes().iter().enumerate();
        Ok(rows
            .map(|(row, &class)| prediction.probabilities(row).unwrap_or_else(|| certain(class)))
            .collect())
    }

    /// How good the classifier is on rows whose classes are known.
    ///
    /// # Errors
    /// When the rows do not fit the model or the labels.
    pub fn evaluate(&self, table: &Table, labels: &Labels) -> Result<Metrics> {
        let prediction = self.said(table)?;
        Metrics::new(self.classes().len(), labels.codes(), &prediction)
    }

    /// The names of the classes.
    pub fn classes(&self) -> &[String] {
        self.predictor.model().classes()
    }

    /// The model: its circuit, encoder and settings; what exports and proofs take.
    pub fn model(&self) -> &Model {
        self.predictor.model()
    }

    /// The compiled predictor, which also takes single rows.
    pub fn predictor(&self) -> &Predictor {
        &self.predictor
    }

    /// Writes the model file, all of it or nothing.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.model().save(path)
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// When the file cannot be read, or is not a model.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Model::load(path).map(Self::new)
    }
}
