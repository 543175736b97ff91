//! Margins, classes and probabilities of many rows.

use crate::platform::parallel::*;

use super::grove_run::{CHUNK_ROWS, Scratch};
use super::tally::{Room, TALLY_ROWS, Tally};
use super::{Grove, Target, VoteTree, Wide};
use crate::bits::kernels::Kernels;
use crate::bits::{AlignedWords, BLOCK_WORDS, BitView, packed_row_bytes, transpose_packed};
use crate::pool::{in_pool, with_pool};
use crate::{Error, Result};

/// The margins of many rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Margins {
    /// One list a margin, one entry a row.
    columns: Vec<Vec<i32>>,
}

impl Margins {
    /// Those of a list for each margin, all of one length.
    #[cfg(feature = "train")]
    pub(crate) fn of_columns(columns: Vec<Vec<i32>>) -> Self {
        Self { columns }
    }

    /// One margin of all rows.
    pub fn column(&self, margin: usize) -> &[i32] {
        &self.columns[margin]
    }

    /// All margins of one row.
    pub fn row(&self, row: usize) -> Vec<i32> {
        self.columns.iter().map(|column| column[row]).collect()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns[0].len()
    }

    /// The class each row's margins stand for.
    pub fn classes(&self) -> Vec<u32> {
        if let [margins] = &self.columns[..] {
            return margins.iter().map(|&margin| u32::from(margin > 0)).collect();
        }
        let mut best = self.columns[0].clone();
        let mut classes = vec![0; best.len()];
        for (class, margins) in self.columns.iter().enumerate().skip(1) {
            for ((best, chosen), &margin) in best.iter_mut().zip(&mut classes).zip(margins) {
                // Without a branch, so that many rows are compared at once.
                let better = margin > *best;
                *chosen = if better { class as u32 } else { *chosen };
                *best = margin.max(*best);
            }
        }
        classes
    }
}

impl Grove {
    /// The margins of all rows: what [`Grove::margins_of`] gives for each.
    ///
    /// Chunks of rows run side by side on `threads` threads, 0 for one a core.
    ///
    /// # Errors
    /// When the rows have another number of bits than the grove's inputs, or the threads cannot be started.
    pub fn run(&self, bits: BitView<'_>, threads: usize) -> Result<Margins> {
        self.run_at(bits, threads, Kernels::best())
    }

    /// [`Grove::run`] with given kernels.
    ///
    /// # Errors
    /// As [`Grove::run`].
    pub fn run_at(&self, bits: BitView<'_>, threads: usize, kernels: Kernels) -> Result<Margins> {
        self.run_with(&Tally::new(self), bits, threads, kernels)
    }

    /// [`Grove::run_at`] with a tally that was made before.
    pub(crate) fn run_with(
        &self,
        tally: &Tally,
        bits: BitView<'_>,
        threads: usize,
        kernels: Kernels,
    ) -> Result<Margins> {
        let is_many = bits.rows() > CHUNK_ROWS;
        with_pool(threads, is_many, |parallel| self.margins_with(tally, bits, kernels, parallel))
    }

    fn margins_with(
        &self,
        tally: &Tally,
        bits: BitView<'_>,
        kernels: Kernels,
        parallel: bool,
    ) -> Result<Margins> {
        if bits.columns() != self.inputs() {
            return Err(Error::data(format!(
                "rows of {} bits for a grove of {} inputs",
                bits.columns(),
                self.inputs()
            )));
        }
        crate::memory::check(bits.rows().saturating_mul(4 * self.margins()))?;
        let mut columns: Vec<Vec<i32>> = self.bias().iter().map(|_| vec![0; bits.rows()]).collect();
        let mut pieces = in_pieces(&mut columns, CHUNK_ROWS);
        let add = |room: &mut Room, (chunk, margins): (usize, &mut Vec<&mut [i32]>)| {
            tally.add_all(self, bits, chunk * CHUNK_ROWS, kernels, room, margins)
        };
        if parallel {
            pieces.par_iter_mut().enumerate().try_for_each_init(Room::default, add)?;
        } else {
            let mut room = Room::default();
            pieces.iter_mut().enumerate().try_for_each(|piece| add(&mut room, piece))?;
        }
        Ok(Margins { columns })
    }

    /// Adds the votes of some of its trees to margins, one list a margin with an entry a row. The rows have the grove's
    /// inputs.
    ///
    /// # Errors
    /// When memory runs out.
    pub(crate) fn add_trees<'t>(
        &self,
        trees: impl IntoIterator<Item = &'t VoteTree>,
        bits: BitView<'_>,
        margins: &mut [Vec<i32>],
    ) -> Result<()> {
        let kernels = Kernels::best();
        if !self.patterns().is_empty() {
            // Patterns are looked for once for all trees.
            let trees = trees.into_iter().cloned().collect();
            let (spans, patterns) = (self.spans().to_vec(), self.patterns().clone());
            let bias = vec![0; self.margins()];
            let part = Self::with_features(
                self.inputs(),
                spans,
                patterns,
                self.classes(),
                bias,
                self.unit(),
                trees,
            )?;
            let votes = part.margins_with(&Tally::new(&part), bits, kernels, false)?;
            for (margins, votes) in margins.iter_mut().zip(&votes.columns) {
                margins.iter_mut().zip(votes).for_each(|(margin, vote)| *margin += vote);
            }
            return Ok(());
        }
        let wide = Wide::new(bits, self.spans());
        let (mut scratch, mut addresses) = (Scratch::default(), vec![0; CHUNK_ROWS]);
        let mut pieces = in_pieces(margins, CHUNK_ROWS);
        for tree in trees {
            for (chunk, margins) in pieces.iter_mut().enumerate() {
                let addresses = &mut addresses[..margins[0].len()];
                tree.addresses(wide, chunk * CHUNK_ROWS, kernels, &mut scratch, addresses);
                add_votes(tree, addresses, margins);
            }
        }
        Ok(())
    }

    /// The class of each row.
    ///
    /// # Errors
    /// As [`Grove::run`].
    pub fn predict(&self, bits: BitView<'_>, threads: usize) -> Result<Vec<u32>> {
        Ok(self.run(bits, threads)?.classes())
    }

    /// [`Grove::predict`] for row-major packed rows, as
    /// [`BitMatrix::from_packed_rows`](crate::bits::BitMatrix::from_packed_rows) takes them, a chunk at a time.
    ///
    /// ```
    /// use gatewood::circuit::{Grove, Target, VoteTree};
    /// // One tree, a root over one bit that votes -1 or 2; a bias of -1.
    /// let tree = VoteTree::new(vec![1], Target::One(0), vec![3], vec![], vec![-1, 2])?;
    /// let grove = Grove::new(4, 2, vec![-1], 0.1, vec![tree])?;
    /// // Three rows of four bits, a byte each: only the second has bit 3.
    /// assert_eq!(grove.predict_packed(3, &[0b0001, 0b1000, 0b0111], 1)?, [0, 1, 0]);
    /// # Ok::<(), gatewood::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Grove::run`], and when the bytes are not `rows` rows.
    pub fn predict_packed(&self, rows: usize, bytes: &[u8], threads: usize) -> Result<Vec<u32>> {
        let row_bytes = packed_row_bytes(rows, self.inputs(), bytes)?;
        let kernels = Kernels::best();
        let tally = Tally::new(self);
        let mut classes = vec![0; rows];
        in_pool(threads, || {
            classes
                .par_chunks_mut(CHUNK_ROWS)
                .zip(bytes.par_chunks(CHUNK_ROWS * row_bytes))
                .try_for_each_init(
                    || (Room::default(), AlignedWords::zeros(BLOCK_WORDS * self.inputs())),
                    |(room, words), (classes, bytes)| {
                        let words = words.as_mut().map_err(|error| error.clone())?;
                        let pieces = bytes.chunks(TALLY_ROWS * row_bytes);
                        for (classes, bytes) in classes.chunks_mut(TALLY_ROWS).zip(pieces) {
                            let rows = classes.len();
                            transpose_packed(bytes, row_bytes, rows, self.inputs(), words, BLOCK_WORDS);
                            let bits = BitView::new(rows, self.inputs(), BLOCK_WORDS, words)?;
                            let mut columns: Vec<Vec<i32>> = vec![vec![0; rows]; self.margins()];
                            let mut margins: Vec<&mut [i32]> =
                                columns.iter_mut().map(|column| &mut column[..]).collect();
                            tally.add_all(self, bits, 0, kernels, room, &mut margins)?;
                            classes.copy_from_slice(&Margins { columns }.classes());
                        }
                        Ok(())
                    },
                )
        })?;
        Ok(classes)
    }

    /// The probability of each class, row by row: a logistic or softmax of the margins in log-odds.
    ///
    /// # Errors
    /// As [`Grove::run`].
    pub fn probabilities(&self, bits: BitView<'_>, threads: usize) -> Result<Vec<f64>> {
        let margins = self.run(bits, threads)?;
        let mut probabilities = Vec::with_capacity(margins.rows() * self.classes());
        for row in 0..margins.rows() {
            probabilities.extend(self.probabilities_of(&margins.row(row)));
        }
        Ok(probabilities)
    }

    /// The probability of each class for one row's margins.
    pub fn probabilities_of(&self, margins: &[i32]) -> Vec<f64> {
        let mut probabilities = vec![0.0; self.classes()];
        write_probabilities(self.unit(), margins, &mut probabilities);
        probabilities
    }
}

/// Writes the probability of each class, given a row's margins and the log-odds that one vote is worth: a logistic of one
/// margin, or a softmax of one margin a class.
pub(crate) fn write_probabilities(unit: f64, margins: &[i32], probabilities: &mut [f64]) {
    if let ([margin], [zero, one]) = (margins, &mut *probabilities) {
        *one = 1.0 / (1.0 + libm::exp(-unit * f64::from(*margin)));
        *zero = 1.0 - *one;
        return;
    }
    let largest = f64::from(margins.iter().copied().max().unwrap_or(0));
    for (probability, &margin) in probabilities.iter_mut().zip(margins) {
        *probability = libm::exp(unit * (f64::from(margin) - largest));
    }
    let sum: f64 = probabilities.iter().sum();
    probabilities.iter_mut().for_each(|probability| *probability /= sum);
}

/// Cuts lists of equal length into pieces of so many rows: for each piece, its part of every list.
pub(crate) fn in_pieces<T>(columns: &mut [Vec<T>], rows: usize) -> Vec<Vec<&mut [T]>> {
    let mut pieces: Vec<Vec<&mut [T]>> = Vec::new();
    for column in columns {
        for (chunk, piece) in column.chunks_mut(rows).enumerate() {
            if pieces.len() <= chunk {
                pieces.push(Vec::new());
            }
            pieces[chunk].push(piece);
        }
    }
    pieces
}

/// Adds a tree's votes to the margins of rows, given their addresses.
pub(crate) fn add_votes(tree: &VoteTree, addresses: &[u16], margins: &mut [&mut [i32]]) {
    let votes = tree.votes();
    match tree.target() {
        Target::One(margin) => {
            for (margin, &address) in margins[margin as usize].iter_mut().zip(addresses) {
                *margin += votes[address as usize];
            }
        }
        Target::All => {
            let width = margins.len();
            for (class, margins) in margins.iter_mut().enumerate() {
                for (margin, &address) in margins.iter_mut().zip(addresses) {
                    *margin += votes[address as usize * width + class];
                }
            }
        }
    }
}
