//! What the data is like: all that defaults are chosen by.

use serde::{Deserialize, Serialize};

/// The kind of data, chosen by the code that knows it, never guessed from the number of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DataKind {
    /// Columns of numbers, categories or bits, each with a meaning of its own.
    Table,
    /// Pixels of images, or samples of signals.
    Image,
    /// Images whose patterns trees read too.
    Patterns,
    /// Words of texts.
    Text,
}

/// What the data is like.
///
/// ```
/// use gatewood::learn::{DataKind, Profile};
/// let profile = Profile::of_bits(1_000, 20, 2);
/// assert_eq!(profile.kind, DataKind::Table);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Profile {
    /// Rows to learn from.
    pub rows: usize,
    /// Columns before they are encoded.
    pub columns: usize,
    /// Bits that trees read, shared features not counted.
    pub bits: usize,
    /// Classes; none where the target is a value.
    pub classes: usize,
    /// What the columns are.
    pub kind: DataKind,
}

impl Profile {
    /// Rows of raw columns that were encoded as bits.
    pub fn new(rows: usize, columns: usize, bits: usize, classes: usize, kind: DataKind) -> Self {
        Self { rows, columns, bits, classes, kind }
    }

    /// Whether each column of a table is one bit.
    pub fn is_all_bits(&self) -> bool {
        self.kind == DataKind::Table && self.columns == self.bits
    }

    /// Rows of bits, each a column of a table.
    pub fn of_bits(rows: usize, bits: usize, classes: usize) -> Self {
        Self::new(rows, bits, bits, classes, DataKind::Table)
    }
}
