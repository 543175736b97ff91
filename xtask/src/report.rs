//! Steps, how they run beside each other, what came of them, and the summary.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::log::Log;

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

    /// One check that could not run here.
    pub fn not_run(why: impl Into<String>) -> Self {
        Self { not_run: vec![why.into()], ..Self::default() }
    }
}

/// A named step of `cargo xtask test`; it may hold many checks.
#[derive(Clone, Copy)]
pub struct Step {
    /// The name shown and asked for.
    pub name: &'static str,
    /// The steps whose files it needs.
    pub after: &'static [&'static str],
    /// Whether it builds with cargo, which lets one build at a time into a folder.
    pub builds: bool,
    /// What it does; an error counts as one failed check.
    pub run: fn(&Log) -> Result<Outcome>,
}

impl Step {
    /// A step that needs nothing.
    pub fn new(name: &'static str, run: fn(&Log) -> Result<Outcome>) -> Self {
        Self { name, after: &[], builds: false, run }
    }

    /// The same step, run after others.
    pub fn after(self, after: &'static [&'static str]) -> Self {
        Self { after, ..self }
    }

    /// The same step, which no other that builds runs beside.
    pub fn builds(self) -> Self {
        Self { builds: true, ..self }
    }
}

/// The steps that are asked for, with those that they need.
pub fn chosen(all: &[Step], words: &[&str]) -> Vec<Step> {
    let is_asked = |step: &Step| words.is_empty() || words.iter().any(|word| step.name.contains(word));
    let mut wanted: Vec<bool> = all.iter().map(is_asked).collect();
    // A step stands after those that it needs.
    for index in (0..all.len()).rev() {
        if wanted[index] {
            for (other, step) in all.iter().enumerate() {
                wanted[other] |= all[index].after.contains(&step.name);
            }
        }
    }
    all.iter().zip(wanted).filter_map(|(step, wanted)| wanted.then_some(*step)).collect()
}

/// What came of all steps, in their order.
pub struct Report {
    lines: Vec<(&'static str, Duration, Outcome)>,
    time: Duration,
}

/// Where a step stands.
enum State {
    Waiting,
    Running,
    Done(Duration, Outcome),
}

impl Report {
    /// Runs the steps, `lanes` at a time; a failed step does not stop the next.
    pub fn of(steps: &[Step], lanes: usize) -> Self {
        let start = Instant::now();
        let states: Mutex<Vec<State>> = Mutex::new(steps.iter().map(|_| State::Waiting).collect());
        let changed = Condvar::new();
        std::thread::scope(|scope| {
            for _ in 0..lanes.clamp(1, steps.len().max(1)) {
                scope.spawn(|| lane(steps, &states, &changed));
            }
        });
        let states = states.into_inner().unwrap_or_else(PoisonError::into_inner);
        let lines = steps.iter().zip(states).map(|(step, state)| match state {
            State::Done(time, outcome) => (step.name, time, outcome),
            _ => (step.name, Duration::ZERO, Outcome::failed("the step was never run")),
        });
        Self { lines: lines.collect(), time: start.elapsed() }
    }

    /// Prints the summary; its last line is "N passed, N failed" with ", N skipped" after it where checks could not run.
    /// Says whether nothing failed.
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
        let total =
            |count: fn(&Outcome) -> usize| -> usize { self.lines.iter().map(|(.., o)| count(o)).sum() };
        let (failed, skipped) = (total(|o| o.failed.len()), total(|o| o.not_run.len()));
        if skipped > 0 {
            println!("\n*** {skipped} CHECKS COULD NOT RUN HERE ***");
        }
        for (name, _, outcome) in &self.lines {
            outcome.not_run.iter().for_each(|why| println!("NOT RUN: {name}: {why}"));
        }
        for (name, _, outcome) in &self.lines {
            outcome.failed.iter().for_each(|why| println!("FAILED: {name}: {}", last_lines(why)));
        }
        println!("{:.0} s", self.time.as_secs_f64());
        let skipped = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
        println!("{} passed, {failed} failed{skipped}", total(|outcome| outcome.passed));
        failed == 0
    }
}

/// Runs steps until none is left.
fn lane(steps: &[Step], states: &Mutex<Vec<State>>, changed: &Condvar) {
    let lock = || states.lock().unwrap_or_else(PoisonError::into_inner);
    let mut held: MutexGuard<'_, Vec<State>> = lock();
    loop {
        let Some(index) = ready(steps, &held) else {
            if !held.iter().any(|state| matches!(state, State::Waiting)) {
                return;
            }
            held = changed.wait(held).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        held[index] = State::Running;
        drop(held);
        let (time, outcome) = run(&steps[index], steps.len() == 1);
        held = lock();
        held[index] = State::Done(time, outcome);
        changed.notify_all();
    }
}

/// The first step that waits for nothing but a lane.
fn ready(steps: &[Step], states: &[State]) -> Option<usize> {
    let is_building =
        steps.iter().zip(states).any(|(step, state)| step.builds && matches!(state, State::Running));
    let is_done = |name: &&str| {
        let at = steps.iter().position(|step| step.name == *name);
        at.is_none_or(|at| matches!(states[at], State::Done(..)))
    };
    (0..steps.len()).find(|&index| {
        matches!(states[index], State::Waiting)
            && !(steps[index].builds && is_building)
            && steps[index].after.iter().all(is_done)
    })
}

fn run(step: &Step, is_alone: bool) -> (Duration, Outcome) {
    println!("{}: started", step.name);
    let start = Instant::now();
    let log = if is_alone { Log::shown() } else { Log::default() };
    let outcome = (step.run)(&log).unwrap_or_else(|error| Outcome::failed(format!("{error:#}")));
    let time = start.elapsed();
    // One piece, so that what other steps print does not come between.
    let mut text = format!("\n=== {} ===\n{}", step.name, log.rest());
    outcome.failed.iter().for_each(|why| text += &format!("FAILED: {why}\n"));
    outcome.not_run.iter().for_each(|why| text += &format!("NOT RUN: {why}\n"));
    println!("{text}=== {}: {:.1} s ===\n", step.name, time.as_secs_f64());
    (time, outcome)
}

/// The end of a long text, where tools say what went wrong.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static BUILDING: AtomicUsize = AtomicUsize::new(0);
    static FIRST_DONE: AtomicUsize = AtomicUsize::new(0);

    fn build(_: &Log) -> Result<Outcome> {
        assert_eq!(BUILDING.fetch_add(1, Ordering::SeqCst), 0, "two builds at a time");
        std::thread::yield_now();
        BUILDING.fetch_sub(1, Ordering::SeqCst);
        FIRST_DONE.store(1, Ordering::SeqCst);
        Ok(Outcome::passed())
    }

    fn later(_: &Log) -> Result<Outcome> {
        assert_eq!(FIRST_DONE.load(Ordering::SeqCst), 1, "a step ran before what it needs");
        anyhow::bail!("on purpose")
    }

    fn steps() -> Vec<Step> {
        vec![
            Step::new("first", build).builds(),
            Step::new("second", build).builds(),
            Step::new("third", later).after(&["first"]),
            Step::new("fourth", |_| Ok(Outcome::not_run("no tool"))).after(&["third"]),
        ]
    }

    #[test]
    fn steps_run_once_in_order_and_are_counted() {
        let report = Report::of(&steps(), 3);
        let counts: Vec<_> = report
            .lines
            .iter()
            .map(|(name, _, o)| (*name, o.passed, o.failed.len(), o.not_run.len()))
            .collect();
        assert_eq!(
            counts,
            [("first", 1, 0, 0), ("second", 1, 0, 0), ("third", 0, 1, 0), ("fourth", 0, 0, 1)]
        );
        assert!(!report.print());
    }

    #[test]
    fn a_step_brings_those_it_needs() {
        let names =
            |words: &[&str]| -> Vec<&str> { chosen(&steps(), words).iter().map(|step| step.name).collect() };
        assert_eq!(names(&["fourth"]), ["first", "third", "fourth"]);
        assert_eq!(names(&["second"]), ["second"]);
        assert_eq!(names(&[]).len(), 4);
        assert_eq!(names(&["none"]).len(), 0);
    }
}
