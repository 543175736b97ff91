//! `gatewood explain --sample`: reasons and changes of many rows, with medians.

use std::time::Instant;

use super::Args;
use crate::terminal::{Grid, count, print, seconds};
use anyhow::{Result, bail};
use gatewood::encode::Table;
use gatewood::explain::{Explainer, Turning, spread};
use gatewood::model::Rows;
use serde_json::json;

/// Seconds that are many of the steps in which the system counts a processor's time.
const STEPS: f64 = 0.05;

/// Explains rows that are evenly spread. Every reason is tested with random rows that meet it, every change by predicting
/// the changed row.
pub(super) fn run(args: &Args, explainer: &Explainer<'_>, table: &Table, most: usize) -> Result<()> {
    let model = explainer.model();
    let fixed = explainer.columns_named(&args.fixed)?;
    let chosen = spread(table.rows(), most);
    let (mut times, mut sizes, mut minimal) = (Vec::new(), Vec::new(), 0);
    let mut processor_times = Vec::new();
    let (mut turning_times, mut changed, mut fewest) = (Vec::new(), Vec::new(), 0);
    for &index in &chosen {
        let row = explainer.row(Rows::Raw(table.view()), index)?;
        let (started, on_processor) = (Instant::now(), processor_seconds());
        let reason = explainer.reason(&row, Some(args.time_limit));
        let elapsed = started.elapsed().as_secs_f64();
        times.push(elapsed);
        let on_processor = processor_seconds().zip(on_processor).map(|(now, before)| now - before);
        // The system counts in steps of some milliseconds: for less, the clock is the better measure.
        processor_times.push(on_processor.filter(|_| elapsed > STEPS).unwrap_or(elapsed));
        sizes.push(reason.columns().len() as f64);
        minimal += usize::from(reason.is_minimal());
        let completions = explainer.completions(&reason, args.completions, index as u64)?;
        let said = model.predict_bits(completions.view(), args.model.threads)?;
        if said.classes().iter().any(|&class| class as usize != reason.class()) {
            bail!("the reason for row {} does not hold for all rows that meet it", index + 1);
        }
        if args.no_change {
            continue;
        }
        let started = Instant::now();
        match explainer.counterfactual(&row, &fixed, Some(args.time_limit)) {
            Turning::By(found) => {
                let after = model.predict(&explainer.table(&[found.values()])?, 1)?.classes()[0] as usize;
                if after != found.class() || after == reason.class() {
                    bail!("the change of row {} does not turn its class", index + 1);
                }
                changed.push(found.changes().len() as f64);
                fewest += usize::from(found.is_fewest());
            }
            Turning::Impossible | Turning::Unknown => {}
        }
        turning_times.push(started.elapsed().as_secs_f64());
    }
    let rows = chosen.len();
    let (reason_median, reason_worst) = (median(&mut times), times.last().copied().unwrap_or(0.0));
    let (turning_median, turning_worst) =
        (median(&mut turning_times), turning_times.last().copied().unwrap_or(0.0));
    if args.json {
        let value = json!({
            "rows": rows,
            "reasons": {
                "median_seconds": reason_median, "longest_seconds": reason_worst, "median_columns": median(&mut sizes),
                "proven_minimal": minimal, "completions_tested": rows * args.completions,
                // Of each row.
                "processor_seconds": processor_times,
            },
            "counterfactuals": (!args.no_change).then(|| json!({
                "median_seconds": turning_median, "longest_seconds": turning_worst,
                "median_columns": median(&mut changed), "proven_fewest": fewest, "found": changed.len(),
            })),
        });
        return print(&format!("{value}\n"));
    }
    let columns = if args.no_change { 2 } else { 3 };
    let mut grid = Grid::new(&["", ">reasons", ">changes"][..columns]);
    let mut line = |name: &str, reason: String, change: String| {
        let mut cells = vec![name.into(), reason, change];
        cells.truncate(columns);
        grid.row(cells);
    };
    line("rows", count(rows), count(changed.len()));
    line("median time", seconds(reason_median), seconds(turning_median));
    line("longest time", seconds(reason_worst), seconds(turning_worst));
    line("median columns", median(&mut sizes).to_string(), median(&mut changed).to_string());
    line("proven least", count(minimal), count(fewest));
    let tested = count(rows * args.completions);
    let turned = if args.no_change { "" } else { "; every change turned it" };
    print(&format!("{}  {tested} random rows that meet a reason kept its class{turned}\n", grid.show("  ")))
}

/// Seconds that this thread has spent on a processor, where the system says so: what others do at the time is not in it.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_ascii_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

/// The middle of some numbers, which are then in order.
fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    match numbers.len() {
        0 => 0.0,
        count if count % 2 == 1 => numbers[count / 2],
        count => (numbers[count / 2 - 1] + numbers[count / 2]) / 2.0,
    }
}
