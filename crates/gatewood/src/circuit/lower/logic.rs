//! Adding LUTs to a netlist with the plainest foldings, and counters and comparisons made of them.

use super::super::{NetlistBuilder, Signal, TruthTable};
use super::adder::SumsOf;
use crate::Result;

/// The inputs of a LUT that counters and comparisons are made for.
pub(super) const LUT_INPUTS: usize = 6;

/// A netlist being made, with the logic level of every signal.
pub(super) struct Logic {
    pub(super) builder: NetlistBuilder,
    /// What sums are made of.
    pub(super) sums: SumsOf,
    levels: Vec<u32>,
}

impl Logic {
    pub(super) fn new(builder: NetlistBuilder, sums: SumsOf) -> Self {
        let levels = vec![0; Signal::CONSTANTS + builder.inputs()];
        Self { builder, sums, levels }
    }

    pub(super) fn level(&self, signal: Signal) -> u32 {
        self.levels[signal.index()]
    }

    /// A LUT as it stands.
    pub(super) fn lut(&mut self, words: &[u64], inputs: &[Signal]) -> Result<Signal> {
        let below = inputs.iter().map(|&input| self.level(input)).max().unwrap_or(0);
        let signal = self.builder.add(words, inputs)?;
        self.levels.push(below + 1);
        Ok(signal)
    }

    /// The signal of a function of some inputs: a constant, one of the inputs, or a new LUT of the inputs that matter.
    pub(super) fn function(&mut self, inputs: &[Signal], output: impl Fn(usize) -> bool) -> Result<Signal> {
        let table = TruthTable::from_fn(inputs.len(), output);
        let needed: Vec<usize> = (0..inputs.len())
            .filter(|&input| inputs[input].as_constant().is_none() && depends_on(&table, input))
            .collect();
        let fixed = (0..inputs.len())
            .filter(|&input| inputs[input] == Signal::ONE)
            .fold(0, |address, input| address | 1 << input);
        let spread = |address: usize| {
            needed.iter().enumerate().fold(fixed, |wide, (j, &input)| wide | (address >> j & 1) << input)
        };
        let narrow = TruthTable::from_fn(needed.len(), |address| table.output(spread(address)));
        match needed[..] {
            [] => Ok(Signal::constant(narrow.output(0))),
            [input] if narrow.words() == [0b10] => Ok(inputs[input]),
            _ if narrow.words().iter().all(|&word| word == 0) => Ok(Signal::ZERO),
            _ => {
                let inputs: Vec<Signal> = needed.iter().map(|&input| inputs[input]).collect();
                self.lut(narrow.words(), &inputs)
            }
        }
    }

    /// The sum and the carry of three bits, by gates of two inputs that both share.
    pub(super) fn full_add(&mut self, [a, b, c]: [Signal; 3]) -> Result<(Signal, Signal)> {
        // The bit that is ready last passes the fewest gates; a constant makes gates go away.
        let half = self.function(&[b, c], |address| address == 1 || address == 2)?;
        let both = self.function(&[b, c], |address| address == 3)?;
        let sum = self.function(&[half, a], |address| address == 1 || address == 2)?;
        let carried = self.function(&[half, a], |address| address == 3)?;
        let carry = self.function(&[both, carried], |address| address != 0)?;
        Ok((sum, carry))
    }

    /// Pairs of bits that a comparison takes a LUT: as many as fit, or one where gates are to be small.
    fn compared_pairs(&self, room: usize) -> usize {
        match self.sums {
            SumsOf::Counters => room / 2,
            SumsOf::FullAdders => 1,
        }
    }

    /// Whether number `a` is above number `b`, both given as bits, the lowest first.
    pub(super) fn above(&mut self, a: &[Signal], b: &[Signal]) -> Result<Signal> {
        let width = a.len().max(b.len());
        let bit = |number: &[Signal], index: usize| number.get(index).copied().unwrap_or(Signal::ZERO);
        let mut above = Signal::ZERO;
        let mut index = 0;
        while index < width {
            // The carry takes one input once it is not a constant, each pair of bits two.
            let room = LUT_INPUTS - usize::from(above != Signal::ZERO);
            let pairs = self.compared_pairs(room).min(width - index);
            let mut inputs: Vec<Signal> = Vec::new();
            inputs.extend((index..index + pairs).map(|index| bit(a, index)));
            inputs.extend((index..index + pairs).map(|index| bit(b, index)));
            inputs.push(above);
            let mask = (1 << pairs) - 1;
            above = self.function(&inputs, |address| {
                let (a, b) = (address & mask, address >> pairs & mask);
                a > b || (a == b && address >> (2 * pairs) & 1 != 0)
            })?;
            index += pairs;
        }
        Ok(above)
    }

    /// `one` where `select` is one, else `zero`, bit by bit.
    pub(super) fn choose(&mut self, select: Signal, zero: &[Signal], one: &[Signal]) -> Result<Vec<Signal>> {
        let bit = |number: &[Signal], index: usize| number.get(index).copied().unwrap_or(Signal::ZERO);
        (0..zero.len().max(one.len()))
            .map(|index| match (bit(zero, index), bit(one, index)) {
                (zero, one) if zero == one => Ok(zero),
                (zero, one) => self.function(&[zero, one, select], |address| {
                    address >> (if address & 4 != 0 { 1 } else { 0 }) & 1 != 0
                }),
            })
            .collect()
    }
}

fn depends_on(table: &TruthTable, input: usize) -> bool {
    (0..1usize << table.arity()).any(|address| table.output(address) != table.output(address ^ 1 << input))
}
