//! Exported C and Rust, compiled and run: the one file of the library that starts other programs.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::circuit::Deadline;
use crate::export::{Format, Options};
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
        let main = folder.0.join(format!("main.{}", self.format.extension()));
        let program = folder.0.join("program");
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
        command.arg("-o").arg(&program).arg(&main).current_dir(&folder.0);
        let name = command.get_program().to_string_lossy().into_owned();
        let output = run(&mut command, Vec::new(), deadline)
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
    let output =
        run(&mut Command::new(program), bytes, deadline).map_err(|error| error.at("the compiled program"))?;
    if !output.status.success() {
        return Err(Error::data(format!("the compiled program ended with {}", output.status)));
    }
    Ok(output.stdout.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect())
}

/// How often a program is asked whether it has ended.
const POLL: Duration = Duration::from_millis(2);

/// Runs a program on some input to its end, and kills it at the deadline.
fn run(command: &mut Command, input: Vec<u8>, deadline: Deadline) -> Result<Output> {
    let failed = |error| Error::io(format!("cannot be run: {error}"));
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // A program that ends early closes its input; what it wrote then says why.
    let writer = std::thread::spawn(move || stdin.map_or(Ok(()), |mut stdin| stdin.write_all(&input)));
    let reader = std::thread::spawn(move || read_all(stdout));
    let errors = std::thread::spawn(move || read_all(stderr));
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if deadline.has_passed() => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(Error::data("took longer than the time limit allows"));
            }
            None => std::thread::sleep(POLL),
        }
    };
    let read = |thread: std::thread::JoinHandle<Vec<u8>>| thread.join().unwrap_or_default();
    let _ = writer.join();
    Ok(Output { status, stdout: read(reader), stderr: read(errors) })
}

fn read_all(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // What was read before a pipe broke is still of use.
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}

/// A folder for temporary files that only this user can read; removed when dropped.
pub(super) struct Folder(PathBuf);

impl Folder {
    /// A new folder. Its name is not in use: making it fails where something of that name is there.
    pub(super) fn new() -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("gatewood-verify-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match builder.create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && number < 10_000 => {}
                Err(error) => return Err(Error::io(format!("no temporary folder can be made: {error}"))),
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
