//! Bits that compare two columns, a block of rows at a time.

use super::source::{as_number, misfit};
use super::view::StoreView;
use super::{BitMeaning, Encoder, Kind, TableView, Test};
use crate::Result;
use crate::bits::{BLOCK_WORDS, WORD_BITS};

/// Rows that are compared together: the values of a column that are compared stay in the first-level cache.
const ROWS: usize = BLOCK_WORDS * WORD_BITS;

/// Some bits that compare two columns, and where they find their values.
pub(super) struct Compared<'a> {
    encoder: &'a Encoder,
    table: TableView<'a>,
    /// The columns that are compared, as positions in the encoder's inputs and in the table.
    columns: Vec<(u32, usize)>,
    /// For each bit, the two columns among those, and the margin.
    pairs: Vec<(u32, u32, f64)>,
}

impl<'a> Compared<'a> {
    pub(super) fn new(
        encoder: &'a Encoder,
        table: TableView<'a>,
        positions: &[usize],
        bits: &[BitMeaning],
    ) -> Self {
        let mut places = vec![u32::MAX; positions.len()];
        let mut columns = Vec::new();
        let mut place = |column: u32| {
            let place = &mut places[column as usize];
            if *place == u32::MAX {
                *place = columns.len() as u32;
                columns.push((column, positions[column as usize]));
            }
            *place
        };
        let pairs = bits.iter().filter_map(|bit| match bit.test {
            Test::Exceeds { other, margin } => Some((place(bit.column), place(other), margin)),
            _ => None,
        });
        let pairs = pairs.collect();
        Self { encoder, table, columns, pairs }
    }

    /// How many bits there are.
    pub(super) fn bits(&self) -> usize {
        self.pairs.len()
    }

    /// Writes a block of rows of all bits.
    pub(super) fn write(&self, block: usize, mut out: Vec<&mut [u64]>) -> Result<()> {
        let first = block * ROWS;
        let rows = ROWS.min(self.table.rows() - first);
        let is_pixels =
            |&(column, _): &(u32, usize)| self.encoder.inputs[column as usize].kind == Kind::Pixel;
        if let (StoreView::Pixels { columns: width, bytes }, true) =
            (self.table.store, self.columns.iter().all(is_pixels))
        {
            let mut values = vec![[0u8; ROWS]; self.columns.len()];
            for (row, pixels) in bytes[first * width..].chunks_exact(width).take(rows).enumerate() {
                for (values, &(_, position)) in values.iter_mut().zip(&self.columns) {
                    values[row] = pixels[position];
                }
            }
            for (out, &(one, other, margin)) in out.iter_mut().zip(&self.pairs) {
                // Differences of bytes are whole numbers.
                let margin = margin.floor().clamp(-256.0, 256.0) as i16;
                let (one, other) = (&values[one as usize], &values[other as usize]);
                compare(one, other, rows, out, |a, b| i16::from(a) - i16::from(b) > margin);
            }
            return Ok(());
        }
        let mut values = vec![[f64::NAN; ROWS]; self.columns.len()];
        for (values, &(column, position)) in values.iter_mut().zip(&self.columns) {
            let input = &self.encoder.inputs[column as usize];
            let from = self.table.kind(position);
            for (row, to) in (first..first + rows).zip(values) {
                let value = self.table.value(row, position);
                *to = as_number(value, from, input).ok_or_else(|| misfit(input, value, row))?;
            }
        }
        for (out, &(one, other, margin)) in out.iter_mut().zip(&self.pairs) {
            compare(&values[one as usize], &values[other as usize], rows, out, |a, b| a - b > margin);
        }
        Ok(())
    }
}

/// Writes a bit for each of some rows.
#[inline(always)]
fn compare<T: Copy>(
    one: &[T; ROWS],
    other: &[T; ROWS],
    rows: usize,
    out: &mut [u64],
    holds: impl Fn(T, T) -> bool,
) {
    let words = one.as_chunks::<WORD_BITS>().0.iter().zip(other.as_chunks::<WORD_BITS>().0);
    for (word, (out, (one, other))) in out.iter_mut().zip(words).enumerate() {
        let mut flags = [0u8; WORD_BITS];
        for (flag, (&one, &other)) in flags.iter_mut().zip(one.iter().zip(other)) {
            *flag = u8::from(holds(one, other));
        }
        // The low bits of eight bytes, gathered in the top byte.
        let gather = |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        let eights = flags.as_chunks::<8>().0.iter().enumerate();
        let all = eights.fold(0, |word, (place, eight)| word | gather(eight) << (8 * place));
        let rows = rows.saturating_sub(word * WORD_BITS).min(WORD_BITS);
        *out = if rows == 0 { 0 } else { all & u64::MAX >> (WORD_BITS - rows) };
    }
}

/// Columns cut into blocks of rows: for each block, its part of every column.
pub(super) fn blocks(columns: Vec<&mut [u64]>) -> Vec<Vec<&mut [u64]>> {
    let mut blocks: Vec<Vec<&mut [u64]>> = Vec::new();
    for column in columns {
        for (block, words) in column.chunks_mut(BLOCK_WORDS).enumerate() {
            if blocks.len() <= block {
                blocks.push(Vec::new());
            }
            blocks[block].push(words);
        }
    }
    blocks
}
