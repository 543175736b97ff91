//! Splits: rows put aside for testing, class by class, by a seed.

pub use gatewood::model::{Parts, folds, holdout};
