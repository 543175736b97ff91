//! Values: one margin, the value in fixed point.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::value_scale::in_ranges;
use super::{Hessian, Loss, ONE, Objective, ValueScale, WEIGHT_ONE};
use crate::bits::kernels::Kernels;
use crate::circuit::Output;
use crate::{Error, Result};

/// What is made small where values are learned.
///
/// As text, and so on the command line, in Python and in files: `squared` or `huber`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum ValueLoss {
    /// The squared difference, for the mean.
    #[default]
    Squared,
    /// The squared difference up to a standard deviation of the target, and in proportion beyond it.
    Huber,
}

impl ValueLoss {
    /// What it is called in sentences.
    pub fn words(self) -> &'static str {
        match self {
            Self::Squared => "squared error",
            Self::Huber => "Huber loss",
        }
    }
}

impl fmt::Display for ValueLoss {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Squared => "squared",
            Self::Huber => "huber",
        })
    }
}

impl FromStr for ValueLoss {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "squared" => Ok(Self::Squared),
            "huber" => Ok(Self::Huber),
            _ => Err(Error::setting(format!("{text} is not an objective: there are squared and huber"))),
        }
    }
}

impl TryFrom<String> for ValueLoss {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<ValueLoss> for String {
    fn from(loss: ValueLoss) -> Self {
        loss.to_string()
    }
}

/// Learns values: the margin is the value in ranges above the offset of a [`ValueScale`].
#[derive(Debug, Clone)]
pub struct Regression {
    loss: ValueLoss,
    scale: ValueScale,
    unit: f64,
}

impl Regression {
    /// For targets of such a scale, and votes that are worth `unit` ranges each.
    pub fn new(loss: ValueLoss, scale: ValueScale, unit: f64) -> Self {
        Self { loss, scale, unit }
    }

    /// How far a margin falls short, in ranges.
    fn short(&self, margin: i32, target: u32) -> f64 {
        in_ranges(target) - self.unit * f64::from(margin)
    }

    /// The loss of a row that falls short so far. It is one, on average, for squared error and margins at the mean.
    fn loss_of(&self, short: f64) -> f64 {
        let short = short / self.scale.spread();
        match self.loss {
            ValueLoss::Squared => short * short,
            ValueLoss::Huber if short.abs() <= 1.0 => short * short,
            ValueLoss::Huber => 2.0 * short.abs() - 1.0,
        }
    }
}

impl Objective for Regression {
    fn margins(&self) -> usize {
        1
    }

    fn accepts(&self, _: u32) -> bool {
        true
    }

    fn totals(&self, targets: &[u32], weights: &[u32]) -> Vec<i64> {
        let mut totals = vec![0; 2];
        for (row, &target) in targets.iter().enumerate() {
            let weight = i64::from(*weights.get(row).unwrap_or(&WEIGHT_ONE));
            // Shifted so that four billion rows add up in 64 bits.
            totals[0] += i64::from(target as i32 >> 8) * weight;
            totals[1] += weight;
        }
        totals
    }

    fn bias(&self, totals: &[i64]) -> Result<Vec<i32>> {
        let &[sum, weight @ 1..=i64::MAX] = totals else {
            return Err(Error::data("all rows have weight zero"));
        };
        let start = sum as f64 / weight as f64 * 256.0 / f64::from(1u32 << 30);
        Ok(vec![libm::rint((start / self.unit).clamp(-1e9, 1e9)) as i32])
    }

    fn gradients(&self, margins: &[&[i32]], targets: &[u32], gradients: &mut [&mut [i32]]) {
        let most = match self.loss {
            ValueLoss::Squared => 1.0,
            ValueLoss::Huber => self.scale.spread().min(1.0),
        };
        for ((gradient, &margin), &target) in gradients[0].iter_mut().zip(margins[0]).zip(targets) {
            *gradient = (self.short(margin, target).clamp(-most, most) * f64::from(ONE)) as i32;
        }
    }

    fn loss(&self, _: Kernels, margins: &[&[i32]], _: &[&[i32]], targets: &[u32]) -> Loss {
        let rows = margins[0].iter().zip(targets);
        Loss::new(0, rows.map(|(&margin, &target)| self.loss_of(self.short(margin, target))).sum())
    }

    /// Values are not scaled: the factor stays what it is.
    fn scaled(&self, margins: &[i32], target: u32, _: f64, _: f64) -> [f64; 3] {
        [self.loss_of(self.short(margins[0], target)), 0.0, 0.0]
    }

    fn max_step(&self) -> f64 {
        0.5
    }

    /// A power of two, so that what a margin stands for is exact.
    fn unit(&self, wanted: f64) -> f64 {
        libm::exp2(libm::ceil(libm::log2(wanted)).clamp(-28.0, 0.0))
    }

    fn classifies(&self) -> bool {
        false
    }

    fn output(&self) -> Output {
        Output::Value { offset: self.scale.offset(), scale: self.scale.range() * self.unit }
    }

    fn hessian(&self) -> Hessian {
        Hessian::One
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_have_names() {
        for text in ["squared", "huber"] {
            assert_eq!(text.parse::<ValueLoss>().unwrap().to_string(), text);
        }
        for text in ["mse", "Huber", ""] {
            assert!(text.parse::<ValueLoss>().unwrap_err().is_setting(), "{text}");
        }
    }

    /// Gradients fall short as the loss does, and are never more than one.
    #[test]
    fn gradients_point_where_the_loss_falls() {
        let values = [0.0, 1.0, 2.0, 10.0];
        let scale = ValueScale::of(&values).unwrap();
        let targets: Vec<u32> = values.iter().map(|&value| scale.target(value)).collect();
        for loss in [ValueLoss::Squared, ValueLoss::Huber] {
            let objective = Regression::new(loss, scale, 1.0 / 4096.0);
            for margin in [-4000, -700, 0, 300, 4000] {
                let margins = vec![margin; values.len()];
                let mut gradients = vec![0; values.len()];
                objective.gradients(&[&margins], &targets, &mut [&mut gradients]);
                for (&target, &gradient) in targets.iter().zip(&gradients) {
                    let slope = objective.loss_of(objective.short(margin + 1, target))
                        - objective.loss_of(objective.short(margin - 1, target));
                    assert!(slope * f64::from(gradient) <= 0.0, "{loss} {margin}");
                    assert!(gradient.abs() <= ONE);
                }
            }
        }
    }

    /// Margins start at the mean.
    #[test]
    fn margins_start_where_no_column_is_needed() {
        let values: Vec<f64> = (0..1000).map(|row| f64::from(row) / 10.0).chain([500.0; 10]).collect();
        let scale = ValueScale::of(&values).unwrap();
        let targets: Vec<u32> = values.iter().map(|&value| scale.target(value)).collect();
        let mean = values.iter().sum::<f64>() / 1010.0;
        let objective = Regression::new(ValueLoss::Squared, scale, 1.0 / 65536.0);
        let bias = objective.bias(&objective.totals(&targets, &[])).unwrap()[0];
        let Output::Value { offset, scale } = objective.output() else { unreachable!() };
        let start = offset + scale * f64::from(bias);
        assert!((start - mean).abs() < 0.01, "{start}");
        assert!(objective.bias(&[0, 0]).unwrap_err().is_data());
    }
}
