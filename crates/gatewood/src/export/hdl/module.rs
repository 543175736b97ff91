//! What the modules of hardware languages share: their names, stages and comments.

use std::io::{Result, Write};

use super::pipeline::Pipeline;
use crate::circuit::{Netlist, Signal};
use crate::export::form::{Form, Syntax};
use crate::export::{Options, Port, names};

/// A netlist as a module with the buses `x` and `y`, in the syntax of a language.
pub(super) struct Module<'a> {
    netlist: &'a Netlist,
    options: &'a Options,
    syntax: &'static Syntax,
    pipeline: Pipeline,
}

/// The LUTs between two rows of registers, or all of them.
pub(super) struct Stage {
    /// Its number, from 1 on.
    pub(super) number: u32,
    /// The LUTs, by number.
    pub(super) luts: Vec<usize>,
    /// The registers at its end, each with the signal it keeps.
    pub(super) registers: Vec<(String, String)>,
}

impl<'a> Module<'a> {
    pub(super) fn new(netlist: &'a Netlist, options: &'a Options, syntax: &'static Syntax) -> Self {
        Self { netlist, options, syntax, pipeline: Pipeline::new(netlist, options.pipeline) }
    }

    /// A line of a bus.
    fn line(&self, bus: char, index: usize) -> String {
        let [open, close] = self.syntax.brackets;
        format!("{bus}{open}{index}{close}")
    }

    /// The lines of a bus that are a port.
    pub(super) fn slice(&self, bus: char, port: &Port) -> String {
        if port.is_bit() {
            return self.line(bus, port.lines.start);
        }
        let [open, close] = self.syntax.brackets;
        let (high, low) = (port.lines.end - 1, port.lines.start);
        format!("{bus}{open}{high}{}{low}{close}", self.syntax.down)
    }

    /// The name of a signal as a stage reads it.
    fn name(&self, signal: Signal, reader: u32) -> String {
        let constants = [self.syntax.zero, self.syntax.one];
        self.pipeline.name(self.netlist, signal, reader, constants, |input| self.line('x', input))
    }

    /// The comment at the top: the facts, and the name of each line of the buses that has one of its own.
    pub(super) fn comment(&self, out: &mut impl Write) -> Result<()> {
        let sign = self.syntax.comment;
        for line in self.options.header(self.netlist) {
            writeln!(out, "{sign} {line}")?;
        }
        if self.options.pipeline > 0 {
            let stages = self.options.pipeline;
            writeln!(out, "{sign} The outputs follow the inputs after {stages} rising edges of the clock")?;
        }
        if self.options.handshake {
            writeln!(out, "{sign} While enable is low nothing moves; reset makes all rows inside invalid")?;
        }
        if let Some(ports) = &self.options.ports {
            for (bus, ports) in [('x', &ports.inputs), ('y', &ports.outputs)] {
                for port in ports {
                    let lines = self.slice(bus, port);
                    writeln!(out, "{sign} Port {} ({lines}): {}", port.name, port.describe())?;
                }
            }
            return Ok(());
        }
        for (index, name) in self.netlist.input_names().iter().enumerate() {
            if *name != format!("x{index}") {
                writeln!(out, "{sign} {} is {}", self.line('x', index), names::safe(name))?;
            }
        }
        for (index, (name, _)) in self.netlist.output_list().iter().enumerate() {
            writeln!(out, "{sign} {} is {}", self.line('y', index), names::safe(name))?;
        }
        Ok(())
    }

    /// The stages; one without registers when all is combinational.
    pub(super) fn stages(&self) -> impl Iterator<Item = Stage> {
        (1..=self.pipeline.stages().max(1) as u32).map(|number| Stage {
            number,
            luts: self.pipeline.luts(self.netlist, number).collect(),
            registers: self
                .pipeline
                .kept(self.netlist, number)
                .map(|signal| (self.name(signal, number + 1), self.name(signal, number)))
                .collect(),
        })
    }

    /// The formula of a LUT in a stage.
    pub(super) fn formula(&self, lut: usize, stage: u32) -> String {
        let lut = self.netlist.lut(lut);
        Form::of(&lut).text(self.syntax, |input| self.name(lut.inputs()[input], stage))
    }

    /// The names of what a LUT in a stage reads.
    pub(super) fn reads(&self, lut: usize, stage: u32) -> Vec<String> {
        self.netlist.lut(lut).inputs().iter().map(|&input| self.name(input, stage)).collect()
    }

    /// The lines of the bus `y`, each with the signal it shows.
    pub(super) fn outputs(&self) -> impl Iterator<Item = (String, String)> {
        let outputs = self.netlist.output_list().iter().enumerate();
        outputs.map(|(index, (_, signal))| (self.line('y', index), self.name(*signal, self.pipeline.after())))
    }
}
