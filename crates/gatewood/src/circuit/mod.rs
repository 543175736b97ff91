//! Circuits: what is learned, run and exported.
//!
//! - [`TruthTable`]: a gate's output for every address.
//! - [`Tree`]: the full tree of gates of the paper.
//! - [`Grove`]: boosted [`VoteTree`]s with integer votes.

mod grove;
mod table;
mod tree;

pub use grove::{Grove, Target, VoteTree};
pub use table::TruthTable;
pub use tree::Tree;

/// The largest arity of a gate: 4,096 addresses.
pub const MAX_ARITY: usize = 12;
