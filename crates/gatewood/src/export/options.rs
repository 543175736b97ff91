//! What a file says besides the circuit.

use super::{CellFamily, Interface, Ports, names};
use crate::circuit::Netlist;
use crate::{Error, Result};

/// What a file is to say besides the circuit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The name of the module, entity, model or prefix of functions.
    pub name: String,
    /// Lines for the comment at the top, such as what the model was trained on.
    pub facts: Vec<String>,
    /// What the inputs and outputs are, for the comment at the top; [`write_model`](super::write_model) sets it.
    pub interface: Option<Interface>,
    /// The ports of Verilog and VHDL; without them the inputs are a bus `x` and the outputs a bus `y`.
    /// [`write_model`](super::write_model) sets them.
    pub ports: Option<Ports>,
    /// The name of the header that C source includes; without one it declares all itself.
    pub header_file: Option<String>,
    /// Register stages between the inputs and the outputs of Verilog and VHDL; none makes them combinational.
    pub pipeline: usize,
    /// Whether the registers of a pipeline are kept while `enable` is low, and `valid` goes through it beside each row and
    /// comes out as `valid_out`; `reset` makes all rows in it invalid.
    pub handshake: bool,
    /// The family of FPGAs whose cells the LUTs of Verilog are, which synthesis leaves as they are; without one they are
    /// formulas, which it maps anew.
    pub cells: Option<CellFamily>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: "model".into(),
            facts: Vec::new(),
            interface: None,
            ports: None,
            header_file: None,
            pipeline: 0,
            handshake: false,
            cells: None,
        }
    }
}

/// The most register stages a pipeline may have.
pub const MAX_PIPELINE: usize = 1000;

impl Options {
    /// Checks that the name is one in every language and that the stages are not too many.
    ///
    /// # Errors
    /// Says what is not as it should be.
    pub fn validate(&self) -> Result<()> {
        let mut bytes = self.name.bytes();
        let starts_well = bytes.next().is_some_and(|first| first.is_ascii_alphabetic());
        if !starts_well || !bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(Error::setting(format!(
                "{:?} cannot name a circuit: use a letter, then letters, digits and underscores",
                self.name
            )));
        }
        if names::is_reserved(&self.name) {
            return Err(Error::setting(format!("{} means something else in one of the formats", self.name)));
        }
        if self.pipeline > MAX_PIPELINE {
            return Err(Error::setting(format!(
                "{} pipeline stages are over the limit of {MAX_PIPELINE}",
                self.pipeline
            )));
        }
        Ok(())
    }

    /// The lines of the comment at the top of a file.
    pub(super) fn header(&self, netlist: &Netlist) -> Vec<String> {
        let plural =
            |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let mut lines = self.header_start();
        lines.push(format!(
            "{}: {}, {}, {}, depth {}",
            self.name,
            plural(netlist.inputs(), "input"),
            plural(netlist.outputs(), "output"),
            plural(netlist.luts(), "LUT"),
            netlist.depth()
        ));
        lines.extend(self.header_facts());
        lines
    }

    pub(super) fn header_start(&self) -> Vec<String> {
        vec![format!("Made by gatewood {}", env!("CARGO_PKG_VERSION"))]
    }

    pub(super) fn header_facts(&self) -> impl Iterator<Item = String> {
        let interface = self.interface.iter().map(Interface::line);
        // Tools obey comments that start with some words, so that a fact never comes first.
        let facts = self.facts.iter().flat_map(|fact| fact.lines());
        interface.chain(facts.map(|fact| format!("Note: {}", names::safe(fact))))
    }
}
