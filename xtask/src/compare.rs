//! `cargo xtask compare`: Gatewood beside others on the same rows; and a check of the report it ends in.
//!
//! The work is done by `bench/compare` in Python; here its environment is made and its commands are called.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::log::Log;
use crate::python::{install, python};
use crate::report::{Outcome, Step};
use crate::{cargo, root, target};

/// The report made of results that are kept for this.
pub fn steps() -> Vec<Step> {
    vec![Step::new("compare", check)]
}

/// Runs the comparison with arguments of `bench/compare/run.py`, then makes the report. Says whether all jobs ended. After the word
/// `regression`, the arguments are those of `bench/compare/regression.py`, which makes its own.
pub fn run(arguments: &[&str]) -> Result<bool> {
    let python = python().context("there is no Python 3.10 or newer with venv")?;
    let environment = target().join("tools/compare");
    install(&Log::shown(), &python, &environment, &folder().join("requirements.txt"))?;
    if !cargo(&["build", "--release", "--package", "gatewood-cli"])? {
        bail!("the command could not be built");
    }
    let interpreter = environment.join("bin/python");
    if let Some(("regression", arguments)) = arguments.split_first().map(|(first, rest)| (*first, rest)) {
        // Where the report goes is said after the default, and so wins.
        let out = target().join("compare/regression");
        return Ok(command(&interpreter, "regression.py", &out, arguments).status()?.success());
    }
    let out = out(arguments);
    let status = command(&interpreter, "run.py", &out, arguments).status()?;
    let results = out.join("results.jsonl");
    let has_results = std::fs::metadata(&results).is_ok_and(|metadata| metadata.len() > 0);
    if !has_results {
        return Ok(status.success());
    }
    let report = Command::new(&interpreter)
        .arg(folder().join("report.py"))
        .arg(&results)
        .arg("--out")
        .arg(&out)
        .status()?;
    Ok(status.success() && report.success())
}

/// A program of the folder, with the command to measure and a folder for results.
fn command(interpreter: &Path, program: &str, out: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(interpreter);
    command.arg(folder().join(program)).arg("--gatewood").arg(target().join("release/gatewood"));
    command.arg("--out").arg(out).args(arguments);
    command
}

/// Where the Python files are.
fn folder() -> PathBuf {
    root().join("bench/compare")
}

/// The folder of results: what the arguments say, or one beside what cargo builds.
fn out(arguments: &[&str]) -> PathBuf {
    let mut said = None;
    for (index, argument) in arguments.iter().enumerate() {
        if let Some(path) = argument.strip_prefix("--out=") {
            said = Some(path);
        } else if *argument == "--out" {
            said = arguments.get(index + 1).copied();
        }
    }
    said.map_or_else(|| target().join("compare"), |path| Path::new(path).to_path_buf())
}

fn check(log: &Log) -> Result<Outcome> {
    let Some(python) = python() else {
        return Ok(Outcome::not_run("there is no Python 3.10 or newer with venv"));
    };
    let tests = ["-B", "-m", "unittest", "test_report"];
    let status = log.run(Command::new(python).args(tests).current_dir(folder()))?;
    Ok(match status.success() {
        true => Outcome::passed(),
        false => Outcome::failed(format!("the tests of the report ended with {status}")),
    })
}
