//! `cargo xtask fuzz`, `kills` and `flips`: attacks that take longer than the tests.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, bail, ensure};

use crate::rust::LEAN;
use crate::{cargo, profile_folder, root, target};

/// The memory that a target may have, in KiB.
const MEMORY: usize = 4_000_000;

/// Runs fuzz targets, each for some minutes, two at a time. Says whether nothing was found.
///
/// With `--libfuzzer` cargo-fuzz runs them, guided by coverage; it needs the nightly toolchain. Otherwise the program
/// `mutate` does, on any toolchain.
pub fn fuzz(arguments: &[&str]) -> Result<bool> {
    let (mut minutes, mut seed, mut is_guided, mut names) = (1.0, 1, false, Vec::new());
    let mut rest = arguments.iter();
    while let Some(&argument) = rest.next() {
        let mut value = || rest.next().with_context(|| format!("{argument} wants a number"));
        match argument {
            "--minutes" => minutes = value()?.parse().context("--minutes wants a number")?,
            "--seed" => seed = value()?.parse().context("--seed wants a whole number")?,
            "--libfuzzer" => is_guided = true,
            name => names.push(name),
        }
    }
    ensure!(minutes > 0.0, "--minutes wants a number above 0");
    let known = targets()?;
    if let Some(name) = names.iter().find(|&&name| !known.iter().any(|known| known == name)) {
        bail!("there is no target {name}; the targets are {}", known.join(", "));
    }
    let chosen: Vec<String> =
        known.into_iter().filter(|name| names.is_empty() || names.contains(&name.as_str())).collect();
    if is_guided {
        return guided(&chosen, minutes);
    }
    // The whole workspace, so that what the tests were built from is used again.
    if !cargo(&[&["build"], &LEAN[..], &["--workspace", "--bin", "mutate"]].concat())? {
        return Ok(false);
    }
    let folder = target().join("fuzz");
    let waiting = Mutex::new(chosen.into_iter());
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().map(|mut waiting| waiting.next());
                    let Ok(Some(name)) = next else { return };
                    if let Err(error) = mutate(&name, minutes, seed, &folder) {
                        println!("FAILED: {name}: {error:#}");
                        failed.lock().map(|mut failed| failed.push(name)).ok();
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_default();
    println!(
        "{}",
        if failed.is_empty() { "nothing was found".into() } else { failed.join(", ") + ": see above" }
    );
    Ok(failed.is_empty())
}

/// The names of the targets.
fn targets() -> Result<Vec<String>> {
    let folder = root().join("fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("{}", folder.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".rs").map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

fn mutate(name: &str, minutes: f64, seed: u64, folder: &std::path::Path) -> Result<()> {
    let seconds = (minutes * 60.0).to_string();
    let program = profile_folder().join("mutate");
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")])
        .arg(program)
        .args([name, &seconds, &seed.to_string()])
        .arg(folder)
        .env("RUST_BACKTRACE", "1")
        .output()?;
    print!("{}", String::from_utf8_lossy(&output.stdout));
    let error = String::from_utf8_lossy(&output.stderr);
    let current = folder.join(format!("{name}.current"));
    ensure!(
        output.status.success(),
        "ended with {}; the last input is {}\n{}",
        output.status,
        current.display(),
        error.lines().filter(|line| !line.starts_with("  ")).take(40).collect::<Vec<_>>().join("\n")
    );
    Ok(())
}

fn guided(names: &[String], minutes: f64) -> Result<bool> {
    let version = Command::new("cargo").args(["+nightly", "fuzz", "--version"]).output();
    if !version.is_ok_and(|version| version.status.success()) {
        bail!("cargo-fuzz or the nightly toolchain is not installed: leave --libfuzzer out");
    }
    let mut is_clean = true;
    for name in names {
        let seeds = PathBuf::from("fuzz/seeds").join(name);
        let corpus = PathBuf::from("fuzz/corpus").join(name);
        std::fs::create_dir_all(root().join(&corpus))?;
        let status = Command::new("cargo")
            .args(["+nightly", "fuzz", "run", "--features", "libfuzzer", name])
            .args([&corpus, &seeds])
            .args(["--", "-malloc_limit_mb=1000", "-timeout=10"])
            .arg(format!("-max_total_time={}", (minutes * 60.0) as u64))
            .current_dir(root())
            .status()?;
        is_clean &= status.success();
    }
    Ok(is_clean)
}

/// Kills the command many times while it writes. Says whether every file was whole and nothing was left behind.
pub fn kills(count: &str) -> Result<bool> {
    let test = ["--test", "safety", "killed_processes_leave_whole_files_and_nothing_else"];
    repeat(count, "GATEWOOD_KILLS", &test)
}

/// Flips one bit of a gate in many random circuits. Says whether each was rightly called equal or different.
pub fn flips(count: &str) -> Result<bool> {
    repeat(count, "GATEWOOD_FLIPS", &["--lib", "a_flipped_bit_is_noticed_where_it_matters"])
}

/// Runs a test with the number of its repetitions in a variable.
fn repeat(count: &str, variable: &str, test: &[&str]) -> Result<bool> {
    let count: u32 = count.parse().context("how often is a whole number")?;
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .arg("test")
        .args(LEAN)
        .arg("--workspace")
        .args(test)
        .args(["--", "--nocapture"])
        .env(variable, count.to_string())
        .current_dir(root())
        .status()?;
    Ok(status.success())
}
