//! Files of other tools, back to netlists.
//!
//! Readers take a whole file as bytes, take memory in proportion to it, and name the line or byte of what they refuse.

mod aiger;
mod blif;
mod draft;
mod verilog;

pub(super) use aiger::read as aiger;
pub(super) use blif::read as blif;
pub(super) use verilog::read as verilog;
