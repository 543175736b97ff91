//! Counts: one margin, the logarithm of their mean.

use super::regression::{mean_of, mean_totals};
use super::value_scale::in_ranges;
use super::{Hessian, Loss, ONE, Objective, ValueScale};
use crate::Result;
use crate::bits::kernels::Kernels;
use crate::circuit::{Output, ValueOutput};

/// The deviance of counts whose mean is the exponential of the margin.
#[derive(Debug, Clone)]
pub struct Poisson {
    scale: ValueScale,
    unit: f64,
    /// What the logarithm of a mean is held below: twice the range of the targets.
    highest: f64,
}

impl Poisson {
    /// For targets of such a scale, and votes that are worth `unit` of the logarithm each.
    pub fn new(scale: ValueScale, unit: f64) -> Self {
        Self { scale, unit, highest: libm::log(2.0 * scale.range()) }
    }

    /// The mean that a margin stands for, in ranges.
    fn mean(&self, margin: i32) -> f64 {
        libm::exp((self.unit * f64::from(margin)).min(self.highest)) / self.scale.range()
    }

    /// The deviance of a row, as a multiple of the mean target.
    fn loss_of(&self, margin: i32, target: u32) -> f64 {
        let (count, mean) = (in_ranges(target), self.mean(margin).max(f64::MIN_POSITIVE));
        let log = if count > 0.0 { count * libm::log(count / mean) } else { 0.0 };
        2.0 * (log - count + mean) / self.scale.mean()
    }
}

impl Objective for Poisson {
    fn margins(&self) -> usize {
        1
    }

    fn recipe(&self) -> Option<super::Recipe> {
        Some(super::Recipe::Values { loss: super::ValueLoss::Poisson, scale: self.scale, unit: self.unit })
    }

    fn accepts(&self, target: u32) -> bool {
        target as i32 >= 0
    }

    fn totals(&self, targets: &[u32], weights: &[u32]) -> Vec<i64> {
        mean_totals(targets, weights).to_vec()
    }

    fn bias(&self, totals: &[i64]) -> Result<Vec<i32>> {
        let mean = mean_of(totals)? * self.scale.range();
        let start = libm::log(mean.max(self.scale.range() * 1e-9));
        Ok(vec![libm::rint((start / self.unit).clamp(-1e9, 1e9)) as i32])
    }

    fn gradients(&self, margins: &[&[i32]], targets: &[u32], gradients: &mut [&mut [i32]]) {
        for ((gradient, &margin), &target) in gradients[0].iter_mut().zip(margins[0]).zip(targets) {
            let short = in_ranges(target) - self.mean(margin);
            *gradient = (short.clamp(-1.0, 1.0) * f64::from(ONE)) as i32;
        }
    }

    fn loss(&self, _: Kernels, margins: &[&[i32]], _: &[&[i32]], targets: &[u32]) -> Loss {
        let rows = margins[0].iter().zip(targets);
        Loss::new(0, rows.map(|(&margin, &target)| self.loss_of(margin, target)).sum())
    }

    /// Values are not scaled: the factor stays what it is.
    fn scaled(&self, margins: &[i32], target: u32, _: f64, _: f64) -> [f64; 3] {
        [self.loss_of(margins[0], target), 0.0, 0.0]
    }

    fn max_step(&self) -> f64 {
        1.0
    }

    /// A power of two, so that what a margin stands for is exact.
    fn unit(&self, wanted: f64) -> f64 {
        super::regression::power_of_two(wanted)
    }

    fn classifies(&self) -> bool {
        false
    }

    fn output(&self) -> Output {
        Output::Value(ValueOutput::new(0.0, self.unit).in_logarithm(true))
    }

    fn hessian(&self) -> Hessian {
        Hessian::Count
    }

    /// A row of the mean has a hessian of the mean, in ranges.
    fn reg_lambda(&self, wanted: f64) -> f64 {
        wanted * self.scale.mean()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_start_at_the_mean_and_gradients_point_to_it() {
        let values: Vec<f64> = (0..100).map(|row| f64::from(row % 7)).collect();
        let scale = ValueScale::of_counts(&values).unwrap();
        let targets: Vec<u32> = values.iter().map(|&value| scale.target(value)).collect();
        let objective = Poisson::new(scale, 1.0 / 65536.0);
        let bias = objective.bias(&objective.totals(&targets, &[])).unwrap();
        let Output::Value(output) = objective.output() else { unreachable!() };
        let mean = values.iter().sum::<f64>() / 100.0;
        assert!((output.value(bias[0]) - mean).abs() < 0.001);
        let margins = vec![bias[0]; 100];
        let mut gradients = vec![0; 100];
        objective.gradients(&[&margins], &targets, &mut [&mut gradients]);
        for (&value, &gradient) in values.iter().zip(&gradients) {
            assert_eq!(gradient > 0, value > mean, "{value}");
        }
        let at = |shift: i32| {
            targets.iter().map(|&target| objective.loss_of(bias[0] + shift, target)).sum::<f64>()
        };
        assert!(at(0) < at(3000) && at(0) < at(-3000));
    }
}
