//! Other programs, and folders for them to work in: the one file of the library that starts any.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::{Error, Result};

/// How often a program is asked whether it has ended.
const POLL: Duration = Duration::from_millis(2);

/// Runs a program on some input to its end, and kills it once it is too late.
pub(crate) fn run(command: &mut Command, input: Vec<u8>, is_late: impl Fn() -> bool) -> Result<Output> {
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
            None if is_late() => {
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
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A new folder. Its name is not in use: making it fails where something of that name is there.
    pub(crate) fn new() -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
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

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
