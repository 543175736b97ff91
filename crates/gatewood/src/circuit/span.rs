//! Columns that a grove makes of the bits it is given.

use super::{MAX_ARITY, TruthTable};
use crate::bits::BitView;
use crate::bits::kernels::Kernels;
use crate::{Error, Result};

/// A gate that trees share: whether any of a few columns is one, or whether all are. In images, the columns of a span
/// lie in a line.
///
/// ```
/// use gatewood::circuit::Span;
/// let span = Span::any(vec![2, 3, 4])?;
/// assert!(span.holds(|column| column == 3));
/// assert!(!Span::all(vec![2, 3, 4])?.holds(|column| column == 3));
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Span {
    all: bool,
    columns: Vec<u32>,
}

impl Span {
    /// One where any of the columns is: two of them or more, ascending.
    ///
    /// # Errors
    /// When they are fewer, more than a gate reads, or not in order.
    pub fn any(columns: Vec<u32>) -> Result<Self> {
        Self::new(false, columns)
    }

    /// One where all of the columns are: two of them or more, ascending.
    ///
    /// # Errors
    /// When they are fewer, more than a gate reads, or not in order.
    pub fn all(columns: Vec<u32>) -> Result<Self> {
        Self::new(true, columns)
    }

    pub(crate) fn new(all: bool, columns: Vec<u32>) -> Result<Self> {
        if !(2..=MAX_ARITY).contains(&columns.len()) || !columns.is_sorted_by(|a, b| a < b) {
            return Err(Error::data(format!(
                "a span reads 2 to {MAX_ARITY} columns, each once and in order, not {columns:?}"
            )));
        }
        Ok(Self { all, columns })
    }

    /// Whether all of its columns must be one, and not any.
    pub fn is_all(&self) -> bool {
        self.all
    }

    /// The columns it reads.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// What it says of one row, given as a function from column to bit.
    pub fn holds(&self, bit: impl Fn(usize) -> bool) -> bool {
        let mut bits = self.columns.iter().map(|&column| bit(column as usize));
        if self.all { bits.all(|bit| bit) } else { bits.any(|bit| bit) }
    }

    /// It as a gate over its columns.
    pub(crate) fn table(&self) -> TruthTable {
        let last = (1 << self.columns.len()) - 1;
        TruthTable::from_fn(
            self.columns.len(),
            |address| if self.all { address == last } else { address != 0 },
        )
    }

    /// Writes what it says of many rows, a bit each, given the words of each column.
    fn fill<'a>(&self, words: impl Fn(u32) -> &'a [u64], kernels: Kernels, out: &mut [u64]) {
        let mut columns: [&[u64]; MAX_ARITY] = [&[]; MAX_ARITY];
        columns.iter_mut().zip(&self.columns).for_each(|(words_of, &column)| *words_of = words(column));
        kernels.merge(self.all, &columns[..self.columns.len()], out);
    }
}

/// Columns that are held in some other form than as columns.
pub(crate) trait HeldColumns: std::fmt::Debug + Sync {
    /// Writes the words of a column from `first` on.
    fn fill(&self, column: u32, first: usize, kernels: Kernels, out: &mut [u64]);
}

/// Rows as trees read them: their bits, and spans of these as the columns after them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wide<'a> {
    pub(crate) bits: BitView<'a>,
    pub(crate) spans: &'a [Span],
    /// All columns, in place of bits and spans, where these are not there.
    pub(crate) held: Option<&'a dyn HeldColumns>,
}

impl<'a> Wide<'a> {
    pub(crate) fn new(bits: BitView<'a>, spans: &'a [Span]) -> Self {
        Self { bits, spans, held: None }
    }

    /// Whether a column must be made before it is read.
    pub(crate) fn is_made(&self, column: u32) -> bool {
        self.held.is_some() || column as usize >= self.bits.columns()
    }

    /// The span that is this column, if it is one.
    pub(crate) fn span(&self, column: u32) -> Option<&'a Span> {
        (column as usize).checked_sub(self.bits.columns()).map(|span| &self.spans[span])
    }

    /// Writes the words of a column from `first` on.
    pub(crate) fn fill(&self, column: u32, first: usize, kernels: Kernels, out: &mut [u64]) {
        if let Some(held) = self.held {
            return held.fill(column, first, kernels, out);
        }
        match self.span(column) {
            Some(span) => span.fill(|column| &self.bits.column(column as usize)[first..], kernels, out),
            None => out.copy_from_slice(&self.bits.column(column as usize)[first..][..out.len()]),
        }
    }
}

/// Writes some words of every column, the spans after those they are made of: a column after the other, `stride` words
/// each.
pub(crate) fn widen_words(
    bits: BitView<'_>,
    spans: &[Span],
    first: usize,
    words: usize,
    stride: usize,
    kernels: Kernels,
    out: &mut [u64],
) {
    let (inputs, made) = out.split_at_mut(bits.columns() * stride);
    for (column, to) in inputs.chunks_exact_mut(stride).enumerate() {
        to[..words].copy_from_slice(&bits.column(column)[first..first + words]);
    }
    for (span, to) in spans.iter().zip(made.chunks_exact_mut(stride)) {
        span.fill(|column| &inputs[column as usize * stride..], kernels, &mut to[..words]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bits::kernels::Level;
    use crate::bits::{BitMatrix, WORD_BITS, words_for};
    use crate::random::{Purpose, Stream};

    #[test]
    fn odd_spans_are_refused() {
        for columns in [vec![], vec![1], vec![2, 1], vec![1, 1], (0..13).collect()] {
            assert!(Span::any(columns.clone()).is_err_and(|error| error.is_data()), "{columns:?}");
        }
    }

    proptest! {
        #[test]
        fn wide_rows_have_what_each_span_says(rows in 1usize..1000, columns in 2usize..20, seed: u64) {
            let mut stream = Stream::new(seed, Purpose::Sample, 0);
            let bits: Vec<bool> = (0..rows * columns).map(|_| stream.below(2) == 1).collect();
            let bits = BitMatrix::from_bools(columns, &bits).unwrap();
            let spans: Vec<Span> = (0..5)
                .map(|_| {
                    let first = stream.below(columns as u32 - 1);
                    // As often as not the usual number.
                    let count = match stream.below(2) {
                        0 if columns as u32 - first > 6 => 5,
                        _ => 1 + stream.below((columns as u32 - first - 1).min(11)),
                    };
                    Span::new(stream.below(2) == 1, (first..=first + count).collect()).unwrap()
                })
                .collect();
            let wide = Wide::new(bits.view(), &spans);
            let expected = |row: usize, column: usize| match column.checked_sub(columns) {
                None => bits.get(row, column),
                Some(span) => spans[span].holds(|column| bits.get(row, column)),
            };
            let (first, words) = (words_for(rows) / 2, words_for(rows) - words_for(rows) / 2);
            let stride = words + 3;
            for kernels in Level::available().into_iter().filter_map(Kernels::at) {
                let mut all = vec![0; stride * (wide.bits.columns() + wide.spans.len())];
                widen_words(bits.view(), &spans, first, words, stride, kernels, &mut all);
                for (column, words_of) in all.chunks_exact(stride).enumerate() {
                    let mut filled = vec![0; words];
                    wide.fill(column as u32, first, kernels, &mut filled);
                    prop_assert_eq!(&words_of[..words], &filled);
                    for row in first * WORD_BITS..rows {
                        let (word, bit) = (row / WORD_BITS - first, row % WORD_BITS);
                        prop_assert_eq!(filled[word] >> bit & 1 != 0, expected(row, column));
                    }
                }
            }
        }
    }
}
