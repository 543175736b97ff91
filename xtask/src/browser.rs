//! The checks in a real browser: the pages that the command writes, in Chromium, driven by Playwright.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::log::Log;
use crate::report::{Outcome, Step};
use crate::wasm::{Compiler, NO_COMPILER};
use crate::{cargo, profile_folder, root, site, target};

/// The browsers that may be installed.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The checks.
pub fn steps() -> Vec<Step> {
    vec![
        Step::new("browser: packages", packages),
        Step::new("browser: explorer", explorer).after(&["build", "browser: packages"]),
        Step::new("browser: playground", playground).after(&["build", "browser: packages", "playground"]),
    ]
}

/// The folder of Playwright, which drives the browser.
fn folder() -> PathBuf {
    target().join("tools/browser")
}

/// What is not installed here, if anything.
fn missing() -> Option<&'static str> {
    if browser().is_none() {
        return Some("Chromium is not installed (Debian: apt-get install chromium)");
    }
    let has = |program: &str| {
        let status =
            Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    if !has("node") || !has("npm") {
        return Some("Node.js and npm are not installed (Debian: apt-get install nodejs npm)");
    }
    None
}

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).flat_map(|folder| BROWSERS.map(|name| folder.join(name)));
    found.into_iter().find(|program| program.is_file())
}

/// Fetches Playwright, while other steps compile.
fn packages(log: &Log) -> Result<Outcome> {
    if let Some(why) = missing() {
        return Ok(Outcome::not_run(why));
    }
    let wanted = std::fs::read_to_string(root().join("site/tests/package.json"))?;
    let (folder, stamp) = (folder(), folder().join("installed.json"));
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(Outcome::passed());
    }
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("package.json"), &wanted)?;
    let quiet = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
    log.must(Command::new("npm").args(quiet).current_dir(&folder))?;
    std::fs::write(&stamp, wanted).context("the packages cannot be marked as complete")?;
    Ok(Outcome::passed())
}

/// `cargo xtask pages FOLDER`: the pages of large models, from data sets in a folder.
pub fn pages(data: &str) -> Result<bool> {
    let log = Log::shown();
    packages(&log)?;
    if !cargo(&["build", "--release", "--quiet", "-p", "gatewood-cli"])? {
        return Ok(false);
    }
    let mut node = node("large.mjs", &target().join("browser/large"))?;
    node.env("GATEWOOD_COMMAND", target().join("release/gatewood")).env("GATEWOOD_DATA", data);
    Ok(counted(&log, &mut node)?.failed.is_empty())
}

fn explorer(log: &Log) -> Result<Outcome> {
    run(log, "explorer.mjs", &target().join("browser"))
}

fn playground(log: &Log) -> Result<Outcome> {
    if let Some(why) = missing() {
        return Ok(Outcome::not_run(why));
    }
    if Compiler::find().is_none() {
        return Ok(Outcome::not_run(NO_COMPILER));
    }
    run(log, "playground.mjs", &target().join("browser/playground"))
}

/// Runs a file of tests.
fn run(log: &Log, tests: &str, results: &Path) -> Result<Outcome> {
    if let Some(why) = missing() {
        return Ok(Outcome::not_run(why));
    }
    counted(log, &mut node(tests, results)?)
}

/// Node with a file of tests.
fn node(tests: &str, results: &Path) -> Result<Command> {
    let mut node = Command::new("node");
    node.arg(root().join("site/tests").join(tests))
        .env("GATEWOOD_PLAYWRIGHT", folder().join("node_modules/playwright-core"))
        .env("GATEWOOD_CHROMIUM", browser().context("Chromium is not installed")?)
        .env("GATEWOOD_COMMAND", profile_folder().join("gatewood"))
        .env("GATEWOOD_PLAYGROUND", site::page())
        .env("GATEWOOD_BROWSER_FOLDER", results);
    Ok(node)
}

/// Runs a command: each line that it prints and that starts with "ok" or "FAILED" is a check of its own.
pub(crate) fn counted(log: &Log, node: &mut Command) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let status = log.run_lines(node, &mut |line| {
        if let Some(check) = line.strip_prefix("ok ") {
            outcome.passed += 1;
            if check.contains("answers at once") || check.contains("as the command learns them") {
                outcome.figures.push(check.to_owned());
            }
        } else if let Some(check) = line.strip_prefix("FAILED ") {
            outcome.failed.push(check.to_owned());
        }
    })?;
    if outcome.passed == 0 && outcome.failed.is_empty() {
        bail!("the tests ended with {status} before the first check");
    }
    if !status.success() && outcome.failed.is_empty() {
        bail!("the tests ended with {status}");
    }
    Ok(outcome)
}
