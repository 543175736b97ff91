//! The chores of the repository.
//!
//! `cargo xtask test` runs every check: format, lints, tests, doctests, documentation, the Python package and the checks of
//! exported hardware. `cargo xtask test NAME…` runs those whose name contains one of the words; `cargo xtask list` names them.

mod python;
mod report;
mod rust;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use report::{Report, Step};

const USAGE: &str =
    "usage: cargo xtask test [NAME…]   run the checks (all, or those whose name contains a word)
       cargo xtask list           name the checks";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::from(2)
        }
    }
}

/// Does what the arguments ask for; says whether it went well.
fn run(arguments: &[String]) -> Result<bool> {
    let steps = steps();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["test", words @ ..] => {
            let wanted = |step: &Step| words.is_empty() || words.iter().any(|word| step.name.contains(word));
            let chosen: Vec<Step> = steps.into_iter().filter(wanted).collect();
            if chosen.is_empty() {
                bail!("no check has such a name; `cargo xtask list` names them");
            }
            Ok(Report::of(&chosen).print())
        }
        ["list"] => {
            steps.iter().for_each(|step| println!("{}", step.name));
            Ok(true)
        }
        _ => bail!("{USAGE}"),
    }
}

/// All checks, in the order they run: quick ones that fail often come first.
fn steps() -> Vec<Step> {
    [rust::steps(), python::steps()].into_iter().flatten().collect()
}

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the repository")
}
