//! The options of the learners: what the library's settings are, and nothing else.

use anyhow::Result;
use clap::ValueEnum;
use gatewood::learn::{Criterion, TreeSettings, Unseen};
use gatewood::model::{Circuit, LearnSettings};

/// The kinds of circuit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// The paper's single tree, for two classes
    Tree,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CriterionArg {
    InformationGain,
    Accuracy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnseenArg {
    Prior,
    Zero,
}

/// What to learn, and how.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Learning")]
pub(crate) struct LearnArgs {
    /// What to learn
    #[arg(long, value_enum, default_value_t = Kind::Tree)]
    pub(crate) model: Kind,

    #[arg(long, value_name = "K", help = with_default("Inputs of a gate, 1 to 12", TreeSettings::default().arity))]
    arity: Option<usize>,

    #[arg(long, value_name = "D", help = with_default("Gates from a leaf to the root", TreeSettings::default().depth))]
    depth: Option<usize>,

    #[arg(long, value_name = "N", value_parser = trials, help = with_default("Trials of hill climbing over the whole tree; k and m stand for thousands and millions", TreeSettings::default().climb))]
    climb: Option<u64>,

    #[arg(long, value_name = "T", help = with_default("Levels above the leaves at which a trial is judged", TreeSettings::default().height))]
    height: Option<usize>,

    /// How gates choose their tables [default: information-gain]
    #[arg(long, value_enum)]
    criterion: Option<CriterionArg>,

    /// What a gate says where no training row is: what all rows say, or zero as in the paper [default: prior]
    #[arg(long, value_enum)]
    unseen: Option<UnseenArg>,

    #[arg(long, value_name = "S", help = with_default("Where all randomness comes from: one seed, one model", TreeSettings::default().seed))]
    seed: Option<u64>,

    /// Threads to use [default: one a core]; the model does not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

fn with_default(text: &str, default: impl std::fmt::Display) -> String {
    format!("{text} [default: {default}]")
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

impl LearnArgs {
    /// What to learn, with all its settings.
    pub(crate) fn settings(&self) -> Result<LearnSettings> {
        match self.model {
            Kind::Tree => {
                let default = TreeSettings::default();
                let depth = self.depth.unwrap_or(default.depth);
                let settings = TreeSettings {
                    arity: self.arity.unwrap_or(default.arity),
                    depth,
                    climb: self.climb.unwrap_or(default.climb),
                    // A tree that is lower than the usual height is judged at its root.
                    height: self.height.unwrap_or(default.height.min(depth)),
                    criterion: self.criterion.map_or(default.criterion, |criterion| match criterion {
                        CriterionArg::InformationGain => Criterion::InformationGain,
                        CriterionArg::Accuracy => Criterion::Accuracy,
                    }),
                    unseen: self.unseen.map_or(default.unseen, |unseen| match unseen {
                        UnseenArg::Prior => Unseen::Prior,
                        UnseenArg::Zero => Unseen::Zero,
                    }),
                    seed: self.seed.unwrap_or(default.seed),
                    threads: self.threads.unwrap_or(default.threads),
                };
                settings.check()?;
                Ok(LearnSettings::Tree(settings))
            }
        }
    }

    /// Threads to use, 0 for one a core.
    pub(crate) fn threads(&self) -> usize {
        self.threads.unwrap_or(TreeSettings::default().threads)
    }
}

/// The settings as JSON, those of the encoder left out.
pub(crate) fn shown(settings: &LearnSettings) -> serde_json::Value {
    serde_json::to_value(settings).unwrap_or_default()
}

/// Fields of the JSON result that only this kind of circuit has.
pub(crate) fn more_fields(
    settings: &LearnSettings,
    _circuit: &Circuit,
) -> Vec<(&'static str, serde_json::Value)> {
    match settings {
        LearnSettings::Tree(_) => Vec::new(),
    }
}
