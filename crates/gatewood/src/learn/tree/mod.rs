//! The paper's tree: random leaves, greedy gates, hill climbing.

mod climb;
mod fit;
mod greedy;
pub mod reference;
mod settings;
mod there;
mod view;

pub use fit::{fit_tree, fit_tree_at, fit_tree_on};
pub use settings::{Criterion, Judge, TreeSettings, Unseen};
pub use view::TrainingView;
