//! Learning: settings, the greedy tree, hill climbing.
//!
//! - [`TreeSettings`], [`fit_tree`]: the paper's tree, greedy or climbed.
//! - [`TrainingView`]: the rows in the order of their class, so that counting a class is counting a range.
//! - [`gate`]: from the counts of a gate's addresses to its table.
//! - [`reference`]: the same learning one row at a time, the definition.
//! - [`Observer`]: progress, and stopping early.

mod climb;
pub mod gate;
mod greedy;
mod progress;
pub mod reference;
mod settings;
mod tree;
mod view;

pub use progress::{Ignore, Observer, Progress};
pub use settings::{Criterion, TreeSettings, Unseen};
pub use tree::{fit_tree, fit_tree_at};
pub use view::TrainingView;

pub(crate) use progress::Tracker;
