//! The paper's tree: random leaves, greedy gates, hill climbing.

mod climb;
mod fit;
mod greedy;
mod on_device;
pub mod reference;
mod settings;
mod view;

pub use fit::{fit_tree, fit_tree_at, fit_tree_on};
pub use settings::{Criterion, Judge, TreeSettings, Unseen};
pub use view::TrainingView;
