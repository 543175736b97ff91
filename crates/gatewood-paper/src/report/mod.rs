//! The report: every table, ours beside the paper's, as Markdown and as one HTML page.

mod curve;
mod html;
mod markdown;
mod picture;

use gatewood_data::Folders;

pub use html::html;
pub use markdown::markdown;
pub use picture::{Picture, pictures};

use crate::cell::{Cell, Printed};
use crate::results::Results;
use crate::summary::{Summary, TableSummary};
use crate::table::{Block, Table};
use crate::timing::Claim;
use crate::verdict::{Spread, Verdict};

/// All that a report shows.
#[derive(Debug)]
pub struct Report {
    /// The tables.
    pub tables: Vec<Table>,
    /// What was measured.
    pub results: Results,
    /// How many cells agree.
    pub summary: Summary,
    /// The claims on speed.
    pub claims: Vec<Claim>,
    /// The data sets, in pictures.
    pub pictures: Vec<Picture>,
}

impl Report {
    /// A report on tables; pictures of data sets that are not here are left out.
    ///
    /// # Errors
    /// When the claims cannot be read, which tests check.
    pub fn new(tables: Vec<Table>, results: Results, folders: &Folders) -> gatewood::Result<Self> {
        let summary = Summary::of(&tables, &results, results.seconds());
        Ok(Self { tables, results, summary, claims: Claim::all()?, pictures: pictures(folders) })
    }

    /// One sentence on whether a table agrees, and why where it does not.
    fn sentence(table: &Table, summary: &TableSummary) -> String {
        let verdict = match (summary.agree, summary.cells) {
            (_, 0) => return "Not run.".into(),
            (agree, cells) if agree == cells => format!("Agrees: all {cells} cells."),
            (agree, cells) if agree * 10 >= cells * 9 => format!("Agrees in {agree} of {cells} cells."),
            (agree, cells) => format!("Agrees in part: {agree} of {cells} cells."),
        };
        match table.remark.as_str() {
            remark if summary.agree < summary.cells && !remark.is_empty() => format!("{verdict} {remark}"),
            _ => verdict,
        }
    }
}

/// One figure of a cell: ours, the paper's, and the verdict.
struct Figure<'a> {
    ours: Option<Spread>,
    paper: Option<&'a Printed>,
    verdict: Option<Verdict>,
}

/// The training (0) or test (1) figure of a cell.
fn figure<'a>(cell: &'a Cell, results: &Results, which: usize) -> Figure<'a> {
    let ours = results.spreads(cell)[which];
    let paper = cell.printed[which].as_ref();
    let verdict = ours.as_ref().zip(paper).map(|(ours, paper)| Verdict::of(ours, paper));
    Figure { ours, paper, verdict }
}

/// A percentage with three digits, as the paper prints them.
fn digits(value: f64) -> String {
    if value < 9.995 { format!("{value:.2}") } else { format!("{value:.1}") }
}

/// A count with commas.
fn commas(number: f64) -> String {
    let text = format!("{number:.0}");
    let mut with = String::new();
    for (place, digit) in text.chars().enumerate() {
        if place > 0 && (text.len() - place).is_multiple_of(3) {
            with.push(',');
        }
        with.push(digit);
    }
    with
}

/// Seconds in a form a person reads.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.01 => format!("{:.2} ms", s * 1e3),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 100.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    }
}

/// A measured or claimed value in its unit.
fn quantity(value: f64, unit: &str) -> String {
    match unit {
        "s" => duration(value),
        _ => format!("{} {unit}", commas(value)),
    }
}

/// The head of a column or row: trials as `100k`, others as they are.
fn head(key: &str, value: &str) -> String {
    let number = value.replace('_', "");
    match (key, number.parse::<u64>()) {
        ("climb", Ok(0)) => "0".into(),
        ("climb", Ok(n)) if n % 1_000_000 == 0 => format!("{}m", n / 1_000_000),
        ("climb", Ok(n)) => format!("{}k", n as f64 / 1000.0),
        _ => value.into(),
    }
}

/// What the corner of a grid says.
fn corner(block: &Block) -> String {
    match (block.rows.as_str(), block.columns.as_str()) {
        (rows, "") => rows.into(),
        ("pair", columns) => columns.into(),
        (rows, columns) => format!("{rows} \\ {columns}"),
    }
}

/// The settings that the cells of a grid share, in words.
fn shared(block: &Block) -> String {
    let settings: Vec<String> =
        block.shared.iter().map(|(name, value)| format!("{name} {}", commas(*value as f64))).collect();
    let parts = [block.label.clone(), settings.join(", ")];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [digits(0.6), digits(9.99), digits(9.999), digits(15.44)],
            ["0.60", "9.99", "10.0", "15.4"]
        );
        assert_eq!([commas(1.0), commas(1000.0), commas(27e6)], ["1", "1,000", "27,000,000"]);
        assert_eq!(
            [head("climb", "21_600"), head("climb", "2_000_000"), head("depth", "8")],
            ["21.6k", "2m", "8"]
        );
        assert_eq!(
            [duration(0.0012), duration(0.25), duration(10.6), duration(360.0)],
            ["1.20 ms", "250 ms", "10.6 s", "6 min"]
        );
    }

    #[test]
    fn reports_have_every_table_and_cell() {
        let tables = Table::all().unwrap();
        let names: Vec<String> = tables.iter().map(|table| table.title.clone()).collect();
        let cells: usize = tables.iter().map(|table| table.cells().count()).sum();
        let report = Report::new(tables, Results::committed().unwrap(), &Folders::default()).unwrap();
        assert_eq!(report.summary.cells + report.summary.not_run, cells);
        let (markdown, html) = (markdown(&report), html(&report));
        for name in names {
            assert!(markdown.contains(&name) && html.contains(&name), "{name}");
        }
        assert!(!html.contains("http://") && !html.contains("https://"), "the page stands alone");
        assert_eq!(html.matches("<table").count(), html.matches("</table>").count());
        assert_eq!(html.matches("<svg").count(), html.matches("</svg>").count());
    }
}
