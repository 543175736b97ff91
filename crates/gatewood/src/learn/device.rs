//! The seam for accelerators: what another crate does on a device with memory of its own.
//!
//! - [`Device`]: a place that rows can be loaded to. [`DeviceRows`]: rows there, and the phases of a round on them.
//! - [`DeviceObjective`]: what a device needs to know of an objective.
//! - [`DeviceGrove`]: a grove made ready to run there; [`DevicePatterns`]: patterns made ready to be looked for.
//! - [`DevicePlanes`]: planes of images there, for patterns to be learned from.
//! - [`DeviceSheet`]: columns there, for the gates of the paper's tree.
//!
//! Everything that crosses is integers, or tables that the library made, so a device that follows the definitions learns
//! the grove of this process bit for bit. What a device holds is behind a [`Handle`], which only the device reads. All
//! methods may be called from several threads at once, and return when their work is done.

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;

use super::gate::LogTable;
use super::objective::Hessian;
pub use super::patterns::Sketch;
use super::tree::{Criterion, TreeSettings};
use crate::Result;
use crate::bits::{BitMatrix, BitView};
use crate::circuit::{Grove, Pattern, PatternLayer, Span, VoteTree};

/// What a device keeps: margins, addresses, a sample.
pub type Handle = Box<dyn Any + Send + Sync>;

/// A place that rows can be loaded to, with the means to learn from them.
pub trait Device: Debug + Send + Sync {
    /// What people call it.
    fn name(&self) -> &str;

    /// Loads rows. Columns may stay where they are, and be read from there again and again.
    ///
    /// # Errors
    /// When the memory of the device does not hold them, or the device fails.
    fn load<'a>(&self, columns: ColumnsToLoad<'a>, rows: &RowsToLoad<'_>)
    -> Result<Box<dyn DeviceRows + 'a>>;

    /// Makes a grove ready to run.
    ///
    /// # Errors
    /// As [`Device::load`].
    fn grove(&self, grove: &Grove) -> Result<Box<dyn DeviceGrove>>;

    /// Makes patterns ready to be looked for.
    ///
    /// # Errors
    /// As [`Device::load`].
    fn patterns(&self, patterns: &PatternLayer) -> Result<Box<dyn DevicePatterns>>;

    /// Loads planes of images, for patterns to be learned from.
    ///
    /// # Errors
    /// As [`Device::load`].
    fn planes(&self, planes: &PlanesToLoad<'_>) -> Result<Box<dyn DevicePlanes>>;

    /// Loads the columns of rows and puts these in the order of their class, with room for so many columns more or for as many as
    /// fit.
    ///
    /// # Errors
    /// As [`Device::load`].
    fn sheet(&self, rows: &SheetToLoad<'_>, room: usize) -> Result<Box<dyn DeviceSheet>>;
}

/// Rows to be loaded in the order of their class.
#[derive(Debug, Clone, Copy)]
pub struct SheetToLoad<'a> {
    /// The bits of each row, in any order.
    pub bits: BitView<'a>,
    /// The rows of each class; both lists ascend.
    pub rows: &'a [Vec<u32>; 2],
}

/// Columns on a device: those of the training rows, and after them room for the outputs of gates.
pub trait DeviceSheet: Send + Sync {
    /// How many outputs there is room for.
    fn room(&self) -> usize;

    /// Counts the rows of each class at each address of gates of one arity, given the columns that each reads: for a gate all
    /// addresses of class 0, then those of class 1.
    ///
    /// # Errors
    /// When memory runs out or the device fails.
    fn count(&self, arity: usize, inputs: &[u32]) -> Result<Vec<u32>>;

    /// Writes the outputs of gates of one arity, given the columns that each reads and their tables, to columns one after
    /// the other. The gates read none of these.
    ///
    /// # Errors
    /// When memory runs out or the device fails.
    fn evaluate(&self, arity: usize, inputs: &[u32], tables: &[u64], first: u32) -> Result<()>;

    /// Fits subtrees side by side, and climbs those that have trials: the leaves of each, and the tables of its gates, level by level.
    ///
    /// # Errors
    /// When memory runs out or the device fails, or as [`DeviceTreeClimb::done`] says.
    fn climb(&self, climb: &DeviceTreeClimb<'_>) -> Result<(Vec<u32>, Vec<u64>)>;
}

/// Subtrees of the paper's tree to be fitted and climbed, each by itself and as [`fit_tree`](crate::learn::fit_tree) does.
pub struct DeviceTreeClimb<'a> {
    /// How gates are fitted and trials are judged.
    pub settings: &'a TreeSettings,
    /// Levels of a subtree.
    pub height: usize,
    /// The criterion of the gates at the top of subtrees.
    pub judged_by: Criterion,
    /// The column that each leaf reads at first, subtree by subtree.
    pub leaves: &'a [u32],
    /// The trials of each subtree: a leaf, and a column among all but the one that the leaf has by then.
    pub trials: &'a [Vec<[u32; 2]>],
    /// Columns that gates may write to, [`DeviceTreeClimb::outputs`] for each subtree.
    pub first: u32,
    /// Where the outputs of subtrees are written, one after the other; none where nobody reads them.
    pub output: Option<u32>,
    /// Of every number up to that of the rows what [`LogTable::at`] says.
    pub logs: &'a [i64],
    /// Told of trials that were made, now and then; an error ends the climb.
    pub done: &'a (dyn Fn(u64) -> Result<()> + Sync),
}

impl DeviceTreeClimb<'_> {
    /// Gates of a subtree.
    pub fn gates(arity: usize, height: usize) -> usize {
        (0..height as u32).fold(0, |gates: usize, level| gates.saturating_add(arity.saturating_pow(level)))
    }

    /// Columns that are written while a subtree is climbed: the outputs of its gates but the last, and those of the gates that
    /// a trial makes.
    pub fn outputs(arity: usize, height: usize) -> usize {
        Self::gates(arity, height).saturating_add(height) - 2
    }
}

/// A grove on a device.
pub trait DeviceGrove: Debug + Send + Sync {
    /// What [`Grove::run`] gives: the margins of all rows, a list for each. The rows have the grove's inputs.
    ///
    /// # Errors
    /// When memory runs out or the device fails.
    fn run(&self, bits: BitView<'_>) -> Result<Vec<Vec<i32>>>;

    /// Copies what the grove reads of rows to the device, to be run there again and again.
    ///
    /// # Errors
    /// When the memory of the device does not hold them, or the device fails.
    fn hold(&self, bits: BitView<'_>) -> Result<Handle>;

    /// Writes the class of each of the rows that [`DeviceGrove::hold`] copied.
    ///
    /// # Errors
    /// When there is not room for the class of every row, memory runs out or the device fails.
    fn classes(&self, rows: &Handle, to: &mut [u16]) -> Result<()>;
}

/// Patterns on a device.
pub trait DevicePatterns: Debug + Send + Sync {
    /// What [`PatternLayer::holds`] gives for each of some rows, a column for each threshold. The first of these rows is a
    /// multiple of the word, and rows have all inputs that patterns read.
    ///
    /// # Errors
    /// When memory runs out or the device fails.
    fn run(&self, bits: BitView<'_>, rows: Range<usize>) -> Result<BitMatrix>;
}

/// Planes of images to be loaded.
#[derive(Debug, Clone, Copy)]
pub struct PlanesToLoad<'a> {
    /// Places of a line, and lines.
    pub size: (usize, usize),
    /// The bits of all places of a row, plane by plane and line by line, in so many words; row by row.
    pub words: &'a [u64],
    /// Words of a row.
    pub width: usize,
    /// Number of rows.
    pub rows: usize,
    /// The places of each plane that have an answer, if any have: the first and the last of a line, the first and the last line.
    pub areas: &'a [Option<[u16; 4]>],
    /// Planes that ask for levels, the first ones; the others compare.
    pub levels: usize,
    /// For each kind of patterns the places across and down that its literals must be within.
    pub apart: &'a [u32],
    /// Whether patterns are judged by how often they match, not only by whether they do.
    pub counts: bool,
    /// Variations that are tried of a pattern.
    pub trials: usize,
    /// Logarithms.
    pub logs: &'a LogTable,
    /// Rows that patterns are judged on, about.
    pub sample_rows: usize,
}

/// Planes of images on a device, and the patterns that are climbed there.
pub trait DevicePlanes: Send + Sync {
    /// Samples, one for each tree: the planes of picked rows, of the lower and of the upper side.
    ///
    /// # Errors
    /// When memory runs out or the device fails; so do all others.
    fn gather(&self, picks: &[[Vec<u32>; 2]]) -> Result<Handle>;

    /// Climbs the next pattern of each of some trees on its sample, as the processor does: the best of the drawn sketches is
    /// varied. The pattern that is found parts every cell of the sample in two, if it is not the last; before the first, all rows
    /// are one cell. None where no sketch is a pattern.
    ///
    /// # Errors
    /// As [`DevicePlanes::gather`].
    fn climb(&self, samples: &mut Handle, trees: &[PatternClimb]) -> Result<Vec<Option<PatternFound>>>;

    /// The addresses of all rows in each tree, as [`DeviceRows`] take them: bit `i` is the first threshold of the pattern `i` of
    /// the four that a tree has at the most.
    ///
    /// # Errors
    /// As [`DevicePlanes::gather`].
    fn addresses(&self, trees: &[Vec<&Pattern>]) -> Result<Vec<Handle>>;
}

/// A pattern to be climbed.
#[derive(Debug)]
pub struct PatternClimb {
    /// Which of the samples it is climbed on.
    pub tree: usize,
    /// Sketches of which the best is varied.
    pub drawn: Vec<Sketch>,
    /// The random numbers that variations read, one after the other.
    pub random: Vec<u32>,
    /// Whether it is the last of its tree.
    pub is_last: bool,
}

/// A pattern that was climbed.
#[derive(Debug)]
pub struct PatternFound {
    /// The pattern before it is moved.
    pub sketch: Sketch,
    /// How many shifts must match.
    pub threshold: u32,
    /// How many random numbers were read.
    pub read: usize,
}

/// Columns to be loaded.
#[derive(Debug, Clone, Copy)]
pub struct ColumnsToLoad<'a> {
    /// The bits of each row.
    pub bits: BitView<'a>,
    /// What is made of them: the first is the column after the last of the bits.
    pub spans: &'a [Span],
}

/// What is known of rows to be loaded besides their columns.
#[derive(Debug, Clone, Copy)]
pub struct RowsToLoad<'a> {
    /// The target of each row.
    pub targets: &'a [u32],
    /// What each row counts for, in units of 2^-8; empty for one each.
    pub weights: &'a [u32],
    /// How many margins of each row will be kept side by side, those of all folds together.
    pub margins: usize,
}

/// Rows on a device.
pub trait DeviceRows: Send + Sync {
    /// Margins and gradients before the first tree.
    ///
    /// # Errors
    /// When memory runs out or the device fails; so do all others.
    fn begin(&self, start: &DeviceStart<'_>) -> Result<Handle>;

    /// Weighs all rows and draws some, for each of some draws: those whose gradient is zero or less, and those above. Both lists
    /// ascend.
    ///
    /// # Errors
    /// As [`DeviceRows::begin`].
    fn draw(&self, state: &Handle, draws: &[DeviceDraw<'_>]) -> Result<Vec<[Vec<u32>; 2]>>;

    /// A sample: the bits of picked rows, of some columns.
    ///
    /// # Errors
    /// As [`DeviceRows::begin`].
    fn gather(&self, picks: &[Vec<u32>; 2], columns: &[u32]) -> Result<Handle>;

    /// A sample for each of some draws, of the columns of its list, with its rows of either side; none where all rows are of one.
    ///
    /// # Errors
    /// As [`DeviceRows::begin`].
    fn samples(
        &self,
        state: &Handle,
        draws: &[DeviceDraw<'_>],
        columns: &[Vec<u32>],
    ) -> Result<Vec<Option<DeviceSample>>>;

    /// The words of a sample, column by column. The rows of each side begin at a multiple of eight words, and are
    /// filled up with zeros to such a multiple.
    ///
    /// # Errors
    /// As [`DeviceRows::begin`].
    fn sample_words(&self, sample: &Handle, words: &mut [u64]) -> Result<()>;

    /// Whether it climbs trees of such arities, with so many candidates a trial; else the processor does.
    fn climbs(&self, arities: &[usize], candidates: u32) -> bool {
        let _ = (arities, candidates);
        false
    }

    /// Climbs trees side by side: the leaves of each, as places among the columns of its sample, and its tables.
    ///
    /// # Errors
    /// As [`DeviceRows::begin`].
    fn climb(&self, climbs: &[DeviceClimb<'_>], logs: &LogTable) -> Result<Vec<(Vec<u32>, Vec<u64>)>>;

    /// The root address of every row, in each of some trees of one shape.
    ///
    /// # Errors
    /// As [`DeviceRows::begin`].
    fn address(&self, trees: &[&VoteTree]) -> Result<Vec<Handle>>;

    /// Gradient and hessian of one margin, summed over the rows of each root address, for each of some trees.
    ///
    /// # Errors
    /// As [`DeviceRows::begin`].
    fn sum(&self, state: &Handle, sums: &[DeviceSum<'_>]) -> Result<Vec<Vec<[i64; 2]>>>;

    /// Adds the votes of trees to the margins; then brings the gradients up to date where that is wanted and the device
    /// knows the objective.
    ///
    /// # Errors
    /// As [`DeviceRows::begin`].
    fn update(&self, state: &mut Handle, trees: &[(&VoteTree, &Handle)], gradients: bool) -> Result<()>;

    /// Takes gradients that the processor made, a list for each margin.
    ///
    /// # Errors
    /// As [`DeviceRows::begin`].
    fn set_gradients(&self, state: &mut Handle, gradients: &[Vec<i32>]) -> Result<()>;

    /// The margins of all rows, a list for each.
    ///
    /// # Errors
    /// As [`DeviceRows::begin`].
    fn margins(&self, state: &Handle) -> Result<Vec<Vec<i32>>>;

    /// The same of some rows.
    ///
    /// # Errors
    /// As [`DeviceRows::begin`].
    fn margins_of(&self, state: &Handle, rows: &[u32]) -> Result<Vec<Vec<i32>>>;

    /// For classes: the rows that are wrong, and the likelihood of the right classes, for every [`LOSS_ROWS`] rows.
    ///
    /// # Errors
    /// As [`DeviceRows::begin`].
    fn likelihoods(&self, state: &Handle) -> Result<Vec<Likelihood>>;

    /// How many rows, all or those of `among`, have each margin and target, where there is one margin; none where these
    /// are too many to list.
    ///
    /// # Errors
    /// As [`DeviceRows::begin`].
    fn tally(&self, state: &Handle, among: Option<&[bool]>) -> Result<Option<Vec<MarginCount>>>;
}

/// Rows that one [`Likelihood`] is of.
pub const LOSS_ROWS: usize = crate::circuit::CHUNK_ROWS;

/// How well the margins of some rows fit their classes.
///
/// With `g` the gradient of a row at the margin of its class, `2^24 - |g|` are multiplied in eight lanes, row `i` in lane
/// `i % 8`. After every 256 rows each lane is brought between one and two, and the powers of two are added up. The product is
/// that of the lanes, in order.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Likelihood {
    /// Rows whose class is wrong.
    pub wrong: u64,
    /// The product of the lanes.
    pub product: f64,
    /// The power of two that it is multiplied by, 24 less for every row.
    pub power: i64,
}

/// Rows of one margin and target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarginCount {
    /// The margin.
    pub margin: i32,
    /// The target.
    pub target: u32,
    /// How many rows have both.
    pub rows: u64,
}

/// What a fit starts from.
pub struct DeviceStart<'a> {
    /// How gradients follow from margins.
    pub objective: DeviceObjective<'a>,
    /// How hessians follow from gradients.
    pub hessian: Hessian,
    /// The margins of a row before any tree.
    pub bias: &'a [i32],
    /// Rows that are not learned from: their weight is zero.
    pub held_out: Option<&'a [bool]>,
}

/// How gradients follow from margins and targets, in fixed point with 24 bits after the point.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum DeviceObjective<'a> {
    /// The target is 0 or 1. The gradient is the target less the probability that the table has for the margin: its
    /// middle entry for zero, the first and last for all beyond.
    Logistic {
        /// The probabilities.
        probabilities: &'a [u32],
    },
    /// A margin for each class. The largest margin less each picks an exponential, the last for all beyond; the sum of
    /// these in the order of classes divides one. A class's product of both, between 1 and one less 1, is taken from its target.
    Softmax {
        /// `exp` of minus each difference of margins.
        exponentials: &'a [f32],
    },
    /// The target is a value with 30 bits after the point. It less the margin times the unit, and `centre`, held between
    /// `low` and `high`.
    Slopes {
        /// What a vote is worth.
        unit: f64,
        /// For each margin: `centre`, `low` and `high`.
        slopes: Vec<[f64; 3]>,
    },
    /// The processor makes the gradients.
    Processor,
}

/// A sample, and its rows of the lower and of the upper side.
pub type DeviceSample = ([u32; 2], Handle);

/// How rows are drawn.
pub struct DeviceDraw<'a> {
    /// The margins whose gradients are summed, one or more.
    pub margins: &'a [usize],
    /// What sizes of gradients with the same first seven bits are drawn by, those of one first; empty where each size is drawn
    /// by itself, up to one.
    pub powers: &'a [u32],
    /// Rows that may be drawn; empty for all.
    pub among: &'a [bool],
    /// How many rows are drawn, below 2^28: those at evenly spaced places along the running sum of all weights. With `shift` the
    /// bits that the whole sum has beyond 36, and `scale` what `size << 36` is divided by the whole sum, shifted, and one, there
    /// are `((x >> shift) * scale + start) >> 36` places before a point `x` of it.
    pub size: u64,
    /// Where the places begin, below 2^36.
    pub start: u64,
}

/// A tree whose addresses gradients are summed over.
pub struct DeviceSum<'a> {
    /// Which margin.
    pub margin: usize,
    /// The addresses.
    pub addresses: &'a Handle,
    /// How many addresses the root has.
    pub count: usize,
    /// Rows that count for a quarter; empty where none does.
    pub climbed: &'a [bool],
}

/// A tree to be climbed.
pub struct DeviceClimb<'a> {
    /// The rows.
    pub sample: &'a Handle,
    /// Inputs of the gates of each level, the root's last.
    pub arities: &'a [usize],
    /// The column of the sample that each leaf reads at first.
    pub leaves: Vec<u32>,
    /// Columns that a trial compares; the only one is tried as it is.
    pub candidates: u32,
    /// The trials: a leaf, then the columns.
    pub trials: Vec<u32>,
}
