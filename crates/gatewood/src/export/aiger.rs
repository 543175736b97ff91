//! AIGER, ascii and binary, with a symbol table.

use std::collections::HashMap;
use std::io::{Result, Write};

use super::form::Form;
use super::{Options, names};
use crate::circuit::{Netlist, SignalKind};

/// An and-inverter graph: literal `2v` is variable `v`, `2v + 1` its inverse, 0 and 1 are the constants.
///
/// Variables 1 to `inputs` are the inputs; the ands follow, each with its larger literal first.
struct Graph {
    inputs: u32,
    ands: Vec<(u32, u32)>,
    known: HashMap<(u32, u32), u32>,
}

impl Graph {
    fn and(&mut self, a: u32, b: u32) -> u32 {
        let (low, high) = (a.min(b), a.max(b));
        match (low, high) {
            (0, _) => 0,
            (1, other) => other,
            (low, high) if low == high => low,
            (low, high) if low ^ 1 == high => 0,
            pair => *self.known.entry(pair).or_insert_with(|| {
                self.ands.push((pair.1, pair.0));
                2 * (self.inputs + self.ands.len() as u32)
            }),
        }
    }

    fn or(&mut self, a: u32, b: u32) -> u32 {
        self.and(a ^ 1, b ^ 1) ^ 1
    }

    fn xor(&mut self, a: u32, b: u32) -> u32 {
        let only_a = self.and(a, b ^ 1);
        let only_b = self.and(a ^ 1, b);
        self.or(only_a, only_b)
    }

    /// All of the literals joined, as a tree of low depth.
    fn join(&mut self, mut literals: Vec<u32>, empty: u32, with: fn(&mut Self, u32, u32) -> u32) -> u32 {
        while literals.len() > 1 {
            literals = literals
                .chunks(2)
                .map(|pair| if let [a, b] = *pair { with(self, a, b) } else { pair[0] })
                .collect();
        }
        literals.first().copied().unwrap_or(empty)
    }

    fn formula(&mut self, form: &Form, inputs: &[u32]) -> u32 {
        let products = form
            .cubes
            .iter()
            .map(|cube| {
                let literals =
                    cube.literals().map(|(input, value)| inputs[input] ^ u32::from(!value)).collect();
                self.join(literals, 1, Self::and)
            })
            .collect();
        let sum = self.join(products, 0, Self::or) ^ u32::from(form.inverted);
        form.flips.iter().fold(sum, |value, &input| self.xor(value, inputs[input]))
    }

    /// The graph of a netlist and the literals of its outputs.
    fn of(netlist: &Netlist) -> (Self, Vec<u32>) {
        let mut graph = Self { inputs: netlist.inputs() as u32, ands: Vec::new(), known: HashMap::new() };
        let mut luts: Vec<u32> = Vec::with_capacity(netlist.luts());
        let literal = |signal, luts: &[u32]| match netlist.kind(signal) {
            SignalKind::Constant(value) => u32::from(value),
            SignalKind::Input(input) => 2 * (input as u32 + 1),
            SignalKind::Lut(lut) => luts[lut],
        };
        for lut in netlist.iter() {
            let inputs: Vec<u32> = lut.inputs().iter().map(|&signal| literal(signal, &luts)).collect();
            luts.push(graph.formula(&Form::of(&lut), &inputs));
        }
        let outputs = netlist.output_list().iter().map(|&(_, signal)| literal(signal, &luts)).collect();
        (graph, outputs)
    }

    fn header(&self, out: &mut impl Write, kind: &str, outputs: usize) -> Result<()> {
        let variables = self.inputs as usize + self.ands.len();
        writeln!(out, "{kind} {variables} {} 0 {outputs} {}", self.inputs, self.ands.len())
    }
}

pub(super) fn write_ascii(netlist: &Netlist, options: &Options, out: &mut impl Write) -> Result<()> {
    let (graph, outputs) = Graph::of(netlist);
    graph.header(out, "aag", outputs.len())?;
    for input in 1..=graph.inputs {
        writeln!(out, "{}", 2 * input)?;
    }
    for literal in outputs {
        writeln!(out, "{literal}")?;
    }
    for (index, (high, low)) in graph.ands.iter().enumerate() {
        writeln!(out, "{} {high} {low}", 2 * (graph.inputs as usize + index + 1))?;
    }
    symbols(netlist, options, out)
}

pub(super) fn write_binary(netlist: &Netlist, options: &Options, out: &mut impl Write) -> Result<()> {
    let (graph, outputs) = Graph::of(netlist);
    graph.header(out, "aig", outputs.len())?;
    for literal in outputs {
        writeln!(out, "{literal}")?;
    }
    for (index, &(high, low)) in graph.ands.iter().enumerate() {
        delta(2 * (graph.inputs + index as u32 + 1) - high, out)?;
        delta(high - low, out)?;
    }
    symbols(netlist, options, out)
}

/// A number in groups of seven bits, the lowest first; all but the last have the top bit set.
fn delta(mut number: u32, out: &mut impl Write) -> Result<()> {
    while number > 127 {
        out.write_all(&[number as u8 & 127 | 128])?;
        number >>= 7;
    }
    out.write_all(&[number as u8])
}

fn symbols(netlist: &Netlist, options: &Options, out: &mut impl Write) -> Result<()> {
    for (index, name) in netlist.input_names().iter().enumerate() {
        writeln!(out, "i{index} {}", names::comment(name))?;
    }
    for (index, (name, _)) in netlist.output_list().iter().enumerate() {
        writeln!(out, "o{index} {}", names::comment(name))?;
    }
    writeln!(out, "c")?;
    for line in options.header(netlist) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
