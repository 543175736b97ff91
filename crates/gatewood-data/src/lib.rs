//! Rows in: generators, named data sets, readers.
//!
//! - [`DataSpec`]: what a user asks for, in words such as `cubes:noise=0.1` or `rows.csv`.
//! - [`Dataset`], [`Split`]: rows with their classes.
//! - [`load`]: rows to learn from, of a set or a file.
//! - [`sets`]: the named sets; [`load_named`] reads one.
//! - [`generate`]: the sets made from a seed.
//! - [`read`]: the file formats.
//! - [`holdout`], [`folds`]: rows put aside for testing.

#![forbid(unsafe_code)]

mod class_numbers;
mod dataset;
mod embedded;
pub mod generate;
mod load;
pub mod read;
pub mod sets;
mod spec;
mod split;
mod weights;

pub use class_numbers::{Numbered, renumbered};
pub use dataset::{Dataset, Split};
pub use gatewood::encode::ImageShape;
pub use load::{
    LoadOptions, load, load_bytes, load_images, load_labelled, load_unlabelled, load_unlabelled_with,
};
pub use sets::{Folders, load_digits, load_made, load_named};
pub use spec::{DataSpec, Source};
pub use split::{Parts, folds, holdout};
