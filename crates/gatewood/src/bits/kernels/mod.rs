//! Counting and evaluating, at the best SIMD level of this machine.
//!
//! - [`Level`]: portable `u64` (on AArch64 that compiles to NEON, which is part of the baseline there), AVX2, and
//!   AVX-512 with VPOPCNTDQ.
//! - [`Kernels`]: the kernels at one level. All levels give equal results; tests run each against
//!   [`reference`](super::reference).
//!
//! # How counting works
//! A gate of `k` inputs has `2^k` addresses. For each subset of the inputs, the rows in which all of them are one are
//! counted with an AND and a popcount; the counts per address follow by inclusion and exclusion
//! ([`and_counts_to_addresses`]). The counts of single inputs are known beforehand, so a 4-gate takes 11
//! and-popcounts a word instead of 16, and when only one input of a gate changes, 7 ([`Kernels::and_counts_with`]).
//! From nine inputs on, building each row's address and counting it in a histogram is cheaper.

mod blocks;
mod boost;
mod bytes;
mod cells;
mod change;
mod count;
mod evaluate;
mod histogram;
mod matches;
mod merge;
mod partition;
mod pick;
mod vector;
mod votes;
mod where_one;

use std::ops::Range;
use std::sync::OnceLock;

use super::MAX_ARITY;
use super::{BLOCK_WORDS, WORD_BITS, words_for};

/// From this many inputs on, rows are counted by their address instead of by AND and popcount.
pub(crate) const HISTOGRAM_ARITY: usize = 9;

/// A set of instructions the kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Level {
    /// 64-bit words and whatever the target has by default.
    Portable,
    /// 256-bit vectors, popcount by table look-up.
    Avx2,
    /// 512-bit vectors with VPOPCNTDQ.
    Avx512,
}

impl Level {
    /// All levels there are, the slowest first.
    const ALL: [Level; 3] = [Level::Portable, Level::Avx2, Level::Avx512];

    /// All levels this machine can run, the slowest first.
    pub fn available() -> Vec<Level> {
        Self::ALL.into_iter().filter(|level| level.is_available()).collect()
    }

    /// The name of the level, as it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Level::Portable if cfg!(target_arch = "aarch64") => "neon",
            Level::Portable => "portable",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }

    fn is_available(self) -> bool {
        match self {
            Level::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => vector::has_avx2(),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => vector::has_avx512(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }
}

/// The kernels at one level.
///
/// ```
/// use gatewood::bits::kernels::Kernels;
/// let kernels = Kernels::best();
/// // Two inputs of four rows: the addresses 0b00, 0b01, 0b11, 0b11.
/// let (a, b) = ([0b1110u64], [0b1100u64]);
/// let mut counts = [0; 4];
/// kernels.count(&[&a, &b], &[3, 2], 4, &mut counts);
/// assert_eq!(counts, [1, 1, 0, 2]);
/// // The exclusive or of both.
/// let mut output = [0u64];
/// kernels.evaluate(&[0b0110], &[&a, &b], &mut output);
/// assert_eq!(output, [0b0010]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernels {
    /// Private, so that it is always one this machine can run.
    level: Level,
}

/// Calls the function compiled for the level.
macro_rules! dispatch {
    ($kernels:expr, $module:ident::$name:ident($($argument:expr),*)) => {
        match $kernels.level {
            Level::Portable => $module::$name::portable($($argument),*),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Kernels` of this level is made only where its instructions are available.
            Level::Avx2 => unsafe { $module::$name::avx2($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Level::Avx512 => unsafe { $module::$name::avx512($($argument),*) },
            #[cfg(not(target_arch = "x86_64"))]
            _ => unreachable!("levels are checked when kernels are made"),
        }
    };
}

/// Compiles a generic kernel once per level, into a module of its name.
macro_rules! levels {
    ($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $generic:ident) => {
        $(#[$doc])*
        pub(super) mod $name {
            use super::*;
            pub(in super::super) fn portable($($argument: $type),*) $(-> $result)? {
                $generic::<crate::bits::kernels::vector::Portable>($($argument),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
            pub(in super::super) fn avx2($($argument: $type),*) $(-> $result)? {
                $generic::<crate::bits::kernels::vector::Avx2>($($argument),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq,avx2,popcnt,bmi1,bmi2,lzcnt")]
            pub(in super::super) fn avx512($($argument: $type),*) $(-> $result)? {
                $generic::<crate::bits::kernels::vector::Avx512>($($argument),*)
            }
        }
    };
}
pub(crate) use blocks::{BLOCKS, Blocks};
pub(crate) use boost::{FIRST_BITS, POINT, Slope, Sums};
pub(crate) use levels;
pub(crate) use matches::{Line, Stencil};
pub(crate) use votes::{Ballots, Columns};

/// Checks the environment variable `GATEWOOD_SIMD`, so that a misspelled level is not mistaken for the best one.
///
/// # Errors
/// When it is set to something other than a level or nothing.
pub fn check_simd() -> crate::Result<()> {
    let value = std::env::var_os("GATEWOOD_SIMD").unwrap_or_default();
    let is_known = value.is_empty() || Level::ALL.iter().any(|level| value == level.name());
    if is_known {
        return Ok(());
    }
    let names: Vec<&str> = Level::ALL.iter().map(|level| level.name()).collect();
    Err(crate::Error::setting(format!("GATEWOOD_SIMD is {value:?}, but the levels are {}", names.join(", "))))
}

/// The logarithm of a number and a power of two.
pub(crate) fn log_of_product(product: f64, power: i64) -> f64 {
    libm::log(product) + power as f64 * std::f64::consts::LN_2
}

impl Kernels {
    /// The kernels at the best level of this machine, or at the level named by the environment variable
    /// `GATEWOOD_SIMD` (`portable`, `avx2`, `avx512`) when that is lower. Chosen once. [`check_simd`] says whether the
    /// variable names a level.
    pub fn best() -> Self {
        static BEST: OnceLock<Kernels> = OnceLock::new();
        *BEST.get_or_init(|| {
            let cap = std::env::var("GATEWOOD_SIMD").unwrap_or_default();
            let available = Level::available();
            let level = available.iter().find(|level| level.name() == cap).or(available.last());
            Self { level: *level.expect("the portable level is always there") }
        })
    }

    /// The kernels at a level, where this machine can run it.
    pub fn at(level: Level) -> Option<Self> {
        level.is_available().then_some(Self { level })
    }

    /// The level of these kernels.
    pub fn level(self) -> Level {
        self.level
    }

    /// How many bits are one.
    pub fn popcount(self, words: &[u64]) -> u64 {
        dispatch!(self, count::popcount(words))
    }

    /// Writes a bit for each of some bytes: whether it less another is above a margin.
    ///
    /// # Panics
    /// When the bytes are not whole words of bits, or not as many as the others.
    pub(crate) fn exceed(self, one: &[u8], other: &[u8], margin: i16, out: &mut [u64]) {
        assert!(one.len() == other.len() && one.len() == WORD_BITS * out.len());
        dispatch!(self, bytes::exceed(one, other, margin, out));
    }

    /// Writes a bit for each of some bytes: whether it is above a threshold.
    ///
    /// # Panics
    /// When the bytes are not whole words of bits.
    pub(crate) fn above(self, bytes: &[u8], threshold: u8, out: &mut [u64]) {
        assert!(bytes.len() == WORD_BITS * out.len());
        dispatch!(self, bytes::above(bytes, threshold, out));
    }

    /// For every subset of the inputs, how many rows have a one in all of them.
    ///
    /// `out[subset]`, bit `j` of the subset standing for `inputs[j]`, is written for every subset but the empty one
    /// (whose count is the number of rows) and the single ones (whose counts the caller has).
    ///
    /// # Panics
    /// When the inputs differ in length, or `out` has not `2^k` entries.
    pub fn and_counts(self, inputs: &[&[u64]], out: &mut [u32]) {
        let words = check_inputs(inputs, out.len(), inputs.len());
        let all = (1usize << inputs.len()) - 1;
        debug_assert!(all < 1 << MAX_ARITY);
        dispatch!(self, count::and_counts(None, inputs, words, out));
    }

    /// For every subset of `others`, how many rows have a one in `changed` and in all of the subset.
    ///
    /// `out[subset]` is written for every subset but the empty one, whose count the caller has.
    ///
    /// # Panics
    /// When the inputs differ in length, or `out` has not two entries to the power of `others.len()`.
    pub fn and_counts_with(self, changed: &[u64], others: &[&[u64]], out: &mut [u32]) {
        check_inputs(others, out.len(), others.len());
        assert!(others.first().is_none_or(|other| other.len() == changed.len()));
        dispatch!(self, count::and_counts(Some(changed), others, changed.len(), out));
    }

    /// The counts of [`Kernels::and_counts_with`] for two parts of the columns, the empty subset's included: the words
    /// before `split`, and those from there on. Both parts must be whole blocks.
    ///
    /// # Panics
    /// When the inputs differ in length, a part is not whole blocks, or a target has not two entries to the power of
    /// `others.len()`.
    pub(crate) fn count_changed(
        self,
        changed: &[u64],
        others: &[&[u64]],
        split: usize,
        zeros: &mut [u32],
        ones: &mut [u32],
    ) {
        check_inputs(others, zeros.len(), others.len());
        assert!(zeros.len() == ones.len() && others.first().is_none_or(|other| other.len() == changed.len()));
        assert!(split.is_multiple_of(BLOCK_WORDS) && changed.len().is_multiple_of(BLOCK_WORDS));
        dispatch!(self, change::count_changed(changed, others, split, zeros, ones));
    }

    /// Parts rows into cells by what some words of columns say, a whole number of blocks: writes a block of each of the
    /// `2^k` addresses, with ones for the rows that have it, then the next block of each. Bits past the last row may be one.
    ///
    /// # Panics
    /// When a column is too short.
    pub(crate) fn part(self, columns: &[&[u64]], words: Range<usize>, cells: &mut [u64]) {
        dispatch!(self, cells::part(columns, words, cells));
    }

    /// The ones of both parts of a column, the words before `split` and those from there on, in each of the cells that
    /// [`Kernels::part`] made of these; the cells of the first part come first. Returns their [`Kernels::impurity`].
    ///
    /// # Panics
    /// When a part is not whole blocks, there are too few cells, or the slices of counts differ in length.
    pub(crate) fn count_in_cells(
        self,
        cells: &[u64],
        column: &[u64],
        split: usize,
        rows: [&[u32]; 2],
        ones: [&mut [u32]; 2],
    ) -> f32 {
        assert!(split.is_multiple_of(BLOCK_WORDS) && column.len().is_multiple_of(BLOCK_WORDS));
        assert!(rows.iter().chain([&&*ones[0], &&*ones[1]]).all(|counts| counts.len() == ones[0].len()));
        dispatch!(self, cells::count(cells, column, split, rows, ones))
    }

    /// How mixed two classes are in cells of which each is parted in two: the sum of `zeros * ones / rows` over all halves,
    /// where `rows` are the rows of each class in each cell and `with` those in one of its halves. The same to the last bit
    /// at every level.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub(crate) fn impurity(self, rows: [&[u32]; 2], with: [&[u32]; 2]) -> f32 {
        let cells = rows[0].len();
        assert!(rows.iter().chain(&with).all(|counts| counts.len() == cells));
        dispatch!(self, cells::impurity(rows, with))
    }

    /// For each of up to 2^12 different keys below 2^31, how many keys are less.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub(crate) fn rank(self, keys: &[u32], ranks: &mut [u32]) {
        assert_eq!(keys.len(), ranks.len());
        dispatch!(self, change::rank(keys, ranks));
    }

    /// Writes for each threshold of a pattern which rows of a block match it so often. Planes have `width` places a line, each
    /// with a block of rows.
    ///
    /// # Panics
    /// When a place is past the planes, or there are not as many lines to write as thresholds.
    pub(crate) fn matches(self, stencil: &Stencil, planes: &[Line], width: usize, out: &mut [Line]) {
        assert_eq!(stencil.thresholds.len(), out.len());
        dispatch!(self, matches::matches(stencil, planes, width, out));
    }

    /// How many rows are in both of two sets, each a line for every block.
    pub(crate) fn shared_ones(self, a: &[Line], b: &[Line]) -> u32 {
        dispatch!(self, matches::shared_ones(a, b))
    }

    /// The address of each row, as many rows as `out` has room for.
    ///
    /// # Panics
    /// When there are more than 16 inputs or one is too short.
    pub(crate) fn addresses(self, inputs: &[&[u64]], out: &mut [u16]) {
        let words = words_for(out.len());
        assert!(inputs.len() <= 16 && inputs.iter().all(|input| input.len() >= words));
        dispatch!(self, change::addresses(inputs, words, out));
    }

    /// Adds to each row's margin the vote of its address, and writes its gradient: the label less the probability that
    /// `logistic` has for the margin, its middle entry for a margin of zero, the first and last for all beyond.
    ///
    /// # Panics
    /// When the votes are not a power of two.
    pub(crate) fn vote(
        self,
        addresses: &[u16],
        votes: &[i32],
        logistic: &[u32],
        labels: &[u32],
        margins: &mut [i32],
        gradients: &mut [i32],
    ) {
        dispatch!(self, boost::vote(addresses, votes, logistic, labels, margins, gradients));
    }

    /// Adds to each row's margin the vote of its address, and writes its gradient, which is that of a value.
    ///
    /// # Panics
    /// When the votes are not a power of two.
    pub(crate) fn vote_values(
        self,
        addresses: &[u16],
        votes: &[i32],
        slope: Slope,
        targets: &[u32],
        margins: &mut [i32],
        gradients: &mut [i32],
    ) {
        dispatch!(self, boost::add_votes(addresses, votes, margins));
        dispatch!(self, boost::slope(slope, targets, margins, gradients));
    }

    /// The sum of the squares of what margins fall short of their targets, in ranges; the same to the last bit at every level.
    pub(crate) fn squares(self, unit: f64, targets: &[u32], margins: &[i32]) -> f64 {
        dispatch!(self, boost::squares(unit, targets, margins))
    }

    /// Adds the gradient and the hessian of every row to the sums of its address; there are sums for all addresses. Where there
    /// are masks, one a row, those of zero leave their row out and the others are all ones.
    ///
    /// # Panics
    /// When there are no sums for an address, or masks for some rows only.
    pub(crate) fn sum(self, addresses: &[u16], gradients: &[i32], masks: &[i32], sums: &mut [Sums]) {
        dispatch!(self, boost::sum(addresses, gradients, masks, sums));
    }

    /// Adds the gradient of every row to the sums of its address, and one to the hessian; masks as of [`Kernels::sum`].
    ///
    /// # Panics
    /// When there are no sums for an address, or masks for some rows only.
    pub(crate) fn sum_ones(self, addresses: &[u16], gradients: &[i32], masks: &[i32], sums: &mut [Sums]) {
        dispatch!(self, boost::sum_ones(addresses, gradients, masks, sums));
    }

    /// Writes what rows are drawn by, given their gradients: the size, but at most one; or, where there are any, the power
    /// for sizes with the same first bits, those of one at place 0.
    pub(crate) fn sampling_weights(self, gradients: &[i32], powers: &[u32], out: &mut [u32]) {
        dispatch!(self, boost::sampling_weights(gradients, powers, out));
    }

    /// The logarithm of the product of one less the size of each gradient, the same to the last bit at every level.
    pub(crate) fn log_likelihood(self, gradients: &[i32]) -> f64 {
        let (product, power) = dispatch!(self, boost::product(gradients));
        log_of_product(product, power)
    }

    /// Writes in which rows all columns are one, or any is; as many words as `out` has.
    ///
    /// # Panics
    /// When there is no column or one is too short.
    pub(crate) fn merge(self, all: bool, columns: &[&[u64]], out: &mut [u64]) {
        assert!(columns.iter().all(|column| column.len() >= out.len()));
        dispatch!(self, merge::merge(all, columns, out));
    }

    /// Transposes blocks of 64 rows of 64 bits in place.
    pub(crate) fn transpose(self, blocks: &mut Blocks) {
        dispatch!(self, blocks::transpose(blocks));
    }

    /// Writes, for each of `64 * count` rows, the sum of the votes of trees.
    ///
    /// # Panics
    /// When the columns or the sums are too short.
    pub(crate) fn tally(self, ballots: &Ballots, columns: Columns<'_>, count: usize, sums: &mut [u16]) {
        dispatch!(self, votes::tally(ballots, columns, count, sums));
    }

    /// For each of the `2^k` addresses, how many of the `rows` rows have it.
    ///
    /// `singles[j]` is how many rows have a one in `inputs[j]`. Bits past the last row must be zero.
    ///
    /// # Panics
    /// When the inputs differ in length, do not hold `rows` rows, or `out` has not `2^k` entries.
    pub fn count(self, inputs: &[&[u64]], singles: &[u32], rows: usize, out: &mut [u32]) {
        let words = check_inputs(inputs, out.len(), inputs.len());
        assert!(inputs.len() == singles.len() && words >= words_for(rows) && u32::try_from(rows).is_ok());
        if inputs.len() >= HISTOGRAM_ARITY {
            dispatch!(self, histogram::histogram(inputs, words, out));
            out[0] -= (words * WORD_BITS - rows) as u32;
            return;
        }
        self.and_counts(inputs, out);
        out[0] = rows as u32;
        for (input, &single) in singles.iter().enumerate() {
            out[1 << input] = single;
        }
        and_counts_to_addresses(out);
    }

    /// Parts the first `rows` bits of a column: those at zeros of the mask go to `zeros`, those at ones to `ones`, each
    /// in their order. Both targets must be zero beforehand.
    ///
    /// # Panics
    /// When a slice is too short.
    pub fn partition(self, column: &[u64], mask: &[u64], rows: usize, zeros: &mut [u64], ones: &mut [u64]) {
        let words = words_for(rows);
        dispatch!(self, partition::partition(&column[..words], &mask[..words], rows, zeros, ones));
    }

    /// Packs one bit of each of some bytes, 64 of them for each word of the output.
    ///
    /// # Panics
    /// When there are not so many bytes.
    pub(crate) fn pick(self, bytes: &[u8], bit: u32, out: &mut [u64]) {
        assert!(bytes.len() == out.len() * WORD_BITS && bit < u8::BITS);
        dispatch!(self, pick::pick(bytes, bit, out));
    }

    /// Adds the value of each row to the sums of its cell: to those of the 64 columns that are one in it, given their bits.
    ///
    /// # Panics
    /// When there is no such cell, or a sum leaves 32 bits.
    pub(crate) fn sum_where_one(
        self,
        words: &[u64],
        cells: &[u8],
        values: &[i32],
        sums: &mut [[i32; WORD_BITS]],
    ) {
        dispatch!(self, where_one::sum_where_one(words, cells, values, sums));
    }

    /// Writes the output of a truth table for every row, padding rows included: clear the tail afterwards.
    ///
    /// Bit `i` of the table is the output where input `j` equals bit `j` of `i`.
    ///
    /// # Panics
    /// When the inputs or the output differ in length, or the table is too short.
    pub fn evaluate(self, table: &[u64], inputs: &[&[u64]], output: &mut [u64]) {
        assert!((1..=MAX_ARITY).contains(&inputs.len()));
        assert!(table.len() >= (1usize << inputs.len()).div_ceil(WORD_BITS));
        assert!(inputs.iter().all(|input| input.len() == output.len()), "inputs of unequal length");
        dispatch!(self, evaluate::evaluate(table, inputs, output));
    }
}

/// Turns counts of "all of these inputs are one" into counts of addresses, in place.
///
/// # Panics
/// When the number of counts is not a power of two.
#[inline]
pub fn and_counts_to_addresses(counts: &mut [u32]) {
    assert!(counts.len().is_power_of_two());
    let mut bit = 1;
    while bit < counts.len() {
        for pair in counts.chunks_exact_mut(2 * bit) {
            let (without, with) = pair.split_at_mut(bit);
            for (without, with) in without.iter_mut().zip(with) {
                *without -= *with;
            }
        }
        bit *= 2;
    }
}

/// Checks that all inputs are as long as the first; their length.
fn check_inputs(inputs: &[&[u64]], out: usize, arity: usize) -> usize {
    assert!(arity <= MAX_ARITY && out == 1 << arity, "{out} counts for {arity} inputs");
    let words = inputs.first().map_or(0, |input| input.len());
    assert!(inputs.iter().all(|input| input.len() == words), "inputs of unequal length");
    words
}
