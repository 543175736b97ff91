//! What a step prints: kept while others run beside it, shown as it comes when it runs alone.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};

/// The output of one step.
#[derive(Debug, Default)]
pub struct Log {
    text: Mutex<String>,
    is_shown: bool,
}

impl Log {
    /// A log that is shown as it is written.
    pub fn shown() -> Self {
        Self { is_shown: true, ..Self::default() }
    }

    /// Adds a line.
    pub fn say(&self, line: &str) {
        if self.is_shown {
            println!("{line}");
        }
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        text.push_str(line);
        text.push('\n');
    }

    /// What was not shown yet.
    pub fn rest(self) -> String {
        let text = self.text.into_inner().unwrap_or_else(PoisonError::into_inner);
        if self.is_shown { String::new() } else { text }
    }

    /// Runs a command to its end; what it prints goes into the log.
    pub fn run(&self, command: &mut Command) -> Result<ExitStatus> {
        self.run_lines(command, &mut |_| {})
    }

    /// Runs a command that must succeed.
    pub fn must(&self, command: &mut Command) -> Result<()> {
        let status = self.run(command)?;
        if !status.success() {
            bail!("{command:?} ended with {status}");
        }
        Ok(())
    }

    /// Runs a command and looks at each line that it prints.
    pub fn run_lines(&self, command: &mut Command, look: &mut dyn FnMut(&str)) -> Result<ExitStatus> {
        let (reader, writer) = std::io::pipe().context("no pipe can be made")?;
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let child = command.spawn().with_context(|| format!("{command:?} does not start"));
        // The command holds the ends to write to; while it does, the reader waits.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = child?;
        for line in BufReader::new(reader).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            look(&line);
            self.say(&line);
        }
        Ok(child.wait()?)
    }
}
