//! Sums of many weighted bits, made of counters that fit a LUT of six inputs, or of full adders.

use super::super::Signal;
use super::logic::{LUT_INPUTS, Logic};
use crate::Result;

/// What sums of votes are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SumsOf {
    /// Counters of up to six inputs, of which each takes away the most bits a LUT of six inputs can.
    #[default]
    Counters,
    /// Full adders: seven ANDs each, or two LUTs of three inputs.
    FullAdders,
}

/// A number that is the sum of bits, bit `i` of column `c` counting `2^c`, and of a constant.
#[derive(Debug, Clone, Default)]
pub(super) struct Sum {
    columns: Vec<Vec<Signal>>,
    constant: u64,
}

/// A counter: how many bits it takes from a column and the two above, and how many output bits it has.
#[derive(Debug, Clone, Copy)]
struct Counter {
    takes: [usize; 3],
    outputs: usize,
}

impl Sum {
    pub(super) fn add_bit(&mut self, column: usize, bit: Signal) {
        if self.columns.len() <= column {
            self.columns.resize(column + 1, Vec::new());
        }
        self.columns[column].push(bit);
    }

    /// Adds a constant, which may wrap: the sum is made modulo a power of two.
    pub(super) fn add_constant(&mut self, constant: i64) {
        self.constant = self.constant.wrapping_add(constant as u64);
    }

    /// The low `width` bits of the sum, the lowest first.
    ///
    /// Columns are finished from the lowest up. Counters of six bits take away one bit a LUT, the most that LUTs of six
    /// inputs can, and take the bits that are ready first, so that the depth stays that of a tree. What is left, two or
    /// three bits a column, is rippled over two or three columns at a time.
    pub(super) fn finish(mut self, logic: &mut Logic, width: usize) -> Result<Vec<Signal>> {
        self.columns.resize(self.columns.len().max(width + 3), Vec::new());
        self.columns.truncate(width + 3);
        for column in &mut self.columns {
            // The latest bits first, so that the earliest are popped first.
            column.sort_by_key(|&bit| std::cmp::Reverse((logic.level(bit), bit)));
        }
        if logic.sums == SumsOf::FullAdders {
            return self.finish_by_full_adders(logic, width);
        }
        let mut bits = Vec::with_capacity(width);
        for column in 0..width {
            loop {
                let one = self.constant >> column & 1 != 0;
                if self.columns[column].len() + usize::from(one) <= 1 {
                    bits.push(self.columns[column].pop().unwrap_or(Signal::constant(one)));
                    break;
                }
                let counter = self.best_counter(logic, column, width - column);
                self.constant &= !(1 << column);
                self.count(logic, column, counter, one, width)?;
            }
        }
        Ok(bits)
    }

    /// [`Sum::finish`] by full adders, that take the bits that are ready first. A constant bit is added at the end: an
    /// adder of two bits and a one is smaller than a full one.
    fn finish_by_full_adders(mut self, logic: &mut Logic, width: usize) -> Result<Vec<Signal>> {
        let mut bits = Vec::with_capacity(width);
        for column in 0..width {
            let mut one = self.constant >> column & 1 != 0;
            while self.columns[column].len() + usize::from(one) > 1 {
                let ready = self.columns[column].len();
                let mut inputs = self.columns[column].split_off(ready.saturating_sub(3));
                if inputs.len() < 3 && std::mem::take(&mut one) {
                    inputs.insert(0, Signal::ONE);
                }
                inputs.resize(3, Signal::ZERO);
                let (sum, carry) = logic.full_add([inputs[0], inputs[1], inputs[2]])?;
                for (column, bit) in [(column, sum), (column + 1, carry)] {
                    if column < width && bit != Signal::ZERO {
                        self.insert(logic, column, bit);
                    }
                }
            }
            bits.push(self.columns[column].pop().unwrap_or(Signal::constant(one)));
        }
        Ok(bits)
    }

    /// The counter that takes away the most bits a LUT; of equals, the one whose bits are ready first.
    fn best_counter(&self, logic: &Logic, column: usize, room: usize) -> Counter {
        let one = self.constant >> column & 1;
        let ready = |above: usize| if above < room { self.columns[column + above].len() } else { 0 };
        let mut best: Option<(Counter, usize, u32)> = None;
        for first in 1..=ready(0).min(LUT_INPUTS) {
            if first + one as usize <= 1 {
                continue;
            }
            for second in 0..=ready(1).min(LUT_INPUTS - first) {
                for third in 0..=ready(2).min(LUT_INPUTS - first - second) {
                    let most = first as u64 + one + 2 * second as u64 + 4 * third as u64;
                    let outputs = ((u64::BITS - most.leading_zeros()) as usize).min(room);
                    let inputs = first + second + third;
                    let taken = (inputs + one as usize).saturating_sub(outputs);
                    let counter = Counter { takes: [first, second, third], outputs };
                    let level = self.ready_level(logic, column, counter);
                    let better = best.is_none_or(|(best, best_taken, best_level)| {
                        let (ours, theirs) = (taken * best.outputs, best_taken * outputs);
                        (ours, best_level, taken) > (theirs, level, best_taken)
                    });
                    if better {
                        best = Some((counter, taken, level));
                    }
                }
            }
        }
        best.expect("a column with two bits or more has a counter").0
    }

    /// The level of the latest bit a counter takes.
    fn ready_level(&self, logic: &Logic, column: usize, counter: Counter) -> u32 {
        let taken = counter.takes.iter().enumerate().filter(|(_, takes)| **takes > 0);
        taken
            .map(|(above, takes)| {
                let bits = &self.columns[column + above];
                logic.level(bits[bits.len() - takes])
            })
            .max()
            .unwrap_or(0)
    }

    fn count(
        &mut self,
        logic: &mut Logic,
        column: usize,
        counter: Counter,
        one: bool,
        width: usize,
    ) -> Result<()> {
        let mut inputs = Vec::with_capacity(LUT_INPUTS);
        let mut weights = Vec::with_capacity(LUT_INPUTS);
        for (above, &takes) in counter.takes.iter().enumerate() {
            let bits = &mut self.columns[column + above];
            for _ in 0..takes {
                inputs.push(bits.pop().expect("the counter was chosen for the bits there are"));
                weights.push(1usize << above);
            }
        }
        let total = |address: usize| {
            usize::from(one)
                + weights.iter().enumerate().map(|(j, weight)| (address >> j & 1) * weight).sum::<usize>()
        };
        for output in 0..counter.outputs {
            let bit = logic.function(&inputs, |address| total(address) >> output & 1 != 0)?;
            if column + output < width && bit != Signal::ZERO {
                self.insert(logic, column + output, bit);
            }
        }
        Ok(())
    }

    /// Puts a bit into its place by level.
    fn insert(&mut self, logic: &Logic, column: usize, bit: Signal) {
        let bits = &mut self.columns[column];
        let place = bits.partition_point(|&other| (logic.level(other), other) > (logic.level(bit), bit));
        bits.insert(place, bit);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::NetlistBuilder;
    use super::*;

    /// The netlist of a sum whose bit `i` counts `2^columns[i]`.
    fn sum_netlist(
        columns: &[usize],
        constant: i64,
        width: usize,
        sums: SumsOf,
    ) -> super::super::super::Netlist {
        let names: Vec<String> = (0..columns.len()).map(|i| format!("x{i}")).collect();
        let mut logic = Logic::new(NetlistBuilder::new(names).unwrap(), sums);
        let mut sum = Sum::default();
        for (i, &column) in columns.iter().enumerate() {
            let bit = logic.builder.input(i);
            sum.add_bit(column, bit);
        }
        sum.add_constant(constant);
        for (i, bit) in sum.finish(&mut logic, width).unwrap().into_iter().enumerate() {
            logic.builder.output(format!("s{i}"), bit).unwrap();
        }
        logic.builder.finish()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn sums_are_right(
            columns in proptest::collection::vec(0usize..4, 0..11), constant in -40i64..40, width in 1usize..9,
            full_adders: bool,
        ) {
            let sums = if full_adders { SumsOf::FullAdders } else { SumsOf::Counters };
            let netlist = sum_netlist(&columns, constant, width, sums);
            for row in 0..1usize << columns.len() {
                let bits: Vec<bool> = (0..columns.len()).map(|i| row >> i & 1 != 0).collect();
                let total = constant + columns.iter().zip(&bits).map(|(c, &b)| i64::from(b) << c).sum::<i64>();
                let sum = netlist.evaluate_row(&bits).iter().enumerate().fold(0, |s, (i, &b)| s | i64::from(b) << i);
                prop_assert_eq!(sum, total & ((1 << width) - 1));
            }
        }
    }

    #[test]
    fn counting_bits_takes_about_a_lut_a_bit() {
        let netlist = sum_netlist(&[0; 216], 0, 8, SumsOf::Counters);
        assert!(netlist.luts() <= 222 && netlist.depth() <= 12, "{} {}", netlist.luts(), netlist.depth());
        let columns: Vec<usize> = (0..120).map(|i| i % 4).collect();
        let netlist = sum_netlist(&columns, 123, 10, SumsOf::Counters);
        assert!(netlist.luts() <= 125 && netlist.depth() <= 12, "{} {}", netlist.luts(), netlist.depth());
    }

    #[test]
    fn full_adders_take_fewer_ands_than_counters() {
        let counters = sum_netlist(&[0; 216], 0, 8, SumsOf::Counters);
        let adders = sum_netlist(&[0; 216], 0, 8, SumsOf::FullAdders);
        assert!(adders.ands() <= 8 * 216 && 2 * adders.ands() < counters.ands(), "{}", adders.ands());
    }
}
