//! Row-major packed bits to columns, a 64 by 64 block at a time.

use super::kernels::{BLOCKS, Blocks, Kernels};
use super::{BLOCK_WORDS, WORD_BITS};

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
    if rows == 0 || columns == 0 {
        return;
    }
    assert!(columns.div_ceil(8) <= row_bytes);
    let kernels = Kernels::best();
    let mut blocks: Blocks = [[0; BLOCKS]; WORD_BITS];
    // A line of the cache for each column at a time, so that what is written stays near until the line is full.
    const ROWS: usize = BLOCK_WORDS * WORD_BITS;
    for (part, bytes) in bytes[..rows * row_bytes].chunks(ROWS * row_bytes).enumerate() {
        for first_column in (0..columns).step_by(BLOCKS * WORD_BITS) {
            let first_byte = first_column / 8;
            let width = (8 * BLOCKS).min(row_bytes - first_byte);
            let count = (BLOCKS * WORD_BITS).min(columns - first_column);
            for (band, bytes) in bytes.chunks(WORD_BITS * row_bytes).enumerate() {
                let mut filled = 0;
                for (row, words) in bytes.chunks_exact(row_bytes).zip(&mut blocks) {
                    let mut padded = [0u8; 8 * BLOCKS];
                    match row.get(first_byte..first_byte + 8 * BLOCKS) {
                        Some(row) => padded.copy_from_slice(row),
                        None => padded[..width].copy_from_slice(&row[first_byte..first_byte + width]),
                    }
                    for (word, eight) in words.iter_mut().zip(padded.as_chunks().0) {
                        *word = u64::from_le_bytes(*eight);
                    }
                    filled += 1;
                }
                blocks[filled..].fill([0; BLOCKS]);
                kernels.transpose(&mut blocks);
                let words = &mut words[first_column * stride + part * BLOCK_WORDS + band..];
                for block in 0..count.div_ceil(WORD_BITS) {
                    let first = block * WORD_BITS;
                    for (j, rows) in blocks[..WORD_BITS.min(count - first)].iter().enumerate() {
                        words[(first + j) * stride] = rows[block];
                    }
                }
            }
        }
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
