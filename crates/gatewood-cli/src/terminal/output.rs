//! Results to standard output, and files that are whole or not there.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::interrupt;
use anyhow::{Context, Result};

/// Prints to standard output.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("standard output cannot be written to")
}

/// Where results go: a file under a temporary name until it is whole, or standard output.
pub(crate) struct OutputFile {
    writer: BufWriter<Box<dyn Write>>,
    names: Option<(PathBuf, PathBuf)>,
}

impl OutputFile {
    /// A file, or standard output for none and `-`.
    pub(crate) fn create(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Ok(Self { writer: BufWriter::new(Box::new(io::stdout())), names: None });
        };
        let name =
            path.file_name().with_context(|| format!("{} is not the name of a file", path.display()))?;
        if path.is_dir() {
            anyhow::bail!("{} is a folder, but a file is wanted", path.display());
        }
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}", std::process::id()));
        let temporary = path.with_file_name(temporary);
        let file =
            File::create(&temporary).with_context(|| format!("{} cannot be written", path.display()))?;
        interrupt::set_temporary(Some(temporary.clone()));
        Ok(Self { writer: BufWriter::new(Box::new(file)), names: Some((temporary, path.to_owned())) })
    }

    /// What went wrong when it cannot be written.
    fn place(&self) -> String {
        match &self.names {
            Some((_, path)) => format!("{} cannot be written", path.display()),
            None => "standard output cannot be written to".into(),
        }
    }

    /// Ends the file and gives it its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.writer.flush().with_context(|| self.place())?;
        if let Some((temporary, path)) = &self.names {
            std::fs::rename(temporary, path).with_context(|| self.place())?;
            interrupt::set_temporary(None);
            self.names = None;
        }
        Ok(())
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer
            .write(bytes)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.place())))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.names {
            let _ = std::fs::remove_file(temporary);
            interrupt::set_temporary(None);
        }
    }
}
