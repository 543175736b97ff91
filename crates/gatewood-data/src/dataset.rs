//! Rows with their classes, split for training and testing.

use gatewood::encode::{EncodeSettings, ImageShape, Labels, Table};
use gatewood::{Error, Result};

/// Raw rows and the class of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// The raw columns, the label not among them.
    pub table: Table,
    /// The class of each row.
    pub labels: Labels,
    /// What each row counts for; one each where not given.
    pub weights: Option<Vec<f64>>,
}

impl Split {
    /// Rows and their classes.
    ///
    /// # Errors
    /// When there are not as many classes as rows.
    pub fn new(table: Table, labels: Labels) -> Result<Self> {
        if table.rows() != labels.len() {
            return Err(Error::data(format!("there are {} rows but {} labels", table.rows(), labels.len())));
        }
        Ok(Self { table, labels, weights: None })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// The given rows of this split, in that order.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn select_rows(&self, rows: &[usize]) -> Result<Self> {
        let weights = self.weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect());
        Ok(Self { table: self.table.select_rows(rows)?, labels: self.labels.select_rows(rows), weights })
    }
}

/// A data set: training rows, test rows where the set has them, and what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// The name it was asked for by.
    pub name: String,
    /// The rows to learn from.
    pub train: Split,
    /// The rows to test on. The classes are those of the training rows.
    pub test: Option<Split>,
    /// The name of the label's column, where it had one.
    pub label: Option<String>,
    /// How the columns make an image, if they do.
    pub image: Option<ImageShape>,
    /// How its columns become bits, unless the user says otherwise.
    pub encode: EncodeSettings,
    /// Where the rows and the split come from, in a sentence.
    pub source: String,
    /// Under what terms they may be used, as far as known; empty for a file of the user's.
    pub licence: String,
    /// What was found out in doubt, in a sentence for the user.
    pub note: Option<String>,
}

impl Dataset {
    /// The names of the classes.
    pub fn classes(&self) -> &[String] {
        self.train.labels.classes()
    }

    /// Test rows, or none.
    pub fn test_rows(&self) -> usize {
        self.test.as_ref().map_or(0, Split::rows)
    }
}
