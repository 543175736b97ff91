//! The matrix of bits: one packed column per input.

use super::kernels::Columns;
use super::{AlignedWords, WORD_BITS, padded_words_for, transpose_packed, words_for};
use crate::{Error, Result};

/// Rows of bits, stored transposed: one column of packed bits per input.
///
/// - Row `i` is bit `i % 64` of word `i / 64` of each column, the order of Arrow booleans and of numpy's
///   `packbits(bitorder="little")`.
/// - Each column starts on a 64-byte boundary and is padded to whole 512-bit blocks.
/// - Bits past the last row are zero, always; [`BitView::validate`] checks it.
///
/// ```
/// use gatewood::bits::BitMatrix;
/// // Three rows of two bits.
/// let bits = BitMatrix::from_bools(2, &[true, false, /**/ true, true, /**/ false, true])?;
/// assert_eq!((bits.rows(), bits.columns()), (3, 2));
/// assert_eq!(bits.column(0)[0], 0b011);
/// assert_eq!(bits.column(1)[0], 0b110);
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitMatrix {
    rows: usize,
    columns: usize,
    /// Words from one column to the next, a multiple of the block.
    stride: usize,
    words: AlignedWords,
}

impl BitMatrix {
    /// A matrix of zeros.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn zeros(rows: usize, columns: usize) -> Result<Self> {
        let too_large = || Error::too_large(format!("{rows} rows of {columns} bits do not fit in memory"));
        let stride = padded_words_for(rows);
        let words = stride.checked_mul(columns).ok_or_else(too_large)?;
        let words = AlignedWords::zeros(words).map_err(|_| too_large())?;
        Ok(Self { rows, columns, stride, words })
    }

    /// From row-major bytes, each row `columns.div_ceil(8)` of them, bit `j` of a row in bit `j % 8` of byte `j / 8`.
    ///
    /// # Errors
    /// When the number of bytes does not fit the shape, or memory runs out.
    pub fn from_packed_rows(rows: usize, columns: usize, bytes: &[u8]) -> Result<Self> {
        let row_bytes = packed_row_bytes(rows, columns, bytes)?;
        let mut matrix = Self::zeros(rows, columns)?;
        let stride = matrix.stride;
        transpose_packed(bytes, row_bytes, rows, columns, &mut matrix.words, stride);
        Ok(matrix)
    }

    /// From row-major `bool`s, `columns` a row.
    ///
    /// # Errors
    /// When the values do not fill whole rows, or memory runs out.
    pub fn from_bools(columns: usize, values: &[bool]) -> Result<Self> {
        Self::from_values(columns, values, |&value| value)
    }

    /// From row-major bytes, `columns` a row; any value but zero is a one.
    ///
    /// # Errors
    /// When the values do not fill whole rows, or memory runs out.
    pub fn from_bytes(columns: usize, values: &[u8]) -> Result<Self> {
        Self::from_values(columns, values, |&value| value != 0)
    }

    fn from_values<T>(columns: usize, values: &[T], bit: impl Fn(&T) -> bool) -> Result<Self> {
        if columns == 0 || !values.len().is_multiple_of(columns) {
            return Err(Error::data(format!(
                "{} values are not whole rows of {columns} columns: rows of unequal length",
                values.len()
            )));
        }
        let rows = values.len() / columns;
        let mut matrix = Self::zeros(rows, columns)?;
        let stride = matrix.stride;
        // 64 rows at a time through a row-major buffer, so that the transpose does the scattered writes.
        let row_bytes = columns.div_ceil(8);
        let mut packed = vec![0u8; row_bytes * WORD_BITS];
        for (block, rows) in values.chunks(columns * WORD_BITS).enumerate() {
            packed.fill(0);
            let count = rows.len() / columns;
            for (row, target) in rows.chunks_exact(columns).zip(packed.chunks_exact_mut(row_bytes)) {
                for (byte, eight) in target.iter_mut().zip(row.chunks(8)) {
                    *byte = eight.iter().enumerate().fold(0, |byte, (j, v)| byte | u8::from(bit(v)) << j);
                }
            }
            transpose_packed(&packed, row_bytes, count, columns, &mut matrix.words[block..], stride);
        }
        Ok(matrix)
    }

    /// From columns of packed words, each at least `rows` bits long. Bits past the last row are cleared.
    ///
    /// # Errors
    /// When a column is too short, or memory runs out.
    pub fn from_columns<C: AsRef<[u64]>>(rows: usize, columns: &[C]) -> Result<Self> {
        let mut matrix = Self::zeros(rows, columns.len())?;
        let words = words_for(rows);
        for (index, column) in columns.iter().enumerate() {
            let column = column.as_ref();
            if column.len() < words {
                return Err(Error::data(format!(
                    "column {index} has {} words, but {rows} rows take {words}",
                    column.len()
                )));
            }
            matrix.column_mut(index)[..words].copy_from_slice(&column[..words]);
        }
        matrix.clear_tail();
        Ok(matrix)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The words of one column, padding included.
    pub fn column(&self, column: usize) -> &[u64] {
        assert!(column < self.columns, "column {column} of {}", self.columns);
        &self.words[column * self.stride..][..self.stride]
    }

    /// The words of one column, to be written; the bits past the last row must stay zero.
    pub fn column_mut(&mut self, column: usize) -> &mut [u64] {
        assert!(column < self.columns, "column {column} of {}", self.columns);
        &mut self.words[column * self.stride..][..self.stride]
    }

    /// All columns, to be written side by side; each is one column's words with padding.
    pub fn columns_mut(&mut self) -> impl Iterator<Item = &mut [u64]> {
        // A matrix without rows has a stride of zero, which `chunks_exact_mut` refuses.
        let columns = self.columns;
        self.words.chunks_exact_mut(self.stride.max(1)).take(columns)
    }

    /// One bit.
    pub fn get(&self, row: usize, column: usize) -> bool {
        self.view().get(row, column)
    }

    /// Sets one bit.
    pub fn set(&mut self, row: usize, column: usize, value: bool) {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        let word = &mut self.column_mut(column)[row / WORD_BITS];
        let mask = 1u64 << (row % WORD_BITS);
        if value { *word |= mask } else { *word &= !mask }
    }

    /// Zeroes the bits past the last row of every column.
    pub fn clear_tail(&mut self) {
        let (full, rest) = (self.rows / WORD_BITS, self.rows % WORD_BITS);
        for column in self.columns_mut() {
            let mut tail = full;
            if rest != 0 {
                column[full] &= (1 << rest) - 1;
                tail += 1;
            }
            column[tail..].fill(0);
        }
    }

    /// The matrix, borrowed.
    pub fn view(&self) -> BitView<'_> {
        BitView { rows: self.rows, columns: self.columns, stride: self.stride, words: &self.words }
    }

    /// A matrix of the given columns of this one, in that order.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn select_columns(&self, columns: &[usize]) -> Result<Self> {
        let mut selected = Self::zeros(self.rows, columns.len())?;
        for (to, &from) in columns.iter().enumerate() {
            selected.column_mut(to).copy_from_slice(self.column(from));
        }
        Ok(selected)
    }

    /// A matrix of the given rows of this one, in that order.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn select_rows(&self, rows: &[usize]) -> Result<Self> {
        self.view().select_rows(rows)
    }
}

/// The bytes of a row, where the bytes given are whole rows.
pub(crate) fn packed_row_bytes(rows: usize, columns: usize, bytes: &[u8]) -> Result<usize> {
    let row_bytes = columns.div_ceil(8);
    if rows.checked_mul(row_bytes) != Some(bytes.len()) {
        return Err(Error::data(format!(
            "{rows} rows of {columns} bits take {row_bytes} bytes a row, but {} bytes were given",
            bytes.len()
        )));
    }
    Ok(row_bytes)
}

/// A [`BitMatrix`] borrowed from anyone: the same order of bits, any stride, any alignment.
#[derive(Debug, Clone, Copy)]
pub struct BitView<'a> {
    rows: usize,
    columns: usize,
    stride: usize,
    words: &'a [u64],
}

impl<'a> BitView<'a> {
    /// A view of `columns` columns, each `stride` words after the one before. Bits past the last row must be zero.
    ///
    /// # Errors
    /// When the words do not hold that shape.
    pub fn new(rows: usize, columns: usize, stride: usize, words: &'a [u64]) -> Result<Self> {
        let needed = columns
            .checked_sub(1)
            .map_or(Some(0), |before| before.checked_mul(stride)?.checked_add(words_for(rows)));
        if stride < words_for(rows) || needed.is_none_or(|needed| needed > words.len()) {
            return Err(Error::data(format!(
                "{} words do not hold {columns} columns of {rows} rows, {stride} words apart",
                words.len()
            )));
        }
        Ok(Self { rows, columns, stride, words })
    }

    /// Rows that have no columns.
    pub(crate) fn of_no_columns(rows: usize) -> Self {
        Self { rows, columns: 0, stride: words_for(rows), words: &[] }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The words of one column that hold rows.
    pub fn column(&self, column: usize) -> &'a [u64] {
        assert!(column < self.columns, "column {column} of {}", self.columns);
        &self.words[column * self.stride..][..words_for(self.rows)]
    }

    /// The columns from a word on, as kernels take them.
    pub(crate) fn columns_at(&self, first: usize) -> Columns<'a> {
        Columns { words: self.words, stride: self.stride, first }
    }

    /// The same as a matrix of its own.
    ///
    /// # Errors
    /// When the memory is unavailable.
    pub(crate) fn to_matrix(self) -> Result<BitMatrix> {
        let mut matrix = BitMatrix::zeros(self.rows, self.columns)?;
        for (column, to) in matrix.columns_mut().enumerate() {
            let from = self.column(column);
            to[..from.len()].copy_from_slice(from);
        }
        Ok(matrix)
    }

    /// A matrix of the given rows, in that order.
    ///
    /// # Panics
    /// When a row does not exist.
    ///
    /// # Errors
    /// When the memory is unavailable.
    pub fn select_rows(&self, rows: &[usize]) -> Result<BitMatrix> {
        let mut selected = BitMatrix::zeros(rows.len(), self.columns)?;
        for (column, to) in selected.columns_mut().enumerate() {
            let from = self.column(column);
            for (chunk, word) in rows.chunks(WORD_BITS).zip(to) {
                *word = chunk
                    .iter()
                    .enumerate()
                    .fold(0, |word, (i, &row)| word | (from[row / WORD_BITS] >> (row % WORD_BITS) & 1) << i);
            }
        }
        Ok(selected)
    }

    /// One bit.
    pub fn get(&self, row: usize, column: usize) -> bool {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        self.column(column)[row / WORD_BITS] >> (row % WORD_BITS) & 1 != 0
    }

    /// Checks that the bits past the last row are zero.
    ///
    /// # Errors
    /// Names the first column that has one.
    pub fn validate(&self) -> Result<()> {
        let rest = self.rows % WORD_BITS;
        if rest == 0 {
            return Ok(());
        }
        for column in 0..self.columns {
            if self.column(column).last().is_some_and(|last| last >> rest != 0) {
                return Err(Error::data(format!("column {column} has bits past row {}", self.rows)));
            }
        }
        Ok(())
    }
}
