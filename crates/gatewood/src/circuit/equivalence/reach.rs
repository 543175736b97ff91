//! Which inputs the nodes of a graph reach, in a few bytes a node.

use super::super::aig::Aig;

/// Hashes kept of each node.
const HASHES: usize = 8;

/// For each node and each of some orders of the inputs, the first input that the node reaches.
///
/// Nodes that reach the same inputs agree in all orders, and the more alike the inputs, the more orders agree. So the
/// node of another netlist that a node was made from can be told from others that merely look equal so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Reach {
    first: Vec<[u32; HASHES]>,
}

impl Reach {
    pub(super) fn of(aig: &Aig) -> Self {
        let mut first: Vec<[u32; HASHES]> = Vec::with_capacity(aig.nodes());
        for node in 0..aig.nodes() {
            first.push(match aig.fanins(node) {
                Some([a, b]) => {
                    let (a, b) = (first[a.node()], first[b.node()]);
                    std::array::from_fn(|order| a[order].min(b[order]))
                }
                None if node == 0 => [u32::MAX; HASHES],
                None => std::array::from_fn(|order| scramble((node * HASHES + order) as u64)),
            });
        }
        Self { first }
    }

    /// In how many orders two nodes do not agree.
    pub(super) fn unlike(&self, node: usize, other: usize) -> usize {
        self.first[node].iter().zip(&self.first[other]).filter(|(a, b)| a != b).count()
    }
}

/// A number that looks random, made from another.
fn scramble(number: u64) -> u32 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((number ^ number >> 31) >> 32) as u32
}
