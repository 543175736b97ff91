//! Exported C and Rust, compiled and run.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use gatewood::bits::BitMatrix;
use gatewood::export::{Format, Options};

/// A file of C or Rust that was exported.
pub(super) struct Source {
    pub(super) format: Format,
    pub(super) path: PathBuf,
    text: String,
    /// With the name that the functions of C start with.
    pub(super) options: Options,
}

impl Source {
    pub(super) fn of(format: Format, path: &Path, text: String) -> Result<Self> {
        let mut options = Options::default();
        if format == Format::C {
            let name = text
                .split_once("_row(const uint64_t row[")
                .and_then(|(before, _)| before.rsplit([' ', '\n']).next())
                .with_context(|| format!("{} is not C that was exported", path.display()))?;
            options.name = name.to_owned();
        }
        Ok(Self { format, path: path.to_owned(), text, options })
    }

    /// Whether it has a function of that name.
    pub(super) fn has_function(&self, name: &str) -> bool {
        match self.format {
            Format::C => self.text.contains(&format!(" {}_{name}(", self.options.name)),
            _ => self.text.contains(&format!("pub fn {name}(")),
        }
    }

    /// The number of outputs it says it has, itself or in its header.
    pub(super) fn outputs(&self) -> Result<usize> {
        let number = |text: &str, start: &str| -> Option<usize> {
            let (_, rest) = text.split_once(start)?;
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        let found = match self.format {
            Format::C => {
                let start = format!("#define {}_OUTPUTS ", self.options.name.to_ascii_uppercase());
                number(&self.text, &start).or_else(|| {
                    let header = self.text.split_once("#include \"")?.1.split('"').next()?;
                    number(&std::fs::read_to_string(self.path.with_file_name(header)).ok()?, &start)
                })
            }
            _ => number(&self.text, "pub const OUTPUTS: usize = "),
        };
        found.with_context(|| format!("{} does not say how many outputs it has", self.path.display()))
    }

    /// Compiles a main program around it.
    pub(super) fn compile(&self, folder: &Path, text: &str) -> Result<PathBuf> {
        let (main, program) =
            (folder.join(format!("main.{}", self.format.extension())), folder.join("program"));
        std::fs::write(&main, text).with_context(|| format!("{} cannot be written", main.display()))?;
        let compiler =
            |variable: &str, usual: &str| std::env::var_os(variable).unwrap_or_else(|| usual.into());
        let mut command = match self.format {
            Format::C => {
                let mut command = Command::new(compiler("CC", "cc"));
                command.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
                command
            }
            _ => {
                let mut command = Command::new(compiler("RUSTC", "rustc"));
                command.args(["--edition=2021", "-Copt-level=2"]);
                command
            }
        };
        command.arg("-o").arg(&program).arg(&main).current_dir(folder);
        let name = command.get_program().to_string_lossy().into_owned();
        let output = command.output().with_context(|| format!("the compiler {name} does not start"))?;
        if !output.status.success() {
            bail!("{name} refuses {}:\n{}", self.path.display(), String::from_utf8_lossy(&output.stderr));
        }
        Ok(program)
    }
}

/// Rows as the words that programs read.
pub(super) fn packed(rows: &BitMatrix) -> Vec<u8> {
    let mut bytes = Vec::new();
    for row in 0..rows.rows() {
        for first in (0..rows.columns()).step_by(64) {
            let columns = first..(first + 64).min(rows.columns());
            let word = columns.rev().fold(0u64, |word, column| word << 1 | u64::from(rows.get(row, column)));
            bytes.extend(word.to_ne_bytes());
        }
    }
    bytes
}

/// Sends bytes through a program; gives the words it writes.
pub(super) fn answers(program: &Path, bytes: Vec<u8>) -> Result<Vec<u64>> {
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("the compiled program does not start")?;
    let mut input = child.stdin.take().context("the compiled program takes no input")?;
    let writer = std::thread::spawn(move || input.write_all(&bytes));
    let output = child.wait_with_output().context("the compiled program cannot be waited for")?;
    if !output.status.success() || !matches!(writer.join(), Ok(Ok(()))) {
        bail!("the compiled program ended with {}", output.status);
    }
    Ok(output.stdout.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect())
}
