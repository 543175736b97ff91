//! The checks that cargo makes.
//!
//! All of them name the whole workspace, so that the features of every crate are those of the whole: a build of one crate
//! alone would compile most of the others again.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::log::Log;
use crate::report::{Outcome, Step};
use crate::{root, target};

/// Format, lints, tests, doctests and documentation.
pub fn steps() -> Vec<Step> {
    vec![
        Step::new("format", format),
        Step::new("build", build).builds(),
        Step::new("tests", run_tests).after(&["build"]),
        Step::new("lints", |log| {
            cargo(log, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
        })
        .after(&["build"])
        .builds(),
        Step::new("documentation", |log| cargo(log, &["doc", "--workspace", "--no-deps", "--lib"]))
            .after(&["lints"])
            .builds(),
        Step::new("doctests", |log| {
            let mut command = command(&["test", "--workspace", "--doc", "--no-fail-fast"]);
            counted(log, &mut command, Outcome::default())
        })
        .after(&["documentation"])
        .builds(),
    ]
}

/// A command of cargo; warnings of rustdoc are errors.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let (name, rest) = arguments.split_at(1);
    command.args(name).args(LEAN).args(rest).current_dir(root()).env("RUSTDOCFLAGS", "-D warnings");
    command
}

/// Without debug information of the library and of what the workspace depends on: nobody steps through it here, and it
/// takes a good part of the time to compile and to link.
pub const LEAN: [&str; 4] = [
    "--config",
    "profile.dev.package.\"*\".debug=false",
    "--config",
    "profile.dev.package.gatewood.debug=false",
];

/// A command that is one check.
fn cargo(log: &Log, arguments: &[&str]) -> Result<Outcome> {
    let status = log.run(&mut command(arguments))?;
    Ok(match status.success() {
        true => Outcome::passed(),
        false => Outcome::failed(format!("cargo {} ended with {status}", arguments.join(" "))),
    })
}

fn format(log: &Log) -> Result<Outcome> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = log.run(Command::new(cargo).args(["fmt", "--all", "--check"]).current_dir(root()))?;
    Ok(match status.success() {
        true => Outcome::passed(),
        false => Outcome::failed("`cargo fmt --all` changes files"),
    })
}

/// Where the names of the programs with tests are kept: a line each, with the folder of their crate.
fn list() -> PathBuf {
    target().join("checks").join("tests.txt")
}

/// What cargo says of a program that was compiled to test something: the end of its profile.
const IS_TEST: &str = "\"test\":true},\"features\"";

/// Compiles everything that other steps run: the tests, the command and the Python module.
fn build(log: &Log) -> Result<Outcome> {
    let arguments = ["test", "--workspace", "--tests", "--no-run"];
    let mut outcome = cargo(log, &arguments)?;
    // Once more, with nothing left to compile, for the names of the programs.
    let output = command(&arguments).args(["--message-format", "json"]).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let programs = text.lines().filter(|line| line.contains(IS_TEST)).filter_map(|line| {
        Some(format!("{}\t{}\n", field(line, "manifest_path")?, field(line, "executable")?))
    });
    std::fs::create_dir_all(target().join("checks"))?;
    std::fs::write(list(), programs.collect::<String>()).context("the names of the tests cannot be kept")?;
    // The same features, so that only what the tests did not need is compiled.
    let rest = cargo(log, &["build", "--workspace", "--lib", "--bin", "gatewood"])?;
    outcome.passed += rest.passed;
    outcome.failed.extend(rest.failed);
    Ok(outcome)
}

/// The text of a field in a line of JSON as cargo writes it.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split_once(&format!("\"{name}\":\""))?.1.split('"').next()
}

/// The programs with tests that [`build`] compiled, each with the folder of its crate.
pub fn test_programs() -> Result<Vec<(PathBuf, PathBuf)>> {
    let programs = std::fs::read_to_string(list()).context("the tests were not compiled")?;
    let split = |line: &str| {
        let (manifest, program) = line.split_once('\t')?;
        Some((Path::new(manifest).parent()?.to_path_buf(), PathBuf::from(program)))
    };
    Ok(programs.lines().filter_map(split).collect())
}

/// Runs what [`build`] compiled, without cargo, so that cargo can compile something else meanwhile.
fn run_tests(log: &Log) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for (folder, program) in test_programs()? {
        log.say(&format!("{}", program.display()));
        let mut command = Command::new(program);
        command.current_dir(&folder).env("CARGO_MANIFEST_DIR", &folder);
        outcome = counted(log, &mut command, outcome)?;
    }
    if outcome.passed == 0 && outcome.failed.is_empty() {
        outcome.failed.push("there are no tests".into());
    }
    Ok(outcome)
}

/// Runs a command that runs tests: each is a check of its own.
fn counted(log: &Log, command: &mut Command, mut outcome: Outcome) -> Result<Outcome> {
    let failed_before = outcome.failed.len();
    let mut ignored = 0;
    let status = log.run_lines(command, &mut |line| {
        if let Some((name, result)) = line.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... ")) {
            match result {
                "ok" => outcome.passed += 1,
                "FAILED" => outcome.failed.push(format!("the test {name}")),
                result if result.starts_with("ignored") => ignored += 1,
                _ => {}
            }
        }
    })?;
    if !status.success() && outcome.failed.len() == failed_before {
        outcome.failed.push(format!("{command:?} ended with {status}"));
    }
    if ignored > 0 {
        outcome.figures.push(format!("{ignored} measurements are marked as ignored"));
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_in_what_cargo_writes() {
        let line = r#"{"reason":"compiler-artifact","manifest_path":"/a/Cargo.toml","executable":"/b/c-1"}"#;
        assert_eq!(field(line, "manifest_path"), Some("/a/Cargo.toml"));
        assert_eq!(field(line, "executable"), Some("/b/c-1"));
        assert_eq!(field(&line.replace("\"/b/c-1\"", "null"), "executable"), None);
    }
}
