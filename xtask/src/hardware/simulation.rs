//! The test benches, run by Verilator and GHDL.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::models::MODELS;
use super::tools::{Tools, capture, folder};
use crate::report::Outcome;

/// All test benches: each model combinational and with stages.
fn benches() -> impl Iterator<Item = String> {
    MODELS.into_iter().flat_map(|name| [name.to_string(), format!("{name}_piped")])
}

/// Judges what a test bench printed.
fn judge(bench: &str, said: Result<String>, outcome: &mut Outcome) {
    match said {
        Ok(said) if said.contains("PASSED: 256 rows") && !said.contains("FAILED") => outcome.passed += 1,
        Ok(said) => outcome.failed.push(format!("{bench}: {said}")),
        Err(error) => outcome.failed.push(format!("{bench}: {error:#}")),
    }
}

/// The Verilog test benches.
pub fn verilator() -> Result<Outcome> {
    let folder = folder()?;
    let tools = match Tools::get() {
        Ok(tools) => tools,
        Err(error) => {
            let why = format!("Verilator cannot be installed here: {error:#}");
            return Ok(Outcome { not_run: vec![why], ..Outcome::default() });
        }
    };
    let home = tools.packages.join("verilator");
    let mut outcome = Outcome::default();
    for bench in benches().chain(MODELS.map(|name| format!("{name}_cells"))) {
        judge(&bench, verilate(&home, &folder, &bench), &mut outcome);
    }
    Ok(outcome)
}

fn verilate(home: &Path, folder: &Path, bench: &str) -> Result<String> {
    let made = folder.join(format!("{bench}_verilated"));
    // The package does not say how its C++ compiler includes a precompiled header, so the flag for it is given.
    capture(
        Command::new(home.join("bin").join("verilator_bin"))
            .args([
                "--binary",
                "--timing",
                "-j",
                "2",
                // The package does not know how its compiler is told of a precompiled header.
                "-MAKEFLAGS",
                "CFG_CXXFLAGS_PCH_I=-include",
                "-O1",
                "-Wall",
                "-Wno-UNUSEDSIGNAL",
                "-Wno-DECLFILENAME",
            ])
            .args(["-Wno-BLKSEQ", "-Wno-INITIALDLY", "-Wno-WIDTHEXPAND", "-Wno-WIDTHTRUNC"])
            .args(["-CFLAGS", "-std=c++20 -fcoroutines -O0", "--top-module", "model_test", "--Mdir"])
            .arg(&made)
            .args([format!("{bench}.v"), format!("{bench}_test.v")])
            .env("VERILATOR_ROOT", home)
            .current_dir(folder),
    )?;
    capture(&mut Command::new(made.join("Vmodel_test")))
}

/// The VHDL test benches, where GHDL is installed.
pub fn ghdl() -> Result<Outcome> {
    let folder = folder()?;
    let ghdl = std::env::var_os("GHDL").unwrap_or_else(|| "ghdl".into());
    if Command::new(&ghdl).arg("--version").output().is_err() {
        let why = "GHDL is not installed, so that no VHDL test bench was run".to_string();
        return Ok(Outcome { not_run: vec![why; benches().count()], ..Outcome::default() });
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
    Ok(outcome)
}
