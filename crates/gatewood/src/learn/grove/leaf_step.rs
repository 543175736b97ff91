//! From sums of gradients to votes: the step of a leaf.

use crate::bits::kernels::{POINT, Sums};

/// How votes are made of sums.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeafStep {
    /// Votes a unit of log-odds is worth, times the learning rate.
    scale: f64,
    /// Largest vote.
    limit: f64,
    /// Whether all votes are one or minus one.
    yes_or_no: bool,
    /// The log-odds of one vote.
    unit: f64,
    /// Added to the hessian, in rows of the most hessian.
    reg_lambda: f64,
}

impl LeafStep {
    /// What one vote is worth, so that the largest is the longest step.
    pub(crate) fn unit(max_step: f64, learning_rate: f64, vote_bits: u32) -> f64 {
        learning_rate * max_step / Self::limit(vote_bits)
    }

    fn limit(vote_bits: u32) -> f64 {
        f64::from((1u32 << (vote_bits - 1)).max(2) - 1)
    }

    pub(crate) fn new(learning_rate: f64, vote_bits: u32, unit: f64, reg_lambda: f64) -> Self {
        Self {
            scale: learning_rate / unit,
            limit: Self::limit(vote_bits),
            yes_or_no: vote_bits == 1,
            unit,
            reg_lambda,
        }
    }

    /// The vote of one address: a Newton step, shrunk and rounded.
    pub(crate) fn vote(&self, sums: Sums) -> i32 {
        self.moved(0, sums)
    }

    /// A vote moved by such a step.
    pub(crate) fn moved(&self, vote: i32, sums: Sums) -> i32 {
        let (gradient, hessian) = rows_of(sums);
        let step = gradient / (hessian + self.reg_lambda) * self.scale;
        let moved = f64::from(vote) + step;
        match self.yes_or_no {
            true if moved > 0.0 => 1,
            true => -1,
            false => libm::rint(moved.clamp(-self.limit, self.limit)) as i32,
        }
    }

    /// What the loss grows by, to the second order, when the votes of an address grow by some.
    pub(crate) fn cost(&self, sums: Sums, votes: i32) -> f64 {
        let (gradient, hessian) = rows_of(sums);
        let step = f64::from(votes) * self.unit;
        step * (0.5 * hessian * step - gradient)
    }
}

/// Gradient and hessian in rows: sums are in fixed point and weights in units of 2^-8.
fn rows_of(sums: Sums) -> (f64, f64) {
    let one = f64::from(1u32 << POINT) * 256.0;
    (sums.gradient as f64 / one, sums.hessian as f64 / one)
}
