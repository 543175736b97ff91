//! Many classes: one margin for each, the logarithm of its probability up to a constant.

use super::{Loss, ONE, Objective, class_totals, in_votes, log_shares};
use crate::Result;
use crate::bits::kernels::Kernels;
use crate::learn::device::DeviceObjective;

/// Rows whose probabilities are made at a time.
const BLOCK: usize = 256;

/// The softmax loss of several classes.
#[derive(Debug, Clone)]
pub struct Softmax {
    classes: usize,
    unit: f64,
    /// `exp(-unit * difference)` for each difference of margins.
    exponentials: Vec<f32>,
    limit: i32,
}

impl Softmax {
    /// For so many classes, and votes that are worth `unit` of log-odds each.
    pub fn new(classes: usize, unit: f64) -> Self {
        let limit = super::limit(unit);
        let exponentials = (0..=limit).map(|margin| libm::exp(-unit * f64::from(margin)) as f32).collect();
        Self { classes, unit, exponentials, limit }
    }
}

impl Objective for Softmax {
    fn margins(&self) -> usize {
        self.classes
    }

    fn recipe(&self) -> Option<super::Recipe> {
        Some(super::Recipe::Classes { classes: self.classes, unit: self.unit })
    }

    fn accepts(&self, target: u32) -> bool {
        (target as usize) < self.classes
    }

    fn totals(&self, targets: &[u32], weights: &[u32]) -> Vec<i64> {
        class_totals(self.classes, targets, weights)
    }

    fn bias(&self, totals: &[i64]) -> Result<Vec<i32>> {
        Ok(log_shares(totals)?.into_iter().map(|share| in_votes(share, self.unit)).collect())
    }

    fn stratum(&self, target: u32) -> u32 {
        target
    }

    fn gradients(&self, margins: &[&[i32]], targets: &[u32], gradients: &mut [&mut [i32]]) {
        let rows = targets.len();
        let mut exponentials = vec![[0f32; BLOCK]; margins.len()];
        for start in (0..rows).step_by(BLOCK) {
            let width = BLOCK.min(rows - start);
            let mut largest = [i32::MIN; BLOCK];
            for margins in margins {
                for (largest, &margin) in largest.iter_mut().zip(&margins[start..start + width]) {
                    *largest = margin.max(*largest);
                }
            }
            let mut sums = [0f32; BLOCK];
            for (margins, exponentials) in margins.iter().zip(&mut exponentials) {
                for i in 0..width {
                    let difference = largest[i].saturating_sub(margins[start + i]).min(self.limit);
                    exponentials[i] = self.exponentials[difference as usize];
                    sums[i] += exponentials[i];
                }
            }
            for sum in &mut sums[..width] {
                *sum = ONE as f32 / *sum;
            }
            for (gradients, exponentials) in gradients.iter_mut().zip(&exponentials) {
                for i in 0..width {
                    gradients[start + i] = -((exponentials[i] * sums[i]) as i32).clamp(1, ONE - 1);
                }
            }
        }
        for (row, &target) in targets.iter().enumerate() {
            gradients[target as usize][row] += ONE;
        }
    }

    fn loss(&self, kernels: Kernels, margins: &[&[i32]], gradients: &[&[i32]], targets: &[u32]) -> Loss {
        let best = |row: usize| {
            (1..margins.len())
                .fold(0, |best, class| if margins[class][row] > margins[best][row] { class } else { best })
        };
        let wrong = (0..targets.len()).filter(|&row| best(row) != targets[row] as usize).count();
        let own: Vec<i32> =
            targets.iter().enumerate().map(|(row, &target)| gradients[target as usize][row]).collect();
        Loss::new(wrong as u64, -kernels.log_likelihood(&own))
    }

    fn on_device(&self) -> DeviceObjective<'_> {
        DeviceObjective::Softmax { exponentials: &self.exponentials }
    }

    fn scaled(&self, margins: &[i32], target: u32, factor: f64, doubt: f64) -> [f64; 3] {
        let margin = |class: usize| self.unit * f64::from(margins[class]);
        let most = (0..margins.len()).map(margin).fold(f64::NEG_INFINITY, f64::max);
        let (mut all, mut mean, mut square, mut plain) = (0.0, 0.0, 0.0, 0.0);
        for class in 0..margins.len() {
            let below = margin(class) - most;
            let share = libm::exp(factor * below);
            all += share;
            mean += share * below;
            square += share * below * below;
            plain += below;
        }
        let own = (margin(target as usize) - most) * (1.0 - doubt) + plain / margins.len() as f64 * doubt;
        mean /= all;
        [libm::log(all) - factor * own, mean - own, square / all - mean * mean]
    }
}
