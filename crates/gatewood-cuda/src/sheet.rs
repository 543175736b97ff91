//! Columns of rows in the order of their class, for the gates of the paper's tree.

use std::sync::Arc;

use gatewood::learn::TrainingView;
use gatewood::learn::device::{DeviceSheet, DeviceTreeClimb};
use gatewood::{Error, Result};

use crate::backend::{Backend, Buffer};
use crate::gates::{GateList, Sheet};
use crate::rows::{parameters, table_words};
use crate::tree_climb;
use crate::upload::upload_columns;

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
    pub(crate) fn load(backend: Arc<dyn Backend>, view: &TrainingView, room: usize) -> Result<Self> {
        let (inputs, stride, free) = (view.columns(), view.stride(), backend.free_bytes()?);
        // Some is left for counts and tables, and for the logarithms of so many rows.
        let rows: usize = view.rows().iter().map(|&rows| rows as usize).sum();
        let fit = (free - free / 8).saturating_sub(8 * rows) / (8 * stride);
        if fit <= inputs {
            return Err(Error::too_large(format!(
                "{inputs} columns of {} MiB do not fit in the GPU's memory, of which {} MiB are free: use --device cpu",
                (8 * stride) >> 20,
                free >> 20
            )));
        }
        let room = room.min(fit - inputs);
        let columns: Buffer<u64> = Buffer::new(&backend, stride * (inputs + room))?;
        upload_columns(&columns, stride, inputs, |column| view.column(column))?;
        Ok(Self { backend, columns, split: view.split(), stride, rows: view.rows(), room })
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
