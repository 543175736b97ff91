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

/// Six rounds swap ever smaller off-diagonal squares (Hacker's Delight, 7-3), in all blocks at once. Three rounds at a
/// time take the same eight vectors, which stay in registers.
#[inline(always)]
fn transpose_generic<V: Vector>(blocks: &mut Blocks) {
    const { assert!(BLOCKS.is_multiple_of(V::Four::WORDS) && (8 * BLOCKS).is_multiple_of(V::WORDS)) };
    let words = blocks.as_mut_ptr().cast::<u64>();
    for at in (0..8 * BLOCKS).step_by(V::WORDS) {
        // SAFETY: the vectors are those of all eight rows from one of the first eight on that are eight apart.
        unsafe { swap_thrice::<V, 8>(words.add(at)) };
    }
    for row in (0..WORD_BITS).step_by(8) {
        for block in (0..BLOCKS).step_by(V::Four::WORDS) {
            // SAFETY: the vectors are those of eight rows side by side.
            unsafe { swap_thrice::<V::Four, 1>(words.add(row * BLOCKS + block)) };
        }
    }
}

/// Three rounds for a vector of each of eight rows that are `STEP` apart, which is the width of the smallest squares.
///
/// # Safety
/// The vectors must be readable and writable.
#[inline(always)]
unsafe fn swap_thrice<V: Vector, const STEP: usize>(words: *mut u64) {
    let mut rows = [V::zero(); 8];
    for (i, row) in rows.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        *row = unsafe { V::load(words.add(i * STEP * BLOCKS)) };
    }
    if STEP == 8 {
        swap_squares::<V, 4, 32>(&mut rows, 0x0000_0000_ffff_ffff);
        swap_squares::<V, 2, 16>(&mut rows, 0x0000_ffff_0000_ffff);
        swap_squares::<V, 1, 8>(&mut rows, 0x00ff_00ff_00ff_00ff);
    } else {
        swap_squares::<V, 4, 4>(&mut rows, 0x0f0f_0f0f_0f0f_0f0f);
        swap_squares::<V, 2, 2>(&mut rows, 0x3333_3333_3333_3333);
        swap_squares::<V, 1, 1>(&mut rows, 0x5555_5555_5555_5555);
    }
    for (i, row) in rows.iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { row.store(words.add(i * STEP * BLOCKS)) };
    }
}

/// Swaps squares so many bits wide, whose rows are `APART` of each other.
#[inline(always)]
fn swap_squares<V: Vector, const APART: usize, const WIDTH: i32>(rows: &mut [V; 8], mask: u64) {
    let mask = [mask; 8];
    // SAFETY: no vector has more than eight words.
    let mask = unsafe { V::load(mask.as_ptr()) };
    for pair in rows.chunks_exact_mut(2 * APART) {
        let (above, below) = pair.split_at_mut(APART);
        for (above, below) in above.iter_mut().zip(below) {
            let swap = above.shift_right::<WIDTH>().xor(*below).and(mask);
            *below = below.xor(swap);
            *above = above.xor(swap.shift_left::<WIDTH>());
        }
    }
}
