//! How a regressor is trained.

use super::Regressor;
use crate::Result;
use crate::encode::{EncodeSettings, Labels, Table};
use crate::learn::objective::{TargetScale, ValueLoss};
use crate::learn::{GroveSettings, Silent};
use crate::model::{LearnSettings, Rows, TrainSettings, Training, train};

/// How a [`Regressor`] is trained. What is not chosen is the library's to choose from the data.
///
/// The methods cover what is used most; [`RegressorSettings::grove`] and [`RegressorSettings::encode`] reach every setting.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RegressorSettings {
    grove: GroveSettings,
    encode: EncodeSettings,
}

impl RegressorSettings {
    /// What is made small; squared error where nothing is said.
    #[must_use]
    pub fn objective(self, loss: ValueLoss) -> Self {
        self.grove(|grove| grove.objective = Some(loss))
    }

    /// Whether values are learned as they are or in their logarithm.
    #[must_use]
    pub fn target(self, scale: TargetScale) -> Self {
        self.grove(|grove| grove.target = Some(scale))
    }

    /// Rounds of boosting.
    #[must_use]
    pub fn rounds(self, rounds: usize) -> Self {
        self.grove(|grove| grove.rounds = Some(rounds))
    }

    /// Part of a Newton step that a tree takes.
    #[must_use]
    pub fn learning_rate(self, rate: f64) -> Self {
        self.grove(|grove| grove.learning_rate = Some(rate))
    }

    /// Gates that the circuit may have at the most.
    #[must_use]
    pub fn max_gates(self, gates: usize) -> Self {
        self.grove(|grove| grove.max_gates = Some(gates))
    }

    /// Where all randomness comes from: one seed, one model.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        self.grove(|grove| grove.seed = seed)
    }

    /// Threads to use, 0 for one a core; the model does not depend on it.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        self.grove(|grove| grove.threads = threads)
    }

    /// Any setting of the grove.
    #[must_use]
    pub fn grove(mut self, choose: impl FnOnce(&mut GroveSettings)) -> Self {
        choose(&mut self.grove);
        self
    }

    /// Any setting of how raw columns become bits.
    #[must_use]
    pub fn encode(mut self, choose: impl FnOnce(&mut EncodeSettings)) -> Self {
        choose(&mut self.encode);
        self
    }

    /// Trains on raw rows and the value of each.
    ///
    /// # Errors
    /// As [`train`]; a value that cannot be learned is named by its row.
    pub fn fit(&self, table: &Table, values: &[f64]) -> Result<Regressor> {
        let labels = Labels::from_values(values.to_vec())?;
        let settings = TrainSettings {
            learn: LearnSettings::Grove(self.grove.clone()),
            encode: self.encode.clone(),
            ..TrainSettings::default()
        };
        let trained = train(&Training::new(Rows::Raw(table.view()), &labels), &settings, &Silent)?;
        Ok(Regressor { predictor: trained.model.predictor(), threads: self.grove.threads })
    }
}
