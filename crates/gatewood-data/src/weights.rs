//! What rows count for, from a column of a file.

use gatewood::encode::{Table, Value};
use gatewood::text::quote;
use gatewood::{Error, Result};

/// The column of weights; it must be there where weights are needed.
pub(crate) fn find_weight(table: &Table, name: &str, is_needed: bool) -> Result<Option<usize>> {
    let by_name = || (0..table.columns()).find(|&column| table.name(column) == name);
    if is_needed { table.find(name).map(Some) } else { Ok(by_name()) }
}

/// Takes out the column of weights.
pub(crate) fn take_weights(table: &mut Table, column: usize) -> Result<Vec<f64>> {
    let (name, column) = table.take_column(column)?;
    let at = |row: usize| format!("row {}, column {}", row + 1, quote(&name));
    let weight = |row: usize| {
        let (number, what) = match column.get(row) {
            Value::Number(number) => (Some(number), number.to_string()),
            // One odd field makes texts of all.
            Value::Text(text) => (text.trim().parse().ok(), quote(text)),
            _ => return Err(Error::data(format!("{}: the weight is missing", at(row)))),
        };
        let number = number.filter(|weight: &f64| *weight >= 0.0 && weight.is_finite());
        number.ok_or_else(|| {
            Error::data(format!("{}: a weight is a number of at least 0, not {what}", at(row)))
        })
    };
    let weights: Vec<f64> = (0..column.len()).map(weight).collect::<Result<_>>()?;
    if weights.iter().all(|&weight| weight == 0.0) {
        return Err(Error::data(format!("all weights in column {} are zero", quote(&name))));
    }
    Ok(weights)
}
