//! The library with some of its features, and in a browser's WebAssembly.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::log::Log;
use crate::report::{Outcome, Step};
use crate::rust::LEAN;
use crate::{profile_folder, root, target};

/// Features that must do by themselves; the whole is what all other steps build.
const ALONE: [&str; 5] = ["", "train", "explain", "prove", "export"];

const TARGET: &str = "wasm32-unknown-unknown";

/// What to install.
pub(crate) const NO_COMPILER: &str = "there is no compiler for wasm32: `rustup target add wasm32-unknown-unknown`, or Debian's \
    rustc-web, cargo-web, rust-web-src and lld";

/// The checks.
pub fn steps() -> Vec<Step> {
    vec![Step::new("features", features).builds(), Step::new("wasm32", same_model).builds()]
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

/// Learns the models of the example `same_model` here and in WebAssembly, where there are a compiler and Node for it.
fn same_model(log: &Log) -> Result<Outcome> {
    let Some(compiler) = Compiler::find() else {
        return Ok(Outcome::not_run(NO_COMPILER));
    };
    let example = root().join("crates/gatewood/examples/same_model.rs");
    let mut command = cargo();
    log.must(command.arg("build").args(LEAN).args(["--workspace", "--example", "same_model"]))?;
    let output = Command::new(profile_folder().join("examples/same_model")).output()?;
    anyhow::ensure!(output.status.success(), "the example same_model ended with {}", output.status);
    let sums = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    // A package of its own: the tests' dependencies do not compile for WebAssembly.
    let folder = target().join("checks/wasm");
    std::fs::create_dir_all(folder.join("src"))?;
    std::fs::copy(&example, folder.join("src/main.rs"))?;
    std::fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    std::fs::write(folder.join("Cargo.toml"), manifest())?;
    let mut outcome = Outcome::default();
    for (what, features) in [("check", "parallel"), ("build", "")] {
        let mut command = compiler.cargo(what, "");
        command.args(["--features", features]).current_dir(&folder).env("GATEWOOD_EXPECTED", &sums);
        match log.run(&mut command)?.success() {
            true => outcome.passed += 1,
            false => outcome.failed.push(format!("cargo {what} for {TARGET} with \"{features}\" failed")),
        }
    }
    if outcome.failed.is_empty() {
        run(log, &target().join("wasm").join(TARGET).join("debug/same-model.wasm"), &mut outcome)?;
    }
    Ok(outcome)
}

/// Runs a program that panics where its models are not those expected.
fn run(log: &Log, program: &Path, outcome: &mut Outcome) -> Result<()> {
    if !Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success()) {
        outcome.not_run.push("there is no node: the models learned in WebAssembly were not compared".into());
        return Ok(());
    }
    let script = "const bytes = require('fs').readFileSync(process.argv[1]); \
                  WebAssembly.instantiate(bytes, {}).then(({ instance }) => { \
                  if (instance.exports.main(0, 0) !== 0) process.exit(1); });";
    match log.run(Command::new("node").args(["-e", script]).arg(program))?.success() {
        true => outcome.passed += 1,
        false => outcome.failed.push("WebAssembly learns other models than this machine".into()),
    }
    Ok(())
}

fn manifest() -> String {
    format!(
        "[package]\nname = \"same-model\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [features]\nparallel = [\"gatewood/parallel\"]\n\n\
         [dependencies.gatewood]\npath = {:?}\ndefault-features = false\n\
         features = [\"train\", \"explain\", \"export\", \"prove\"]\n\n\
         [profile.dev]\nopt-level = 1\ndebug = false\npanic = \"abort\"\n",
        root().join("crates/gatewood")
    )
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
