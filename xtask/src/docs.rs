//! The book: running the commands of its pages, writing their output into them or comparing it with what is there, and
//! checking that its pages hang together.
//!
//! A block fenced as ```` ```console ```` is run, line by line: what follows each line that starts with `$ ` is what that
//! command prints. The commands of a page share a folder that is empty at first. `$BOOK` is the folder of the pages. Other
//! blocks are left as they are. Comments at the end of a command, and one in a page, say what is special:
//!
//! - `# quietly`: what it prints is not shown;
//! - `# fails`: it ends with another exit code than 0;
//! - `# varies`: it prints something else on another machine, which is not compared;
//! - `# needs PROGRAM`: it is not run where there is no such program, nor are the page's later commands that need it;
//! - `<!-- needs SET -->`: the page is not run where the files of a named data set are not found.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::log::Log;
use crate::report::{Outcome, Step};
use crate::{cargo, profile_folder, root, target};

/// The version of mdBook that the book is built with.
const MDBOOK: &str = "0.5.4";

/// The tutorials, one for each kind of reader.
const TUTORIALS: [&str; 5] = ["adult.md", "fpga.md", "embedded.md", "research.md", "operations.md"];

/// The checks of the book.
pub fn steps() -> Vec<Step> {
    vec![Step::new("book", check), Step::new("tutorials", tutorials).after(&["build"])]
}

/// Runs the commands of all pages, or of those whose names contain one of the words, and writes what they print. With
/// `--check`, compares it with what is there instead, of the tutorials where no page is named.
pub fn fill(words: &[&str]) -> Result<bool> {
    if !cargo(&["build", "--release", "--quiet", "-p", "gatewood-cli"])? {
        return Ok(false);
    }
    let programs = target().join("release");
    let is_check = words.contains(&"--check");
    let words: Vec<&str> = words.iter().copied().filter(|&word| word != "--check").collect();
    let wanted = |page: &PathBuf| match words.is_empty() {
        true => !is_check || TUTORIALS.contains(&name(page).as_str()),
        false => words.iter().any(|word| name(page).contains(word)),
    };
    let pages: Vec<PathBuf> = pages()?.into_iter().filter(wanted).collect();
    ensure!(!pages.is_empty(), "no page has such a name");
    if is_check {
        let outcome = compare(&pages, &programs, &Log::shown())?;
        outcome.failed.iter().for_each(|line| println!("DIFFERS: {line}"));
        outcome.not_run.iter().for_each(|line| println!("NOT RUN: {line}"));
        let (failed, not_run) = (outcome.failed.len(), outcome.not_run.len());
        println!("{} commands as printed, {failed} not, {not_run} not run", outcome.passed);
        return Ok(failed == 0);
    }
    for page in pages {
        let text = fs::read_to_string(&page)?;
        let (filled, missing) =
            filled(&text, &programs, &Log::shown()).with_context(|| format!("{}", page.display()))?;
        missing.iter().for_each(|why| println!("NOT RUN: {}: {why}", name(&page)));
        if filled != text {
            fs::write(&page, filled)?;
            println!("wrote {}", page.display());
        }
    }
    Ok(true)
}

/// Compares what the tutorials print with what the programs of the step "build" print.
fn tutorials(log: &Log) -> Result<Outcome> {
    let pages: Vec<PathBuf> = TUTORIALS.iter().map(|name| root().join("docs/src").join(name)).collect();
    compare(&pages, &profile_folder(), log)
}

/// Runs the commands of pages; a command is a check of its own.
fn compare(pages: &[PathBuf], programs: &Path, log: &Log) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for page in pages {
        let text = fs::read_to_string(page)?;
        match filled(&text, programs, log) {
            Err(error) => outcome.failed.push(format!("{}: {error:#}", name(page))),
            Ok((filled, missing)) => {
                outcome.not_run.extend(missing.iter().map(|why| format!("{}: {why}", name(page))));
                let (before, after) = (commands(&text), commands(&filled));
                for (old, new) in before.iter().zip(&after) {
                    match old == new {
                        true => outcome.passed += 1,
                        false => outcome.failed.push(format!(
                            "{}: `{}` was to print\n{}\nand printed\n{}",
                            name(page),
                            old.0,
                            old.1,
                            new.1
                        )),
                    }
                }
                // Commands that were not run are among those that look the same.
                outcome.passed = outcome.passed.saturating_sub(missing.len());
            }
        }
    }
    Ok(outcome)
}

/// The commands of a page, each with what it prints, less what differs from run to run.
fn commands(page: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_run = false;
    for line in page.lines() {
        match (line.starts_with("```"), is_run, line.strip_prefix("$ ")) {
            (true, ..) => is_run = line == "```console",
            (false, true, Some(command)) => found.push((command.to_owned(), String::new())),
            (false, true, None) => {
                if let Some((command, output)) = found.last_mut()
                    && !command.ends_with("# varies")
                {
                    *output += &format!("{}\n", without_times(line));
                }
            }
            (false, false, _) => {}
        }
    }
    found
}

/// A line in which every length of time is the same: "learned in 1.4 s" is "learned in TIME".
fn without_times(line: &str) -> String {
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for at in 1..words.len() {
        let unit = words[at].trim_matches(['(', ')', ',', ';', '.']).to_owned();
        let number = words[at - 1].trim_start_matches('(');
        let is_number = number.starts_with(|letter: char| letter.is_ascii_digit())
            && number.chars().all(|letter| letter.is_ascii_digit() || ".,".contains(letter));
        if is_number && ["s", "ms", "µs", "ns", "min", "h"].contains(&unit.as_str()) {
            words[at - 1] = "TIME".into();
            words[at] = words[at].replace(&unit, "");
        }
    }
    // "2 min 05 s" is one length of time.
    words.join(" ").replace("TIME  TIME", "TIME")
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

/// The page with the output of its commands, and what was not run.
fn filled(page: &str, programs: &Path, log: &Log) -> Result<(String, Vec<String>)> {
    // A folder of its own: checks may run side by side.
    let folder = target().join("book-work").join(std::process::id().to_string());
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    for set in between(page, "<!-- needs ", " -->") {
        if run(&format!("gatewood data info {set}"), &folder, programs).is_err() {
            let why =
                format!("the files of the data set {set} are not found (GATEWOOD_DATA names their folder)");
            return Ok((page.to_owned(), vec![why; commands(page).len()]));
        }
    }
    let (mut text, mut missing) = (String::new(), Vec::new());
    let (mut is_run, mut is_kept) = (false, false);
    for line in page.lines() {
        let command = line.strip_prefix("$ ").filter(|_| is_run);
        if line.starts_with("```") {
            is_run = line == "```console";
            is_kept = false;
        } else if let Some(command) = command {
            let lacks = between(command, "# needs ", " ")
                .into_iter()
                .find(|program| run(&format!("command -v {program}"), &folder, programs).is_err());
            is_kept = lacks.is_some();
            if let Some(program) = lacks {
                missing.push(format!("there is no {program}: `{command}`"));
            } else {
                log.say(&format!("$ {command}"));
                let output = run(command, &folder, programs)?;
                text += &format!("{line}\n");
                if !command.contains("# quietly") {
                    text += &output;
                }
                continue;
            }
        }
        if !is_run || is_kept || line.starts_with("```") {
            text += &format!("{line}\n");
        }
    }
    fs::remove_dir_all(&folder)?;
    Ok((text, missing))
}

/// What stands between two texts, wherever it does; the second may be the end.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Vec<&'a str> {
    text.split(before).skip(1).filter_map(|rest| rest.split(after).next()).collect()
}

/// What a command prints.
fn run(command: &str, folder: &Path, programs: &Path) -> Result<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let binaries = std::iter::once(programs.to_owned()).chain(std::env::split_paths(&path));
    let output = Command::new("bash")
        .args(["-o", "pipefail", "-c", &format!("exec 2>&1; {command}")])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(binaries)?)
        .env("BOOK", root().join("docs/src"))
        .output()
        .context("bash does not start")?;
    let text = String::from_utf8(output.stdout).context("the output is not text")?;
    let is_success = output.status.success();
    // A program whose reader has seen enough is told so by a signal.
    let is_fine =
        if command.contains("# fails") { !is_success } else { is_success || command.contains("| head") };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_not_compared_and_all_else_is() {
        let line = "learned in 1.4 s, data read in 54 ms";
        assert_eq!(without_times(line), without_times("learned in 250 ms, data read in 2 s"));
        assert_ne!(without_times(line), without_times("learned in 1.4 s, data read on 54 ms"));
        assert_eq!(without_times("proven (1 µs)"), without_times("proven (12 ms)"));
        assert_eq!(without_times("in 2 min 05 s"), without_times("in 3 s"));
        assert_ne!(without_times("error 12.5 %"), without_times("error 12.6 %"));
    }

    #[test]
    fn commands_are_found_with_what_they_print() {
        let page = "```console\n$ one\na\nb\n$ two # varies\nc\n```\ntext\n```sh\n$ three\n```\n";
        let found = commands(page);
        assert_eq!(found, [("one".into(), "a\nb\n".into()), ("two # varies".into(), String::new())]);
    }

    #[test]
    fn pages_that_lack_something_are_kept_and_counted() {
        let page = "```console\n$ true # needs no-such-program\nkept\n$ echo new\nold\n```\n";
        let log = Log::default();
        let (text, missing) = filled(page, Path::new("/"), &log).unwrap();
        assert_eq!(text, page.replace("old", "new"));
        assert_eq!(missing.len(), 1);
        let page = "<!-- needs no-such-set -->\n```console\n$ echo new\nold\n```\n";
        let (text, missing) = filled(page, Path::new("/"), &log).unwrap();
        assert_eq!((text.as_str(), missing.len()), (page, 1));
    }
}
