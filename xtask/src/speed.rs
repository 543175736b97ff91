//! `cargo xtask speed`: how many instructions commands take, now and at another commit.
//!
//! Instructions hardly depend on what else a machine does, so that one run shows a change of half a percent. They are
//! counted by Callgrind on one thread. They are no seconds: a change that moves memory or widens vectors shows less than
//! it gains.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::{root, target};

/// What is measured: a name, and the words of the command. They run one after the other in one folder.
const JOBS: [(&str, &str); 7] = [
    ("start", "--version"),
    (
        "train a grove of images",
        "train mnist35 --patterns 0 --rounds 20 --seed 1 --threads 1 -o images.gw --quiet",
    ),
    (
        "train a tree of images",
        "train mnist35 --model tree --depth 6 --climb 2k --seed 1 --threads 1 --quiet",
    ),
    ("make rows", "data make gauss:train=4000,test=0 -o rows.csv --quiet"),
    ("train a grove of bits", "train rows.csv --rounds 10 --seed 1 --threads 1 -o rows.gw --quiet"),
    ("predict images", "predict images.gw mnist35 --threads 1 -o classes.csv --quiet"),
    ("export Verilog", "export rows.gw -o rows.v --quiet"),
];

/// A change of more than this part is worth a line of its own.
const WORTH_TELLING: f64 = 0.01;

/// Counts the instructions of the command as it is, beside those at another commit or of another program if one is given;
/// or of two given ones. Says whether nothing takes more than a hundredth longer.
pub fn run(arguments: &[&str]) -> Result<bool> {
    let has_callgrind = Command::new("valgrind").arg("--version").output();
    ensure!(has_callgrind.is_ok(), "valgrind is not installed, and it counts the instructions");
    let (before, now) = match arguments {
        [] => (None, None),
        [before] => (Some(*before), None),
        [before, now] => (Some(*before), Some(*now)),
        _ => bail!("at most two commits or programs are compared"),
    };
    let before = before.map(|before| program(before, "before")).transpose()?;
    let now = match now {
        Some(now) => program(now, "now")?,
        None => build(root(), "now")?,
    };
    let now = measure(&now)?;
    let before = before.map(|program| measure(&program)).transpose()?;
    println!("{:28} {:>16} {:>16} {:>8}", "instructions", "before", "now", "change");
    let mut is_fine = true;
    for (index, (name, _)) in JOBS.iter().enumerate() {
        let count = now[index];
        let Some(before) = before.as_ref().map(|before| before[index]) else {
            println!("{name:28} {:>16} {count:>16}", "");
            continue;
        };
        let change = count as f64 / before as f64 - 1.0;
        let mark = if change > WORTH_TELLING { "  slower" } else { "" };
        println!("{name:28} {before:>16} {count:>16} {:>+7.2} %{mark}", 100.0 * change);
        is_fine &= change <= WORTH_TELLING;
    }
    Ok(is_fine)
}

/// A program as it is, or the command at a commit.
fn program(given: &str, name: &str) -> Result<PathBuf> {
    if Path::new(given).is_file() { Ok(Path::new(given).canonicalize()?) } else { build_at(given, name) }
}

/// The command of a folder, optimised, kept under a name. What it depends on is compiled once for all.
fn build(folder: &Path, name: &str) -> Result<PathBuf> {
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--package", "gatewood-cli", "--target-dir"])
        .arg(target())
        .current_dir(folder)
        .status()?;
    ensure!(status.success(), "the command cannot be built in {}", folder.display());
    let kept = target().join("speed").join(name);
    std::fs::create_dir_all(target().join("speed"))?;
    std::fs::copy(target().join("release/gatewood"), &kept)?;
    Ok(kept)
}

/// The command at a commit, built in a worktree of its own.
fn build_at(commit: &str, name: &str) -> Result<PathBuf> {
    let place = target().join("speed").join(format!("{name}-worktree"));
    let git = |arguments: &[&str]| -> Result<()> {
        let status = Command::new("git").args(arguments).current_dir(root()).status()?;
        ensure!(status.success(), "git {} ended with {status}", arguments.join(" "));
        Ok(())
    };
    let folder = place.to_string_lossy();
    if place.is_dir() {
        git(&["worktree", "remove", "--force", &folder])?;
    }
    git(&["worktree", "add", "--detach", &folder, commit])?;
    let built = build(&place, name);
    git(&["worktree", "remove", "--force", &folder])?;
    built
}

/// The instructions of each job.
fn measure(program: &Path) -> Result<Vec<u64>> {
    let folder = target().join("speed/work");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    let count = |words: &str| -> Result<u64> {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(program)
            .args(words.split(' '))
            .current_dir(&folder)
            // Valgrind does not know the widest vectors.
            .env("GATEWOOD_SIMD", "avx2")
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{words}: {said}");
        let line =
            said.lines().find_map(|line| line.split_once("Collected : ")).context("nothing was counted")?;
        line.1.trim().parse().with_context(|| format!("\"{}\" is no number of instructions", line.1))
    };
    JOBS.iter().map(|(_, words)| count(words)).collect()
}
