//! Counting many columns against the same cells.
//!
//! The rows are parted into cells by what some columns say. For any further column, the ones in each cell are then
//! counted with an AND and a popcount, and there are no subsets to be taken apart.

use std::ops::Range;

use super::levels;
use super::vector::Vector;
use crate::bits::BLOCK_WORDS;

/// Blocks a column is worked through at a time, so that no counter overflows: at most 31 vectors of AVX2.
const CHUNK: usize = 15;

/// Cells that are counted side by side.
const GROUP: usize = 8;

levels! {
    /// Writes the rows of each cell, block by block: a block of every cell, then the next of every cell.
    fn part(columns: &[&[u64]], words: Range<usize>, cells: &mut [u64]) = part_generic
}

#[inline(always)]
fn part_generic<V: Vector>(columns: &[&[u64]], words: Range<usize>, cells: &mut [u64]) {
    let blocks = words.step_by(BLOCK_WORDS);
    for (start, cells) in blocks.zip(cells.chunks_exact_mut(BLOCK_WORDS << columns.len())) {
        let (cells, _) = cells.as_chunks_mut::<BLOCK_WORDS>();
        cells[0] = [!0; BLOCK_WORDS];
        for (j, column) in columns.iter().enumerate() {
            let column = &column[start..start + BLOCK_WORDS];
            // Each cell so far is parted in two.
            let (without, with) = cells[..2 << j].split_at_mut(1 << j);
            for (without, with) in without.iter_mut().zip(with) {
                for ((without, with), &word) in without.iter_mut().zip(with).zip(column) {
                    *with = *without & word;
                    *without &= !word;
                }
            }
        }
    }
}

levels! {
    /// Counts the ones of both parts of a column in each cell, and says how mixed the classes then are.
    fn count(cells: &[u64], column: &[u64], split: usize, rows: [&[u32]; 2], ones: [&mut [u32]; 2]) -> f32 = count_both
}

#[inline(always)]
fn count_both<V: Vector>(
    cells: &[u64],
    column: &[u64],
    split: usize,
    rows: [&[u32]; 2],
    ones: [&mut [u32]; 2],
) -> f32 {
    let [zeros, ones] = ones;
    let (cells_of_zeros, cells_of_ones) = cells.split_at(split * zeros.len());
    let (column_of_zeros, column_of_ones) = column.split_at(split);
    count_generic::<V>(cells_of_zeros, column_of_zeros, zeros);
    count_generic::<V>(cells_of_ones, column_of_ones, ones);
    impurity_generic::<V>(rows, [zeros, ones])
}

#[inline(always)]
fn count_generic<V: Vector>(cells: &[u64], column: &[u64], out: &mut [u32]) {
    match out.len() {
        1 => count_groups::<V, 1>(cells, column, out),
        2 => count_groups::<V, 2>(cells, column, out),
        4 => count_groups::<V, 4>(cells, column, out),
        _ => count_groups::<V, GROUP>(cells, column, out),
    }
}

/// Counts groups of `CELLS` cells, at most [`GROUP`], of which there is a whole number.
#[inline(always)]
fn count_groups<V: Vector, const CELLS: usize>(cells: &[u64], column: &[u64], out: &mut [u32]) {
    const { assert!(CELLS <= GROUP) };
    let stride = out.len() * BLOCK_WORDS;
    assert!(cells.len() >= column.len() * out.len() && out.len().is_multiple_of(CELLS));
    for (group, out) in out.chunks_exact_mut(CELLS).enumerate() {
        out.fill(0);
        let mut first = cells.as_ptr().wrapping_add(group * CELLS * BLOCK_WORDS);
        for column in column.chunks(CHUNK * BLOCK_WORDS) {
            let mut counters = [V::counter(); GROUP];
            for column in column.chunks_exact(BLOCK_WORDS) {
                for at in (0..BLOCK_WORDS).step_by(V::WORDS) {
                    // SAFETY: the vector is within the block; every block of the column has one of each cell, and `first` is
                    // at that of the group's first cell.
                    unsafe {
                        let ones = V::load(column.as_ptr().add(at));
                        for (cell, counter) in counters[..CELLS].iter_mut().enumerate() {
                            *counter =
                                V::add(*counter, ones.and(V::load(first.add(cell * BLOCK_WORDS + at))));
                        }
                    }
                }
                first = first.wrapping_add(stride);
            }
            let [a, b, c, d, e, f, g, h] = counters;
            let (low, high) = out.split_at_mut(CELLS.min(4));
            low.iter_mut().zip(V::totals([a, b, c, d])).for_each(|(count, total)| *count += total);
            if CELLS > 4 {
                high.iter_mut().zip(V::totals([e, f, g, h])).for_each(|(count, total)| *count += total);
            }
        }
    }
}

/// Cells whose impurity is worked out side by side.
const LANES: usize = 8;

levels! {
    /// How mixed the classes are when each cell is parted in two: the sum of `zeros * ones / rows` over all halves.
    fn impurity(rows: [&[u32]; 2], with: [&[u32]; 2]) -> f32 = impurity_generic
}

/// Sums are taken lane by lane, so that they do not depend on the width of a vector.
#[inline(always)]
fn impurity_generic<V: Vector>(rows: [&[u32]; 2], with: [&[u32]; 2]) -> f32 {
    let [all_zeros, all_ones, zeros, ones] =
        [rows[0], rows[1], with[0], with[1]].map(|counts| counts.as_chunks::<LANES>());
    let mut sums = [0f32; LANES];
    for (((all_zeros, all_ones), zeros), ones) in all_zeros.0.iter().zip(all_ones.0).zip(zeros.0).zip(ones.0)
    {
        for lane in 0..LANES {
            sums[lane] += halves(all_zeros[lane], all_ones[lane], zeros[lane], ones[lane]);
        }
    }
    for (lane, sum) in sums[..zeros.1.len()].iter_mut().enumerate() {
        *sum += halves(all_zeros.1[lane], all_ones.1[lane], zeros.1[lane], ones.1[lane]);
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// The impurity of both halves of a cell.
#[inline(always)]
fn halves(all_zeros: u32, all_ones: u32, zeros: u32, ones: u32) -> f32 {
    half(zeros, ones) + half(all_zeros.wrapping_sub(zeros), all_ones.wrapping_sub(ones))
}

#[inline(always)]
fn half(zeros: u32, ones: u32) -> f32 {
    // Counts are below 2^31; vectors turn only signed numbers into floats.
    let (zeros, ones) = (zeros as i32 as f32, ones as i32 as f32);
    zeros * ones / (zeros + ones).max(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Kernels, Level};
    use crate::bits::{BLOCK_WORDS, WORD_BITS, reference};
    use crate::random::{Purpose, Stream};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Each row is counted in the cell that its address names, for gates of every size and columns of many counters.
        #[test]
        fn every_level_counts_by_address(others in 0usize..=7, split in 0usize..20, blocks in 0usize..40, seed: u64) {
            let (split, words) = (split * BLOCK_WORDS, (split + blocks) * BLOCK_WORDS);
            let mut stream = Stream::new(seed, Purpose::Sample, 0);
            let columns: Vec<Vec<u64>> =
                (0..=others).map(|_| (0..words).map(|_| stream.bits()).collect()).collect();
            let inputs: Vec<&[u64]> = columns.iter().map(Vec::as_slice).collect();
            let mut expected = [vec![0u32; 1 << others], vec![0; 1 << others]];
            for row in 0..words * WORD_BITS {
                let address = reference::address(&inputs, row);
                if address >> others == 1 {
                    expected[usize::from(row >= split * WORD_BITS)][address & ((1 << others) - 1)] += 1;
                }
            }
            for level in Level::available() {
                let kernels = Kernels::at(level).unwrap();
                let mut cells = vec![0; words << others];
                let (zeros, ones) = cells.split_at_mut(split << others);
                kernels.part(&inputs[..others], 0..split, zeros);
                kernels.part(&inputs[..others], split..words, ones);
                let [mut zeros, mut ones] = [vec![77; 1 << others], vec![77; 1 << others]];
                let rows = [&expected[0][..], &expected[1]];
                let found =
                    kernels.count_in_cells(&cells, inputs[others], split, rows, [&mut zeros, &mut ones]);
                prop_assert_eq!(&[zeros, ones], &expected, "{:?}", level);
                prop_assert_eq!(found, kernels.impurity(rows, rows), "{:?}", level);
            }
        }

        /// Impurities are the same to the last bit, and what they are said to be.
        #[test]
        fn every_level_finds_the_same_impurity(cells in 0usize..=7, most in 1u32..20_000, seed: u64) {
            let mut stream = Stream::new(seed, Purpose::Sample, 1);
            let rows: [Vec<u32>; 2] = std::array::from_fn(|_| (0..1 << cells).map(|_| stream.below(most)).collect());
            let with = rows.each_ref().map(|rows| rows.iter().map(|&rows| stream.below(rows + 1)).collect::<Vec<u32>>());
            let mut expected = 0.0;
            for cell in 0..1 << cells {
                let all = [rows[0][cell], rows[1][cell]].map(f64::from);
                let one = [with[0][cell], with[1][cell]].map(f64::from);
                for [zeros, ones] in [one, [all[0] - one[0], all[1] - one[1]]] {
                    expected += zeros * ones / (zeros + ones).max(1.0);
                }
            }
            let found: Vec<f32> = Level::available()
                .into_iter()
                .map(|level| Kernels::at(level).unwrap().impurity([&rows[0], &rows[1]], [&with[0], &with[1]]))
                .collect();
            prop_assert!(found.iter().all(|impurity| impurity.to_bits() == found[0].to_bits()), "{found:?}");
            prop_assert!((f64::from(found[0]) - expected).abs() <= 1e-5 * expected, "{} {expected}", found[0]);
        }
    }
}
