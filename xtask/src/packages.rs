//! The check that the crates can be published: what a registry wants to know is there, and every file is in its package.

use std::process::Command;

use anyhow::Result;

use crate::log::Log;
use crate::report::{Outcome, Step};
use crate::{root, target};

/// The crates that are published, in the order in which they can be.
const CRATES: [&str; 5] = ["gatewood", "gatewood-data", "gatewood-paper", "gatewood-cuda", "gatewood-cli"];

/// What a manifest must say, itself or by the workspace.
const FIELDS: [&str; 8] =
    ["description", "license", "readme", "keywords", "categories", "rust-version", "version", "authors"];

/// The most bytes that a registry takes.
const MOST_BYTES: u64 = 10_000_000;

/// The check.
pub fn steps() -> Vec<Step> {
    vec![Step::new("packages", check)]
}

fn check(log: &Log) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for name in CRATES {
        let manifest = std::fs::read_to_string(root().join("crates").join(name).join("Cargo.toml"))?;
        let missing: Vec<&str> = FIELDS
            .into_iter()
            .filter(|field| {
                !manifest.lines().any(|line| {
                    line.starts_with(&format!("{field} =")) || line.starts_with(&format!("{field}."))
                })
            })
            .collect();
        match missing.is_empty() {
            true => outcome.passed += 1,
            false => {
                outcome.failed.push(format!("the manifest of {name} does not say {}", missing.join(", ")))
            }
        }
    }
    // A folder of its own: cargo lets one command at a time into each.
    let folder = target().join("packages");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["package", "--no-verify", "--allow-dirty", "--target-dir"]).arg(&folder);
    CRATES.iter().for_each(|name| {
        command.args(["--package", name]);
    });
    let status = log.run(command.current_dir(root()))?;
    if !status.success() {
        return Ok(Outcome { failed: vec![format!("cargo package ended with {status}")], ..outcome });
    }
    for name in CRATES {
        let file = folder.join("package").join(format!("{name}-{}.crate", env!("CARGO_PKG_VERSION")));
        match std::fs::metadata(&file) {
            Ok(metadata) if metadata.len() < MOST_BYTES => outcome.passed += 1,
            Ok(metadata) => outcome.failed.push(format!("{name} has {} bytes packed", metadata.len())),
            Err(error) => outcome.failed.push(format!("{}: {error}", file.display())),
        }
    }
    Ok(outcome)
}
