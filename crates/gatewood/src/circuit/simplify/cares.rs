//! Addresses that cannot occur, and gates that are equal though made differently.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use super::super::aig::{Aig, Edge};
use super::super::classes::Classes;
use super::super::solver::{self, Effort, Verdict};
use super::super::window::mark_addresses;
use super::super::{Deadline, Netlist, Signal, TruthTable};
use super::network::{Literal, Network};

/// Rounds of 64 random rows; what occurs in none of them is a candidate for a proof.
const ROUNDS: usize = 128;
/// What is spent on a pair of gates that look equal.
const PAIR: Effort = Effort { conflicts: 100, nodes: 150, deadline: Deadline::NONE };

/// The network with gates freed of inputs that only matter at addresses that cannot occur, and with equal gates made one.
pub(super) fn reduce(netlist: &Netlist) -> Network {
    let (reached, classes) = simulate(netlist);
    let mut aig = Aig::new(netlist.inputs());
    let inputs: Vec<Edge> = (0..netlist.inputs()).map(|input| aig.input(input)).collect();
    let edges = aig.add_netlist(netlist, &inputs);
    Network::rebuilt(netlist, |literals, index, (table, inputs)| {
        let signal = netlist.lut_signal(index);
        if let Some(equal) = equal_signal(&aig, &edges, &classes, signal) {
            let literal = literals[equal.0].invert_if(equal.1);
            return (TruthTable::from_fn(1, |address| address == 1), vec![literal]);
        }
        let reads: Vec<Edge> = netlist.lut(index).inputs().iter().map(|input| edges[input.index()]).collect();
        let unseen: Vec<usize> =
            (0..1usize << table.arity()).filter(|&a| reached[index][a / 64] >> (a % 64) & 1 == 0).collect();
        if unseen.is_empty() {
            return (table, inputs);
        }
        let impossible = solver::impossible_addresses(&aig, &reads, &unseen);
        if impossible.is_empty() { (table, inputs) } else { drop_inputs(table, inputs, &impossible) }
    })
}

/// The addresses seen at each LUT in random rows, and the signals that were equal in all of them.
fn simulate(netlist: &Netlist) -> (Vec<Vec<u64>>, Classes) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut reached: Vec<Vec<u64>> = netlist.iter().map(|lut| vec![0; lut.words().len()]).collect();
    let mut classes: Option<Classes> = None;
    let mut words = Vec::new();
    for round in 0..ROUNDS {
        let inputs: Vec<u64> = (0..netlist.inputs())
            .map(|_| match round % 8 {
                6 => rng.next_u64() & rng.next_u64(),
                7 => rng.next_u64() | rng.next_u64(),
                _ => rng.next_u64(),
            })
            .collect();
        let values = netlist.simulate_word(&inputs);
        match &mut classes {
            None => classes = Some(Classes::new(&values)),
            Some(classes) => classes.refine(&values),
        }
        for (lut, reached) in netlist.iter().zip(&mut reached) {
            let all = 1u32 << lut.arity();
            if reached.iter().map(|word| word.count_ones()).sum::<u32>() < all {
                words.clear();
                words.extend(lut.inputs().iter().map(|input| values[input.index()]));
                mark_addresses(&words, reached);
            }
        }
    }
    (reached, classes.expect("there is a round"))
}

/// A signal before this one that is proven equal to it, and whether it is its inverse.
fn equal_signal(aig: &Aig, edges: &[Edge], classes: &Classes, signal: Signal) -> Option<(usize, bool)> {
    let (candidate, inverted) = classes.candidate(signal.index())?;
    let theirs = edges[candidate].invert_if(inverted);
    let verdict = solver::compare(aig, edges[signal.index()], theirs, PAIR);
    (verdict == Verdict::Equal).then_some((candidate, inverted))
}

/// The gate without the inputs that do not matter once some addresses may give any output.
fn drop_inputs(
    mut table: TruthTable,
    mut inputs: Vec<Literal>,
    impossible: &[usize],
) -> (TruthTable, Vec<Literal>) {
    let mut cares = TruthTable::from_fn(table.arity(), |address| impossible.binary_search(&address).is_err());
    let mut place = table.arity();
    while place > 0 {
        place -= 1;
        let [zero, one] = [false, true].map(|value| table.cofactor(place, value));
        let [care_zero, care_one] = [false, true].map(|value| cares.cofactor(place, value));
        let matters = (0..1usize << zero.arity()).any(|address| {
            care_zero.output(address)
                && care_one.output(address)
                && zero.output(address) != one.output(address)
        });
        if !matters {
            table = TruthTable::from_fn(zero.arity(), |address| {
                if care_one.output(address) { one.output(address) } else { zero.output(address) }
            });
            cares = TruthTable::from_fn(zero.arity(), |address| {
                care_zero.output(address) || care_one.output(address)
            });
            inputs.remove(place);
        }
    }
    (table, inputs)
}
