//! Rows of one output, and counting over them.

use crate::Result;
use crate::bits::{BitMatrix, BitView, words_for};
use crate::random::{Purpose, Stream};

/// Rows of input bits, and the output bit of each.
#[derive(Debug, Clone)]
pub(super) struct Samples {
    pub(super) bits: BitMatrix,
    /// One bit a row; those past the last row are zero.
    pub(super) label: Vec<u64>,
}

impl Samples {
    pub(super) fn new(bits: BitView<'_>, label: &[u64], rows: &[usize]) -> Result<Self> {
        let picked = BitMatrix::from_columns(bits.rows(), &[label])?.view().select_rows(rows)?;
        let label = picked.view().column(0).to_vec();
        Ok(Self { bits: bits.select_rows(rows)?, label })
    }

    pub(super) fn rows(&self) -> usize {
        self.bits.rows()
    }

    pub(super) fn columns(&self) -> usize {
        self.bits.columns()
    }

    pub(super) fn column(&self, column: usize) -> &[u64] {
        &self.bits.column(column)[..words_for(self.rows())]
    }

    /// A mask of all rows.
    pub(super) fn all(&self) -> Vec<u64> {
        let mut all = vec![u64::MAX; words_for(self.rows())];
        if let (Some(last), rest @ 1..) = (all.last_mut(), self.rows() % 64) {
            *last = (1 << rest) - 1;
        }
        all
    }

    /// The same rows with the exclusive or of some columns added to the output.
    pub(super) fn changed_by(&self, columns: &[usize]) -> Self {
        let mut label = self.label.clone();
        for &column in columns {
            label.iter_mut().zip(self.column(column)).for_each(|(label, bit)| *label ^= bit);
        }
        Self { bits: self.bits.clone(), label }
    }

    /// The same rows with more columns, each the exclusive or of some.
    pub(super) fn widened(&self, sums: &[Vec<usize>]) -> Result<Self> {
        let mut columns: Vec<Vec<u64>> = (0..self.columns()).map(|at| self.column(at).to_vec()).collect();
        for sum in sums {
            let mut words = vec![0; words_for(self.rows())];
            for &column in sum {
                words.iter_mut().zip(self.column(column)).for_each(|(word, bit)| *word ^= bit);
            }
            columns.push(words);
        }
        Ok(Self { bits: BitMatrix::from_columns(self.rows(), &columns)?, label: self.label.clone() })
    }

    /// Rows whose output is another than these bits.
    pub(super) fn wrong(&self, said: &[u64]) -> usize {
        count(self.label.iter().zip(said).map(|(label, said)| label ^ said))
    }

    /// The output of each row as a class.
    pub(super) fn classes(&self) -> Vec<u32> {
        (0..self.rows()).map(|row| (self.label[row / 64] >> (row % 64) & 1) as u32).collect()
    }

    /// How far a column and the output agree, from -1 to 1, for every column.
    pub(super) fn correlations(&self) -> Vec<f64> {
        let rows = self.rows().max(1) as f64;
        (0..self.columns()).map(|column| 1.0 - 2.0 * self.wrong(self.column(column)) as f64 / rows).collect()
    }
}

/// How many bits are one.
pub(super) fn count(words: impl Iterator<Item = u64>) -> usize {
    words.map(|word| word.count_ones() as usize).sum()
}

/// Splits rows in those to learn from and those that judge, a fifth.
pub(super) fn split(rows: usize, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..rows).collect();
    Stream::new(seed, Purpose::Split, 0).shuffle(&mut order);
    let mut held = order.split_off(rows - rows / 5);
    order.sort_unstable();
    held.sort_unstable();
    (order, held)
}
