//! Answers as JSON, the same for the command and for Python.

use serde_json::{Map, Value, json};

use super::contributions::Contributions;
use super::counterfactual::Turning;
use super::property::Property;
use super::prove::{Proof, Witness};
use super::reason::Reason;
use super::words::RawValue;
use crate::model::Model;

impl Contributions {
    /// What each column that the model reads adds to the margin of a class (for two classes: of the second), in log-odds.
    ///
    /// # Panics
    /// When there is no such row or class.
    pub fn to_json(&self, model: &Model, row: usize, class: usize) -> Value {
        let margin = if self.margins() == 1 { 0 } else { class };
        let values = self.log_odds(row, margin);
        let inputs = model.encoder().inputs();
        let columns: Map<String, Value> =
            inputs.iter().map(|input| (input.name.clone(), json!(values[input.position]))).collect();
        json!({"columns": columns, "mean": self.mean_log_odds(margin)})
    }
}

impl Reason {
    /// The class, the columns and conditions, and what is proven.
    pub fn to_json(&self, model: &Model) -> Value {
        let inputs = model.encoder().inputs();
        let names: Vec<&str> = self.columns().iter().map(|&column| inputs[column].name.as_str()).collect();
        json!({
            "class": model.classes()[self.class()],
            "class_index": self.class(),
            "columns": names,
            "conditions": self.conditions(),
            "sufficient": "proven",
            "minimal": proven(self.is_minimal()),
        })
    }
}

impl Turning {
    /// Whether a change is possible, what changes, and what is proven.
    pub fn to_json(&self, model: &Model) -> Value {
        let found = match self {
            Self::Impossible => return json!({"possible": false}),
            Self::Unknown => return json!({"possible": null}),
            Self::By(found) => found,
        };
        let change = |change: &super::Change| {
            json!({
                "column": model.encoder().inputs()[change.column].name,
                "from": value_json(&change.from),
                "to": value_json(&change.to),
                "range": change.range,
            })
        };
        json!({
            "possible": true,
            "class": model.classes()[found.class()],
            "class_index": found.class(),
            "changes": found.changes().iter().map(change).collect::<Vec<Value>>(),
            "values": row_json(model, found.values()),
            "distance": found.distance(),
            "fewest": proven(found.is_fewest()),
            "nearest": proven(found.is_nearest()),
        })
    }
}

impl Proof {
    /// The verdict on a property, and the rows that show it to be false.
    pub fn to_json(&self, model: &Model, property: &Property) -> Value {
        let (verdict, rows) = match self {
            Self::Proven => ("proven", &[][..]),
            Self::Undecided => ("undecided", &[][..]),
            Self::False(rows) => ("false", &rows[..]),
        };
        let row = |row: &Witness| {
            json!({
                "values": row_json(model, &row.values),
                "class": model.classes()[row.class],
                "class_index": row.class,
                "margins": row.margins,
            })
        };
        json!({
            "property": property.text(),
            "verdict": verdict,
            "rows": rows.iter().map(row).collect::<Vec<Value>>(),
        })
    }
}

fn proven(is_proven: bool) -> &'static str {
    if is_proven { "proven" } else { "undecided" }
}

/// A row's values by the names of their columns.
fn row_json(model: &Model, values: &[RawValue]) -> Value {
    let inputs = model.encoder().inputs().iter();
    inputs
        .zip(values)
        .map(|(input, value)| (input.name.clone(), value_json(value)))
        .collect::<Map<_, _>>()
        .into()
}

fn value_json(value: &RawValue) -> Value {
    match value {
        RawValue::Missing => Value::Null,
        RawValue::Number(number) => json!(number),
        RawValue::Pixel(byte) => json!(byte),
        RawValue::Bit(bit) => json!(u8::from(*bit)),
        RawValue::Date(_) | RawValue::Text(_) => json!(value.to_string()),
    }
}
