//! Mapping a netlist to LUTs of a given size, and so counting what it takes in hardware.

mod cover;
mod cuts;

use self::cover::Cover;
use self::cuts::{Cut, MAX_LEAVES};
use super::aig::{Aig, Edge, PROJECTIONS};
use super::simplify::{Literal, Network};
use super::{Netlist, SimplifySettings, TruthTable};
use crate::{Error, Result};

/// Rounds of mapping; each starts from what the last made.
const ROUNDS: usize = 2;

impl Netlist {
    /// The same function in LUTs of at most `inputs` inputs, between 2 and 6: as few as can be found without a longer
    /// path than needed. Its [`size`](Netlist::size) is an estimate of what a synthesis tool would make of it.
    ///
    /// # Errors
    /// When `inputs` is out of range.
    pub fn map_to_luts(&self, inputs: usize) -> Result<Self> {
        if !(2..=MAX_LEAVES).contains(&inputs) {
            return Err(Error::setting(format!(
                "LUTs of {inputs} inputs are not between 2 and {MAX_LEAVES}"
            )));
        }
        let settings = SimplifySettings { proofs: true, merge: inputs };
        let start = self.simplify(&settings)?.netlist;
        let mut best = (start.max_arity() <= inputs).then(|| start.clone());
        let mut current = start;
        for _ in 0..ROUNDS {
            let depth = best.as_ref().map(|best| best.depth() as u32);
            let mapped = map(&current, inputs, depth);
            let mapped = mapped.simplify(&SimplifySettings { proofs: false, merge: inputs })?.netlist;
            let better = best
                .as_ref()
                .is_none_or(|best| (mapped.luts(), mapped.depth()) < (best.luts(), best.depth()));
            if !better {
                break;
            }
            best = Some(mapped.clone());
            current = mapped;
        }
        Ok(best.expect("the first round makes one"))
    }
}

/// One round: the netlist as a graph, the LUTs it has as cuts to choose from.
fn map(netlist: &Netlist, inputs: usize, depth: Option<u32>) -> Netlist {
    let mut aig = Aig::new(netlist.inputs());
    let edges: Vec<Edge> = (0..netlist.inputs()).map(|input| aig.input(input)).collect();
    let edges = aig.add_netlist(netlist, &edges);
    let mut seeds: Vec<Option<Vec<u32>>> = vec![None; aig.nodes()];
    for (index, lut) in netlist.iter().enumerate() {
        let node = edges[netlist.lut_signal(index).index()].node();
        let mut leaves: Vec<u32> =
            lut.inputs().iter().map(|input| edges[input.index()].node() as u32).collect();
        leaves.sort_unstable();
        leaves.dedup();
        let cuts = leaves.len() <= inputs && leaves.iter().all(|&leaf| leaf != 0 && (leaf as usize) < node);
        if cuts && node >= aig.first_and() {
            seeds[node] = Some(leaves);
        }
    }
    let outputs: Vec<Edge> = netlist.output_list().iter().map(|(_, signal)| edges[signal.index()]).collect();
    let cover = Cover::find(&aig, &outputs, inputs, &seeds, depth);
    let mut network = Network::new(netlist.input_names().to_vec());
    let mut literals: Vec<Literal> = vec![Literal::ZERO; aig.nodes()];
    for input in 0..netlist.inputs() {
        literals[1 + input] = Literal::of(netlist.input(input));
    }
    let mut values = vec![None; aig.nodes()];
    for node in aig.first_and()..aig.nodes() {
        if let Some(cut) = cover.lut(node) {
            let table = table_of(&aig, node, cut, &mut values);
            let inputs = cut.leaves().iter().map(|&leaf| literals[leaf as usize]).collect();
            literals[node] = network.gate(table, inputs);
        }
    }
    for ((name, _), edge) in netlist.output_list().iter().zip(outputs) {
        network.output(name.clone(), literals[edge.node()].invert_if(edge.inverted()));
    }
    network.finish()
}

/// The function that a node is of the leaves of a cut; `values` is scratch, empty before and after.
fn table_of(aig: &Aig, node: usize, cut: &Cut, values: &mut [Option<u64>]) -> TruthTable {
    let mut touched: Vec<usize> = Vec::new();
    for (&leaf, projection) in cut.leaves().iter().zip(PROJECTIONS) {
        values[leaf as usize] = Some(projection);
        touched.push(leaf as usize);
    }
    let mut waiting = vec![node];
    while let Some(&node) = waiting.last() {
        let fanins = aig.fanins(node).expect("a cut lies below a node on every path");
        match fanins.map(|fanin| Some(values[fanin.node()]? ^ fanin.mask())) {
            [Some(a), Some(b)] => {
                values[node] = Some(a & b);
                touched.push(node);
                waiting.pop();
            }
            known => {
                let missing = fanins.iter().zip(known).filter(|(_, known)| known.is_none());
                waiting.extend(missing.map(|(fanin, _)| fanin.node()));
            }
        }
    }
    let word = values[node].expect("the node was the first to wait");
    touched.into_iter().for_each(|node| values[node] = None);
    TruthTable::from_fn(cut.leaves().len(), |address| word >> address & 1 != 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{equal_everywhere, random_grove_over, random_netlist, random_tree};
    use super::super::{GroveOutputs, PatternLayer, column_names, prove_equal};
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn mapping_keeps_the_function(
            seed in 0u64..1 << 32, inputs in 1usize..12, luts in 1usize..30, arity in 0usize..=9, size in 2usize..=6,
        ) {
            let netlist = random_netlist(seed, inputs, luts, arity);
            let mapped = netlist.map_to_luts(size).unwrap();
            mapped.validate().unwrap();
            prop_assert!(mapped.max_arity() <= size);
            prop_assert!(equal_everywhere(&netlist, &mapped));
        }
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        let netlist = random_netlist(1, 3, 3, 2);
        assert!(netlist.map_to_luts(1).unwrap_err().is_setting());
        assert!(netlist.map_to_luts(7).unwrap_err().is_setting());
    }

    /// The quality of the mapping, pinned: a change that makes it worse should be seen.
    #[test]
    fn counts_do_not_get_worse() {
        let tree = Netlist::from_tree(&random_tree(3, 4, 4, 100), column_names(100)).unwrap();
        let grove = random_grove_over(4, (40, Vec::new(), PatternLayer::default()), 3, 16, 7);
        let grove = Netlist::from_grove(&grove, column_names(40), GroveOutputs::default()).unwrap();
        for (netlist, four, six) in [(&tree, 81, 71), (&grove, 328, 147)] {
            for (size, luts) in [(4, four), (6, six)] {
                let mapped = netlist.map_to_luts(size).unwrap();
                assert!(mapped.luts() <= luts, "{size}: {:?}", mapped.size());
                assert!(prove_equal(netlist, &mapped).unwrap().is_equal());
            }
        }
    }
}
