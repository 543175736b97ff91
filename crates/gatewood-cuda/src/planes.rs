//! Planes of images on a device, and patterns that are climbed there.

use std::sync::Arc;

use gatewood::circuit::{Literal, Pattern};
use gatewood::learn::device::{DevicePlanes, Handle, PatternClimb, PatternFound, PlanesToLoad, Sketch};
use gatewood::{Error, Result};

use crate::backend::{Backend, Buffer, Staging};
use crate::draw::MOST_LINES;
use crate::rows::{padded_words, parameters};
use crate::upload::upload_columns;

/// Numbers of 32 bits of a pattern that is looked for, as the kernels have it.
const PATTERN_NUMBERS: usize = 8;

/// The most literals of a pattern, and numbers of 64 bits of a sketch and of a tree, as the kernels have them.
const MOST_LITERALS: usize = 12;
const SKETCH_WORDS: usize = MOST_LITERALS + 4;
const TREE_WORDS: usize = 11;

/// Bytes that a block shares while it climbs, besides what it counts: those of `Judging` in the kernels.
const JUDGING_BYTES: usize = 8 << 10;

/// Bits of a count of matches: up to 4,095, and up to any; those of what a thread counts before it is added up.
const COUNT_BITS: [usize; 2] = [12, 30];
const PART_BITS: usize = 5;

/// Threads of a block that climbs at the most, and four words of rows that it works on at a time.
const MOST_THREADS: u32 = 512;
const MOST_QUADS: usize = 128;

/// Cells that the patterns before the last of a tree part rows into.
const MOST_CELLS: usize = 1 << MOST_PARTED;

/// Places of an image at the most: larger ones have more thresholds than kernels have room for.
const MOST_PLACES: usize = 1 << 24;

/// Random numbers that a variation reads at the most.
const MOST_READ: usize = 7;

/// Columns that part the rows of a sample.
const MOST_PARTED: usize = 3;

/// Blocks of a tree at the least where trees are many, and at the most.
const BLOCKS_A_TREE: [u32; 2] = [4, 24];

/// Patterns of a tree.
const ARITY: usize = 4;

/// Words of 32 bits of a row, and of a place, that a block lays out.
const LAID_OUT: [usize; 2] = [8, 32];

/// The score of what is no pattern.
const NO_SCORE: i64 = i64::MIN;

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
    places: Buffer<u32>,
    /// Planes, and those that ask for levels.
    planes: [usize; 2],
    areas: Buffer<u16>,
    apart: Buffer<u32>,
    counts: bool,
    trials: usize,
    /// `x log2 x`.
    logs: Buffer<i64>,
}

/// The samples of some trees, place by place.
struct Samples {
    trees: Vec<Sample>,
    _places: Buffer<u32>,
    _parts: Buffer<u32>,
}

/// Rows of each side, and words of 32 bits of both and of the lower one.
struct Sample {
    rows: [usize; 2],
    stride: usize,
    split: usize,
    /// Where its places are, and the columns that part its rows, of which some are there.
    places: u64,
    parts: u64,
    parted: usize,
}

/// Patterns as kernels look for them, in memory of this process that a device reads, too.
struct Looked {
    list: Staging<u32>,
    literals: usize,
    thresholds: usize,
}

impl CudaPlanes {
    pub(crate) fn load(backend: Arc<dyn Backend>, planes: &PlanesToLoad<'_>) -> Result<Self> {
        let &PlanesToLoad { size, words, width, rows, areas, levels, apart, counts, trials, .. } = planes;
        let bytes = 2 * 8 * width * rows;
        let free = backend.free_bytes()?;
        if bytes > free - free / 8 || size.0 * size.1 >= MOST_PLACES {
            return Err(Error::too_large(format!(
                "planes of {rows} images of {} x {} need {} MiB of the GPU's memory, of which {} MiB are free: use --device cpu",
                size.0,
                size.1,
                bytes >> 20,
                free >> 20
            )));
        }
        let packed: Buffer<u64> = Buffer::new(&backend, width * rows)?;
        upload_columns(&packed, width, rows, |row| &words[row * width..])?;
        // As for the processor, samples may be a little larger than asked for.
        let most = planes.sample_rows + planes.sample_rows / 16 + 64;
        let logs = Buffer::of(&backend, &planes.logs.list(most as u32))?;
        // Where a plane has no answer at all, the first place is after the last.
        let ends: Vec<u16> = areas.iter().flat_map(|area| area.unwrap_or([1, 0, 1, 0])).collect();
        let loaded = Self {
            rows,
            size,
            packed,
            width,
            places: Buffer::new(&backend, 64 * width * stride_of([rows, 0]).0)?,
            planes: [areas.len(), levels],
            areas: Buffer::of(&backend, &ends)?,
            apart: Buffer::of(&backend, apart)?,
            counts,
            trials,
            logs,
            backend,
        };
        loaded.lay_out(0, &[(0, [rows, 0], loaded.places.address())])?;
        Ok(loaded)
    }

    /// Lays out rows place by place: of each sample where its picks begin, the rows of both sides, and where its places go. Without
    /// picks these are the rows as they are.
    fn lay_out(&self, picks: u64, samples: &[(usize, [usize; 2], u64)]) -> Result<()> {
        let backend = &self.backend;
        let mut described = Vec::with_capacity(6 * samples.len());
        for &(first, rows, places) in samples {
            let (stride, split) = stride_of(rows);
            let picks = if picks == 0 { 0 } else { picks + 4 * first as u64 };
            let [lower, upper] = rows.map(|rows| rows as u64);
            described.extend([picks, lower, upper, split as u64, stride as u64, places]);
        }
        let described: Buffer<u64> = Buffer::of(backend, &described)?;
        let most = samples.iter().map(|sample| stride_of(sample.1).0).max().unwrap_or(0);
        let lines = (2 * self.width).div_ceil(LAID_OUT[0]);
        let tile = 4 * 32 * LAID_OUT[0] * (LAID_OUT[1] + 1);
        for (part, samples) in samples.chunks((MOST_LINES / lines).max(1)).enumerate() {
            let from = described.address() + (48 * part * (MOST_LINES / lines).max(1)) as u64;
            let at = [self.packed.address(), 2 * self.width as u64, from, lines as u64];
            let grid = [most.div_ceil(LAID_OUT[1]) as u32, (samples.len() * lines) as u32];
            backend.launch("lay_out_places", grid, backend.threads()[0], tile as u32, parameters(&at))?;
        }
        backend.wait()
    }

    /// Patterns with their literals and thresholds.
    fn looked(&self, patterns: &[&Pattern]) -> Result<Looked> {
        let literals = patterns.len() * PATTERN_NUMBERS;
        let all: usize = patterns.iter().map(|pattern| pattern.literals().len()).sum();
        let steps: usize = patterns.iter().map(|pattern| pattern.thresholds().len()).sum();
        let thresholds = literals + all;
        let mut list: Staging<u32> = Staging::new(&self.backend, (thresholds + steps).max(1))?;
        let (mut literal, mut threshold) = (0, 0);
        let (described, rest) = list.list().split_at_mut(literals);
        let (places, ladder) = rest.split_at_mut(all);
        for (described, pattern) in described.chunks_exact_mut(PATTERN_NUMBERS).zip(patterns) {
            let (own, steps) = (pattern.literals(), pattern.thresholds());
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

    /// Begins to write which of all rows match, a column for each of some patterns.
    fn find(&self, looked: &mut Looked, count: usize, to: u64) -> Result<()> {
        let list = looked.list.list().as_ptr() as u64;
        let stride = stride_of([self.rows, 0]).0;
        let at = [
            self.places.address(),
            stride as u64,
            self.size.0 as u64,
            list,
            list + 4 * looked.literals as u64,
            list + 4 * looked.thresholds as u64,
            to,
        ];
        // Few threads in a block: patterns of all rows are few, and blocks run side by side.
        let threads = self.backend.threads()[0].min(64);
        let blocks = stride.div_ceil(4 * threads as usize).max(1) as u32;
        self.backend.launch("match_patterns", [blocks, count as u32], threads, 0, parameters(&at))
    }

    /// For so many trees whose samples have places of so many words at the most.
    fn way(&self, stride: usize, trees: usize) -> Result<Way> {
        let backend = &self.backend;
        let threads = backend.threads()[1].min(MOST_THREADS);
        let is_usual = self.size.0 * self.size.1 < 1 << COUNT_BITS[0];
        let bits = COUNT_BITS[usize::from(!is_usual)];
        let shared =
            |quads: usize| JUDGING_BYTES + 16 * (quads * (MOST_CELLS + bits) + PART_BITS * threads as usize);
        let mut quads = (stride / 4).clamp(1, MOST_QUADS.min(threads as usize));
        while shared(quads) > backend.shared_bytes() && quads > 1 {
            quads /= 2;
        }
        let shared = shared(quads) as u32;
        let all = backend.together("climb_patterns", threads, shared)?.min(backend.blocks()).max(1);
        let [fewest, most] = BLOCKS_A_TREE;
        let together = (trees as u32).min((all / fewest).max(1));
        Ok(Way { quads, threads, shared, together, blocks: (all / together).min(most) })
    }
}

/// How patterns are climbed.
struct Way {
    /// Four words of rows that a block works on at a time, and its threads: groups of these work on the same.
    quads: usize,
    threads: u32,
    /// Bytes that a block shares.
    shared: u32,
    /// Trees at a time, and blocks of each.
    together: u32,
    blocks: u32,
}

/// Words of 32 bits of a place of a sample, and of its lower side.
fn stride_of(rows: [usize; 2]) -> (usize, usize) {
    let [lower, upper] = rows.map(|rows| 2 * padded_words(rows));
    (lower + upper, lower)
}

/// A sketch as kernels have it.
fn packed_sketch(sketch: &Sketch) -> Result<[u64; SKETCH_WORDS]> {
    let mut words = [0; SKETCH_WORDS];
    if sketch.literals.len() > MOST_LITERALS {
        return Err(Error::too_large("a pattern of so many literals on a GPU"));
    }
    for (word, at) in words.iter_mut().zip(&sketch.literals) {
        let [plane, x, y] = [at.plane, at.x, at.y].map(u64::from);
        *word = plane << 33 | x << 17 | y << 1 | u64::from(at.value);
    }
    let pair = |low: usize, high: usize| low as u64 | (high as u64) << 32;
    words[MOST_LITERALS] = pair(sketch.literals.len(), sketch.radius.0);
    words[MOST_LITERALS + 1] = pair(sketch.radius.1, sketch.kind);
    words[MOST_LITERALS + 2] = NO_SCORE as u64;
    Ok(words)
}

/// What was found, if it is a pattern.
fn unpacked(words: &[u64]) -> Option<PatternFound> {
    let halves = |at: usize| [words[at] as u32, (words[at] >> 32) as u32];
    let [count, across] = halves(MOST_LITERALS);
    let [down, kind] = halves(MOST_LITERALS + 1);
    let [threshold, read] = halves(MOST_LITERALS + 3);
    let literal = |&word: &u64| Literal {
        plane: (word >> 33) as u16,
        x: (word >> 17) as u16,
        y: (word >> 1) as u16,
        value: word & 1 == 1,
    };
    let literals = words[..count as usize].iter().map(literal).collect();
    let sketch = Sketch { literals, radius: (across as usize, down as usize), kind: kind as usize };
    let is_pattern = words[MOST_LITERALS + 2] != NO_SCORE as u64;
    is_pattern.then_some(PatternFound { sketch, threshold, read: read as usize })
}

impl DevicePlanes for CudaPlanes {
    fn gather(&self, picks: &[[Vec<u32>; 2]]) -> Result<Handle> {
        let backend = &self.backend;
        let rows: Vec<[usize; 2]> = picks.iter().map(|picks| picks.each_ref().map(Vec::len)).collect();
        if rows.iter().any(|rows| rows[0] + rows[1] >= self.logs.len()) {
            return Err(Error::data("patterns are judged on more rows than was said"));
        }
        let all: Vec<u32> = picks.iter().flatten().flatten().copied().collect();
        let all = Buffer::of(backend, &all)?;
        // As many for all samples of a size, however the rows are split: memory that was used before is had at once.
        let words: usize = rows.iter().map(|rows| stride_of([rows[0] + rows[1], 1]).0).sum();
        let places: Buffer<u32> = Buffer::new(backend, 64 * self.width * words)?;
        let parts: Buffer<u32> = Buffer::new(backend, MOST_PARTED * words)?;
        let (mut trees, mut to_lay_out) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        let (mut first, mut word) = (0, 0);
        for rows in rows {
            let (stride, split) = stride_of(rows);
            let sample = Sample {
                rows,
                stride,
                split,
                places: places.address() + (4 * 64 * self.width * word) as u64,
                parts: parts.address() + (4 * MOST_PARTED * word) as u64,
                parted: 0,
            };
            to_lay_out.push((first, rows, sample.places));
            trees.push(sample);
            first += rows[0] + rows[1];
            word += stride;
        }
        self.lay_out(all.address(), &to_lay_out)?;
        Ok(Box::new(Samples { _places: places, trees, _parts: parts }))
    }

    fn climb(&self, samples: &mut Handle, trees: &[PatternClimb]) -> Result<Vec<Option<PatternFound>>> {
        let backend = &self.backend;
        let samples = samples.downcast_mut::<Samples>();
        let samples = samples.ok_or_else(|| Error::data("a device was handed what another device made"))?;
        let Some(first) = trees.first() else { return Ok(Vec::new()) };
        let of = |climb: &PatternClimb| samples.trees.get(climb.tree);
        let alike = |climb: &PatternClimb| {
            climb.drawn.len() == first.drawn.len() && climb.random.len() >= MOST_READ * self.trials
        };
        let fits = |climb: &PatternClimb| {
            of(climb).is_some_and(|sample| climb.is_last || sample.parted < MOST_PARTED)
        };
        if !trees.iter().all(|climb| alike(climb) && fits(climb)) {
            return Err(Error::data("patterns of trees that a device does not have"));
        }
        let stride = trees.iter().filter_map(of).map(|sample| sample.stride).max().unwrap_or(0);
        let way = self.way(stride, trees.len())?;
        // Descriptions, the sketches that are drawn, random numbers and some more that are not used, then what variations make.
        let random = (MOST_READ * (self.trials + 1)).div_ceil(2);
        let begin_drawn = TREE_WORDS * trees.len();
        let begin_random = begin_drawn + SKETCH_WORDS * first.drawn.len() * trees.len();
        let begin_made = begin_random + random * trees.len();
        let made = 2 * way.blocks as usize * SKETCH_WORDS;
        let there: Buffer<u64> = Buffer::new(backend, begin_made + made * trees.len())?;
        let mut here: Staging<u64> = Staging::new(backend, begin_made)?;
        let mut found: Staging<u64> = Staging::new(backend, SKETCH_WORDS * trees.len())?;
        let (at, to) = (|word: usize| there.address() + 8 * word as u64, found.list().as_ptr() as u64);
        let told = here.list();
        for (number, climb) in trees.iter().enumerate() {
            let sample = &samples.trees[climb.tree];
            let pair = |low: usize, high: usize| low as u64 | (high as u64) << 32;
            told[TREE_WORDS * number..][..TREE_WORDS].copy_from_slice(&[
                sample.places,
                pair(sample.stride, sample.split),
                pair(sample.rows[0], sample.rows[1]),
                sample.parts,
                pair(sample.parted, climb.is_last.into()),
                at(begin_drawn + SKETCH_WORDS * first.drawn.len() * number),
                at(begin_random + random * number),
                at(begin_made + made * number),
                to + (8 * SKETCH_WORDS * number) as u64,
                u64::from(u32::MAX) << 32,
                u64::MAX,
            ]);
            let drawn = &mut told[begin_drawn + SKETCH_WORDS * first.drawn.len() * number..];
            for (to, sketch) in drawn.chunks_exact_mut(SKETCH_WORDS).zip(&climb.drawn) {
                to.copy_from_slice(&packed_sketch(sketch)?);
            }
            let numbers = climb
                .random
                .chunks(2)
                .map(|both| u64::from(both[0]) | u64::from(both.get(1).copied().unwrap_or(0)) << 32);
            let to = &mut told[begin_random + random * number..][..random];
            to.iter_mut().zip(numbers.chain(std::iter::repeat(0))).for_each(|(to, both)| *to = both);
        }
        there.put(0, told)?;
        let begin = || -> Result<()> {
            for begun in (0..trees.len()).step_by(way.together as usize) {
                let parameters = parameters(&[
                    at(TREE_WORDS * begun),
                    self.size.0 as u64,
                    self.size.1 as u64,
                    self.planes[0] as u64,
                    self.planes[1] as u64,
                    self.areas.address(),
                    self.apart.address(),
                    self.counts.into(),
                    self.logs.address(),
                    first.drawn.len() as u64,
                    self.trials as u64,
                    way.quads as u64,
                ]);
                let grid = [way.blocks, way.together.min((trees.len() - begun) as u32)];
                backend.launch_together("climb_patterns", grid, way.threads, way.shared, parameters)?;
            }
            Ok(())
        };
        let begun = begin();
        // Nothing is given back that is still read.
        backend.wait().and(begun)?;
        let all: Vec<_> = found.list().chunks_exact(SKETCH_WORDS).map(unpacked).collect();
        for (climb, found) in trees.iter().zip(&all) {
            samples.trees[climb.tree].parted += usize::from(found.is_some() && !climb.is_last);
        }
        Ok(all)
    }

    fn addresses(&self, trees: &[Vec<&Pattern>]) -> Result<Vec<Handle>> {
        let backend = &self.backend;
        if trees.iter().any(|tree| tree.len() > ARITY) {
            return Err(Error::data(format!("trees of patterns have at most {ARITY}")));
        }
        let patterns: Vec<&Pattern> = trees.iter().flatten().copied().collect();
        if patterns.is_empty() {
            return Ok(Vec::new());
        }
        let mut looked = self.looked(&patterns)?;
        let stride = stride_of([self.rows, 0]).0;
        let columns: Buffer<u32> = Buffer::new(backend, patterns.len() * stride)?;
        let addresses = trees.iter().map(|_| Buffer::new(backend, 32 * stride));
        let addresses: Vec<Buffer<u16>> = addresses.collect::<Result<_>>()?;
        let mut first = 0;
        let described = trees.iter().flat_map(|tree| {
            first += tree.len() as u32;
            [first - tree.len() as u32, tree.len() as u32]
        });
        let described = Buffer::of(backend, &described.collect::<Vec<u32>>())?;
        let to = Buffer::of(backend, &addresses.iter().map(Buffer::address).collect::<Vec<u64>>())?;
        let at = [columns.address(), stride as u64, described.address(), to.address()];
        let threads = backend.threads()[0];
        let grid = [stride.div_ceil(threads as usize).max(1) as u32, trees.len() as u32];
        let found = self.find(&mut looked, patterns.len(), columns.address());
        let begun = found.and_then(|()| backend.launch("pack_addresses", grid, threads, 0, parameters(&at)));
        // Nothing is given back that is still read.
        backend.wait().and(begun)?;
        Ok(addresses.into_iter().map(|addresses| Box::new(addresses) as Handle).collect())
    }
}
