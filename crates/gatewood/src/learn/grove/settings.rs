//! The settings of a grove, and what they come to for given data.

use serde::{Deserialize, Serialize};

use super::{EvalMetric, PARTS};
use crate::circuit::MAX_ARITY;
use crate::encode::Augment;
use crate::learn::defaults::{Defaults, case_of, sample_rows};
use crate::learn::objective::{TargetScale, ValueLoss};
use crate::learn::patterns::PatternSettings;
use crate::learn::search::MAX_CANDIDATES_ARITY;
use crate::learn::{DataKind, Profile};
use crate::platform::has_clock;
use crate::{Error, Result};

/// The settings of a grove. What is left at `None` is chosen from the size of the data by [`GroveSettings::resolve`].
///
/// ```
/// use gatewood::learn::{GroveSettings, Profile};
/// let settings = GroveSettings { rounds: Some(100), ..GroveSettings::default() };
/// let plan = settings.resolve(&Profile::of_bits(2_276, 784, 2))?;
/// assert_eq!(plan.rounds, 100);
/// assert_eq!(plan.arities, [4]); // one gate of four inputs a tree
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GroveSettings {
    /// What is made small where values are learned: squared error, where it is left open. Not for classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<ValueLoss>,
    /// Whether values are learned as they are or in their logarithm. Not for classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetScale>,
    /// Inputs of every gate.
    pub arity: Option<usize>,
    /// Inputs of the root, where they are other than those of the gates below it.
    pub root_arity: Option<usize>,
    /// Gates from a leaf to the root, both included: 1 to 3.
    pub depth: Option<usize>,
    /// Trials of hill climbing for each tree.
    pub climb: Option<u32>,
    /// Candidate columns that are compared for each trial; the most informative one is tried; 1 for none.
    /// Used for two classes that the first rounds nearly separate; other data learns better without.
    #[serde(alias = "screen")]
    pub candidates: Option<u32>,
    /// Rounds of boosting. A round adds a tree for each class, or [`GroveSettings::trees_per_round`] for two classes.
    #[serde(alias = "n_estimators")]
    pub rounds: Option<usize>,
    /// Parts of the rows, a fifth each, that are held out in turn to choose the rounds where those are left open: 0 to 5.
    /// Not used where there are validation rows.
    #[serde(alias = "folds")]
    pub cv_folds: Option<usize>,
    /// Part of the rows that is held out for good where the rounds are left open, there are no folds and no validation
    /// rows: it chooses the rounds and calibrates the probabilities. 0 to 0.5; 0 for none.
    pub validation_fraction: Option<f64>,
    /// Trees of a round that learn side by side from the same gradients: two classes, or shared trees.
    #[serde(alias = "trees")]
    pub trees_per_round: Option<usize>,
    /// Part of a Newton step that a tree takes.
    pub learning_rate: Option<f64>,
    /// Rows a tree is climbed on, drawn in proportion to their gradient.
    #[serde(alias = "sample")]
    pub sample_rows: Option<usize>,
    /// The power of their gradient that rows are drawn by instead, 1 to 2: with more, rows with a large loss are drawn more often.
    /// Of two classes, only those that the first rounds nearly separate; other rows are drawn by the gradient itself.
    #[serde(alias = "focus")]
    pub sampling_power: Option<f64>,
    /// Part of the rows that a tree is not climbed on, 0 to 0.9: its votes come mostly from these, since the climb
    /// flatters the rows it saw.
    #[serde(alias = "apart")]
    pub honest_fraction: Option<f64>,
    /// Part of the columns tried that are drawn by how often the trees so far read them, 0 to 1; the others are drawn
    /// evenly.
    #[serde(alias = "habit")]
    pub feature_reuse: Option<f64>,
    /// L2 regularisation of votes: added to the hessian of every root address, in rows.
    #[serde(alias = "damping")]
    pub reg_lambda: Option<f64>,
    /// Bits of a vote, its sign included: 1 to 16. With one bit, a vote is one or minus one.
    pub vote_bits: Option<u32>,
    /// Passes in which every gate is fitted anew with all others in place: for circuits of few LUTs. Trees are then one gate of up to
    /// six inputs, votes are of one bit, and there are no spans or patterns. None, where it is left open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refits: Option<usize>,
    /// Gates that trees share where gates are fitted anew: each reads columns, and gates that vote read it. None, where it is
    /// left open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_gates: Option<usize>,
    /// Rows that gates are fitted anew to, others in every pass. All, where it is left open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refit_rows: Option<usize>,
    /// Whether gates lose inputs that no training row needs: what a gate says at an address that it never saw is free. Off, where it is
    /// left open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub use_dont_cares: Option<bool>,
    /// Rounds without improvement on the validation rows after which learning stops.
    #[serde(alias = "patience")]
    pub early_stopping_rounds: Option<usize>,
    /// What validation rows choose the rounds by. The log loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eval_metric: Option<EvalMetric>,
    /// Whether the trees of a many-class grove vote on all classes, instead of one each.
    #[serde(alias = "shared")]
    pub shared_trees: Option<bool>,
    /// What a row of each class counts for; empty for one each.
    pub class_weights: Vec<f64>,
    /// Gates the grove may have at the most: it grows to twice as many where the rounds allow it, and then the trees that
    /// matter least are dropped, if rows held out say that this is better than to stop.
    pub max_gates: Option<usize>,
    /// LUTs of six inputs that the whole circuit may take, its encoder counted. [`train_sized`](crate::train_sized) finds the best
    /// model for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_luts: Option<usize>,
    /// The same for ANDs of two inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ands: Option<usize>,
    /// Pixels of the lines in images that trees read as spans, 2 to 12; 0 for none. [`train`](crate::model::train) makes the
    /// spans; who calls [`fit_grove`](super::fit_grove) brings them along.
    pub spans: Option<usize>,
    /// Patterns that are learned from images for trees to read; 0 for none. Left open, [`train`](crate::model::train) learns
    /// as many as suit images of 200 rows or more, unless `spans` is 0, there is `max_gates`, or a grove without patterns is
    /// continued.
    pub patterns: Option<usize>,
    /// What patterns look like.
    #[serde(skip_serializing_if = "is_default")]
    pub pattern: PatternSettings,
    /// What is done to training images to have more of them; an empty list for nothing. Left open, what the encoder's
    /// settings allow, where trees read patterns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub augment: Option<Vec<Augment>>,
    /// Seconds of learning, after which no further round is begun. Where rounds, learning rate and gates are left open, and
    /// there are neither validation rows nor a grove to continue, rounds and rate are chosen to make most of the time:
    /// fewer rounds and larger steps where it is short, up to four times as many and smaller ones where it is not. The
    /// grove then depends on the machine.
    #[serde(alias = "budget_seconds")]
    pub time_limit: Option<f64>,
    /// Where all randomness comes from.
    pub seed: u64,
    /// Threads to use, 0 for one a core; the grove does not depend on it.
    #[serde(skip)]
    pub threads: usize,
}

fn is_default(settings: &PatternSettings) -> bool {
    *settings == PatternSettings::default()
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The settings of a grove with nothing left open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GrovePlan {
    /// The case of data whose defaults were taken.
    pub defaults: String,
    /// Inputs of the gates of each level, the bottom first and the root last.
    pub arities: Vec<usize>,
    /// Trials of hill climbing for each tree.
    pub climb: u32,
    /// Candidate columns compared for each trial.
    pub candidates: u32,
    /// Rounds of boosting; where they are to be chosen, the most there can be.
    pub rounds: usize,
    /// Rounds where the first ones tell nearly all rows rightly and the number was not given.
    pub easy_rounds: usize,
    /// Parts of the rows that are held out in turn to choose the rounds; 0 where they are given.
    pub cv_folds: usize,
    /// Whether rounds are kept that no longer lower the loss of held-out rows, as for images, where the error still falls.
    pub keep_flat_rounds: bool,
    /// Part of the rows that is held out for good to choose the rounds; 0 where folds do, or the rounds are given.
    pub validation_fraction: f64,
    /// Trees of a round that learn side by side.
    pub trees_per_round: usize,
    /// Part of a Newton step that a tree takes.
    pub learning_rate: f64,
    /// Rows a tree is climbed on.
    pub sample_rows: usize,
    /// The power of their gradient that rows are drawn by.
    pub sampling_power: f64,
    /// Part of the rows that a tree is not climbed on.
    pub honest_fraction: f64,
    /// Part of the columns tried that are drawn by how often they were read.
    pub feature_reuse: f64,
    /// Whether pairs of columns are looked for whose exclusive or tells the classes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pairs: bool,
    /// L2 regularisation of votes.
    pub reg_lambda: f64,
    /// Bits of a vote.
    pub vote_bits: u32,
    /// Passes in which every gate is fitted anew with all others in place.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refits: usize,
    /// Gates that trees share where gates are fitted anew.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shared_gates: usize,
    /// Rows that gates are fitted anew to in a pass, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refit_rows: Option<usize>,
    /// Whether gates lost inputs that no training row needs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub use_dont_cares: bool,
    /// Rounds without improvement after which learning stops.
    pub early_stopping_rounds: Option<usize>,
    /// What validation rows choose the rounds by.
    #[serde(default)]
    pub eval_metric: EvalMetric,
    /// Whether trees vote on all classes.
    pub shared_trees: bool,
    /// Gates the grove may have at the most.
    pub max_gates: Option<usize>,
    /// Patterns that trees could read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub patterns: usize,
    /// What was done to training images to have more of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub augment: Vec<Augment>,
    /// Seconds of learning.
    pub time_limit: Option<f64>,
    /// Where all randomness comes from.
    pub seed: u64,
}

impl GrovePlan {
    /// Gates of each tree, its root included; spans come on top.
    pub fn gates_a_tree(&self) -> usize {
        (1..=self.arities.len()).map(|level| self.arities[level..].iter().product::<usize>()).sum()
    }
}

impl GroveSettings {
    /// Chooses what is left open by what the data is like.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn resolve(&self, data: &Profile) -> Result<GrovePlan> {
        self.resolve_with(data, &case_of(data).defaults)
    }

    /// Plans of other shapes that data of this kind may want, where the shape and the rounds are left open.
    pub(super) fn other_shapes(&self, data: &Profile) -> Result<Vec<GrovePlan>> {
        let open = self.arity.is_none() && self.root_arity.is_none() && self.depth.is_none();
        if !open || self.rounds.is_some() || self.time_limit.is_some() || self.refits.is_some() {
            return Ok(Vec::new());
        }
        case_of(data).others.iter().map(|other| self.resolve_with(data, other)).collect()
    }

    /// Passes in which gates are fitted anew, and gates that trees share there.
    fn refits_and_shared_gates(&self, data: &Profile) -> Result<(usize, usize)> {
        let (refits, shared) = (self.refits.unwrap_or(0), self.shared_gates.unwrap_or(0));
        let others = (self.shared_trees == Some(true), self.spans.unwrap_or(0), self.patterns.unwrap_or(0));
        match () {
            () if refits > 1000 => Err(Error::setting(format!("refits {refits} is not between 0 and 1000"))),
            () if shared > 100_000 => {
                Err(Error::setting(format!("shared_gates {shared} is not between 0 and 100000")))
            }
            () if shared > 0 && refits == 0 => Err(Error::setting("shared_gates need refits")),
            () if self.refit_rows.is_some() && refits == 0 => Err(Error::setting("refit_rows need refits")),
            () if refits > 0 && data.classes == 0 => {
                Err(Error::setting("refits are for classes, and the target is a value"))
            }
            () if refits > 0 && (others != (false, 0, 0) || self.max_gates.is_some()) => {
                Err(Error::setting("refits do not go with shared trees, spans, patterns or max_gates"))
            }
            () => Ok((refits, shared)),
        }
    }

    fn resolve_with(&self, data: &Profile, defaults: &Defaults) -> Result<GrovePlan> {
        let Profile { rows, classes, .. } = *data;
        let two = classes == 2;
        let is_value = classes == 0;
        let defaults = match self.objective {
            Some(ValueLoss::Quantile(_)) => defaults.for_quantiles(),
            _ => *defaults,
        };
        if let Some(loss) = self.objective.filter(|_| !is_value) {
            return Err(Error::setting(format!(
                "objective {loss} is for values, and the target is one of classes"
            )));
        }
        if !is_value && self.target.is_some() {
            return Err(Error::setting(
                "the scale of a target is for values, and the target is one of classes",
            ));
        }
        let case = case_of(data);
        let given = self.arity.is_some() || self.root_arity.is_some() || self.depth.is_some();
        let few_gates =
            two && data.kind == DataKind::Image && self.max_gates.is_some_and(|most| most < FEW_GATES);
        let (refits, shared_gates) = self.refits_and_shared_gates(data)?;
        // Gates that are fitted anew have tables of one word.
        let [bottom, root] = if refits > 0 { [0, MOST_REFITTED_INPUTS] } else { defaults.arities };
        let depth = self.depth.unwrap_or(if bottom == 0 && self.root_arity.is_none() { 1 } else { 2 });
        let arity = self.arity.unwrap_or(match bottom {
            _ if few_gates => 6,
            0 if depth == 1 => self.root_arity.unwrap_or(root),
            0 => BOTTOM_ARITY,
            _ => bottom,
        });
        let between = |name: &str, value: usize, low: usize, high: usize| match value {
            value if (low..=high).contains(&value) => Ok(value),
            _ => Err(Error::setting(format!("{name} {value} is not between {low} and {high}"))),
        };
        between("arity", arity, 1, MAX_ARITY)?;
        between("depth", depth, 1, 3)?;
        let root_arity =
            between("root_arity", self.root_arity.unwrap_or(if given { arity } else { root }), 1, MAX_ARITY)?;
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
                "learning_rate {learning_rate} is not above 0 and at most 1"
            )));
        }
        let within = |name: &str, value: f64, low: f64, high: f64| match value {
            value if (low..=high).contains(&value) => Ok(value),
            _ => Err(Error::setting(format!("{name} {value} is not between {low} and {high}"))),
        };
        if is_value && self.eval_metric.is_some() {
            return Err(Error::setting("eval_metric is for classes, and the target is a value"));
        }
        if is_value && !self.class_weights.is_empty() {
            return Err(Error::setting("class weights are for classes, and the target is a value"));
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
        if let Some(seconds) = self.time_limit.filter(|seconds| seconds.is_nan() || *seconds <= 0.0) {
            return Err(Error::setting(format!("time_limit {seconds} is not above zero")));
        }
        if self.time_limit.is_some() && !has_clock() {
            return Err(Error::setting("time_limit needs a clock, and the library was given none"));
        }
        if self.spans.is_some_and(|pixels| pixels == 1 || pixels > MAX_ARITY) {
            return Err(Error::setting(format!("spans are of 2 to {MAX_ARITY} pixels, or 0 for none")));
        }
        let vote_bits = self.vote_bits.unwrap_or(match is_value {
            true => VALUE_VOTE_BITS,
            false if refits > 0 => 1,
            false => 8,
        });
        between("vote_bits", vote_bits as usize, 1, 16)?;
        if refits > 0 && (vote_bits > 1 || depth > 1 || root_arity > MOST_REFITTED_INPUTS) {
            return Err(Error::setting(format!(
                "refits are for trees of one gate of up to {MOST_REFITTED_INPUTS} inputs with votes of one bit"
            )));
        }
        let chosen = self.rounds.is_none();
        let cv_folds = match self.cv_folds {
            _ if !chosen => 0,
            Some(folds) => between("cv_folds", folds, 0, PARTS as usize)?,
            None => defaults.cv_folds,
        };
        let validation_fraction = match self.validation_fraction {
            _ if !chosen || cv_folds > 0 => 0.0,
            Some(part) => within("validation_fraction", part, 0.0, 0.5)?,
            None => defaults.validation_fraction,
        };
        let fixed = chosen && (cv_folds == 0 || defaults.keep_flat_rounds);
        let most = if fixed { defaults.rounds } else { defaults.most_rounds };
        let rounds = between("rounds", self.rounds.unwrap_or(most), 1, 1_000_000)?;
        let shared_trees = self.shared_trees.unwrap_or(false) && classes > 2;
        Ok(GrovePlan {
            defaults: case.name.to_owned(),
            climb: self.climb.unwrap_or(defaults.climb),
            candidates: match between(
                "candidates",
                self.candidates.unwrap_or(defaults.candidates) as usize,
                1,
                1024,
            )? {
                candidates if two && arities[0] <= MAX_CANDIDATES_ARITY => candidates as u32,
                _ => 1,
            },
            arities,
            rounds,
            easy_rounds: if fixed { rounds.min(defaults.easy_rounds) } else { rounds },
            cv_folds,
            validation_fraction,
            keep_flat_rounds: defaults.keep_flat_rounds,
            trees_per_round: between(
                "trees_per_round",
                self.trees_per_round.unwrap_or(if shared_trees { 2 } else { defaults.trees_per_round }),
                1,
                256,
            )?,
            learning_rate,
            sample_rows: between(
                "sample_rows",
                self.sample_rows.unwrap_or(sample_rows(rows, defaults.sample_rows)),
                16,
                1 << 24,
            )?,
            sampling_power: within(
                "sampling_power",
                self.sampling_power.unwrap_or(defaults.sampling_power),
                1.0,
                2.0,
            )?,
            honest_fraction: within(
                "honest_fraction",
                self.honest_fraction.unwrap_or(defaults.honest_fraction),
                0.0,
                0.9,
            )?,
            feature_reuse: within(
                "feature_reuse",
                self.feature_reuse.unwrap_or(defaults.feature_reuse),
                0.0,
                1.0,
            )?,
            pairs: two && data.is_all_bits(),
            reg_lambda: within("reg_lambda", self.reg_lambda.unwrap_or(defaults.reg_lambda), 0.0, 1e6)?,
            vote_bits,
            refits,
            shared_gates,
            refit_rows: self.refit_rows.map(|rows| between("refit_rows", rows, 16, 1 << 31)).transpose()?,
            use_dont_cares: match self.use_dont_cares.unwrap_or(false) {
                true if is_value => {
                    return Err(Error::setting("use_dont_cares is for classes, and the target is a value"));
                }
                wanted => wanted,
            },
            early_stopping_rounds: self.early_stopping_rounds,
            eval_metric: self.eval_metric.unwrap_or_default(),
            shared_trees,
            max_gates: self.max_gates,
            // Who makes patterns and copies of images says so.
            patterns: 0,
            augment: Vec::new(),
            time_limit: self.time_limit,
            seed: self.seed,
        })
    }
}

/// Most inputs of gates that are fitted anew.
const MOST_REFITTED_INPUTS: usize = 6;

/// Bits of a vote where values are learned: rounding must not be seen in the error.
const VALUE_VOTE_BITS: u32 = 12;

/// Gates up to which those of an image are better wide ones of trees than spans.
pub(crate) const FEW_GATES: usize = 200;

/// Inputs of the gates below the root, where trees have only a root by default and more levels are asked for.
const BOTTOM_ARITY: usize = 3;
