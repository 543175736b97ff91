//! Running a tree over many rows.

use crate::platform::parallel::*;

use super::{MAX_ARITY, Tree};
use crate::bits::kernels::Kernels;
use crate::bits::{AlignedWords, BitMatrix, BitView, WORD_BITS, packed_row_bytes, words_for};
use crate::pool::in_pool;
use crate::{Error, Result};

/// Words of a column run at a time: few enough that the outputs of all gates on the way up stay in the second-level
/// cache, many enough that picking the functions of a gate costs little.
const BLOCK: usize = 64;

impl Tree {
    /// The output for every row, packed as a column; bits past the last row are zero.
    ///
    /// Blocks of rows run side by side on `threads` threads, 0 for one a core.
    ///
    /// ```
    /// use gatewood::bits::BitMatrix;
    /// use gatewood::circuit::Tree;
    /// // One gate, the AND of columns 0 and 2.
    /// let tree = Tree::new(2, 1, 3, vec![0, 2], vec![0b1000])?;
    /// let rows = BitMatrix::from_bools(3, &[true, false, true, /**/ true, true, false])?;
    /// assert_eq!(tree.run(rows.view(), 1)?, [0b01]);
    /// # Ok::<(), gatewood::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the rows have not the columns the tree reads, or the threads cannot be started.
    pub fn run(&self, bits: BitView<'_>, threads: usize) -> Result<Vec<u64>> {
        self.run_at(bits, threads, Kernels::best())
    }

    /// [`Tree::run`] with given kernels.
    ///
    /// # Errors
    /// As [`Tree::run`].
    pub fn run_at(&self, bits: BitView<'_>, threads: usize, kernels: Kernels) -> Result<Vec<u64>> {
        if bits.columns() != self.inputs() {
            return Err(Error::data(format!(
                "rows of {} bits for a tree over {}",
                bits.columns(),
                self.inputs()
            )));
        }
        let mut output = vec![0u64; words_for(bits.rows())];
        in_pool(threads, || {
            output.par_chunks_mut(BLOCK).enumerate().try_for_each_init(
                || Runner::new(self, kernels),
                |runner, (block, output)| {
                    let runner = runner.as_mut().map_err(|error| error.clone())?;
                    runner.run(bits, block * BLOCK, output);
                    Ok(())
                },
            )
        })?;
        clear_tail(&mut output, bits.rows());
        Ok(output)
    }

    /// [`Tree::run`] for row-major packed rows, as [`BitMatrix::from_packed_rows`] takes them, a block at a time.
    ///
    /// # Errors
    /// As [`Tree::run`], and when the bytes are not `rows` rows.
    pub fn run_packed(&self, rows: usize, bytes: &[u8], threads: usize) -> Result<Vec<u64>> {
        let row_bytes = packed_row_bytes(rows, self.inputs(), bytes)?;
        let kernels = Kernels::best();
        let mut output = vec![0u64; words_for(rows)];
        in_pool(threads, || {
            output.par_chunks_mut(BLOCK).enumerate().try_for_each_init(
                || Runner::new(self, kernels),
                |runner, (block, output)| {
                    let runner = runner.as_mut().map_err(|error| error.clone())?;
                    let first = block * BLOCK * WORD_BITS;
                    let count = (rows - first).min(BLOCK * WORD_BITS);
                    let bytes = &bytes[first * row_bytes..][..count * row_bytes];
                    let bits = BitMatrix::from_packed_rows(count, self.inputs(), bytes)?;
                    runner.run(bits.view(), 0, output);
                    Ok(())
                },
            )
        })?;
        clear_tail(&mut output, rows);
        Ok(output)
    }
}

fn clear_tail(output: &mut [u64], rows: usize) {
    if let (rest @ 1.., Some(last)) = (rows % WORD_BITS, output.last_mut()) {
        *last &= (1 << rest) - 1;
    }
}

/// Runs blocks of rows, with room for the inputs of one gate at each level.
struct Runner<'a> {
    tree: &'a Tree,
    kernels: Kernels,
    /// For each level from 2 up, the outputs of `arity` gates of the level below.
    levels: Vec<AlignedWords>,
    /// The number of the first gate of each level, level 1 at position 1.
    starts: Vec<usize>,
}

impl<'a> Runner<'a> {
    fn new(tree: &'a Tree, kernels: Kernels) -> Result<Self> {
        let level = |level| AlignedWords::zeros(if level < 2 { 0 } else { tree.arity() * BLOCK });
        let mut starts = vec![0];
        for level in 1..=tree.depth() {
            starts.push(if level == 1 { 0 } else { starts[level - 1] + tree.level_gates(level - 1) });
        }
        Ok(Self { tree, kernels, levels: (0..=tree.depth()).map(level).collect::<Result<_>>()?, starts })
    }

    /// Writes the outputs of the rows from word `first` on.
    fn run(&mut self, bits: BitView<'_>, first: usize, output: &mut [u64]) {
        self.gate(bits, first, self.tree.depth(), 0, output);
    }

    fn gate(&mut self, bits: BitView<'_>, first: usize, level: usize, index: usize, output: &mut [u64]) {
        let (arity, words) = (self.tree.arity(), output.len());
        let table_words = self.tree.tables().len() / self.tree.gates();
        let table = &self.tree.tables()[(self.starts[level] + index) * table_words..][..table_words];
        if level == 1 {
            let leaves = &self.tree.leaves()[index * arity..][..arity];
            let inputs: [&[u64]; MAX_ARITY] = std::array::from_fn(|j| match leaves.get(j) {
                Some(&leaf) => &bits.column(leaf as usize)[first..][..words],
                None => &[],
            });
            return self.kernels.evaluate(table, &inputs[..arity], output);
        }
        let mut children = std::mem::replace(&mut self.levels[level], AlignedWords::empty());
        for (child, column) in children.chunks_exact_mut(BLOCK).enumerate() {
            self.gate(bits, first, level - 1, index * arity + child, &mut column[..words]);
        }
        let inputs: [&[u64]; MAX_ARITY] =
            std::array::from_fn(|j| if j < arity { &children[j * BLOCK..][..words] } else { &[] });
        self.kernels.evaluate(table, &inputs[..arity], output);
        self.levels[level] = children;
    }
}
