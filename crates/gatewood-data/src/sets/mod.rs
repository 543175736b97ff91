//! Named sets: what is known of them, where their files lie, and reading them.
//!
//! - [`SETS`], [`SetInfo`], [`pmlb_sets`]: what is known of each.
//! - [`Folders`]: where files are looked for.
//! - [`fetch()`] downloads a set and checks its files.
//! - [`load_named`]: the rows of a set, split as the set is.

mod fetch;
mod folders;
mod images;
mod made;
mod names;
mod registry;
mod tables;

use std::path::PathBuf;

use crate::Dataset;
use crate::spec::Options;
use gatewood::{Error, Result};

pub use fetch::{Fetched, fetch};
pub use folders::Folders;
pub(crate) use images::{PHOTOGRAPHS, class_names};
pub use registry::{PmlbInfo, SETS, SetFile, SetInfo, pmlb_sets};

/// What is known of the set of this name.
pub fn set_info(name: &str) -> Option<&'static SetInfo> {
    SETS.iter().find(|set| set.name == name)
}

/// What is known of the PMLB set of this name, `pmlb/` before it or not.
pub fn pmlb_info(name: &str) -> Option<PmlbInfo> {
    let name = name.strip_prefix("pmlb/").unwrap_or(name);
    pmlb_sets().find(|set| set.name == name)
}

/// Whether a word names a set.
pub fn is_name(word: &str) -> bool {
    set_info(word).is_some() || word.strip_prefix("pmlb/").is_some_and(|name| !name.is_empty())
}

/// The name that differs least from a word, if it is near.
pub(crate) fn nearest_name(word: &str) -> Option<String> {
    let names =
        SETS.iter().map(|set| set.name.to_owned()).chain(pmlb_sets().map(|set| format!("pmlb/{}", set.name)));
    let word = word.to_lowercase();
    let distance = |name: &str| edits(&word, name).min(edits(&word, name.trim_start_matches("pmlb/")) + 1);
    names
        .map(|name| (distance(&name), name))
        .min()
        .filter(|(edits, _)| *edits <= 1 + word.len() / 4)
        .map(|(_, name)| name)
}

/// Letters to change, add or drop to get from one word to another.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, &b) in to.iter().enumerate() {
            let change = before + usize::from(a != b);
            before = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[to.len()]
}

/// Whether all files of a set are in the folders; one that is made or embedded always is.
pub fn is_here(name: &str, folders: &Folders) -> bool {
    match set_info(name) {
        Some(_) if name == "cifar10" => folders.find("cifar10/cifar-10-batches-bin/test_batch.bin").is_some(),
        Some(info) => {
            let texts = ["train", "test"].map(|part| images::amat_names(name, part));
            info.files.iter().all(|file| folders.find(file.path).is_some())
                || texts.iter().all(|names| {
                    names.as_ref().is_some_and(|[name, nested]| folders.find_any(&[name, nested]).is_some())
                })
        }
        None => pmlb_info(name).is_some_and(|info| folders.find(&info.path()).is_some()),
    }
}

/// Where the files of a set are, and what to say when one is not there.
pub(crate) struct Place<'a> {
    pub(crate) folders: &'a Folders,
}

impl Place<'_> {
    /// The file, which must be there.
    fn need(&self, info: &SetInfo, path: &str) -> Result<PathBuf> {
        self.folders.find(path).ok_or_else(|| self.missing(info, path))
    }

    /// The error that says how to get a file.
    fn missing(&self, info: &SetInfo, path: &str) -> Error {
        self.missing_from(info.name, path, info.files.iter().all(|file| file.url.is_some()), info.home)
    }

    fn missing_from(&self, name: &str, path: &str, can_fetch: bool, home: &str) -> Error {
        let how = if can_fetch {
            format!("\"gatewood data fetch {name}\" gets it")
        } else {
            format!("\"gatewood data fetch {name}\" says how to get it from {home}")
        };
        Error::io(format!(
            "the set \"{name}\" is not here: {path} is in none of the data folders ({}); {how}",
            self.folders.describe()
        ))
    }
}

/// Loads a named set: the name, its options, and the folders to look in.
///
/// # Errors
/// When there is no such set, an option does not fit, or a file is missing or damaged.
///
/// ```
/// use gatewood_data::{Folders, load_named};
/// let options = [("train".to_owned(), "100".to_owned()), ("test".to_owned(), "50".to_owned())];
/// let cubes = load_named("cubes", &options, &Folders::default())?;
/// assert_eq!((cubes.train.rows(), cubes.test_rows()), (100, 50));
/// # Ok::<(), gatewood::Error>(())
/// ```
pub fn load_named(name: &str, options: &[(String, String)], folders: &Folders) -> Result<Dataset> {
    let place = Place { folders };
    let taken = Options::new(name, options);
    let mut dataset = if name.starts_with("pmlb/") {
        tables::pmlb(name, taken, &place)
    } else {
        let info =
            set_info(name).ok_or_else(|| Error::data(format!("there is no data set named \"{name}\"")))?;
        match name {
            "mnist35" => made::mnist35(info, taken),
            "cubes" | "gauss" | "convex-made" => made::made(info, taken),
            "mnist" | "fashion-mnist" | "convex" | "rectangles" => images::idx(info, taken, &place),
            "cifar10" => images::cifar(info, taken, &place),
            _ => tables::table(info, taken, &place),
        }
    }?;
    dataset.name = with_options(name, options);
    Ok(dataset)
}

/// As [`load_named`], for the sets that need no file: made from a seed, or embedded.
///
/// # Errors
/// As [`load_named`]; also when the set needs a file.
pub fn load_made(name: &str, options: &[(String, String)]) -> Result<Dataset> {
    let info = set_info(name).ok_or_else(|| Error::data(format!("there is no data set named \"{name}\"")))?;
    let taken = Options::new(name, options);
    let mut dataset = match name {
        "mnist35" => made::mnist35(info, taken),
        "cubes" | "gauss" | "convex-made" => made::made(info, taken),
        _ => Err(Error::data(format!("the set \"{name}\" needs a file"))),
    }?;
    dataset.name = with_options(name, options);
    Ok(dataset)
}

/// The set `mnist35`, given the file that is embedded where the feature `digits` is on.
///
/// # Errors
/// When the bytes are not that file.
pub fn load_digits(packed: &[u8]) -> Result<Dataset> {
    let info = set_info("mnist35").ok_or_else(|| Error::data("there is no data set named \"mnist35\""))?;
    made::digits(info, packed)
}

/// The name of a set with its options, as the user writes it.
fn with_options(name: &str, options: &[(String, String)]) -> String {
    let options: Vec<String> = options.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if options.is_empty() { name.to_owned() } else { format!("{name}:{}", options.join(",")) }
}
