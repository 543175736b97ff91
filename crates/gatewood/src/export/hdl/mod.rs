//! Hardware languages: Verilog, written and read back, and VHDL.

pub(super) mod cells;
mod module;
mod pipeline;
pub(super) mod project;
pub(super) mod timing;
pub(super) mod verilog;
mod verilog_ports;
pub(super) mod verilog_reader;
pub(super) mod vhdl;
