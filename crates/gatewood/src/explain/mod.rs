//! Why a model says what it says, and what it says of every possible row.
//!
//! - [`contributions()`]: exact Shapley values of the margin, one a raw column, that add up to the integer.
//! - [`Explainer`]: a model made ready for questions whose answers are proven for every row that can exist.
//! - [`Reason`]: the columns and ranges that alone fix a row's class.
//! - [`Counterfactual`]: the least change that turns a row's class.
//! - [`pixel_worth`]: which pixels of one image speak for its class or value, measured; [`pixel_moves`]: how far they move a value.
//! - [`Property`]: a sentence about all rows, with a [`Proof`] or rows that show it to be false.

mod cell;
mod contributions;
mod counterfactual;
mod domain;
mod explainer;
mod flat;
mod patterns;
mod pixels;
mod problem;
mod property;
mod prove;
#[cfg(test)]
mod prove_tests;
mod reason;
mod report;
mod rows;
#[cfg(feature = "prove")]
mod sat;
mod search;
mod system;
mod table;
mod walk;
mod words;

use crate::model::{Circuit, Model};
use crate::{Error, Result};

pub use contributions::{BACKGROUND_ROWS, Contributions, contributions, contributions_among, spread};
pub use counterfactual::{Change, Counterfactual, Turning};
pub use explainer::{ExplainedRow, Explainer};
pub use pixels::{pixel_moves, pixel_worth};
pub use property::Property;
pub use prove::{PROOF_SECONDS, Proof, Witness};
pub use reason::{EXPLAIN_SECONDS, Reason};
pub use words::RawValue;

/// Refuses models whose trees read patterns, or whose encoder compares two columns: a pattern reads so many pixels that exact
/// shares of what it is worth cannot be worked out.
fn refuse_patterns(model: &Model) -> Result<()> {
    let has_patterns = matches!(model.circuit(), Circuit::Grove(grove) if !grove.patterns().is_empty());
    if !has_patterns && model.encoder().compares() {
        return Err(Error::data(
            "exact contributions are not worked out for a model that compares columns with each other: train with --compare 0 \
             (in Python, encode={\"compare\": 0})",
        ));
    }
    if has_patterns {
        return Err(Error::too_large(
            "exact contributions of pixels are not worked out for models with patterns, which read too many of them: train with \
             --patterns 0, or let explain give a reason or draw a heat map",
        ));
    }
    Ok(())
}
