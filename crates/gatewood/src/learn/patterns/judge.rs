//! Patterns climbed by this process.

use super::climb::{ARITY, Climb, ClimbPatterns, Found};
use super::packed::{BLOCK_ROWS, PackedPlanes};
use crate::Result;
use crate::bits::WORD_BITS;
use crate::bits::kernels::{Kernels, Line, Stencil};
use crate::circuit::{Pattern, PatternRun, Planes};
use crate::learn::engine::{CpuEngine, Picks, RowAddresses};
use crate::learn::gate::LogTable;
use crate::platform::parallel::*;
use crate::random::Stream;

/// Planes in the memory of this process.
pub(super) struct PlanesHere<'a> {
    planes: &'a Planes,
    packed: &'a PackedPlanes,
    logs: &'a LogTable,
    /// All rows block by block, where they are few.
    everything: Vec<Vec<Line>>,
    kernels: Kernels,
}

impl<'a> PlanesHere<'a> {
    /// Rows are laid out block by block once where that takes no more than so many bytes.
    pub(super) fn new(
        planes: &'a Planes,
        packed: &'a PackedPlanes,
        logs: &'a LogTable,
        most_bytes: usize,
    ) -> Self {
        Self { planes, packed, logs, everything: packed.whole(most_bytes), kernels: Kernels::best() }
    }

    /// Which rows of a sample match, a column for each threshold.
    fn columns(&self, rows: &Rows, pattern: &Pattern) -> Vec<Cell> {
        let stencil = PatternRun::stencil(self.planes, pattern);
        let thresholds = pattern.thresholds().len();
        let mut lines = vec![Line::default(); thresholds];
        let mut columns: Vec<Cell> = vec![Vec::with_capacity(rows.blocks.len()); thresholds];
        for (block, there) in rows.blocks.iter().zip(&rows.there) {
            self.kernels.matches(&stencil, block, self.planes.width(), &mut lines);
            for (column, line) in columns.iter_mut().zip(&lines) {
                column.push(std::array::from_fn(|i| line[i] & there[i]));
            }
        }
        columns
    }
}

/// The rows of a sample that share an address of a tree.
type Cell = Vec<Line>;

/// Rows block by block, the lower side first.
struct Rows {
    blocks: Vec<Vec<Line>>,
    /// Which of them there are.
    there: Vec<Line>,
    /// Blocks of the lower side.
    split: usize,
}

impl Drop for Rows {
    fn drop(&mut self) {
        SPARE.set(std::mem::take(&mut self.blocks));
    }
}

thread_local! {
    /// The blocks of the last rows, for the next: fresh ones are zeroed page by page as they are first written, and that
    /// took a third of the time. Threads live as long as the work they were started for.
    static SPARE: std::cell::Cell<Vec<Vec<Line>>> = const { std::cell::Cell::new(Vec::new()) };
}

/// Rows of a sample, parted into cells, each with its rows of both sides.
struct Sample {
    rows: Rows,
    cells: Vec<(Cell, [u32; 2])>,
}

impl PlanesHere<'_> {
    /// The planes of picked rows.
    fn gather(&self, picks: &Picks) -> Sample {
        let mut rows = Rows { blocks: Vec::new(), there: Vec::new(), split: 0 };
        let mut spare = SPARE.take();
        for (side, picks) in picks.iter().enumerate() {
            for picks in picks.chunks(BLOCK_ROWS) {
                let mut block = spare.pop().unwrap_or_default();
                self.packed.fill_block(picks.iter().map(|&row| row as usize), &mut block);
                rows.blocks.push(block);
                rows.there.push(std::array::from_fn(|word| {
                    let here = picks.len().saturating_sub(word * WORD_BITS).min(WORD_BITS);
                    if here == 0 { 0 } else { u64::MAX >> (WORD_BITS - here) }
                }));
            }
            if side == 0 {
                rows.split = rows.blocks.len();
            }
        }
        let all = rows.there.clone();
        let counts = count(self.kernels, &rows, &all, &all);
        Sample { rows, cells: vec![(all, counts)] }
    }

    /// How well a pattern separates the sides within all cells, and the place of its threshold that does so best: the first
    /// of those that are as good.
    fn judge(&self, sample: &Sample, pattern: &Pattern) -> (i64, usize) {
        let score = |column: &Cell| -> i64 {
            let parts = sample.cells.iter().map(|(cell, all)| {
                let ones = count(self.kernels, &sample.rows, cell, column);
                self.logs.purity(ones[0], ones[1]) + self.logs.purity(all[0] - ones[0], all[1] - ones[1])
            });
            parts.sum()
        };
        let columns = self.columns(&sample.rows, pattern);
        let scores = columns.iter().enumerate().map(|(at, column)| (score(column), at));
        scores.max_by_key(|&(score, at)| (score, std::cmp::Reverse(at))).unwrap_or_default()
    }

    /// Parts every cell by a pattern of one threshold.
    fn part(&self, Sample { rows, cells }: &mut Sample, pattern: &Pattern) {
        let Some(column) = self.columns(rows, pattern).pop() else { return };
        let parts = cells.iter().flat_map(|(cell, _)| {
            let with = |keep: fn(u64, u64) -> u64| {
                let both = cell.iter().zip(&column);
                let kept: Cell = both.map(|(a, b)| std::array::from_fn(|i| keep(a[i], b[i]))).collect();
                let counts = count(self.kernels, rows, &kept, &kept);
                (kept, counts)
            };
            [with(|cell, column| cell & !column), with(|cell, column| cell & column)]
        });
        *cells = parts.collect();
    }

    /// Climbs the patterns of a tree, one after the other.
    fn tree(
        &self,
        climb: &Climb<'_>,
        (picks, mut stream): (Picks, Stream),
        weights: &[u32],
    ) -> Result<Vec<Found>> {
        let mut sample = self.gather(&picks);
        let mut patterns: Vec<Found> = Vec::with_capacity(ARITY);
        while patterns.len() < ARITY {
            if let Some(last) = patterns.last() {
                self.part(&mut sample, &last.pattern);
            }
            match climb.climb(weights, &mut stream, |pattern| self.judge(&sample, pattern))? {
                Some(found) => patterns.push(found),
                None => break,
            }
        }
        Ok(patterns)
    }
}

impl ClimbPatterns<CpuEngine<'_>> for PlanesHere<'_> {
    fn trees(
        &self,
        climb: &Climb<'_>,
        rows: Vec<(Picks, Stream)>,
        weights: &[u32],
    ) -> Result<Vec<Vec<Found>>> {
        rows.into_par_iter().map(|rows| self.tree(climb, rows, weights)).collect()
    }

    fn addresses(&self, trees: &[Vec<&Pattern>]) -> Result<Vec<RowAddresses>> {
        let rows = self.packed.rows();
        let stencil = |pattern: &&Pattern| PatternRun::stencil(self.planes, pattern);
        let stencils: Vec<Vec<Stencil>> =
            trees.iter().map(|patterns| patterns.iter().map(stencil).collect()).collect();
        let firsts: Vec<usize> = (0..rows).step_by(BLOCK_ROWS).collect();
        let block = |&first: &usize| -> Vec<Vec<u16>> {
            let made;
            let lines = match self.everything.get(first / BLOCK_ROWS) {
                Some(lines) => lines,
                None => {
                    made = self.packed.block(first..rows);
                    &made
                }
            };
            let here = BLOCK_ROWS.min(rows - first);
            let of_tree = |stencils: &Vec<Stencil>| {
                // Patterns that a tree has fewer of match nowhere.
                let mut found = [[Line::default()]; ARITY];
                for (stencil, line) in stencils.iter().zip(&mut found) {
                    self.kernels.matches(stencil, lines, self.planes.width(), line);
                }
                let mut addresses = vec![0u16; here];
                for (word, addresses) in addresses.chunks_mut(WORD_BITS).enumerate() {
                    let words = found.map(|line| line[0][word]);
                    for (row, address) in addresses.iter_mut().enumerate() {
                        let bits = words.map(|word| (word >> row & 1) as u16);
                        *address = bits[0] | bits[1] << 1 | bits[2] << 2 | bits[3] << 3;
                    }
                }
                addresses
            };
            stencils.iter().map(of_tree).collect()
        };
        let blocks: Vec<Vec<Vec<u16>>> = firsts.par_iter().map(block).collect();
        Ok((0..trees.len())
            .map(|tree| blocks.iter().flat_map(|block| block[tree].iter().copied()).collect())
            .collect())
    }
}

/// Rows of each side that are in both.
fn count(kernels: Kernels, rows: &Rows, cell: &Cell, column: &Cell) -> [u32; 2] {
    let ((low, high), (of_low, of_high)) = (cell.split_at(rows.split), column.split_at(rows.split));
    [kernels.shared_ones(low, of_low), kernels.shared_ones(high, of_high)]
}
