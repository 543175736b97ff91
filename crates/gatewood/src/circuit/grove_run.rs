//! Running groves on many rows.

use super::{MAX_ARITY, VoteTree, Wide};
use crate::bits::WORD_BITS;
use crate::bits::kernels::Kernels;

/// Rows that are run at a time: the outputs of a tree's gates for them fit in the first-level cache.
pub(crate) const CHUNK_ROWS: usize = 4096;

/// Words of the outputs of one level of gates for a chunk of rows.
const CHUNK_WORDS: usize = CHUNK_ROWS / WORD_BITS;

/// Room for the columns that a tree reads, where they must be made, and the outputs of its gates.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    spans: Vec<u64>,
    levels: [Vec<u64>; 2],
}

impl VoteTree {
    /// The root addresses of the rows from `first_row`, a multiple of the word, as many as `out` has room for and at
    /// most [`CHUNK_ROWS`].
    pub(crate) fn addresses(
        &self,
        rows: Wide<'_>,
        first_row: usize,
        kernels: Kernels,
        scratch: &mut Scratch,
        out: &mut [u16],
    ) {
        debug_assert!(first_row.is_multiple_of(WORD_BITS) && out.len() <= CHUNK_ROWS);
        let first = first_row / WORD_BITS;
        let words = out.len().div_ceil(WORD_BITS);
        let Scratch { spans, levels } = scratch;
        if !rows.spans.is_empty() || rows.held.is_some() {
            spans.resize(self.leaves().len() * CHUNK_WORDS, 0);
            for (&leaf, room) in self.leaves().iter().zip(spans.chunks_exact_mut(CHUNK_WORDS)) {
                if rows.is_made(leaf) {
                    rows.fill(leaf, first, kernels, &mut room[..words]);
                }
            }
        }
        let leaf = |place: usize| match self.leaves()[place] {
            leaf if rows.is_made(leaf) => &spans[place * CHUNK_WORDS..][..words],
            leaf => &rows.bits.column(leaf as usize)[first..first + words],
        };
        for level in 1..self.depth() {
            let arity = self.arities()[level - 1];
            let gates = self.level_gates(level);
            let [odd, even] = &mut *levels;
            let (below, here) = if level % 2 == 1 { (even, odd) } else { (odd, even) };
            here.resize(gates * CHUNK_WORDS, 0);
            for (gate, output) in here.chunks_exact_mut(CHUNK_WORDS).enumerate() {
                let mut inputs: [&[u64]; MAX_ARITY] = [&[]; MAX_ARITY];
                for (j, input) in inputs[..arity].iter_mut().enumerate() {
                    let place = gate * arity + j;
                    *input = match level {
                        1 => leaf(place),
                        _ => &below[place * CHUNK_WORDS..][..words],
                    };
                }
                kernels.evaluate(self.table_words(level, gate), &inputs[..arity], &mut output[..words]);
            }
        }
        let depth = self.depth();
        let arity = self.arities()[depth - 1];
        let top = &levels[depth % 2];
        let mut inputs: [&[u64]; MAX_ARITY] = [&[]; MAX_ARITY];
        for (j, input) in inputs[..arity].iter_mut().enumerate() {
            *input = match depth {
                1 => leaf(j),
                _ => &top[j * CHUNK_WORDS..][..words],
            };
        }
        kernels.addresses(&inputs[..arity], out);
    }
}
