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
    /// Where quantiles are predicted; the figures above are then of the one nearest to the median.
    #[serde(flatten)]
    pub quantiles: Option<QuantileMetrics>,
}

/// How predicted quantiles compare with true values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuantileMetrics {
    /// The mean pinball loss over rows and quantiles.
    pub pinball: f64,
    /// The share of true values that are not above each quantile.
    pub below: Vec<f64>,
    /// The share of true values between the lowest and the highest quantile.
    pub coverage: f64,
    /// The share that should lie between them.
    pub nominal_coverage: f64,
}

impl QuantileMetrics {
    /// Compares quantiles, all of the first row and then of the next, with true values.
    fn new(truth: &[f64], predicted: &[f64], levels: &[f64]) -> Self {
        let (rows, count) = (truth.len() as f64, levels.len());
        let each = || truth.iter().zip(predicted.chunks(count));
        let pinball = |(truth, said): (&f64, &[f64])| -> f64 {
            let of =
                |(&said, &level): (&f64, &f64)| (level * (truth - said)).max((level - 1.0) * (truth - said));
            said.iter().zip(levels).map(of).sum()
        };
        let inside = |(truth, said): &(&f64, &[f64])| (said[0]..=said[count - 1]).contains(*truth);
        let below =
            |place: usize| each().filter(|(truth, said)| **truth <= said[place]).count() as f64 / rows;
        Self {
            pinball: each().map(pinball).sum::<f64>() / rows / count as f64,
            below: (0..count).map(below).collect(),
            coverage: each().filter(inside).count() as f64 / rows,
            nominal_coverage: levels[count - 1] - levels[0],
        }
    }
}

impl ValueMetrics {
    /// A sentence for the user where the model is no better than saying the mean of the values of every row.
    ///
    /// ```
    /// use gatewood::model::ValueMetrics;
    /// let metrics = ValueMetrics::of_values(&[1.0, 2.0, 3.0], &[2.0, 2.0, 2.0])?;
    /// assert_eq!(metrics.remark().unwrap(), "no better by its RMSE than saying the mean of every row");
    /// # Ok::<(), gatewood::Error>(())
    /// ```
    pub fn remark(&self) -> Option<String> {
        // Rows of one value alone say nothing about it; quantiles are not means.
        let is_told = self.quantiles.is_none() && self.baseline_rmse > 0.0 && self.rmse >= self.baseline_rmse;
        is_told.then(|| "no better by its RMSE than saying the mean of every row".to_owned())
    }

    /// Compares predictions with the true values of the same rows.
    ///
    /// # Errors
    /// When there are no rows, not as many of both, or the predictions are classes.
    pub fn new(truth: &[f64], prediction: &Prediction) -> Result<Self> {
        let values = prediction.values().ok_or_else(|| Error::data("the model says classes, not values"))?;
        let Some(quantiles) = prediction.quantiles() else { return Self::of_values(truth, &values) };
        let levels = quantiles.levels();
        let middle: Vec<f64> =
            values.iter().skip(quantiles.middle()).step_by(levels.len()).copied().collect();
        let metrics = Self::of_values(truth, &middle)?;
        Ok(Self { quantiles: Some(QuantileMetrics::new(truth, &values, levels)), ..metrics })
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
            quantiles: None,
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
    fn quantiles_are_measured() {
        let metrics = QuantileMetrics::new(&[1.0, 4.0], &[0.0, 2.0, 3.0, 3.5], &[0.25, 0.75]);
        // Row 1 lies between both, one above the lower and one below the higher; row 2 is above both.
        assert_eq!(metrics.pinball, (0.25 + 0.25 + 0.25 + 0.375) / 4.0);
        assert_eq!((metrics.below, metrics.coverage, metrics.nominal_coverage), (vec![0.0, 0.5], 0.5, 0.5));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        assert!(ValueMetrics::of_values(&[], &[]).unwrap_err().is_data());
        assert!(ValueMetrics::of_values(&[1.0], &[]).unwrap_err().is_data());
    }
}
