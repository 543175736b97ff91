//! Why a row has its value: what each column adds to it.

use super::{Args, contributions_for};
use crate::terminal::print;
use anyhow::Result;
use gatewood::encode::Table;
use gatewood::model::Model;
use gatewood_data::LoadOptions;
use serde_json::json;

/// Bars and columns that are shown.
const WIDTH: f64 = 30.0;
const SHOWN: usize = 15;

/// Explains one row of a model that says values.
pub(super) fn run(
    args: &Args,
    model: &Model,
    table: &Table,
    index: usize,
    options: &LoadOptions,
) -> Result<()> {
    let one = table.select_rows(&[index])?;
    let value = model.predict(&one, 1)?.values().unwrap_or_default()[0];
    let (background, most) = (args.background.as_deref(), args.background_rows);
    let whole = if background.is_some() { &one } else { table };
    let added = contributions_for(model, &one, whole, background, most, options, args.model.threads)?;
    let label = model.label().unwrap_or("value");
    if args.json {
        let found = added.to_json(model, 0, 0);
        return print(&format!(
            "{}\n",
            json!({"row": index + 1, "label": label, "value": value, "contributions": found})
        ));
    }
    let values = added.log_odds(0, 0);
    let mut columns: Vec<(f64, String)> = model
        .encoder()
        .inputs()
        .iter()
        .map(|input| {
            let own = one.value(0, input.position);
            (values[input.position], format!("{} = {}", input.name, shown(&own)))
        })
        .collect();
    columns.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let what = if model.circuit().is_log() { format!("the logarithm of {label}") } else { label.to_owned() };
    let mean = added.mean_log_odds(0);
    let mut text = format!(
        "row {}: {label} {value}\n\nwhat each column adds to {what}, from a mean of {mean:.4}\n",
        index + 1
    );
    let largest = columns.first().map_or(1.0, |column| column.0.abs()).max(1e-300);
    let width = columns.iter().take(SHOWN).map(|column| column.1.chars().count()).max().unwrap_or(0);
    for (value, name) in columns.iter().take(SHOWN) {
        let space = " ".repeat(width - name.chars().count());
        let bar =
            if *value < 0.0 { "░" } else { "█" }.repeat((value.abs() / largest * WIDTH).round() as usize);
        text += &format!("  {name}{space} {value:+10.4}  {bar}\n");
    }
    if columns.len() > SHOWN {
        text += &format!("  … and {} more\n", columns.len() - SHOWN);
    }
    text += &format!("  together {:.4}\n", mean + values.iter().sum::<f64>());
    print(&text)
}

fn shown(value: &gatewood::encode::Value<'_>) -> String {
    use gatewood::encode::Value;
    match value {
        Value::Missing => "missing".into(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => crate::terminal::name(text).into_owned(),
        Value::Pixel(byte) => byte.to_string(),
        Value::Bit(bit) => u8::from(*bit).to_string(),
    }
}
