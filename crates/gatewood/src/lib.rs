//! Classifiers that are Boolean circuits: learned by counting and hill climbing, run with bitwise operations.
//!
//! Data flows one way, and so do the modules' dependencies:
//!
//! - [`bits`]: [`bits::BitMatrix`], one column of packed bits per input, and the counting and evaluating kernels;
//! - [`encode`]: raw columns to bits, and labels to classes;
//! - [`circuit`]: [`circuit::TruthTable`], [`circuit::Tree`] (the full tree of the paper);
//! - [`learn`]: settings, the greedy tree, hill climbing;
//! - [`model`]: a circuit with its names and its file;
//! - [`export`]: circuits as Verilog, VHDL, BLIF, AIGER, C and more, and back.
//! - [`random`]: the streams all randomness comes from.
//! - [`memory`]: asking for memory before taking it.
//! - [`text`]: texts of unknown origin in messages.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
pub mod bits;
pub mod circuit;
pub mod encode;
mod error;
pub mod export;
pub mod learn;
pub mod memory;
pub mod model;
mod pool;
pub mod random;
pub mod text;

pub use error::{Error, Result};
