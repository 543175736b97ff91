//! Objectives: what a grove is learned for.
//!
//! An [`Objective`] says what the margins of a row mean. It gives the gradient and the hessian of its loss in fixed
//! point, the loss itself, and where margins start. Nothing else in the learner asks how many classes there are.
//!
//! - [`Logistic`]: two classes, one margin, the log-odds of class 1.
//! - [`Softmax`]: more classes, one margin for each.
//! - [`for_classes`]: the one of these that fits.
//! - [`Regression`]: values, one margin, the value in fixed point, or one for each quantile; [`ValueScale`] says how they are kept.
//! - [`Poisson`]: counts, one margin, the logarithm of their mean.
//! - [`ValueLoss`]: the names of the last two. [`Recipe`]: objectives as data, for other processes.
//!
//! To add one, implement [`Objective`] in a file here and hand it to [`fit_grove_for`](super::fit_grove_for).

mod logistic;
mod poisson;
mod recipe;
mod regression;
mod softmax;
mod value_loss;
mod value_scale;

use std::fmt::Debug;
use std::sync::Arc;

pub use logistic::Logistic;
pub use poisson::Poisson;
pub use recipe::Recipe;
#[cfg(test)]
pub(crate) use regression::BEND;
pub use regression::Regression;
pub use softmax::Softmax;
pub use value_loss::{TargetScale, ValueLoss};
pub use value_scale::ValueScale;

use super::device::DeviceObjective;
use crate::Result;
use crate::bits::kernels::{Kernels, POINT};
use crate::circuit::Output;

/// One, in the fixed point of gradients and hessians.
pub const ONE: i32 = 1 << POINT;

/// A weight of one, in the fixed point of row weights.
pub const WEIGHT_ONE: u32 = 1 << 8;

/// How the hessian of a row follows from its gradient `g`; both are in fixed point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hessian {
    /// `|g| (1 - |g|)`, as for probabilities.
    Logistic,
    /// One for every row, as for squared error.
    One,
    /// `t - g` of a target `t` that is a count, as for Poisson's deviance.
    Count,
}

/// The hessian of a row whose target is a count: the mean that its margin stands for.
pub(crate) fn count_hessian(target: u32, gradient: i32) -> i32 {
    ((target as i32 >> (value_scale::TARGET_POINT - POINT)) - gradient).max(1)
}

/// How well margins fit their targets, summed over rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// Rows whose class is wrong.
    pub wrong: u64,
    /// The loss, in units of 2^-20.
    pub loss: i64,
}

impl Loss {
    /// The loss of some rows.
    pub fn new(wrong: u64, loss: f64) -> Self {
        Self { wrong, loss: (loss * f64::from(1 << 20)) as i64 }
    }

    /// That of these rows and of others.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { wrong: self.wrong + other.wrong, loss: self.loss + other.loss }
    }
}

/// What a grove is learned for, with margins in votes of a given worth.
///
/// The margins of a row are sums of integer votes. An objective is made for votes that are worth `unit` each (of
/// log-odds, or of whatever the margin means). Lists of margins and gradients are one slice a margin, one entry a row.
pub trait Objective: Debug + Send + Sync {
    /// Margins of a row.
    fn margins(&self) -> usize;

    /// Whether a target can be learned. A target is 32 bits that only the objective reads: the number of a class, or a
    /// value in fixed point.
    fn accepts(&self, target: u32) -> bool;

    /// What [`Objective::bias`] needs to know of rows, as sums that can be added up; `weights` is empty for one each.
    fn totals(&self, targets: &[u32], weights: &[u32]) -> Vec<i64>;

    /// The margins that every row starts from.
    ///
    /// # Errors
    /// When there is nothing to learn, such as rows of one class.
    fn bias(&self, totals: &[i64]) -> Result<Vec<i32>>;

    /// Rows of one stratum are spread evenly over the parts that are held out.
    fn stratum(&self, target: u32) -> u32 {
        let _ = target;
        0
    }

    /// How far margins fall short: minus the derivative of the loss by the margin, in fixed point. Never zero for a
    /// class, and at most [`ONE`] in size: rows are drawn by it, and its sign says which side of a tree a row belongs on.
    fn gradients(&self, margins: &[&[i32]], targets: &[u32], gradients: &mut [&mut [i32]]);

    /// The loss of rows, given their margins and gradients.
    fn loss(&self, kernels: Kernels, margins: &[&[i32]], gradients: &[&[i32]], targets: &[u32]) -> Loss;

    /// The loss of one row when its margins are multiplied by `factor`, and its first and second derivative by that.
    ///
    /// `doubt` is the weight of one more row without a known target, which keeps margins finite where all rows fit.
    fn scaled(&self, margins: &[i32], target: u32, factor: f64, doubt: f64) -> [f64; 3];

    /// The longest step that a leaf may take, before the learning rate.
    fn max_step(&self) -> f64 {
        2.0
    }

    /// What a vote is worth where a plan wants this; an objective may need a rounder number.
    fn unit(&self, wanted: f64) -> f64 {
        wanted
    }

    /// Whether rows have classes, so that they can be right or wrong.
    fn classifies(&self) -> bool {
        true
    }

    /// What the margins of the grove say.
    fn output(&self) -> Output {
        Output::Classes(self.margins().max(2))
    }

    /// What is added to the hessian of a leaf where a plan wants this many rows.
    fn reg_lambda(&self, wanted: f64) -> f64 {
        wanted
    }

    /// How hessians follow from gradients.
    fn hessian(&self) -> Hessian {
        Hessian::Logistic
    }

    /// What a device needs to know to make the gradients itself.
    fn on_device(&self) -> DeviceObjective<'_> {
        DeviceObjective::Processor
    }

    /// How the same objective is made in another process; nothing for one that lives in this process alone.
    fn recipe(&self) -> Option<Recipe> {
        None
    }

    /// For one margin: adds the votes of a tree, given the address of each row, and brings the gradients up to date.
    fn update(
        &self,
        kernels: Kernels,
        votes: &[i32],
        addresses: &[u16],
        targets: &[u32],
        margins: &mut [i32],
        gradients: &mut [i32],
    ) {
        let _ = kernels;
        for (margin, &address) in margins.iter_mut().zip(addresses) {
            *margin += votes[usize::from(address)];
        }
        self.gradients(&[margins], targets, &mut [gradients]);
    }
}

/// Makes an objective for votes of a given worth.
pub type MakeObjective<'a> = &'a (dyn Fn(f64) -> Arc<dyn Objective> + Sync);

/// The objective for so many classes, with votes that are worth `unit` of log-odds.
pub fn for_classes(classes: usize, unit: f64) -> Arc<dyn Objective> {
    match classes {
        2 => Arc::new(Logistic::new(unit)),
        _ => Arc::new(Softmax::new(classes, unit)),
    }
}

/// Log-odds beyond which a probability is taken to be at its limit.
const LIMIT: f64 = 15.0;

/// Votes up to which probabilities are looked up. Finer units than this come from rates that no one uses.
fn limit(unit: f64) -> i32 {
    (LIMIT / unit).clamp(1.0, f64::from(1 << 20)) as i32
}

/// The weight of the rows of each class.
fn class_totals(classes: usize, targets: &[u32], weights: &[u32]) -> Vec<i64> {
    let mut totals = vec![0; classes];
    for (row, &target) in targets.iter().enumerate() {
        totals[target as usize] += i64::from(*weights.get(row).unwrap_or(&WEIGHT_ONE));
    }
    totals
}

/// The logarithm of each class's share of the rows.
fn log_shares(totals: &[i64]) -> Result<Vec<f64>> {
    if totals.iter().filter(|&&total| total > 0).count() < 2 {
        return Err(crate::Error::data("all rows are of one class: there is nothing to learn"));
    }
    let all: i64 = totals.iter().sum();
    Ok(totals.iter().map(|&total| libm::log((total as f64).max(0.5) / all as f64)).collect())
}

/// Log-odds in whole votes.
fn in_votes(odds: f64, unit: f64) -> i32 {
    libm::rint((odds / unit).clamp(-1e6, 1e6)) as i32
}
