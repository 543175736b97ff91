//! The checks of the Python package: the module that the build made, in a virtual environment of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::log::Log;
use crate::report::{Outcome, Step};
use crate::{profile_folder, root, target};

const NO_PYTHON: &str = "there is no Python 3.10 or newer with venv";

/// The package's tests, and the environment that they need.
pub fn steps() -> Vec<Step> {
    vec![
        Step::new("python: packages", packages),
        Step::new("python: tests", tests).after(&["build", "python: packages"]),
    ]
}

/// The environment with what tests and packages of Python need.
pub(crate) fn environment() -> PathBuf {
    target().join("tools/python")
}

/// Fetches what the tests need, while other steps compile.
fn packages(log: &Log) -> Result<Outcome> {
    let Some(python) = python() else { return Ok(Outcome::not_run(NO_PYTHON)) };
    install(log, &python, &environment(), &root().join("python/tests/requirements.txt"))?;
    Ok(Outcome::passed())
}

fn tests(log: &Log) -> Result<Outcome> {
    if python().is_none() {
        return Ok(Outcome::not_run(NO_PYTHON));
    }
    let package = root().join("python");
    let interpreter = environment().join("bin/python");
    // What `maturin develop` does, with the module that the build made along with everything else.
    let ask = "import sysconfig; print(sysconfig.get_path('platlib'))";
    let output = Command::new(&interpreter).args(["-c", ask]).output().context("there is no environment")?;
    let packages = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    std::fs::write(packages.join("gatewood.pth"), format!("{}\n", package.join("src").display()))?;
    let module = package.join("src/gatewood/_core.abi3.so");
    // A new file: a process that has the old one loaded keeps it.
    let _ = std::fs::remove_file(&module);
    std::fs::copy(profile_folder().join("lib_core.so"), &module).context("the module was not built")?;
    let mut pytest = Command::new(&interpreter);
    pytest
        .args(["-m", "pytest", "--durations=5", "-p", "no:cacheprovider"])
        .current_dir(&package)
        .env("GATEWOOD_COMMAND", profile_folder().join("gatewood"));
    counted(log, &mut pytest)
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
pub(crate) fn install(log: &Log, python: &Path, environment: &Path, requirements: &Path) -> Result<()> {
    let wanted = std::fs::read_to_string(requirements)
        .with_context(|| format!("{} cannot be read", requirements.display()))?;
    let stamp = environment.join("installed.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    log.must(Command::new(python).args(["-m", "venv"]).arg(environment))?;
    // What is imported is compiled then; most of it never is.
    let pip = ["-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", "-r"];
    log.must(Command::new(environment.join("bin/python")).args(pip).arg(requirements))?;
    std::fs::write(&stamp, wanted).context("the environment cannot be marked as complete")
}

/// Runs pytest: each of its tests is a check of its own.
fn counted(log: &Log, pytest: &mut Command) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut last = String::new();
    let status = log.run_lines(pytest, &mut |line| {
        if let Some(test) = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR ")) {
            outcome.failed.push(test.to_owned());
        }
        if !line.trim().is_empty() {
            last = line.to_owned();
        }
    })?;
    outcome.passed = count(&last, "passed");
    let skipped = count(&last, "skipped");
    if skipped > 0 {
        outcome.not_run.push(format!("{skipped} tests were skipped by pytest"));
    }
    outcome.figures.push(last);
    if !status.success() && outcome.failed.is_empty() {
        bail!("pytest ended with {status}");
    }
    Ok(outcome)
}

/// The number before a word in pytest's last line: "210 passed, 2 xfailed in 40.1s".
fn count(line: &str, word: &str) -> usize {
    let words: Vec<&str> = line.split([' ', ',']).filter(|part| !part.is_empty()).collect();
    let at = words.iter().position(|&part| part == word);
    at.and_then(|at| words.get(at.checked_sub(1)?)?.parse().ok()).unwrap_or(0)
}
