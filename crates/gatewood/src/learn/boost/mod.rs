//! Boosting: groves of small trees, each learned from what the trees before it got wrong.
//!
//! - [`GroveSettings`], [`GrovePlan`]: the settings, and what they come to for given data.
//! - [`fit_grove`], [`Examples`], [`GroveFit`]: learning a grove; [`fit_grove_with_spans`]: over spans too.
//!
//! A round computes the gradients of the logistic (softmax) loss at the present margins, draws rows in proportion to
//! them or a power of them, climbs a tree on those rows, and gives each address of its root a vote: a Newton step over
//! all rows, shrunk by the learning rate and rounded. Margins are sums of these integers and gradients are looked up
//! from them, so the margins learned are the margins run, and nothing depends on the order of a sum.

mod budget;
mod calibrate;
mod choose;
mod climb;
mod cut;
mod fit;
mod focus;
mod gates;
mod link;
mod prune;
mod round;
mod sample;
mod screen;
mod settings;
mod spans;
mod state;
mod votes;

pub use fit::{CurvePoint, GroveFit, fit_grove, fit_grove_at};
pub(crate) use settings::FEW_GATES;
pub use settings::{GrovePlan, GroveSettings};
pub use spans::fit_grove_with_spans;
pub use state::Examples;
