//! The bits of the data sets, each made or read once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use gatewood::bits::BitMatrix;
use gatewood::circuit::Tree;
use gatewood::encode::Encoder;
use gatewood::{Error, Result};
use gatewood_data::{DataSpec, Dataset, Folders, Source, load_named};

/// Rows as bits, and their classes, 0 or 1.
#[derive(Debug)]
pub struct Rows {
    /// The bits.
    pub bits: BitMatrix,
    /// The class of each row.
    pub classes: Vec<u32>,
}

impl Rows {
    /// The share of rows that a tree gets wrong, in percent.
    ///
    /// # Errors
    /// When the tree is not for rows like these.
    pub fn error(&self, tree: &Tree, threads: usize) -> Result<f64> {
        let output = tree.run(self.bits.view(), threads)?;
        let wrong = self.classes.iter().enumerate();
        let wrong = wrong.filter(|&(row, &class)| output[row / 64] >> (row % 64) & 1 != u64::from(class));
        Ok(100.0 * wrong.count() as f64 / self.classes.len() as f64)
    }
}

/// The training and test rows of a set.
#[derive(Debug)]
pub struct Bits {
    /// To learn from.
    pub train: Rows,
    /// To test on.
    pub test: Rows,
}

/// Reads a set in the words of the command line.
///
/// # Errors
/// When there is no such set, or its files are not here.
pub fn load(words: &str, folders: &Folders) -> Result<Dataset> {
    let spec: DataSpec = words.parse()?;
    match &spec.source {
        Source::Named(name) => load_named(name, &spec.options, folders),
        _ => Err(Error::data(format!("\"{words}\" is not a named data set"))),
    }
}

fn bits_of(words: &str, folders: &Folders) -> Result<Bits> {
    let Dataset { train, test, encode, .. } = load(words, folders)?;
    let test = test.ok_or_else(|| Error::data(format!("\"{words}\" has no test rows")))?;
    let (encoder, _) = Encoder::fit(&train.table, &encode)?;
    let rows = |split: gatewood_data::Split| -> Result<Rows> {
        Ok(Rows { bits: encoder.transform(&split.table)?, classes: split.labels.codes().to_vec() })
    };
    Ok(Bits { train: rows(train)?, test: rows(test)? })
}

type Slot = Arc<OnceLock<Result<Arc<Bits>>>>;

/// Sets by their words. A set is loaded by the first who asks, and others wait for it.
#[derive(Debug)]
pub struct Shelf<'a> {
    folders: &'a Folders,
    slots: Mutex<HashMap<String, Slot>>,
}

impl<'a> Shelf<'a> {
    /// An empty shelf.
    pub fn new(folders: &'a Folders) -> Self {
        Self { folders, slots: Mutex::default() }
    }

    /// The set of these words.
    ///
    /// # Errors
    /// When it cannot be loaded.
    pub fn get(&self, words: &str) -> Result<Arc<Bits>> {
        let slot = {
            let mut slots = self.slots.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            slots.entry(words.to_owned()).or_default().clone()
        };
        slot.get_or_init(|| bits_of(words, self.folders).map(Arc::new)).clone()
    }
}
