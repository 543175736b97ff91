//! Merging narrow gates into the gates that read them.

use super::super::TruthTable;
use super::network::{Gate, Literal, Network};

/// The most readers that a gate is copied into.
const READERS: usize = 4;

/// Puts gates into all their readers, wherever every reader then still has at most `arity` inputs: a gate less, and
/// never a longer path.
pub(super) fn merge(network: &Network, arity: usize) -> Network {
    let first = network.first_gate();
    let mut gates: Vec<Gate> = network.gates().to_vec();
    let mut shown = vec![false; gates.len()];
    for (_, literal) in network.outputs() {
        if let Some(gate) = literal.signal().checked_sub(first) {
            shown[gate] = true;
        }
    }
    let mut readers: Vec<Vec<u32>> = vec![Vec::new(); gates.len()];
    for (index, gate) in gates.iter().enumerate() {
        for input in gate.inputs.iter().filter(|&&input| input as usize >= first) {
            readers[*input as usize - first].push(index as u32);
        }
    }
    for index in 0..gates.len() {
        if shown[index] || readers[index].is_empty() || readers[index].len() > READERS {
            continue;
        }
        let signal = (first + index) as u32;
        let joined: Option<Vec<Gate>> = readers[index]
            .iter()
            .map(|&reader| join(&gates[reader as usize], &gates[index], signal, arity))
            .collect();
        let Some(joined) = joined else { continue };
        let into = std::mem::take(&mut readers[index]);
        let inputs = gates[index].inputs.clone();
        for input in inputs.iter().filter_map(|input| (*input as usize).checked_sub(first)) {
            readers[input].retain(|&reader| reader as usize != index);
        }
        for (reader, gate) in into.into_iter().zip(joined) {
            for input in gate.inputs.iter().filter_map(|input| (*input as usize).checked_sub(first)) {
                if !readers[input].contains(&reader) {
                    readers[input].push(reader);
                }
            }
            gates[reader as usize] = gate;
        }
        // Nothing reads the gate any more: it is left out when the network is finished.
    }
    let mut merged = Network::new(network.input_names().to_vec());
    let mut literals: Vec<Literal> = (0..first).map(|signal| Literal::new(signal, false)).collect();
    for (index, gate) in gates.into_iter().enumerate() {
        if !shown[index] && readers[index].is_empty() {
            literals.push(Literal::ZERO);
            continue;
        }
        let inputs = gate.inputs.iter().map(|&input| literals[input as usize]).collect();
        literals.push(merged.gate(gate.table, inputs));
    }
    for (name, literal) in network.outputs() {
        merged.output(name.clone(), literals[literal.signal()].invert_if(literal.inverted()));
    }
    merged
}

/// The reader with a gate put in place of the signal it reads, if it has at most `arity` inputs.
fn join(reader: &Gate, gate: &Gate, signal: u32, arity: usize) -> Option<Gate> {
    let mut inputs: Vec<u32> = reader.inputs.iter().copied().filter(|&input| input != signal).collect();
    for input in &gate.inputs {
        if !inputs.contains(input) {
            inputs.push(*input);
        }
    }
    if inputs.len() > arity {
        return None;
    }
    let place = |input: &u32| inputs.iter().position(|other| other == input);
    let from: Vec<Option<usize>> = reader.inputs.iter().map(place).collect();
    let inner: Vec<usize> = gate.inputs.iter().filter_map(place).collect();
    let table = TruthTable::from_fn(inputs.len(), |address| {
        let below = inner.iter().enumerate().fold(0, |a, (j, &place)| a | (address >> place & 1) << j);
        let output = gate.table.output(below);
        reader.table.output(from.iter().enumerate().fold(0, |a, (j, place)| {
            a | place.map_or(usize::from(output), |place| address >> place & 1) << j
        }))
    });
    Some(Gate { inputs, table })
}
