//! The settings of a tree.

use serde::{Deserialize, Serialize};

use crate::circuit::Shape;
use crate::{Error, Result};

/// How the table of an inner gate is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Criterion {
    /// The cut of the addresses, sorted by their share of class 1, with the largest information gain.
    #[default]
    InformationGain,
    /// The majority class of each address.
    Accuracy,
}

/// What a gate says at an address that no training row has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Unseen {
    /// What it would say if the classes were there in the proportion they have in all rows.
    #[default]
    Prior,
    /// Zero, as in the paper.
    Zero,
}

/// When a trial of hill climbing is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Judge {
    /// When the judge's criterion gets better.
    #[default]
    Better,
    /// Unless the judge gets fewer rows right. This is what reproduces the paper's tables.
    NotWorse,
}

impl Judge {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The settings of the paper's tree.
///
/// ```
/// use gatewood::learn::TreeSettings;
/// let settings = TreeSettings { depth: 6, height: 3, climb: 100_000, ..TreeSettings::default() };
/// assert!(settings.check().is_ok());
/// assert!(TreeSettings { arity: 40, ..settings }.check().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TreeSettings {
    /// Inputs of every gate, 1 to 12.
    pub arity: usize,
    /// Gates from a leaf to the output.
    pub depth: usize,
    /// Trials of hill climbing over the whole tree; 0 leaves the greedy tree as it is.
    pub climb: u64,
    /// Levels above the leaves at which a trial is judged.
    pub height: usize,
    /// When a trial is kept.
    #[serde(default, skip_serializing_if = "Judge::is_default")]
    pub judge: Judge,
    /// How inner gates choose their tables.
    pub criterion: Criterion,
    /// What gates say at addresses without rows.
    pub unseen: Unseen,
    /// Where all randomness comes from.
    pub seed: u64,
    /// Threads to use, 0 for one a core; the tree does not depend on it.
    #[serde(skip)]
    pub threads: usize,
}

impl Default for TreeSettings {
    fn default() -> Self {
        Self {
            arity: 4,
            depth: 8,
            climb: 0,
            height: 3,
            judge: Judge::default(),
            criterion: Criterion::default(),
            unseen: Unseen::default(),
            seed: 0,
            threads: 0,
        }
    }
}

impl TreeSettings {
    /// Checks that the settings can be used.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn check(&self) -> Result<()> {
        Shape::new(self.arity, self.depth)?;
        if self.climb > 0 && !(1..=self.depth).contains(&self.height) {
            return Err(Error::setting(format!(
                "height {} is not between 1 and the depth {}",
                self.height, self.depth
            )));
        }
        Ok(())
    }
}
