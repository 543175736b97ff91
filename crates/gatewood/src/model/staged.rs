//! What a grove says after some of its trees.

use super::{Circuit, Prediction, Predictor, Rows};
use crate::circuit::Grove;
use crate::{Error, Result};

impl Predictor {
    /// What the model says of rows after its first trees: one prediction for each number of trees, which must not fall.
    ///
    /// # Errors
    /// As [`Predictor::predict`]; also for a single tree, and when there are fewer trees.
    pub fn predict_stages(&self, rows: Rows<'_>, trees: &[usize], threads: usize) -> Result<Vec<Prediction>> {
        let Circuit::Grove(grove) = self.model().circuit() else {
            return Err(Error::data("a single tree has no stages: use a grove"));
        };
        if !trees.is_sorted() || trees.last().is_some_and(|&last| last > grove.trees().len()) {
            return Err(Error::data(format!(
                "stages must not fall, and end at {} trees at the latest",
                grove.trees().len()
            )));
        }
        let bits = self.encode(rows, threads)?;
        let mut margins: Vec<Vec<i32>> = grove.bias().iter().map(|&bias| vec![bias; rows.len()]).collect();
        let mut stages = Vec::with_capacity(trees.len());
        let mut before = 0;
        for &end in trees {
            grove.add_trees(&grove.trees()[before..end], bits.view(), &mut margins)?;
            before = end;
            let values: Vec<i32> =
                (0..rows.len()).flat_map(|row| margins.iter().map(move |of_rows| of_rows[row])).collect();
            let classes = values.chunks_exact(margins.len()).map(|row| Grove::class_of(row) as u32).collect();
            stages.push(Prediction::of_rows(self.model().circuit(), classes, values));
        }
        Ok(stages)
    }
}
