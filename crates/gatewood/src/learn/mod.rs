//! Learning: groves, and the paper's tree.
//!
//! - [`GroveTask`], [`GroveSettings`], [`fit_grove`]: boosted groves. [`Profile`]: what the data is like, by which
//!   settings that are left open are chosen.
//! - [`objective`]: what a grove is learned for.
//! - [`TreeSettings`], [`fit_tree`]: the paper's tree, greedy or climbed. [`TrainingView`]: its rows in the order of
//!   their class, so that counting a class is counting a range.
//! - [`device`]: the seam for accelerators.
//! - [`gate`]: from the counts of a gate's addresses to its table.
//! - [`mod@reference`]: the tree learned one row at a time, the definition.
//! - [`FunctionTask`], [`learn_function`]: Boolean functions from samples, as small circuits.
//! - [`Observer`]: progress, and stopping early.

mod defaults;
pub mod device;
mod engine;
#[cfg(feature = "prove")]
mod function;
pub mod gate;
mod grove;
pub mod objective;
pub(crate) mod patterns;
mod profile;
mod progress;
mod search;
mod tree;

pub(crate) use engine::ColumnOrder;
pub(crate) use engine::remote;
pub use engine::remote::{Parts, merged_answers};
#[cfg(feature = "prove")]
pub use function::{FunctionFit, FunctionSettings, FunctionTask, OutputFit, learn_function};
pub use grove::{
    CurvePoint, EvalMetric, Examples, GroveFit, GrovePlan, GroveSettings, GroveTask, fit_grove, fit_grove_for,
};
pub(crate) use grove::{
    FEW_GATES, PartsTask, Prepared, RowsInParts, fit_grove_in_parts, is_telling, judging_rows,
    margins_in_parts,
};
pub use patterns::{PatternKind, PatternPlan, PatternSettings, image_spans};
pub use profile::{DataKind, Profile};
pub use progress::{Observer, Progress, Silent};
pub use tree::{
    Criterion, Judge, TrainingView, TreeSettings, Unseen, fit_tree, fit_tree_at, fit_tree_on, reference,
};

pub(crate) use progress::Tracker;
