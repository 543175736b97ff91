//! Results to standard output, and files that are whole or absent.

use std::fs::Metadata;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use super::escape::Harmless;
use super::{Usage, interrupt};
use anyhow::{Context, Result, bail};
use gatewood::model::AtomicFile;
use gatewood::text::printable;

/// Prints to standard output. Names from files do not reach a terminal as escape sequences; JSON stays the same JSON.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(printable(text).as_bytes())
        .and_then(|()| out.flush())
        .context("standard output cannot be written to")
}

/// Where results go: a file that gets its name when it is whole, or standard output.
pub(crate) struct OutputFile {
    sink: Sink,
    /// What to say when it cannot be written.
    place: String,
}

enum Sink {
    File(Box<BufWriter<AtomicFile>>),
    Standard(BufWriter<Box<dyn Write>>),
}

impl OutputFile {
    /// A file, or standard output for none and `-`. The command reads the inputs: a file among them is not overwritten.
    pub(crate) fn create<'a>(
        path: Option<&Path>,
        inputs: impl IntoIterator<Item = &'a Path>,
    ) -> Result<Self> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            let stdout = io::stdout();
            // Programs get the bytes as they are.
            let to: Box<dyn Write> =
                if stdout.is_terminal() { Box::new(Harmless::new(stdout)) } else { Box::new(stdout) };
            let place = "standard output cannot be written to".into();
            return Ok(Self { sink: Sink::Standard(BufWriter::new(to)), place });
        };
        for input in inputs {
            if is_same_file(path, input) {
                bail!(Usage(format!(
                    "{} is also read here, and writing would destroy it: choose another name to write to",
                    path.display()
                )));
            }
        }
        let file = AtomicFile::create(path)?;
        if let Some(temporary) = file.temporary() {
            interrupt::add_temporary(temporary.to_owned());
        }
        let place = format!("{} cannot be written", path.display());
        Ok(Self { sink: Sink::File(Box::new(BufWriter::new(file))), place })
    }

    /// Ends the file and gives it its name.
    pub(crate) fn finish(self) -> Result<()> {
        match self.sink {
            Sink::Standard(mut writer) => writer.flush().context(self.place),
            Sink::File(writer) => {
                let file = writer.into_inner().map_err(io::IntoInnerError::into_error).context(self.place)?;
                Ok(file.finish()?)
            }
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.sink {
            Sink::File(writer) => writer.write(bytes),
            Sink::Standard(writer) => writer.write(bytes),
        };
        written.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.place)))
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::File(writer) => writer.flush(),
            Sink::Standard(writer) => writer.flush(),
        }
    }
}

/// Whether two paths lead to one file, by links of any kind.
fn is_same_file(one: &Path, other: &Path) -> bool {
    match (std::fs::metadata(one), std::fs::metadata(other)) {
        (Ok(first), Ok(second)) => {
            first.is_file() && second.is_file() && is_same(one, &first, other, &second)
        }
        (Err(_), Err(_)) => one == other,
        _ => false,
    }
}

#[cfg(unix)]
fn is_same(_: &Path, first: &Metadata, _: &Path, second: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (first.dev(), first.ino()) == (second.dev(), second.ino())
}

#[cfg(not(unix))]
fn is_same(one: &Path, _: &Metadata, other: &Path, _: &Metadata) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
