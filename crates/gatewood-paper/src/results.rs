//! What was measured, kept in a file that grows by a line a run.
//!
//! The file is JSON lines: a session (machine, date, commit), then its runs. A long run can be stopped at any time: what
//! is finished is in the file, and a torn last line is passed over.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;

use gatewood::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::verdict::Spread;

/// The results that came with this version.
const COMMITTED: &str = include_str!("../../../paper/results/results.jsonl");

/// One time of running cells on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its number in the file, from 1.
    pub session: usize,
    /// The machine, in words.
    pub machine: String,
    /// The day it began, as 2026-11-15.
    pub date: String,
    /// The commit of the code, as far as known.
    pub commit: String,
    /// Threads used.
    pub threads: usize,
}

/// One run of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The cell's [`Cell::key`].
    pub cell: String,
    /// The seed.
    pub seed: u64,
    /// The training error in percent.
    pub train: f64,
    /// The test error in percent.
    pub test: f64,
    /// Seconds of learning.
    pub seconds: f64,
    /// Threads that learned.
    pub threads: usize,
    /// The session it belongs to.
    pub session: usize,
    /// Seconds from the start of the session to its end.
    pub at: f64,
}

/// One measurement of a claim on speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// The claim's name.
    pub claim: String,
    /// What was measured, in the claim's unit.
    pub value: f64,
    /// Threads that worked.
    pub threads: usize,
    /// The session it belongs to.
    pub session: usize,
    /// Seconds from the start of the session to its end.
    pub at: f64,
}

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Entry {
    /// A session begins.
    Session(Session),
    /// A run is finished.
    Run(Run),
    /// A claim on speed is measured.
    Timing(Timing),
}

/// All that was measured.
#[derive(Debug, Default)]
pub struct Results {
    /// The sessions.
    pub sessions: Vec<Session>,
    /// The runs of each cell, by key and seed; the last one counts.
    pub runs: BTreeMap<String, BTreeMap<u64, Run>>,
    /// The measurements of claims, by name; the last one counts.
    pub timings: BTreeMap<String, Timing>,
}

impl Results {
    /// The results that came with this version.
    ///
    /// # Errors
    /// Never with the file of the repository, which tests check.
    pub fn committed() -> Result<Self> {
        Self::parse(COMMITTED)
    }

    /// Reads results from the text of a file.
    ///
    /// # Errors
    /// When a line other than the last is not a result, naming the line.
    pub fn parse(text: &str) -> Result<Self> {
        let mut results = Self::default();
        for (number, line) in text.lines().enumerate() {
            match serde_json::from_str(line) {
                Ok(entry) => results.add(entry),
                // A stop may tear the last line.
                Err(_) if number + 1 == text.lines().count() && !text.ends_with('\n') => {}
                Err(error) => {
                    return Err(Error::file(format!("line {} is no result: {error}", number + 1)));
                }
            }
        }
        Ok(results)
    }

    fn add(&mut self, entry: Entry) {
        match entry {
            Entry::Session(session) => self.sessions.push(session),
            Entry::Run(run) => {
                self.runs.entry(run.cell.clone()).or_default().insert(run.seed, run);
            }
            Entry::Timing(timing) => {
                self.timings.insert(timing.claim.clone(), timing);
            }
        }
    }

    /// The runs of a cell.
    pub fn of(&self, cell: &Cell) -> impl Iterator<Item = &Run> {
        self.runs.get(&cell.key()).into_iter().flat_map(BTreeMap::values)
    }

    /// The spread of a cell's training and test error.
    pub fn spreads(&self, cell: &Cell) -> [Option<Spread>; 2] {
        [Spread::of(self.of(cell).map(|run| run.train)), Spread::of(self.of(cell).map(|run| run.test))]
    }

    /// Seconds that the sessions took, one after the other.
    pub fn seconds(&self) -> f64 {
        let ends = self.runs.values().flat_map(BTreeMap::values).map(|run| (run.session, run.at));
        let ends = ends.chain(self.timings.values().map(|timing| (timing.session, timing.at)));
        let mut last: BTreeMap<usize, f64> = BTreeMap::new();
        for (session, at) in ends {
            let end = last.entry(session).or_default();
            *end = end.max(at);
        }
        last.values().sum()
    }

    /// Number of runs.
    pub fn count(&self) -> usize {
        self.runs.values().map(BTreeMap::len).sum()
    }
}

/// The file while results are added to it.
#[derive(Debug)]
pub struct ResultsFile {
    file: Mutex<File>,
    results: Mutex<Results>,
    /// The session under way.
    session: usize,
}

impl ResultsFile {
    /// Opens the file, or makes it, and begins a session; `describe` is told its number.
    ///
    /// # Errors
    /// When the file cannot be read or written, or holds something else.
    pub fn open(path: &Path, describe: impl FnOnce(usize) -> Session) -> Result<Self> {
        let at = |error: std::io::Error| Error::io(format!("{}: {error}", path.display()));
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|error| Error::io(format!("{}: {error}", folder.display())))?;
        }
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(at)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(at)?;
        let results = Results::parse(&text).map_err(|error| error.at(path.display()))?;
        // What a stop has torn is written over.
        let whole = text.rfind('\n').map_or(0, |end| end + 1) as u64;
        file.set_len(whole).map_err(at)?;
        file.seek(SeekFrom::End(0)).map_err(at)?;
        let session = results.sessions.iter().map(|session| session.session).max().unwrap_or(0) + 1;
        let opened = Self { file: Mutex::new(file), results: Mutex::new(results), session };
        opened.add(Entry::Session(describe(session)))?;
        Ok(opened)
    }

    /// The number of the session under way.
    pub fn session(&self) -> usize {
        self.session
    }

    /// Adds a line.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&self, entry: Entry) -> Result<()> {
        let mut line =
            serde_json::to_string(&entry).map_err(|error| Error::io(format!("a result: {error}")))?;
        line.push('\n');
        let mut file = self.file.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        file.write_all(line.as_bytes()).map_err(|error| Error::io(format!("the results file: {error}")))?;
        self.results.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).add(entry);
        Ok(())
    }

    /// Whether a run is there.
    pub fn has(&self, key: &str, seed: u64) -> bool {
        let results = self.results.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        results.runs.get(key).is_some_and(|runs| runs.contains_key(&seed))
    }

    /// Whether a claim was measured.
    pub fn has_timing(&self, claim: &str) -> bool {
        self.results.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).timings.contains_key(claim)
    }

    /// All results, those of earlier sessions included.
    pub fn into_results(self) -> Results {
        self.results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(session: usize) -> Session {
        Session {
            session,
            machine: "a machine".into(),
            date: "2026-11-15".into(),
            commit: "abc".into(),
            threads: 2,
        }
    }

    fn run(session: usize, seed: u64) -> Run {
        Run {
            cell: "mnist35 arity=4 depth=2".into(),
            seed,
            train: 10.5,
            test: 11.25,
            seconds: 0.5,
            threads: 1,
            session,
            at: 2.0,
        }
    }

    #[test]
    fn results_are_kept_over_sessions_and_a_torn_line_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/results.jsonl");
        let file = ResultsFile::open(&path, session).unwrap();
        file.add(Entry::Run(run(1, 7))).unwrap();
        drop(file);
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str("{\"kind\":\"run\",\"ce");
        std::fs::write(&path, &text).unwrap();

        let file = ResultsFile::open(&path, session).unwrap();
        assert_eq!(file.session(), 2);
        assert!(file.has("mnist35 arity=4 depth=2", 7) && !file.has("mnist35 arity=4 depth=2", 8));
        file.add(Entry::Run(run(2, 8))).unwrap();
        let results = file.into_results();
        assert_eq!((results.count(), results.seconds()), (2, 4.0));
        let read = Results::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(read.runs, results.runs);
    }

    #[test]
    fn foreign_lines_are_refused() {
        let error = Results::parse("{}\n{}\n").unwrap_err();
        assert!(error.is_file() && error.to_string().contains("line 1"), "{error}");
    }
}
