//! The settings of a grove, and what they come to for given data.

use serde::{Deserialize, Serialize};

use super::choose::PARTS;
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
    /// Parts of the rows, a fifth each, that are held out in turn to choose the rounds and the shape of the trees where
    /// those are left open: 0 to 5. Not used where there are validation rows or a budget.
    pub folds: Option<usize>,
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
    /// Rounds of boosting; where they are to be chosen, the most there can be.
    pub rounds: usize,
    /// Parts of the rows that are held out in turn to choose rounds and shape; 0 where they are given.
    pub folds: usize,
    /// The shapes of trees to choose from, each as [`GrovePlan::arities`].
    pub shapes: Vec<Vec<usize>>,
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

    /// Trees there is room for besides the gates there are.
    pub(super) fn room(&self, gates: usize) -> usize {
        self.max_gates.map_or(usize::MAX, |most| most.saturating_sub(gates) / self.gates_a_tree())
    }
}

impl GroveSettings {
    /// Chooses what is left open for `rows` rows of `bits` bits in `classes` classes.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn resolve(&self, rows: usize, bits: usize, classes: usize) -> Result<GrovePlan> {
        let two = classes == 2;
        let defaults = Defaults::new(rows, bits, classes);
        let given = self.arity.is_some() || self.root_arity.is_some() || self.depth.is_some();
        let arity = self.arity.unwrap_or(defaults.arities[0]);
        let depth = self.depth.unwrap_or(2);
        let between = |name: &str, value: usize, low: usize, high: usize| match value {
            value if (low..=high).contains(&value) => Ok(value),
            _ => Err(Error::setting(format!("{name} {value} is not between {low} and {high}"))),
        };
        between("arity", arity, 1, MAX_ARITY)?;
        between("depth", depth, 1, 3)?;
        let root_arity = between(
            "root arity",
            self.root_arity.unwrap_or(if given { arity } else { defaults.root_arity() }),
            1,
            MAX_ARITY,
        )?;
        let mut arities = vec![arity; depth];
        arities[depth - 1] = root_arity;
        if arities.iter().product::<usize>() > 4096 {
            return Err(Error::setting(format!(
                "trees of arities {arities:?} have more than 4096 leaves each"
            )));
        }
        let learning_rate = self.learning_rate.unwrap_or(defaults.learning_rate);
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
        let chosen = self.rounds.is_none() && self.budget_seconds.is_none();
        let folds = match self.folds {
            _ if !chosen => 0,
            Some(folds) => between("folds", folds, 0, PARTS as usize)?,
            None => defaults.folds,
        };
        let most = if chosen && folds == 0 { defaults.rounds } else { MOST_ROUNDS };
        let shapes = if given || folds == 0 { vec![arities.clone()] } else { defaults.shapes };
        let shared = self.shared.unwrap_or(false) && !two;
        Ok(GrovePlan {
            arities,
            climb: self.climb.unwrap_or(defaults.climb),
            rounds: between("rounds", self.rounds.unwrap_or(most), 1, 1_000_000)?,
            folds,
            shapes,
            trees: between("trees", self.trees.unwrap_or(if two || shared { 2 } else { 1 }), 1, 256)?,
            learning_rate,
            sample: between("sample", self.sample.unwrap_or(defaults.sample), 16, 1 << 24)?,
            vote_bits,
            patience: self.patience,
            shared,
            max_gates: self.max_gates,
            budget_seconds: self.budget_seconds,
            seed: self.seed,
        })
    }
}

/// Most rounds that are chosen by holding rows out.
const MOST_ROUNDS: usize = 2000;

/// What suits data of a given size, as measured on rows held out of the training rows of many sets.
struct Defaults {
    arities: Vec<usize>,
    shapes: Vec<Vec<usize>>,
    climb: u32,
    rounds: usize,
    folds: usize,
    learning_rate: f64,
    sample: usize,
}

impl Defaults {
    fn new(rows: usize, bits: usize, classes: usize) -> Self {
        let two = classes == 2;
        let huge = rows > 200_000;
        let arities = match () {
            // Many rows bear many votes a tree.
            () if huge => vec![2, 12],
            () if !two && rows >= 20_000 => vec![6, 4],
            () if !two => vec![4, 4],
            () if bits >= 500 => vec![6, 3],
            () => vec![4, 3],
        };
        let shapes = match rows {
            _ if !two => vec![arities.clone()],
            0..2_000 => vec![vec![4, 3], vec![2, 4]],
            _ => vec![vec![4, 3], vec![2, 4], vec![6, 3]],
        };
        let folds = match rows {
            0..2_000 => 3,
            2_000..50_000 => 1,
            _ => 0,
        };
        Self {
            arities,
            shapes,
            climb: if two { 300 } else { 500 },
            rounds: 500,
            folds,
            learning_rate: if huge { 0.3 } else { 0.1 },
            sample: if huge {
                1 << 16
            } else {
                (2 * rows).next_multiple_of(512).clamp(1024, if two { 16384 } else { 8192 })
            },
        }
    }

    fn root_arity(&self) -> usize {
        self.arities[self.arities.len() - 1]
    }
}
