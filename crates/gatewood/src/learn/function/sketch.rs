//! Drawing small circuits gate by gate.

use crate::Result;
use crate::circuit::{Netlist, NetlistBuilder, Signal, column_names};

/// The name of the one output of a candidate.
pub(super) const OUTPUT: &str = "y";

/// A circuit being drawn: its inputs are the columns.
pub(super) struct Sketch {
    builder: NetlistBuilder,
}

impl Sketch {
    pub(super) fn new(columns: usize) -> Result<Self> {
        Ok(Self { builder: NetlistBuilder::new(column_names(columns))? })
    }

    pub(super) fn input(&self, column: usize) -> Signal {
        self.builder.input(column)
    }

    /// A column, or its inverse.
    pub(super) fn literal(&mut self, column: usize, positive: bool) -> Result<Signal> {
        let input = self.input(column);
        if positive { Ok(input) } else { self.not(input) }
    }

    pub(super) fn not(&mut self, a: Signal) -> Result<Signal> {
        match a.as_constant() {
            Some(value) => Ok(Signal::constant(!value)),
            None => self.builder.add(&[0b01], &[a]),
        }
    }

    pub(super) fn and(&mut self, a: Signal, b: Signal) -> Result<Signal> {
        match (a.as_constant(), b.as_constant()) {
            (Some(false), _) | (_, Some(false)) => Ok(Signal::ZERO),
            (Some(true), _) => Ok(b),
            (_, Some(true)) => Ok(a),
            _ => self.builder.add(&[0b1000], &[a, b]),
        }
    }

    pub(super) fn or(&mut self, a: Signal, b: Signal) -> Result<Signal> {
        match (a.as_constant(), b.as_constant()) {
            (Some(true), _) | (_, Some(true)) => Ok(Signal::ONE),
            (Some(false), _) => Ok(b),
            (_, Some(false)) => Ok(a),
            _ => self.builder.add(&[0b1110], &[a, b]),
        }
    }

    pub(super) fn xor(&mut self, a: Signal, b: Signal) -> Result<Signal> {
        match (a.as_constant(), b.as_constant()) {
            (Some(false), _) => Ok(b),
            (_, Some(false)) => Ok(a),
            (Some(true), _) => self.not(b),
            (_, Some(true)) => self.not(a),
            _ => self.builder.add(&[0b0110], &[a, b]),
        }
    }

    /// `one` where `select` is one, else `zero`.
    pub(super) fn choose(&mut self, select: Signal, zero: Signal, one: Signal) -> Result<Signal> {
        if zero == one {
            return Ok(zero);
        }
        match (select.as_constant(), zero.as_constant(), one.as_constant()) {
            (Some(value), ..) => Ok(if value { one } else { zero }),
            (_, Some(false), _) => self.and(select, one),
            (_, _, Some(true)) => self.or(select, zero),
            _ => self.builder.add(&[0b1110_0100], &[select, zero, one]),
        }
    }

    /// The exclusive or of some columns.
    pub(super) fn sum(&mut self, columns: &[usize]) -> Result<Signal> {
        let mut sum = Signal::ZERO;
        for &column in columns {
            let input = self.input(column);
            sum = self.xor(sum, input)?;
        }
        Ok(sum)
    }

    /// The sum and the carry of three bits.
    pub(super) fn full_add(&mut self, a: Signal, b: Signal, c: Signal) -> Result<(Signal, Signal)> {
        let (half, both) = (self.xor(a, b)?, self.and(a, b)?);
        let (sum, carried) = (self.xor(half, c)?, self.and(half, c)?);
        Ok((sum, self.or(both, carried)?))
    }

    /// Adds a netlist whose inputs are the given signals: the signals of its outputs.
    pub(super) fn add(&mut self, netlist: &Netlist, inputs: &[Signal]) -> Result<Vec<Signal>> {
        let mut signals = vec![Signal::ZERO, Signal::ONE];
        signals.extend_from_slice(inputs);
        for lut in netlist.iter() {
            let read: Vec<Signal> = lut.inputs().iter().map(|input| signals[input.index()]).collect();
            signals.push(self.builder.add(lut.words(), &read)?);
        }
        Ok(netlist.output_list().iter().map(|(_, signal)| signals[signal.index()]).collect())
    }

    /// The circuit, with one output.
    pub(super) fn finish(mut self, output: Signal) -> Result<Netlist> {
        self.builder.output(OUTPUT, output)?;
        Ok(self.builder.finish())
    }
}
