//! Classifiers that are Boolean circuits: learned by counting and hill climbing, run with bitwise operations.
//!
//! ```
//! use gatewood::Classifier;
//! use gatewood::encode::{Column, Labels, Numbers, Table, Texts};
//!
//! // A table of two columns, and the class of each row.
//! let weight = Numbers::F64((0..120).map(|row| 1.0 + f64::from(row % 40)).collect());
//! let colour = Texts::from_rows((0..120).map(|row| Some(if row % 2 == 0 { "green" } else { "red" })));
//! let table = Table::new(vec![
//!     ("weight".into(), Column::Number(weight)),
//!     ("colour".into(), Column::Text(colour)),
//! ])?;
//! let kinds = Texts::from_rows((0..120).map(|row| Some(if row % 40 > 12 { "melon" } else { "apple" })));
//! let labels = Labels::from_column("kind", &Column::Text(kinds))?;
//!
//! // Train, predict, save, load.
//! let classifier = Classifier::settings().rounds(50).seed(1).fit(&table, &labels)?;
//! assert_eq!(classifier.predict(&table)?, labels.codes());
//! let path = std::env::temp_dir().join("fruit.gw");
//! classifier.save(&path)?;
//! let again = Classifier::load(&path)?;
//!
//! // One row at a time.
//! use gatewood::encode::Value;
//! let class = again.predictor().predict_one(&[Value::Number(30.0), Value::Text("red")][..])?;
//! assert_eq!(again.classes()[class as usize], "melon");
//! # std::fs::remove_file(path).ok();
//! # Ok::<(), gatewood::Error>(())
//! ```
//!
//! Data flows one way, and so do the modules' dependencies:
//!
//! - [`bits`]: [`bits::BitMatrix`], one column of packed bits per input, and the counting and evaluating kernels;
//! - [`encode`]: raw columns to bits, and labels to classes;
//! - [`circuit`]: [`circuit::TruthTable`], [`circuit::Tree`] (the full tree of the paper), [`circuit::Grove`];
//! - [`learn`]: settings, groves, the greedy tree, hill climbing;
//! - [`model`]: a circuit with its names and its file; training, the compiled [`model::Predictor`], metrics;
//! - [`explain`]: why a model says what it says, and what it says of every possible row;
//! - [`export`]: circuits as Verilog, VHDL, BLIF, AIGER, C and more, and back;
//! - [`Classifier`] and, for values, [`Regressor`]: all of it behind `fit`, `predict`, `save` and `load`;
//! - [`random`]: the streams all randomness comes from.
//! - [`memory`]: asking for memory before taking it.
//! - [`text`]: texts of unknown origin in messages.
//!
//! # Features
//! All are on by default. With none, models are loaded and predict, with four dependencies.
//!
//! - `parallel`: several threads.
//! - `train`: [`learn`] and [`model::train()`], [`Classifier::fit`].
//! - `explain`: [`explain`].
//! - `export`: [`export`]; brings `prove` along.
//! - `prove`: [`circuit::Netlist`], and proofs that two are equal.
//!
//! The library compiles for `wasm32-unknown-unknown`, with the same features, and learns the same models there; one thread does
//! all the work.

#![deny(unsafe_code)]
// What only some features use stays with what it belongs to.
#![cfg_attr(
    not(all(feature = "train", feature = "explain", feature = "export", feature = "prove")),
    allow(dead_code, unused_imports)
)]

mod area;
#[allow(unsafe_code)]
pub mod bits;
pub mod circuit;
mod classifier;
pub mod encode;
mod error;
#[cfg(feature = "explain")]
pub mod explain;
#[cfg(feature = "export")]
pub mod export;
#[cfg(feature = "train")]
pub mod learn;
pub mod memory;
pub mod model;
mod platform;
#[cfg(any(feature = "train", feature = "explain", feature = "prove"))]
pub mod random;
mod regressor;
#[cfg(all(feature = "train", feature = "export"))]
mod sized;
pub mod text;

pub use classifier::Classifier;
#[cfg(feature = "train")]
pub use classifier::ClassifierSettings;
pub use error::{Error, Result};
use platform::pool;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use platform::set_clock;
pub use regressor::Regressor;
#[cfg(feature = "train")]
pub use regressor::RegressorSettings;
#[cfg(all(feature = "train", feature = "export"))]
pub use sized::train_sized;
