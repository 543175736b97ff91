//! The columns that trees read: all on the device where they fit, else copied there when they are needed.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gatewood::learn::device::{ColumnsToLoad, RowsToLoad};
use gatewood::{Error, Result};

use crate::backend::{Backend, Buffer, Staging};
use crate::gates::{GateList, Gates, Sheet};
use crate::rows::parameters;
use crate::upload::upload_columns;

/// Bytes that are copied at a time: enough to be copied at full speed, and few, since memory to copy from takes long to get.
const PIECE_BYTES: usize = 16 << 20;

/// Pieces in the works: while one is read, the next is filled.
const LANES: usize = 2;

/// Bytes that memory is read by.
const SECTOR_BYTES: usize = 32;

/// How many times fewer bytes are read of rows than of columns where rows are read.
const ROWS_PAY: usize = 4;

/// Words of 64 rows of a piece at least.
const FEWEST_WORDS: usize = 64;

/// The columns of rows.
pub(crate) struct Columns<'a> {
    backend: Arc<dyn Backend>,
    source: ColumnsToLoad<'a>,
    /// Words of 64 rows.
    words: usize,
    /// All of them, spans too, where they fit.
    resident: Option<Buffer<u64>>,
    /// The same row by row, once that pays; none where there is no room for it.
    packed: OnceLock<Option<PackedRows>>,
    /// Bytes of a piece.
    piece: usize,
    /// Held by the thread whose pieces are on the device: there is room for those of one.
    copying: Mutex<()>,
}

/// All columns, the bits of a row side by side.
pub(crate) struct PackedRows {
    pub(crate) rows: Buffer<u32>,
    /// Words of 32 bits of a row.
    pub(crate) width: usize,
}

/// Columns on the device for a moment.
pub(crate) struct Piece<'p> {
    /// Which of those that were wanted.
    pub(crate) wanted: Range<usize>,
    /// Which words of 64 rows.
    pub(crate) words: Range<usize>,
    pub(crate) sheet: Sheet,
    /// The column of the sheet that each of the wanted is.
    pub(crate) places: &'p Buffer<u32>,
}

/// Bytes that rows take besides their columns: targets and weights; margins, gradients and addresses; marks.
fn state_bytes(rows: usize, about: &RowsToLoad<'_>) -> usize {
    let weights = if about.weights.is_empty() { 0 } else { 4 };
    rows.saturating_mul(4 + weights + 10 * about.margins + 2)
}

impl<'a> Columns<'a> {
    pub(crate) fn load(
        backend: Arc<dyn Backend>,
        source: ColumnsToLoad<'a>,
        about: &RowsToLoad<'_>,
    ) -> Result<Self> {
        let rows = source.bits.rows();
        let words = rows.div_ceil(64);
        let (inputs, all) = (source.bits.columns(), source.bits.columns() + source.spans.len());
        let (free, state) = (backend.free_bytes()?, state_bytes(rows, about));
        // Some is left for samples and for what rounds make.
        let room = (free - free / 8).saturating_sub(state);
        if room == 0 {
            return Err(Error::too_large(format!(
                "{rows} rows need {} MiB of the GPU's memory besides their columns, of which {} MiB are free: use --device cpu",
                state >> 20,
                free >> 20
            )));
        }
        let piece = PIECE_BYTES.min(room / (2 * LANES));
        let mut columns = Self {
            backend,
            source,
            words,
            resident: None,
            packed: OnceLock::new(),
            piece,
            copying: Mutex::new(()),
        };
        if words.saturating_mul(8 * all) > room {
            return Ok(columns);
        }
        let backend = &columns.backend;
        let resident: Buffer<u64> = Buffer::new(backend, words * all)?;
        upload_columns(&resident, words, inputs, |column| source.bits.column(column))?;
        let mut spans = GateList::default();
        for (span, column) in source.spans.iter().zip(inputs as u32..) {
            spans.push_span(span, |input| input, column);
        }
        let spans = spans.load(backend)?;
        spans.run(Sheet { address: resident.address(), stride: words, words })?;
        backend.wait()?;
        drop(spans);
        columns.resident = Some(resident);
        Ok(columns)
    }

    /// The rows side by side, where so many of them with so many columns are read faster that way: of columns a memory reads
    /// whole sectors, whichever rows are wanted of them.
    pub(crate) fn packed(&self, rows: usize, columns: usize) -> Result<Option<&PackedRows>> {
        let Some(resident) = &self.resident else { return Ok(None) };
        let all = self.source.bits.columns() + self.source.spans.len();
        let width = all.div_ceil(32).next_multiple_of(SECTOR_BYTES / 4);
        let by_columns = columns.saturating_mul((8 * self.words).min(SECTOR_BYTES * rows));
        if rows.saturating_mul(4 * width) >= by_columns / ROWS_PAY {
            return Ok(None);
        }
        let _copying = self.copying.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(packed) = self.packed.get() {
            return Ok(packed.as_ref());
        }
        let packed = self.pack(resident, all, width)?;
        Ok(self.packed.get_or_init(|| packed).as_ref())
    }

    /// Where all columns are, and words of 32 bits of each; none where they are not all on the device.
    pub(crate) fn sheet(&self) -> Option<(u64, usize)> {
        self.resident.as_ref().map(|resident| (resident.address(), 2 * self.words))
    }

    /// Packs all rows, if there is room for them.
    fn pack(&self, resident: &Buffer<u64>, all: usize, width: usize) -> Result<Option<PackedRows>> {
        let (backend, length) = (&self.backend, 64 * self.words * width);
        let threads = backend.threads()[0];
        let lines = all.div_ceil(threads as usize);
        if 4 * length > backend.free_bytes()? / 2 || lines > 65_535 {
            return Ok(None);
        }
        let rows: Buffer<u32> = Buffer::new(backend, length)?;
        let at = [resident.address(), 2 * self.words as u64, all as u64, rows.address(), width as u64];
        let blocks = (2 * self.words).div_ceil(8).clamp(1, 64 * backend.blocks() as usize);
        // A word for every thread, and one for every lane, so that no two are in one bank.
        let shared = 4 * (threads + 32);
        backend.launch("pack_rows", [blocks as u32, lines as u32], threads, shared, parameters(&at))?;
        backend.wait()?;
        Ok(Some(PackedRows { rows, width }))
    }

    /// Copies some words of some columns to where they are read from.
    fn fill<'l>(&self, lane: &'l mut Lane, inputs: &[u32], words: Range<usize>) -> &'l [u64] {
        let here = &mut lane.here.list()[..inputs.len() * words.len()];
        for (&input, to) in inputs.iter().zip(here.chunks_exact_mut(words.len().max(1))) {
            to.copy_from_slice(&self.source.bits.column(input as usize)[words.clone()]);
        }
        here
    }

    /// The inputs that columns are, or are made of: each once.
    fn inputs_of(&self, wanted: &[u32]) -> BTreeSet<u32> {
        let bits = self.source.bits.columns();
        let inputs = wanted.iter().flat_map(|column| match (*column as usize).checked_sub(bits) {
            None => std::slice::from_ref(column),
            Some(span) => self.source.spans[span].columns(),
        });
        inputs.copied().collect()
    }

    /// Hands on some columns of all rows, a few columns at a time.
    pub(crate) fn each_few(&self, wanted: &[u32], work: impl FnMut(&Piece<'_>) -> Result<()>) -> Result<()> {
        let mut pieces: Vec<(Range<usize>, Range<usize>)> = Vec::new();
        if self.resident.is_some() || wanted.is_empty() {
            pieces.push((0..wanted.len(), 0..self.words));
        } else {
            // Spans are counted with all that they are made of.
            let bits = self.source.bits.columns();
            let size = |column: u32| match (column as usize).checked_sub(bits) {
                None => 1,
                Some(span) => 1 + self.source.spans[span].columns().len(),
            };
            let most = self.piece / 8 / self.words.max(1);
            let (mut first, mut taken) = (0, 0);
            for (place, &column) in wanted.iter().enumerate() {
                if place > first && taken + size(column) > most {
                    pieces.push((first..place, 0..self.words));
                    (first, taken) = (place, 0);
                }
                taken += size(column);
            }
            pieces.push((first..wanted.len(), 0..self.words));
        }
        self.each(wanted, pieces, work)
    }

    /// Hands on some columns, all of them for some rows at a time.
    pub(crate) fn each_block(
        &self,
        wanted: &[u32],
        work: impl FnMut(&Piece<'_>) -> Result<()>,
    ) -> Result<()> {
        let words = match self.resident {
            Some(_) => self.words,
            None => (self.piece / 8 / (self.inputs_of(wanted).len() + wanted.len()).max(1)).max(FEWEST_WORDS),
        };
        let firsts = (0..self.words).step_by(words.max(1));
        let pieces = firsts.map(|first| (0..wanted.len(), first..self.words.min(first + words))).collect();
        self.each(wanted, pieces, work)
    }

    fn each(
        &self,
        wanted: &[u32],
        pieces: Vec<(Range<usize>, Range<usize>)>,
        mut work: impl FnMut(&Piece<'_>) -> Result<()>,
    ) -> Result<()> {
        let backend = &self.backend;
        if let Some(resident) = &self.resident {
            let places = Buffer::of(backend, wanted)?;
            let sheet = Sheet { address: resident.address(), stride: self.words, words: self.words };
            work(&Piece { wanted: 0..wanted.len(), words: 0..self.words, sheet, places: &places })?;
            return backend.wait();
        }
        let _copying = self.copying.lock().unwrap_or_else(PoisonError::into_inner);
        let bits = self.source.bits.columns() as u32;
        let sizes = pieces.iter().map(|(columns, words)| {
            let inputs = self.inputs_of(&wanted[columns.clone()]).len();
            (inputs * words.len(), (inputs + columns.len()) * words.len())
        });
        let most = sizes.fold((0, 0), |most, size| (most.0.max(size.0), most.1.max(size.1)));
        // Of one size where that is enough: memory of a size that was used before is had at once.
        let usual = self.piece / 8;
        let mut lanes = Lanes::new(backend, most.0.max(usual), most.1.max(usual))?;
        for (columns, words) in pieces {
            let some = &wanted[columns.clone()];
            let inputs: Vec<u32> = self.inputs_of(some).into_iter().collect();
            let place = |input: u32| inputs.partition_point(|&other| other < input) as u32;
            let mut spans = GateList::default();
            let mut places = Vec::with_capacity(some.len());
            let mut next = inputs.len() as u32;
            for &column in some {
                match column.checked_sub(bits) {
                    None => places.push(place(column)),
                    Some(span) => {
                        spans.push_span(&self.source.spans[span as usize], place, next);
                        places.push(next);
                        next += 1;
                    }
                }
            }
            let lane = lanes.next()?;
            let read = self.fill(lane, &inputs, words.clone()).len();
            lane.there.put(0, &lane.here.list()[..read])?;
            let sheet = Sheet { address: lane.there.address(), stride: words.len(), words: words.len() };
            let spans = spans.load(backend)?;
            spans.run(sheet)?;
            let places = Buffer::of(backend, &places)?;
            work(&Piece { wanted: columns, words, sheet, places: &places })?;
            lane.kept = Some((spans, places));
            lane.mark = Some(backend.mark()?);
        }
        backend.wait()
    }
}

/// Memory for a piece, here and there.
struct Lane {
    backend: Arc<dyn Backend>,
    here: Staging<u64>,
    there: Buffer<u64>,
    /// What the work on it reads.
    kept: Option<(Gates, Buffer<u32>)>,
    /// The end of that work.
    mark: Option<u64>,
}

impl Drop for Lane {
    /// Nothing is given back that is still read.
    fn drop(&mut self) {
        if let Some(mark) = self.mark.take() {
            let _ = self.backend.reach(mark);
        }
    }
}

/// Lanes, taken in turn.
struct Lanes {
    lanes: Vec<Lane>,
    taken: usize,
}

impl Lanes {
    /// So many words of 64 bits here, and there.
    fn new(backend: &Arc<dyn Backend>, here: usize, there: usize) -> Result<Self> {
        let lane = |_| {
            let (here, there) = (Staging::new(backend, here)?, Buffer::new(backend, there)?);
            Ok(Lane { backend: backend.clone(), here, there, kept: None, mark: None })
        };
        Ok(Self { lanes: (0..LANES).map(lane).collect::<Result<_>>()?, taken: 0 })
    }

    /// The next lane, when the work on it is done.
    fn next(&mut self) -> Result<&mut Lane> {
        let count = self.lanes.len();
        let lane = &mut self.lanes[self.taken % count];
        self.taken += 1;
        if let Some(mark) = lane.mark.take() {
            lane.backend.reach(mark)?;
        }
        lane.kept = None;
        Ok(lane)
    }
}
