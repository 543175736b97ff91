//! Rows that answers speak of, made into tables and bits again, so that `predict` can be asked about them.

use super::explainer::Explainer;
use super::reason::Reason;
use super::words::RawValue;
use crate::bits::BitMatrix;
use crate::encode::{Column, Kind, Numbers, Table, Texts};
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

impl Explainer<'_> {
    /// Rows that meet a reason and are random in all else, as bits: `predict` has to say the reason's class for each.
    ///
    /// # Errors
    /// When the memory is unavailable.
    pub fn completions(&self, reason: &Reason, count: usize, seed: u64) -> Result<BitMatrix> {
        let mut bits = BitMatrix::zeros(count, self.encoder().bits())?;
        let mut stream = Stream::new(seed, Purpose::Generate, 0);
        let mut rows: Vec<Vec<usize>> = Vec::with_capacity(64);
        for block in 0..count.div_ceil(64) {
            rows.clear();
            while rows.len() < 64.min(count - 64 * block) {
                let pick = |cells: &Vec<u32>| cells[stream.below(cells.len() as u32) as usize] as usize;
                let row: Vec<usize> = reason.allowed.iter().map(pick).collect();
                if self.domain.keeps_gaps(&row) {
                    rows.push(row);
                }
            }
            for (column, words) in bits.columns_mut().enumerate() {
                let bit = |row: &Vec<usize>| u64::from(self.domain.bit(row, column));
                words[block] = rows.iter().rev().fold(0, |word, row| word << 1 | bit(row));
            }
        }
        Ok(bits)
    }

    /// Rows of raw values, one for each column that the encoder reads, as a table to predict.
    ///
    /// # Errors
    /// When a row has not one value a column.
    pub fn table(&self, rows: &[&[RawValue]]) -> Result<Table> {
        let inputs = self.encoder().inputs();
        if let Some(row) = rows.iter().find(|row| row.len() != inputs.len()) {
            return Err(Error::data(format!("a row has {} values for {} columns", row.len(), inputs.len())));
        }
        let column = |index: usize| {
            let values = rows.iter().map(|row| &row[index]);
            if inputs[index].kind == Kind::Text {
                let texts: Vec<Option<String>> = values
                    .map(|value| match value {
                        RawValue::Missing => None,
                        value => Some(value.to_string()),
                    })
                    .collect();
                return Column::Text(Texts::from_rows(texts.iter().map(Option::as_deref)));
            }
            let numbers = values
                .map(|value| match value {
                    RawValue::Number(number) | RawValue::Date(number) => *number,
                    RawValue::Pixel(byte) => f64::from(*byte),
                    RawValue::Bit(bit) => f64::from(u8::from(*bit)),
                    RawValue::Missing | RawValue::Text(_) => f64::NAN,
                })
                .collect();
            match inputs[index].kind {
                Kind::Date => Column::Date(Numbers::F64(numbers)),
                _ => Column::Number(Numbers::F64(numbers)),
            }
        };
        Table::new((0..inputs.len()).map(|index| (inputs[index].name.clone(), column(index))).collect())
    }
}
