//! How a classifier is trained.

use super::Classifier;
use crate::encode::{EncodeSettings, ImageShape, Labels, Table};
use crate::learn::{GroveSettings, Observer, Silent, TreeSettings};
#[cfg(not(feature = "export"))]
use crate::model::train as train_sized;
use crate::model::{LearnSettings, Rows, TrainSettings, Trained, Training};
#[cfg(feature = "export")]
use crate::train_sized;
use crate::{Error, Result};

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

    /// The settings as [`train`](crate::model::train()) takes them.
    pub fn train_settings(&self) -> &TrainSettings {
        &self.train
    }

    /// Trains a classifier.
    ///
    /// # Errors
    /// As [`train`](crate::model::train()).
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
    /// As [`train`](crate::model::train()).
    pub fn fit_rows(&self, training: &Training<'_>, observer: &dyn Observer) -> Result<Trained> {
        match &self.refused {
            Some(refused) => Err(Error::setting(refused.clone())),
            None => train_sized(training, &self.train, observer),
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
    /// As [`train`](crate::model::train()).
    pub fn fit(table: &Table, labels: &Labels) -> Result<Self> {
        Self::settings().fit(table, labels)
    }
}
