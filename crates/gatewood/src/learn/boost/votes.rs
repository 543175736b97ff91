//! From sums of gradients to votes.

use super::link::{MAX_STEP, POINT};
use super::state::Sums;

/// How votes are made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Voting {
    /// Votes a unit of log-odds is worth, times the learning rate.
    scale: f64,
    /// Largest vote.
    limit: f64,
    /// Added to the curvature, in rows of the most curvature.
    damping: f64,
}

impl Voting {
    /// The log-odds that one vote is worth.
    pub(super) fn unit(learning_rate: f64, vote_bits: u32) -> f64 {
        learning_rate * MAX_STEP / Self::limit(vote_bits)
    }

    fn limit(vote_bits: u32) -> f64 {
        f64::from((1u32 << (vote_bits - 1)) - 1)
    }

    pub(super) fn new(learning_rate: f64, vote_bits: u32, unit: f64, damping: f64) -> Self {
        Self { scale: learning_rate / unit, limit: Self::limit(vote_bits), damping }
    }

    /// The vote of one address: a Newton step, shrunk and rounded.
    pub(super) fn vote(&self, sums: Sums) -> i32 {
        // Sums are in fixed point and weights in units of 2^-8.
        let one = f64::from(1u32 << POINT) * 256.0;
        let (gradient, curvature) = (sums.gradient as f64 / one, sums.curvature as f64 / one);
        let step = gradient / (curvature + self.damping);
        libm::rint((step * self.scale).clamp(-self.limit, self.limit)) as i32
    }
}
