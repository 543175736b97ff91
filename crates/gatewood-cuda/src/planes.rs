//! Planes of images on a device, and patterns that are judged there.

use std::sync::Arc;

use gatewood::circuit::Pattern;
use gatewood::learn::device::{DevicePlanes, Handle, PlanesToLoad};
use gatewood::{Error, Result};

use crate::backend::{Backend, Buffer, Staging};
use crate::rows::{held, padded_words, parameters};
use crate::upload::upload_columns;

/// Numbers of 32 bits of a pattern, and the most literals and thresholds it has, as the kernels have it.
const PATTERN_NUMBERS: usize = 8;
const MOST_LITERALS: usize = 16;
const MOST_THRESHOLDS: usize = 64;

/// Columns that part the rows of a sample, and cells they make.
const MOST_COLUMNS: usize = 3;

/// Threads of a block that judges, at the most: with more, each has too few registers.
const MOST_JUDGING: u32 = 512;

/// Patterns of a tree.
const ARITY: usize = 4;

/// Bytes that a block shares while it judges a pattern.
const JUDGE_BYTES: usize = 8 * MOST_THRESHOLDS
    + 4 * (PATTERN_NUMBERS + MOST_LITERALS + MOST_THRESHOLDS)
    + 8 * (MOST_THRESHOLDS + 1) * (1 << MOST_COLUMNS);

/// Planes of all rows.
#[derive(Debug)]
pub(crate) struct CudaPlanes {
    backend: Arc<dyn Backend>,
    rows: usize,
    /// Places of a line, and lines.
    size: (usize, usize),
    /// All places row by row, and words of 64 bits of a row.
    packed: Buffer<u64>,
    width: usize,
    /// The same place by place.
    places: Places,
    /// `x log2 x`.
    logs: Buffer<i64>,
}

/// Places of some rows, each so many words of 32 bits.
#[derive(Debug)]
struct Places {
    stride: usize,
    words: Buffer<u32>,
}

/// Places of a sample.
struct PlacesOfSample {
    /// Rows of each side, and words of 32 bits of the lower one.
    rows: [usize; 2],
    split: usize,
    places: Places,
    /// The columns that part the rows, of which some are there.
    parts: Buffer<u32>,
    parted: usize,
}

/// Patterns as kernels read them, in memory of this process that a device reads, too.
struct Looked {
    list: Staging<u32>,
    literals: usize,
    thresholds: usize,
}

impl CudaPlanes {
    pub(crate) fn load(backend: Arc<dyn Backend>, planes: &PlanesToLoad<'_>) -> Result<Self> {
        let &PlanesToLoad { size, words, width, rows, logs, sample_rows } = planes;
        let bytes = 2 * 8 * width * rows;
        let free = backend.free_bytes()?;
        if bytes > free - free / 8 {
            return Err(Error::too_large(format!(
                "planes of {rows} images need {} MiB of the GPU's memory, of which {} MiB are free: use --device cpu",
                bytes >> 20,
                free >> 20
            )));
        }
        let packed: Buffer<u64> = Buffer::new(&backend, width * rows)?;
        upload_columns(&packed, width, rows, |row| &words[row * width..])?;
        // As for the processor, samples may be a little larger than asked for.
        let most = sample_rows + sample_rows / 16 + 64;
        let logs = Buffer::of(&backend, &logs.list(most as u32))?;
        let places = lay_out(&backend, &packed, width, None, [rows, 0])?;
        backend.wait()?;
        Ok(Self { backend, rows, size, packed, width, places, logs })
    }

    /// Patterns with their literals and thresholds.
    fn looked<'p>(&self, patterns: impl ExactSizeIterator<Item = &'p Pattern> + Clone) -> Result<Looked> {
        let count = patterns.len();
        let literals = count * PATTERN_NUMBERS;
        let all: usize = patterns.clone().map(|pattern| pattern.literals().len()).sum();
        let steps: usize = patterns.clone().map(|pattern| pattern.thresholds().len()).sum();
        let thresholds = literals + all;
        let mut list: Staging<u32> = Staging::new(&self.backend, (thresholds + steps).max(1))?;
        let (mut literal, mut threshold) = (0, 0);
        let (described, rest) = list.list().split_at_mut(literals);
        let (places, ladder) = rest.split_at_mut(all);
        for (described, pattern) in described.chunks_exact_mut(PATTERN_NUMBERS).zip(patterns) {
            let (own, steps) = (pattern.literals(), pattern.thresholds());
            if own.len() > MOST_LITERALS || steps.len() > MOST_THRESHOLDS {
                return Err(Error::too_large("a pattern of so many literals or thresholds on a GPU"));
            }
            let (across, down) = pattern.shifts();
            described.copy_from_slice(&[
                literal as u32,
                own.len() as u32,
                across as u32,
                down as u32,
                threshold as u32,
                steps.len() as u32,
                0,
                0,
            ]);
            for (to, at) in places[literal..].iter_mut().zip(own) {
                let line = usize::from(at.plane) * self.size.1 + usize::from(at.y);
                *to = 2 * (line * self.size.0 + usize::from(at.x)) as u32 + u32::from(at.value);
            }
            ladder[threshold..][..steps.len()].copy_from_slice(steps);
            literal += own.len();
            threshold += steps.len();
        }
        Ok(Looked { list, literals, thresholds })
    }

    /// The numbers of a kernel that looks for patterns.
    fn parameters(&self, places: &Places, looked: &mut Looked) -> Vec<u64> {
        let list = looked.list.list().as_ptr() as u64;
        vec![
            places.words.address(),
            places.stride as u64,
            self.size.0 as u64,
            list,
            list + 4 * looked.literals as u64,
            list + 4 * looked.thresholds as u64,
        ]
    }

    /// Begins to write which rows match, a column for each of some patterns.
    fn find(&self, places: &Places, looked: &mut Looked, count: usize, to: u64) -> Result<()> {
        let mut at = self.parameters(places, looked);
        at.push(to);
        // Few threads in a block: patterns of all rows are few, and blocks run side by side.
        let threads = self.backend.threads()[0].min(64);
        let blocks = places.stride.div_ceil(threads as usize).max(1) as u32;
        self.backend.launch("match_patterns", [blocks, count as u32], threads, 0, parameters(&at))
    }
}

/// Lays out rows place by place: those that are picked, or all.
fn lay_out(
    backend: &Arc<dyn Backend>,
    packed: &Buffer<u64>,
    width: usize,
    picks: Option<&Buffer<u32>>,
    rows: [usize; 2],
) -> Result<Places> {
    let [split, upper] = rows.map(|rows| 2 * padded_words(rows));
    let stride = split + upper;
    let words: Buffer<u32> = Buffer::new(backend, 64 * width * stride)?;
    let at = [
        packed.address(),
        2 * width as u64,
        picks.map_or(0, Buffer::address),
        rows[0] as u64,
        rows[1] as u64,
        split as u64,
        stride as u64,
        words.address(),
    ];
    let grid = [stride.div_ceil(8) as u32, 2 * width as u32];
    backend.launch("lay_out_places", grid, backend.threads()[0], 4 * 32 * 9, parameters(&at))?;
    Ok(Places { stride, words })
}

impl DevicePlanes for CudaPlanes {
    fn gather(&self, picks: &[Vec<u32>; 2]) -> Result<Handle> {
        let backend = &self.backend;
        let rows = picks.each_ref().map(Vec::len);
        if rows[0] + rows[1] >= self.logs.len() {
            return Err(Error::data("patterns are judged on more rows than was said"));
        }
        let both = Buffer::of(backend, &picks.concat())?;
        let places = lay_out(backend, &self.packed, self.width, Some(&both), rows)?;
        let parts = Buffer::new(backend, MOST_COLUMNS * places.stride)?;
        // The picks are given back.
        backend.wait()?;
        let split = 2 * padded_words(rows[0]);
        Ok(Box::new(PlacesOfSample { rows, split, places, parts, parted: 0 }))
    }

    fn judge(&self, sample: &Handle, patterns: &[Pattern]) -> Result<Vec<(i64, usize)>> {
        let sample = held::<PlacesOfSample>(sample)?;
        let mut looked = self.looked(patterns.iter())?;
        let mut scores: Staging<i64> = Staging::new(&self.backend, 2 * patterns.len())?;
        let mut at = self.parameters(&sample.places, &mut looked);
        at.extend([
            sample.parts.address(),
            sample.parted as u64,
            sample.split as u64,
            sample.rows[0] as u64,
            sample.rows[1] as u64,
            self.logs.address(),
            scores.list().as_ptr() as u64,
        ]);
        let threads = sample.places.stride.next_multiple_of(32) as u32;
        let threads = threads.min(self.backend.threads()[1]).min(MOST_JUDGING);
        let grid = [patterns.len() as u32, 1];
        let begun = self.backend.launch("judge_patterns", grid, threads, JUDGE_BYTES as u32, parameters(&at));
        // Nothing is given back that is still read.
        self.backend.wait().and(begun)?;
        Ok(scores.list().chunks_exact(2).map(|found| (found[0], found[1] as usize)).collect())
    }

    fn part(&self, sample: &mut Handle, pattern: &Pattern) -> Result<()> {
        let sample = sample.downcast_mut::<PlacesOfSample>();
        let sample = sample.filter(|sample| sample.parted < MOST_COLUMNS).ok_or_else(|| {
            Error::data("a device was handed what another device made, or a tree of too many patterns")
        })?;
        let mut looked = self.looked([pattern].into_iter())?;
        let to = sample.parts.address() + (4 * sample.parted * sample.places.stride) as u64;
        let begun = self.find(&sample.places, &mut looked, 1, to);
        sample.parted += 1;
        self.backend.wait().and(begun)
    }

    fn addresses(&self, trees: &[Vec<&Pattern>]) -> Result<Vec<Handle>> {
        let backend = &self.backend;
        if trees.iter().any(|tree| tree.len() > ARITY) {
            return Err(Error::data(format!("trees of patterns have at most {ARITY}")));
        }
        let patterns: Vec<&Pattern> = trees.iter().flatten().copied().collect();
        let mut looked = self.looked(patterns.iter().copied())?;
        let stride = self.places.stride;
        let columns: Buffer<u32> = Buffer::new(backend, patterns.len() * stride)?;
        let mut begin = || -> Result<Vec<Buffer<u16>>> {
            if !patterns.is_empty() {
                self.find(&self.places, &mut looked, patterns.len(), columns.address())?;
            }
            let mut first = 0;
            let mut all = Vec::with_capacity(trees.len());
            for tree in trees {
                let addresses: Buffer<u16> = Buffer::new(backend, 32 * stride)?;
                let from = columns.address() + (4 * first * stride) as u64;
                let at = [from, stride as u64, tree.len() as u64, addresses.address()];
                let threads = backend.threads()[0];
                let blocks = stride.div_ceil(threads as usize).max(1) as u32;
                backend.launch("pack_addresses", [blocks, 1], threads, 0, parameters(&at))?;
                first += tree.len();
                all.push(addresses);
            }
            Ok(all)
        };
        let begun = begin();
        backend.wait()?;
        debug_assert!(32 * stride >= self.rows);
        Ok(begun?.into_iter().map(|addresses| Box::new(addresses) as Handle).collect())
    }
}
