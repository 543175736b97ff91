//! Circuits as short programs over few slots: what the C and the Rust are made from.

use super::arrays::width;
use crate::circuit::{Grove, MAX_ARITY, Netlist, PatternLayer, Signal, SignalKind, Target, TruthTable};
use crate::{Error, Result};

/// The most inputs of an operation; wider LUTs are split.
pub(super) const WIDEST: usize = 6;

/// One LUT: it reads columns and slots and fills a slot.
///
/// A number below the program's inputs is a column; others, less the inputs, are slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Operation {
    pub(super) table: u64,
    /// One to [`WIDEST`] numbers.
    pub(super) reads: Vec<u32>,
    pub(super) slot: u32,
}

/// Operations in order; slots are filled anew once nothing reads them any more.
#[derive(Debug, Clone, Default)]
pub(super) struct Program {
    pub(super) inputs: u32,
    pub(super) slots: u32,
    pub(super) operations: Vec<Operation>,
    /// What each output shows, as an operation reads it.
    pub(super) outputs: Vec<u32>,
}

/// A program with the slots that are free.
struct Writer {
    program: Program,
    free: Vec<u32>,
}

impl Writer {
    fn new(inputs: usize) -> Self {
        Self { program: Program { inputs: inputs as u32, ..Program::default() }, free: Vec::new() }
    }

    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.program.slots += 1;
            self.program.slots - 1
        })
    }

    /// Adds a LUT, split into muxes where it is too wide; gives its slot, which may be one of those that are `freed`
    /// by it.
    fn lut(&mut self, words: &[u64], reads: &[u32], freed: &[u32]) -> u32 {
        if reads.len() > WIDEST {
            let (low, high) = words.split_at(words.len() / 2);
            let (&select, below) = reads.split_last().expect("a wide LUT has inputs");
            let low = self.lut(low, below, &[]);
            let high = self.lut(high, below, &[]);
            let inputs = self.program.inputs;
            let freed = [&[low, high], freed].concat();
            return self.lut(&[0xca], &[low + inputs, high + inputs, select], &freed);
        }
        // A constant reads the first column and does not mind what it is.
        let (table, reads) = match reads {
            [] => (words[0] * 0b11, vec![0]),
            _ => (words[0], reads.to_vec()),
        };
        self.free.extend(freed);
        let slot = self.take();
        self.program.operations.push(Operation { table, reads, slot });
        slot
    }
}

impl Program {
    /// Bits of the numbers of columns and slots.
    pub(super) fn read_width(&self) -> u32 {
        width(u64::from(self.inputs) + u64::from(self.slots))
    }

    /// The program of a netlist: the LUTs that outputs need, depth first so that few slots are in use at a time.
    pub(super) fn of_netlist(netlist: &Netlist) -> Self {
        let mut remaining = readers(netlist);
        let mut writer = Writer::new(netlist.inputs());
        let mut slots: Vec<Option<u32>> = vec![None; netlist.luts()];
        let mut constants: [Option<u32>; 2] = [None; 2];
        let inputs = writer.program.inputs;
        for (_, output) in netlist.output_list() {
            let mut stack = vec![*output];
            while let Some(&signal) = stack.last() {
                let SignalKind::Lut(index) = netlist.kind(signal) else {
                    if let SignalKind::Constant(value) = netlist.kind(signal) {
                        let slot = &mut constants[usize::from(value)];
                        if slot.is_none() {
                            *slot = Some(writer.lut(&[u64::from(value)], &[], &[]));
                        }
                    }
                    stack.pop();
                    continue;
                };
                let lut = netlist.lut(index);
                let before = stack.len();
                if slots[index].is_none() {
                    stack.extend(lut.inputs().iter().filter(|&&input| match netlist.kind(input) {
                        SignalKind::Lut(below) => slots[below].is_none(),
                        SignalKind::Constant(value) => constants[usize::from(value)].is_none(),
                        SignalKind::Input(_) => false,
                    }));
                }
                if stack.len() > before {
                    continue;
                }
                stack.pop();
                if slots[index].is_some() {
                    continue;
                }
                let number = |signal: Signal| match netlist.kind(signal) {
                    SignalKind::Input(input) => input as u32,
                    SignalKind::Constant(value) => {
                        inputs + constants[usize::from(value)].expect("made above")
                    }
                    SignalKind::Lut(lut) => inputs + slots[lut].expect("made above"),
                };
                let reads: Vec<u32> = lut.inputs().iter().map(|&signal| number(signal)).collect();
                let mut freed = Vec::new();
                for input in lut.inputs() {
                    let count = &mut remaining[input.index()];
                    *count -= 1;
                    if let (SignalKind::Lut(below), 0) = (netlist.kind(*input), *count) {
                        freed.extend(slots[below]);
                    }
                }
                slots[index] = Some(writer.lut(lut.words(), &reads, &freed));
            }
        }
        let outputs = netlist.output_list().iter().map(|&(_, signal)| match netlist.kind(signal) {
            SignalKind::Input(input) => input as u32,
            SignalKind::Constant(value) => inputs + constants[usize::from(value)].expect("made above"),
            SignalKind::Lut(lut) => inputs + slots[lut].expect("made above"),
        });
        writer.program.outputs = outputs.collect();
        writer.program
    }
}

/// How often each signal is read by the outputs and by the LUTs that they need.
fn readers(netlist: &Netlist) -> Vec<u32> {
    let mut counts = vec![0; netlist.signals()];
    netlist.output_list().iter().for_each(|(_, signal)| counts[signal.index()] += 1);
    for index in (0..netlist.luts()).rev() {
        if counts[netlist.lut_signal(index).index()] > 0 {
            netlist.lut(index).inputs().iter().for_each(|input| counts[input.index()] += 1);
        }
    }
    counts
}

/// One vote of a grove's program: the root reads an address, whose vote is added to a margin.
#[derive(Debug, Clone)]
pub(super) struct Vote {
    /// How many operations come before it and after the vote before.
    pub(super) operations: u32,
    /// The address, lowest bit first.
    pub(super) reads: Vec<u32>,
    pub(super) margin: u32,
    /// The votes by address, lifted so that the lowest is zero.
    pub(super) lifted: Vec<u32>,
}

impl Vote {
    /// The same with two address bits or more: a single one counts twice.
    fn widened(self) -> Self {
        match (self.reads.as_slice(), self.lifted.as_slice()) {
            (&[read], &[zero, one]) => Self { reads: vec![read; 2], lifted: vec![zero, 0, 0, one], ..self },
            _ => self,
        }
    }
}

/// A grove as a program: margins start from `start`, none negative, and each vote adds to one.
///
/// A margin is what its sum says plus `lift`, which all margins share, so that classes are compared by their sums alone.
#[derive(Debug, Clone)]
pub(super) struct GroveProgram {
    pub(super) program: Program,
    /// The patterns, which fill the first slots before anything else runs.
    pub(super) patterns: PatternLayer,
    pub(super) votes: Vec<Vote>,
    pub(super) classes: usize,
    pub(super) start: Vec<u32>,
    pub(super) lift: i32,
    /// Bits of the largest sum.
    pub(super) sum_bits: u32,
    /// Bits of the largest lifted vote.
    pub(super) vote_bits: u32,
}

impl GroveProgram {
    /// # Errors
    /// When sums could pass 31 bits.
    pub(super) fn of(grove: &Grove) -> Result<Self> {
        let mut writer = Writer::new(grove.inputs());
        let inputs = writer.program.inputs;
        let mut votes = Vec::new();
        let patterns: Vec<u32> = (0..grove.patterns().columns()).map(|_| inputs + writer.take()).collect();
        let mut made: Vec<u32> = Vec::with_capacity(grove.columns() - grove.inputs());
        let mut lowest: Vec<i64> = grove.bias().iter().map(|&bias| bias.into()).collect();
        let mut highest = vec![0i64; grove.margins()];
        // Patterns and spans come first, and stay in their slots.
        for span in grove.spans() {
            made.push(inputs + writer.lut(span.table().words(), span.columns(), &[]));
        }
        made.extend(patterns);
        let kept = writer.program.slots;
        let mut before = 0;
        for tree in grove.trees() {
            writer.free = (kept..writer.program.slots).rev().collect();
            let column = |&column: &u32| match column.checked_sub(inputs) {
                None => column,
                Some(place) => made[place as usize],
            };
            let mut below: Vec<u32> = tree.leaves().iter().map(column).collect();
            for level in 1..tree.depth() {
                let arity = tree.arities()[level - 1];
                below = below
                    .chunks(arity)
                    .enumerate()
                    .map(|(gate, reads)| {
                        let freed: Vec<u32> = reads
                            .iter()
                            .filter_map(|read| read.checked_sub(inputs))
                            .filter(|&slot| slot >= kept)
                            .collect();
                        inputs + writer.lut(tree.table_words(level, gate), reads, &freed)
                    })
                    .collect();
            }
            let mut operations = (writer.program.operations.len() - before) as u32;
            before = writer.program.operations.len();
            let addresses = 1usize << tree.arities()[tree.depth() - 1];
            let margins = match tree.target() {
                Target::One(margin) => margin..margin + 1,
                Target::All => 0..grove.margins() as u32,
            };
            for (place, margin) in margins.enumerate() {
                let vote = |address: usize| i64::from(tree.votes_at(address)[place]);
                let low = (0..addresses).map(vote).min().unwrap_or(0);
                let lifted: Vec<u32> = (0..addresses).map(|address| (vote(address) - low) as u32).collect();
                lowest[margin as usize] += low;
                highest[margin as usize] += i64::from(lifted.iter().copied().max().unwrap_or(0));
                votes.push(Vote { operations, reads: below.clone(), margin, lifted }.widened());
                operations = 0;
            }
        }
        if votes.is_empty() {
            votes.push(Vote { operations: 0, reads: vec![0, 0], margin: 0, lifted: vec![0; 4] });
        }
        let lift = lowest.iter().copied().min().unwrap_or(0);
        let start: Vec<i64> = lowest.iter().map(|low| low - lift).collect();
        let largest = start.iter().zip(&highest).map(|(start, high)| start + high).max().unwrap_or(0);
        let (Ok(lift), true) = (i32::try_from(lift), largest < 1 << 31) else {
            return Err(Error::too_large("the margins of the grove do not fit 32 bits"));
        };
        let bits = |number: i64| (64 - number.leading_zeros()).max(1);
        let largest_vote = votes.iter().flat_map(|vote| &vote.lifted).copied().max().unwrap_or(0);
        Ok(Self {
            program: writer.program,
            patterns: grove.patterns().clone(),
            votes,
            classes: grove.classes(),
            start: start.into_iter().map(|start| start as u32).collect(),
            lift,
            sum_bits: bits(largest),
            vote_bits: bits(largest_vote.into()),
        })
    }

    /// A vote's table, one bit plane after the other, as many for every vote.
    pub(super) fn planes(&self, vote: &Vote) -> Vec<u64> {
        let arity = vote.reads.len();
        debug_assert!(arity <= MAX_ARITY);
        (0..self.vote_bits)
            .flat_map(|bit| {
                let table = TruthTable::from_fn(arity, |address| vote.lifted[address] >> bit & 1 != 0);
                table.words().to_vec()
            })
            .collect()
    }

    /// Bits of the most matches that a pattern can have.
    pub(super) fn match_bits(&self) -> u32 {
        let most = self.patterns.patterns().iter().map(|pattern| pattern.matches()).max().unwrap_or(0);
        usize::BITS - most.leading_zeros()
    }

    /// Bits of the number of a class.
    pub(super) fn class_bits(&self) -> u32 {
        (usize::BITS - (self.classes - 1).leading_zeros()).max(1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::circuit::testing::random_netlist;

    fn run(program: &Program, row: &[bool]) -> Vec<bool> {
        let mut slots = vec![false; program.slots as usize];
        let value = |slots: &[bool], read: u32| match read.checked_sub(program.inputs) {
            None => row[read as usize],
            Some(slot) => slots[slot as usize],
        };
        for operation in &program.operations {
            assert!((1..=WIDEST).contains(&operation.reads.len()));
            let address = operation
                .reads
                .iter()
                .enumerate()
                .fold(0, |a, (j, &read)| a | u32::from(value(&slots, read)) << j);
            slots[operation.slot as usize] = operation.table >> address & 1 != 0;
        }
        program.outputs.iter().map(|&read| value(&slots, read)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_program_says_what_its_netlist_says(seed in 0u64..1 << 32, luts in 1usize..40, arity in 0usize..=9) {
            let netlist = random_netlist(seed, 6, luts, arity);
            let program = Program::of_netlist(&netlist);
            for row in 0..64usize {
                let bits: Vec<bool> = (0..6).map(|column| row >> column & 1 != 0).collect();
                prop_assert_eq!(run(&program, &bits), netlist.evaluate_row(&bits));
            }
        }
    }
}
