//! Sums of values over the rows in which columns are one.

use super::levels;
use super::vector::Vector;
use crate::bits::WORD_BITS;

levels! {
    /// Adds the value of each row to the sums of its cell: to those of the columns that are one in it.
    fn sum_where_one(words: &[u64], cells: &[u8], values: &[i32], sums: &mut [[i32; WORD_BITS]]) = sum_generic
}

#[inline(always)]
fn sum_generic<V: Vector>(words: &[u64], cells: &[u8], values: &[i32], sums: &mut [[i32; WORD_BITS]]) {
    for ((&word, &cell), &value) in words.iter().zip(cells).zip(values) {
        let (low, high) = sums[cell as usize].split_at_mut(WORD_BITS / 2);
        for (half, sums) in [(word as u32, low), ((word >> 32) as u32, high)] {
            for (bit, sum) in sums.iter_mut().enumerate() {
                *sum += if half & 1 << bit != 0 { value } else { 0 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kernels, Level};
    use super::*;
    use crate::random::{Purpose, Stream};

    #[test]
    fn every_level_sums_as_one_bit_at_a_time() {
        let mut stream = Stream::new(3, Purpose::Generate, 0);
        let words: Vec<u64> = (0..500).map(|_| stream.bits()).collect();
        let cells: Vec<u8> = (0..500).map(|_| stream.below(4) as u8).collect();
        let values: Vec<i32> = (0..500).map(|_| stream.below(2001) as i32 - 1000).collect();
        let mut expected = [[0; WORD_BITS]; 4];
        for ((&word, &cell), &value) in words.iter().zip(&cells).zip(&values) {
            for bit in (0..WORD_BITS).filter(|bit| word >> bit & 1 != 0) {
                expected[cell as usize][bit] += value;
            }
        }
        for level in Level::available() {
            let mut sums = [[0; WORD_BITS]; 4];
            Kernels::at(level).unwrap().sum_where_one(&words, &cells, &values, &mut sums);
            assert_eq!(sums, expected, "{level:?}");
        }
    }
}
