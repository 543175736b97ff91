//! `gatewood explain --robustness`: how many rows could be turned by small changes.

use super::Args;
use crate::commands::sources::data_spec;
use crate::terminal::{Grid, count, print, share};
use anyhow::Result;
use gatewood::explain::{Explainer, spread};
use gatewood::model::Rows;
use gatewood_data::{LoadOptions, load_labelled};
use serde_json::json;

const RADII: usize = 3;

/// Counts the rows whose class is wrong, or is not proven to stay.
pub(super) fn run(args: &Args, explainer: &Explainer<'_>, most: usize, options: &LoadOptions) -> Result<()> {
    let model = explainer.model();
    let rows = load_labelled(&data_spec(&args.data)?, options, model.classes())?;
    let chosen = spread(rows.table.rows(), most);
    let mut wrong = 0usize;
    let (mut by_columns, mut by_steps) = ([0usize; RADII], [0usize; RADII]);
    for &index in &chosen {
        let row = explainer.row(Rows::Raw(rows.table.view()), index)?;
        let is_wrong = explainer.class(&row) != rows.labels.codes()[index] as usize;
        wrong += usize::from(is_wrong);
        let may =
            if is_wrong { 0 } else { explainer.columns_that_may_change(&row, RADII, Some(args.time_limit)) };
        let mut stays = !is_wrong;
        for radius in 1..=RADII {
            by_columns[radius - 1] += usize::from(is_wrong || may < radius);
            stays = stays && explainer.stays_within(&row, radius, Some(args.time_limit)) == Some(true);
            by_steps[radius - 1] += usize::from(!stays);
        }
    }
    let part = |rows: usize| rows as f64 / chosen.len().max(1) as f64;
    if args.json {
        let value = json!({
            "rows": chosen.len(),
            "error": part(wrong),
            "certified_error_columns": by_columns.map(part),
            "certified_error_steps": by_steps.map(part),
        });
        return print(&format!("{value}\n"));
    }
    let mut grid = Grid::new(&["certified error", ">columns changed", ">thresholds moved"]);
    grid.row(vec!["none".into(), share(part(wrong)), share(part(wrong))]);
    for radius in 1..=RADII {
        grid.row(vec![
            radius.to_string(),
            share(part(by_columns[radius - 1])),
            share(part(by_steps[radius - 1])),
        ]);
    }
    print(&format!("{} rows\n\n{}", count(chosen.len()), grid.show("  ")))
}
