//! What a model says of rows.

use super::Circuit;
use crate::Result;
use crate::bits::BitView;
use crate::circuit::{self, Grove, Output, Quantiles, Tree, write_probabilities};

/// The class or the value of each row, with its margins where the circuit has them.
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
    /// What they say.
    output: Output,
}

impl Margins {
    /// Puts the quantiles of each row in order.
    fn arrange(&mut self) {
        if self.width > 1 && matches!(self.output, Output::Value(_)) {
            self.values.chunks_mut(self.width).for_each(|of_row| self.output.arrange(of_row));
        }
    }
}

impl Prediction {
    pub(super) fn run(circuit: &Circuit, bits: BitView<'_>, threads: usize) -> Result<Self> {
        match circuit {
            Circuit::Tree(tree) => Self::of_tree(tree, bits, threads),
            Circuit::Grove(grove) => Self::of_margins(grove, &grove.run(bits, threads)?),
        }
    }

    /// What the paper's tree says.
    pub(super) fn of_tree(tree: &Tree, bits: BitView<'_>, threads: usize) -> Result<Self> {
        let output = tree.run(bits, threads)?;
        let classes = (0..bits.rows()).map(|row| (output[row / 64] >> (row % 64) & 1) as u32).collect();
        Ok(Self { classes, margins: None })
    }

    /// What a grove says that gave these margins.
    pub(super) fn of_margins(grove: &Grove, margins: &circuit::Margins) -> Result<Self> {
        let (width, rows) = (grove.margins(), margins.rows());
        crate::memory::check(rows.saturating_mul(4 * width))?;
        let mut values = vec![0; rows.saturating_mul(width)];
        for margin in 0..width {
            for (value, &of_row) in values.iter_mut().skip(margin).step_by(width).zip(margins.column(margin))
            {
                *value = of_row;
            }
        }
        let classes = match grove.output() {
            Output::Classes(_) => margins.classes(),
            Output::Value(_) => Vec::new(),
        };
        let mut margins = Margins { width, values, unit: grove.unit(), output: grove.output() };
        margins.arrange();
        Ok(Self { classes, margins: Some(margins) })
    }

    /// What a circuit says of rows, given the class of each and, for a grove, their margins row by row.
    pub(super) fn of_rows(circuit: &Circuit, classes: Vec<u32>, values: Vec<i32>) -> Self {
        let margins = match circuit {
            Circuit::Tree(_) => None,
            Circuit::Grove(grove) => {
                let mut margins =
                    Margins { width: grove.margins(), values, unit: grove.unit(), output: grove.output() };
                margins.arrange();
                Some(margins)
            }
        };
        Self { classes, margins }
    }

    /// The class of each row; none where the circuit says values.
    pub fn classes(&self) -> &[u32] {
        &self.classes
    }

    /// The class of each row, by itself.
    pub fn into_classes(self) -> Vec<u32> {
        self.classes
    }

    /// The value of each row, where the circuit says values; with several quantiles, all of the first row, then of the next.
    pub fn values(&self) -> Option<Vec<f64>> {
        let margins = self.margins.as_ref()?;
        match margins.output {
            Output::Classes(_) => None,
            Output::Value(output) => {
                Some(margins.values.iter().map(|&margin| output.value(margin)).collect())
            }
        }
    }

    /// The quantiles that values are, where the circuit says some.
    pub fn quantiles(&self) -> Option<Quantiles> {
        match self.margins.as_ref()?.output {
            Output::Value(output) => Some(output.quantiles).filter(|quantiles| !quantiles.is_empty()),
            Output::Classes(_) => None,
        }
    }

    /// Margins a row, where there are any: 1 for two classes or a value, else one a class or quantile.
    pub fn width(&self) -> Option<usize> {
        self.margins.as_ref().map(|margins| margins.width)
    }

    /// The integer margins of all rows, row by row, where the circuit has them.
    pub fn margins(&self) -> Option<&[i32]> {
        self.margins.as_ref().map(|margins| &margins.values[..])
    }

    /// The probability of each class for a row, where the circuit has margins of classes.
    pub fn probabilities(&self, row: usize) -> Option<Vec<f64>> {
        let Margins { width, values, unit, output: Output::Classes(_) } = self.margins.as_ref()? else {
            return None;
        };
        let mut probabilities = vec![0.0; if *width == 1 { 2 } else { *width }];
        write_probabilities(*unit, &values[row * width..][..*width], &mut probabilities);
        Some(probabilities)
    }
}
