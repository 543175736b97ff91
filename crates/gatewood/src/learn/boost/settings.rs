//! The settings of a grove, and what they come to for given data.

use serde::{Deserialize, Serialize};

use crate::circuit::MAX_ARITY;
use crate::{Error, Result};

/// The settings of a grove. What is left at `None` is chosen from the size of the data by [`GroveSettings::resolve`].
///
/// ```
/// use gatewood::learn::GroveSettings;
/// let settings = GroveSettings { rounds: Some(100), ..GroveSettings::default() };
/// let plan = settings.resolve(2_276, 784, 2)?;
/// assert_eq!(plan.rounds, 100);
/// assert_eq!(plan.arities.len(), 2);
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GroveSettings {
    /// Inputs of every gate.
    pub arity: Option<usize>,
    /// Inputs of the root, where they are other than those of the gates below it.
    pub root_arity: Option<usize>,
    /// Gates from a leaf to the root, both included: 1 to 3.
    pub depth: Option<usize>,
    /// Trials of hill climbing for each tree.
    pub climb: Option<u32>,
    /// Rounds of boosting. A round adds a tree for each class, or [`GroveSettings::trees`] for two classes.
    pub rounds: Option<usize>,
    /// Trees of a round that learn side by side from the same gradients: two classes, or shared trees.
    pub trees: Option<usize>,
    /// Part of a Newton step that a tree takes.
    pub learning_rate: Option<f64>,
    /// Rows a tree is climbed on, drawn in proportion to their gradient.
    pub sample: Option<usize>,
    /// Bits of a vote, its sign included: 2 to 16.
    pub vote_bits: Option<u32>,
    /// Rounds without improvement on the validation rows after which learning stops.
    pub patience: Option<usize>,
    /// Whether the trees of a many-class grove vote on all classes, instead of one each.
    pub shared: Option<bool>,
    /// What a row of each class counts for; empty for one each.
    pub class_weights: Vec<f64>,
    /// Gates the grove may have at the most.
    pub max_gates: Option<usize>,
    /// Seconds of learning after which no further round is begun. The number of rounds then depends on the machine.
    pub budget_seconds: Option<f64>,
    /// Where all randomness comes from.
    pub seed: u64,
    /// Threads to use, 0 for one a core; the grove does not depend on it.
    #[serde(skip)]
    pub threads: usize,
}

/// The settings of a grove with nothing left open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GrovePlan {
    /// Inputs of the gates of each level, the bottom first and the root last.
    pub arities: Vec<usize>,
    /// Trials of hill climbing for each tree.
    pub climb: u32,
    /// Rounds of boosting.
    pub rounds: usize,
    /// Trees of a round that learn side by side.
    pub trees: usize,
    /// Part of a Newton step that a tree takes.
    pub learning_rate: f64,
    /// Rows a tree is climbed on.
    pub sample: usize,
    /// Bits of a vote.
    pub vote_bits: u32,
    /// Rounds without improvement after which learning stops.
    pub patience: Option<usize>,
    /// Whether trees vote on all classes.
    pub shared: bool,
    /// Gates the grove may have at the most.
    pub max_gates: Option<usize>,
    /// Seconds of learning.
    pub budget_seconds: Option<f64>,
    /// Where all randomness comes from.
    pub seed: u64,
}

impl GrovePlan {
    /// Gates of each tree, its root included.
    pub fn gates_a_tree(&self) -> usize {
        (1..=self.arities.len()).map(|level| self.arities[level..].iter().product::<usize>()).sum()
    }
}

impl GroveSettings {
    /// Chooses what is left open for `rows` rows of `bits` bits in `classes` classes.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn resolve(&self, rows: usize, bits: usize, classes: usize) -> Result<GrovePlan> {
        let two = classes == 2;
        let wide = rows >= 20_000;
        let arity = self.arity.unwrap_or(if !two && wide { 6 } else { 4 });
        let depth = self.depth.unwrap_or(2);
        let between = |name: &str, value: usize, low: usize, high: usize| match value {
            value if (low..=high).contains(&value) => Ok(value),
            _ => Err(Error::setting(format!("{name} {value} is not between {low} and {high}"))),
        };
        between("arity", arity, 1, MAX_ARITY)?;
        between("depth", depth, 1, 3)?;
        let root_arity = between("root arity", self.root_arity.unwrap_or(arity), 1, MAX_ARITY)?;
        let mut arities = vec![arity; depth];
        arities[depth - 1] = root_arity;
        if arities.iter().product::<usize>() > 4096 {
            return Err(Error::setting(format!(
                "trees of arities {arities:?} have more than 4096 leaves each"
            )));
        }
        let learning_rate = self.learning_rate.unwrap_or(if two { 0.1 } else { 0.15 });
        if !(learning_rate > 0.0 && learning_rate <= 1.0) {
            return Err(Error::setting(format!(
                "learning rate {learning_rate} is not above 0 and at most 1"
            )));
        }
        if !self.class_weights.is_empty() && self.class_weights.len() != classes {
            return Err(Error::setting(format!(
                "{} class weights for {classes} classes",
                self.class_weights.len()
            )));
        }
        if let Some(weight) = self.class_weights.iter().find(|weight| !(0.0..=1e6).contains(*weight)) {
            return Err(Error::setting(format!("class weight {weight} is not between 0 and a million")));
        }
        if let Some(seconds) = self.budget_seconds.filter(|seconds| seconds.is_nan() || *seconds <= 0.0) {
            return Err(Error::setting(format!("a budget of {seconds} seconds is not above zero")));
        }
        let vote_bits = self.vote_bits.unwrap_or(8);
        between("vote bits", vote_bits as usize, 2, 16)?;
        let _ = bits;
        Ok(GrovePlan {
            arities,
            climb: self.climb.unwrap_or(1000),
            rounds: between("rounds", self.rounds.unwrap_or(300), 1, 1_000_000)?,
            trees: between("trees", self.trees.unwrap_or(1), 1, 256)?,
            learning_rate,
            sample: between("sample", self.sample.unwrap_or(4096), 16, 1 << 24)?,
            vote_bits,
            patience: self.patience,
            shared: self.shared.unwrap_or(false) && !two,
            max_gates: self.max_gates,
            budget_seconds: self.budget_seconds,
            seed: self.seed,
        })
    }
}
