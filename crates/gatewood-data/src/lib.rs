//! Rows in: generators, named data sets, readers.

#[allow(dead_code, reason = "the named sets come with the encoders")]
mod embedded;
pub mod generate;
pub mod read;
