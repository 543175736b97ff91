//! Search: hill climbing on one small tree, over the rows of a sample.
//!
//! - [`Sample`]: the rows, column by column. [`Climber`]: a tree while it is climbed.
//! - [`FeatureReuse`]: which columns are tried.

mod candidates;
mod climb;
mod cut;
mod reuse;
mod sample;

pub(crate) use candidates::MAX_CANDIDATES_ARITY;
pub(crate) use climb::{Climbed, Climber, draw_trials};
pub(crate) use reuse::FeatureReuse;
pub(crate) use sample::{RowWords, Sample};
