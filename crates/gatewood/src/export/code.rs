//! What programming languages are given: a program and what to say about it.

use super::Options;
use super::program::{GroveProgram, Program};
use crate::circuit::{Grove, Netlist};
use crate::{Error, Result};

/// What C and Rust are made from.
pub(super) enum Code {
    Netlist(Program),
    Grove(GroveProgram),
}

impl Code {
    pub(super) fn program(&self) -> &Program {
        match self {
            Self::Netlist(program) => program,
            Self::Grove(grove) => &grove.program,
        }
    }

    pub(super) fn outputs(&self) -> usize {
        match self {
            Self::Netlist(program) => program.outputs.len(),
            Self::Grove(grove) => grove.class_bits() as usize,
        }
    }
}

/// Lines above the code, and what each output is called.
pub(super) struct Facts {
    pub(super) header: Vec<String>,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
}

/// The most outputs a netlist may have, since a row's are the bits of a word.
const MAX_OUTPUTS: usize = 64;

impl Code {
    /// The code of a netlist and its facts.
    pub(super) fn of_netlist(netlist: &Netlist, options: &Options) -> Result<(Self, Facts)> {
        if netlist.outputs() > MAX_OUTPUTS {
            let outputs = netlist.outputs();
            return Err(Error::data(format!(
                "{outputs} outputs are over the limit of {MAX_OUTPUTS} of C and Rust"
            )));
        }
        let facts = Facts {
            header: options.header(netlist),
            inputs: netlist.input_names().to_vec(),
            outputs: netlist.output_list().iter().map(|(name, _)| name.clone()).collect(),
        };
        Ok((Self::Netlist(Program::of_netlist(netlist)), facts))
    }

    /// The code of a grove and its facts.
    pub(super) fn of_grove(
        grove: &Grove,
        column_names: &[String],
        options: &Options,
    ) -> Result<(Self, Facts)> {
        if column_names.len() != grove.inputs() || grove.inputs() == 0 {
            let (names, inputs) = (column_names.len(), grove.inputs());
            return Err(Error::data(format!("{names} names were given for {inputs} columns")));
        }
        let code = GroveProgram::of(grove)?;
        let (trees, gates, classes) = (grove.trees().len(), grove.gates(), grove.classes());
        let mut header = options.header_start();
        header.push(format!(
            "{}: {} columns, {classes} classes, {trees} trees, {gates} gates",
            options.name,
            grove.inputs()
        ));
        header.extend(options.header_facts());
        let outputs = (0..code.class_bits()).map(|bit| match grove.classes() {
            2 => "class".to_string(),
            _ => format!("class_{bit}"),
        });
        let facts = Facts { header, inputs: column_names.to_vec(), outputs: outputs.collect() };
        Ok((Self::Grove(code), facts))
    }
}
