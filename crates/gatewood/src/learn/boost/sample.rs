//! The rows a tree is climbed on.

use std::cell::Cell;

use rayon::prelude::*;

use crate::Result;
use crate::bits::kernels::{BLOCKS, Blocks, Kernels};
use crate::bits::{AlignedWords, BLOCK_WORDS, WORD_BITS, padded_words_for, words_for};
use crate::circuit::Wide;
use crate::pool::each_awake;
use crate::random::Stream;

/// Words of columns that are transposed before the next columns are: what is made for them fits in the first-level cache.
const PIECE_BANDS: usize = 64;

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
    pub(super) fn new(wide: Wide<'_>, wanted: usize, kernels: Kernels, stream: &mut Stream) -> Result<Self> {
        let width = words_for(wide.columns());
        let side = if width <= wanted { width } else { 1 };
        let bands = words_for(wide.bits.rows());
        let rows = bands * WORD_BITS;
        let mut columns: Vec<u32> = (0..wide.columns() as u32).collect();
        stream.shuffle(&mut columns);
        let mut words = AlignedWords::zeros(width.saturating_mul(rows))?;
        // The words that lie side by side, each with its columns, and of these some rows.
        let groups = words.par_chunks_mut(rows * side).zip(columns.par_chunks(WORD_BITS * side));
        groups.for_each(|(words, columns)| {
            let pieces = words.par_chunks_mut(PIECE_BANDS * WORD_BITS * side).enumerate();
            pieces.for_each_init(
                || vec![0; WORD_BITS * PIECE_BANDS],
                |made, (piece, words)| {
                    let first = piece * PIECE_BANDS;
                    let bands = PIECE_BANDS.min(bands - first);
                    for (word, columns) in columns.chunks(WORD_BITS).enumerate() {
                        for (&column, made) in columns.iter().zip(made.chunks_exact_mut(PIECE_BANDS)) {
                            wide.fill(column, first, kernels, &mut made[..bands]);
                        }
                        made[columns.len() * PIECE_BANDS..].fill(0);
                        for band in (0..bands).step_by(BLOCKS) {
                            let mut blocks: Blocks = std::array::from_fn(|column| {
                                std::array::from_fn(|block| made[column * PIECE_BANDS + band + block])
                            });
                            kernels.transpose(&mut blocks);
                            let rows = words[band * WORD_BITS * side..].chunks_mut(WORD_BITS * side);
                            for (block, rows) in rows.take(BLOCKS).enumerate() {
                                let rows = rows.chunks_exact_mut(side).zip(&blocks);
                                rows.for_each(|(row, blocks)| row[word] = blocks[block]);
                            }
                        }
                    }
                },
            );
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
            let rows = &all.words[..];
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
                            for (to, &place) in to.iter_mut().zip(&from) {
                                *to = rows[place + row as usize * all.side];
                            }
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
                            let line = &mut column[at..at + BLOCK_WORDS];
                            line.iter_mut().zip(&bands).for_each(|(to, blocks)| *to = blocks[i][block]);
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

/// What some neighbouring rows are drawn by.
pub(super) struct Pulls {
    pub(super) first: usize,
    pub(super) pulls: Vec<u32>,
    pub(super) total: u64,
}

/// Draws `size` rows, or one less, in proportion to their pull, systematically: evenly spaced along the running sum of
/// the pulls, from a random start. Those whose gradient is above zero are of class 1 of the sample.
pub(super) fn draw(parts: Vec<Pulls>, gradients: &[i32], size: usize, stream: &mut Stream) -> [Vec<u32>; 2] {
    let total: u64 = parts.iter().map(|part| part.total).sum();
    if total == 0 {
        return [const { Vec::new() }; 2];
    }
    // Draws before a place on the running sum are the place times `scale`, in units of 2^-36.
    let shift = (64 - total.leading_zeros()).saturating_sub(36);
    let scale = ((size as u128) << 36) / (u128::from(total >> shift) + 1);
    let (scale, start) = (scale as u64, stream.bits() >> 28);
    let up_to = |sum: u64| ((sum >> shift) * scale + start) >> 36;
    let sums = parts.iter().scan(0, |sum, part| Some(std::mem::replace(sum, *sum + part.total)));
    let sums: Vec<u64> = sums.collect();
    let drawn = each_awake(sums.into_iter().zip(parts).collect(), |(begun, part): (u64, Pulls)| {
        let (mut sum, mut before) = (begun, up_to(begun));
        // Room for both classes, a little more than all: those of class 1 from the middle on.
        let room = (up_to(begun + part.total) - before) as usize + 2;
        let mut drawn = vec![0u32; 2 * room];
        let (mut zeros, mut ones) = (0, room);
        for (row, (&pull, &gradient)) in (part.first..).zip(part.pulls.iter().zip(&gradients[part.first..])) {
            sum += u64::from(pull);
            let now = up_to(sum);
            let times = (now - before) as usize;
            before = now;
            // Rows of either class, drawn never, once or twice, are all alike to the processor.
            let is_one = usize::from(gradient > 0).wrapping_neg();
            let at = zeros ^ ((zeros ^ ones) & is_one);
            drawn[at] = row as u32;
            drawn[at + 1] = row as u32;
            if times > 2 {
                drawn[at + 2..at + times].fill(row as u32);
            }
            zeros += times & !is_one;
            ones += times & is_one;
        }
        [drawn[..zeros].to_vec(), drawn[room..ones].to_vec()]
    });
    let both = drawn.into_iter().reduce(|mut all, part| {
        all.iter_mut().zip(part).for_each(|(all, part)| all.extend(part));
        all
    });
    both.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::Purpose;

    proptest! {
        /// Rows are drawn the same however they are shared out, about as often as their pull says.
        #[test]
        fn parts_are_drawn_from_as_one(rows in 1usize..500, part in 1usize..200, size in 1usize..400, seed: u64) {
            let mut stream = Stream::new(seed, Purpose::Sample, 0);
            let pulls: Vec<u32> = (0..rows).map(|_| stream.below(1 << 24).saturating_sub(1 << 22)).collect();
            let gradients: Vec<i32> = (0..rows).map(|_| if stream.below(2) == 1 { 5 } else { -5 }).collect();
            let drawn = |part: usize| {
                let parts = pulls.chunks(part).enumerate().map(|(number, pulls)| Pulls {
                    first: number * part,
                    pulls: pulls.to_vec(),
                    total: pulls.iter().map(|&pull| u64::from(pull)).sum(),
                });
                draw(parts.collect(), &gradients, size, &mut Stream::new(seed, Purpose::Sample, 1))
            };
            let picks = drawn(rows);
            prop_assert_eq!(&picks, &drawn(part));
            let total: u64 = pulls.iter().map(|&pull| u64::from(pull)).sum();
            let count = picks[0].len() + picks[1].len();
            prop_assert!(total == 0 && count == 0 || total > 0 && (count == size || count + 1 == size));
            for (class, picks) in picks.iter().enumerate() {
                prop_assert!(picks.is_sorted());
                for picks in picks.chunk_by(|a, b| a == b) {
                    let row = picks[0] as usize;
                    prop_assert_eq!(gradients[row] > 0, class == 1);
                    let expected = size as f64 * f64::from(pulls[row]) / total as f64;
                    prop_assert!((picks.len() as f64 - expected).abs() < 1.01);
                }
            }
        }
    }
}
