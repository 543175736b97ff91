//! The fitted encoder: which raw columns it reads, and what each bit tests.

use serde::{Deserialize, Serialize};

use super::{BitMeaning, Kind, TableView, Test, Written, meaning, transform};
#[cfg(feature = "train")]
use super::{EncodeReport, EncodeSettings, fit};
use crate::bits::BitMatrix;
use crate::{Error, Result};

/// Turns raw rows into bits, each bit a [`super::Test`] of one raw column.
///
/// Fitted on training rows with `Encoder::fit`, then applied to any table that has the same columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    /// Columns of the table it was fitted on.
    pub(super) width: usize,
    pub(super) inputs: Vec<Input>,
    pub(super) bits: Vec<BitMeaning>,
}

/// The most columns of a table that an encoder is fitted on. Results have a number for each, so that a file which names many
/// must not make them large.
pub(super) const MAX_COLUMNS: usize = 1 << 22;

/// A raw column that an encoder reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its position in the table the encoder was fitted on.
    pub position: usize,
    /// What it holds.
    pub kind: Kind,
    /// The categories with a bit of their own, sorted, where there is a bit for all others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// How its texts are to be read as numbers or dates, where they are not written in the plain way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Written>,
}

#[cfg(feature = "train")]
impl Encoder {
    /// Fits an encoder to all rows of a table.
    ///
    /// # Errors
    /// When a setting is out of range, there are no rows, or no bit is left.
    pub fn fit<'a>(
        table: impl Into<TableView<'a>>,
        settings: &EncodeSettings,
    ) -> Result<(Self, EncodeReport)> {
        fit::fit(table.into(), None, settings, 0)
    }

    /// As [`Encoder::fit`], on at most so many threads, 0 for one a core.
    ///
    /// # Errors
    /// As [`Encoder::fit`].
    pub fn fit_on<'a>(
        table: impl Into<TableView<'a>>,
        settings: &EncodeSettings,
        threads: usize,
    ) -> Result<(Self, EncodeReport)> {
        fit::fit(table.into(), None, settings, threads)
    }

    /// Fits an encoder to some rows of a table, the training rows.
    ///
    /// # Errors
    /// As [`Encoder::fit`]; also when a row does not exist.
    pub fn fit_rows<'a>(
        table: impl Into<TableView<'a>>,
        rows: &[usize],
        settings: &EncodeSettings,
    ) -> Result<(Self, EncodeReport)> {
        fit::fit(table.into(), Some(rows), settings, 0)
    }
}

impl Encoder {
    /// An encoder of columns and of bits that test them.
    ///
    /// # Errors
    /// As [`Encoder::validate`].
    pub(crate) fn from_parts(width: usize, inputs: Vec<Input>, bits: Vec<BitMeaning>) -> Result<Self> {
        let encoder = Self { width, inputs, bits };
        encoder.validate()?;
        Ok(encoder)
    }

    /// The encoder of ready bits: takes a table of `columns` bits as it is.
    pub fn identity(columns: usize) -> Self {
        let inputs = (0..columns)
            .map(|position| Input {
                name: format!("bit_{position}"),
                position,
                kind: Kind::Bit,
                categories: Vec::new(),
                written: None,
            })
            .collect();
        let bits = (0..columns as u32).map(|column| BitMeaning { column, test: Test::Set }).collect();
        Self { width: columns, inputs, bits }
    }

    /// Turns raw rows into bits.
    ///
    /// # Errors
    /// When a column is not there or does not hold what it held in training, or memory runs out.
    pub fn transform<'a>(&self, table: impl Into<TableView<'a>>) -> Result<BitMatrix> {
        self.transform_on(table, 0)
    }

    /// As [`Encoder::transform`], on at most so many threads, 0 for one a core. Few rows are encoded on one in any case.
    ///
    /// # Errors
    /// As [`Encoder::transform`].
    pub fn transform_on<'a>(&self, table: impl Into<TableView<'a>>, threads: usize) -> Result<BitMatrix> {
        transform::transform(self, table.into(), threads)
    }

    /// Number of bits.
    pub fn bits(&self) -> usize {
        self.bits.len()
    }

    /// Number of columns of the table it was fitted on, those left out included.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The raw columns that it reads.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// What each bit means.
    pub fn meanings(&self) -> &[BitMeaning] {
        &self.bits
    }

    /// What a bit means, in words: "age > 37.5".
    ///
    /// # Panics
    /// When there is no such bit.
    pub fn describe(&self, bit: usize) -> String {
        let BitMeaning { column, test } = &self.bits[bit];
        let input = &self.inputs[*column as usize];
        match test {
            Test::Exceeds { other, margin } => {
                meaning::compared(&input.name, &self.inputs[*other as usize].name, *margin)
            }
            _ => test.describe(&input.name, input.kind == Kind::Date),
        }
    }

    /// Whether a bit compares two columns.
    pub fn compares(&self) -> bool {
        self.bits.iter().any(|bit| matches!(bit.test, Test::Exceeds { .. }))
    }

    /// The same encoder with more bits after those it has.
    ///
    /// # Errors
    /// When a bit reads a column that the encoder does not, or that cannot be tested so.
    pub fn with_bits(mut self, bits: impl IntoIterator<Item = BitMeaning>) -> Result<Self> {
        self.bits.extend(bits);
        self.validate()?;
        Ok(self)
    }

    /// The encoder of the given bits only, in that order; columns that no bit reads are no longer asked for.
    ///
    /// # Errors
    /// When there is no such bit.
    pub fn select(&self, bits: &[usize]) -> Result<Self> {
        if let Some(bit) = bits.iter().find(|&&bit| bit >= self.bits.len()) {
            return Err(Error::data(format!("there is no bit {bit}: there are {}", self.bits.len())));
        }
        let mut used = vec![false; self.inputs.len()];
        for &bit in bits {
            self.bits[bit].columns().for_each(|column| used[column as usize] = true);
        }
        let mut renumbered = vec![0; self.inputs.len()];
        let mut inputs = Vec::new();
        for (column, input) in self.inputs.iter().enumerate().filter(|&(column, _)| used[column]) {
            renumbered[column] = inputs.len() as u32;
            inputs.push(input.clone());
        }
        let bits = bits
            .iter()
            .map(|&bit| BitMeaning {
                column: renumbered[self.bits[bit].column as usize],
                test: match self.bits[bit].test {
                    Test::Exceeds { other, margin } => {
                        Test::Exceeds { other: renumbered[other as usize], margin }
                    }
                    ref test => test.clone(),
                },
            })
            .collect();
        Ok(Self { width: self.width, inputs, bits })
    }

    /// Checks an encoder that was read from a file.
    ///
    /// # Errors
    /// Names the first thing that is not as it should be.
    pub fn validate(&self) -> Result<()> {
        if self.width > MAX_COLUMNS {
            return Err(Error::file(format!(
                "the encoder is for {} columns, over the limit of {MAX_COLUMNS}",
                self.width
            )));
        }
        if let Some(input) = self.inputs.iter().find(|input| input.position >= self.width) {
            return Err(Error::file(format!(
                "the encoder reads column {} of {}, which is not there",
                input.position, self.width
            )));
        }
        for (index, BitMeaning { column, test }) in self.bits.iter().enumerate() {
            let Some(input) = self.inputs.get(*column as usize) else {
                return Err(Error::file(format!(
                    "bit {index} of the encoder reads column {column}, which is not there"
                )));
            };
            let other = match test {
                Test::Exceeds { other, .. } => self.inputs.get(*other as usize).map(|other| other.kind),
                _ => Some(input.kind),
            };
            if !test.suits(input.kind) || other != Some(input.kind) {
                return Err(Error::file(format!(
                    "bit {index} of the encoder cannot test column \"{}\", which holds {}",
                    input.name, input.kind
                )));
            }
        }
        match self.inputs.iter().find(|input| !input.categories.is_sorted()) {
            Some(input) => {
                Err(Error::file(format!("the categories of column \"{}\" are not sorted", input.name)))
            }
            None => Ok(()),
        }
    }
}
