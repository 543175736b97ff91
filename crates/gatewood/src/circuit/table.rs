//! The truth table of one gate.

use std::fmt;

use super::MAX_ARITY;
use crate::{Error, Result};

/// The output of a gate for each of its `2^arity` addresses.
///
/// Bit `i` (bit `i % 64` of word `i / 64`) is the output when input `j` equals bit `j` of `i`. Bits past the last
/// address are zero.
///
/// ```
/// use gatewood::circuit::TruthTable;
/// let and = TruthTable::from_fn(2, |address| address == 0b11);
/// assert_eq!(and.words(), [0b1000]);
/// assert_eq!(and.to_string(), "8");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TruthTable {
    arity: usize,
    words: Vec<u64>,
}

impl TruthTable {
    /// Words that hold a table of `arity` inputs.
    pub const fn words_for(arity: usize) -> usize {
        (1usize << arity).div_ceil(64)
    }

    /// A table from its words.
    ///
    /// # Errors
    /// When the arity is over [`MAX_ARITY`], the number of words is not [`TruthTable::words_for`], or a bit past the last address is set.
    pub fn new(arity: usize, words: Vec<u64>) -> Result<Self> {
        if arity > MAX_ARITY {
            return Err(Error::data(format!("a gate of {arity} inputs is over the limit of {MAX_ARITY}")));
        }
        if words.len() != Self::words_for(arity) || (arity < 6 && words[0] >> (1u32 << arity) != 0) {
            return Err(Error::data(format!("not a truth table of {arity} inputs")));
        }
        Ok(Self { arity, words })
    }

    /// A table from the function of its address.
    ///
    /// # Panics
    /// When the arity is over [`MAX_ARITY`].
    pub fn from_fn(arity: usize, output: impl Fn(usize) -> bool) -> Self {
        assert!(arity <= MAX_ARITY);
        let mut words = vec![0u64; Self::words_for(arity)];
        for address in 0..1usize << arity {
            words[address / 64] |= u64::from(output(address)) << (address % 64);
        }
        Self { arity, words }
    }

    /// Number of inputs.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// The table's words.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The output at an address.
    pub fn output(&self, address: usize) -> bool {
        assert!(address < 1 << self.arity);
        self.words[address / 64] >> (address % 64) & 1 != 0
    }
}

/// The table as a hexadecimal number, highest address first.
impl fmt::Display for TruthTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = ((1usize << self.arity) / 4).max(1);
        for digit in (0..digits).rev() {
            write!(f, "{:x}", self.words[digit / 16] >> (digit % 16 * 4) & 15)?;
        }
        Ok(())
    }
}

impl fmt::Debug for TruthTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TruthTable({}: {self})", self.arity)
    }
}
