//! The models, their exported files, and what `gatewood verify` says of them.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::tools::{capture, folder};
use crate::log::Log;
use crate::profile_folder;
use crate::report::Outcome;

/// The models, by name.
pub const MODELS: [&str; 3] = ["tree", "two", "ten"];
/// The formats that each model is exported to.
const FILES: [&str; 7] = ["v", "vhd", "blif", "aig", "aag", "c", "rs"];
/// The designs around models, each in a folder of its own: the model, the folder, and what else is said.
pub const PROJECTS: [(&str, &str, &[&str]); 4] = [
    ("two", "two_project", &["--to", "verilog", "--cells=ecp5", "--clock", "150MHz"]),
    (
        "ten",
        "ten_project",
        &["--to", "verilog", "--cells=ice40", "--with-encoder", "--word-bits", "8", "--one-hot"],
    ),
    ("two", "two_vhdl_project", &["--to", "vhdl", "--cells=xilinx", "--pipeline", "2"]),
    (
        "ten",
        "ten_vhdl_project",
        &["--to", "vhdl", "--cells=ice40", "--with-encoder", "--data", "ten.csv", "--margins"],
    ),
];
/// The stages of the pipelined files.
pub const STAGES: usize = 3;

/// The command under test, as the build left it.
fn gatewood() -> PathBuf {
    profile_folder().join("gatewood")
}

/// Rows of ten classes: the digits of a seven-segment display, each segment seen three times through noise.
fn write_digits(path: &Path) -> Result<()> {
    const SEGMENTS: [u8; 10] = [0x3f, 0x06, 0x5b, 0x4f, 0x66, 0x6d, 0x7d, 0x07, 0x7f, 0x6f];
    let mut text: String = (0..21).map(|column| format!("s{column},")).collect();
    text.push_str("label\n");
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..3000 {
        let digit = random(10) as usize;
        for column in 0..21 {
            let bit = SEGMENTS[digit] >> (column % 7) & 1 ^ u8::from(random(6) == 0);
            write!(text, "{bit},")?;
        }
        writeln!(text, "d{digit}")?;
    }
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

/// Learns the models and writes every file that later checks read.
pub fn export(_: &Log) -> Result<Outcome> {
    let (gatewood, folder) = (gatewood(), folder()?);
    write_digits(&folder.join("ten.csv"))?;
    let run = |arguments: &[&str]| capture(Command::new(&gatewood).args(arguments).current_dir(&folder));
    run(&["train", "mnist35", "--model", "tree", "--arity", "4", "--depth", "4", "-o", "tree.gw"])?;
    run(&["train", "mnist35", "--patterns", "0", "--rounds", "3", "--arity", "4", "-o", "two.gw"])?;
    run(&["train", "ten.csv", "--rounds", "1", "--arity", "4", "-o", "ten.gw"])?;
    let mut outcome = Outcome::default();
    for name in MODELS {
        let model = format!("{name}.gw");
        for ending in FILES {
            let file = format!("{name}.{ending}");
            run(&["export", &model, "-o", &file])?;
            outcome.passed += 1;
        }
        let stages = STAGES.to_string();
        for ending in ["v", "vhd"] {
            let bench = format!("{name}_test.{ending}");
            run(&["export", &model, "-o", &format!("{name}.{ending}"), "--test-bench", &bench])?;
            let (piped, bench) = (format!("{name}_piped.{ending}"), format!("{name}_piped_test.{ending}"));
            run(&["export", &model, "-o", &piped, "--pipeline", &stages, "--test-bench", &bench])?;
            outcome.passed += 2;
        }
        let (cells, bench) = (format!("{name}_cells.v"), format!("{name}_cells_test.v"));
        run(&["export", &model, "-o", &cells, "--cells", "--test-bench", &bench])?;
        outcome.passed += 1;
        for ending in ["blif", "c", "rs"] {
            let file = format!("{name}_raw.{ending}");
            run(&["export", &model, "-o", &file, "--with-encoder", "--one-hot"])?;
            outcome.passed += 1;
        }
    }
    for (name, project, words) in PROJECTS {
        let model = format!("{name}.gw");
        run(&[&["export", &model, "--project", project], words].concat())?;
        outcome.passed += 1;
    }
    Ok(outcome)
}

/// Lets the command prove or test its own files, and find damaged ones.
pub fn verify(_: &Log) -> Result<Outcome> {
    let (gatewood, folder) = (gatewood(), folder()?);
    let mut outcome = Outcome::default();
    let verify = |name: &str, file: &str| {
        let arguments = ["verify", &format!("{name}.gw"), file];
        let output = Command::new(&gatewood).args(arguments).current_dir(&folder).output();
        output.context("the command does not start")
    };
    for name in MODELS {
        for ending in [
            ".v",
            ".blif",
            ".aig",
            ".aag",
            ".c",
            ".rs",
            "_piped.v",
            "_cells.v",
            "_raw.blif",
            "_raw.c",
            "_raw.rs",
        ] {
            let file = format!("{name}{ending}");
            let output = verify(name, &file)?;
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let expected = if ending.ends_with(".c") || ending.ends_with(".rs") {
                "a test, not a proof"
            } else {
                "equal: proven"
            };
            if output.status.success() && said.contains(expected) {
                outcome.passed += 1;
            } else {
                let error = String::from_utf8_lossy(&output.stderr).into_owned();
                outcome.failed.push(format!("{file}: {said}{error}"));
            }
        }
        for (_, project, words) in
            PROJECTS.into_iter().filter(|project| project.0 == name && project.2[1] == "verilog")
        {
            let output = verify(name, &format!("{project}/model.v"))?;
            match String::from_utf8_lossy(&output.stdout).starts_with("equal: proven") {
                true => outcome.passed += 1,
                false => outcome.failed.push(format!("{project} with {words:?} is not proven")),
            }
        }
        let damaged = format!("{name}_damaged.blif");
        damage(&folder.join(format!("{name}.blif")), &folder.join(&damaged))?;
        let output = verify(name, &damaged)?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        match output.status.code() {
            Some(1) if said.starts_with("differs") => outcome.passed += 1,
            _ => outcome.failed.push(format!("{damaged} is not found out: {said}")),
        }
    }
    Ok(outcome)
}

/// Copies a BLIF file with its last output inverted.
fn damage(from: &Path, to: &Path) -> Result<()> {
    let text = std::fs::read_to_string(from).with_context(|| format!("{} cannot be read", from.display()))?;
    let (before, _) = text.rsplit_once("1 1\n.end").context("the file does not end in an output")?;
    std::fs::write(to, format!("{before}0 1\n.end\n")).context("the damaged file cannot be written")
}
