//! Small parts of a graph, tried with every value at the cut below them.

use std::collections::BTreeSet;

use super::aig::{Aig, Edge, PROJECTIONS};

/// The most inputs of a window.
const INPUTS: usize = 11;
/// The most ANDs of a window.
const ANDS: usize = 400;

/// The nodes between some edges and a small cut below them.
///
/// The values at the cut are taken to be free. So what holds in the window holds in the graph, but not the other way
/// round: values that a window allows may never occur.
pub(crate) struct Window {
    /// The nodes by their place: the constant, the cut, the ANDs.
    nodes: Vec<usize>,
    /// How many of them are the cut.
    inputs: usize,
    /// The edges each AND reads, with places for nodes.
    ands: Vec<[Edge; 2]>,
}

impl Window {
    /// A window below some edges, grown where that brings the fewest new inputs.
    pub(crate) fn below(aig: &Aig, edges: &[Edge]) -> Self {
        let mut inner: BTreeSet<usize> = BTreeSet::new();
        let mut cut: BTreeSet<usize> =
            edges.iter().map(|edge| edge.node()).filter(|&node| node != 0).collect();
        loop {
            let cost = |node: usize| {
                let fanins = aig.fanins(node)?;
                let new = fanins.iter().map(|fanin| fanin.node());
                Some(new.filter(|fanin| !cut.contains(fanin) && !inner.contains(fanin)).count())
            };
            let best = cut.iter().rev().filter_map(|&node| Some((cost(node)?, node)));
            let Some((cost, node)) = best.min_by_key(|&(cost, _)| cost) else { break };
            if cut.len() + cost > INPUTS + 1 || inner.len() >= ANDS {
                break;
            }
            cut.remove(&node);
            inner.insert(node);
            for fanin in aig.fanins(node).into_iter().flatten() {
                if !inner.contains(&fanin.node()) {
                    cut.insert(fanin.node());
                }
            }
        }
        let inputs = cut.len();
        let nodes: Vec<usize> = [0].into_iter().chain(cut).chain(inner.iter().copied()).collect();
        let mut window = Self { nodes, inputs, ands: Vec::with_capacity(inner.len()) };
        for node in inner {
            let fanins = aig.fanins(node).expect("only ANDs are inside");
            let fanins = fanins.map(|fanin| window.local(fanin));
            window.ands.push(fanins);
        }
        window
    }

    /// An edge of the graph with its node's place for its node.
    fn local(&self, edge: Edge) -> Edge {
        let (cut, inner) = self.nodes[1..].split_at(self.inputs);
        let place = match edge.node() {
            0 => 0,
            node => match cut.binary_search(&node) {
                Ok(place) => 1 + place,
                Err(_) => 1 + self.inputs + inner.binary_search(&node).expect("the node is in the window"),
            },
        };
        Edge::new(place, edge.inverted())
    }

    /// Calls a function with the values of all places for every block of 64 values of the cut, while it says so.
    fn all_values(&self, mut each: impl FnMut(&[u64]) -> bool) -> bool {
        let mut values = vec![0; self.nodes.len()];
        (0..(1usize << self.inputs).div_ceil(64)).all(|block| {
            for input in 0..self.inputs {
                values[1 + input] = match PROJECTIONS.get(input) {
                    Some(&projection) => projection,
                    None => 0u64.wrapping_sub((block >> (input - 6) & 1) as u64),
                };
            }
            for (place, [a, b]) in (1 + self.inputs..).zip(&self.ands) {
                values[place] = (values[a.node()] ^ a.mask()) & (values[b.node()] ^ b.mask());
            }
            each(&values)
        })
    }

    /// Whether two edges that the window was made below are equal for all values of the cut.
    pub(crate) fn all_equal(&self, a: Edge, b: Edge) -> bool {
        let (a, b) = (self.local(a), self.local(b));
        self.all_values(|values| values[a.node()] ^ a.mask() == values[b.node()] ^ b.mask())
    }

    /// The addresses that some edges, which the window was made below, have for some values of the cut, as bits.
    pub(crate) fn addresses(&self, edges: &[Edge]) -> Vec<u64> {
        let edges: Vec<Edge> = edges.iter().map(|&edge| self.local(edge)).collect();
        let mut reached = vec![0u64; (1usize << edges.len()).div_ceil(64)];
        self.all_values(|values| {
            let words: Vec<u64> = edges.iter().map(|edge| values[edge.node()] ^ edge.mask()).collect();
            mark_addresses(&words, &mut reached);
            true
        });
        reached
    }
}

/// Marks the addresses that 64 rows have, given the word of each input.
pub(crate) fn mark_addresses(inputs: &[u64], reached: &mut [u64]) {
    // The rows at each address so far, split by one input after another, the last first.
    fn split(inputs: &[u64], rows: u64, address: usize, reached: &mut [u64]) {
        if rows == 0 {
            return;
        }
        match inputs {
            [] => reached[address / 64] |= 1 << (address % 64),
            [before @ .., input] => {
                split(before, rows & !input, address << 1, reached);
                split(before, rows & input, address << 1 | 1, reached);
            }
        }
    }
    split(inputs, u64::MAX, 0, reached);
}
