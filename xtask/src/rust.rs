//! The checks that cargo makes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::report::{Outcome, Step};
use crate::root;

/// Format, lints, tests, doctests and documentation.
pub fn steps() -> Vec<Step> {
    vec![
        Step { name: "format", run: || cargo(&["fmt", "--all", "--check"]) },
        Step {
            name: "lints",
            run: || cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
        },
        Step { name: "tests", run: || tests(&["test", "--workspace", "--all-targets", "--no-fail-fast"]) },
        Step { name: "doctests", run: || tests(&["test", "--workspace", "--doc", "--no-fail-fast"]) },
        Step { name: "documentation", run: || cargo(&["doc", "--workspace", "--no-deps", "--lib"]) },
    ]
}

/// A command of cargo; warnings of rustdoc are errors.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root()).env("RUSTDOCFLAGS", "-D warnings");
    command
}

/// A command that is one check.
fn cargo(arguments: &[&str]) -> Result<Outcome> {
    let status = command(arguments).status().context("cargo does not start")?;
    Ok(match status.success() {
        true => Outcome::passed(),
        false => Outcome::failed(format!("cargo {} ended with {status}", arguments.join(" "))),
    })
}

/// A command that runs tests: each is a check of its own.
fn tests(arguments: &[&str]) -> Result<Outcome> {
    let mut child = command(arguments).stdout(Stdio::piped()).spawn().context("cargo does not start")?;
    let mut outcome = Outcome::default();
    let mut ignored = 0;
    let stdout = child.stdout.take().expect("the output is piped");
    for line in BufReader::new(stdout).lines() {
        let line = line.context("the output of cargo cannot be read")?;
        writeln!(std::io::stdout(), "{line}")?;
        if let Some(rest) = line.strip_prefix("test ") {
            match rest.rsplit_once(" ... ") {
                Some((_, "ok")) => outcome.passed += 1,
                Some((name, "FAILED")) => outcome.failed.push(format!("the test {name}")),
                Some((_, result)) if result.starts_with("ignored") => ignored += 1,
                _ => {}
            }
        }
    }
    let status = child.wait()?;
    if !status.success() && outcome.failed.is_empty() {
        outcome.failed.push(format!("cargo {} ended with {status}", arguments.join(" ")));
    }
    if ignored > 0 {
        outcome.not_run.push(format!("{ignored} tests are marked as ignored"));
    }
    Ok(outcome)
}
