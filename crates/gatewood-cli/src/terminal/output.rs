//! Results to standard output, and files that are whole or not there.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::interrupt;
use anyhow::{Context, Result};
use gatewood::model::temporary_name;
use gatewood::text::printable;

/// Prints to standard output. Names from files do not reach a terminal as escape sequences; JSON stays the same JSON.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(printable(text).as_bytes())
        .and_then(|()| out.flush())
        .context("standard output cannot be written to")
}

/// Where results go: a file under a temporary name until it is whole, or standard output.
pub(crate) struct OutputFile {
    writer: BufWriter<Box<dyn Write>>,
    /// The temporary name and the one to be given.
    names: Option<(PathBuf, PathBuf)>,
    /// What to say when it cannot be written.
    place: String,
}

impl OutputFile {
    /// A file, or standard output for none and `-`.
    pub(crate) fn create(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            let place = "standard output cannot be written to".into();
            return Ok(Self { writer: BufWriter::new(Box::new(io::stdout())), names: None, place });
        };
        let cannot = || format!("{} cannot be written", path.display());
        let Some((temporary, target)) = temporary_name(path)? else {
            let file = File::create(path).with_context(cannot)?;
            return Ok(Self { writer: BufWriter::new(Box::new(file)), names: None, place: cannot() });
        };
        let file = File::create(&temporary).with_context(cannot)?;
        interrupt::set_temporary(Some(temporary.clone()));
        Ok(Self { writer: BufWriter::new(Box::new(file)), names: Some((temporary, target)), place: cannot() })
    }

    /// Ends the file and gives it its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.writer.flush().with_context(|| self.place.clone())?;
        if let Some((temporary, path)) = &self.names {
            std::fs::rename(temporary, path).with_context(|| self.place.clone())?;
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
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.place)))
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
