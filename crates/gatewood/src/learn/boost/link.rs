//! From margins to gradients, by tables, in fixed point.

use crate::bits::kernels::Kernels;
pub(super) use crate::bits::kernels::POINT;
use crate::circuit::VoteTree;

/// One, in fixed point.
pub(super) const ONE: u32 = 1 << POINT;

/// Largest Newton step, in log-odds, before the learning rate.
pub(super) const MAX_STEP: f64 = 2.0;

/// Log-odds beyond which a probability is taken to be at its limit.
const LIMIT: f64 = 15.0;

/// Turns margins into probabilities, and those into gradients.
#[derive(Debug, Clone)]
pub(super) struct Link {
    /// Two classes: the probability at each margin from `-limit` on. More: `exp(-unit * difference)`.
    logistic: Vec<u32>,
    exponential: Vec<f32>,
    limit: i32,
}

impl Link {
    pub(super) fn new(classes: usize, unit: f64) -> Self {
        // Finer units than this only come from rates no one uses; the tables stay small.
        let limit = (LIMIT / unit).clamp(1.0, (1 << 20) as f64) as i32;
        let (mut logistic, mut exponential) = (Vec::new(), Vec::new());
        if classes == 2 {
            logistic = (-limit..=limit)
                .map(|margin| {
                    let p = 1.0 / (1.0 + libm::exp(-unit * f64::from(margin)));
                    (libm::rint(p * f64::from(ONE)) as u32).clamp(1, ONE - 1)
                })
                .collect();
        } else {
            exponential = (0..=limit).map(|margin| libm::exp(-unit * f64::from(margin)) as f32).collect();
        }
        Self { logistic, exponential, limit }
    }

    /// Two classes: adds the votes of a tree to margins, given the address of every row, and brings their gradients up to
    /// date.
    pub(super) fn vote(
        &self,
        kernels: Kernels,
        (tree, addresses): (&VoteTree, &[u16]),
        labels: &[u32],
        margins: &mut [i32],
        gradients: &mut [i32],
    ) {
        kernels.vote(addresses, tree.votes(), &self.logistic, labels, margins, gradients);
    }

    /// How far margins fall short of what labels ask for; `margins[c]` and `out[c]` are of class `c`, or of class 1 where
    /// there are two.
    pub(super) fn gradients(&self, margins: &[&mut [i32]], labels: &[u32], out: &mut [&mut [i32]]) {
        if let ([margins], [out]) = (margins, &mut *out) {
            for ((gradient, &margin), &label) in out.iter_mut().zip(margins.iter()).zip(labels) {
                let place = margin.clamp(-self.limit, self.limit) + self.limit;
                *gradient = (label * ONE) as i32 - self.logistic[place as usize] as i32;
            }
            return;
        }
        self.softmax(margins, out);
        for (row, &label) in labels.iter().enumerate() {
            out[label as usize][row] += ONE as i32;
        }
    }

    /// Minus the probability of every class.
    fn softmax(&self, margins: &[&mut [i32]], out: &mut [&mut [i32]]) {
        const BLOCK: usize = 256;
        let rows = margins[0].len();
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
                    exponentials[i] = self.exponential[difference as usize];
                    sums[i] += exponentials[i];
                }
            }
            for sum in &mut sums[..width] {
                *sum = ONE as f32 / *sum;
            }
            for (out, exponentials) in out.iter_mut().zip(&exponentials) {
                for i in 0..width {
                    out[start + i] = -((exponentials[i] * sums[i]) as i32).clamp(1, ONE as i32 - 1);
                }
            }
        }
    }
}
