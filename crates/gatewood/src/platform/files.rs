//! Files without a name, which only Linux has; trainings write them, so that a killed process leaves nothing behind.

use std::fs::File;
use std::io;
use std::path::Path;

/// A file without a name in a folder, where the file system has such files.
#[cfg(all(target_os = "linux", feature = "train"))]
pub(crate) fn unnamed(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666)).ok()?);
    let _ = file.try_lock();
    Some(file)
}

#[cfg(not(all(target_os = "linux", feature = "train")))]
pub(crate) fn unnamed(_folder: &Path) -> Option<File> {
    None
}

/// Gives a file without a name one that is free.
#[cfg(all(target_os = "linux", feature = "train"))]
pub(crate) fn link(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    use std::os::fd::AsRawFd;
    let from = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, from, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(all(target_os = "linux", feature = "train")))]
pub(crate) fn link(_file: &File, _name: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
