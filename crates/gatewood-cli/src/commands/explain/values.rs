//! Why a row has its value: what each column adds to it.

use super::{Args, contributions_for, too_large};
use crate::terminal::print;
use anyhow::Result;
use gatewood::encode::Table;
use gatewood::explain::pixel_moves;
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
    let label = model.label().unwrap_or("value");
    let added = match contributions_for(model, &one, whole, background, most, options, args.model.threads) {
        Ok(added) => added,
        // Where contributions are refused, single pixels may still be turned.
        Err(error) => match pixel_moves(model, &one, args.model.threads) {
            Ok(moved) if too_large(&error) => return moves(args, &one, index, (label, value), &moved),
            _ => return Err(error),
        },
    };
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

/// Says how far single pixels move the value, where a model reads too many of them for contributions.
fn moves(args: &Args, one: &Table, index: usize, (label, value): (&str, f64), moves: &[f64]) -> Result<()> {
    if args.json {
        let moved: serde_json::Map<String, serde_json::Value> =
            moves.iter().enumerate().map(|(at, &moved)| (one.name(at).into_owned(), json!(moved))).collect();
        return print(&format!(
            "{}\n",
            json!({"row": index + 1, "label": label, "value": value, "contributions": null, "pixel_moves": moved})
        ));
    }
    let mut order: Vec<usize> = (0..moves.len()).collect();
    order.sort_by(|&a, &b| moves[b].abs().total_cmp(&moves[a].abs()));
    let largest = order.first().map_or(1.0, |&at| moves[at].abs()).max(1e-300);
    let mut text =
        format!("row {}: {label} {value}\n\nhow far {label} moves when one pixel is turned\n", index + 1);
    for &at in order.iter().take(SHOWN) {
        let name = format!("{} = {}", one.name(at), shown(&one.value(0, at)));
        let bar = if moves[at] < 0.0 { "░" } else { "█" };
        let bar = bar.repeat((moves[at].abs() / largest * WIDTH).round() as usize);
        text += &format!("  {name:<24} {:+10.4}  {bar}\n", moves[at]);
    }
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
