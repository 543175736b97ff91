//! All rows, packed so that any of them can be gathered quickly.

use crate::platform::parallel::*;

use super::ColumnOrder;
use crate::Result;
use crate::bits::kernels::{BLOCKS, Blocks, Kernels};
use crate::bits::{AlignedWords, WORD_BITS, words_for};
use crate::circuit::Wide;
use crate::learn::search::RowWords;

/// Words of columns that are transposed before the next columns are: what is made for them fits in the first-level cache.
const PIECE_BANDS: usize = 64;

/// All rows, packed by words of columns in a [`ColumnOrder`].
#[derive(Debug)]
pub(super) struct PackedRows {
    words: AlignedWords,
    /// Rows, filled up to whole words.
    rows: usize,
    /// How many words of a row lie side by side: all where trees may read them all; else one, so that the rows of a
    /// chosen word are close to each other.
    side: usize,
}

impl PackedRows {
    /// For trees that choose from at most `wanted` words of a row.
    pub(super) fn new(wide: Wide<'_>, order: &ColumnOrder, wanted: usize, kernels: Kernels) -> Result<Self> {
        let width = order.words();
        let side = if width <= wanted { width } else { 1 };
        let bands = words_for(wide.bits.rows());
        let rows = bands * WORD_BITS;
        let mut words = AlignedWords::zeros(width.saturating_mul(rows))?;
        // The words that lie side by side, each with its columns, and of these some rows.
        let groups =
            words.par_chunks_mut((rows * side).max(1)).zip(order.columns().par_chunks(WORD_BITS * side));
        groups.for_each(|(words, columns)| {
            let pieces = words.par_chunks_mut(PIECE_BANDS * WORD_BITS * side).enumerate();
            pieces.for_each_init(
                || vec![0; WORD_BITS * PIECE_BANDS],
                |made, (piece, words)| {
                    let first = piece * PIECE_BANDS;
                    let bands = PIECE_BANDS.min(bands - first);
                    for (word, columns) in columns.chunks(WORD_BITS).enumerate() {
                        for (&column, made) in columns.iter().zip(made.chunks_exact_mut(PIECE_BANDS)) {
                            wide.fill(column, first, kernels, &mut made[..bands]);
                        }
                        made[columns.len() * PIECE_BANDS..].fill(0);
                        for band in (0..bands).step_by(BLOCKS) {
                            let mut blocks: Blocks = std::array::from_fn(|column| {
                                std::array::from_fn(|block| made[column * PIECE_BANDS + band + block])
                            });
                            kernels.transpose(&mut blocks);
                            let rows = words[band * WORD_BITS * side..].chunks_mut(WORD_BITS * side);
                            for (block, rows) in rows.take(BLOCKS).enumerate() {
                                let rows = rows.chunks_exact_mut(side).zip(&blocks);
                                rows.for_each(|(row, blocks)| row[word] = blocks[block]);
                            }
                        }
                    }
                },
            );
        });
        Ok(Self { words, rows, side })
    }
}

impl RowWords for PackedRows {
    fn place(&self, word: usize) -> usize {
        word / self.side * self.side * self.rows + word % self.side
    }

    #[inline]
    fn read(&self, place: usize, row: u32) -> u64 {
        self.words[place + row as usize * self.side]
    }
}
