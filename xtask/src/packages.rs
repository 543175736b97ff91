//! The check that the crates can be published: what a registry wants to know is there, every file is in its package, each
//! package is small enough, and `cargo publish --dry-run` of all of them, each on top of the others, has nothing to say
//! against it. They are not compiled from their packages: that would take minutes, and `cargo xtask publish` does it.

use std::process::Command;

use anyhow::Result;

use crate::log::Log;
use crate::report::{Outcome, Step};
use crate::{root, target};

/// The crates that are published, in the order in which they can be.
const CRATES: [&str; 5] = ["gatewood", "gatewood-data", "gatewood-paper", "gatewood-cuda", "gatewood-cli"];

/// What a manifest must say, itself or by the workspace.
const FIELDS: [&str; 9] = [
    "description",
    "license",
    "readme",
    "keywords",
    "categories",
    "documentation",
    "rust-version",
    "version",
    "authors",
];

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
    let (mut packaged, mut warnings) = (Vec::new(), Vec::new());
    let status = log.run_lines(dry_run(&["--no-verify"]).current_dir(root()), &mut |line| {
        if let Some(package) = line.trim_start().strip_prefix("Packaged ") {
            packaged.push(package.to_owned());
        }
        if line.starts_with("warning: ") && !line.contains("aborting upload due to dry run") {
            warnings.push(line.to_owned());
        }
    })?;
    if !status.success() {
        outcome.failed.push(format!("cargo publish --dry-run ended with {status}"));
        return Ok(outcome);
    }
    outcome.passed += 1;
    outcome.failed.extend(warnings.into_iter().map(|line| format!("cargo publish --dry-run: {line}")));
    if packaged.len() != CRATES.len() {
        outcome.failed.push(format!("{} crates were packed, not {}", packaged.len(), CRATES.len()));
    }
    for package in packaged {
        match compressed(&package) {
            Some(bytes) if bytes < MOST_BYTES => outcome.passed += 1,
            _ => outcome.failed.push(format!("a package is too large, or its size is not said: {package}")),
        }
    }
    Ok(outcome)
}

/// `cargo publish --dry-run` of all crates, each on top of the others; compiles them from their packages.
pub fn publish() -> Result<bool> {
    Ok(dry_run(&["--config", "profile.dev.opt-level=0"]).current_dir(root()).status()?.success())
}

/// The command, in a folder of its own: cargo lets one at a time into each.
fn dry_run(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["publish", "--dry-run", "--allow-dirty", "--target-dir"]).arg(target().join("packages"));
    command.args(arguments);
    CRATES.iter().for_each(|name| {
        command.args(["--package", name]);
    });
    command
}

/// The bytes of a package, from what cargo says of it: "303 files, 2.2MiB (590.3KiB compressed)".
fn compressed(said: &str) -> Option<u64> {
    let size = said.split_once('(')?.1.strip_suffix(" compressed)")?;
    let unit = size.find(|letter: char| letter.is_ascii_alphabetic())?;
    let number: f64 = size[..unit].parse().ok()?;
    let times = match &size[unit..] {
        "B" => 1.0,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        _ => return None,
    };
    Some((number * times) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_what_cargo_says() {
        assert_eq!(compressed("303 files, 2.2MiB (590.5KiB compressed)"), Some(604_672));
        assert_eq!(compressed("3 files, 2.2KiB (12B compressed)"), Some(12));
        assert_eq!(compressed("3 files, 2.2TiB (12.0GiB compressed)"), None);
        assert_eq!(compressed("3 files"), None);
    }
}
