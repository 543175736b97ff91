//! The Python package as people install it: a wheel, and sources that build one, tried in clean environments.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::log::Log;
use crate::python::{environment, python};
use crate::report::{Outcome, Step};
use crate::{profile_folder, root, target};

/// A wheel around the module that the build made, so that nothing is compiled for it.
pub fn steps() -> Vec<Step> {
    vec![Step::new("python: wheel", check).after(&["build", "python: packages"])]
}

fn check(log: &Log) -> Result<Outcome> {
    let Some(python) = python() else {
        return Ok(Outcome::not_run("there is no Python 3.10 or newer with venv"));
    };
    let folder = target().join("wheels/tests");
    let _ = std::fs::remove_dir_all(&folder);
    let mut pack = Command::new(environment().join("bin/python"));
    pack.arg(root().join("python/wheel.py")).arg(profile_folder().join("lib_core.so")).arg(&folder);
    log.must(&mut pack)?;
    try_out(log, &python, &only_file(&folder)?)?;
    Ok(Outcome::passed())
}

/// Makes a wheel as it is released, for this machine or for another, and the package of sources; installs both into clean
/// environments of every Python from 3.10 on that is found, and runs a small program there.
pub fn make(arguments: &[&str]) -> Result<bool> {
    let log = Log::shown();
    let python = python().context("there is no Python 3.10 or newer with venv")?;
    crate::python::install(&log, &python, &environment(), &root().join("python/tests/requirements.txt"))?;
    if let ["--target", other] = arguments {
        // The linker that Debian has for it, as in `gcc-aarch64-linux-gnu`.
        let machine = other.split('-').next().unwrap_or(other);
        let linker = format!("CARGO_TARGET_{}_LINKER", other.to_uppercase().replace('-', "_"));
        let program = format!("{machine}-linux-gnu-gcc");
        let wheel = maturin(
            &log,
            "build",
            &["--release", "--target", other, "--auditwheel", "skip"],
            &[(&linker, &program)],
        )?;
        println!("{} (not tried: it is for another machine)", wheel.display());
        return Ok(true);
    }
    ensure!(arguments.is_empty(), "usage: cargo xtask wheel [--target TRIPLE]");
    let wheel = maturin(&log, "build", &["--release"], &[])?;
    for python in pythons() {
        try_out(&log, &python, &wheel)?;
    }
    let sources = maturin(&log, "sdist", &[], &[])?;
    try_out(&log, &python, &sources)?;
    println!("{}\n{}", wheel.display(), sources.display());
    Ok(true)
}

/// Runs maturin; gives the one file that it makes.
fn maturin(log: &Log, what: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Result<PathBuf> {
    let folder = target().join("wheels").join(if variables.is_empty() { what } else { "other-machines" });
    let _ = std::fs::remove_dir_all(&folder);
    let mut command = Command::new(environment().join("bin/maturin"));
    command.args([what, "--manifest-path", "python/Cargo.toml", "--out"]).arg(&folder).args(arguments);
    command.envs(variables.iter().copied()).current_dir(root());
    log.must(&mut command)?;
    only_file(&folder)
}

/// The one file of a folder.
fn only_file(folder: &Path) -> Result<PathBuf> {
    let files: Vec<_> = std::fs::read_dir(folder)?.collect::<std::io::Result<_>>()?;
    ensure!(files.len() == 1, "{} holds {} files, not one", folder.display(), files.len());
    Ok(files[0].path())
}

/// Every Python from 3.10 on: those that can be called by their version, and those that pyenv keeps.
fn pythons() -> Vec<PathBuf> {
    let kept = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let kept = kept.or_else(|| Some(std::env::home_dir()?.join(".pyenv"))).map(|home| home.join("versions"));
    let kept = kept.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let mut found: Vec<(String, PathBuf)> = (10..30)
        .map(|minor| PathBuf::from(format!("python3.{minor}")))
        .chain(kept.map(|version| version.path().join("bin/python")))
        .chain(python())
        .filter_map(|python| Some((version(&python)?, python)))
        .collect();
    found.sort();
    found.dedup_by(|a, b| a.0 == b.0);
    found.into_iter().map(|(_, python)| python).collect()
}

/// The version of an interpreter that is new enough, such as "3.12".
fn version(python: &Path) -> Option<String> {
    let ask = "import sys, venv; assert sys.version_info >= (3, 10); print('%d.%d' % sys.version_info[:2])";
    let output = Command::new(python).args(["-c", ask]).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Installs a wheel or sources into an empty environment, with what it depends on and nothing else, and runs what README
/// shows of Python.
fn try_out(log: &Log, python: &Path, package: &Path) -> Result<()> {
    let version = version(python).context("the interpreter does not start")?;
    let home = target().join("tools").join(format!("wheel-{version}"));
    log.must(Command::new(python).args(["-m", "venv", "--clear"]).arg(&home))?;
    let clean = home.join("bin/python");
    let pip = ["-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"];
    log.must(Command::new(&clean).args(pip).arg(package))?;
    let readme = std::fs::read_to_string(root().join("README.md"))?;
    let program = readme.split("```python\n").nth(1).and_then(|rest| rest.split("```").next());
    let program = program.context("README.md shows no Python")?;
    let mut command = Command::new(&clean);
    // In an empty folder: what is imported is what was installed.
    let folder = home.join("tried");
    std::fs::create_dir_all(&folder)?;
    log.say(&format!("README's example on Python {version}:"));
    log.must(command.args(["-c", program]).current_dir(&folder))?;
    ensure!(folder.join("cancer.v").is_file(), "the example wrote no Verilog");
    Ok(())
}
