//! A circuit with all it needs to be used again: encoder, class names, settings, and its file.
//!
//! - [`Model`]: takes raw rows, says classes or values.
//! - [`Circuit`]: the circuit in it, a tree or a grove.
//! - [`Prediction`]: what a model says of some rows.
//! - [`Predictor`]: a model made ready to predict again and again, also single rows.
//! - [`Metrics`], [`ValueMetrics`]: how that compares with the true classes or values.
//! - [`train()`]: rows and [`TrainSettings`] to a model; [`cross_validate()`]: several, each tested on other rows.
//! - [`train_parts`]: the same where rows are in other processes; [`Part`]: the rows of one.
//! - [`holdout`] and [`folds`]: rows put aside.
//!
//! The file is described in `FORMAT.md` at the root of the repository.

mod atomic;
#[cfg(feature = "train")]
mod augment;
#[cfg(feature = "train")]
mod class_weight;
#[cfg(feature = "train")]
mod comparing;
#[cfg(feature = "train")]
mod coverage;
#[cfg(feature = "train")]
mod cross_validate;
mod digest;
mod file;
mod file_patterns;
mod image;
mod importance;
mod metrics;
mod packing;
#[cfg(feature = "train")]
mod parts;
#[cfg(feature = "train")]
mod patterns;
#[cfg(feature = "train")]
mod permutation;
mod prediction;
mod predictor;
#[cfg(feature = "train")]
mod prepare;
mod rows;
#[cfg(feature = "train")]
mod settings;
#[cfg(feature = "train")]
mod split;
mod staged;
#[cfg(feature = "train")]
mod train;
mod used_settings;
mod value_metrics;

use std::collections::{BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

use crate::bits::BitView;
use crate::circuit::{Grove, Literal, Output, Tree};
use crate::encode::{Encoder, Labels, Table};
use crate::{Error, Result};

pub use atomic::{AtomicFile, write_atomically};
#[cfg(feature = "train")]
pub use class_weight::ClassWeight;
#[cfg(feature = "train")]
pub use cross_validate::{Fold, cross_validate};
pub use file::FORMAT_VERSION;
pub use metrics::Metrics;
#[cfg(feature = "train")]
pub use parts::{Part, PartsTraining, train_parts};
pub use prediction::Prediction;
pub use predictor::Predictor;
#[cfg(feature = "train")]
pub use prepare::train;
pub use rows::{LabelledRows, Rows};
#[cfg(feature = "train")]
pub use settings::{LearnSettings, TrainSettings};
#[cfg(feature = "train")]
pub use split::{EARLY_STOPPING_SHARE, Parts, Subset, folds, holdout};
#[cfg(feature = "train")]
pub use train::{GroveReport, Trained, Training, TrainingReport};
pub use used_settings::UsedSettings;
pub use value_metrics::{QuantileMetrics, ValueMetrics};

/// The circuit of a model.
#[allow(clippy::large_enum_variant, reason = "a model has one circuit, which is mostly elsewhere in memory")]
#[derive(Debug, Clone, PartialEq)]
pub enum Circuit {
    /// The paper's tree, for two classes.
    Tree(Tree),
    /// Boosted trees, for two classes or more.
    Grove(Grove),
}

impl Circuit {
    /// Bits the circuit may read.
    pub fn inputs(&self) -> usize {
        match self {
            Circuit::Tree(tree) => tree.inputs(),
            Circuit::Grove(grove) => grove.inputs(),
        }
    }

    /// Number of classes; none where it says values.
    pub fn classes(&self) -> usize {
        match self {
            Circuit::Tree(_) => 2,
            Circuit::Grove(grove) => grove.classes(),
        }
    }

    /// Whether it says values, and not classes.
    pub fn says_values(&self) -> bool {
        matches!(self, Circuit::Grove(grove) if matches!(grove.output(), Output::Value(_)))
    }

    /// Whether its margins stand for the logarithm of a value that was learned so.
    pub fn is_log(&self) -> bool {
        matches!(self, Circuit::Grove(grove) if matches!(grove.output(), Output::Value(output) if output.is_log))
    }

    /// Number of gates.
    pub fn gates(&self) -> usize {
        match self {
            Circuit::Tree(tree) => tree.gates(),
            Circuit::Grove(grove) => grove.gates(),
        }
    }

    /// The longest path from a leaf to a root, in gates.
    pub fn depth(&self) -> usize {
        match self {
            Circuit::Tree(tree) => tree.depth(),
            Circuit::Grove(grove) => {
                let depth = grove.trees().iter().map(|tree| tree.depth()).max().unwrap_or(0);
                depth + usize::from(!grove.spans().is_empty() || !grove.patterns().is_empty())
            }
        }
    }

    /// The bits that leaves read, themselves or through spans and patterns, in ascending order, each once.
    pub fn used_inputs(&self) -> Vec<u32> {
        let leaves: BTreeSet<u32> = match self {
            Circuit::Tree(tree) => tree.leaves().iter().copied().collect(),
            Circuit::Grove(grove) => {
                let leaves = grove.trees().iter().flat_map(|tree| tree.leaves()).copied();
                let leaves: BTreeSet<u32> = leaves.collect();
                leaves.into_iter().flat_map(|leaf| grove.inputs_of(leaf)).collect()
            }
        };
        leaves.into_iter().collect()
    }
}

/// Where a model comes from. Holds no time or place, so that equal training gives equal files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The program and its version.
    pub program: String,
    /// The data it was trained on, as the user named it.
    pub data: String,
    /// Training rows.
    pub rows: u64,
    /// A digest of the training rows, which tells whether others were among them; empty in older files.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

/// A trained model: takes raw rows, says classes or values.
///
/// ```
/// use gatewood::bits::BitMatrix;
/// use gatewood::encode::Encoder;
/// use gatewood::learn::{Silent, TreeSettings, fit_tree};
/// use gatewood::model::{Circuit, Model};
///
/// let bits = BitMatrix::from_bools(2, &[false, false, true, false, false, true, true, true])?;
/// let settings = TreeSettings { arity: 2, depth: 2, ..TreeSettings::default() };
/// let tree = fit_tree(bits.view(), &[0, 0, 0, 1], &settings, &Silent)?;
/// let model = Model::new(Encoder::identity(2), Circuit::Tree(tree), vec!["no".into(), "yes".into()])?;
/// let again = Model::from_bytes(&model.to_bytes())?;
/// assert_eq!(again, model);
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    encoder: Encoder,
    circuit: Circuit,
    classes: Vec<String>,
    label: Option<String>,
    settings: UsedSettings,
    provenance: Provenance,
    /// What each column is worth, measured on rows; empty where it was not.
    importance: Vec<f64>,
}

impl Model {
    /// A model from its parts.
    ///
    /// # Errors
    /// When the encoder gives not as many bits as the circuit takes, or the class names are not one a class, each
    /// different.
    pub fn new(encoder: Encoder, circuit: Circuit, classes: Vec<String>) -> Result<Self> {
        if encoder.bits() != circuit.inputs() {
            return Err(Error::data(format!(
                "the encoder gives {} bits, the circuit takes {}",
                encoder.bits(),
                circuit.inputs()
            )));
        }
        if classes.len() != circuit.classes() {
            return Err(Error::data(format!(
                "{} class names for {} classes",
                classes.len(),
                circuit.classes()
            )));
        }
        let mut seen = HashSet::with_capacity(classes.len());
        if let Some(twice) = classes.iter().find(|&class| !seen.insert(class)) {
            return Err(Error::data(format!("the class name \"{twice}\" stands twice")));
        }
        Ok(Self {
            encoder,
            circuit,
            classes,
            label: None,
            settings: UsedSettings::default(),
            provenance: Provenance::default(),
            importance: Vec::new(),
        })
    }

    /// The same model with the name of the label column.
    #[must_use]
    pub fn with_label(mut self, label: Option<String>) -> Self {
        self.label = label;
        self
    }

    /// The same model with the settings it was trained with.
    #[must_use]
    pub fn with_settings(mut self, settings: UsedSettings) -> Self {
        self.settings = settings;
        self
    }

    /// The same model with where it comes from.
    #[must_use]
    pub fn with_provenance(mut self, provenance: Provenance) -> Self {
        self.provenance = provenance;
        self
    }

    /// The same model with what its columns are worth, measured on rows.
    fn with_importance(mut self, importance: Vec<f64>) -> Self {
        self.importance = importance;
        self
    }

    /// How raw rows become bits.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The circuit.
    pub fn circuit(&self) -> &Circuit {
        &self.circuit
    }

    /// The names of the classes; none where it says values.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// What a column that leaves read means, in words: a bit of the encoder, any or all of some, or a pattern.
    ///
    /// # Panics
    /// When there is no such column.
    pub fn describe(&self, column: u32) -> String {
        let bit = |column: u32| self.encoder.describe(column as usize);
        let grove = match &self.circuit {
            Circuit::Grove(grove) => grove,
            Circuit::Tree(_) => return bit(column),
        };
        if let Some((pattern, threshold)) = grove.pattern(column) {
            let literal = |literal: &Literal| {
                let place = (literal.x.into(), literal.y.into());
                let input = grove.patterns().planes().input(literal.plane.into(), place.0, place.1);
                let said = input.map_or_else(String::new, bit);
                if literal.value { said } else { format!("not ({said})") }
            };
            let literals: Vec<String> = pattern.literals().iter().map(literal).collect();
            let (across, down) = pattern.shifts();
            return format!("{} at {threshold} or more of {across} x {down} shifts", literals.join(" and "));
        }
        match grove.span(column) {
            None => bit(column),
            Some(span) => {
                let bits: Vec<String> = span.columns().iter().map(|&column| bit(column)).collect();
                bits.join(if span.is_all() { " and " } else { " or " })
            }
        }
    }

    /// The name of the label column, where it had one.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// The settings it was trained with.
    pub fn settings(&self) -> &UsedSettings {
        &self.settings
    }

    /// Where it comes from.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// What the model says of raw rows, on `threads` threads, 0 for one a core.
    ///
    /// # Errors
    /// When a column is missing or of the wrong kind.
    pub fn predict(&self, table: &Table, threads: usize) -> Result<Prediction> {
        self.predict_bits(self.encoder.transform_on(table, threads)?.view(), threads)
    }

    /// The share of the training rows that are among these rows, about; nothing where the model does not know.
    ///
    /// The error on rows that a model has learned from says little about other rows.
    ///
    /// # Errors
    /// When a column is missing or of the wrong kind, or there are not as many labels as rows.
    pub fn training_share(&self, table: &Table, labels: &Labels, threads: usize) -> Result<Option<f64>> {
        if table.rows() != labels.len() {
            return Err(Error::data(format!("{} labels for {} rows", labels.len(), table.rows())));
        }
        if self.provenance.digest.is_empty() {
            return Ok(None);
        }
        let bits = self.encoder.transform_on(table, threads)?;
        Ok(digest::share_among(&self.provenance.digest, bits.view(), &labels.marks()))
    }

    /// What the model says of rows that are bits already.
    ///
    /// # Errors
    /// When the rows have not the bits the circuit takes.
    pub fn predict_bits(&self, bits: BitView<'_>, threads: usize) -> Result<Prediction> {
        Prediction::run(&self.circuit, bits, threads)
    }
}
