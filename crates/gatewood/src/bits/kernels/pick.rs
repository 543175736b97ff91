//! One bit of each of many words.

use super::levels;
use super::vector::Vector;
use crate::bits::WORD_BITS;

levels! {
    /// Packs bit `bit` of each of the words.
    fn pick(words: &[u64], bit: u32, out: &mut [u64]) = pick_generic
}

/// Eight rows of eight words: a column of the square has a byte of rows eight apart, so that the bytes are transposed last.
#[inline(always)]
fn pick_generic<V: Vector>(words: &[u64], bit: u32, out: &mut [u64]) {
    for (words, out) in words.chunks_exact(WORD_BITS).zip(out) {
        let mut columns = [0u64; 8];
        for (row, words) in words.chunks_exact(8).enumerate() {
            for (column, &word) in columns.iter_mut().zip(words) {
                *column |= (word >> bit & 1) << row;
            }
        }
        let square = columns.iter().enumerate().fold(0, |square, (at, &byte)| square | byte << (8 * at));
        *out = transposed(square);
    }
}

/// A square of eight by eight bits, transposed (Hacker's Delight, 7-3).
#[inline(always)]
fn transposed(mut square: u64) -> u64 {
    for (by, mask) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)] {
        let swap = (square ^ square >> by) & mask;
        square ^= swap ^ swap << by;
    }
    square
}

#[cfg(test)]
mod tests {
    use super::super::{Kernels, Level};
    use super::*;
    use crate::random::{Purpose, Stream};

    #[test]
    fn every_level_picks_one_bit_of_each_word() {
        let mut stream = Stream::new(5, Purpose::Generate, 0);
        let words: Vec<u64> = (0..7 * WORD_BITS).map(|_| stream.bits()).collect();
        for level in Level::available() {
            for bit in [0, 1, 31, 32, 63] {
                let mut out = [0; 7];
                Kernels::at(level).unwrap().pick(&words, bit, &mut out);
                for (row, word) in words.iter().enumerate() {
                    assert_eq!(
                        out[row / WORD_BITS] >> (row % WORD_BITS) & 1,
                        word >> bit & 1,
                        "{level:?} {bit}"
                    );
                }
            }
        }
    }
}
