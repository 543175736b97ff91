//! The book: running the commands of its pages and writing their output into them, and checking that its pages hang together.
//!
//! A block fenced as ```` ```console ```` is run, line by line: what follows each line that starts with `$ ` is replaced by
//! what that command prints. The commands of a page share a folder that is empty at first; a line that ends in a comment
//! `# quietly` prints nothing. `$BOOK` is the folder of the pages. Other blocks are left as they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::log::Log;
use crate::report::{Outcome, Step};
use crate::{cargo, root, target};

/// The version of mdBook that the book is built with.
const MDBOOK: &str = "0.5.4";

/// The checks of the book.
pub fn steps() -> Vec<Step> {
    vec![Step::new("book", check)]
}

/// Runs the commands of all pages, or of those whose names contain one of the words, and writes what they print.
pub fn fill(words: &[&str]) -> Result<bool> {
    if !cargo(&["build", "--release", "--quiet", "-p", "gatewood-cli"])? {
        return Ok(false);
    }
    let wanted = |page: &PathBuf| words.is_empty() || words.iter().any(|word| name(page).contains(word));
    for page in pages()?.into_iter().filter(wanted) {
        let text = fs::read_to_string(&page)?;
        let filled = filled(&text).with_context(|| format!("{}", page.display()))?;
        if filled != text {
            fs::write(&page, filled)?;
            println!("wrote {}", page.display());
        }
    }
    Ok(true)
}

/// Builds the book. Where mdBook is not installed, it is compiled into the folder that cargo builds into.
pub fn build() -> Result<bool> {
    if mdbook().arg("--version").output().is_err() {
        let folder = tools();
        let folder = folder.to_string_lossy();
        let install = [
            "install",
            "mdbook",
            "--version",
            MDBOOK,
            "--locked",
            "--no-default-features",
            "--root",
            &folder,
        ];
        if !cargo(&install)? {
            return Ok(false);
        }
    }
    Ok(mdbook().args(["build", "docs"]).current_dir(root()).status()?.success())
}

/// mdBook: the one that [`build`] got, else the one that is installed.
fn mdbook() -> Command {
    let own = tools().join("bin/mdbook");
    Command::new(if own.is_file() { own } else { "mdbook".into() })
}

fn tools() -> PathBuf {
    target().join("mdbook")
}

/// The page with the output of its commands.
fn filled(page: &str) -> Result<String> {
    let folder = target().join("book-work");
    let mut text = String::new();
    let mut is_run = false;
    for line in page.lines() {
        if line.starts_with("```") {
            if line == "```console" && !is_run && !text.contains("```console") {
                // The first block of a page: its folder starts empty.
                let _ = fs::remove_dir_all(&folder);
                fs::create_dir_all(&folder)?;
            }
            is_run = line == "```console";
            text += &format!("{line}\n");
        } else if let (true, Some(command)) = (is_run, line.strip_prefix("$ ")) {
            println!("$ {command}");
            text += &format!("{line}\n");
            let output = run(command, &folder)?;
            if !command.ends_with("# quietly") {
                text += &output;
            }
        } else if !is_run {
            text += &format!("{line}\n");
        }
    }
    Ok(text)
}

/// What a command prints.
fn run(command: &str, folder: &Path) -> Result<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let binaries = std::iter::once(target().join("release")).chain(std::env::split_paths(&path));
    let output = Command::new("bash")
        .args(["-o", "pipefail", "-c", &format!("exec 2>&1; {command}")])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(binaries)?)
        .env("BOOK", root().join("docs/src"))
        .output()
        .context("bash does not start")?;
    let text = String::from_utf8(output.stdout).context("the output is not text")?;
    // A program whose reader has seen enough is told so by a signal.
    let is_fine = output.status.success() || command.contains("| head") || command.contains("# fails");
    ensure!(is_fine, "`{command}` ended with {}:\n{text}", output.status);
    Ok(text.lines().map(|line| format!("{}\n", line.trim_end())).collect())
}

/// Every page is in the summary, every link between pages leads to one, and mdBook builds the book where it is installed.
fn check(log: &Log) -> Result<Outcome> {
    let folder = root().join("docs/src");
    let summary = fs::read_to_string(folder.join("SUMMARY.md"))?;
    let mut outcome = Outcome::default();
    for page in pages()? {
        let (name, text) = (name(&page), fs::read_to_string(&page)?);
        if name != "SUMMARY.md" && !summary.contains(&format!("({name})")) {
            outcome.failed.push(format!("{name} is not in the summary"));
        }
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            if link.ends_with(".md") && !link.contains("://") && !folder.join(link).is_file() {
                outcome.failed.push(format!("{name} leads to {link}, which is not there"));
            }
        }
        outcome.passed += 1;
    }
    match log.run(mdbook().args(["build", "docs"]).current_dir(root())) {
        Err(_) => {
            outcome
                .not_run
                .push("mdbook is not installed (cargo xtask book gets it): the book was not built".into());
        }
        Ok(status) if status.success() => outcome.passed += 1,
        Ok(status) => outcome.failed.push(format!("mdbook build ended with {status}")),
    }
    Ok(outcome)
}

fn pages() -> Result<Vec<PathBuf>> {
    let folder = root().join("docs/src");
    let mut pages = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    if pages.is_empty() {
        bail!("there are no pages in {}", folder.display());
    }
    pages.sort();
    Ok(pages)
}

fn name(page: &Path) -> String {
    page.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
