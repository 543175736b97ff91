//! The test benches, run by Icarus Verilog, Verilator and GHDL.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::models::{MODELS, PROJECTS};
use super::tools::{Tools, capture, folder};
use crate::log::Log;
use crate::report::Outcome;

/// The benches in both languages: each model combinational and with stages.
fn benches() -> impl Iterator<Item = String> {
    MODELS.into_iter().flat_map(|name| [name.to_string(), format!("{name}_piped")])
}

/// The benches in Verilog: those, and each model made of cells.
fn verilog_benches() -> impl Iterator<Item = String> {
    benches().chain(MODELS.map(|name| format!("{name}_cells")))
}

/// The benches that Verilator compiles where Icarus Verilog runs them all: a compilation takes it up to half a minute.
const COMPILED: [&str; 3] = ["tree", "ten_piped", "tree_cells"];

/// Judges what a test bench printed.
fn judge(bench: &str, said: Result<String>, outcome: &mut Outcome) {
    match said {
        Ok(said) if said.contains("PASSED: 256 rows") && !said.contains("FAILED") => outcome.passed += 1,
        Ok(said) => outcome.failed.push(format!("{bench}: {said}")),
        Err(error) => outcome.failed.push(format!("{bench}: {error:#}")),
    }
}

/// Whether a program starts.
fn is_installed(program: &str, version: &str) -> bool {
    Command::new(program).arg(version).output().is_ok()
}

/// All Verilog benches, where Icarus Verilog is installed.
pub fn icarus(_: &Log) -> Result<Outcome> {
    if !is_installed("iverilog", "-V") {
        return Ok(Outcome::not_run("Icarus Verilog (iverilog) is not installed: Verilator ran its benches"));
    }
    let folder = folder()?;
    let mut outcome = Outcome::default();
    for bench in verilog_benches() {
        let made = format!("{bench}.vvp");
        let files = [format!("{bench}.v"), format!("{bench}_test.v")];
        let arguments = ["-g2005", "-Wall", "-s", "model_test", "-o", &made];
        let said = capture(Command::new("iverilog").args(arguments).args(files).current_dir(&folder))
            .and_then(|_| capture(Command::new("vvp").arg(&made).current_dir(&folder)));
        judge(&bench, said, &mut outcome);
    }
    for project in projects("verilog") {
        make(project, &mut Command::new("make"), &folder, &mut outcome);
    }
    Ok(outcome)
}

/// The folders of the designs in a language, whose test benches have waits on both sides.
fn projects(language: &str) -> impl Iterator<Item = &'static str> {
    PROJECTS.into_iter().filter(move |(_, _, words)| words[1] == language).map(|(_, folder, _)| folder)
}

/// Runs the Makefile of a design, where there is a program to.
fn make(project: &str, command: &mut Command, folder: &Path, outcome: &mut Outcome) {
    if is_installed("make", "--version") {
        judge(project, capture(command.current_dir(folder.join(project))), outcome);
    } else {
        outcome.not_run.push(format!("make is not installed: {project} was not simulated"));
    }
}

/// Verilator's lints of all Verilog benches; it runs those that no other simulator runs, and a few that one does.
pub fn verilator(_: &Log) -> Result<Outcome> {
    let folder = folder()?;
    let tools = match Tools::get() {
        Ok(tools) => tools,
        Err(error) => return Ok(Outcome::not_run(format!("Verilator cannot be installed here: {error:#}"))),
    };
    let home = tools.packages.join("verilator");
    let has_icarus = is_installed("iverilog", "-V");
    let mut outcome = Outcome::default();
    for bench in verilog_benches() {
        if has_icarus && !COMPILED.contains(&bench.as_str()) {
            match capture(verilate(&home, &folder, &bench).arg("--lint-only")) {
                Ok(_) => outcome.passed += 1,
                Err(error) => outcome.failed.push(format!("{bench}: {error:#}")),
            }
        } else {
            judge(&bench, simulate(&home, &folder, &bench), &mut outcome);
        }
    }
    Ok(outcome)
}

fn verilate(home: &Path, folder: &Path, bench: &str) -> Command {
    let mut command = Command::new(home.join("bin").join("verilator_bin"));
    command
        .args(["--timing", "-O1", "-Wall", "-Wno-UNUSEDSIGNAL", "-Wno-DECLFILENAME"])
        .args(["-Wno-BLKSEQ", "-Wno-INITIALDLY", "-Wno-WIDTHEXPAND", "-Wno-WIDTHTRUNC"])
        .args(["--top-module", "model_test"])
        .args([format!("{bench}.v"), format!("{bench}_test.v")])
        .env("VERILATOR_ROOT", home)
        .current_dir(folder);
    command
}

fn simulate(home: &Path, folder: &Path, bench: &str) -> Result<String> {
    // One folder for all benches: what they share, most of the work, is compiled once.
    let made = folder.join("verilated");
    capture(
        verilate(home, folder, bench)
            // The package does not know how its compiler is told of a precompiled header.
            .args(["--binary", "-j", "2", "-MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include"])
            .args(["-CFLAGS", "-std=c++20 -fcoroutines -O0", "--Mdir"])
            .arg(&made),
    )?;
    capture(&mut Command::new(made.join("Vmodel_test")))
}

/// The VHDL test benches, where GHDL is installed.
pub fn ghdl(_: &Log) -> Result<Outcome> {
    let folder = folder()?;
    let ghdl = std::env::var("GHDL").unwrap_or_else(|_| "ghdl".into());
    if !is_installed(&ghdl, "--version") {
        let why = "GHDL is not installed: no VHDL test bench was run".to_string();
        return Ok(Outcome {
            not_run: vec![why; benches().count() + projects("vhdl").count()],
            ..Outcome::default()
        });
    }
    let mut outcome = Outcome::default();
    for bench in benches() {
        let made = folder.join(format!("{bench}_ghdl"));
        std::fs::create_dir_all(&made).with_context(|| format!("{} cannot be made", made.display()))?;
        let work = format!("--workdir={}", made.display());
        let files = [format!("{bench}.vhd"), format!("{bench}_test.vhd")];
        let run = |arguments: &[&str], files: &[String]| {
            capture(Command::new(&ghdl).args(arguments).args(files).current_dir(&folder))
        };
        let said = run(&["-a", "--std=93", &work], &files)
            .and_then(|_| run(&["-e", "--std=93", &work, "model_test"], &[]))
            .and_then(|_| run(&["-r", "--std=93", &work, "model_test"], &[]));
        judge(&bench, said, &mut outcome);
    }
    for project in projects("vhdl") {
        make(project, Command::new("make").env("GHDL", &ghdl), &folder, &mut outcome);
    }
    Ok(outcome)
}
