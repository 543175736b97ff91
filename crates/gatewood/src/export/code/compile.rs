//! Exported C and Rust, compiled and run.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::circuit::Deadline;
use crate::export::{Format, Options};
use crate::platform::programs::{Folder, run};
use crate::{Error, Result};

/// A file of C or Rust that was exported.
pub(super) struct Source {
    pub(super) format: Format,
    pub(super) path: PathBuf,
    text: String,
    /// With the name that the functions of C start with.
    pub(super) options: Options,
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or is not C or Rust that was exported.
    pub(super) fn open(format: Format, path: &Path) -> Result<Self> {
        let cannot = |error: std::io::Error| Error::io(format!("{} cannot be read: {error}", path.display()));
        let path = path.canonicalize().map_err(cannot)?;
        let text = std::fs::read_to_string(&path).map_err(cannot)?;
        let mut options = Options::default();
        if format == Format::C {
            let name = text
                .split_once("_row(const uint64_t row[")
                .or_else(|| text.split_once("_margins(const uint64_t row["))
                .and_then(|(before, _)| before.rsplit([' ', '\n']).next())
                .ok_or_else(|| Error::file(format!("{} is not C that was exported", path.display())))?;
            options.name = name.to_owned();
            options.validate()?;
        }
        Ok(Self { format, path, text, options })
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
        found.ok_or_else(|| {
            Error::file(format!("{} does not say how many outputs it has", self.path.display()))
        })
    }

    /// Compiles a main program around it, with the compiler that `$CC` or `$RUSTC` names, or the usual one.
    pub(super) fn compile(&self, folder: &Folder, text: &str, deadline: Deadline) -> Result<PathBuf> {
        let main = folder.path().join(format!("main.{}", self.format.extension()));
        let program = folder.path().join("program");
        std::fs::write(&main, text)
            .map_err(|error| Error::io(format!("{} cannot be written: {error}", main.display())))?;
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
        command.arg("-o").arg(&program).arg(&main).current_dir(folder.path());
        if self.format == Format::C {
            command.arg("-lm");
        }
        let name = command.get_program().to_string_lossy().into_owned();
        let output = run(&mut command, Vec::new(), || deadline.has_passed())
            .map_err(|error| error.at(format!("the compiler {name}")))?;
        if !output.status.success() {
            return Err(Error::file(format!(
                "{name} refuses {}:\n{}",
                self.path.display(),
                String::from_utf8_lossy(&output.stderr)
            )));
        }
        Ok(program)
    }
}

/// Sends bytes through a program; gives the words it writes.
pub(super) fn answers(program: &Path, bytes: Vec<u8>, deadline: Deadline) -> Result<Vec<u64>> {
    let output = run(&mut Command::new(program), bytes, || deadline.has_passed())
        .map_err(|error| error.at("the compiled program"))?;
    if !output.status.success() {
        return Err(Error::data(format!("the compiled program ended with {}", output.status)));
    }
    Ok(output.stdout.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect())
}
