//! The library with some of its features, and in a browser's WebAssembly.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::log::Log;
use crate::report::{Outcome, Step};
use crate::rust::LEAN;
use crate::{browser, profile_folder, root, site, target};

/// Features that must do by themselves; the whole is what all other steps build.
const ALONE: [&str; 5] = ["", "train", "explain", "prove", "export"];

const TARGET: &str = "wasm32-unknown-unknown";

/// What to install.
pub(crate) const NO_COMPILER: &str = "there is no compiler for wasm32: `rustup target add wasm32-unknown-unknown`, or Debian's \
    rustc-web, cargo-web, rust-web-src and lld";

/// The checks.
pub fn steps() -> Vec<Step> {
    vec![
        Step::new("features", features).builds(),
        Step::new("wasm32", same_model).after(&["build", "playground"]),
    ]
}

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Compiles the library with each feature alone, and with none.
fn features(log: &Log) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for feature in ALONE {
        let mut command = cargo();
        command.arg("check").args(LEAN).args(["-p", "gatewood", "--lib", "--no-default-features"]);
        let mut warned = false;
        let status = log.run_lines(command.args(["--features", feature]), &mut |line| {
            warned |= line.starts_with("warning");
        })?;
        match status.success() && !warned {
            true => outcome.passed += 1,
            false => outcome.failed.push(format!("the library does not compile with only \"{feature}\"")),
        }
    }
    Ok(outcome)
}

/// Learns models of every kind with the playground's library, in Node, and with the command: their files are the same.
fn same_model(log: &Log) -> Result<Outcome> {
    if Compiler::find().is_none() {
        return Ok(Outcome::not_run(NO_COMPILER));
    }
    if !Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success()) {
        let why = "there is no node: the models learned in WebAssembly were not compared";
        return Ok(Outcome::not_run(why));
    }
    let folder = target().join("checks/wasm");
    std::fs::create_dir_all(&folder)?;
    let mut node = Command::new("node");
    node.arg(root().join("site/tests/same_model.mjs"))
        .env("GATEWOOD_LIBRARY", site::library_file())
        .env("GATEWOOD_PAGE", site::page())
        .env("GATEWOOD_COMMAND", profile_folder().join("gatewood"))
        .env("GATEWOOD_FOLDER", &folder);
    browser::counted(log, &mut node)
}

/// What compiles for WebAssembly.
pub(crate) enum Compiler {
    /// The one that compiles everything else; it has the target.
    Same,
    /// Debian's, which has the sources of the standard library.
    Debian,
}

impl Compiler {
    pub(crate) fn find() -> Option<Self> {
        let output = Command::new("rustc").args(["--print", "sysroot"]).current_dir(root()).output().ok()?;
        let sysroot = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        if sysroot.join("lib/rustlib").join(TARGET).is_dir() {
            return Some(Self::Same);
        }
        let parts =
            ["/usr/bin/rustc", "/usr/bin/cargo", "/usr/bin/wasm-ld", "/usr/lib/rustlib/src/rust/library"];
        (parts.iter().all(|part| Path::new(part).exists()) && is_new_enough().is_ok()).then_some(Self::Debian)
    }

    /// Flags for a small library with SIMD. One that panics stops without a word where the standard library is compiled
    /// along, which takes a fifth off; functions that are inlined only where they are small take a few hundredths.
    pub(crate) fn small(&self) -> &'static str {
        match self {
            Self::Same => "-C target-feature=+simd128 -C llvm-args=--inline-threshold=45 -C panic=abort",
            Self::Debian => {
                "-C target-feature=+simd128 -C llvm-args=--inline-threshold=45 -C panic=immediate-abort \
                 -Z unstable-options -Z location-detail=none"
            }
        }
    }

    /// Cargo with more flags for the compiler.
    pub(crate) fn cargo(&self, what: &str, flags: &str) -> Command {
        let mut command = match self {
            Self::Same => {
                let mut command = cargo();
                command.args([what, "--target", TARGET]).env("RUSTFLAGS", flags);
                command
            }
            Self::Debian => {
                let mut command = Command::new("/usr/bin/cargo");
                command.args([what, "--target", TARGET, "-Zbuild-std=std,panic_abort"]);
                command.arg("-Zbuild-std-features=optimize_for_size");
                command.env("RUSTC", "/usr/bin/rustc").env("RUSTC_BOOTSTRAP", "1");
                command.env("RUSTFLAGS", format!("-C linker=wasm-ld {flags}")).env_remove("RUSTUP_TOOLCHAIN");
                command
            }
        };
        command.env("CARGO_TARGET_DIR", target().join("wasm"));
        command
    }
}

/// Fails where Debian's compiler is older than the library asks for.
fn is_new_enough() -> Result<()> {
    let output = Command::new("/usr/bin/rustc").arg("--version").output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let minor = text.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok()).context("no version")?;
    let wanted = env!("CARGO_PKG_RUST_VERSION").split('.').nth(1).and_then(|minor| minor.parse().ok());
    anyhow::ensure!(minor >= wanted.unwrap_or(0), "too old");
    Ok(())
}
