//! Rows as the JSON that the page reads, with what the model says of them.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use super::ExplorerOptions;
use super::hash::base64;
use crate::encode::{Labels, RawColumn};
use crate::model::{Model, Rows};
use crate::{Error, Result};

/// Rows that contributions compare with: those that `explain` takes.
const BACKGROUND_ROWS: usize = 100;

/// Rows that a page shows, with their classes where these are known.
#[derive(Debug, Clone, Copy)]
pub struct ExplorerRows<'a> {
    /// The rows.
    pub rows: Rows<'a>,
    /// The class of each, among those of the model.
    pub labels: Option<&'a Labels>,
}

pub(super) fn of(model: &Model, rows: &ExplorerRows<'_>, options: &ExplorerOptions) -> Result<Value> {
    let total = rows.rows.len();
    if let Some(labels) = rows.labels.filter(|labels| labels.len() != total) {
        return Err(Error::data(format!("{} labels for {total} rows", labels.len())));
    }
    // Contributions compare with the rows that `explain` takes, so that both say the same.
    let background = spread(total, BACKGROUND_ROWS);
    let chosen: BTreeSet<usize> = spread(total, options.rows).into_iter().chain(background.clone()).collect();
    let chosen: Vec<usize> = chosen.into_iter().collect();
    let place = |row: &usize| chosen.binary_search(row).ok();
    let (columns, prediction) = match rows.rows {
        Rows::Raw(table) => {
            let taken = table.select_rows(&chosen)?;
            let prediction = model.predict_rows(Rows::Raw(taken.view()), options.threads)?;
            let every: Vec<usize> = (0..chosen.len()).collect();
            (of_columns(model.encoder().raw_columns(taken.view(), &every)?), prediction)
        }
        Rows::Bits(bits) => {
            if bits.columns() != model.encoder().inputs().len() {
                return Err(Error::data(format!(
                    "the rows have {} bits, but the model reads {} columns",
                    bits.columns(),
                    model.encoder().inputs().len()
                )));
            }
            let mut taken = crate::bits::BitMatrix::zeros(chosen.len(), bits.columns())?;
            for (column, words) in taken.columns_mut().enumerate() {
                for (to, &row) in chosen.iter().enumerate() {
                    words[to / 64] |= u64::from(bits.get(row, column)) << (to % 64);
                }
            }
            let prediction = model.predict_rows(Rows::Bits(taken.view()), options.threads)?;
            let bytes = |row: usize| (0..bits.columns()).map(move |column| u8::from(bits.get(row, column)));
            let bytes: Vec<u8> = chosen.iter().flat_map(|&row| bytes(row)).collect();
            (json!({"bytes": base64(&bytes)}), prediction)
        }
    };
    Ok(json!({
        "total": total,
        "numbers": chosen.iter().map(|row| row + 1).collect::<Vec<usize>>(),
        "background": background.iter().filter_map(place).collect::<Vec<usize>>(),
        "labels": rows.labels.map(|labels| labels_of(labels, &chosen)),
        "columns": columns,
        "predicted": prediction.classes(),
        "margins": prediction.margins(),
    }))
}

/// The class or the value of some rows.
fn labels_of(labels: &Labels, rows: &[usize]) -> Value {
    match labels.values() {
        Some(values) => rows.iter().map(|&row| json!(values[row])).collect(),
        None => rows.iter().map(|&row| json!(labels.codes()[row])).collect(),
    }
}

/// At most so many of some rows, evenly spread.
fn spread(rows: usize, most: usize) -> Vec<usize> {
    let count = rows.min(most);
    (0..count).map(|index| (index as u128 * rows as u128 / count as u128) as usize).collect()
}

/// The columns one by one; the bytes row by row where all are bytes without gaps.
fn of_columns(columns: Vec<RawColumn>) -> Value {
    let bytes_of = |column: &RawColumn| match column {
        RawColumn::Bytes(bytes) => bytes.iter().copied().collect::<Option<Vec<u8>>>(),
        _ => None,
    };
    if let Some(columns) = columns.iter().map(bytes_of).collect::<Option<Vec<_>>>() {
        let rows = columns.first().map_or(0, Vec::len);
        let bytes: Vec<u8> =
            (0..rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
        return json!({"bytes": base64(&bytes)});
    }
    let list: Vec<Value> = columns.into_iter().map(of_column).collect();
    json!({"list": list})
}

fn of_column(column: RawColumn) -> Value {
    match column {
        RawColumn::Bytes(bytes) => json!({"numbers": bytes}),
        RawColumn::Numbers(numbers) => {
            // JSON has no infinite numbers; JavaScript reads them from a text.
            let number = |number: &f64| match *number {
                number if number.is_nan() => json!(null),
                f64::INFINITY => json!("Infinity"),
                f64::NEG_INFINITY => json!("-Infinity"),
                number => json!(number),
            };
            json!({"numbers": numbers.iter().map(number).collect::<Vec<Value>>()})
        }
        RawColumn::Texts(texts) => {
            let (mut values, mut places) = (Vec::new(), HashMap::new());
            let mut code = |text: Option<String>| match text {
                None => -1,
                Some(text) => *places.entry(text).or_insert_with_key(|text| {
                    values.push(text.clone());
                    values.len() as i64 - 1
                }),
            };
            let codes: Vec<i64> = texts.into_iter().map(&mut code).collect();
            json!({"texts": values, "codes": codes})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain;

    #[test]
    fn the_background_is_that_of_explanations() {
        assert_eq!(BACKGROUND_ROWS, explain::BACKGROUND_ROWS);
        for (rows, most) in [(0, 5), (3, 5), (5, 5), (16_281, 100), (101, 100)] {
            assert_eq!(spread(rows, most), explain::spread(rows, most));
        }
    }
}
