//! What validation rows are judged by.

use serde::{Deserialize, Serialize};

use crate::area::area_under_curve;

/// What the rounds that validation rows keep are chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum EvalMetric {
    /// The log loss of margins scaled to suit the rows.
    #[default]
    #[serde(alias = "log_loss", alias = "log-loss")]
    LogLoss,
    /// The share of rows whose class is wrong.
    Error,
    /// The area under the ROC curve; of several classes the mean over each against the others.
    Auc,
}

/// The area under the ROC curve: of one margin, that of the second class; else the mean over the classes that some rows
/// have and some have not. Nothing where all rows are of one class.
pub(super) fn mean_area(margins: &[Vec<i32>], targets: &[u32]) -> Option<f64> {
    let area = |margins: &[i32], class: u32| {
        area_under_curve(margins.iter().copied(), targets.iter().map(|&target| target == class))
    };
    if let [margin] = margins {
        return area(margin, 1);
    }
    let areas: Vec<f64> = (0..).zip(margins).filter_map(|(class, margins)| area(margins, class)).collect();
    (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_of_each_class_against_the_others() {
        assert_eq!(mean_area(&[vec![1, 2, 3, 3]], &[0, 0, 1, 0]), Some(2.5 / 3.0));
        assert_eq!(mean_area(&[vec![1, 2]], &[0, 0]), None);
        // The first class is in order, the second half so, no row is of the third.
        let margins = [vec![5, 1, 2], vec![1, 3, 3], vec![0, 0, 0]];
        assert_eq!(mean_area(&margins, &[0, 1, 0]), Some((1.0 + 0.75) / 2.0));
    }
}
