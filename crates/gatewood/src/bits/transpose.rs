//! Row-major packed bits to columns, a 64 by 64 block at a time.

use super::WORD_BITS;
use super::kernels::{BLOCKS, Blocks, Kernels};

/// Transposes row-major packed rows into columns.
///
/// Row `i` starts at byte `i * row_bytes` of `bytes`, its bit `j` is bit `j % 8` of byte `j / 8`. Column `j` is
/// written at word `j * stride` of `words`, `rows.div_ceil(64)` words of it, bits past the last row zero.
///
/// # Panics
/// When a slice is too short for the shape.
pub fn transpose_packed(
    bytes: &[u8],
    row_bytes: usize,
    rows: usize,
    columns: usize,
    words: &mut [u64],
    stride: usize,
) {
    assert!(columns.div_ceil(8) <= row_bytes || rows == 0);
    let kernels = Kernels::best();
    let mut blocks: Blocks = [[0; BLOCKS]; WORD_BITS];
    for first_row in (0..rows).step_by(WORD_BITS) {
        let count = WORD_BITS.min(rows - first_row);
        let band = &bytes[first_row * row_bytes..][..count * row_bytes];
        for first_column in (0..columns).step_by(BLOCKS * WORD_BITS) {
            let first_byte = first_column / 8;
            let width = (8 * BLOCKS).min(row_bytes - first_byte);
            for (row, words) in band.chunks_exact(row_bytes).zip(&mut blocks) {
                let mut padded = [0u8; 8 * BLOCKS];
                padded[..width].copy_from_slice(&row[first_byte..first_byte + width]);
                for (word, eight) in words.iter_mut().zip(padded.as_chunks().0) {
                    *word = u64::from_le_bytes(*eight);
                }
            }
            blocks[count..].fill([0; BLOCKS]);
            kernels.transpose(&mut blocks);
            let width = (BLOCKS * WORD_BITS).min(columns - first_column);
            for j in 0..width {
                words[(first_column + j) * stride + first_row / WORD_BITS] =
                    blocks[j % WORD_BITS][j / WORD_BITS];
            }
        }
    }
}

/// Transposes 64 rows of 64 bits in place: bit `j` of word `i` becomes bit `i` of word `j`.
///
/// Six rounds swap ever smaller off-diagonal squares (Hacker's Delight, 7-3).
pub(crate) fn transpose_block(block: &mut [u64; WORD_BITS]) {
    let mut width = 32;
    let mut mask = 0x0000_0000_ffff_ffffu64;
    while width != 0 {
        for base in (0..WORD_BITS).step_by(2 * width) {
            for i in base..base + width {
                let swap = (block[i] >> width ^ block[i + width]) & mask;
                block[i + width] ^= swap;
                block[i] ^= swap << width;
            }
        }
        width /= 2;
        mask ^= mask << width;
    }
}

#[cfg(test)]
mod tests {
    use crate::bits::BitMatrix;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn transposes_every_shape(rows in 0usize..200, columns in 1usize..200, seed: u64) {
            let row_bytes = columns.div_ceil(8);
            let mut state = seed | 1;
            let bytes: Vec<u8> = (0..rows * row_bytes)
                .map(|_| { state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); (state >> 56) as u8 })
                .collect();
            let matrix = BitMatrix::from_packed_rows(rows, columns, &bytes).unwrap();
            matrix.view().validate().unwrap();
            for row in 0..rows {
                for column in 0..columns {
                    let expected = bytes[row * row_bytes + column / 8] >> (column % 8) & 1 != 0;
                    prop_assert_eq!(matrix.get(row, column), expected);
                }
            }
            let bools: Vec<bool> =
                (0..rows * columns).map(|i| matrix.get(i / columns, i % columns)).collect();
            prop_assert_eq!(BitMatrix::from_bools(columns, &bools).unwrap(), matrix);
        }
    }
}
