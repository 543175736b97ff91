//! What the paper says of speed, and the same measured here.

use std::time::Instant;

use gatewood::bits::kernels::Kernels;
use gatewood::learn::{Silent, TreeSettings, fit_tree, reference};
use gatewood::{Error, Result};
use gatewood_data::Folders;
use serde::Deserialize;

use crate::cell::paper_settings;
use crate::data::{Bits, Shelf};
use crate::results::{Entry, ResultsFile, Timing};

/// The claims as they lie in the repository.
const CLAIMS: &str = include_str!("../../../paper/tables/timing.toml");

/// The name that asks for the claims instead of a table.
pub const TIMING: &str = "timing";

/// Measurements shorter than this are repeated, and the fastest counts.
const REPEAT_BELOW: f64 = 3.0;

/// Something the paper says of speed, or a measurement to set beside it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What its measurement is kept under.
    pub name: String,
    /// What the paper says, or what is measured.
    pub says: String,
    /// The paper's figure.
    pub paper: Option<f64>,
    /// Its unit.
    pub unit: String,
    /// How we measure it.
    pub measure: Measure,
}

/// A measurement.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// What is done.
    pub kind: MeasureKind,
    /// With which data, in the words of the command line.
    pub data: String,
    /// On how many threads.
    pub threads: usize,
    arity: usize,
    depth: usize,
    #[serde(default)]
    climb: u64,
    #[serde(default)]
    height: usize,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasureKind {
    /// Learning a tree.
    Train,
    /// Running the tree over its training rows.
    Classify,
    /// Evaluating one gate again and again.
    Gates,
    /// Learning the tree one row at a time.
    RowAtATime,
}

#[derive(Deserialize)]
struct ClaimsFile {
    claim: Vec<Claim>,
}

impl Claim {
    /// All claims.
    ///
    /// # Errors
    /// Never with the file of the repository, which tests check.
    pub fn all() -> Result<Vec<Self>> {
        let file: ClaimsFile =
            toml::from_str(CLAIMS).map_err(|error| Error::file(format!("timing: {error}")))?;
        Ok(file.claim)
    }

    /// How many times faster than the paper a measurement is.
    pub fn factor(&self, measured: f64) -> Option<f64> {
        let paper = self.paper?;
        Some(if self.unit == "s" { paper / measured } else { measured / paper })
    }
}

/// Measures the claims that are not in the results yet, one after the other; `say` hears each name before and each
/// value after. Claims whose data is not here are left out.
///
/// # Errors
/// When the results file cannot be written or learning fails.
pub fn run_claims(
    folders: &Folders,
    results: &ResultsFile,
    start: Instant,
    say: &dyn Fn(&Claim, Option<f64>),
) -> Result<()> {
    for claim in Claim::all()? {
        if results.has_timing(&claim.name) {
            continue;
        }
        say(&claim, None);
        // A shelf of its own, as some sets are large.
        let shelf = Shelf::new(folders);
        let data = match shelf.get(&claim.measure.data) {
            Ok(data) => data,
            Err(error) if error.is_io() || error.is_too_large() => continue,
            Err(error) => return Err(error.at(&claim.name)),
        };
        let value = measure(&claim.measure, &data)?;
        say(&claim, Some(value));
        results.add(Entry::Timing(Timing {
            claim: claim.name,
            value,
            threads: claim.measure.threads,
            session: results.session(),
            at: (start.elapsed().as_secs_f64() * 10.0).round() / 10.0,
        }))?;
    }
    Ok(())
}

fn measure(measure: &Measure, data: &Bits) -> Result<f64> {
    let settings = TreeSettings {
        arity: measure.arity,
        depth: measure.depth,
        climb: measure.climb,
        height: measure.height.max(1),
        seed: 1,
        threads: measure.threads,
        ..paper_settings()
    };
    let (bits, classes) = (data.train.bits.view(), &data.train.classes);
    match measure.kind {
        MeasureKind::Train => fastest(|| fit_tree(bits, classes, &settings, &Silent).map(drop)),
        MeasureKind::RowAtATime => fastest(|| reference::fit_tree(bits, classes, &settings).map(drop)),
        MeasureKind::Classify => {
            let tree = fit_tree(bits, classes, &TreeSettings { threads: 0, ..settings }, &Silent)?;
            fastest(|| tree.run(bits, measure.threads).map(drop))
        }
        MeasureKind::Gates => {
            let kernels = Kernels::best();
            let inputs: Vec<&[u64]> = (0..measure.arity).map(|column| bits.column(column * 37)).collect();
            let mut output = vec![0; inputs[0].len()];
            // A table without structure, so that no shortcut applies.
            let table = [0x6b1du64];
            let rounds = 20_000;
            let seconds = fastest(|| {
                (0..rounds)
                    .for_each(|_| kernels.evaluate(&table, &inputs, std::hint::black_box(&mut output)));
                Ok(())
            })?;
            Ok((f64::from(rounds) * 2.0 * inputs[0].len() as f64 / seconds).round())
        }
    }
}

/// Seconds of some work, the least of three times when it is short.
fn fastest(mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        work()?;
        least = least.min(start.elapsed().as_secs_f64());
        if least > REPEAT_BELOW {
            break;
        }
    }
    Ok((least * 1e5).round() / 1e5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_claims_parse_and_name_data_sets() {
        let claims = Claim::all().unwrap();
        assert_eq!(claims.iter().filter(|claim| claim.paper.is_some()).count(), 9);
        for claim in &claims {
            claim.measure.data.parse::<gatewood_data::DataSpec>().unwrap();
        }
        assert_eq!(claims[0].factor(54e6), Some(2.0));
        assert_eq!(claims[1].factor(1.06), Some(10.0));
    }
}
