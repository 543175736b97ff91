//! Transposing blocks of bits.

use super::levels;
use super::vector::Vector;
use crate::bits::WORD_BITS;

/// Blocks that are transposed side by side.
pub(crate) const BLOCKS: usize = 4;

/// Blocks of 64 rows of 64 bits: word `i` of block `b` is at `[i][b]`.
pub(crate) type Blocks = [[u64; BLOCKS]; WORD_BITS];

levels! {
    /// Transposes every block in place: bit `j` of word `i` becomes bit `i` of word `j`.
    fn transpose(blocks: &mut Blocks) = transpose_generic
}

/// Six rounds swap ever smaller off-diagonal squares (Hacker's Delight, 7-3), in all blocks at once.
#[inline(always)]
fn transpose_generic<V: Vector>(blocks: &mut Blocks) {
    swap_squares::<32>(blocks, 0x0000_0000_ffff_ffff);
    swap_squares::<16>(blocks, 0x0000_ffff_0000_ffff);
    swap_squares::<8>(blocks, 0x00ff_00ff_00ff_00ff);
    swap_squares::<4>(blocks, 0x0f0f_0f0f_0f0f_0f0f);
    swap_squares::<2>(blocks, 0x3333_3333_3333_3333);
    swap_squares::<1>(blocks, 0x5555_5555_5555_5555);
}

#[inline(always)]
fn swap_squares<const WIDTH: usize>(blocks: &mut Blocks, mask: u64) {
    for pair in blocks.chunks_exact_mut(2 * WIDTH) {
        let (above, below) = pair.split_at_mut(WIDTH);
        for (above, below) in above.iter_mut().zip(below) {
            for (above, below) in above.iter_mut().zip(below) {
                let swap = (*above >> WIDTH ^ *below) & mask;
                *below ^= swap;
                *above ^= swap << WIDTH;
            }
        }
    }
}
