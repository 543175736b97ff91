//! All rows, packed so that any of them can be gathered quickly.

use crate::platform::parallel::*;

use super::ColumnOrder;
use std::ops::Range;

use crate::Result;
use crate::bits::kernels::{BLOCKS, Blocks, Kernels, Line};
use crate::bits::{AlignedWords, BLOCK_WORDS, WORD_BITS, words_for};
use crate::circuit::{HeldColumns, Wide};
use crate::learn::search::RowWords;

/// Words of columns that are transposed before the next columns are: what is made for them fits in the first-level cache.
const PIECE_BANDS: usize = 64;

/// Rows whose columns are made at a time, by one who has all columns to make.
pub(crate) const MADE_ROWS: usize = 2048;

/// Lines of a column for so many rows.
pub(crate) const MADE_LINES: usize = MADE_ROWS / WORD_BITS / BLOCK_WORDS;

/// One who makes the columns of any rows, so that nobody need hold them all by column.
pub(crate) trait MakeColumns: std::fmt::Debug + Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// Number of columns.
    fn columns(&self) -> usize;

    /// All columns of at most [`MADE_ROWS`] rows from a multiple of these on, [`MADE_LINES`] lines each.
    ///
    /// # Errors
    /// When they cannot be made, or memory runs out.
    fn make(&self, rows: Range<usize>) -> Result<Vec<Line>>;
}

/// All rows, packed by words of columns in a [`ColumnOrder`].
#[derive(Debug)]
pub(super) struct PackedRows {
    words: AlignedWords,
    /// Rows, filled up to whole words.
    rows: usize,
    /// How many words of a row lie side by side: all where trees may read them all; else one, so that the rows of a
    /// chosen word are close to each other.
    side: usize,
    /// Where each column is in the order, where this is all there is of the columns.
    positions: Vec<u32>,
}

/// How many words of a row lie side by side, of so many, where trees choose from `wanted`.
fn side_by_side(width: usize, wanted: usize) -> usize {
    if width <= wanted { width } else { 1 }
}

impl PackedRows {
    /// The same of columns that are made for it, some rows after the others; it has all there is of them then.
    pub(super) fn made(
        source: &dyn MakeColumns,
        order: &ColumnOrder,
        wanted: usize,
        kernels: Kernels,
    ) -> Result<Self> {
        let width = order.words();
        let side = side_by_side(width, wanted);
        let bands = words_for(source.rows());
        let rows = bands * WORD_BITS;
        let mut words = AlignedWords::zeros(width.saturating_mul(rows))?;
        let starts: Vec<usize> = (0..source.rows()).step_by(MADE_ROWS).collect();
        // As many pieces at a time as there are threads, so that few are in memory.
        for starts in starts.chunks(current_num_threads().max(1)) {
            let make =
                |&start: &usize| Ok((start, source.make(start..source.rows().min(start + MADE_ROWS))?));
            let made = starts.par_iter().map(make).collect::<Vec<_>>();
            let made: Vec<(usize, Vec<Line>)> = made.into_iter().collect::<Result<_>>()?;
            let groups =
                words.par_chunks_mut((rows * side).max(1)).zip(order.columns().par_chunks(WORD_BITS * side));
            groups.for_each(|(words, columns)| {
                for (start, lines) in &made {
                    let first = start / WORD_BITS;
                    let end = bands.min(first + MADE_ROWS / WORD_BITS);
                    for (word, columns) in columns.chunks(WORD_BITS).enumerate() {
                        for band in (first..end).step_by(BLOCKS) {
                            let (line, at) = ((band - first) / BLOCK_WORDS, (band - first) % BLOCK_WORDS);
                            let mut blocks: Blocks = [[0; BLOCKS]; WORD_BITS];
                            for (to, &column) in blocks.iter_mut().zip(columns) {
                                let line = &lines[column as usize * MADE_LINES + line];
                                to.copy_from_slice(&line[at..at + BLOCKS]);
                            }
                            kernels.transpose(&mut blocks);
                            let rows = words[band * WORD_BITS * side..].chunks_mut(WORD_BITS * side);
                            for (block, rows) in rows.take(BLOCKS).enumerate() {
                                let rows = rows.chunks_exact_mut(side).zip(&blocks);
                                rows.for_each(|(row, blocks)| row[word] = blocks[block]);
                            }
                        }
                    }
                }
            });
        }
        let mut positions = vec![0; order.columns().len()];
        (0..).zip(order.columns()).for_each(|(position, &column)| positions[column as usize] = position);
        Ok(Self { words, rows, side, positions })
    }

    /// The columns, where this is all there is of them.
    pub(super) fn held(&self) -> Option<&dyn HeldColumns> {
        (!self.positions.is_empty()).then_some(self)
    }

    /// For trees that choose from at most `wanted` words of a row.
    pub(super) fn new(wide: Wide<'_>, order: &ColumnOrder, wanted: usize, kernels: Kernels) -> Result<Self> {
        let width = order.words();
        let side = side_by_side(width, wanted);
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
        Ok(Self { words, rows, side, positions: Vec::new() })
    }
}

impl HeldColumns for PackedRows {
    /// Bits past the last row are whatever they were made to be.
    fn fill(&self, column: u32, first: usize, kernels: Kernels, out: &mut [u64]) {
        let position = self.positions[column as usize] as usize;
        let (place, bit) = (self.place(position / WORD_BITS), (position % WORD_BITS) as u32);
        let row = first * WORD_BITS;
        if self.side == 1 {
            kernels.pick(&self.words[place + row..][..out.len() * WORD_BITS], bit, out);
            return;
        }
        let mut words = self.words[place + row * self.side..].iter().step_by(self.side);
        for out in out {
            let rows = words.by_ref().take(WORD_BITS).enumerate();
            *out = rows.fold(0, |out, (row, word)| out | (word >> bit & 1) << row);
        }
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
