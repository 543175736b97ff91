//! The check of what the workspace depends on: licences, sources, and known flaws.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::log::Log;
use crate::report::{Outcome, Step};
use crate::root;

/// Licences that go with ours.
const LICENCES: [&str; 13] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "0BSD",
];

/// The check.
pub fn steps() -> Vec<Step> {
    vec![Step::new("dependencies", check)]
}

fn check(log: &Log) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = [
        "tree",
        "--workspace",
        "--locked",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
        "--format",
        "{p}|{l}",
    ];
    let output = Command::new(&cargo).args(tree).current_dir(root()).output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo tree ended with {}: {error}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    let mut packages: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once('|')).collect();
    packages.sort_unstable();
    packages.dedup();
    for (package, licence) in packages {
        match is_allowed(licence.trim_end_matches(" (*)")) {
            true => outcome.passed += 1,
            false => outcome.failed.push(format!("{package} has the licence \"{licence}\"")),
        }
    }
    // Everything comes from the registry, with a checksum.
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).context("Cargo.lock cannot be read")?;
    for package in lock.split("[[package]]").skip(1).filter(|package| package.contains("\nsource = ")) {
        let is_safe = package.contains("\nsource = \"registry+") && package.contains("\nchecksum = ");
        if !is_safe {
            outcome.failed.push(format!("a package that is not from the registry:{package}"));
        }
    }
    outcome.passed += 1;
    advisories(log, &mut outcome)?;
    Ok(outcome)
}

/// Whether one of the alternatives of a licence is allowed in all its parts.
fn is_allowed(licence: &str) -> bool {
    let plain = licence.replace(['(', ')'], "");
    plain
        .split(" OR ")
        .flat_map(|part| part.split('/'))
        .any(|alternative| alternative.split(" AND ").all(|part| LICENCES.contains(&part.trim())))
}

/// Known flaws of what is depended on, where a tool that knows them is installed and its list can be had.
fn advisories(log: &Log, outcome: &mut Outcome) -> Result<()> {
    let tools: [(&str, &[&str]); 2] = [("audit", &["audit"]), ("deny", &["deny", "check", "advisories"])];
    for (name, arguments) in tools {
        let is_installed = Command::new("cargo").args([name, "--version"]).output();
        if !is_installed.is_ok_and(|output| output.status.success()) {
            continue;
        }
        let mut said = String::new();
        let mut command = Command::new("cargo");
        command.args(arguments).current_dir(root());
        let status = log.run_lines(&mut command, &mut |line| said += &format!("{line}\n"))?;
        let is_unreachable = ["fetch", "network", "resolve host"].iter().any(|word| said.contains(word));
        match status.success() {
            true => outcome.passed += 1,
            false if is_unreachable && !said.contains("RUSTSEC-") => {
                outcome.not_run.push(format!("cargo {name} cannot fetch the list of known flaws"));
            }
            false => outcome.failed.push(format!("cargo {name}: {said}")),
        }
        return Ok(());
    }
    let why =
        "neither cargo-audit nor cargo-deny is installed: known flaws of dependencies were not looked for";
    outcome.not_run.push(why.into());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn licences_are_read_as_they_are_written() {
        for good in
            ["MIT OR Apache-2.0", "MIT/Apache-2.0", "(MIT OR Apache-2.0) AND Unicode-3.0", "GPL-3.0 OR MIT"]
        {
            assert!(is_allowed(good), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "LGPL-2.1-only"] {
            assert!(!is_allowed(bad), "{bad}");
        }
    }
}
