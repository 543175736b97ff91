//! Fuzz targets: everything that reads bytes from outside, given bytes of any kind.
//!
//! - [`targets`]: the targets, each a function that panics when something is wrong;
//! - [`Mutator`]: makes new inputs from old ones, the same for the same seed;
//! - [`seeds`]: the files that each target starts from.
//!
//! The program `mutate` runs a target for a while on the stable toolchain; `fuzz_targets` holds the same for cargo-fuzz.

#![forbid(unsafe_code)]

mod models;
mod mutator;
pub mod targets;

use std::path::{Path, PathBuf};

pub use mutator::Mutator;

/// A target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Runs it on some bytes and says whether they were understood. Panics when something is wrong.
    pub run: fn(&[u8]) -> bool,
    /// Where its inputs come from besides `seeds/NAME`: a folder of the repository, and what their names end in.
    pub more_seeds: Option<(&'static str, &'static str)>,
}

const TABLES: &str = "crates/gatewood-data/tests/tables";

/// All targets.
pub const TARGETS: [Target; 13] = [
    Target {
        name: "model_file",
        run: targets::model_file,
        more_seeds: Some(("crates/gatewood/tests/golden", ".gw")),
    },
    Target { name: "circuit_file", run: targets::circuit_file, more_seeds: None },
    Target { name: "read_csv", run: targets::read_csv, more_seeds: Some((TABLES, "sv")) },
    Target { name: "read_libsvm", run: targets::read_libsvm, more_seeds: Some((TABLES, ".libsvm")) },
    Target { name: "read_npy", run: targets::read_npy, more_seeds: Some((TABLES, ".npy")) },
    Target { name: "read_npz", run: targets::read_npz, more_seeds: Some((TABLES, ".npz")) },
    Target { name: "read_arrow", run: targets::read_arrow, more_seeds: Some((TABLES, ".arrow")) },
    Target { name: "read_parquet", run: targets::read_parquet, more_seeds: Some((TABLES, ".parquet")) },
    Target { name: "encode", run: targets::encode, more_seeds: Some((TABLES, ".csv")) },
    Target { name: "idx", run: targets::idx, more_seeds: None },
    Target { name: "cifar", run: targets::cifar, more_seeds: None },
    Target { name: "pla", run: targets::pla, more_seeds: None },
    Target { name: "amat", run: targets::amat, more_seeds: None },
];

/// The inputs that a target starts from, and an empty one.
///
/// # Errors
/// When a folder or a file cannot be read.
pub fn seeds(target: &Target) -> std::io::Result<Vec<Vec<u8>>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let mut files: Vec<PathBuf> = Vec::new();
    let own = root.join("fuzz/seeds").join(target.name);
    for (folder, ending) in [(own, "")].into_iter().chain(target.more_seeds.map(|(f, e)| (root.join(f), e))) {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry?.path();
            if path.is_file() && path.to_string_lossy().ends_with(ending) {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut inputs = vec![Vec::new()];
    for file in files {
        inputs.push(std::fs::read(file)?);
    }
    Ok(inputs)
}
