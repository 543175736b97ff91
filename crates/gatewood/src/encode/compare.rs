//! Bits that compare two columns, or the bytes of one with thresholds, a block of rows at a time.

use super::source::{as_number, misfit};
use super::view::StoreView;
use super::{BitMeaning, Encoder, Kind, TableView, Test};
use crate::Result;
use crate::bits::kernels::Kernels;
use crate::bits::{BLOCK_WORDS, WORD_BITS};

/// Rows that are compared together: the values of a column that are compared stay in the first-level cache.
const ROWS: usize = BLOCK_WORDS * WORD_BITS;

/// Some bits that compare values, and where they find these.
pub(super) struct Compared<'a> {
    encoder: &'a Encoder,
    table: TableView<'a>,
    /// The columns that are compared, as positions in the encoder's inputs and in the table.
    columns: Vec<(u32, usize)>,
    asks: Vec<Ask>,
}

/// What a bit asks of the columns that are compared.
enum Ask {
    /// Whether a byte is above a threshold.
    Above(u32, f64),
    /// Whether a value less another is above a margin.
    Exceeds(u32, u32, f64),
}

impl<'a> Compared<'a> {
    /// Whether a bit is written like this: one that compares two columns, or bytes with a threshold.
    pub(super) fn takes(encoder: &Encoder, table: TableView<'_>, bit: &BitMeaning) -> bool {
        match bit.test {
            Test::Exceeds { .. } => true,
            Test::Above(_) => {
                let is_pixel = encoder.inputs[bit.column as usize].kind == Kind::Pixel;
                is_pixel && matches!(table.store, StoreView::Pixels { .. })
            }
            _ => false,
        }
    }

    /// From bits that are written like this.
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
        let asks = bits.iter().filter_map(|bit| match bit.test {
            Test::Above(threshold) => Some(Ask::Above(place(bit.column), threshold)),
            Test::Exceeds { other, margin } => Some(Ask::Exceeds(place(bit.column), place(other), margin)),
            _ => None,
        });
        let asks = asks.collect();
        Self { encoder, table, columns, asks }
    }

    /// How many bits there are.
    pub(super) fn bits(&self) -> usize {
        self.asks.len()
    }

    /// Writes a block of rows of all bits.
    pub(super) fn write(&self, block: usize, out: Vec<&mut [u64]>) -> Result<()> {
        let first = block * ROWS;
        let rows = ROWS.min(self.table.rows() - first);
        let is_pixels =
            |&(column, _): &(u32, usize)| self.encoder.inputs[column as usize].kind == Kind::Pixel;
        match self.table.store {
            StoreView::Pixels { columns, bytes } if self.columns.iter().all(is_pixels) => {
                self.write_bytes(&bytes[first * columns..], columns, rows, out);
                Ok(())
            }
            _ => self.write_numbers(first, rows, out),
        }
    }

    /// The same for bytes, row by row.
    fn write_bytes(&self, bytes: &[u8], width: usize, rows: usize, out: Vec<&mut [u64]>) {
        let kernels = Kernels::best();
        let mut values = vec![[0u8; ROWS]; self.columns.len()];
        // A few rows at a time, which stay in the first-level cache while columns are read from them one after the other.
        for (some, bytes) in bytes.chunks(width * WORD_BITS).take(rows.div_ceil(WORD_BITS)).enumerate() {
            for (values, &(_, position)) in values.iter_mut().zip(&self.columns) {
                let values = &mut values[some * WORD_BITS..][..WORD_BITS];
                values
                    .iter_mut()
                    .zip(bytes[position..].iter().step_by(width))
                    .for_each(|(to, &byte)| *to = byte);
            }
        }
        let mut words = [0; BLOCK_WORDS];
        for (out, ask) in out.into_iter().zip(&self.asks) {
            match *ask {
                Ask::Above(column, threshold) => match threshold.floor() {
                    below if below < 0.0 => words.fill(u64::MAX),
                    // A cast keeps what is too large at the largest byte, which none is above.
                    threshold => kernels.above(&values[column as usize], threshold as u8, &mut words),
                },
                Ask::Exceeds(one, other, margin) => {
                    // Differences of bytes are whole numbers.
                    let margin = margin.floor().clamp(-256.0, 256.0) as i16;
                    let (one, other) = (&values[one as usize], &values[other as usize]);
                    kernels.exceed(one, other, margin, &mut words);
                }
            }
            for (place, (to, word)) in out.iter_mut().zip(words).enumerate() {
                let rows = rows.saturating_sub(place * WORD_BITS).min(WORD_BITS);
                *to = if rows == 0 { 0 } else { word & u64::MAX >> (WORD_BITS - rows) };
            }
        }
    }

    /// The same for numbers of any kind.
    fn write_numbers(&self, first: usize, rows: usize, out: Vec<&mut [u64]>) -> Result<()> {
        let mut values = vec![[f64::NAN; ROWS]; self.columns.len()];
        for (values, &(column, position)) in values.iter_mut().zip(&self.columns) {
            let input = &self.encoder.inputs[column as usize];
            let from = self.table.kind(position);
            for (row, to) in (first..first + rows).zip(values) {
                let value = self.table.value(row, position);
                *to = as_number(value, from, input).ok_or_else(|| misfit(input, value, row))?;
            }
        }
        for (out, ask) in out.into_iter().zip(&self.asks) {
            let holds = |row: usize| match *ask {
                Ask::Above(column, threshold) => values[column as usize][row] > threshold,
                Ask::Exceeds(one, other, margin) => {
                    values[one as usize][row] - values[other as usize][row] > margin
                }
            };
            for (word, to) in out.iter_mut().enumerate() {
                let rows = word * WORD_BITS..rows.min((word + 1) * WORD_BITS);
                *to = rows.rev().fold(0, |bits, row| bits << 1 | u64::from(holds(row)));
            }
        }
        Ok(())
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
