//! `gatewood paper`: the paper's tables, ours beside the paper's.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::terminal::{Bar, OutputFile, Terminal, print, seconds};
use anyhow::Result;
use gatewood_data::Folders;
use gatewood_paper::report::{Report, html, markdown};
use gatewood_paper::{
    Outcome, Progress, Results, ResultsFile, Summary, TIMING, Table, Wanted, Watcher, run_claims, run_tables,
    session,
};
use std::io::Write;

/// Which tables, and how thoroughly.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Tables, by a part of their names; "timing" for the claims on speed [default: all tables]
    #[arg(value_name = "TABLE")]
    tables: Vec<String>,

    /// Runs of each cell [default: 5, and 1 for cells of more than a minute]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,

    /// Only cheap cells of every table, in minutes
    #[arg(long)]
    quick: bool,

    /// Run nothing; show the results that came with this version
    #[arg(long, conflicts_with_all = ["seeds", "quick"])]
    committed: bool,

    /// The folder of results and report; cells found there are not run again
    #[arg(long, value_name = "FOLDER", default_value = "paper-results")]
    out: PathBuf,

    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,

    /// Threads to use [default: one a core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,

    /// Where the files of named sets are looked for first
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
}

/// Runs `gatewood paper`.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    let folders = Folders::standard(args.data_dir.as_deref());
    let words: Vec<String> = args.tables.iter().filter(|word| *word != TIMING).cloned().collect();
    let only_timing = words.is_empty() && !args.tables.is_empty();
    let tables = if only_timing { Vec::new() } else { Table::named(&words)? };
    if args.committed {
        let results = Results::committed()?;
        let seconds = results.seconds();
        return conclude(args, &Summary::of(&tables, &results, seconds), None);
    }
    let start = Instant::now();
    let file = ResultsFile::open(&args.out.join("results.jsonl"), |number| session(number, args.threads))?;
    let wanted = Wanted { seeds: args.seeds, quick: args.quick, threads: args.threads };
    let outcome = {
        let watcher = Bars(terminal.bar("running cells"));
        run_tables(&tables, &wanted, &folders, &file, &watcher)?
    };
    if args.tables.iter().any(|word| word == TIMING) {
        run_claims(&folders, &file, start, &|claim, value| {
            if value.is_none() {
                terminal.remark(&format!("measuring: {}", claim.says));
            }
        })?;
    }
    let taken = start.elapsed().as_secs_f64();
    let report = Report::new(tables, file.into_results(), &folders)?;
    write(&args.out.join("report.md"), &markdown(&report))?;
    write(&args.out.join("report.html"), &html(&report))?;
    let summary = Summary { seconds: (taken * 10.0).round() / 10.0, ..report.summary };
    conclude(args, &summary, Some(&outcome))
}

/// Passes progress on to the bar.
struct Bars(Bar);

impl Watcher for Bars {
    fn finished(&self, progress: &Progress<'_>) {
        let elapsed = progress.elapsed.as_secs_f64();
        let all = elapsed + progress.left.as_secs_f64();
        self.0.set((elapsed * 1000.0) as u64, (all * 1000.0) as u64);
        self.0.say(&format!(
            "{} of {} runs, about {} left",
            progress.done,
            progress.total,
            seconds(progress.left.as_secs_f64())
        ));
    }

    fn stop(&self) -> bool {
        gatewood::learn::Observer::stop(&self.0)
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    let mut file = OutputFile::create(Some(path), None)?;
    file.write_all(text.as_bytes())?;
    file.finish()
}

/// Prints the summary.
fn conclude(args: &Args, summary: &Summary, outcome: Option<&Outcome>) -> Result<()> {
    if args.json {
        return print(&format!("{}\n", serde_json::to_value(summary)?));
    }
    let mut text = format!("{summary}\n");
    if let Some(outcome) = outcome {
        for (reason, cells) in &outcome.not_run {
            text += &format!("{} runs were not made: {reason}\n", cells.len());
        }
        if outcome.kept > 0 {
            text += &format!("{} runs were there from before\n", outcome.kept);
        }
        text += &format!("report: {}\n", args.out.join("report.html").display());
    }
    print(&text)
}
