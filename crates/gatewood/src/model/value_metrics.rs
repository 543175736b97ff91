//! How good predicted values are.

use serde::Serialize;

use super::Prediction;
use crate::{Error, Result};

/// How predicted values compare with the true ones.
///
/// ```
/// use gatewood::model::ValueMetrics;
/// let metrics = ValueMetrics::of_values(&[1.0, 2.0, 3.0], &[1.0, 2.0, 5.0])?;
/// assert_eq!((metrics.mae, metrics.r2), (2.0 / 3.0, -1.0));
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ValueMetrics {
    /// Rows compared.
    pub rows: usize,
    /// The root of the mean squared difference.
    pub rmse: f64,
    /// The mean difference, whatever its sign.
    pub mae: f64,
    /// The share of the variance that is explained; zero where all true values are the same.
    pub r2: f64,
    /// The RMSE of the mean of the true values: what it is worth to know nothing of a row.
    pub baseline_rmse: f64,
}

impl ValueMetrics {
    /// Compares predictions with the true values of the same rows.
    ///
    /// # Errors
    /// When there are no rows, not as many of both, or the predictions are classes.
    pub fn new(truth: &[f64], prediction: &Prediction) -> Result<Self> {
        let values = prediction.values().ok_or_else(|| Error::data("the model says classes, not values"))?;
        Self::of_values(truth, &values)
    }

    /// Compares predicted with true values.
    ///
    /// # Errors
    /// When there are no rows, or not as many of both.
    pub fn of_values(truth: &[f64], predicted: &[f64]) -> Result<Self> {
        if truth.len() != predicted.len() {
            return Err(Error::data(format!("{} predictions for {} rows", predicted.len(), truth.len())));
        }
        if truth.is_empty() {
            return Err(Error::data("there are no rows to compare"));
        }
        let rows = truth.len() as f64;
        let mean = |of: &dyn Fn(f64, f64) -> f64| {
            truth.iter().zip(predicted).map(|(&truth, &said)| of(truth, said)).sum::<f64>() / rows
        };
        let centre = mean(&|truth, _| truth);
        let squared = mean(&|truth, said| (truth - said) * (truth - said));
        let variance = mean(&|truth, _| (truth - centre) * (truth - centre));
        Ok(Self {
            rows: truth.len(),
            rmse: libm::sqrt(squared),
            mae: mean(&|truth, said| (truth - said).abs()),
            r2: if variance > 0.0 { 1.0 - squared / variance } else { 0.0 },
            baseline_rmse: libm::sqrt(variance),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_figures() {
        let metrics = ValueMetrics::of_values(&[0.0, 2.0, 4.0, 6.0], &[1.0, 2.0, 4.0, 3.0]).unwrap();
        assert_eq!((metrics.rmse, metrics.mae), (libm::sqrt(2.5), 1.0));
        assert_eq!((metrics.baseline_rmse, metrics.r2), (libm::sqrt(5.0), 0.5));
        let constant = ValueMetrics::of_values(&[1.0, 1.0], &[1.0, 1.0]).unwrap();
        assert_eq!((constant.r2, constant.rmse), (0.0, 0.0));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        assert!(ValueMetrics::of_values(&[], &[]).unwrap_err().is_data());
        assert!(ValueMetrics::of_values(&[1.0], &[]).unwrap_err().is_data());
    }
}
