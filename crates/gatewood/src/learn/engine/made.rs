//! Columns that are made some rows at a time and held in one form alone: half of the memory that all rows take by column and
//! packed.

use std::ops::Range;

use crate::platform::parallel::*;

use super::ColumnOrder;
use crate::Result;
use crate::bits::kernels::{BLOCKS, Blocks, Kernels, Line};
use crate::bits::{AlignedWords, BLOCK_WORDS, WORD_BITS, words_for};
use crate::circuit::HeldColumns;
use crate::learn::search::RowWords;

/// Rows whose columns are made at a time.
pub(crate) const MADE_ROWS: usize = 2048;

/// Lines of a column for so many rows.
pub(crate) const MADE_LINES: usize = MADE_ROWS / WORD_BITS / BLOCK_WORDS;

/// Columns of a byte, and bytes of a word of columns.
const BYTE: usize = 8;

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

/// All rows, eight columns of a [`ColumnOrder`] to a byte: the bytes of all rows, then those of the next eight columns. A column
/// is read through an eighth of what words of rows would take, and rows are gathered by bytes.
#[derive(Debug)]
pub(super) struct ByteRows {
    words: AlignedWords,
    /// Rows, filled up to whole words.
    rows: usize,
    /// Where each column is in the order.
    positions: Vec<u32>,
}

impl ByteRows {
    pub(super) fn new(source: &dyn MakeColumns, order: &ColumnOrder, kernels: Kernels) -> Result<Self> {
        let bands = words_for(source.rows());
        let rows = bands * WORD_BITS;
        let mut words = AlignedWords::zeros(order.words().saturating_mul(rows))?;
        let starts: Vec<usize> = (0..source.rows()).step_by(MADE_ROWS).collect();
        // As many pieces at a time as there are threads, so that few are in memory.
        for starts in starts.chunks(current_num_threads().max(1)) {
            let make =
                |&start: &usize| Ok((start, source.make(start..source.rows().min(start + MADE_ROWS))?));
            let made = starts.par_iter().map(make).collect::<Vec<_>>();
            let made: Vec<(usize, Vec<Line>)> = made.into_iter().collect::<Result<_>>()?;
            let groups = words.bytes_mut().par_chunks_mut((rows * BYTE).max(1));
            groups.zip(order.columns().par_chunks(WORD_BITS)).for_each(|(bytes, columns)| {
                for (start, lines) in &made {
                    let first = start / WORD_BITS;
                    let end = bands.min(first + MADE_ROWS / WORD_BITS);
                    for band in (first..end).step_by(BLOCKS) {
                        let (line, at) = ((band - first) / BLOCK_WORDS, (band - first) % BLOCK_WORDS);
                        let mut blocks: Blocks = [[0; BLOCKS]; WORD_BITS];
                        for (to, &column) in blocks.iter_mut().zip(columns) {
                            let line = &lines[column as usize * MADE_LINES + line];
                            to.copy_from_slice(&line[at..at + BLOCKS]);
                        }
                        kernels.transpose(&mut blocks);
                        for (byte, bytes) in bytes.chunks_exact_mut(rows).enumerate() {
                            for (block, bytes) in
                                bytes[band * WORD_BITS..].chunks_mut(WORD_BITS).take(BLOCKS).enumerate()
                            {
                                bytes
                                    .iter_mut()
                                    .zip(&blocks)
                                    .for_each(|(to, row)| *to = (row[block] >> (BYTE * byte)) as u8);
                            }
                        }
                    }
                }
            });
        }
        let mut positions = vec![0; order.columns().len()];
        (0..).zip(order.columns()).for_each(|(position, &column)| positions[column as usize] = position);
        Ok(Self { words, rows, positions })
    }
}

impl HeldColumns for ByteRows {
    /// Bits past the last row are whatever they were made to be.
    fn fill(&self, column: u32, first: usize, kernels: Kernels, out: &mut [u64]) {
        let position = self.positions[column as usize] as usize;
        let from = position / BYTE * self.rows + first * WORD_BITS;
        let bytes = &self.words.bytes()[from..][..out.len() * WORD_BITS];
        kernels.pick(bytes, (position % BYTE) as u32, out);
    }
}

impl RowWords for ByteRows {
    fn place(&self, word: usize) -> usize {
        word * BYTE * self.rows
    }

    #[inline]
    fn read(&self, place: usize, row: u32) -> u64 {
        let bytes = &self.words.bytes()[place + row as usize..][..7 * self.rows + 1];
        u64::from_le_bytes(std::array::from_fn(|byte| bytes[byte * self.rows]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::BitMatrix;
    use crate::random::{Purpose, Stream};

    #[derive(Debug)]
    struct Made(BitMatrix);

    impl MakeColumns for Made {
        fn rows(&self) -> usize {
            self.0.rows()
        }

        fn columns(&self) -> usize {
            self.0.columns()
        }

        fn make(&self, rows: Range<usize>) -> Result<Vec<Line>> {
            let mut lines = vec![Line::default(); self.columns() * MADE_LINES];
            for (at, line) in lines.iter_mut().enumerate() {
                let first = rows.start / WORD_BITS + at % MADE_LINES * BLOCK_WORDS;
                let column = self.0.column(at / MADE_LINES);
                line.iter_mut()
                    .zip(column.get(first..).unwrap_or_default())
                    .for_each(|(to, &from)| *to = from);
            }
            Ok(lines)
        }
    }

    #[test]
    fn rows_and_columns_are_what_they_were_made_of() {
        let mut stream = Stream::new(7, Purpose::Generate, 0);
        for (rows, columns) in [(1, 1), (64, 64), (2_048, 65), (4_700, 130)] {
            let bits: Vec<bool> = (0..rows * columns).map(|_| stream.below(2) == 1).collect();
            let made = Made(BitMatrix::from_bools(columns, &bits).unwrap());
            let order = ColumnOrder::new(columns, 3);
            let packed = ByteRows::new(&made, &order, Kernels::best()).unwrap();
            for word in 0..order.words() {
                let place = packed.place(word);
                for row in [0, rows / 2, rows - 1] {
                    let read = packed.read(place, row as u32);
                    for (bit, &column) in order.word(word as u32).iter().enumerate() {
                        assert_eq!(read >> bit & 1 != 0, bits[row * columns + column as usize]);
                    }
                }
            }
            for column in 0..columns {
                let first = words_for(rows) / 2;
                let mut out = vec![0; words_for(rows) - first];
                packed.fill(column as u32, first, Kernels::best(), &mut out);
                assert_eq!(out, made.0.column(column)[first..words_for(rows)]);
            }
        }
    }
}
