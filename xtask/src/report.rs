//! Steps, what came of them, and the summary.

use std::time::{Duration, Instant};

use anyhow::Result;

/// What came of a step that ran to its end.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Checks that passed.
    pub passed: usize,
    /// Checks that failed, each with what was seen.
    pub failed: Vec<String>,
    /// Checks that could not run here, each with the reason.
    pub not_run: Vec<String>,
    /// Figures worth showing in the summary.
    pub figures: Vec<String>,
}

impl Outcome {
    /// One check, passed.
    pub fn passed() -> Self {
        Self { passed: 1, ..Self::default() }
    }

    /// One check that failed.
    pub fn failed(why: impl Into<String>) -> Self {
        Self { failed: vec![why.into()], ..Self::default() }
    }
}

/// A named step of `cargo xtask test`; it may hold many checks.
pub struct Step {
    /// The name shown and asked for.
    pub name: &'static str,
    /// What it does; an error counts as one failed check.
    pub run: fn() -> Result<Outcome>,
}

/// What came of all steps.
pub struct Report {
    lines: Vec<(&'static str, Duration, Outcome)>,
}

impl Report {
    /// Runs the steps one after the other; a failed step does not stop the next.
    pub fn of(steps: &[Step]) -> Self {
        let mut lines = Vec::new();
        for step in steps {
            println!("\n=== {} ===", step.name);
            let start = Instant::now();
            let outcome = (step.run)().unwrap_or_else(|error| Outcome::failed(format!("{error:#}")));
            outcome.failed.iter().for_each(|why| println!("FAILED: {why}"));
            outcome.not_run.iter().for_each(|why| println!("NOT RUN: {why}"));
            lines.push((step.name, start.elapsed(), outcome));
        }
        Self { lines }
    }

    /// Prints the summary; its last line is "N passed, N failed". Says whether nothing failed.
    pub fn print(&self) -> bool {
        println!("\n=== summary ===");
        for (name, time, outcome) in &self.lines {
            let verdict = match outcome {
                Outcome { failed, .. } if !failed.is_empty() => "FAILED",
                Outcome { passed: 0, not_run, .. } if !not_run.is_empty() => "NOT RUN",
                _ => "passed",
            };
            println!("{verdict:8} {name:32} {:5} checks {:8.1} s", outcome.passed, time.as_secs_f64());
            outcome.figures.iter().for_each(|figure| println!("           {figure}"));
        }
        for (name, _, outcome) in &self.lines {
            outcome.failed.iter().for_each(|why| println!("FAILED: {name}: {}", last_lines(why)));
            outcome.not_run.iter().for_each(|why| println!("NOT RUN: {name}: {why}"));
        }
        let total =
            |count: fn(&Outcome) -> usize| -> usize { self.lines.iter().map(|(.., o)| count(o)).sum() };
        let seconds: f64 = self.lines.iter().map(|(_, time, _)| time.as_secs_f64()).sum();
        println!("{seconds:.0} s, {} not run", total(|outcome| outcome.not_run.len()));
        let failed = total(|outcome| outcome.failed.len());
        println!("{} passed, {failed} failed", total(|outcome| outcome.passed));
        failed == 0
    }
}

/// The end of a long text, where tools say what went wrong.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}
