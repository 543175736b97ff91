//! Programming languages: C and Rust, what both are made from, and tests of such files against a model.

mod arrays;
pub(super) mod c;
mod c_patterns;
mod c_raw;
mod c_small;
mod c_values;
mod compile;
mod harness;
mod program;
mod raw;
mod raw_rows;
pub(super) mod rust;
mod rust_patterns;
mod rust_raw;
mod rust_values;
#[cfg(test)]
mod tests;
mod verify;

use self::program::{GroveProgram, Program};
use self::raw::Raw;
pub use self::verify::{CodeTest, CodeTestOptions, test_code};
use super::Options;
use crate::circuit::{Grove, Netlist, Output, ValueOutput};
use crate::encode::{Encoder, Table};
use crate::{Error, Result};

/// Random rows of raw values that an encoder can take, at and next to what they are compared with.
pub(super) fn random_table(encoder: &Encoder, rows: usize) -> Result<Table> {
    Ok(raw_rows::raw_rows(encoder, rows, 0)?.table)
}

/// What C and Rust are made from.
pub(super) struct Code {
    body: Body,
    /// The tests of raw values that fill a row.
    raw: Option<Raw>,
    /// How margins become values, where a grove says those and no class.
    value: Option<ValueOutput>,
    /// Whether a grove shows an output for each class after the number of the class.
    one_hot: bool,
    /// Lines above the code.
    header: Vec<String>,
    /// What the columns of a row are called.
    inputs: Vec<String>,
    /// What the outputs are called.
    outputs: Vec<String>,
}

/// How the outputs are found.
enum Body {
    Netlist(Program),
    Grove(GroveProgram),
}

/// The most outputs, since a row's are the bits of a word.
const MAX_OUTPUTS: usize = 64;

impl Code {
    fn program(&self) -> &Program {
        match &self.body {
            Body::Netlist(program) => program,
            Body::Grove(grove) => &grove.program,
        }
    }

    /// The code of a netlist.
    pub(super) fn of_netlist(netlist: &Netlist, options: &Options) -> Result<Self> {
        let code = Self {
            body: Body::Netlist(Program::of_netlist(netlist)),
            raw: None,
            value: None,
            one_hot: false,
            header: options.header(netlist),
            inputs: netlist.input_names().to_vec(),
            outputs: netlist.output_list().iter().map(|(name, _)| name.clone()).collect(),
        };
        code.checked()
    }

    /// The code of a grove, which adds up votes.
    pub(super) fn of_grove(
        grove: &Grove,
        column_names: &[String],
        one_hot: bool,
        options: &Options,
    ) -> Result<Self> {
        if column_names.len() != grove.inputs() || grove.inputs() == 0 {
            let (names, inputs) = (column_names.len(), grove.inputs());
            return Err(Error::data(format!("{names} names were given for {inputs} columns")));
        }
        let program = GroveProgram::of(grove)?;
        let (trees, gates, classes) = (grove.trees().len(), grove.gates(), grove.classes());
        let mut header = options.header_start();
        let value = match grove.output() {
            Output::Value(value) => Some(value),
            Output::Classes(_) => None,
        };
        let said = match &value {
            Some(value) if value.margins() > 1 => format!("{} quantiles", value.margins()),
            Some(_) => "a value".to_owned(),
            None => format!("{classes} classes"),
        };
        header.push(format!(
            "{}: {} columns, {said}, {trees} trees, {gates} gates",
            options.name,
            grove.inputs()
        ));
        header.extend(options.header_facts());
        let bits = if value.is_some() { 0 } else { program.class_bits() };
        let mut outputs: Vec<String> =
            (0..bits).map(|bit| if classes == 2 { "class".into() } else { format!("class_{bit}") }).collect();
        if one_hot {
            outputs.extend((0..classes).map(|class| format!("is_{class}")));
        }
        let inputs = column_names.to_vec();
        Self { body: Body::Grove(program), raw: None, value, one_hot, header, inputs, outputs }.checked()
    }

    fn checked(self) -> Result<Self> {
        let outputs = self.outputs.len();
        if outputs > MAX_OUTPUTS {
            return Err(Error::data(format!(
                "{outputs} outputs are over the limit of {MAX_OUTPUTS} of C and Rust"
            )));
        }
        Ok(self)
    }

    /// The same code, which also takes raw values.
    ///
    /// # Errors
    /// When the encoder asks for something that such code cannot.
    pub(super) fn with_encoder(mut self, encoder: &Encoder) -> Result<Self> {
        let program = self.program();
        let mut used = vec![false; program.inputs as usize];
        let mut read = |reads: &[u32]| {
            for &read in reads {
                if let Some(used) = used.get_mut(read as usize) {
                    *used = true;
                }
            }
        };
        program.operations.iter().for_each(|operation| read(&operation.reads));
        read(&program.outputs);
        if let Body::Grove(grove) = &self.body {
            grove.votes.iter().for_each(|vote| read(&vote.reads));
            grove.patterns.planes().inputs().flatten().for_each(|input| read(&[input]));
        }
        self.raw = Some(Raw::of(encoder, &used)?);
        Ok(self)
    }
}
