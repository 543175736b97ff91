//! Plain netlists: BLIF and AIGER, written and read back, and JSON.
//!
//! Readers take a whole file as bytes, take memory in proportion to it, and name the line or byte of what they refuse.

pub(super) mod aiger;
pub(super) mod aiger_reader;
pub(super) mod blif;
pub(super) mod blif_reader;
pub(super) mod json;
