//! AIGER, ascii and binary, with a symbol table.

use std::io::{Result, Write};

use crate::circuit::Netlist;
use crate::circuit::aig::{Aig, Edge};
use crate::export::{Options, names};

/// The graph of a netlist and the edges of its outputs.
///
/// Its nodes are numbered as AIGER numbers variables: the constant, the inputs, then the ands.
fn graph(netlist: &Netlist) -> (Aig, Vec<Edge>) {
    Aig::of_netlist(netlist)
}

fn literal(edge: Edge) -> usize {
    2 * edge.node() + usize::from(edge.inverted())
}

/// The ands, each with its own literal and those it reads, the larger first.
fn ands(graph: &Aig) -> impl Iterator<Item = [usize; 3]> {
    (graph.first_and()..graph.nodes()).map(|node| {
        let [a, b] = graph.fanins(node).expect("these nodes are ands").map(literal);
        [2 * node, a.max(b), a.min(b)]
    })
}

fn start(graph: &Aig, kind: &str, outputs: &[Edge], out: &mut impl Write) -> Result<()> {
    let (variables, ands) = (graph.nodes() - 1, graph.nodes() - graph.first_and());
    writeln!(out, "{kind} {variables} {} 0 {} {ands}", graph.inputs(), outputs.len())
}

pub(in crate::export) fn write_ascii(
    netlist: &Netlist,
    options: &Options,
    out: &mut impl Write,
) -> Result<()> {
    let (graph, outputs) = graph(netlist);
    start(&graph, "aag", &outputs, out)?;
    for input in 0..graph.inputs() {
        writeln!(out, "{}", literal(graph.input(input)))?;
    }
    for output in outputs {
        writeln!(out, "{}", literal(output))?;
    }
    for [this, high, low] in ands(&graph) {
        writeln!(out, "{this} {high} {low}")?;
    }
    symbols(netlist, options, out)
}

pub(in crate::export) fn write_binary(
    netlist: &Netlist,
    options: &Options,
    out: &mut impl Write,
) -> Result<()> {
    let (graph, outputs) = graph(netlist);
    start(&graph, "aig", &outputs, out)?;
    for output in outputs {
        writeln!(out, "{}", literal(output))?;
    }
    for [this, high, low] in ands(&graph) {
        delta(this - high, out)?;
        delta(high - low, out)?;
    }
    symbols(netlist, options, out)
}

/// A number in groups of seven bits, the lowest first; all but the last have the top bit set.
fn delta(mut number: usize, out: &mut impl Write) -> Result<()> {
    while number > 127 {
        out.write_all(&[number as u8 & 127 | 128])?;
        number >>= 7;
    }
    out.write_all(&[number as u8])
}

fn symbols(netlist: &Netlist, options: &Options, out: &mut impl Write) -> Result<()> {
    let safe = |name: &String| names::safe(name);
    let inputs = names::unique(netlist.input_names().iter().map(safe).collect());
    for (index, name) in inputs.iter().enumerate() {
        writeln!(out, "i{index} {name}")?;
    }
    let outputs = names::unique(netlist.output_list().iter().map(|(name, _)| safe(name)).collect());
    for (index, name) in outputs.iter().enumerate() {
        writeln!(out, "o{index} {name}")?;
    }
    writeln!(out, "c")?;
    for line in options.header(netlist) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
