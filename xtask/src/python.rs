//! The checks of the Python package: built into a virtual environment of its own, then tested there.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::report::{Outcome, Step};
use crate::{root, target};

/// The package's tests.
pub fn steps() -> Vec<Step> {
    vec![Step { name: "python", run: tests }]
}

fn tests() -> Result<Outcome> {
    let Some(python) = python() else {
        let why = "there is no Python 3.10 or newer with venv";
        return Ok(Outcome { not_run: vec![why.into()], ..Outcome::default() });
    };
    let package = root().join("python");
    let environment = target().join("tools/python");
    install(&python, &environment, &package.join("tests/requirements.txt"))?;
    let bin = environment.join("bin");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    succeed(Command::new(cargo).args(["build", "--package", "gatewood-cli"]).current_dir(root()))?;
    succeed(
        Command::new(bin.join("maturin"))
            .arg("develop")
            .current_dir(&package)
            .env("VIRTUAL_ENV", &environment)
            .env_remove("CONDA_PREFIX"),
    )?;
    let mut pytest = Command::new(bin.join("python"));
    pytest
        .args(["-m", "pytest", "--durations=5", "-p", "no:cacheprovider"])
        .current_dir(&package)
        .env("GATEWOOD_COMMAND", target().join("debug/gatewood"))
        .stdout(Stdio::piped());
    counted(&mut pytest)
}

/// The interpreter to make the environment with.
pub(crate) fn python() -> Option<PathBuf> {
    let check = "import sys, venv; sys.exit(sys.version_info < (3, 10))";
    ["python3", "python"].into_iter().map(PathBuf::from).find(|python| {
        let status = Command::new(python).args(["-c", check]).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    })
}

/// Makes an environment with what a file asks for, or keeps the one there is if it was made for the same.
pub(crate) fn install(python: &Path, environment: &Path, requirements: &Path) -> Result<()> {
    let wanted = std::fs::read_to_string(requirements)
        .with_context(|| format!("{} cannot be read", requirements.display()))?;
    let stamp = environment.join("installed.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    succeed(Command::new(python).args(["-m", "venv"]).arg(environment))?;
    succeed(
        Command::new(environment.join("bin/python"))
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
            .arg(requirements),
    )?;
    std::fs::write(&stamp, wanted).context("the environment cannot be marked as complete")
}

fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?} does not start"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}

/// Runs pytest: each of its tests is a check of its own.
fn counted(pytest: &mut Command) -> Result<Outcome> {
    let mut child = pytest.spawn().context("pytest does not start")?;
    let mut outcome = Outcome::default();
    let mut last = String::new();
    let stdout = child.stdout.take().expect("the output is piped");
    for line in BufReader::new(stdout).lines() {
        let line = line.context("the output of pytest cannot be read")?;
        writeln!(std::io::stdout(), "{line}")?;
        if let Some(test) = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR ")) {
            outcome.failed.push(test.to_owned());
        }
        if !line.trim().is_empty() {
            last = line;
        }
    }
    let status = child.wait()?;
    outcome.passed = count(&last, "passed");
    let skipped = count(&last, "skipped");
    if skipped > 0 {
        outcome.not_run.push(format!("{skipped} tests were skipped by pytest"));
    }
    outcome.figures.push(last);
    if !status.success() && outcome.failed.is_empty() {
        outcome.failed.push(format!("pytest ended with {status}"));
    }
    Ok(outcome)
}

/// The number before a word in pytest's last line: "210 passed, 2 xfailed in 40.1s".
fn count(line: &str, word: &str) -> usize {
    let words: Vec<&str> = line.split([' ', ',']).filter(|part| !part.is_empty()).collect();
    let at = words.iter().position(|&part| part == word);
    at.and_then(|at| words.get(at.checked_sub(1)?)?.parse().ok()).unwrap_or(0)
}
