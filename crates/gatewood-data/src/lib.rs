//! Rows in: generators, named data sets, readers.
