//! How good predictions are.

use serde::Serialize;

use super::Prediction;
use crate::area::area_under_curve;
use crate::text::quote;
use crate::{Error, Result};

/// How predictions compare with the true classes.
///
/// ```
/// use gatewood::model::Metrics;
/// let metrics = Metrics::of_classes(2, &[0, 0, 1, 1], &[0, 1, 1, 1])?;
/// assert_eq!(metrics.confusion, [[1, 1], [0, 2]]);
/// assert_eq!((metrics.error, metrics.balanced_accuracy), (0.25, 0.75));
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Metrics {
    /// Rows compared.
    pub rows: usize,
    /// `confusion[t][p]` is the number of rows of class `t` that were said to be of class `p`.
    pub confusion: Vec<Vec<u64>>,
    /// The share of rows that were right.
    pub accuracy: f64,
    /// The share of rows that were wrong.
    pub error: f64,
    /// The share of rows that are wrong when every row is said to be of the most frequent class.
    pub baseline_error: f64,
    /// The mean over the classes that occur of the share of their rows that were right.
    pub balanced_accuracy: f64,
    /// For two classes, the F1 score of class 1; for more, the mean of the F1 scores of all classes that occur.
    pub f1: f64,
    /// The area under the ROC curve, where there are margins: for more than two classes, the mean over the classes of each
    /// against the rest. Absent when only one class occurs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// The mean over the rows of minus the logarithm of the probability of their class, where there are probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_loss: Option<f64>,
}

impl Metrics {
    /// Compares predictions with the true classes of the same rows, `classes` of them.
    ///
    /// # Errors
    /// When there are no rows, not as many of both, or a class is not among them.
    pub fn new(classes: usize, truth: &[u32], prediction: &Prediction) -> Result<Self> {
        let mut metrics = Self::of_classes(classes, truth, prediction.classes())?;
        if let (Some(margins), Some(width)) = (prediction.margins(), prediction.width()) {
            metrics.auc = if width == 1 {
                area_under_curve(margins.iter().copied(), truth.iter().map(|&class| class == 1))
            } else {
                let each = (0..width).filter_map(|class| {
                    let margins = margins.chunks(width).map(|margins| margins[class]);
                    area_under_curve(margins, truth.iter().map(|&truth| truth as usize == class))
                });
                let areas: Vec<f64> = each.collect();
                (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64)
            };
        }
        metrics.log_loss = log_loss(truth, prediction);
        Ok(metrics)
    }

    /// A sentence for the user where the model is no better than saying the most frequent class of every row.
    ///
    /// ```
    /// use gatewood::model::Metrics;
    /// let names = ["no".to_owned(), "yes".to_owned()];
    /// let metrics = Metrics::of_classes(2, &[0, 0, 0, 1], &[0, 0, 0, 0])?;
    /// assert_eq!(metrics.remark(&names).unwrap(), "no better than saying \"no\" of every row");
    /// # Ok::<(), gatewood::Error>(())
    /// ```
    pub fn remark(&self, classes: &[String]) -> Option<String> {
        let rows = |class: usize| self.confusion[class].iter().sum::<u64>();
        let most = (0..self.confusion.len()).max_by_key(|&class| (rows(class), std::cmp::Reverse(class)))?;
        // Rows of one class alone say nothing about it.
        if self.baseline_error == 0.0 || self.error < self.baseline_error {
            return None;
        }
        Some(format!("no better than saying {} of every row", quote(classes.get(most)?)))
    }

    /// Compares predicted with true classes, without margins.
    ///
    /// # Errors
    /// As [`Metrics::new`].
    pub fn of_classes(classes: usize, truth: &[u32], predicted: &[u32]) -> Result<Self> {
        if truth.len() != predicted.len() {
            return Err(Error::data(format!("{} predictions for {} rows", predicted.len(), truth.len())));
        }
        if truth.is_empty() {
            return Err(Error::data("there are no rows to compare"));
        }
        let mut confusion = vec![vec![0u64; classes]; classes];
        for (row, (&truth, &said)) in truth.iter().zip(predicted).enumerate() {
            let cell = confusion.get_mut(truth as usize).and_then(|line| line.get_mut(said as usize));
            let cell = cell.ok_or_else(|| {
                Error::data(format!(
                    "row {row} is of class {truth} or {said}, but there are {classes} classes"
                ))
            })?;
            *cell += 1;
        }
        let right: u64 = (0..classes).map(|class| confusion[class][class]).sum();
        let of_class = |class: usize| confusion[class].iter().sum::<u64>();
        let said_class = |class: usize| confusion.iter().map(|line| line[class]).sum::<u64>();
        let recalls: Vec<f64> = (0..classes)
            .filter(|&class| of_class(class) > 0)
            .map(|class| confusion[class][class] as f64 / of_class(class) as f64)
            .collect();
        let f1 = |class: usize| match of_class(class) + said_class(class) {
            0 => None,
            both => Some(2.0 * confusion[class][class] as f64 / both as f64),
        };
        let scores: Vec<f64> =
            if classes == 2 { f1(1).into_iter().collect() } else { (0..classes).filter_map(f1).collect() };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let rows = truth.len();
        Ok(Self {
            rows,
            accuracy: right as f64 / rows as f64,
            error: (rows as u64 - right) as f64 / rows as f64,
            balanced_accuracy: mean(&recalls),
            f1: mean(&scores),
            baseline_error: (rows as u64 - (0..classes).map(of_class).max().unwrap_or(0)) as f64
                / rows as f64,
            auc: None,
            log_loss: None,
            confusion,
        })
    }
}

/// The mean of minus the logarithm of the probability of the true class.
fn log_loss(truth: &[u32], prediction: &Prediction) -> Option<f64> {
    let mut sum = 0.0;
    for (row, &class) in truth.iter().enumerate() {
        let probability = *prediction.probabilities(row)?.get(class as usize)?;
        // No probability is quite zero.
        sum -= libm::log(probability.max(1e-15));
    }
    Some(sum / truth.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_figures() {
        let metrics = Metrics::of_classes(3, &[0, 0, 0, 1, 1, 2], &[0, 0, 1, 1, 1, 0]).unwrap();
        assert_eq!(metrics.confusion, [[2, 1, 0], [0, 2, 0], [1, 0, 0]]);
        assert!((metrics.accuracy - 4.0 / 6.0).abs() < 1e-15);
        assert!((metrics.balanced_accuracy - (2.0 / 3.0 + 1.0) / 3.0).abs() < 1e-15);
        // F1 of 2/3, 4/5 and 0.
        assert!((metrics.f1 - (2.0 / 3.0 + 0.8) / 3.0).abs() < 1e-15);
        let two = Metrics::of_classes(2, &[0, 1, 1, 1], &[1, 1, 1, 0]).unwrap();
        assert!((two.f1 - 4.0 / 6.0).abs() < 1e-15);
    }

    #[test]
    fn a_model_that_says_one_class_is_told_of() {
        let names = ["no", "yes"].map(str::to_owned);
        let rare = |said: &[u32]| Metrics::of_classes(2, &[0, 0, 0, 0, 0, 0, 0, 0, 1, 1], said).unwrap();
        let always = rare(&[0; 10]);
        assert_eq!((always.error, always.baseline_error), (0.2, 0.2));
        assert!(always.remark(&names).is_some());
        assert!(rare(&[1, 1, 0, 0, 0, 0, 0, 0, 1, 1]).remark(&names).is_some());
        assert_eq!(rare(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 1]).remark(&names), None);
        let one_class = Metrics::of_classes(2, &[1, 1], &[1, 0]).unwrap();
        assert_eq!((one_class.baseline_error, one_class.remark(&names)), (0.0, None));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        for (truth, said) in [(&[][..], &[][..]), (&[0], &[0, 1]), (&[2], &[0]), (&[0], &[2])] {
            assert!(Metrics::of_classes(2, truth, said).unwrap_err().is_data());
        }
    }

    #[test]
    fn one_class_has_no_area() {
        assert_eq!(area_under_curve([1, 2].into_iter(), [true, true].into_iter()), None);
        assert_eq!(area_under_curve([1, 2].into_iter(), [false, true].into_iter()), Some(1.0));
        assert_eq!(area_under_curve([1, 1].into_iter(), [false, true].into_iter()), Some(0.5));
    }

    proptest! {
        #[test]
        fn the_area_is_the_chance_of_pairs_in_order(rows in proptest::collection::vec((-3i32..3, any::<bool>()), 1..40)) {
            let found = area_under_curve(rows.iter().map(|row| row.0), rows.iter().map(|row| row.1));
            let (mut twice, mut pairs) = (0, 0);
            for yes in rows.iter().filter(|row| row.1) {
                for no in rows.iter().filter(|row| !row.1) {
                    pairs += 1;
                    twice += match yes.0.cmp(&no.0) { std::cmp::Ordering::Greater => 2, std::cmp::Ordering::Equal => 1, _ => 0 };
                }
            }
            prop_assert_eq!(found, (pairs > 0).then(|| f64::from(twice) / f64::from(2 * pairs)));
        }
    }
}
