//! Comparing candidate columns for a leaf by what they tell its gate.
//!
//! A trial refits the gates from a leaf to the root. Most columns do not even tell the leaf's gate more, and that is
//! found out much faster: the other inputs of the gate part the rows into cells, once for many columns.

use super::sample::Sample;
use crate::Result;
use crate::bits::AlignedWords;
use crate::bits::kernels::Kernels;

/// Most inputs of a gate for which columns are compared: its cells are kept, and they double with each input.
pub(crate) const MAX_CANDIDATES_ARITY: usize = 8;

/// The cells of a leaf.
pub(super) struct Cells {
    /// The rows of each cell, block by block: those of class 0, then those of class 1.
    cells: AlignedWords,
    /// How many rows of each class the cells have.
    rows: [Vec<u32>; 2],
    /// In how many of them the column on trial is one.
    ones: [Vec<u32>; 2],
}

impl Cells {
    /// For gates of so many inputs, over a sample.
    pub(super) fn new(sample: &Sample, arity: usize) -> Result<Self> {
        let cells = 1usize << (arity - 1);
        let none = || vec![0; cells];
        Ok(Self {
            cells: AlignedWords::zeros(sample.stride * cells)?,
            rows: [none(), none()],
            ones: [none(), none()],
        })
    }

    /// Parts the rows by what a gate reads besides one input, given what its addresses count; says how mixed the classes
    /// are with the column that is there.
    pub(super) fn part(
        &mut self,
        sample: &Sample,
        others: &[&[u64]],
        input: usize,
        counts: &[Vec<u32>; 2],
        kernels: Kernels,
    ) -> f32 {
        let low = (1usize << input) - 1;
        for ((rows, ones), counts) in self.rows.iter_mut().zip(&mut self.ones).zip(counts) {
            for (cell, (rows, ones)) in rows.iter_mut().zip(ones).enumerate() {
                let zero = cell & low | (cell & !low) << 1;
                *ones = counts[zero | 1 << input];
                *rows = counts[zero] + *ones;
            }
        }
        let (zeros, ones) = self.cells.split_at_mut(sample.split << others.len());
        for (cells, class) in [(zeros, 0..sample.split), (ones, sample.split..sample.stride)] {
            kernels.part(others, class, cells);
        }
        kernels.impurity([&self.rows[0], &self.rows[1]], [&self.ones[0], &self.ones[1]])
    }

    /// How mixed the classes are at the addresses of a gate that reads this column; the least tells most.
    pub(super) fn impurity(&mut self, sample: &Sample, column: &[u64], kernels: Kernels) -> f32 {
        let [zeros, ones] = &mut self.ones;
        let rows = [&self.rows[0][..], &self.rows[1]];
        kernels.count_in_cells(&self.cells, column, sample.split, rows, [zeros, ones])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bits::{BitMatrix, reference};
    use crate::circuit::Wide;
    use crate::learn::engine::{ColumnOrder, CpuEngine, Engine};
    use crate::random::{Purpose, Stream};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        /// A column's impurity is that of the gate's addresses counted row by row, with the column in the leaf's place.
        #[test]
        fn a_column_is_judged_by_what_the_gate_then_tells(
            arity in 1usize..=MAX_CANDIDATES_ARITY, rows in 2usize..1500, seed: u64,
        ) {
            let mut stream = Stream::new(seed, Purpose::Sample, 0);
            let columns = arity + 1;
            let bits: Vec<bool> = (0..rows * columns).map(|_| stream.below(3) == 0).collect();
            let bits = BitMatrix::from_bools(columns, &bits).unwrap();
            let kernels = Kernels::best();
            let order = ColumnOrder::new(columns, seed);
            let wide = Wide::new(bits.view(), &[]);
            let zeros = vec![0; rows];
            let engine = CpuEngine::new(wide, &zeros, Vec::new(), kernels).packed(&order, 1).unwrap();
            let picks = [0, 1].map(|class| (0..rows as u32).filter(|row| row % 2 == class).collect::<Vec<u32>>());
            let sample = engine.gather(&picks, &[0]).unwrap();
            // What a gate over these columns of the sample counts.
            let counts = |inputs: &[usize]| {
                let mut counts = [vec![0u32; 1 << arity], vec![0; 1 << arity]];
                for (class, picks) in picks.iter().enumerate() {
                    let words = class * sample.split..;
                    let inputs: Vec<&[u64]> =
                        inputs.iter().map(|&input| &sample.column(input)[words.clone()]).collect();
                    for row in 0..picks.len() {
                        counts[class][reference::address(&inputs, row)] += 1;
                    }
                }
                counts
            };
            let gate: Vec<usize> = (0..arity).collect();
            let mut cells = Cells::new(&sample, arity).unwrap();
            for input in 0..arity {
                let others: Vec<&[u64]> =
                    gate.iter().filter(|&&other| other != input).map(|&other| sample.column(other)).collect();
                let there = cells.part(&sample, &others, input, &counts(&gate), kernels);
                prop_assert_eq!(there, cells.impurity(&sample, sample.column(input), kernels));
                for column in [input, arity] {
                    let mut changed = gate.clone();
                    changed[input] = column;
                    let [zeros, ones] = counts(&changed);
                    let expected: f64 = zeros
                        .into_iter()
                        .zip(ones)
                        .map(|(zeros, ones)| f64::from(zeros) * f64::from(ones) / f64::from((zeros + ones).max(1)))
                        .sum();
                    let found = cells.impurity(&sample, sample.column(column), kernels);
                    prop_assert!((f64::from(found) - expected).abs() <= 1e-5 * expected);
                }
            }
        }
    }
}
