//! Rows in the order of their class.

use crate::platform::parallel::*;

use crate::bits::kernels::Kernels;
use crate::bits::{AlignedWords, BLOCK_WORDS, BitView, WORD_BITS, padded_words_for, words_for};
use crate::{Error, Result};

/// Training rows by their class, however they are held.
pub(super) trait ByClass: Sync {
    /// Number of columns.
    fn columns(&self) -> usize;

    /// Rows of each class.
    fn rows(&self) -> [u32; 2];
}

/// The class of each row, a bit for each, and how many rows each class has.
///
/// # Errors
/// As [`TrainingView::new`], but for memory.
fn classes_of(bits: BitView<'_>, labels: &[u32], kernels: Kernels) -> Result<(Vec<u64>, [usize; 2])> {
    if bits.rows() == 0 || bits.columns() == 0 {
        return Err(Error::data(format!(
            "nothing to learn from: {} rows of {} bits",
            bits.rows(),
            bits.columns()
        )));
    }
    if labels.len() != bits.rows() {
        return Err(Error::data(format!("{} labels for {} rows", labels.len(), bits.rows())));
    }
    if u32::try_from(labels.len()).is_err() || u32::try_from(bits.columns()).is_err() {
        return Err(Error::too_large(format!(
            "{} rows of {} bits: the limit is 2^32",
            bits.rows(),
            bits.columns()
        )));
    }
    if let Some(row) = labels.iter().position(|&label| label > 1) {
        return Err(Error::data(format!(
            "row {row} has label {}: a tree learns two classes, 0 and 1",
            labels[row]
        )));
    }
    let mut classes = vec![0u64; words_for(labels.len())];
    for (word, labels) in classes.iter_mut().zip(labels.chunks(WORD_BITS)) {
        *word = labels.iter().rev().fold(0, |word, &label| word << 1 | u64::from(label));
    }
    let ones = kernels.popcount(&classes) as usize;
    let rows = [labels.len() - ones, ones];
    if let Some(missing) = rows.iter().position(|&rows| rows == 0) {
        return Err(Error::data(format!(
            "all {} rows are of class {}: there is nothing to learn",
            labels.len(),
            1 - missing
        )));
    }
    Ok((classes, rows))
}

/// The training rows where they are, and which of them are of each class.
pub(super) struct RowsOfClasses<'a> {
    pub(super) bits: BitView<'a>,
    /// Both lists ascend.
    pub(super) rows: [Vec<u32>; 2],
}

impl<'a> RowsOfClasses<'a> {
    /// # Errors
    /// As [`TrainingView::new`].
    pub(super) fn new(bits: BitView<'a>, labels: &[u32], kernels: Kernels) -> Result<Self> {
        let (_, counts) = classes_of(bits, labels, kernels)?;
        let mut rows: [Vec<u32>; 2] = Default::default();
        for (rows, count) in rows.iter_mut().zip(counts) {
            rows.try_reserve_exact(count + 1)
                .map_err(|_| Error::too_large(format!("a list of {count} rows does not fit in memory")))?;
        }
        // The row is written to the list of its class, and to the other, where the next one takes its place.
        rows.iter_mut().zip(counts).for_each(|(rows, count)| rows.resize(count + 1, 0));
        let mut next = [0; 2];
        for (row, &label) in labels.iter().enumerate() {
            let label = label as usize;
            rows[0][next[0]] = row as u32;
            rows[1][next[1]] = row as u32;
            next[label] += 1;
        }
        rows.iter_mut().zip(counts).for_each(|(rows, count)| rows.truncate(count));
        Ok(Self { bits, rows })
    }
}

impl ByClass for RowsOfClasses<'_> {
    fn columns(&self) -> usize {
        self.bits.columns()
    }

    fn rows(&self) -> [u32; 2] {
        self.rows.each_ref().map(|rows| rows.len() as u32)
    }
}

impl ByClass for TrainingView {
    fn columns(&self) -> usize {
        self.columns()
    }

    fn rows(&self) -> [u32; 2] {
        self.rows()
    }
}

/// A copy of the training rows ordered by class, so that counting a class is counting a range of words.
///
/// Each column holds the rows of class 0 in their order, padded with zeros to whole blocks, then those of class 1,
/// padded likewise.
#[derive(Debug, Clone)]
pub struct TrainingView {
    columns: usize,
    /// Rows of each class.
    rows: [u32; 2],
    /// Words of class 0, padding included; class 1 starts there.
    split: usize,
    /// Words of a column.
    stride: usize,
    words: AlignedWords,
    /// For each column, the ones of each class.
    ones: Vec<[u32; 2]>,
}

impl TrainingView {
    /// Orders the rows by their labels, 0 or 1, the columns side by side in the thread pool this is called in.
    ///
    /// # Errors
    /// When there are no rows or columns, a label is neither 0 nor 1, a class has no row, the labels are not one a row,
    /// or memory runs out.
    pub fn new(bits: BitView<'_>, labels: &[u32], kernels: Kernels) -> Result<Self> {
        let (classes, rows) = classes_of(bits, labels, kernels)?;
        let split = padded_words_for(rows[0]);
        let stride = split + padded_words_for(rows[1]);
        let words = stride.checked_mul(bits.columns()).ok_or_else(|| {
            Error::too_large(format!("{} rows of {} bits do not fit in memory", bits.rows(), bits.columns()))
        })?;
        let mut words = AlignedWords::zeros(words)?;
        let order = |(column, target): (usize, &mut [u64])| {
            let (zeros, ones) = target.split_at_mut(split);
            kernels.partition(bits.column(column), &classes, rows[0] + rows[1], zeros, ones);
            [kernels.popcount(zeros) as u32, kernels.popcount(ones) as u32]
        };
        let ones = words.par_chunks_exact_mut(stride).enumerate().map(order).collect();
        let rows = rows.map(|rows| rows as u32);
        Ok(Self { columns: bits.columns(), rows, split, stride, words, ones })
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Rows of each class.
    pub fn rows(&self) -> [u32; 2] {
        self.rows
    }

    /// Words of class 0 with their padding: those of class 1 start there.
    pub fn split(&self) -> usize {
        self.split
    }

    /// Words of a column, both classes with their padding.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// A column, both classes.
    pub fn column(&self, column: usize) -> &[u64] {
        &self.words[column * self.stride..][..self.stride]
    }

    /// The ones of each class in a column.
    pub fn ones(&self, column: usize) -> [u32; 2] {
        self.ones[column]
    }

    /// The two classes of a column of this shape.
    pub fn classes<'c>(&self, column: &'c [u64]) -> [&'c [u64]; 2] {
        let (zeros, ones) = column.split_at(self.split);
        [zeros, ones]
    }

    /// Zeroes the padding of a column of this shape.
    pub fn clear_padding(&self, column: &mut [u64]) {
        let (zeros, ones) = column.split_at_mut(self.split);
        for (class, rows) in [zeros, ones].into_iter().zip(self.rows) {
            let (full, rest) = (rows as usize / WORD_BITS, rows as usize % WORD_BITS);
            if let Some((partial, padding)) = class[full..].split_first_mut() {
                *partial &= (1 << rest) - 1;
                padding.fill(0);
            }
        }
        debug_assert!(self.split.is_multiple_of(BLOCK_WORDS));
    }
}
