//! Columns that a device makes of others: gates, level by level, and patterns.

use std::ops::Range;
use std::sync::Arc;

use gatewood::circuit::{PatternLayer, Span, TruthTable};
use gatewood::{Error, Result};

use crate::backend::{Backend, Buffer};
use crate::rows::parameters;

/// Blocks in the second direction that a device takes at a time.
const MOST_LINES: usize = 65_535;

/// Columns on a device, each so many words of 64 bits, of which some are made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sheet {
    pub(crate) address: u64,
    pub(crate) stride: usize,
    /// Words of each column that hold rows.
    pub(crate) words: usize,
}

/// Begins a kernel with a line of blocks for each of some items and a thread for every 32 rows. `at` has the columns and the
/// numbers of the kernel, the last being the first item.
fn launch(
    backend: &dyn Backend,
    kernel: &'static str,
    sheet: Sheet,
    items: Range<usize>,
    at: &[u64],
) -> Result<()> {
    let threads = backend.threads()[0];
    let words = 2 * sheet.words;
    for first in items.clone().step_by(MOST_LINES) {
        let mut all = vec![sheet.address, 2 * sheet.stride as u64, words as u64];
        all.extend_from_slice(at);
        all.push(first as u64);
        let lines = MOST_LINES.min(items.end - first) as u32;
        let grid = [words.div_ceil(threads as usize).max(1) as u32, lines];
        backend.launch(kernel, grid, threads, 0, parameters(&all))?;
    }
    Ok(())
}

/// Gates to be loaded.
#[derive(Debug, Default)]
pub(crate) struct GateList {
    gates: Vec<u32>,
    inputs: Vec<u32>,
    tables: Vec<u64>,
    /// Where each level ends.
    ends: Vec<usize>,
}

impl GateList {
    /// Adds a gate that makes a column of others.
    pub(crate) fn push(&mut self, inputs: impl ExactSizeIterator<Item = u32>, table: &[u64], column: u32) {
        let (first, arity) = (self.inputs.len() as u32, inputs.len() as u32);
        self.gates.extend([first, arity, self.tables.len() as u32, column]);
        self.inputs.extend(inputs);
        self.tables.extend_from_slice(table);
    }

    /// Adds a span, given where its columns are.
    pub(crate) fn push_span(&mut self, span: &Span, place: impl Fn(u32) -> u32, column: u32) {
        let inputs = span.columns();
        let last = (1 << inputs.len()) - 1;
        let holds = |address| if span.is_all() { address == last } else { address != 0 };
        let table = TruthTable::from_fn(inputs.len(), holds);
        self.push(inputs.iter().map(|&input| place(input)), table.words(), column);
    }

    /// Gates after this may read what those before it make.
    pub(crate) fn end_level(&mut self) {
        self.ends.push(self.gates.len() / 4);
    }

    pub(crate) fn load(mut self, backend: &Arc<dyn Backend>) -> Result<Gates> {
        self.end_level();
        let Self { gates, inputs, tables, ends } = self;
        if [gates.len(), inputs.len(), tables.len()].iter().any(|&length| u32::try_from(length).is_err()) {
            return Err(Error::too_large(format!("{} gates are too many for a GPU", gates.len() / 4)));
        }
        Ok(Gates {
            backend: backend.clone(),
            gates: Buffer::of(backend, &gates)?,
            inputs: Buffer::of(backend, &inputs)?,
            tables: Buffer::of(backend, &tables)?,
            ends,
        })
    }
}

/// Gates on a device.
#[derive(Debug)]
pub(crate) struct Gates {
    backend: Arc<dyn Backend>,
    gates: Buffer<u32>,
    inputs: Buffer<u32>,
    tables: Buffer<u64>,
    ends: Vec<usize>,
}

impl Gates {
    /// Begins to make the columns of all gates.
    pub(crate) fn run(&self, sheet: Sheet) -> Result<()> {
        let mut first = 0;
        for &end in &self.ends {
            let at = [self.gates.address(), self.inputs.address(), self.tables.address()];
            launch(&*self.backend, "gates", sheet, first..end, &at)?;
            first = end;
        }
        Ok(())
    }
}

/// Patterns on a device.
#[derive(Debug)]
pub(crate) struct Patterns {
    backend: Arc<dyn Backend>,
    count: usize,
    patterns: Buffer<u32>,
    literals: Buffer<u32>,
    thresholds: Buffer<u32>,
    places: Buffer<u32>,
    width: usize,
}

impl Patterns {
    /// Loads patterns, given where the inputs of planes are and the first of the columns they make.
    pub(crate) fn load(
        backend: &Arc<dyn Backend>,
        layer: &PatternLayer,
        place: impl Fn(u32) -> u32,
        first_column: u32,
    ) -> Result<Self> {
        let planes = layer.planes();
        let (width, height) = (planes.width(), planes.height());
        let (mut patterns, mut literals, mut thresholds) = (Vec::new(), Vec::new(), Vec::new());
        for pattern in layer.patterns() {
            let (across, down) = pattern.shifts();
            patterns.extend([
                literals.len() as u32,
                pattern.literals().len() as u32,
                across as u32,
                down as u32,
                thresholds.len() as u32,
                pattern.thresholds().len() as u32,
                first_column + thresholds.len() as u32,
                0,
            ]);
            literals.extend(pattern.literals().iter().map(|literal| {
                let line = usize::from(literal.plane) * height + usize::from(literal.y);
                2 * (line * width + usize::from(literal.x)) as u32 + u32::from(literal.value)
            }));
            thresholds.extend_from_slice(pattern.thresholds());
        }
        // A place without an input is never read.
        let places: Vec<u32> = planes.inputs().map(|input| input.map_or(u32::MAX, &place)).collect();
        Ok(Self {
            backend: backend.clone(),
            count: layer.patterns().len(),
            patterns: Buffer::of(backend, &patterns)?,
            literals: Buffer::of(backend, &literals)?,
            thresholds: Buffer::of(backend, &thresholds)?,
            places: Buffer::of(backend, &places)?,
            width,
        })
    }

    /// Begins to make the columns of all patterns.
    pub(crate) fn run(&self, sheet: Sheet) -> Result<()> {
        let at = [
            self.patterns.address(),
            self.literals.address(),
            self.thresholds.address(),
            self.places.address(),
            self.width as u64,
        ];
        launch(&*self.backend, "patterns", sheet, 0..self.count, &at)
    }
}
