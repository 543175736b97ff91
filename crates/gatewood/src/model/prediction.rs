//! What a model says of rows.

use super::Circuit;
use crate::Result;
use crate::bits::BitView;
use crate::circuit::Grove;

/// The class of each row, with its margins where the circuit has them.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    classes: Vec<u32>,
    margins: Option<Margins>,
}

/// The margins of all rows.
#[derive(Debug, Clone, PartialEq)]
struct Margins {
    /// Margins a row.
    width: usize,
    values: Vec<i32>,
    /// The log-odds one vote is worth.
    unit: f64,
}

impl Prediction {
    pub(super) fn run(circuit: &Circuit, bits: BitView<'_>, threads: usize) -> Result<Self> {
        match circuit {
            Circuit::Tree(tree) => {
                let output = tree.run(bits, threads)?;
                let classes =
                    (0..bits.rows()).map(|row| (output[row / 64] >> (row % 64) & 1) as u32).collect();
                Ok(Self { classes, margins: None })
            }
            Circuit::Grove(grove) => Self::from_grove(grove, bits, threads),
        }
    }

    fn from_grove(grove: &Grove, bits: BitView<'_>, threads: usize) -> Result<Self> {
        let width = grove.margins();
        let margins = grove.run(bits, threads)?;
        let mut values = vec![0; bits.rows().saturating_mul(width)];
        for margin in 0..width {
            for (value, &of_row) in values.iter_mut().skip(margin).step_by(width).zip(margins.column(margin))
            {
                *value = of_row;
            }
        }
        let classes = margins.classes();
        Ok(Self { classes, margins: Some(Margins { width, values, unit: grove.unit() }) })
    }

    /// The class of each row.
    pub fn classes(&self) -> &[u32] {
        &self.classes
    }

    /// Margins a row, where there are any: 1 for two classes, else one a class.
    pub fn width(&self) -> Option<usize> {
        self.margins.as_ref().map(|margins| margins.width)
    }

    /// The integer margins of all rows, row by row, where the circuit has them.
    pub fn margins(&self) -> Option<&[i32]> {
        self.margins.as_ref().map(|margins| &margins.values[..])
    }

    /// The probability of each class for a row, where the circuit has margins.
    pub fn probabilities(&self, row: usize) -> Option<Vec<f64>> {
        let Margins { width, values, unit } = self.margins.as_ref()?;
        let margins = &values[row * width..][..*width];
        if let [margin] = margins {
            let one = 1.0 / (1.0 + libm::exp(-unit * f64::from(*margin)));
            return Some(vec![1.0 - one, one]);
        }
        let largest = f64::from(*margins.iter().max()?);
        let weights: Vec<f64> =
            margins.iter().map(|&margin| libm::exp(unit * (f64::from(margin) - largest))).collect();
        let all: f64 = weights.iter().sum();
        Some(weights.into_iter().map(|weight| weight / all).collect())
    }
}
