//! Where the files of named sets are looked for.

use std::path::{Path, PathBuf};

use gatewood::{Error, Result};

/// The folders that files of named sets are looked for in, the first that has a file being the one.
///
/// A file may be plain or packed: `adult/adult.data`, `adult/adult.data.xz`, …
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folders {
    folders: Vec<PathBuf>,
}

/// Extensions of packed files, and none.
const EXTENSIONS: [&str; 4] = ["", ".gz", ".xz", ".zst"];

impl Folders {
    /// Only these folders.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders }
    }

    /// The folder given, then `$GATEWOOD_DATA`, then the user's cache folder.
    pub fn standard(given: Option<&Path>) -> Self {
        let from_environment =
            std::env::var_os("GATEWOOD_DATA").filter(|value| !value.is_empty()).map(PathBuf::from);
        let folders = [given.map(Path::to_owned), from_environment, cache_folder()];
        Self { folders: folders.into_iter().flatten().collect() }
    }

    /// The folders, in the order they are looked in.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The folder that downloads go to: the first.
    ///
    /// # Errors
    /// When there is none.
    pub fn for_downloads(&self) -> Result<&Path> {
        self.folders.first().map(PathBuf::as_path).ok_or_else(|| {
            Error::setting("there is no folder for data sets: give one with --data-dir or GATEWOOD_DATA")
        })
    }

    /// Looks for a file, plain or packed.
    pub fn find(&self, path: &str) -> Option<PathBuf> {
        self.folders.iter().find_map(|folder| {
            EXTENSIONS
                .iter()
                .map(|extension| folder.join(format!("{path}{extension}")))
                .find(|path| path.is_file())
        })
    }

    /// Looks for the first of several names of one file.
    pub fn find_any(&self, paths: &[&str]) -> Option<PathBuf> {
        paths.iter().find_map(|path| self.find(path))
    }

    /// The folders in words.
    pub(crate) fn describe(&self) -> String {
        match &self.folders[..] {
            [] => "no folder: give one with --data-dir or GATEWOOD_DATA".into(),
            folders => {
                folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// The user's folder for what can be fetched again.
fn cache_folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Caches"))
    } else {
        variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")))
    };
    Some(folder?.join("gatewood"))
}
