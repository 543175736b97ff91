//! Learning: settings, the greedy tree, hill climbing, boosting.
//!
//! - [`TreeSettings`], [`fit_tree`]: the paper's tree, greedy or climbed.
//! - [`GroveSettings`], [`fit_grove`]: boosted groves, see [`boost`].
//! - [`TrainingView`]: the rows in the order of their class, so that counting a class is counting a range.
//! - [`gate`]: from the counts of a gate's addresses to its table.
//! - [`mod@reference`]: the same learning one row at a time, the definition.
//! - [`Observer`]: progress, and stopping early.

pub mod boost;
mod climb;
pub mod gate;
mod greedy;
mod progress;
pub mod reference;
mod settings;
mod tree;
mod view;

pub(crate) use boost::FEW_GATES;
pub use boost::{
    CurvePoint, Examples, GroveFit, GrovePlan, GroveSettings, fit_grove, fit_grove_at, fit_grove_with_spans,
};
pub use progress::{Ignore, Observer, Progress};
pub use settings::{Criterion, Judge, TreeSettings, Unseen};
pub use tree::{fit_tree, fit_tree_at};
pub use view::TrainingView;

pub(crate) use progress::Tracker;
