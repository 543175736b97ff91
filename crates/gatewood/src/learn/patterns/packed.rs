//! The planes of images, packed so that blocks of any rows are made quickly.

use super::columns::ImageRows;
use super::planes::PlaneEncoder;
use crate::Result;
use crate::bits::kernels::{BLOCKS, Blocks, Kernels, Line};
use crate::bits::{AlignedWords, BLOCK_WORDS, WORD_BITS};
use crate::platform::parallel::*;

/// Rows of a block.
pub(super) const BLOCK_ROWS: usize = BLOCK_WORDS * WORD_BITS;

/// Words of a row that are read at once: what the processor fetches together.
const TOGETHER: usize = 8;

const _: () = assert!(BLOCK_WORDS.is_multiple_of(BLOCKS));

/// The bits of all places of some rows: a row is so many words.
#[derive(Debug)]
pub(super) struct PackedPlanes {
    words: AlignedWords,
    /// Words of a row.
    width: usize,
    rows: usize,
    kernels: Kernels,
}

impl PackedPlanes {
    /// Bytes that so many rows take.
    pub(super) fn bytes(planes: &PlaneEncoder, rows: usize) -> usize {
        planes.planes.inputs().len().div_ceil(WORD_BITS) * 8 * rows.next_multiple_of(BLOCK_ROWS)
    }

    /// All rows block by block, where they take no more than so many bytes and these are available; else none.
    pub(super) fn whole(&self, most: usize) -> Vec<Vec<Line>> {
        let bytes = self.words.len() * 8;
        if bytes > most || crate::memory::check(bytes).is_err() {
            return Vec::new();
        }
        let firsts: Vec<usize> = (0..self.rows).step_by(BLOCK_ROWS).collect();
        firsts.into_par_iter().map(|first| self.block(first..self.rows)).collect()
    }

    /// # Errors
    /// When the rows are no such images, or memory runs out.
    pub(super) fn new(
        planes: &PlaneEncoder,
        images: ImageRows<'_>,
        rows: &[usize],
        kernels: Kernels,
    ) -> Result<Self> {
        let inputs: Vec<Option<u32>> = planes.planes.inputs().collect();
        let width = inputs.len().div_ceil(WORD_BITS);
        let mut words = AlignedWords::zeros(width * rows.len().next_multiple_of(BLOCK_ROWS))?;
        let blocks = words.par_chunks_mut(width * BLOCK_ROWS).zip(rows.par_chunks(BLOCK_ROWS));
        let fill = |(words, rows): (&mut [u64], &[usize])| -> Result<()> {
            let bits = images.encode(&planes.encoder, rows)?;
            for (word, inputs) in inputs.chunks(WORD_BITS).enumerate() {
                for first in (0..BLOCK_WORDS).step_by(BLOCKS) {
                    let mut square: Blocks = [[0; BLOCKS]; WORD_BITS];
                    for (line, input) in square.iter_mut().zip(inputs) {
                        let column = input.map_or(&[][..], |input| bits.column(input as usize));
                        let column = column.get(first..).unwrap_or_default();
                        line.iter_mut().zip(column).for_each(|(to, &from)| *to = from);
                    }
                    kernels.transpose(&mut square);
                    for (row, line) in square.iter().enumerate() {
                        for (block, &bits) in line.iter().enumerate() {
                            words[((first + block) * WORD_BITS + row) * width + word] = bits;
                        }
                    }
                }
            }
            Ok(())
        };
        blocks.map(fill).collect::<Result<Vec<()>>>()?;
        Ok(Self { words, width, rows: rows.len(), kernels })
    }

    /// All words, row by row.
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Words of a row.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// A line for every place, of at most so many rows as a block has.
    pub(super) fn block(&self, rows: impl Iterator<Item = usize>) -> Vec<Line> {
        let mut lines = Vec::new();
        self.fill_block(rows, &mut lines);
        lines
    }

    /// [`PackedPlanes::block`] in place of another block, or of none.
    pub(super) fn fill_block(&self, rows: impl Iterator<Item = usize>, lines: &mut Vec<Line>) {
        let rows: Vec<usize> = rows.take(BLOCK_ROWS).map(|row| row * self.width).collect();
        lines.resize(self.width * WORD_BITS, Line::default());
        let mut squares: [Blocks; TOGETHER] = [[[0; BLOCKS]; WORD_BITS]; TOGETHER];
        for (group, lines) in lines.chunks_mut(TOGETHER * WORD_BITS).enumerate() {
            let word = group * TOGETHER;
            let here = TOGETHER.min(self.width - word);
            for part in 0..BLOCK_WORDS / BLOCKS {
                let rows = rows.chunks(BLOCKS * WORD_BITS).nth(part).unwrap_or_default();
                if rows.len() < BLOCKS * WORD_BITS {
                    squares = [[[0; BLOCKS]; WORD_BITS]; TOGETHER];
                }
                for (at, &row) in rows.iter().enumerate() {
                    let words = &self.words[row + word..][..here];
                    for (square, &word) in squares.iter_mut().zip(words) {
                        square[at % WORD_BITS][at / WORD_BITS] = word;
                    }
                }
                for (square, lines) in squares.iter_mut().zip(lines.chunks_exact_mut(WORD_BITS)) {
                    self.kernels.transpose(square);
                    for (line, made) in lines.iter_mut().zip(&*square) {
                        line[part * BLOCKS..][..BLOCKS].copy_from_slice(made);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::planes::PlaneSettings;
    use super::*;
    use crate::bits::kernels::Level;
    use crate::encode::{EncodeSettings, Encoder, ImageShape, Table};

    #[test]
    fn blocks_are_the_bits_of_their_rows() {
        let image = ImageShape::grey(9, 5);
        let bytes: Vec<u8> = (0..45 * 700).map(|at: u64| (at * at * 31 % 251) as u8).collect();
        let table = Table::from_pixels(45, bytes).unwrap();
        let (encoder, _) = Encoder::fit(&table, &EncodeSettings::default()).unwrap();
        let settings = PlaneSettings { levels: 2, comparisons: 3, reach: 2, margin: 0.1, seed: 1 };
        let planes = PlaneEncoder::new(&encoder, table.view(), image, &settings).unwrap();
        let bits = planes.encoder.transform(&table).unwrap();
        // All rows but the first few.
        let rows: Vec<usize> = (3..700).collect();
        for level in Level::available() {
            let kernels = Kernels::at(level).unwrap();
            let packed = PackedPlanes::new(&planes, ImageRows::Raw(table.view()), &rows, kernels).unwrap();
            assert_eq!(packed.rows(), 697);
            let picks = [0, 696, 5, 5, 512, 511, 64];
            let block = packed.block(picks.into_iter());
            for (place, input) in planes.planes.inputs().enumerate() {
                for (at, pick) in picks.into_iter().enumerate() {
                    let expected = input.is_some_and(|input| bits.get(rows[pick], input as usize));
                    assert_eq!(block[place][0] >> at & 1 != 0, expected, "{place} {pick}");
                }
            }
            // A block in place of another is the same as a new one.
            let mut again = packed.block(0..512);
            packed.fill_block(picks.into_iter(), &mut again);
            assert_eq!(again, block);
            let whole = packed.whole(usize::MAX);
            assert_eq!((whole.len(), packed.whole(0).len()), (2, 0));
            assert_eq!(whole[1][7], packed.block(512..697)[7]);
        }
    }
}
