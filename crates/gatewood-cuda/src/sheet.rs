//! Columns of rows in the order of their class, for the gates of the paper's tree.

use std::sync::Arc;

use gatewood::learn::device::{DeviceSheet, DeviceTreeClimb, SheetToLoad};
use gatewood::{Error, Result};

use crate::backend::{Backend, Buffer};
use crate::gates::{GateList, Sheet};
use crate::rows::{padded_words, parameters, table_words};
use crate::tree_climb;
use crate::upload::upload_columns;

/// Bytes of columns that are brought in order at a time, and columns at the most.
const ORDERED_BYTES: usize = 256 << 20;
const MOST_LINES: usize = 65_535;

/// Blocks in the first direction at a time.
const MOST_BLOCKS: usize = 1 << 20;

/// Columns on a device.
pub(crate) struct CudaSheet {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) columns: Buffer<u64>,
    /// Words of 64 bits of class 0, and of a column.
    pub(crate) split: usize,
    pub(crate) stride: usize,
    pub(crate) rows: [u32; 2],
    room: usize,
}

impl CudaSheet {
    pub(crate) fn load(backend: Arc<dyn Backend>, sheet: &SheetToLoad<'_>, room: usize) -> Result<Self> {
        let &SheetToLoad { bits, rows: picks } = sheet;
        let (inputs, free) = (bits.columns(), backend.free_bytes()?);
        let rows = picks.each_ref().map(Vec::len);
        let [split, upper] = rows.map(padded_words);
        let (stride, words) = (split + upper, bits.rows().div_ceil(64));
        // Some is left for counts and tables, for columns as they come and the lists of rows, and for logarithms.
        let together =
            (ORDERED_BYTES / (8 * words)).min(free / (16 * 8 * words)).clamp(1, inputs).min(MOST_LINES);
        let left = free - free / 8;
        let left = left.saturating_sub((8 * bits.rows()).max(4 * bits.rows() + 8 * words * together));
        let fit = left / (8 * stride);
        if fit <= inputs {
            return Err(Error::too_large(format!(
                "{inputs} columns of {} MiB do not fit in the GPU's memory, of which {} MiB are free: use --device cpu",
                (8 * stride) >> 20,
                free >> 20
            )));
        }
        let room = room.min(fit - inputs);
        let columns: Buffer<u64> = Buffer::new(&backend, stride * (inputs + room))?;
        let lists = picks.each_ref().map(|rows| Buffer::of(&backend, rows));
        let [lower, above] = lists;
        let (lower, above) = (lower?, above?);
        let places: Vec<u32> = (0..together as u32).collect();
        let places = Buffer::of(&backend, &places)?;
        let unordered: Buffer<u64> = Buffer::new(&backend, words * together)?;
        let threads = backend.threads()[0];
        for first in (0..inputs).step_by(together) {
            let here = together.min(inputs - first);
            upload_columns(&unordered, words, here, |column| bits.column(first + column))?;
            let at = [
                unordered.address(),
                2 * words as u64,
                places.address(),
                lower.address(),
                rows[0] as u64,
                above.address(),
                rows[1] as u64,
                split as u64,
                stride as u64,
                columns.address() + (8 * stride * first) as u64,
            ];
            // A thread for half of a word.
            let grid = [(2 * stride).div_ceil(threads as usize).max(1) as u32, here as u32];
            backend.launch("gather", grid, threads, 0, parameters(&at))?;
            backend.wait()?;
        }
        Ok(Self { backend, columns, split, stride, rows: rows.map(|rows| rows as u32), room })
    }
}

impl CudaSheet {
    /// Threads of a block that counts: some words of a column for each.
    pub(crate) fn threads(&self) -> u32 {
        (2 * self.stride).next_multiple_of(32).clamp(64, self.backend.threads()[1] as usize) as u32
    }
}

impl DeviceSheet for CudaSheet {
    fn room(&self) -> usize {
        self.room
    }

    fn count(&self, arity: usize, inputs: &[u32]) -> Result<Vec<u32>> {
        let (backend, gates) = (&self.backend, inputs.len() / arity);
        let inputs = Buffer::of(backend, inputs)?;
        let counts: Buffer<u32> = Buffer::new(backend, gates << (arity + 1))?;
        for first in (0..gates).step_by(MOST_BLOCKS) {
            let at = [
                self.columns.address(),
                2 * self.split as u64,
                2 * self.stride as u64,
                self.rows[0].into(),
                self.rows[1].into(),
                arity as u64,
                inputs.address(),
                counts.address(),
                first as u64,
            ];
            let blocks = MOST_BLOCKS.min(gates - first) as u32;
            // The inputs of a gate, and its counts.
            let shared = 8 * 16 + (8 << arity);
            // A block of fewer threads adds less up.
            let threads = self.threads().min(backend.threads()[0]);
            backend.launch("count_gates", [blocks, 1], threads, shared, parameters(&at))?;
        }
        counts.list()
    }

    fn climb(&self, climb: &DeviceTreeClimb<'_>) -> Result<(Vec<u32>, Vec<u64>)> {
        tree_climb::climb(self, climb)
    }

    fn evaluate(&self, arity: usize, inputs: &[u32], tables: &[u64], first: u32) -> Result<()> {
        let mut list = GateList::default();
        let tables = tables.chunks(table_words(arity));
        for ((inputs, table), column) in inputs.chunks(arity).zip(tables).zip(first..) {
            list.push(inputs.iter().copied(), table, column);
        }
        let gates = list.load(&self.backend)?;
        gates.run(Sheet { address: self.columns.address(), stride: self.stride, words: self.stride })?;
        self.backend.wait()
    }
}
