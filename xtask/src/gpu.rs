//! The tests of the GPU's kernels under CUDA's own checker of memory, where it is installed and there is a GPU.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::log::Log;
use crate::report::{Outcome, Step};
use crate::rust;

const SANITIZER: &str = "compute-sanitizer";

/// The check.
pub fn steps() -> Vec<Step> {
    vec![Step::new("gpu: memory", check).after(&["build"])]
}

/// Whether a program runs and ends well.
fn runs(program: &str, argument: &str) -> bool {
    let mut command = Command::new(program);
    let command = command.arg(argument).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn check(log: &Log) -> Result<Outcome> {
    if !runs("nvidia-smi", "-L") {
        return Ok(Outcome::not_run("there is no NVIDIA GPU: its kernels ran on the processor alone"));
    }
    if !runs(SANITIZER, "--version") {
        return Ok(Outcome::not_run(format!(
            "{SANITIZER}, which checks what kernels read and write, is not installed"
        )));
    }
    let programs = rust::test_programs()?;
    let program = programs.into_iter().find(|(folder, _)| folder.ends_with("gatewood-cuda"));
    let (folder, program) = program.context("the tests of gatewood-cuda were not compiled")?;
    let mut command = Command::new(SANITIZER);
    command.args(["--tool", "memcheck", "--error-exitcode", "9"]).arg(program).current_dir(folder);
    let status = log.run(&mut command)?;
    Ok(match status.success() {
        true => Outcome::passed(),
        false => Outcome::failed(format!("{SANITIZER} ended with {status}")),
    })
}
