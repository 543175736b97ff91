//! How many LUTs a grove takes, counted part by part: for groves whose whole netlist is too large to be made.

use std::collections::HashMap;

use super::super::{
    Grove, Netlist, NetlistBuilder, NetlistSize, Pattern, PatternLayer, Signal, SimplifySettings,
};
use super::adder::{Sum, SumsOf};
use super::logic::Logic;
use super::{GroveOutputs, column_names};
use crate::{Error, Result};

/// LUTs up to which the trees and the sums of their votes are mapped; above, they are only simplified.
const MOST_MAPPED: usize = 50_000;

/// Two parts, one after the other.
fn after(first: NetlistSize, then: NetlistSize) -> NetlistSize {
    NetlistSize { luts: first.luts + then.luts, depth: first.depth + then.depth }
}

/// Two parts, one beside the other.
fn beside(one: NetlistSize, other: NetlistSize) -> NetlistSize {
    NetlistSize { luts: one.luts + other.luts, depth: one.depth.max(other.depth) }
}

const NOTHING: NetlistSize = NetlistSize { luts: 0, depth: 0 };

impl Grove {
    /// So many LUTs of `inputs` inputs, 2 to 6, are enough, on so many levels. The trees with their sums and every pattern
    /// are counted by themselves, and nothing is shared between them: the whole netlist takes less, but it need not be made.
    ///
    /// # Errors
    /// When `inputs` is out of range, or memory runs out.
    pub fn size_in_parts(&self, inputs: usize) -> Result<NetlistSize> {
        if !(2..=6).contains(&inputs) {
            return Err(Error::setting(format!("LUTs of {inputs} inputs are not between 2 and 6")));
        }
        let mut features = NOTHING;
        for span in self.spans() {
            features = beside(features, tree(span.columns().len(), inputs));
        }
        features = beside(features, Counted::new(inputs).layer(self.patterns())?);
        // Spans and patterns are inputs here.
        let (none, columns) = ((Vec::new(), PatternLayer::default()), self.columns());
        let (output, bias) = (self.output(), self.bias().to_vec());
        let trees = Self::with_output(columns, none, output, bias, self.unit(), self.trees().to_vec())?;
        let sums = if inputs < 6 { SumsOf::FullAdders } else { SumsOf::Counters };
        let names = column_names(columns);
        let netlist = Netlist::from_grove_with(&trees, names, GroveOutputs::default(), sums)?;
        let trees = if netlist.luts() <= MOST_MAPPED || netlist.max_arity() > inputs {
            netlist.map_to_luts(inputs)?.size()
        } else {
            netlist.simplify(&SimplifySettings { proofs: false, merge: inputs })?.after
        };
        Ok(after(features, trees))
    }
}

/// A gate of any number of inputs, as a tree of LUTs.
fn tree(gate: usize, inputs: usize) -> NetlistSize {
    let luts = gate.saturating_sub(1).div_ceil(inputs - 1);
    let (mut depth, mut reach) = (0, 1);
    while reach < gate {
        (depth, reach) = (depth + 1, reach * inputs);
    }
    NetlistSize { luts, depth }
}

/// What was counted before: patterns are alike.
struct Counted {
    inputs: usize,
    /// Counters, by how many bits they count.
    counters: HashMap<usize, NetlistSize>,
    /// Comparisons of numbers of so many bits with a threshold.
    comparisons: HashMap<(usize, u32), NetlistSize>,
}

impl Counted {
    fn new(inputs: usize) -> Self {
        Self { inputs, counters: HashMap::new(), comparisons: HashMap::new() }
    }

    fn layer(&mut self, layer: &PatternLayer) -> Result<NetlistSize> {
        let mut all = NOTHING;
        for pattern in layer.patterns() {
            all = beside(all, self.pattern(pattern)?);
        }
        Ok(all)
    }

    /// A pattern, all of whose literals and shifts read inputs of their own.
    fn pattern(&mut self, pattern: &Pattern) -> Result<NetlistSize> {
        let (literals, shifts, inputs) = (pattern.literals().len(), pattern.matches(), self.inputs);
        let each = tree(literals, inputs);
        let matches = NetlistSize { luts: each.luts * shifts, depth: each.depth };
        if pattern.thresholds() == [1] {
            // As many matches as fit a LUT are looked for in one.
            return Ok(match inputs / literals {
                fit if fit < 2 => after(matches, tree(shifts, inputs)),
                1.. if literals == 1 => tree(shifts, inputs),
                fit => {
                    let luts = shifts.div_ceil(fit);
                    after(NetlistSize { luts, depth: 1 }, tree(luts, inputs))
                }
            });
        }
        let width = (usize::BITS - shifts.leading_zeros()) as usize;
        let mut pooled = NOTHING;
        for &threshold in pattern.thresholds() {
            pooled = beside(
                pooled,
                match threshold {
                    1 => tree(shifts, inputs),
                    _ => after(
                        NetlistSize { luts: 0, depth: self.counter(shifts)?.depth },
                        self.comparison(width, threshold)?,
                    ),
                },
            );
        }
        let counter = self.counter(shifts)?;
        Ok(after(matches, NetlistSize { luts: pooled.luts + counter.luts, ..pooled }))
    }

    /// A counter of so many bits.
    fn counter(&mut self, bits: usize) -> Result<NetlistSize> {
        if let Some(&size) = self.counters.get(&bits) {
            return Ok(size);
        }
        let size = self.mapped(bits, |logic, inputs| {
            let mut sum = Sum::default();
            inputs.iter().for_each(|&input| sum.add_bit(0, input));
            sum.finish(logic, (usize::BITS - bits.leading_zeros()) as usize)
        })?;
        self.counters.insert(bits, size);
        Ok(size)
    }

    /// Whether a number of so many bits reaches a threshold.
    fn comparison(&mut self, width: usize, threshold: u32) -> Result<NetlistSize> {
        if let Some(&size) = self.comparisons.get(&(width, threshold)) {
            return Ok(size);
        }
        let size = self.mapped(width, |logic, count| {
            let below: Vec<Signal> =
                (0..width).map(|place| Signal::constant((threshold - 1) >> place & 1 != 0)).collect();
            Ok(vec![logic.above(count, &below)?])
        })?;
        self.comparisons.insert((width, threshold), size);
        Ok(size)
    }

    /// What becomes of a little circuit.
    fn mapped(
        &self,
        inputs: usize,
        make: impl Fn(&mut Logic, &[Signal]) -> Result<Vec<Signal>>,
    ) -> Result<NetlistSize> {
        let sums = if self.inputs < 6 { SumsOf::FullAdders } else { SumsOf::Counters };
        let mut logic = Logic::new(NetlistBuilder::new(column_names(inputs))?, sums);
        let signals: Vec<Signal> = (0..inputs).map(|input| logic.builder.input(input)).collect();
        for (place, signal) in make(&mut logic, &signals)?.into_iter().enumerate() {
            logic.builder.output(format!("out{place}"), signal)?;
        }
        Ok(logic.builder.finish().map_to_luts(self.inputs)?.size())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::random_grove_over;
    use super::super::super::{Literal, Planes};
    use super::*;

    #[test]
    fn the_whole_takes_no_more_than_its_parts() {
        let literal = |plane, x, y, value| Literal { plane, x, y, value };
        let planes = Planes::new(5, 4, (0..40).map(Some)).unwrap();
        let patterns = vec![
            Pattern::new(vec![literal(0, 0, 0, true)], (5, 4), vec![3, 9]).unwrap(),
            Pattern::new(vec![literal(0, 0, 0, true), literal(1, 1, 0, false)], (4, 4), vec![1]).unwrap(),
            Pattern::new((0..7).map(|at| literal(0, at / 3, at % 3, at < 3)).collect(), (3, 2), vec![1, 2])
                .unwrap(),
        ];
        let layer = PatternLayer::new(planes, patterns).unwrap();
        for (seed, classes) in [(1, 2), (2, 3)] {
            let grove = random_grove_over(seed, (40, Vec::new(), layer.clone()), classes, 12, 9);
            for inputs in [4, 6] {
                let sums = if inputs < 6 { SumsOf::FullAdders } else { SumsOf::Counters };
                let names = column_names(40);
                let whole = Netlist::from_grove_with(&grove, names, GroveOutputs::default(), sums).unwrap();
                let (whole, parts) =
                    (whole.map_to_luts(inputs).unwrap().size(), grove.size_in_parts(inputs).unwrap());
                assert!(whole.luts <= parts.luts, "{whole:?} {parts:?}");
                assert!(parts.luts < 3 * whole.luts + 60, "{whole:?} {parts:?}");
            }
        }
        let grove = random_grove_over(1, (40, Vec::new(), layer), 2, 12, 9);
        assert!(grove.size_in_parts(7).is_err() && grove.size_in_parts(1).is_err());
        let sizes = [(1, 0, 0), (6, 1, 1), (7, 2, 2), (36, 7, 2), (37, 8, 3)];
        for (gate, luts, depth) in sizes {
            assert_eq!(tree(gate, 6), NetlistSize { luts, depth });
        }
    }
}
