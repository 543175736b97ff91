//! And-inverter graphs: the common ground on which netlists are compared and mapped.

use std::collections::HashMap;
use std::ops::Not;

use super::{Lut, Netlist, Signal};

/// A node of an [`Aig`], perhaps inverted: the node's number times two, plus one when inverted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Edge(u32);

impl Edge {
    pub(crate) const FALSE: Self = Self(0);
    pub(crate) const TRUE: Self = Self(1);

    pub(crate) fn new(node: usize, inverted: bool) -> Self {
        Self((node as u32) << 1 | u32::from(inverted))
    }

    pub(crate) fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(crate) fn inverted(self) -> bool {
        self.0 & 1 != 0
    }

    /// The edge, inverted once more where `invert` says so.
    pub(crate) fn invert_if(self, invert: bool) -> Self {
        Self(self.0 ^ u32::from(invert))
    }

    /// All ones when inverted, else zeros: what to xor a node's word with.
    pub(crate) fn mask(self) -> u64 {
        0u64.wrapping_sub(u64::from(self.0 & 1))
    }
}

impl Not for Edge {
    type Output = Self;
    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// A network of two-input ANDs with inverters on the edges, no two of them alike.
///
/// Node 0 is the constant zero, nodes `1..=inputs` are the inputs, the ANDs follow in topological order.
#[derive(Debug, Clone)]
pub(crate) struct Aig {
    inputs: usize,
    ands: Vec<[Edge; 2]>,
    index: HashMap<[Edge; 2], u32>,
}

impl Aig {
    pub(crate) fn new(inputs: usize) -> Self {
        Self { inputs, ands: Vec::new(), index: HashMap::new() }
    }

    pub(crate) fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of nodes, the constant and the inputs included.
    pub(crate) fn nodes(&self) -> usize {
        1 + self.inputs + self.ands.len()
    }

    pub(crate) fn input(&self, index: usize) -> Edge {
        debug_assert!(index < self.inputs);
        Edge::new(1 + index, false)
    }

    /// The two edges an AND reads; nothing for the constant and the inputs.
    pub(crate) fn fanins(&self, node: usize) -> Option<[Edge; 2]> {
        node.checked_sub(1 + self.inputs).map(|index| self.ands[index])
    }

    /// The first node that is an AND.
    pub(crate) fn first_and(&self) -> usize {
        1 + self.inputs
    }

    pub(crate) fn and(&mut self, a: Edge, b: Edge) -> Edge {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        if a == Edge::FALSE || a == !b {
            return Edge::FALSE;
        }
        if a == Edge::TRUE || a == b {
            return b;
        }
        let next = self.nodes();
        let node = *self.index.entry([a, b]).or_insert_with(|| {
            self.ands.push([a, b]);
            next as u32
        });
        Edge::new(node as usize, false)
    }

    pub(crate) fn or(&mut self, a: Edge, b: Edge) -> Edge {
        !self.and(!a, !b)
    }

    pub(crate) fn xor(&mut self, a: Edge, b: Edge) -> Edge {
        // Inverters pass through, so that a function and those with inverted inputs share their nodes.
        let inverted = a.inverted() != b.inverted();
        let (a, b) = (a.invert_if(a.inverted()), b.invert_if(b.inverted()));
        let (both, neither) = (self.and(a, b), self.and(!a, !b));
        self.and(!both, !neither).invert_if(inverted)
    }

    /// `one` where `select` is one, else `zero`.
    pub(crate) fn choose(&mut self, select: Edge, zero: Edge, one: Edge) -> Edge {
        let (low, high) = (self.and(!select, zero), self.and(select, one));
        self.or(low, high)
    }

    /// The same graph with nothing but the nodes that some edges need, and those edges in it.
    pub(crate) fn swept(&self, outputs: &[Edge]) -> (Self, Vec<Edge>) {
        let mut needed = vec![false; self.nodes()];
        outputs.iter().for_each(|edge| needed[edge.node()] = true);
        for node in (self.first_and()..self.nodes()).rev() {
            if needed[node] {
                self.fanins(node).into_iter().flatten().for_each(|edge| needed[edge.node()] = true);
            }
        }
        let mut swept = Self::new(self.inputs);
        let mut edges: Vec<Edge> = (0..self.first_and()).map(|node| Edge::new(node, false)).collect();
        for (&[a, b], &is_needed) in self.ands.iter().zip(&needed[self.first_and()..]) {
            let edge = |edge: Edge| edges[edge.node()].invert_if(edge.inverted());
            let made = if is_needed { swept.and(edge(a), edge(b)) } else { Edge::FALSE };
            edges.push(made);
        }
        let outputs = outputs.iter().map(|edge| edges[edge.node()].invert_if(edge.inverted())).collect();
        (swept, outputs)
    }

    /// A netlist as a graph that has nothing but what the outputs need, and the edges of the outputs.
    pub(crate) fn of_netlist(netlist: &Netlist) -> (Self, Vec<Edge>) {
        let mut graph = Self::new(netlist.inputs());
        let inputs: Vec<Edge> = (0..netlist.inputs()).map(|input| graph.input(input)).collect();
        let edges = graph.add_netlist(netlist, &inputs);
        let outputs: Vec<Edge> =
            netlist.output_list().iter().map(|(_, signal)| edges[signal.index()]).collect();
        graph.swept(&outputs)
    }

    /// Adds a netlist whose inputs are the given edges; the edge of every signal, by its number.
    pub(crate) fn add_netlist(&mut self, netlist: &Netlist, inputs: &[Edge]) -> Vec<Edge> {
        let mut edges = Vec::with_capacity(netlist.signals());
        edges.extend([Edge::FALSE, Edge::TRUE]);
        edges.extend_from_slice(inputs);
        for lut in netlist.iter() {
            let edge = self.add_lut(lut, |signal| edges[signal.index()]);
            edges.push(edge);
        }
        edges
    }

    /// Adds a LUT that reads the edges of its signals.
    pub(crate) fn add_lut(&mut self, lut: Lut<'_>, edge: impl Fn(Signal) -> Edge) -> Edge {
        let inputs: Vec<Edge> = lut.inputs().iter().map(|&signal| edge(signal)).collect();
        self.wide(lut.words(), &inputs)
    }

    /// A function of any number of inputs: split by its highest inputs until six are left.
    fn wide(&mut self, words: &[u64], inputs: &[Edge]) -> Edge {
        if inputs.len() <= 6 {
            return self.function(stretch(words[0], inputs.len()), inputs);
        }
        let (low, high) = words.split_at(words.len() / 2);
        let (select, inputs) = (inputs[inputs.len() - 1], &inputs[..inputs.len() - 1]);
        let zero = self.wide(low, inputs);
        if low == high {
            return zero;
        }
        let one = self.wide(high, inputs);
        self.choose(select, zero, one)
    }

    /// A function of up to six inputs whose table is stretched over the whole word.
    pub(crate) fn function(&mut self, table: u64, inputs: &[Edge]) -> Edge {
        let mut memo = HashMap::new();
        self.split(table, inputs, &mut memo)
    }

    fn split(&mut self, table: u64, inputs: &[Edge], memo: &mut HashMap<u64, Edge>) -> Edge {
        if table == 0 || table == u64::MAX {
            return Edge::FALSE.invert_if(table != 0);
        }
        // A function and its inverse are made of the same nodes.
        let inverted = table & 1 != 0;
        let table = if inverted { !table } else { table };
        if let Some(edge) = memo.get(&table) {
            return edge.invert_if(inverted);
        }
        let (_, input) = (0..inputs.len())
            .filter_map(|input| Some((split_cost(table, input)?, input)))
            .min()
            .expect("a function that is not constant depends on an input");
        let select = inputs[input];
        let (zero, one) = (cofactor(table, input, false), cofactor(table, input, true));
        let edge = if one == !zero {
            let zero = self.split(zero, inputs, memo);
            self.xor(select, zero)
        } else {
            let (zero, one) = (self.split(zero, inputs, memo), self.split(one, inputs, memo));
            match (zero, one) {
                (Edge::FALSE, one) => self.and(select, one),
                (zero, Edge::FALSE) => self.and(!select, zero),
                (Edge::TRUE, one) => self.or(!select, one),
                (zero, Edge::TRUE) => self.or(select, zero),
                (zero, one) => self.choose(select, zero, one),
            }
        };
        memo.insert(table, edge);
        edge.invert_if(inverted)
    }

    /// The value of every node for 64 rows, given the word of each input.
    pub(crate) fn simulate(&self, inputs: impl IntoIterator<Item = u64>, values: &mut Vec<u64>) {
        values.clear();
        values.reserve(self.nodes());
        values.push(0);
        values.extend(inputs);
        debug_assert_eq!(values.len(), 1 + self.inputs);
        for &[a, b] in &self.ands {
            let value = (values[a.node()] ^ a.mask()) & (values[b.node()] ^ b.mask());
            values.push(value);
        }
    }
}

/// The words that hold each of six inputs at every address.
pub(crate) const PROJECTIONS: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// A table of `arity` inputs, at most six, repeated over the whole word.
pub(crate) fn stretch(table: u64, arity: usize) -> u64 {
    (arity..6).fold(table, |table, arity| table | table << (1u32 << arity))
}

/// A stretched table with one input fixed.
pub(crate) fn cofactor(table: u64, input: usize, value: bool) -> u64 {
    let (mask, shift) = (PROJECTIONS[input], 1u32 << input);
    if value {
        let high = table & mask;
        high | high >> shift
    } else {
        let low = table & !mask;
        low | low << shift
    }
}

/// How many inputs a stretched table depends on.
pub(crate) fn support(table: u64) -> usize {
    (0..6).filter(|&input| cofactor(table, input, false) != cofactor(table, input, true)).count()
}

/// A guess at the ANDs it takes to split a function by an input; nothing when it does not depend on it.
fn split_cost(table: u64, input: usize) -> Option<usize> {
    let (zero, one) = (cofactor(table, input, false), cofactor(table, input, true));
    let constant = |table: u64| table == 0 || table == u64::MAX;
    match () {
        () if zero == one => None,
        () if constant(zero) => Some(1 + support(one)),
        () if constant(one) => Some(1 + support(zero)),
        () if one == !zero => Some(3 + support(zero)),
        () => Some(3 + support(zero) + support(one)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::random_netlist;
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_graph_computes_what_its_netlist_computes(seed in 0u64..1 << 32, arity in 0usize..=8) {
            let netlist = random_netlist(seed, 6, 10, arity);
            let mut aig = Aig::new(6);
            let inputs: Vec<Edge> = (0..6).map(|input| aig.input(input)).collect();
            let edges = aig.add_netlist(&netlist, &inputs);
            let expected = netlist.simulate_word(&PROJECTIONS);
            let mut values = Vec::new();
            aig.simulate(PROJECTIONS, &mut values);
            for (edge, expected) in edges.iter().zip(expected) {
                prop_assert_eq!(values[edge.node()] ^ edge.mask(), expected);
            }
        }
    }

    #[test]
    fn equal_ands_are_one_node() {
        let mut aig = Aig::new(2);
        let (a, b) = (aig.input(0), aig.input(1));
        assert_eq!(aig.and(a, b), aig.and(b, a));
        assert_eq!(aig.and(a, !a), Edge::FALSE);
        assert_eq!(aig.and(a, Edge::TRUE), a);
        let nodes = aig.nodes();
        assert_eq!(aig.xor(a, b), !aig.xor(!a, b));
        assert_eq!(aig.nodes(), nodes + 2, "one of the three is the AND there was");
    }
}
