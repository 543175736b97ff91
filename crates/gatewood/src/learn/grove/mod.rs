//! Groves: boosted small trees, each learned from what the trees before it got wrong.
//!
//! - [`GroveSettings`], [`GrovePlan`]: the settings, and what they come to for given data.
//! - [`GroveTask`], [`fit_grove`], [`GroveFit`]: learning a grove; [`fit_grove_for`]: for an objective of one's own.
//!
//! A round computes the gradients of the objective at the present margins, draws rows in proportion to their size or a
//! power of it, climbs a tree on those rows, and gives each address of its root a vote: a Newton step over all rows,
//! shrunk by the learning rate and rounded. Margins are sums of these integers and gradients follow from them, so the
//! margins learned are the margins run, and nothing depends on the order of a sum.

mod calibrate;
mod choose_rounds;
mod dont_cares;
mod eval_metric;
mod features;
mod fit;
mod gates;
mod grow;
mod in_parts;
mod leaf_step;
mod pairs;
mod prune;
#[cfg(test)]
mod reference;
mod refit;
mod round;
mod settings;
mod task;
#[cfg(test)]
mod tests;
mod time_limit;
mod together;

pub(crate) use choose_rounds::{PARTS, judging_rows};
pub use eval_metric::EvalMetric;
pub(crate) use features::is_telling;
pub use fit::{CurvePoint, GroveFit};
pub(crate) use in_parts::{PartsTask, Prepared, RowsInParts, fit_grove_in_parts, margins_in_parts};
pub(crate) use leaf_step::LeafStep;
pub(crate) use settings::FEW_GATES;
pub use settings::{GrovePlan, GroveSettings};
pub use task::{Examples, GroveTask, fit_grove, fit_grove_for};
