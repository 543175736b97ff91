//! Rows in: generators, named data sets, readers.

pub mod generate;
