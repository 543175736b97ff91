//! The rows a tree is climbed on.

use std::cell::Cell;

use crate::platform::parallel::*;

use crate::Result;
use crate::bits::kernels::{BLOCKS, Kernels};
use crate::bits::{AlignedWords, BLOCK_WORDS, WORD_BITS, padded_words_for};
use crate::learn::device::Handle;
use crate::learn::engine::{ColumnOrder, Picks};

/// Words of rows, wherever they are.
pub(crate) trait RowWords: Sync {
    /// Where a word of all rows is.
    fn place(&self, word: usize) -> usize;

    /// The word of one row there.
    fn read(&self, place: usize, row: u32) -> u64;
}

/// Rows gathered in the order of their side, column by column.
pub(crate) struct Sample {
    /// Rows of the lower and of the upper side.
    pub(super) rows: [u32; 2],
    /// Words of the lower side, padding included.
    pub(super) split: usize,
    /// Words of a column.
    pub(super) stride: usize,
    words: AlignedWords,
    /// Where the words are, if not here.
    device: Option<Handle>,
    /// The column of the rows that each column of the sample is.
    pub(crate) columns: Vec<u32>,
}

impl Sample {
    /// Rows of the lower and of the upper side.
    pub(crate) fn side_rows(&self) -> [u32; 2] {
        self.rows
    }

    /// A column of a sample that is here, by sides.
    pub(crate) fn sides(&self, column: usize) -> [&[u64]; 2] {
        let (lower, upper) = self.column(column).split_at(self.split);
        [lower, upper]
    }

    /// Gathers the chosen words of picked rows.
    pub(crate) fn gather(
        all: &impl RowWords,
        order: &ColumnOrder,
        chosen: &[u32],
        picks: &Picks,
        kernels: Kernels,
    ) -> Result<Self> {
        let split = padded_words_for(picks[0].len());
        let stride = split + padded_words_for(picks[1].len());
        let columns: Vec<u32> = chosen.iter().flat_map(|&word| order.word(word)).copied().collect();
        let mut words = SPARE.take();
        if words.len() < stride.saturating_mul(columns.len()) {
            words = AlignedWords::zeros(stride.saturating_mul(columns.len()))?;
        }
        let width = |word: u32| order.word(word).len();
        // The words of a row in groups, each with the columns it makes.
        let mut groups: Vec<(&[u32], &mut [u64])> = Vec::new();
        let mut rest = &mut words[..];
        for chosen in chosen.chunks(BLOCKS) {
            let columns: usize = chosen.iter().map(|&word| width(word)).sum();
            let (these, others) = rest.split_at_mut(columns * stride);
            groups.push((chosen, these));
            rest = others;
        }
        groups.into_par_iter().for_each(|(chosen, words)| {
            // The blocks of the rows that make a line of every column: lines are written whole, the padding with them.
            let mut bands = [[[0; BLOCKS]; WORD_BITS]; BLOCK_WORDS];
            // Where fewer words are left than blocks, the first stands in for those missing.
            let from: [usize; BLOCKS] =
                std::array::from_fn(|block| all.place(*chosen.get(block).unwrap_or(&chosen[0]) as usize));
            for (side, picks) in picks.iter().enumerate() {
                for (line, picks) in picks.chunks(BLOCK_WORDS * WORD_BITS).enumerate() {
                    let mut left = picks;
                    for blocks in &mut bands {
                        let (picks, others) = left.split_at(left.len().min(WORD_BITS));
                        left = others;
                        for (to, &row) in blocks.iter_mut().zip(picks) {
                            for (to, &place) in to.iter_mut().zip(&from) {
                                *to = all.read(place, row);
                            }
                        }
                        blocks[picks.len()..].fill([0; BLOCKS]);
                        if !picks.is_empty() {
                            kernels.transpose(blocks);
                        }
                    }
                    let at = side * split + line * BLOCK_WORDS;
                    let mut columns = words.chunks_exact_mut(stride);
                    for (block, &word) in chosen.iter().enumerate() {
                        for (i, column) in columns.by_ref().take(width(word)).enumerate() {
                            let line = &mut column[at..at + BLOCK_WORDS];
                            line.iter_mut().zip(&bands).for_each(|(to, blocks)| *to = blocks[i][block]);
                        }
                    }
                }
            }
        });
        let rows = [picks[0].len() as u32, picks[1].len() as u32];
        Ok(Self { rows, split, stride, words, device: None, columns })
    }

    /// A sample that another process has gathered, of so many rows on each side and so many columns.
    pub(crate) fn from_words(rows: [u32; 2], columns: usize, sent: &[u64]) -> Result<Self> {
        let [split, upper] = rows.map(|rows| padded_words_for(rows as usize));
        let stride = split + upper;
        if stride.checked_mul(columns) != Some(sent.len()) {
            return Err(crate::Error::data("a sample does not have the words of its rows and columns"));
        }
        let mut words = AlignedWords::zeros(sent.len())?;
        words.copy_from_slice(sent);
        Ok(Self { rows, split, stride, words, device: None, columns: (0..columns as u32).collect() })
    }

    /// Rows of the lower and of the upper side, and the words of all columns.
    pub(crate) fn parts(&self) -> ([u32; 2], &[u64]) {
        (self.rows, &self.words[..self.stride * self.columns.len()])
    }

    /// A sample whose words are on a device.
    pub(crate) fn on_device(rows: [u32; 2], columns: Vec<u32>, device: Handle) -> Self {
        let [split, upper] = rows.map(|rows| padded_words_for(rows as usize));
        let words = AlignedWords::empty();
        Self { rows, split, stride: split + upper, words, device: Some(device), columns }
    }

    /// What a device knows it by.
    pub(crate) fn handle(&self) -> Option<&Handle> {
        self.device.as_ref()
    }

    /// The same with the words here, given how a device fills them in.
    pub(crate) fn fetched(mut self, fill: impl Fn(&Handle, &mut [u64]) -> Result<()>) -> Result<Self> {
        if let Some(device) = self.device.take() {
            let count = self.stride.saturating_mul(self.columns.len());
            let mut words = SPARE.take();
            if words.len() < count {
                words = AlignedWords::zeros(count)?;
            }
            fill(&device, &mut words[..count])?;
            self.words = words;
        }
        Ok(self)
    }

    /// A column, both sides.
    #[inline]
    pub(super) fn column(&self, column: usize) -> &[u64] {
        &self.words[column * self.stride..][..self.stride]
    }

    /// Zeroes the padding of a column of this shape.
    pub(super) fn clear_padding(&self, column: &mut [u64]) {
        let (lower, upper) = column.split_at_mut(self.split);
        for (side, rows) in [lower, upper].into_iter().zip(self.rows) {
            let (full, rest) = (rows as usize / WORD_BITS, rows as usize % WORD_BITS);
            if let Some((partial, padding)) = side[full..].split_first_mut() {
                *partial &= (1 << rest) - 1;
                padding.fill(0);
            }
        }
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        SPARE.set(std::mem::take(&mut self.words));
    }
}

thread_local! {
    /// The words of the last sample, for the next: fresh ones are zeroed page by page as they are first written. Threads
    /// live as long as the work they were started for.
    static SPARE: Cell<AlignedWords> = const { Cell::new(AlignedWords::empty()) };
}
