//! One way in for values: settings, `fit`, `predict`, `save` and `load`.

use std::path::Path;

use crate::encode::Table;
use crate::model::{Model, Predictor, Rows, ValueMetrics};
use crate::{Error, Result};

#[cfg(feature = "train")]
mod settings;

#[cfg(feature = "train")]
pub use settings::RegressorSettings;

/// A trained regressor: takes raw rows, says a value for each, or quantiles of it.
///
/// [`Regressor::fit`] trains one with the library's defaults; [`Regressor::settings`] chooses otherwise.
///
/// ```
/// use gatewood::Regressor;
/// use gatewood::encode::{Column, Numbers, Table};
///
/// let size: Vec<f64> = (0..300).map(|row| f64::from(row % 97)).collect();
/// let price: Vec<f64> = size.iter().map(|size| 20.0 + 3.0 * size).collect();
/// let houses = Table::new(vec![("size".into(), Column::Number(Numbers::F64(size)))])?;
///
/// let regressor = Regressor::settings().rounds(200).seed(7).fit(&houses, &price)?;
/// let metrics = regressor.evaluate(&houses, &price)?;
/// assert!(metrics.r2 > 0.99 && metrics.rmse < 10.0);
///
/// let spread = Regressor::settings().objective("quantile:0.1,0.9".parse()?).rounds(100).fit(&houses, &price)?;
/// assert!(spread.predict_quantiles(&houses)?.iter().all(|row| row[0] <= row[1]));
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Regressor {
    predictor: Predictor,
    threads: usize,
}

impl Regressor {
    /// Settings to choose from.
    #[cfg(feature = "train")]
    pub fn settings() -> RegressorSettings {
        RegressorSettings::default()
    }

    /// Trains with the library's defaults.
    ///
    /// # Errors
    /// As [`RegressorSettings::fit`].
    #[cfg(feature = "train")]
    pub fn fit(table: &Table, values: &[f64]) -> Result<Self> {
        RegressorSettings::default().fit(table, values)
    }

    /// A regressor of a model that says values.
    ///
    /// # Errors
    /// When the model says classes.
    pub fn new(model: Model) -> Result<Self> {
        if !model.circuit().says_values() {
            return Err(Error::setting("the model says classes, not values: it is a Classifier's"));
        }
        Ok(Self { predictor: model.predictor(), threads: 0 })
    }

    /// The value of each row; of several quantiles, that nearest to the median.
    ///
    /// # Errors
    /// When a column is missing or of the wrong kind.
    pub fn predict(&self, table: &Table) -> Result<Vec<f64>> {
        let prediction = self.predictor.predict(Rows::Raw(table.view()), self.threads)?;
        let quantiles = prediction.quantiles().unwrap_or_default();
        let values = prediction.values().unwrap_or_default();
        Ok(values.into_iter().skip(quantiles.middle()).step_by(quantiles.levels().len().max(1)).collect())
    }

    /// All quantiles of each row, the lowest first; one value where no quantiles were learned.
    ///
    /// # Errors
    /// As [`Regressor::predict`].
    pub fn predict_quantiles(&self, table: &Table) -> Result<Vec<Vec<f64>>> {
        let prediction = self.predictor.predict(Rows::Raw(table.view()), self.threads)?;
        let width = prediction.width().unwrap_or(1);
        Ok(prediction.values().unwrap_or_default().chunks(width).map(<[f64]>::to_vec).collect())
    }

    /// How predictions compare with the true values.
    ///
    /// # Errors
    /// When the rows do not fit the model or the values.
    pub fn evaluate(&self, table: &Table, values: &[f64]) -> Result<ValueMetrics> {
        ValueMetrics::new(values, &self.predictor.predict(Rows::Raw(table.view()), self.threads)?)
    }

    /// The model.
    pub fn model(&self) -> &Model {
        self.predictor.model()
    }

    /// Writes the model file, all of it or nothing.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.model().save(path)
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or holds a model of classes.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Self::new(Model::load(path)?)
    }
}
