//! One raw column: numbers, dates or texts, with gaps.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Codes, Strings};
use crate::{Error, Result};

/// What the values of a raw column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Numbers; a gap is a NaN.
    Number,
    /// Moments, as seconds since 1970-01-01 00:00 UTC.
    Date,
    /// Categories or free text: the encoder decides which.
    Text,
    /// Bytes of an image.
    Pixel,
    /// Bits that are ready for use.
    Bit,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Number => "numbers",
            Self::Date => "dates",
            Self::Text => "text",
            Self::Pixel => "pixels",
            Self::Bit => "bits",
        })
    }
}

/// One value of a raw column, as [`super::Table::value`] gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// A gap.
    Missing,
    /// A number, or a moment in seconds since 1970-01-01.
    Number(f64),
    /// A category or text.
    Text(&'a str),
    /// A byte of an image.
    Pixel(u8),
    /// A ready bit.
    Bit(bool),
}

/// One raw column.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Numbers.
    Number(Numbers),
    /// Moments, as seconds since 1970-01-01 00:00 UTC.
    Date(Numbers),
    /// Categories or free text.
    Text(Texts),
}

impl Column {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Number(numbers) | Self::Date(numbers) => numbers.len(),
            Self::Text(texts) => texts.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the values are.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Number(_) => Kind::Number,
            Self::Date(_) => Kind::Date,
            Self::Text(_) => Kind::Text,
        }
    }

    /// One value.
    pub fn get(&self, row: usize) -> Value<'_> {
        match self {
            Self::Number(numbers) | Self::Date(numbers) => match numbers.get(row) {
                value if value.is_nan() => Value::Missing,
                value => Value::Number(value),
            },
            Self::Text(texts) => texts.get(row).map_or(Value::Missing, Value::Text),
        }
    }

    /// The values of the given rows, in that order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::Number(numbers) => Self::Number(numbers.select(rows)),
            Self::Date(numbers) => Self::Date(numbers.select(rows)),
            Self::Text(texts) => Self::Text(texts.select(rows)),
        }
    }
}

/// A column of numbers, in the smallest form its source allowed. A NaN is a gap.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Numbers {
    /// One number per row.
    F64(Vec<f64>),
    /// One number per row, in single precision.
    F32(Vec<f32>),
    /// Few distinct numbers: a code per row into `values`. Values may repeat.
    Coded {
        /// Position in `values`, one per row.
        codes: Codes,
        /// The numbers that occur.
        values: Vec<f64>,
    },
    /// Mostly zeros: the rows that are not listed hold 0.
    Sparse {
        /// Number of rows.
        len: usize,
        /// The rows that hold something else, ascending.
        rows: Vec<u32>,
        /// What they hold.
        values: Vec<f64>,
    },
}

impl Numbers {
    /// Coded numbers.
    ///
    /// # Errors
    /// When a code has no value.
    pub fn coded(codes: Codes, values: Vec<f64>) -> Result<Self> {
        match codes.max() {
            Some(code) if code >= values.len() => {
                Err(Error::data(format!("code {code} has no value: there are {}", values.len())))
            }
            _ => Ok(Self::Coded { codes, values }),
        }
    }

    /// Mostly zeros, and the rows that differ.
    ///
    /// # Errors
    /// When the rows are not ascending, are past the end, or do not go with the values.
    pub fn sparse(len: usize, rows: Vec<u32>, values: Vec<f64>) -> Result<Self> {
        let ascending = rows.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || rows.len() != values.len() || rows.last().is_some_and(|&row| row as usize >= len) {
            return Err(Error::data(format!(
                "a sparse column of {len} rows has rows out of order, past the end or without a value"
            )));
        }
        Ok(Self::Sparse { len, rows, values })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::Coded { codes, .. } => codes.len(),
            Self::Sparse { len, .. } => *len,
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One number; NaN when missing.
    pub fn get(&self, row: usize) -> f64 {
        match self {
            Self::F64(values) => values[row],
            Self::F32(values) => values[row].into(),
            Self::Coded { codes, values } => values[codes.get(row)],
            Self::Sparse { len, rows, values } => {
                assert!(row < *len, "row {row} of {len}");
                rows.binary_search(&(row as u32)).map_or(0.0, |at| values[at])
            }
        }
    }

    /// Whether any number is missing, of the given rows or of all.
    pub(super) fn has_gaps(&self, rows: Option<&[usize]>) -> bool {
        // Rows together, so that they are looked at side by side.
        fn any<T: Copy>(values: &[T], is_gap: impl Fn(T) -> bool) -> bool {
            values.chunks(1024).any(|values| values.iter().fold(false, |any, &value| any | is_gap(value)))
        }
        match (self, rows) {
            (_, Some(rows)) => rows.iter().any(|&row| self.get(row).is_nan()),
            (Self::F64(values), None) => any(values, f64::is_nan),
            (Self::F32(values), None) => any(values, f32::is_nan),
            (_, None) => (0..self.len()).any(|row| self.get(row).is_nan()),
        }
    }

    /// The numbers of the given rows, in that order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::F64(values) => Self::F64(rows.iter().map(|&row| values[row]).collect()),
            Self::F32(values) => Self::F32(rows.iter().map(|&row| values[row]).collect()),
            Self::Coded { codes, values } => {
                Self::Coded { codes: codes.select(rows), values: values.clone() }
            }
            Self::Sparse { .. } => {
                let (mut at, mut values) = (Vec::new(), Vec::new());
                for (to, &from) in rows.iter().enumerate() {
                    let value = self.get(from);
                    if value != 0.0 {
                        at.push(to as u32);
                        values.push(value);
                    }
                }
                Self::Sparse { len: rows.len(), rows: at, values }
            }
        }
    }
}

/// A column of texts: a code per row into the texts that occur, and perhaps one code that means a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texts {
    codes: Codes,
    values: Strings,
    missing: Option<u32>,
}

impl Texts {
    /// Coded texts; rows with the code `missing` are gaps.
    ///
    /// # Errors
    /// When a code has no text.
    pub fn new(codes: Codes, values: Strings, missing: Option<u32>) -> Result<Self> {
        match codes.max() {
            Some(code) if code >= values.len() => {
                Err(Error::data(format!("code {code} has no text: there are {}", values.len())))
            }
            _ => Ok(Self { codes, values, missing }),
        }
    }

    /// From one text per row; `None` is a gap.
    pub fn from_rows<'a>(rows: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let (mut codes, mut values, mut missing) = (Codes::new(), Strings::new(), None);
        let mut seen = HashMap::new();
        for text in rows {
            let code = *seen.entry(text).or_insert_with(|| {
                let code = values.len() as u32;
                values.push(text.unwrap_or_default());
                if text.is_none() {
                    missing = Some(code);
                }
                code
            });
            codes.push(code);
        }
        Self { codes, values, missing }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// One text, or nothing for a gap.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.text(self.codes.get(row))
    }

    /// The code of every row.
    pub fn codes(&self) -> &Codes {
        &self.codes
    }

    /// How many codes there are.
    pub fn distinct(&self) -> usize {
        self.values.len()
    }

    /// The text of a code, or nothing for the code of a gap.
    pub fn text(&self, code: usize) -> Option<&str> {
        (self.missing != Some(code as u32)).then(|| self.values.get(code))
    }

    /// The texts of the given rows, in that order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        Self { codes: self.codes.select(rows), values: self.values.clone(), missing: self.missing }
    }
}
