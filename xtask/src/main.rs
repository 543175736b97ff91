//! The chores of the repository.
//!
//! `cargo xtask test` runs every check: format, lints, tests, doctests, documentation, the Python package and the checks of
//! exported hardware. `cargo xtask test NAME…` runs those whose name contains one of the words; `cargo xtask list` names them.

#![forbid(unsafe_code)]

mod attack;
mod browser;
mod compare;
mod dependencies;
mod docs;
mod gpu;
mod hardware;
mod log;
mod packages;
mod python;
mod report;
mod rust;
mod site;
mod speed;
mod wasm;
mod wheel;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use report::{Report, Step, chosen};

const USAGE: &str =
    "usage: cargo xtask test [NAME…]   run the checks (all, or those whose name contains a word)
       cargo xtask list           name the checks
       cargo xtask fuzz [TARGET…] [--minutes N] [--seed S] [--libfuzzer]
                                  run the fuzz targets, each for so long (1 minute), two at a time
       cargo xtask kills N        kill the command N times while it writes, and look at what is left
       cargo xtask flips N        flip a bit of a gate in N random circuits, and see whether the prover notices
       cargo xtask speed [COMMIT|PROGRAM [COMMIT|PROGRAM]]
                                  count the instructions of common commands, beside those of another commit
       cargo xtask compare [SET…] [--seeds N] [--threads N] [--rivals A,B] [--out FOLDER] [--data-dir FOLDER]
                                  measure Gatewood beside others (--help says more)
       cargo xtask compare regression --data FOLDER [--sets SET…] [--out FOLDER]
                                  the same for numbers (--help says more)
       cargo xtask make-mnist35 FOLDER   make the embedded set from MNIST's IDX files
       cargo xtask docs [--check] [NAME…]
                                  run the commands in the pages of the book and write what they print; with --check,
                                  compare it with what the five tutorials (or these pages) say
       cargo xtask book           build the book; gets mdBook first where it is not installed (four minutes of a core)
       cargo xtask site           build the playground: one HTML file with the library for WebAssembly in it
       cargo xtask pages FOLDER   test the pages of large models, learned from the data sets in a folder
       cargo xtask wheel [--target TRIPLE]
                                  make the Python wheel and the package of sources, and try them in clean environments
       cargo xtask publish        a dry run of publishing the crates, compiled from their packages
       cargo xtask man FOLDER     write the manual's pages and the completions of shells";

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
            let chosen = chosen(&steps, words);
            if chosen.is_empty() {
                bail!("no check has such a name; `cargo xtask list` names them");
            }
            // Two at a time: most builds and many checks leave a core idle now and then.
            Ok(Report::of(&chosen, 2).print())
        }
        ["list"] => {
            steps.iter().for_each(|step| println!("{}", step.name));
            Ok(true)
        }
        ["fuzz", arguments @ ..] => attack::fuzz(arguments),
        ["kills", count] => attack::kills(count),
        ["flips", count] => attack::flips(count),
        ["speed", arguments @ ..] => speed::run(arguments),
        ["compare", arguments @ ..] => compare::run(arguments),
        ["make-mnist35", folder] => {
            cargo(&["run", "--quiet", "-p", "gatewood-data", "--example", "make-mnist35", "--", folder])
        }
        ["docs", words @ ..] => docs::fill(words),
        ["book"] => docs::build(),
        ["wheel", arguments @ ..] => wheel::make(arguments),
        ["publish"] => packages::publish(),
        ["pages", data] => browser::pages(data),
        ["site"] => site::build(&log::Log::shown()).map(|_| true),
        ["man", folder] => man(Path::new(folder)),
        _ => bail!("{USAGE}"),
    }
}

/// Runs cargo in the root of the repository; says whether it went well.
fn cargo(arguments: &[&str]) -> Result<bool> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    Ok(std::process::Command::new(program).args(arguments).current_dir(root()).status()?.success())
}

/// Writes the manual's pages and the completions of shells into a folder.
fn man(folder: &Path) -> Result<bool> {
    std::fs::create_dir_all(folder)?;
    let folder = folder.canonicalize()?;
    let gatewood = |arguments: &[&str]| -> Result<std::process::Output> {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = std::process::Command::new(program)
            .args(["run", "--quiet", "-p", "gatewood-cli", "--"])
            .args(arguments)
            .current_dir(root())
            .output()?;
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(output)
    };
    gatewood(&["man", &folder.to_string_lossy()])?;
    for (shell, name) in [("bash", "gatewood.bash"), ("zsh", "_gatewood"), ("fish", "gatewood.fish")] {
        std::fs::write(folder.join(name), gatewood(&["completions", shell])?.stdout)?;
    }
    Ok(true)
}

/// All checks. The first that can run does, beside one other.
fn steps() -> Vec<Step> {
    [
        rust::steps(),
        python::steps(),
        wheel::steps(),
        hardware::steps(),
        gpu::steps(),
        site::steps(),
        browser::steps(),
        docs::steps(),
        compare::steps(),
        dependencies::steps(),
        packages::steps(),
        wasm::steps(),
    ]
    .concat()
}

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the repository")
}

/// The folder of what the step "build" made.
fn profile_folder() -> PathBuf {
    target().join("debug")
}

/// The folder that cargo builds into, where tools and results of checks are kept as well.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |path| root().join(path))
}
