//! Rows as the gates of a network read them.

use super::network::Gate;
use crate::Result;
use crate::bits::kernels::{BLOCKS, Blocks, Kernels};
use crate::bits::{AlignedWords, BitView, WORD_BITS, words_for};
use crate::circuit::MAX_ARITY;
use crate::platform::parallel::*;

/// The columns of rows and of shared gates, by columns and by rows.
pub(super) struct Rows<'a> {
    bits: BitView<'a>,
    kernels: Kernels,
    /// What the shared gates say.
    shared: Vec<Vec<u64>>,
    /// The bits of every row, 64 columns a word: all words of a row, then those of the next.
    words: AlignedWords,
}

impl<'a> Rows<'a> {
    /// Rows before any shared gate says yes.
    pub(super) fn new(bits: BitView<'a>, shared: usize, kernels: Kernels) -> Result<Self> {
        let bands = words_for(bits.rows());
        let columns = bits.columns() + shared;
        let width = words_for(columns);
        let mut words = AlignedWords::zeros(width.saturating_mul(bands * WORD_BITS))?;
        let piece_rows = BLOCKS * WORD_BITS;
        words.par_chunks_mut((piece_rows * width).max(1)).enumerate().for_each(|(piece, rows)| {
            for word in 0..words_for(bits.columns()) {
                let columns = word * WORD_BITS..bits.columns().min((word + 1) * WORD_BITS);
                let mut blocks: Blocks = [[0; BLOCKS]; WORD_BITS];
                for (column, to) in columns.zip(&mut blocks) {
                    let from = bits.column(column)[..bands].iter().skip(piece * BLOCKS);
                    to.iter_mut().zip(from).for_each(|(to, &from)| *to = from);
                }
                kernels.transpose(&mut blocks);
                for (row, to) in rows.chunks_mut(width).enumerate() {
                    to[word] = blocks[row % WORD_BITS][row / WORD_BITS];
                }
            }
        });
        Ok(Self { bits, kernels, shared: vec![vec![0; bands]; shared], words })
    }

    pub(super) fn count(&self) -> usize {
        self.bits.rows()
    }

    /// Words of a row.
    pub(super) fn width(&self) -> usize {
        words_for(self.bits.columns() + self.shared.len())
    }

    /// The kernels that read these rows.
    pub(super) fn kernels(&self) -> Kernels {
        self.kernels
    }

    /// The first words of some rows: a word of all these rows, then the next.
    pub(super) fn gather(&self, rows: &[u32], words: usize) -> Vec<u64> {
        let width = self.width();
        let mut gathered = vec![0; words * rows.len()];
        for (place, &row) in rows.iter().enumerate() {
            let from = &self.words[row as usize * width..][..words];
            for (word, &from) in from.iter().enumerate() {
                gathered[word * rows.len() + place] = from;
            }
        }
        gathered
    }

    /// A column, or what a shared gate says.
    pub(super) fn column(&self, column: u32) -> &[u64] {
        match (column as usize).checked_sub(self.bits.columns()) {
            Some(shared) => &self.shared[shared],
            None => &self.bits.column(column as usize)[..words_for(self.count())],
        }
    }

    /// The columns that a gate reads.
    pub(super) fn inputs(&self, gate: &Gate) -> ([&[u64]; MAX_ARITY], usize) {
        let mut inputs: [&[u64]; MAX_ARITY] = [&[]; MAX_ARITY];
        inputs.iter_mut().zip(&gate.inputs).for_each(|(to, &input)| *to = self.column(input));
        (inputs, gate.inputs.len())
    }

    /// What a gate says of every row.
    pub(super) fn outputs(&self, gate: &Gate) -> Vec<u64> {
        let (inputs, arity) = self.inputs(gate);
        let mut outputs = vec![0; words_for(self.count())];
        self.kernels.evaluate(&[gate.table], &inputs[..arity], &mut outputs);
        if let (Some(last), tail @ 1..) = (outputs.last_mut(), self.count() % WORD_BITS) {
            *last &= (1 << tail) - 1;
        }
        outputs
    }

    /// Takes note of what a shared gate says now.
    pub(super) fn set_shared(&mut self, shared: usize, outputs: Vec<u64>) {
        let column = self.bits.columns() + shared;
        let (width, words) = (self.width(), &mut self.words);
        let (word, bit) = (column / WORD_BITS, 1 << (column % WORD_BITS));
        each_change(&self.shared[shared], &outputs, |row, _| words[row * width + word] ^= bit);
        self.shared[shared] = outputs;
    }
}

/// Calls for every row in which two columns differ, with what the second says.
pub(super) fn each_change(before: &[u64], after: &[u64], mut change: impl FnMut(usize, bool)) {
    for (word, (&before, &after)) in before.iter().zip(after).enumerate() {
        let mut left = before ^ after;
        while left != 0 {
            let bit = left.trailing_zeros() as usize;
            change(word * WORD_BITS + bit, after >> bit & 1 != 0);
            left &= left - 1;
        }
    }
}
