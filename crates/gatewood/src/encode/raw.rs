//! The raw values that an encoder reads, column by column, as its tests see them.

use super::source::{Converted, convert, misfit};
use super::{Encoder, Kind, TableView, Value, transform};
use crate::Result;

/// The values of one column that an encoder reads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RawColumn {
    /// Numbers, or dates in seconds since 1970-01-01; NaN is a gap.
    Numbers(Vec<f64>),
    /// Texts, with gaps.
    Texts(Vec<Option<String>>),
    /// Pixels, or ready bits as 0 and 1, with gaps.
    Bytes(Vec<Option<u8>>),
}

impl Encoder {
    /// Some rows of a table as the encoder's tests see them: for each input, the values in its own kind.
    ///
    /// # Errors
    /// When a column is not there or does not hold what it held in training.
    pub(crate) fn raw_columns(&self, table: TableView<'_>, rows: &[usize]) -> Result<Vec<RawColumn>> {
        let positions = transform::locate(self, table)?;
        let column = |(input, position): (&super::Input, usize)| {
            let from = table.kind(position);
            let converted = |row: usize| {
                let value = table.value(row, position);
                convert(value, from, input).ok_or_else(|| misfit(input, value, row))
            };
            Ok(match input.kind {
                Kind::Number | Kind::Date => {
                    let number = |&row: &usize| {
                        Ok(match converted(row)? {
                            Converted::Value(Value::Number(number)) => number,
                            _ => f64::NAN,
                        })
                    };
                    RawColumn::Numbers(rows.iter().map(number).collect::<Result<_>>()?)
                }
                Kind::Text => {
                    let text = |&row: &usize| {
                        Ok(match converted(row)? {
                            Converted::Text(text) => Some(text),
                            Converted::Value(Value::Text(text)) => Some(text.to_owned()),
                            Converted::Value(_) => None,
                        })
                    };
                    RawColumn::Texts(rows.iter().map(text).collect::<Result<_>>()?)
                }
                Kind::Pixel | Kind::Bit => {
                    let byte = |&row: &usize| {
                        Ok(match converted(row)? {
                            Converted::Value(Value::Pixel(byte)) => Some(byte),
                            Converted::Value(Value::Bit(bit)) => Some(bit.into()),
                            _ => None,
                        })
                    };
                    RawColumn::Bytes(rows.iter().map(byte).collect::<Result<_>>()?)
                }
            })
        };
        self.inputs().iter().zip(positions).map(column).collect()
    }
}
