//! The rows a tree is climbed on.

use std::cell::Cell;

use rayon::prelude::*;

use crate::Result;
use crate::bits::kernels::{BLOCKS, Kernels};
use crate::bits::{
    AlignedWords, BLOCK_WORDS, BitView, WORD_BITS, padded_words_for, transpose_block, words_for,
};
use crate::random::Stream;

/// All rows, packed by words of columns, so that any of them can be gathered quickly.
///
/// The columns are in random order, so that the columns of a word are a random choice of all.
#[derive(Debug)]
pub(super) struct Rows {
    words: AlignedWords,
    /// Rows, filled up to whole words.
    rows: usize,
    /// Words of a row.
    width: usize,
    /// How many words of a row lie side by side: all where trees get to see them all; else one, so that the rows of a
    /// chosen word are close to each other.
    side: usize,
    /// The column at each position.
    columns: Vec<u32>,
}

impl Rows {
    /// For trees that get to see at most so many words of a row.
    pub(super) fn new(bits: BitView<'_>, wanted: usize, stream: &mut Stream) -> Result<Self> {
        let width = words_for(bits.columns());
        let side = if width <= wanted { width } else { 1 };
        let bands = words_for(bits.rows());
        let rows = bands * WORD_BITS;
        let mut columns: Vec<u32> = (0..bits.columns() as u32).collect();
        stream.shuffle(&mut columns);
        let mut words = AlignedWords::zeros(width.saturating_mul(rows))?;
        let bands_of_words = words.par_chunks_mut(WORD_BITS * side).with_min_len(64).enumerate();
        bands_of_words.for_each(|(place, out)| {
            let (first, band) = (place / bands * side, place % bands);
            let mut block = [0u64; WORD_BITS];
            for word in 0..side {
                let columns = columns[(first + word) * WORD_BITS..].iter().take(WORD_BITS);
                block.fill(0);
                block
                    .iter_mut()
                    .zip(columns)
                    .for_each(|(to, &column)| *to = bits.column(column as usize)[band]);
                transpose_block(&mut block);
                block.iter().zip(out.chunks_exact_mut(side)).for_each(|(&row, out)| out[word] = row);
            }
        });
        Ok(Self { words, rows, width, side, columns })
    }

    /// Columns of a row.
    pub(super) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Where a word of the first row is; those of the rows after it are [`Rows::side`] apart.
    fn place(&self, word: usize) -> usize {
        word / self.side * self.side * self.rows + word % self.side
    }

    /// The words of a row that a tree gets to see: all, or `wanted` at random where there are more.
    pub(super) fn choose(&self, wanted: usize, stream: &mut Stream) -> Vec<u32> {
        let mut words: Vec<u32> = (0..self.width as u32).collect();
        if wanted < words.len() {
            for chosen in 0..wanted {
                let other = chosen + stream.below((words.len() - chosen) as u32) as usize;
                words.swap(chosen, other);
            }
            words.truncate(wanted);
        }
        words
    }
}

/// Rows gathered in the order of their class, column by column.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) rows: [u32; 2],
    /// Words of class 0, padding included.
    pub(super) split: usize,
    /// Words of a column.
    pub(super) stride: usize,
    words: AlignedWords,
    /// The column of the rows that each column of the sample is.
    pub(super) columns: Vec<u32>,
}

impl Sample {
    /// Gathers the chosen words of rows of two classes.
    pub(super) fn gather(
        all: &Rows,
        chosen: &[u32],
        picks: &[Vec<u32>; 2],
        kernels: Kernels,
    ) -> Result<Self> {
        let split = padded_words_for(picks[0].len());
        let stride = split + padded_words_for(picks[1].len());
        let columns: Vec<u32> = chosen
            .iter()
            .flat_map(|&word| all.columns.iter().skip(word as usize * WORD_BITS).take(WORD_BITS))
            .copied()
            .collect();
        let mut words = SPARE.take();
        if words.len() < stride.saturating_mul(columns.len()) {
            words = AlignedWords::zeros(stride.saturating_mul(columns.len()))?;
        }
        let width = |word: u32| WORD_BITS.min(all.columns.len() - word as usize * WORD_BITS);
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
            for (class, picks) in picks.iter().enumerate() {
                for (line, picks) in picks.chunks(BLOCK_WORDS * WORD_BITS).enumerate() {
                    let mut left = picks;
                    for blocks in &mut bands {
                        let (picks, others) = left.split_at(left.len().min(WORD_BITS));
                        left = others;
                        for (to, &row) in blocks.iter_mut().zip(picks) {
                            *to = from.map(|place| all.words[place + row as usize * all.side]);
                        }
                        blocks[picks.len()..].fill([0; BLOCKS]);
                        if !picks.is_empty() {
                            kernels.transpose(blocks);
                        }
                    }
                    let at = class * split + line * BLOCK_WORDS;
                    let mut columns = words.chunks_exact_mut(stride);
                    for (block, &word) in chosen.iter().enumerate() {
                        for (i, column) in columns.by_ref().take(width(word)).enumerate() {
                            let line = bands.each_ref().map(|blocks| blocks[i][block]);
                            column[at..at + BLOCK_WORDS].copy_from_slice(&line);
                        }
                    }
                }
            }
        });
        let rows = [picks[0].len() as u32, picks[1].len() as u32];
        Ok(Self { rows, split, stride, words, columns })
    }

    /// A column, both classes.
    #[inline]
    pub(super) fn column(&self, column: usize) -> &[u64] {
        &self.words[column * self.stride..][..self.stride]
    }

    /// Zeroes the padding of a column of this shape.
    pub(super) fn clear_padding(&self, column: &mut [u64]) {
        let (zeros, ones) = column.split_at_mut(self.split);
        for (class, rows) in [zeros, ones].into_iter().zip(self.rows) {
            let (full, rest) = (rows as usize / WORD_BITS, rows as usize % WORD_BITS);
            if let Some((partial, padding)) = class[full..].split_first_mut() {
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

/// Draws `size` rows, or one less, in proportion to their pull, systematically: evenly spaced along the running sum of
/// the pulls, from a random start. Those whose gradient is above zero are of class 1 of the sample.
pub(super) fn draw(pulls: &[u32], gradients: &[i32], size: usize, stream: &mut Stream) -> [Vec<u32>; 2] {
    let total: u64 = pulls.iter().map(|&pull| u64::from(pull)).sum();
    let mut picks = [const { Vec::new() }; 2];
    if total == 0 {
        return picks;
    }
    // Draws before a place on the running sum are the place times `scale`, in units of 2^-36.
    let shift = (64 - total.leading_zeros()).saturating_sub(36);
    let scale = ((size as u128) << 36) / (u128::from(total >> shift) + 1);
    let (scale, start) = (scale as u64, stream.bits() >> 28);
    let mut counts = [0usize; 2];
    picks = [const { Vec::new() }; 2].map(|_: Vec<u32>| vec![0; size + 2]);
    let (mut sum, mut before) = (0u64, 0u64);
    for (row, (&pull, &gradient)) in pulls.iter().zip(gradients).enumerate() {
        sum += u64::from(pull);
        let drawn = ((sum >> shift) * scale + start) >> 36;
        let times = (drawn - before) as usize;
        before = drawn;
        // Rows drawn never, once or twice are all alike to the processor.
        let class = usize::from(gradient > 0);
        let (picks, count) = (&mut picks[class], &mut counts[class]);
        picks[*count] = row as u32;
        picks[*count + 1] = row as u32;
        if times > 2 {
            picks[*count + 2..*count + times].fill(row as u32);
        }
        *count += times;
    }
    picks.iter_mut().zip(counts).for_each(|(picks, count)| picks.truncate(count));
    picks
}
