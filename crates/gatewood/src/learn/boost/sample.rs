//! The rows a tree is climbed on.

use crate::Result;
use crate::bits::kernels::{BLOCKS, Blocks, Kernels};
use crate::bits::{AlignedWords, BitView, WORD_BITS, padded_words_for, transpose_block, words_for};
use crate::random::Stream;

/// All rows, packed row by row, so that any of them can be gathered quickly.
///
/// The columns are in random order, so that the columns of a word are a random choice of all.
#[derive(Debug)]
pub(super) struct Rows {
    words: AlignedWords,
    /// Words of a row.
    width: usize,
    /// The column at each position.
    columns: Vec<u32>,
}

impl Rows {
    pub(super) fn new(bits: BitView<'_>, stream: &mut Stream) -> Result<Self> {
        let width = words_for(bits.columns());
        let mut columns: Vec<u32> = (0..bits.columns() as u32).collect();
        stream.shuffle(&mut columns);
        let mut words = AlignedWords::zeros(width.saturating_mul(bits.rows()))?;
        let mut block = [0u64; WORD_BITS];
        for band in 0..words_for(bits.rows()) {
            let count = WORD_BITS.min(bits.rows() - band * WORD_BITS);
            for word in 0..width {
                for (j, target) in block.iter_mut().enumerate() {
                    let column = columns.get(word * WORD_BITS + j);
                    *target = column.map_or(0, |&column| bits.column(column as usize)[band]);
                }
                transpose_block(&mut block);
                for (i, &row) in block[..count].iter().enumerate() {
                    words[(band * WORD_BITS + i) * width + word] = row;
                }
            }
        }
        Ok(Self { words, width, columns })
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
        // Room for whole words of columns; those past the last one are never read.
        let mut words = AlignedWords::zeros(stride.saturating_mul(chosen.len() * WORD_BITS))?;
        let mut blocks: Blocks = [[0; BLOCKS]; WORD_BITS];
        let mut targets: Vec<usize> = Vec::with_capacity(chosen.len());
        let mut first = 0;
        let width = |word: u32| WORD_BITS.min(all.columns.len() - word as usize * WORD_BITS);
        for &word in chosen {
            targets.push(first);
            first += width(word);
        }
        for (class, picks) in picks.iter().enumerate() {
            for (band, picks) in picks.chunks(WORD_BITS).enumerate() {
                let at = class * split + band;
                blocks[picks.len()..].fill([0; BLOCKS]);
                for (chosen, targets) in chosen.chunks(BLOCKS).zip(targets.chunks(BLOCKS)) {
                    for (to, &row) in blocks.iter_mut().zip(picks) {
                        let row = &all.words[row as usize * all.width..][..all.width];
                        for (to, &word) in to.iter_mut().zip(chosen) {
                            *to = row[word as usize];
                        }
                    }
                    kernels.transpose(&mut blocks);
                    for (block, (&word, &first)) in chosen.iter().zip(targets).enumerate() {
                        let targets = words[first * stride + at..].iter_mut().step_by(stride);
                        for (target, columns) in targets.zip(&blocks[..width(word)]) {
                            *target = columns[block];
                        }
                    }
                    blocks[picks.len()..].fill([0; BLOCKS]);
                }
            }
        }
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

/// Draws `size` rows in proportion to their weight, systematically: evenly spaced along the running sum of the weights,
/// from a random start. `class` says which class of the sample a row belongs to.
pub(super) fn draw(
    weights: impl Iterator<Item = u32> + Clone,
    class: impl Fn(usize) -> bool,
    size: usize,
    stream: &mut Stream,
) -> [Vec<u32>; 2] {
    let total: u64 = weights.clone().map(u64::from).sum();
    let draws = size as u64;
    let mut picks = [const { Vec::new() }; 2];
    if total == 0 {
        return picks;
    }
    let (step, rest) = (total / draws, total % draws);
    // The next draw is at `next + fraction / draws`.
    let start = ((u128::from(stream.bits()) * u128::from(total)) >> 64) as u64 / draws;
    let (mut next, mut fraction) = (start, stream.bits() % draws);
    let (mut sum, mut drawn) = (0u64, 0u64);
    for (row, weight) in weights.enumerate() {
        sum += u64::from(weight);
        while next < sum && drawn < draws {
            picks[usize::from(class(row))].push(row as u32);
            drawn += 1;
            next += step;
            fraction += rest;
            if fraction >= draws {
                fraction -= draws;
                next += 1;
            }
        }
    }
    picks
}
