//! Circuits: what is learned, run and exported.
//!
//! - [`TruthTable`]: a gate's output for every address.
//! - [`Tree`]: the full tree of gates of the paper.
//! - [`Grove`]: boosted [`VoteTree`]s with integer votes, over bits and what they share: [`Span`]s and [`Pattern`]s.
//! - [`Netlist`]: any network of LUTs with named inputs and outputs, made by a [`NetlistBuilder`]; what exporters,
//!   readers and provers see.

#[cfg(feature = "prove")]
pub(crate) mod aig;
#[cfg(feature = "prove")]
mod classes;
#[cfg(feature = "prove")]
mod equivalence;
mod grove;
mod grove_run;
mod limits;
#[cfg(feature = "prove")]
mod lower;
#[cfg(feature = "prove")]
mod map;
#[cfg(feature = "prove")]
mod netlist;
mod output;
mod pattern;
mod pattern_run;
mod predict;
mod row;
mod run;
#[cfg(feature = "prove")]
mod simplify;
#[cfg(feature = "prove")]
mod simulate;
#[cfg(feature = "prove")]
mod solver;
mod span;
mod table;
mod table_operations;
mod tally;
#[cfg(test)]
pub(crate) mod testing;
mod tree;
#[cfg(feature = "prove")]
mod window;

#[cfg(feature = "prove")]
pub use equivalence::{Equivalence, prove_equal, prove_equal_where, prove_equal_within};
pub use grove::{Grove, Target, VoteTree};
pub(crate) use grove_run::{CHUNK_ROWS, Scratch};
pub(crate) use limits::Deadline;
pub use limits::{PROOF_CONFLICTS, ProofLimits};
#[cfg(feature = "prove")]
pub use lower::{CLASS_OUTPUT, GroveOutputs, SumsOf, column_names};
#[cfg(feature = "prove")]
pub use netlist::{Lut, Netlist, NetlistBuilder, Signal, SignalKind};
pub use output::{Output, Quantiles, ValueOutput};
pub use pattern::{Literal, Pattern, PatternLayer, Planes};
pub(crate) use pattern_run::PatternRun;
pub use predict::Margins;
pub(crate) use predict::{add_votes, in_pieces, write_probabilities};
pub(crate) use row::{RowCircuit, RowRoom};
#[cfg(feature = "prove")]
pub use simplify::{NetlistSize, Simplified, SimplifySettings};
pub use span::Span;
pub(crate) use span::{HeldColumns, Wide};
pub(crate) use tally::Tally;

pub use crate::bits::MAX_ARITY;
pub use table::TruthTable;
pub(crate) use tree::Shape;
pub use tree::Tree;
