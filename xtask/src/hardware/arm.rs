//! Exported C on an ARM processor: compiled by GNU's compiler for processors without a system, run by an emulator.

use std::process::Command;

use anyhow::{Context, Result};

use super::models::MODELS;
use super::tools::{capture, folder};
use crate::log::Log;
use crate::report::Outcome;

/// A compiler for `gatewood verify`: what it makes is a script that runs the program in the emulator.
///
/// Thumb-2 code as of a Cortex-M4, for a processor whose memory the emulator can give a program.
const COMPILER: &str = r#"#!/bin/sh
arm-none-eabi-gcc -mcpu=cortex-a7 -mthumb --specs=rdimon.specs "$@" || exit
while [ $# -gt 0 ]; do
    if [ "$1" = -o ]; then
        mv "$2" "$2.elf"
        printf '#!/bin/sh\nexec qemu-arm "%s.elf"\n' "$2" > "$2"
        chmod +x "$2"
    fi
    shift
done
"#;

/// The processors for which every file must compile without a warning and without a library.
const PROCESSORS: [&str; 2] = ["cortex-m0plus", "cortex-m4"];

/// All C that is exported.
pub fn run(_: &Log) -> Result<Outcome> {
    for program in ["arm-none-eabi-gcc", "qemu-arm"] {
        if Command::new(program).arg("--version").output().is_err() {
            return Ok(Outcome::not_run(format!(
                "{program} is not installed: C was not run on an ARM processor"
            )));
        }
    }
    let folder = folder()?;
    let compiler = folder.join("arm-cc");
    std::fs::write(&compiler, COMPILER).context("the script of the compiler cannot be written")?;
    capture(Command::new("chmod").arg("+x").arg(&compiler))?;
    let gatewood = crate::profile_folder().join("gatewood");
    let mut outcome = Outcome::default();
    let mut judge = |what: String, said: Result<String>, good: &dyn Fn(&str) -> bool| match said {
        Ok(said) if good(&said) => outcome.passed += 1,
        Ok(said) => outcome.failed.push(format!("{what}: {said}")),
        Err(error) => outcome.failed.push(format!("{what}: {error:#}")),
    };
    for name in MODELS {
        for file in [format!("{name}.c"), format!("{name}_raw.c")] {
            let arguments = ["verify", "--rows", "10000", &format!("{name}.gw"), &file];
            let mut command = Command::new(&gatewood);
            let said = capture(command.args(arguments).env("CC", &compiler).current_dir(&folder));
            judge(format!("{file} on ARM"), said, &|said| said.contains("equal on"));
        }
        for processor in PROCESSORS {
            let (file, made) = (format!("{name}.c"), format!("{name}_{processor}.o"));
            let cpu = format!("-mcpu={processor}");
            let flags = ["-mthumb", "-Os", "-std=c11", "-ffreestanding", "-Wall", "-Wextra", "-Werror", "-c"];
            let mut command = Command::new("arm-none-eabi-gcc");
            let said = capture(command.arg(&cpu).args(flags).args([&file, "-o", &made]).current_dir(&folder));
            judge(format!("{file} for {processor}"), said, &|_| true);
            // Tables are constants: nothing is in memory that is not the stack.
            let said = capture(Command::new("arm-none-eabi-size").arg(&made).current_dir(&folder));
            judge(format!("memory of {file} for {processor}"), said, &|said| no_memory(said));
        }
    }
    Ok(outcome)
}

/// Whether a file has neither data nor zeroed memory, by what `size` prints.
fn no_memory(said: &str) -> bool {
    let numbers = said.lines().nth(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    numbers.is_some_and(|numbers| matches!(numbers[..], [_, "0", "0", ..]))
}
