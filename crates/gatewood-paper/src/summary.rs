//! How many cells agree, table by table.

use std::fmt;

use serde::Serialize;

use crate::results::Results;
use crate::table::Table;
use crate::verdict::Verdict;

/// The summary of some tables.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Cells that were run.
    pub cells: usize,
    /// Cells that agree with the paper, in training and test error.
    pub agree: usize,
    /// Cells that were not run.
    pub not_run: usize,
    /// Figures (a cell has up to two) that were measured.
    pub figures: usize,
    /// Figures that agree.
    pub figures_agree: usize,
    /// Runs, over all seeds.
    pub runs: usize,
    /// Seconds taken.
    pub seconds: f64,
    /// Each table.
    pub tables: Vec<TableSummary>,
}

/// The summary of one table.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TableSummary {
    /// Its name.
    pub name: String,
    /// Cells that were run.
    pub cells: usize,
    /// Cells that agree.
    pub agree: usize,
    /// Cells that were not run.
    pub not_run: usize,
    /// Figures that were measured.
    pub figures: usize,
    /// Figures that agree.
    pub figures_agree: usize,
    /// The cells that do not agree.
    pub differ: Vec<Difference>,
}

/// A cell that does not agree.
#[derive(Debug, Clone, Serialize)]
pub struct Difference {
    /// The cell.
    pub cell: String,
    /// Our mean training and test error, in percent.
    pub ours: [f64; 2],
    /// The paper's.
    pub paper: [Option<f64>; 2],
}

impl TableSummary {
    /// The summary of a table.
    pub fn of(table: &Table, results: &Results) -> Self {
        let mut summary = Self { name: table.name.clone(), ..Self::default() };
        for cell in table.cells() {
            let ours = results.spreads(cell);
            let (Some(verdict), [Some(train), Some(test)]) = (Verdict::of_cell(cell, &ours), ours) else {
                summary.not_run += 1;
                continue;
            };
            summary.cells += 1;
            for (paper, ours) in cell.printed.iter().zip([train, test]) {
                let Some(paper) = paper else { continue };
                summary.figures += 1;
                summary.figures_agree += usize::from(Verdict::of(&ours, paper) == Verdict::Agrees);
            }
            if verdict == Verdict::Agrees {
                summary.agree += 1;
            } else {
                let paper = cell.printed.each_ref().map(|paper| paper.as_ref().map(|paper| paper.value));
                let ours = [train.mean, test.mean];
                summary.differ.push(Difference { cell: cell.key(), ours, paper });
            }
        }
        summary
    }
}

impl Summary {
    /// The summary of tables.
    pub fn of(tables: &[Table], results: &Results, seconds: f64) -> Self {
        let tables: Vec<TableSummary> = tables.iter().map(|table| TableSummary::of(table, results)).collect();
        let sum = |count: fn(&TableSummary) -> usize| tables.iter().map(count).sum();
        Self {
            cells: sum(|table| table.cells),
            agree: sum(|table| table.agree),
            not_run: sum(|table| table.not_run),
            figures: sum(|table| table.figures),
            figures_agree: sum(|table| table.figures_agree),
            runs: results.count(),
            seconds: (seconds * 10.0).round() / 10.0,
            tables,
        }
    }
}

/// A share in percent, of nothing as 0.
pub(crate) fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:20} {:>6} {:>6}", "table", "cells", "agree")?;
        for table in &self.tables {
            let bar = "#".repeat((percent(table.agree, table.cells) / 5.0).round() as usize);
            write!(f, "{:20} {:6} {:6}  {bar:20}", table.name, table.cells, table.agree)?;
            match table.not_run {
                0 => writeln!(f)?,
                cells => writeln!(f, "  {cells} not run")?,
            }
        }
        write!(
            f,
            "{} of {} cells agree with the paper ({:.1} %); {} of {} figures ({:.1} %); {} runs, {:.0} s",
            self.agree,
            self.cells,
            percent(self.agree, self.cells),
            self.figures_agree,
            self.figures,
            percent(self.figures_agree, self.figures),
            self.runs,
            self.seconds
        )
    }
}
