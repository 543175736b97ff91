//! Two classes: one margin, the log-odds of class 1.

use super::{Loss, ONE, Objective, class_totals, in_votes, log_shares};
use crate::Result;
use crate::bits::kernels::Kernels;
use crate::learn::device::DeviceObjective;

/// The logistic loss of two classes.
#[derive(Debug, Clone)]
pub struct Logistic {
    unit: f64,
    /// The probability of class 1 at each margin from `-limit` on, in fixed point.
    probabilities: Vec<u32>,
    limit: i32,
}

impl Logistic {
    /// For votes that are worth `unit` of log-odds each.
    pub fn new(unit: f64) -> Self {
        let limit = super::limit(unit);
        let probability = |margin: i32| {
            let p = 1.0 / (1.0 + libm::exp(-unit * f64::from(margin)));
            (libm::rint(p * f64::from(ONE)) as u32).clamp(1, ONE as u32 - 1)
        };
        Self { unit, probabilities: (-limit..=limit).map(probability).collect(), limit }
    }
}

impl Objective for Logistic {
    fn margins(&self) -> usize {
        1
    }

    fn recipe(&self) -> Option<super::Recipe> {
        Some(super::Recipe::Classes { classes: 2, unit: self.unit })
    }

    fn accepts(&self, target: u32) -> bool {
        target < 2
    }

    fn totals(&self, targets: &[u32], weights: &[u32]) -> Vec<i64> {
        class_totals(2, targets, weights)
    }

    fn bias(&self, totals: &[i64]) -> Result<Vec<i32>> {
        let shares = log_shares(totals)?;
        Ok(vec![in_votes(shares[1] - shares[0], self.unit)])
    }

    fn stratum(&self, target: u32) -> u32 {
        target
    }

    fn gradients(&self, margins: &[&[i32]], targets: &[u32], gradients: &mut [&mut [i32]]) {
        for ((gradient, &margin), &target) in gradients[0].iter_mut().zip(margins[0]).zip(targets) {
            let place = margin.clamp(-self.limit, self.limit) + self.limit;
            *gradient = target as i32 * ONE - self.probabilities[place as usize] as i32;
        }
    }

    fn loss(&self, kernels: Kernels, margins: &[&[i32]], gradients: &[&[i32]], _: &[u32]) -> Loss {
        // The gradient of a row of class 1 is above zero.
        let is_wrong = |(&margin, &gradient): (&i32, &i32)| (margin > 0) != (gradient > 0);
        let wrong = margins[0].iter().zip(gradients[0]).filter(|&row| is_wrong(row)).count();
        Loss::new(wrong as u64, -kernels.log_likelihood(gradients[0]))
    }

    fn scaled(&self, margins: &[i32], target: u32, factor: f64, doubt: f64) -> [f64; 3] {
        let margin = self.unit * f64::from(margins[0]);
        let lead = if target == 1 { margin } else { -margin };
        let odds = libm::exp((-factor * lead).clamp(-700.0, 700.0));
        let wrong = odds / (1.0 + odds);
        let doubt = doubt / 2.0;
        [
            libm::log1p(odds) + doubt * factor * lead,
            lead * (doubt - wrong),
            lead * lead * wrong * (1.0 - wrong),
        ]
    }

    fn on_device(&self) -> DeviceObjective<'_> {
        DeviceObjective::Logistic { probabilities: &self.probabilities }
    }

    fn update(
        &self,
        kernels: Kernels,
        votes: &[i32],
        addresses: &[u16],
        targets: &[u32],
        margins: &mut [i32],
        gradients: &mut [i32],
    ) {
        kernels.vote(addresses, votes, &self.probabilities, targets, margins, gradients);
    }
}
