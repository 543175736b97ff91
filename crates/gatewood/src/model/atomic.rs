//! Files that are whole or absent: the one place that writes models and results.

use std::fs::{File, Metadata, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::platform::files::{link, unnamed};
use crate::{Error, Result};

/// A file that gets its name when it is whole. Until [`AtomicFile::finish`], the path holds what it held before.
///
/// On Linux the bytes go to a file without a name, so that a process killed at any time leaves nothing behind. Elsewhere,
/// and on file systems that have no such files, they go to a new file beside the target, whose name cannot be foretold.
/// A file that is replaced keeps its permissions and, where the system allows it, its owner. A symbolic link keeps
/// pointing to its file. A pipe or a device is written to as it is.
///
/// ```
/// use gatewood::model::AtomicFile;
/// use std::io::Write;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("rows.csv");
/// let mut file = AtomicFile::create(&path)?;
/// file.write_all(b"row,class\n").unwrap();
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read(&path).unwrap(), b"row,class\n");
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    /// The name to give and what it held before; `None` for a pipe or a device.
    target: Option<Target>,
    /// The name until then, where it needs one.
    temporary: Option<PathBuf>,
    /// The path as the caller gave it, for messages.
    path: PathBuf,
}

/// The path with links followed, and the file found there.
#[derive(Debug)]
struct Target {
    path: PathBuf,
    before: Option<Metadata>,
}

impl AtomicFile {
    /// Opens a file to be written.
    ///
    /// # Errors
    /// When the path is a folder or a read-only file, or when nothing can be created beside it.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let failed = |error: io::Error| Error::io(format!("{} cannot be written: {error}", path.display()));
        let Some(target) = Target::of(path)? else {
            let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
            return Ok(Self { file, target: None, temporary: None, path: path.to_owned() });
        };
        let (file, temporary) = match unnamed(target.folder()) {
            Some(file) => (file, None),
            None => {
                let (file, name) = target.named().map_err(failed)?;
                (file, Some(name))
            }
        };
        Ok(Self { file, target: Some(target), temporary, path: path.to_owned() })
    }

    /// The temporary file that a process that ends early should remove, if it has a name.
    pub fn temporary(&self) -> Option<&Path> {
        self.temporary.as_deref()
    }

    /// Writes what is left to the disk and gives the file its name.
    ///
    /// # Errors
    /// When the disk is full or the name cannot be given; the path then holds what it held before.
    pub fn finish(mut self) -> Result<()> {
        let path = std::mem::take(&mut self.path);
        self.publish().map_err(|error| Error::io(format!("{}: {error}", path.display())))
    }

    fn publish(&mut self) -> io::Result<()> {
        let Some(target) = &self.target else { return self.file.flush() };
        if let Some(before) = &target.before {
            keep_owner_and_mode(&self.file, before)?;
        }
        self.file.sync_all()?;
        if self.temporary.is_none() {
            if target.before.is_none() && link(&self.file, &target.path).is_ok() {
                return Ok(());
            }
            self.temporary = Some(target.named_copy(&self.file)?);
        }
        let Some(temporary) = &self.temporary else { return Ok(()) };
        std::fs::rename(temporary, &target.path)?;
        self.temporary = None;
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = std::fs::remove_file(temporary);
        }
    }
}

/// Writes a file at once: either all of it is there, or the path holds what it held before.
///
/// # Errors
/// As [`AtomicFile`].
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(|error| Error::io(format!("{}: {error}", path.display())))?;
    file.finish()
}

/// What names of temporary files end in.
const ENDING: &str = ".part";

impl Target {
    /// Where a path leads; `None` for a pipe or a device, which must not be replaced by a file.
    fn of(path: &Path) -> Result<Option<Self>> {
        let failed = |error: io::Error| Error::io(format!("{}: {error}", path.display()));
        let (found, before) = match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                return Err(Error::io(format!("{} is a folder, but a file is wanted", path.display())));
            }
            Ok(found) if !found.is_file() => return Ok(None),
            Ok(found) if found.permissions().readonly() => {
                return Err(Error::io(format!("{} cannot be written: it is read-only", path.display())));
            }
            Ok(found) => (path.canonicalize().map_err(failed)?, Some(found)),
            Err(_) => (path.to_owned(), None),
        };
        if found.file_name().is_none() {
            return Err(Error::io(format!("{} is not the name of a file", path.display())));
        }
        Ok(Some(Self { path: found, before }))
    }

    fn folder(&self) -> &Path {
        self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// What names of temporary files start with.
    fn prefix(&self) -> std::ffi::OsString {
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(self.path.file_name().unwrap_or_default());
        prefix.push(".");
        prefix
    }

    /// A name beside the target that nobody can foretell.
    fn temporary_name(&self) -> PathBuf {
        let mut name = self.prefix();
        // The state is seeded by the system, and anew for each.
        name.push(format!("{:016x}{ENDING}", RandomState::new().build_hasher().finish()));
        self.folder().join(name)
    }

    /// A new file with a temporary name. What stands there already, a link included, is never opened.
    fn named(&self) -> io::Result<(File, PathBuf)> {
        self.remove_stale();
        let name = self.temporary_name();
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&name)?;
        // The lock tells others that the file is in use; without locks, nobody removes it.
        let _ = file.try_lock();
        Ok((file, name))
    }

    /// Gives an unnamed file a temporary name.
    fn named_copy(&self, file: &File) -> io::Result<PathBuf> {
        let name = self.temporary_name();
        self.remove_stale();
        if link(file, &name).is_ok() {
            return Ok(name);
        }
        // Without /proc an unnamed file cannot get a name.
        let (mut copy, name) = self.named()?;
        let copied = copy_all(file, &mut copy, self.before.as_ref());
        if copied.is_err() {
            let _ = std::fs::remove_file(&name);
        }
        copied.map(|()| name)
    }

    /// Removes temporary files of this target whose process was killed: those that nobody holds a lock on.
    fn remove_stale(&self) {
        let Ok(entries) = std::fs::read_dir(self.folder()) else { return };
        let prefix = self.prefix();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let middle = name
                .as_encoded_bytes()
                .strip_prefix(prefix.as_encoded_bytes())
                .and_then(|rest| rest.strip_suffix(ENDING.as_bytes()));
            let is_ours =
                middle.is_some_and(|digits| digits.len() == 16 && digits.iter().all(u8::is_ascii_hexdigit));
            if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
                continue;
            }
            if File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

fn copy_all(mut from: &File, to: &mut File, before: Option<&Metadata>) -> io::Result<()> {
    io::Seek::rewind(&mut from)?;
    io::copy(&mut from, to)?;
    if let Some(before) = before {
        keep_owner_and_mode(to, before)?;
    }
    to.sync_all()
}

/// Gives a new file the permissions of the one it replaces and, where that is allowed, its owner.
fn keep_owner_and_mode(file: &File, before: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let now = file.metadata()?;
        if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
            let _ = fchown(file, Some(before.uid()), Some(before.gid()));
        }
    }
    file.set_permissions(before.permissions())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_whole_or_absent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.gw");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert!(!path.exists());
        drop(file);
        assert_eq!(names(folder.path()), [""; 0]);
        for content in ["first", "second"] {
            write_atomically(&path, content.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
            assert_eq!(names(folder.path()), ["model.gw"]);
        }
    }

    /// The way of systems without unnamed files, and of those without /proc.
    #[test]
    fn named_temporary_files_are_removed_or_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.gw");
        let named = || {
            let target = Target::of(&path).unwrap().unwrap();
            let (file, name) = target.named().unwrap();
            AtomicFile { file, target: Some(target), temporary: Some(name), path: path.clone() }
        };
        let mut file = named();
        file.write_all(b"whole").unwrap();
        assert_eq!(names(folder.path()).len(), 1);
        file.finish().unwrap();
        assert_eq!(names(folder.path()), ["model.gw"]);
        drop(named());
        assert_eq!(names(folder.path()), ["model.gw"]);
        // What a killed process left is removed by the next; what is in use stays, and so does what is not ours.
        let killed = format!(".model.gw.{:016x}.part", 7);
        for name in [killed.as_str(), ".model.gw.part", ".other.gw.0000000000000007.part"] {
            std::fs::write(folder.path().join(name), "left").unwrap();
        }
        let in_use = named();
        let kept = in_use.temporary().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        assert!(!folder.path().join(&killed).exists());
        write_atomically(&path, b"again").unwrap();
        let mut expected = vec![".model.gw.part", ".other.gw.0000000000000007.part", &kept, "model.gw"];
        expected.sort_unstable();
        assert_eq!(names(folder.path()), expected);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_kept_and_links_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret.gw");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        for wanted in [0o600, 0o640, 0o755] {
            write_atomically(&path, b"model").unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(wanted)).unwrap();
            write_atomically(&path, b"another").unwrap();
            assert_eq!(mode(), wanted);
        }
        let link = folder.path().join("link.gw");
        symlink("secret.gw", &link).unwrap();
        write_atomically(&link, b"through the link").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&path).unwrap(), b"through the link");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o444)).unwrap();
        let error = write_atomically(&path, b"no").unwrap_err().to_string();
        assert!(error.ends_with("secret.gw cannot be written: it is read-only"), "{error}");
    }
}
