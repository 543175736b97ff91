//! Hardware languages: Verilog, written and read back, and VHDL.

pub(super) mod cells;
mod module;
mod pipeline;
pub(super) mod verilog;
pub(super) mod verilog_reader;
pub(super) mod vhdl;
