//! A network of gates in normal form, in which equal gates are one.

use std::collections::HashMap;
use std::ops::Not;

use super::super::{Netlist, NetlistBuilder, Signal, TruthTable};

/// A signal of a [`Network`], perhaps inverted: the signal's number times two, plus one when inverted.
///
/// Signals are numbered as in a netlist, but the constant one is the inverted constant zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Literal(u32);

impl Literal {
    pub(crate) const ZERO: Self = Self(0);

    pub(crate) fn new(signal: usize, inverted: bool) -> Self {
        Self((signal as u32) << 1 | u32::from(inverted))
    }

    /// The literal of a netlist's signal that is a constant or an input.
    pub(crate) fn of(signal: Signal) -> Self {
        match signal.as_constant() {
            Some(value) => Self(u32::from(value)),
            None => Self::new(signal.index(), false),
        }
    }

    pub(super) fn signal(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(super) fn inverted(self) -> bool {
        self.0 & 1 != 0
    }

    pub(crate) fn invert_if(self, invert: bool) -> Self {
        Self(self.0 ^ u32::from(invert))
    }
}

impl Not for Literal {
    type Output = Self;
    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// A gate in normal form: its inputs ascend and all matter, and its table is zero at address zero.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Gate {
    pub(super) inputs: Vec<u32>,
    pub(super) table: TruthTable,
}

/// Gates in normal form, in topological order, no two of them alike.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    input_names: Vec<String>,
    gates: Vec<Gate>,
    index: HashMap<Gate, u32>,
    outputs: Vec<(String, Literal)>,
}

impl Network {
    pub(crate) fn new(input_names: Vec<String>) -> Self {
        Self { input_names, gates: Vec::new(), index: HashMap::new(), outputs: Vec::new() }
    }

    /// The network of a netlist.
    pub(super) fn of(netlist: &Netlist) -> Self {
        Self::rebuilt(netlist, |_, _, lut| lut)
    }

    /// The network of a netlist, whose LUTs may be changed on the way: the function is given the literals of the
    /// signals so far, the number of the LUT, and what the LUT would be.
    pub(super) fn rebuilt(
        netlist: &Netlist,
        change: impl Fn(&[Literal], usize, (TruthTable, Vec<Literal>)) -> (TruthTable, Vec<Literal>),
    ) -> Self {
        let mut network = Self::new(netlist.input_names().to_vec());
        let mut literals = vec![Literal::ZERO, !Literal::ZERO];
        literals.extend((0..netlist.inputs()).map(|input| Literal::of(netlist.input(input))));
        for (index, lut) in netlist.iter().enumerate() {
            let inputs = lut.inputs().iter().map(|input| literals[input.index()]).collect();
            let (table, inputs) = change(&literals, index, (lut.table(), inputs));
            literals.push(network.gate(table, inputs));
        }
        for (name, signal) in netlist.output_list() {
            network.output(name.clone(), literals[signal.index()]);
        }
        network
    }

    /// Number of signals that are not gates.
    pub(super) fn first_gate(&self) -> usize {
        Signal::CONSTANTS + self.input_names.len()
    }

    pub(super) fn gates(&self) -> &[Gate] {
        &self.gates
    }

    pub(super) fn outputs(&self) -> &[(String, Literal)] {
        &self.outputs
    }

    pub(super) fn input_names(&self) -> &[String] {
        &self.input_names
    }

    pub(crate) fn output(&mut self, name: String, literal: Literal) {
        self.outputs.push((name, literal));
    }

    /// The literal of a gate: brought to normal form, it may be a constant, an input or a gate that is there already.
    pub(crate) fn gate(&mut self, mut table: TruthTable, mut inputs: Vec<Literal>) -> Literal {
        for (place, input) in inputs.iter_mut().enumerate() {
            if input.inverted() {
                table = table.with_input_inverted(place);
                *input = !*input;
            }
        }
        let mut place = 0;
        while place < inputs.len() {
            let twin = inputs[..place].iter().position(|&other| other == inputs[place]);
            if let Some(twin) = twin {
                table = table.with_inputs_joined(twin, place);
            } else if inputs[place].signal() == 0 || !table.depends_on(place) {
                table = table.cofactor(place, false);
            } else {
                place += 1;
                continue;
            }
            inputs.remove(place);
            // What an input before this one did may have depended on it.
            place = 0;
        }
        let inverted = table.output(0);
        if inverted {
            table = table.inverted();
        }
        match inputs[..] {
            [] => return Literal::ZERO.invert_if(inverted),
            [input] => return input.invert_if(inverted),
            _ => {}
        }
        let mut order: Vec<usize> = (0..inputs.len()).collect();
        order.sort_unstable_by_key(|&place| inputs[place]);
        let table = if order.is_sorted() { table } else { table.with_inputs_ordered(&order) };
        let inputs = order.iter().map(|&place| inputs[place].signal() as u32).collect();
        let next = self.first_gate() + self.gates.len();
        let gates = &mut self.gates;
        let signal = *self.index.entry(Gate { inputs, table }).or_insert_with_key(|gate| {
            gates.push(gate.clone());
            next as u32
        });
        Literal::new(signal as usize, inverted)
    }

    /// The netlist: gates that no output needs are left out, inverters at outputs go into the gates before them.
    pub(crate) fn finish(self) -> Netlist {
        let first = self.first_gate();
        let mut needed = vec![false; first + self.gates.len()];
        // How outputs show each signal: as it is, inverted.
        let mut shown = vec![[false; 2]; needed.len()];
        for (_, literal) in &self.outputs {
            needed[literal.signal()] = true;
            shown[literal.signal()][usize::from(literal.inverted())] = true;
        }
        for (gate, index) in self.gates.iter().zip(first..first + self.gates.len()).rev() {
            if needed[index] {
                gate.inputs.iter().for_each(|&input| needed[input as usize] = true);
            }
        }
        let mut builder =
            NetlistBuilder::new(self.input_names.iter().cloned()).expect("the names were checked");
        let add = |builder: &mut NetlistBuilder, table: &TruthTable, inputs: &[Signal]| {
            builder.add(table.words(), inputs).expect("a gate reads what is before it")
        };
        // Each signal's place in the netlist, and whether it is inverted there.
        let mut places: Vec<(Signal, bool)> = vec![(Signal::ZERO, false); first];
        for input in 0..self.input_names.len() {
            places[Signal::CONSTANTS + input].0 = builder.input(input);
        }
        let mut inverses: HashMap<usize, Signal> = HashMap::new();
        for (gate, index) in self.gates.iter().zip(first..) {
            if !needed[index] {
                places.push((Signal::ZERO, false));
                continue;
            }
            let mut table = gate.table.clone();
            let mut inputs = Vec::with_capacity(gate.inputs.len());
            for (place, &input) in gate.inputs.iter().enumerate() {
                let (signal, inverted) = places[input as usize];
                if inverted {
                    table = table.with_input_inverted(place);
                }
                inputs.push(signal);
            }
            let inverted = shown[index] == [false, true];
            let table = if inverted { table.inverted() } else { table };
            let signal = add(&mut builder, &table, &inputs);
            if shown[index] == [true, true] {
                inverses.insert(index, add(&mut builder, &table.inverted(), &inputs));
            }
            places.push((signal, inverted));
        }
        for (name, literal) in self.outputs {
            let (signal, inverted) = places[literal.signal()];
            let signal = match (literal.signal(), literal.inverted() != inverted) {
                (0, inverted) => Signal::constant(inverted),
                (_, false) => signal,
                (index, true) => *inverses.entry(index).or_insert_with(|| {
                    add(&mut builder, &TruthTable::from_fn(1, |address| address == 0), &[signal])
                }),
            };
            builder.output(name, signal).expect("the names were checked");
        }
        builder.finish()
    }
}
