//! A column while typed values come in, from formats that say what they hold.

use gatewood::encode::{Codes, Column, Kind, Numbers};
use gatewood::{Result, memory};

use super::column::ColumnBuilder;

/// A column while it is read.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Any numbers.
    F64(Vec<f64>),
    /// Numbers that fit single precision.
    F32(Vec<f32>),
    /// Whole numbers of one byte, moved up by the offset.
    Bytes(Vec<u8>, i32),
    /// Seconds since 1970-01-01.
    Date(Vec<f64>),
    /// Texts.
    Text(ColumnBuilder),
}

impl Sink {
    /// An empty column of texts.
    pub(crate) fn text() -> Self {
        Self::Text(ColumnBuilder::new(Some(Kind::Text)))
    }

    /// Makes room for more values.
    pub(crate) fn reserve(&mut self, more: usize) -> Result<()> {
        match self {
            Self::F64(values) | Self::Date(values) => memory::reserve(values, more),
            Self::F32(values) => memory::reserve(values, more),
            Self::Bytes(values, _) => memory::reserve(values, more),
            Self::Text(texts) => memory::check(texts.growth(more)),
        }
    }

    /// Appends a number; a column of texts takes it for a truth value.
    pub(crate) fn number(&mut self, number: f64) {
        match self {
            Self::F64(values) | Self::Date(values) => values.push(number),
            Self::F32(values) => values.push(number as f32),
            Self::Bytes(values, offset) => values.push((number as i32 + *offset) as u8),
            Self::Text(texts) => {
                let text: &[u8] = if number == 0.0 { b"false" } else { b"true" };
                texts.push(text, 0, text.len()).expect("plain text");
            }
        }
    }

    /// Appends a text to a column of texts; `None` when it holds a NUL.
    pub(crate) fn string(&mut self, text: &str) -> Option<()> {
        match self {
            Self::Text(texts) => texts.push(text.as_bytes(), 0, text.len()).ok(),
            _ => None,
        }
    }

    /// Appends a gap.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub(crate) fn missing(&mut self) {
        match self {
            Self::F64(values) | Self::Date(values) => values.push(f64::NAN),
            Self::F32(values) => values.push(f32::NAN),
            Self::Bytes(values, offset) => {
                // A byte has no room for a gap.
                let mut numbers: Vec<f32> =
                    values.iter().map(|&byte| (i32::from(byte) - *offset) as f32).collect();
                numbers.push(f32::NAN);
                *self = Self::F32(numbers);
            }
            Self::Text(texts) => texts.push(b"", 0, 0).expect("plain text"),
        }
    }

    /// The column.
    pub(crate) fn finish(self) -> Column {
        match self {
            Self::F64(values) => Column::Number(Numbers::F64(values)),
            Self::F32(values) => Column::Number(Numbers::F32(values)),
            Self::Bytes(values, offset) => Column::Number(Numbers::Coded {
                codes: Codes::U8(values),
                values: (0..256).map(|value| f64::from(value - offset)).collect(),
            }),
            Self::Date(values) => Column::Date(Numbers::F64(values)),
            Self::Text(texts) => texts.finish().expect("any text is a text"),
        }
    }
}
