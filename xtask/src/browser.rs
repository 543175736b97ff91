//! The checks in a real browser: the pages that the command writes, in Chromium, driven by Playwright.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::log::Log;
use crate::report::{Outcome, Step};
use crate::wasm::{Compiler, NO_COMPILER};
use crate::{profile_folder, root, site, target};

/// The browsers that may be installed.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The checks.
pub fn steps() -> Vec<Step> {
    vec![
        Step::new("browser: packages", packages),
        Step::new("browser: explorer", explorer).after(&["build", "browser: packages"]),
        Step::new("browser: playground", playground).after(&["build", "browser: packages"]).builds(),
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

fn explorer(log: &Log) -> Result<Outcome> {
    run(log, "explorer.mjs", &target().join("browser"))
}

/// Builds the playground and tests it.
fn playground(log: &Log) -> Result<Outcome> {
    if let Some(why) = missing() {
        return Ok(Outcome::not_run(why));
    }
    if Compiler::find().is_none() {
        return Ok(Outcome::not_run(NO_COMPILER));
    }
    site::build(log)?;
    run(log, "playground.mjs", &target().join("browser/playground"))
}

/// Runs a file of tests: each line that starts with "ok" or "FAILED" is a check of its own.
fn run(log: &Log, tests: &str, results: &Path) -> Result<Outcome> {
    let Some(browser) = browser() else {
        return Ok(Outcome::not_run("the browser tests need Chromium, which is not installed"));
    };
    if let Some(why) = missing() {
        return Ok(Outcome::not_run(why));
    }
    let mut outcome = Outcome::default();
    let mut node = Command::new("node");
    node.arg(root().join("site/tests").join(tests))
        .env("GATEWOOD_PLAYWRIGHT", folder().join("node_modules/playwright-core"))
        .env("GATEWOOD_CHROMIUM", browser)
        .env("GATEWOOD_COMMAND", profile_folder().join("gatewood"))
        .env("GATEWOOD_PLAYGROUND", site::page())
        .env("GATEWOOD_BROWSER_FOLDER", results);
    let status = log.run_lines(&mut node, &mut |line| {
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
        bail!("the browser tests ended with {status} before the first check");
    }
    if !status.success() && outcome.failed.is_empty() {
        bail!("the browser tests ended with {status}");
    }
    Ok(outcome)
}
