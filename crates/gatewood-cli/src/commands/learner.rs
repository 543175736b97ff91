//! The options of the learners: what the library's settings are, and nothing else.

use crate::terminal::Usage;
use anyhow::{Result, bail};
use clap::ValueEnum;
use gatewood::encode::LabelKind;
use gatewood::export::CurveMetric;
use gatewood::learn::TreeSettings;
use gatewood::learn::objective::{TargetScale, ValueLoss};
use gatewood::model::{Circuit, LearnSettings, TrainSettings, Trained};
use serde_json::{Map, Value, json};

/// The kinds of circuit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Boosted trees with integer votes, for any number of classes
    Grove,
    /// The paper's single tree, for two classes
    Tree,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Criterion {
    InformationGain,
    Accuracy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Unseen {
    Prior,
    Zero,
}

/// What to learn, and how. What is not given is the library's to choose.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Learning")]
pub(crate) struct LearnArgs {
    /// What to learn
    #[arg(long, value_enum, default_value_t = default_kind())]
    pub(crate) model: Kind,

    /// What to learn the label as: classes, or a number by squared error (squared), Huber's loss (huber), its median
    /// (absolute), quantiles (quantile:0.1,0.5,0.9) or, for counts, their mean (poisson)
    /// [default: squared for a label that looks like a quantity, else classes]
    #[arg(long, value_name = "OBJECTIVE", value_parser = objective)]
    objective: Option<Aim>,

    /// Learn a number as it is (plain) or in its logarithm (log) [default: plain]
    #[arg(long, value_name = "SCALE", value_parser = target_scale)]
    target: Option<TargetScale>,

    /// Inputs of a gate, 1 to 12
    #[arg(long, value_name = "K")]
    arity: Option<usize>,

    /// Gates from a leaf to the root
    #[arg(long, value_name = "D")]
    depth: Option<usize>,

    /// Trials of hill climbing, over the whole tree or for each tree of a grove; 100k and 2m are understood
    #[arg(long, value_name = "N", value_parser = trials)]
    climb: Option<u64>,

    /// Where all randomness comes from: one seed, one model
    #[arg(long, value_name = "S")]
    seed: Option<u64>,

    /// Threads to use [default: one a core]; the model does not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Tree: levels above the leaves at which a trial is judged
    #[arg(long, value_name = "T")]
    height: Option<usize>,

    /// Tree: how gates choose their tables
    #[arg(long, value_enum)]
    criterion: Option<Criterion>,

    /// Tree: what a gate says where no training row is: what all rows say, or zero as in the paper
    #[arg(long, value_enum)]
    unseen: Option<Unseen>,

    /// Grove: inputs of a tree's root, where they are other than those of its other gates
    #[arg(long, value_name = "K")]
    root_arity: Option<usize>,

    /// Grove: rounds of boosting
    #[arg(long, value_name = "M")]
    rounds: Option<usize>,

    /// Grove: parts of the rows, a fifth each, held out in turn to choose the rounds where they are not given, 0 to 5
    #[arg(long, alias = "folds", value_name = "N")]
    cv_folds: Option<usize>,

    /// Grove: part of the rows held out for good where rounds are not given and there are no folds, 0 to 0.5
    #[arg(long, value_name = "PART", value_parser = finite)]
    validation_fraction: Option<f64>,

    /// Grove: trees of a round that learn side by side: two classes, or --shared-trees
    #[arg(long, alias = "trees", value_name = "N")]
    trees_per_round: Option<usize>,

    /// Grove: the part of a step that a tree takes, above 0 and at most 1
    #[arg(long, value_name = "R", value_parser = finite)]
    learning_rate: Option<f64>,

    /// Grove: candidate columns compared for each trial, where the first rounds nearly separate two classes; 1 for none
    #[arg(long, alias = "screen", value_name = "N")]
    candidates: Option<u32>,

    /// Grove: rows a tree is climbed on
    #[arg(long, alias = "sample", value_name = "ROWS")]
    sample_rows: Option<usize>,

    /// Grove: the power of a row's gradient that it is drawn by, 1 to 2; with more, rows with a large loss are drawn more often
    #[arg(long, alias = "focus", value_name = "POWER", value_parser = finite)]
    sampling_power: Option<f64>,

    /// Grove: part of the rows a tree is not climbed on, and mostly votes by, 0 to 0.9
    #[arg(long, alias = "apart", value_name = "PART", value_parser = finite)]
    honest_fraction: Option<f64>,

    /// Grove: part of the columns tried that are drawn by how often trees read them, 0 to 1
    #[arg(long, alias = "habit", value_name = "PART", value_parser = finite)]
    feature_reuse: Option<f64>,

    /// Grove: L2 regularisation of votes, in rows
    #[arg(long, alias = "damping", value_name = "ROWS", value_parser = finite)]
    reg_lambda: Option<f64>,

    /// Grove: bits of a vote, 1 to 16
    #[arg(long, value_name = "B")]
    vote_bits: Option<u32>,

    /// Grove: passes in which every gate is fitted anew with all others in place, for circuits of few LUTs
    #[arg(long, value_name = "PASSES")]
    refits: Option<usize>,

    /// Grove: gates that trees share, where gates are fitted anew
    #[arg(long, value_name = "GATES")]
    shared_gates: Option<usize>,

    /// Grove: rows that gates are fitted anew to, others in every pass [default: all]
    #[arg(long, value_name = "ROWS")]
    refit_rows: Option<usize>,

    /// Grove: what gates say at addresses that no training row has is free, so that they read fewer inputs
    #[arg(long)]
    use_dont_cares: bool,

    /// Grove: stop after this many rounds that did not help on a tenth of the training rows, put aside for that
    #[arg(long, alias = "patience", value_name = "P")]
    early_stopping_rounds: Option<usize>,

    /// Grove: what the rows of --early-stopping-rounds are judged by, and what --curve draws
    #[arg(long, value_name = "METRIC", value_parser = ["logloss", "error", "auc"])]
    eval_metric: Option<String>,

    /// Grove: pixels of the lines in images that trees read as spans, any of them or all; 0 for none
    #[arg(long, value_name = "PIXELS")]
    spans: Option<usize>,

    /// Grove: patterns that are learned from images for trees to read; 0 for none [default: as suits the images]
    #[arg(long, value_name = "N")]
    patterns: Option<usize>,

    /// Grove: learn from training images moved by a pixel (shift), mirrored (mirror), turned by nine degrees (turn), warped at
    /// random (warp) or moved and shaded at random (jitter), too; or from none but themselves (none). Each warp adds five copies:
    /// warp,warp has ten [default: as the named set says]
    #[arg(long, value_name = "WAYS", value_delimiter = ',', value_parser = ["none", "shift", "mirror", "turn", "warp", "jitter"])]
    augment: Vec<String>,

    /// Grove: what patterns look like, as JSON: {"literals": [4, 8], "radius": [3, 6]}
    #[arg(long, value_name = "JSON", value_parser = object, hide = true)]
    pattern: Option<Value>,

    /// Grove: gates it may have at the most; it grows to twice as many, then the trees that matter least are dropped, if
    /// held-out rows say that this is better than to stop
    #[arg(long, value_name = "GATES")]
    max_gates: Option<usize>,

    /// Grove: LUTs of six inputs that the circuit may take, its encoder counted; held-out rows choose the best that fits
    #[arg(long, value_name = "LUTS", conflicts_with = "max_ands")]
    max_luts: Option<usize>,

    /// Grove: the same for ANDs of two inputs
    #[arg(long, value_name = "ANDS")]
    max_ands: Option<usize>,

    /// Grove: seconds of learning. Rounds and learning rate, where not given, are chosen to make most of them; the model
    /// then depends on the machine
    #[arg(long, alias = "budget", value_name = "SECONDS", value_parser = finite)]
    time_limit: Option<f64>,

    /// Grove: whether the trees of many classes vote on all of them
    #[arg(long, alias = "shared")]
    shared_trees: bool,
}

fn default_kind() -> Kind {
    match LearnSettings::default() {
        LearnSettings::Grove(_) => Kind::Grove,
        LearnSettings::Tree(_) => Kind::Tree,
    }
}

/// What is learned: classes, or values.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Aim {
    Classes,
    Values(ValueLoss),
}

fn objective(text: &str) -> Result<Aim, String> {
    match text {
        "classes" => Ok(Aim::Classes),
        _ => text.parse().map(Aim::Values).map_err(|error: gatewood::Error| format!("{error}; and classes")),
    }
}

fn target_scale(text: &str) -> Result<TargetScale, String> {
    let hint = |error: gatewood::Error| format!("{error}; the column to predict is named by --label {text}");
    text.parse().map_err(hint)
}

fn trials(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'k') => (&text[..text.len() - 1], 1_000),
        Some(b'm') => (&text[..text.len() - 1], 1_000_000),
        _ => (text, 1),
    };
    let number: u64 =
        digits.parse().map_err(|_| "a whole number is wanted, as in 100000 or 100k".to_owned())?;
    number.checked_mul(unit).ok_or_else(|| "the number is too large".to_owned())
}

/// The settings are handed on as JSON, which knows no other numbers.
fn finite(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err("a number is wanted, as in 0.5".to_owned()),
    }
}

impl LearnArgs {
    /// What to learn, with all its settings.
    pub(crate) fn settings(&self) -> Result<LearnSettings> {
        let name = |value: &dyn Fn() -> Option<String>| value().map(Value::from);
        let both = [
            ("arity", self.arity.map(Value::from)),
            ("depth", self.depth.map(Value::from)),
            ("climb", self.climb.map(Value::from)),
            ("seed", self.seed.map(Value::from)),
        ];
        let of_trees = [
            ("height", self.height.map(Value::from)),
            (
                "criterion",
                name(&|| self.criterion?.to_possible_value().map(|value| value.get_name().to_owned())),
            ),
            ("unseen", name(&|| self.unseen?.to_possible_value().map(|value| value.get_name().to_owned()))),
        ];
        let of_groves = [
            (
                "objective",
                name(&|| match self.objective? {
                    Aim::Classes => None,
                    Aim::Values(loss) => Some(loss.to_string()),
                }),
            ),
            ("target", self.target.map(|target| json!(target))),
            ("root_arity", self.root_arity.map(Value::from)),
            ("rounds", self.rounds.map(Value::from)),
            ("cv_folds", self.cv_folds.map(Value::from)),
            ("validation_fraction", self.validation_fraction.map(Value::from)),
            ("trees_per_round", self.trees_per_round.map(Value::from)),
            ("learning_rate", self.learning_rate.map(Value::from)),
            ("candidates", self.candidates.map(Value::from)),
            ("sample_rows", self.sample_rows.map(Value::from)),
            ("sampling_power", self.sampling_power.map(Value::from)),
            ("honest_fraction", self.honest_fraction.map(Value::from)),
            ("feature_reuse", self.feature_reuse.map(Value::from)),
            ("reg_lambda", self.reg_lambda.map(Value::from)),
            ("vote_bits", self.vote_bits.map(Value::from)),
            ("refits", self.refits.map(Value::from)),
            ("shared_gates", self.shared_gates.map(Value::from)),
            ("refit_rows", self.refit_rows.map(Value::from)),
            ("use_dont_cares", self.use_dont_cares.then_some(Value::from(true))),
            ("early_stopping_rounds", self.early_stopping_rounds.map(Value::from)),
            ("eval_metric", self.eval_metric.clone().map(Value::from)),
            ("spans", self.spans.map(Value::from)),
            ("patterns", self.patterns.map(Value::from)),
            ("pattern", self.pattern.clone()),
            ("augment", (!self.augment.is_empty()).then(|| self.augment())),
            ("max_gates", self.max_gates.map(Value::from)),
            ("max_luts", self.max_luts.map(Value::from)),
            ("max_ands", self.max_ands.map(Value::from)),
            ("time_limit", self.time_limit.map(Value::from)),
            ("shared_trees", self.shared_trees.then_some(Value::from(true))),
        ];
        let (kind, own, other, other_kind): (_, &[_], &[_], _) = match self.model {
            Kind::Tree => ("tree", &of_trees, &of_groves, "grove"),
            Kind::Grove => ("grove", &of_groves, &of_trees, "tree"),
        };
        if let Some((name, _)) = other.iter().find(|(_, value): &&(&str, Option<Value>)| value.is_some()) {
            let option = name.replace('_', "-");
            bail!(Usage(format!("--{option} goes with --model {other_kind}")));
        }
        let given = both.into_iter().chain(own.iter().cloned());
        let chosen: Map<String, Value> =
            given.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
        let mut settings = TrainSettings::from_json(kind, &Value::Object(chosen).to_string())?.learn;
        settings.set_threads(self.threads());
        if let LearnSettings::Tree(tree) = &settings {
            tree.check()?;
        }
        Ok(settings)
    }

    /// What is done to training images; `none` beside anything else says nothing.
    fn augment(&self) -> Value {
        json!(self.augment.iter().filter(|way| *way != "none").collect::<Vec<_>>())
    }

    /// Whether --eval-metric has something to choose: rows that stop early, or a curve.
    pub(crate) fn uses_metric(&self, draws: bool) -> bool {
        let draws = draws && self.eval_metric.as_deref() != Some("auc");
        self.eval_metric.is_none() || self.early_stopping_rounds.is_some() || draws
    }

    /// What curves show: what was asked for, else the error.
    pub(crate) fn curve_metric(&self) -> CurveMetric {
        match self.eval_metric.as_deref() {
            Some("logloss") => CurveMetric::LogLoss,
            Some("auc") => CurveMetric::Auc,
            _ => CurveMetric::Error,
        }
    }

    /// Whether the label is taken for classes or for values.
    pub(crate) fn label_kind(&self) -> LabelKind {
        match self.objective {
            None if self.target.is_some() => LabelKind::Values,
            None => LabelKind::Guess,
            Some(Aim::Classes) => LabelKind::Classes,
            Some(Aim::Values(_)) => LabelKind::Values,
        }
    }

    /// Threads to use, 0 for one a core.
    pub(crate) fn threads(&self) -> usize {
        self.threads.unwrap_or(TreeSettings::default().threads)
    }
}

fn object(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// The settings as JSON, with nothing left open.
pub(crate) fn shown(settings: &LearnSettings, trained: &Trained) -> Value {
    match &trained.grove {
        Some(story) => serde_json::to_value(&story.plan),
        None => serde_json::to_value(settings),
    }
    .unwrap_or_default()
}

/// Fields of the JSON result that only groves have.
pub(crate) fn more_fields(trained: &Trained) -> Vec<(&'static str, Value)> {
    let (spans, patterns) = match trained.model.circuit() {
        Circuit::Grove(grove) => (grove.spans().len(), grove.patterns().patterns().len()),
        Circuit::Tree(_) => (0, 0),
    };
    match &trained.grove {
        Some(story) => vec![
            ("rounds", json!(story.rounds)),
            ("held_out_log_loss", json!(story.held_out_loss)),
            ("spans", json!(spans)),
            ("patterns", json!(patterns)),
            ("vote_bits", json!(story.plan.vote_bits)),
            ("curve", json!(story.curve)),
        ],
        None => Vec::new(),
    }
}
