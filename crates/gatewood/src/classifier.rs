//! One way in: settings, `fit`, `predict`, `save` and `load`.

use std::path::Path;

use crate::encode::{EncodeSettings, ImageShape, Labels, Table};
use crate::learn::{GroveSettings, Observer, Silent, TreeSettings};
use crate::model::{
    LearnSettings, Metrics, Model, Prediction, Predictor, Rows, TrainSettings, Trained, Training, train,
};
use crate::{Error, Result};

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

/// How a [`Classifier`] is trained: a grove unless [`ClassifierSettings::tree`] asks for the paper's tree.
///
/// What is not chosen is the library's to choose from the data. The methods cover what is used most;
/// [`ClassifierSettings::grove`] and [`ClassifierSettings::encode`] reach every setting.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClassifierSettings {
    train: TrainSettings,
    /// What could not be chosen, to be said when training begins.
    refused: Option<String>,
}

impl From<TrainSettings> for ClassifierSettings {
    fn from(train: TrainSettings) -> Self {
        Self { train, refused: None }
    }
}

impl ClassifierSettings {
    /// Rounds of boosting.
    #[must_use]
    pub fn rounds(self, rounds: usize) -> Self {
        self.grove("rounds", |grove| grove.rounds = Some(rounds))
    }

    /// Part of a Newton step that a tree takes.
    #[must_use]
    pub fn learning_rate(self, rate: f64) -> Self {
        self.grove("learning_rate", |grove| grove.learning_rate = Some(rate))
    }

    /// Rounds without improvement on held-out rows after which learning stops.
    #[must_use]
    pub fn early_stopping_rounds(self, rounds: usize) -> Self {
        self.grove("early_stopping_rounds", |grove| grove.early_stopping_rounds = Some(rounds))
    }

    /// Gates that the circuit may have at the most.
    #[must_use]
    pub fn max_gates(self, gates: usize) -> Self {
        self.grove("max_gates", |grove| grove.max_gates = Some(gates))
    }

    /// Seconds of learning; the model then depends on the machine.
    #[must_use]
    pub fn time_limit(self, seconds: f64) -> Self {
        self.grove("time_limit", |grove| grove.time_limit = Some(seconds))
    }

    /// Where all randomness comes from: one seed, one model.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        match &mut self.train.learn {
            LearnSettings::Grove(grove) => grove.seed = seed,
            LearnSettings::Tree(tree) => tree.seed = seed,
        }
        self
    }

    /// Threads to use, 0 for one a core; the model does not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.train.learn.set_threads(threads);
        self
    }

    /// Most thresholds of a column of numbers.
    #[must_use]
    pub fn max_bins(self, bins: u32) -> Self {
        self.encode(|encode| encode.max_bins = bins)
    }

    /// The rows are images: how their pixels lie.
    #[must_use]
    pub fn image(self, shape: ImageShape) -> Self {
        self.encode(|encode| encode.image = Some(shape))
    }

    /// Any setting of how raw columns become bits.
    #[must_use]
    pub fn encode(mut self, choose: impl FnOnce(&mut EncodeSettings)) -> Self {
        choose(&mut self.train.encode);
        self
    }

    /// Any setting of a grove; `name` says which, should a tree be asked for.
    #[must_use]
    pub fn grove(mut self, name: &str, choose: impl FnOnce(&mut GroveSettings)) -> Self {
        match &mut self.train.learn {
            LearnSettings::Grove(grove) => choose(grove),
            LearnSettings::Tree(_) => {
                self.refused.get_or_insert_with(|| {
                    format!("{name} is a setting of groves, and a tree was asked for")
                });
            }
        }
        self
    }

    /// The paper's single tree for two classes, instead of a grove.
    #[must_use]
    pub fn tree(mut self, tree: TreeSettings) -> Self {
        self.train.learn = LearnSettings::Tree(tree);
        self
    }

    /// The settings as [`train`] takes them.
    pub fn train_settings(&self) -> &TrainSettings {
        &self.train
    }

    /// Trains a classifier.
    ///
    /// # Errors
    /// As [`train`].
    pub fn fit(&self, table: &Table, labels: &Labels) -> Result<Classifier> {
        if labels.values().is_some() {
            return Err(Error::setting("a classifier learns classes, and the labels are values: use train"));
        }
        Ok(Classifier::new(self.fit_rows(&Training::new(Rows::Raw(table.view()), labels), &Silent)?.model)
            .with_threads(self.train.learn.threads()))
    }

    /// Trains with all that a training can be given: weights, validation rows, a model to continue, an observer. Tells how
    /// it went, too.
    ///
    /// # Errors
    /// As [`train`].
    pub fn fit_rows(&self, training: &Training<'_>, observer: &dyn Observer) -> Result<Trained> {
        match &self.refused {
            Some(refused) => Err(Error::setting(refused.clone())),
            None => train(training, &self.train, observer),
        }
    }
}

impl Classifier {
    /// Settings to choose from; end with [`ClassifierSettings::fit`].
    pub fn settings() -> ClassifierSettings {
        ClassifierSettings::default()
    }

    /// Trains a classifier with the library's defaults.
    ///
    /// # Errors
    /// As [`train`].
    pub fn fit(table: &Table, labels: &Labels) -> Result<Self> {
        Self::settings().fit(table, labels)
    }

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
