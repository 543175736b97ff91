//! Patterns as columns beside the encoder's bits, while a grove is learned.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use crate::platform::parallel::*;

use super::climb::{Climb, Lesson};
use super::draw::Draw;
use super::judge::PlanesHere;
use super::judge_device::PlanesThere;
use super::mirrored::{renumbered, with_mirrored};
use super::packed::{BLOCK_ROWS, PackedPlanes};
use super::planes::{PlaneEncoder, PlaneSettings};
use super::settings::PatternPlan;
use super::sketch::Limits;
use crate::bits::kernels::{Kernels, Line};
use crate::bits::{BLOCK_WORDS, BitMatrix, BitView, WORD_BITS};
use crate::circuit::{Grove, Literal, Pattern, PatternLayer, PatternRun, Planes, VoteTree, Wide};
use crate::encode::{Encoder, ImageShape, Table, TableView, Test};
use crate::learn::device::{Device, DevicePatterns};
use crate::learn::engine::{CpuEngine, DeviceEngine, MADE_LINES, MADE_ROWS, MakeColumns};
use crate::learn::gate::LogTable;
use crate::pool::in_pool;
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

/// Images that patterns are drawn from and tried on.
const SAMPLE_ROWS: usize = 2048;

/// Bytes of planes of all rows that patterns are learned from at the most. As many again are taken, where they are
/// available, to lay them out once and not in every round.
const MOST_PACKED: usize = 1 << 28;

/// Columns of patterns below which trees read pixels, too.
const FEWEST_COLUMNS: usize = 256;

/// Images that are made when they are asked for: some, and copies of them.
pub(crate) trait MakeImages: std::fmt::Debug + Sync {
    /// Number of images.
    fn rows(&self) -> usize;

    /// Those that the others are made of.
    fn originals(&self) -> TableView<'_>;

    /// Some of the images.
    ///
    /// # Errors
    /// When memory runs out.
    fn select(&self, rows: &[usize]) -> Result<Table>;
}

/// Rows of images.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ImageRows<'a> {
    Raw(TableView<'a>),
    Bits(BitView<'a>),
    Made(&'a dyn MakeImages),
}

impl ImageRows<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Raw(table) => table.rows(),
            Self::Bits(bits) => bits.rows(),
            Self::Made(images) => images.rows(),
        }
    }

    /// The bits of some rows.
    pub(super) fn encode(&self, encoder: &Encoder, rows: &[usize]) -> Result<BitMatrix> {
        match self {
            Self::Raw(table) => encoder.transform_on(&table.select_rows(rows)?, 1),
            Self::Made(images) => encoder.transform_on(&images.select(rows)?, 1),
            Self::Bits(bits) => {
                let mut some = BitMatrix::zeros(rows.len(), encoder.bits())?;
                for (column, meaning) in encoder.meanings().iter().enumerate() {
                    let from = encoder.inputs()[meaning.column as usize].position;
                    for (to, &row) in rows.iter().enumerate().filter(|&(_, &row)| bits.get(row, from)) {
                        debug_assert!(row < bits.rows());
                        some.set(to, column, true);
                    }
                }
                Ok(some)
            }
        }
    }
}

/// Patterns that trees may read: new ones, and those of a grove that is continued.
#[derive(Debug)]
pub(crate) struct PatternColumns {
    planes: PlaneEncoder,
    patterns: PatternLayer,
    /// Those of the grove that are not among the new ones, over the bits of the encoder; their columns come last.
    old: PatternLayer,
    /// Where each column of the grove's patterns is among all columns of patterns.
    places: Vec<u32>,
    /// Whether trees read the encoder's bits, too.
    pixels: bool,
    /// Whether a grove looks at the mirrored image, too.
    mirrored: bool,
}

/// Patterns made ready to be looked for, by this process or by a device.
enum Matcher {
    Here(PatternRun),
    There(Box<dyn DevicePatterns>),
}

impl Matcher {
    fn new(layer: &PatternLayer, device: Option<&dyn Device>) -> Result<Self> {
        match device.filter(|_| !layer.is_empty()) {
            Some(device) => device.patterns(layer).map(Self::There),
            None => Ok(Self::Here(PatternRun::new(layer))),
        }
    }

    /// Writes what the columns say of a chunk of rows: blocks of a column side by side.
    fn run(&self, bits: BitView<'_>, rows: Range<usize>, lines: &mut [Line]) -> Result<()> {
        let first = rows.start / WORD_BITS;
        match self {
            Self::Here(run) => {
                let mut made = vec![Line::default(); lines.len() / MADE_LINES];
                for block in 0..rows.len().div_ceil(BLOCK_WORDS * WORD_BITS) {
                    let at = first + block * BLOCK_WORDS;
                    run.run_columns(|input| &bits.column(input as usize)[at..], Kernels::best(), &mut made);
                    for (lines, made) in lines.chunks_exact_mut(MADE_LINES).zip(&made) {
                        lines[block] = *made;
                    }
                }
            }
            Self::There(device) => {
                let made = device.run(bits, rows)?;
                for (column, lines) in lines.chunks_exact_mut(MADE_LINES).enumerate() {
                    let words = made.column(column).chunks(BLOCK_WORDS);
                    lines
                        .iter_mut()
                        .zip(words)
                        .for_each(|(line, words)| line[..words.len()].copy_from_slice(words));
                }
            }
        }
        Ok(())
    }
}

/// What a pattern looks for, whatever planes it is over: the columns and tests of its literals before it is moved, and how
/// far it is.
type Look = (Vec<(Vec<usize>, String, bool)>, (usize, usize));

fn look(encoder: &Encoder, layer: &PatternLayer, pattern: &Pattern) -> Look {
    let literal = |literal: &Literal| {
        let input = layer.planes().input(literal.plane.into(), literal.x.into(), literal.y.into());
        let meaning = &encoder.meanings()[input.unwrap_or(0) as usize];
        let positions = meaning.columns().map(|column| encoder.inputs()[column as usize].position);
        let test = match &meaning.test {
            Test::Exceeds { margin, .. } => format!("{margin:?}"),
            test => format!("{test:?}"),
        };
        (positions.collect(), test, literal.value)
    };
    let mut literals: Vec<_> = pattern.literals().iter().map(literal).collect();
    literals.sort();
    (literals, pattern.shifts())
}

impl PatternColumns {
    /// Draws patterns from training images, for trees over the bits of an encoder.
    ///
    /// # Errors
    /// When the rows are no such images, or memory runs out.
    pub(crate) fn draw(
        encoder: &Encoder,
        rows: ImageRows<'_>,
        image: ImageShape,
        plan: &PatternPlan,
        start: Option<&Grove>,
        lesson: &Lesson<'_>,
        threads: usize,
    ) -> Result<Self> {
        let settings = PlaneSettings {
            levels: plan.levels,
            comparisons: plan.offsets,
            reach: plan.reach,
            margin: plan.margin,
            seed: plan.seed,
        };
        let planes = match rows {
            ImageRows::Raw(table) => PlaneEncoder::new(encoder, table, image, &settings)?,
            ImageRows::Bits(bits) => PlaneEncoder::of_bits(bits.columns(), image, &settings)?,
            ImageRows::Made(images) => PlaneEncoder::new(encoder, images.originals(), image, &settings)?,
        };
        let mut sample: Vec<usize> = (0..rows.len()).collect();
        if sample.len() > SAMPLE_ROWS {
            Stream::new(plan.seed, Purpose::Patterns, u64::from(u32::MAX)).shuffle(&mut sample);
            sample.truncate(SAMPLE_ROWS);
            sample.sort_unstable();
        }
        let bits = rows.encode(&planes.encoder, &sample)?;
        let kernels = Kernels::best();
        let patterns = in_pool(threads, || {
            let draw = Draw::new(plan, &planes, &bits, kernels);
            let wanted = (plan.count as f64 * plan.learned) as usize;
            let (mut patterns, weights) = match wanted {
                0 => (Vec::new(), vec![1; plan.kinds.len()]),
                _ => learn_patterns(&draw, plan, &planes, rows, lesson, wanted)?,
            };
            patterns.extend(draw.patterns(plan.count - wanted, &weights));
            Ok(patterns)
        })?;
        let patterns = PatternLayer::new(planes.planes.clone(), patterns)?;
        let pixels = plan.pixels || start.is_some() || patterns.columns() < FEWEST_COLUMNS;
        let (old, places, mirrored) = (PatternLayer::default(), Vec::new(), plan.mirrored);
        let mut all = Self { planes, patterns, old, places, pixels, mirrored };
        if let Some(start) = start.filter(|start| !start.patterns().is_empty()) {
            all.keep(encoder, start.patterns())?;
        }
        Ok(all)
    }

    /// Keeps the patterns of a grove that is continued: where they are drawn again, they are where they were when it was
    /// learned.
    fn keep(&mut self, encoder: &Encoder, layer: &PatternLayer) -> Result<()> {
        let (image, other) = (&self.planes.planes, layer.planes());
        if (other.width(), other.height()) != (image.width(), image.height()) {
            return Err(Error::data("the grove to go on from has patterns of images of another size"));
        }
        // The first column of each pattern.
        let firsts = self.patterns.patterns().iter().scan(0, |next, pattern| {
            Some(std::mem::replace(next, *next + pattern.thresholds().len() as u32))
        });
        let new: HashMap<Look, (u32, &Pattern)> = firsts
            .zip(self.patterns.patterns())
            .map(|(first, pattern)| (look(&self.planes.encoder, &self.patterns, pattern), (first, pattern)))
            .collect();
        let (mut left, mut places) = (Vec::new(), Vec::new());
        let mut next = self.patterns.columns() as u32;
        for pattern in layer.patterns() {
            let found = new.get(&look(encoder, layer, pattern));
            let mut missing = Vec::new();
            for &threshold in pattern.thresholds() {
                let place = found.and_then(|(first, pattern)| {
                    let place = pattern.thresholds().iter().position(|&other| other == threshold)?;
                    Some(first + place as u32)
                });
                places.push(place.unwrap_or_else(|| {
                    missing.push(threshold);
                    next += 1;
                    next - 1
                }));
            }
            if !missing.is_empty() {
                left.push(pattern.with_thresholds(missing)?);
            }
        }
        self.old = PatternLayer::new(layer.planes().clone(), left)?;
        self.places = places;
        Ok(())
    }

    /// Whether trees read the encoder's bits, too.
    pub(crate) fn has_pixels(&self) -> bool {
        self.pixels
    }

    /// Columns of all patterns.
    pub(crate) fn columns(&self) -> usize {
        self.old.columns() + self.patterns.columns()
    }

    /// Bytes that the columns of all patterns take for so many rows.
    pub(crate) fn bytes(&self, rows: usize) -> usize {
        self.columns().saturating_mul(rows.div_ceil(8))
    }

    /// The columns of all patterns, to be made for any rows, which a device looks for where there is one.
    ///
    /// # Errors
    /// When the device fails.
    pub(crate) fn maker<'a>(
        &'a self,
        bits: BitView<'a>,
        rows: ImageRows<'a>,
        device: Option<&dyn Device>,
    ) -> Result<Maker<'a>> {
        let (old, new) = (Matcher::new(&self.old, device)?, Matcher::new(&self.patterns, device)?);
        Ok(Maker { columns: self, old, new, bits, rows })
    }

    /// The bits of rows, where trees read them, and the columns of all patterns after them, which a device looks for where
    /// there is one.
    ///
    /// # Errors
    /// When memory runs out, or the device fails.
    pub(crate) fn beside(
        &self,
        bits: BitView<'_>,
        rows: ImageRows<'_>,
        device: Option<&dyn Device>,
        threads: usize,
    ) -> Result<BitMatrix> {
        let inputs = if self.pixels { bits.columns() } else { 0 };
        let mut all = BitMatrix::zeros(rows.len(), inputs + self.columns())?;
        let words = rows.len().div_ceil(WORD_BITS);
        for column in 0..inputs {
            all.column_mut(column)[..words].copy_from_slice(&bits.column(column)[..words]);
        }
        let maker = self.maker(bits, rows, device)?;
        let starts: Vec<usize> = (0..rows.len()).step_by(MADE_ROWS).collect();
        in_pool(threads, || {
            // As many pieces at a time as there are threads, so that few are in memory.
            for starts in starts.chunks(current_num_threads().max(1)) {
                let make = |&start: &usize| -> Result<(usize, Vec<Line>)> {
                    Ok((start, maker.make(start..rows.len().min(start + MADE_ROWS))?))
                };
                let made = starts.par_iter().map(make).collect::<Result<Vec<_>>>()?;
                let mut columns: Vec<&mut [u64]> = all.columns_mut().skip(inputs).collect();
                columns.par_iter_mut().enumerate().for_each(|(column, to)| {
                    for (start, lines) in &made {
                        let lines = &lines[column * MADE_LINES..][..MADE_LINES];
                        to[start / WORD_BITS..]
                            .chunks_mut(BLOCK_WORDS)
                            .zip(lines)
                            .for_each(|(to, line)| to.copy_from_slice(&line[..to.len()]));
                    }
                });
            }
            Ok(())
        })?;
        all.clear_tail();
        Ok(all)
    }

    /// The grove to go on from as trees over the bits and the columns of all patterns.
    ///
    /// # Errors
    /// When the grove is of other inputs.
    pub(crate) fn flattened(&self, start: &Grove) -> Result<Grove> {
        let (inputs, spans) = (start.inputs(), start.spans().len());
        let place = |leaf: u32| match leaf as usize {
            leaf if leaf < inputs => leaf,
            leaf if leaf < inputs + spans => leaf + self.columns(),
            leaf => inputs + self.places[leaf - inputs - spans] as usize,
        };
        let trees = renumbered(start.trees(), |leaf| place(leaf) as u32)?;
        let spans = (start.spans().to_vec(), PatternLayer::default());
        let (output, bias) = (start.output(), start.bias().to_vec());
        Grove::with_output(inputs + self.columns(), spans, output, bias, start.unit(), trees)
    }

    /// The encoder and the grove of trees that were learned over the bits and the columns of all patterns: with those
    /// patterns that trees read, and the bits that these need; and with a mirrored twin of each tree, where that is wanted.
    ///
    /// # Errors
    /// When the grove is of other columns.
    pub(crate) fn finish(&self, encoder: &Encoder, flat: &Grove) -> Result<(Encoder, Grove)> {
        let inputs = if self.pixels { encoder.bits() } else { 0 };
        let (news, all) = (self.patterns.columns(), self.columns());
        // For each pattern that is read, its columns by threshold.
        let mut read: BTreeMap<(bool, u32), BTreeMap<u32, u32>> = BTreeMap::new();
        for &leaf in flat.trees().iter().flat_map(VoteTree::leaves) {
            let Some(column) = (leaf as usize).checked_sub(inputs).filter(|&column| column < all) else {
                continue;
            };
            let (is_new, (pattern, threshold)) = match column.checked_sub(news) {
                Some(column) => (false, self.old.column_of(column)),
                None => (true, self.patterns.column_of(column)),
            };
            read.entry((is_new, pattern)).or_default().insert(threshold, leaf);
        }
        let mut patterns = Vec::new();
        let mut columns: BTreeMap<u32, u32> = BTreeMap::new();
        for (&(is_new, pattern), thresholds) in &read {
            let layer = if is_new { &self.patterns } else { &self.old };
            let pattern =
                layer.patterns()[pattern as usize].with_thresholds(thresholds.keys().copied().collect())?;
            thresholds.values().for_each(|&leaf| {
                columns.insert(leaf, columns.len() as u32);
            });
            patterns.push((is_new, pattern));
        }
        let (encoder, layer) = self.layer(encoder, patterns)?;
        let (whole, spans) = (encoder.bits() as u32, flat.spans().len() as u32);
        let place = |leaf: u32| match leaf as usize {
            column if column < inputs => leaf,
            column if column < inputs + all => whole + spans + columns[&leaf],
            column => whole + (column - inputs - all) as u32,
        };
        let trees = renumbered(flat.trees(), place)?;
        let (features, bias) = ((flat.spans().to_vec(), layer), flat.bias().to_vec());
        let grove = Grove::with_output(encoder.bits(), features, flat.output(), bias, flat.unit(), trees)?;
        if !self.mirrored {
            return Ok((encoder, grove));
        }
        with_mirrored(&encoder, &grove, self.planes.encoder.inputs(), self.planes.planes.width())
    }

    /// A layer of patterns, old and new, over the bits of an encoder that has those they need.
    fn layer(&self, encoder: &Encoder, patterns: Vec<(bool, Pattern)>) -> Result<(Encoder, PatternLayer)> {
        if patterns.is_empty() {
            return Ok((encoder.clone(), PatternLayer::default()));
        }
        let image = &self.planes.planes;
        let places = image.width() * image.height();
        // The planes that are read, and where in them.
        let mut planes: BTreeMap<(bool, u16), Vec<bool>> = BTreeMap::new();
        for (is_new, pattern) in &patterns {
            let (across, down) = pattern.shifts();
            for literal in pattern.literals() {
                let plane = planes.entry((*is_new, literal.plane)).or_insert_with(|| vec![false; places]);
                for y in 0..down {
                    let first = (usize::from(literal.y) + y) * image.width() + usize::from(literal.x);
                    plane[first..first + across].fill(true);
                }
            }
        }
        let mut needed: Vec<u32> = Vec::new();
        let mut inputs: Vec<Option<(bool, u32)>> = Vec::with_capacity(planes.len() * places);
        for (&(is_new, plane), is_read) in &planes {
            let from = if is_new { image } else { self.old.planes() };
            for (place, &is_read) in is_read.iter().enumerate() {
                let input = from.input(plane.into(), place % image.width(), place / image.width());
                let input = input.filter(|_| is_read).map(|input| (is_new, input));
                inputs.push(input);
                needed.extend(input.filter(|_| is_new).map(|(_, input)| input));
            }
        }
        needed.sort_unstable();
        needed.dedup();
        let (encoder, found) = encoder.extended(&self.planes.encoder, &needed)?;
        let place = |(is_new, input): (bool, u32)| match is_new {
            true => found[needed.partition_point(|&other| other < input)],
            false => input,
        };
        let inputs = inputs.into_iter().map(|input| input.map(place));
        let made = Planes::new(image.width(), image.height(), inputs)?;
        let numbers: BTreeMap<(bool, u16), u16> = planes.keys().copied().zip(0..).collect();
        let renumber = |(is_new, pattern): (bool, Pattern)| {
            let mut literals = pattern.literals().to_vec();
            literals.iter_mut().for_each(|literal| literal.plane = numbers[&(is_new, literal.plane)]);
            literals.sort_unstable();
            let (across, down) = pattern.shifts();
            Pattern::new(literals, (across as u16, down as u16), pattern.thresholds().to_vec())
        };
        let patterns = patterns.into_iter().map(renumber).collect::<Result<_>>()?;
        Ok((encoder, PatternLayer::new(made, patterns)?))
    }
}

/// One who makes the columns of all patterns.
pub(crate) struct Maker<'a> {
    columns: &'a PatternColumns,
    old: Matcher,
    new: Matcher,
    bits: BitView<'a>,
    rows: ImageRows<'a>,
}

impl std::fmt::Debug for Maker<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Maker").field("columns", &self.columns.columns()).finish_non_exhaustive()
    }
}

impl MakeColumns for Maker<'_> {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn columns(&self) -> usize {
        self.columns.columns()
    }

    fn make(&self, chunk: Range<usize>) -> Result<Vec<Line>> {
        let mut lines = vec![Line::default(); self.columns.columns() * MADE_LINES];
        let chosen: Vec<usize> = chunk.clone().collect();
        let plane_bits = self.rows.encode(&self.columns.planes.encoder, &chosen)?;
        let (of_new, of_old) = lines.split_at_mut(self.columns.patterns.columns() * MADE_LINES);
        self.new.run(plane_bits.view(), 0..chunk.len(), of_new)?;
        if !of_old.is_empty() {
            self.old.run(self.bits, chunk, of_old)?;
        }
        Ok(lines)
    }
}

/// Learns patterns from the rows, or some of them where they are many; and says how many of each kind they are.
fn learn_patterns(
    draw: &Draw<'_>,
    plan: &PatternPlan,
    planes: &PlaneEncoder,
    rows: ImageRows<'_>,
    lesson: &Lesson<'_>,
    wanted: usize,
) -> Result<(Vec<Pattern>, Vec<u32>)> {
    let kernels = Kernels::best();
    let mut some: Vec<usize> = (0..rows.len()).collect();
    let most = (MOST_PACKED / PackedPlanes::bytes(planes, 1).max(1) * BLOCK_ROWS).max(BLOCK_ROWS);
    if some.len() > most {
        Stream::new(plan.seed, Purpose::Patterns, u64::from(u32::MAX) + 1).shuffle(&mut some);
        some.truncate(most);
        some.sort_unstable();
    }
    let targets: Vec<u32> = some.iter().map(|&row| lesson.targets[row]).collect();
    let held_out: Option<Vec<bool>> =
        lesson.held_out.map(|held_out| some.iter().map(|&row| held_out[row]).collect());
    let lesson = Lesson { targets: &targets, held_out: held_out.as_deref(), ..*lesson };
    let packed = PackedPlanes::new(planes, rows, &some, kernels)?;
    let limits = Limits {
        size: (planes.planes.width(), planes.planes.height()),
        slack: 2,
        levels: planes.levels,
        planes: planes.planes.count(),
    };
    let logs = LogTable::new(plan.sample_rows);
    let climb = Climb { draw, plan, limits };
    // What rows say is asked of the planes, not of columns.
    let none = Wide::new(BitView::of_no_columns(targets.len()), &[]);
    let (mut patterns, weights) = match lesson.device {
        Some(device) => {
            let margins = (lesson.make)(1.0).margins();
            let engine = DeviceEngine::new(device, none, &targets, Vec::new(), margins, kernels)?;
            let judge = PlanesThere::load(device, &planes.planes, &packed, &logs, &climb)?;
            climb.patterns(&judge, &engine, &lesson, wanted)?
        }
        None => {
            let engine = CpuEngine::new(none, &targets, Vec::new(), kernels);
            let judge = PlanesHere::new(&planes.planes, &packed, &logs, MOST_PACKED);
            climb.patterns(&judge, &engine, &lesson, wanted)?
        }
    };
    let mut seen = HashSet::new();
    patterns.retain(|pattern| seen.insert(pattern.clone()));
    Ok((patterns, weights))
}
