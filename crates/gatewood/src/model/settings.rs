//! The settings of a training.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::ClassWeight;
use crate::encode::EncodeSettings;
use crate::learn::{GroveSettings, TreeSettings};
use crate::{Error, Result};

/// What is learned, with its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "there is one of it a training")]
pub enum LearnSettings {
    /// Boosted trees.
    Grove(GroveSettings),
    /// The paper's single tree.
    Tree(TreeSettings),
}

impl Default for LearnSettings {
    fn default() -> Self {
        Self::Grove(GroveSettings::default())
    }
}

impl LearnSettings {
    /// What is learned: `tree` or `grove`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Grove(_) => "grove",
            Self::Tree(_) => "tree",
        }
    }

    /// Where all randomness comes from.
    pub fn seed(&self) -> u64 {
        match self {
            Self::Grove(settings) => settings.seed,
            Self::Tree(settings) => settings.seed,
        }
    }

    /// How many threads learn, 0 for one a core.
    pub fn threads(&self) -> usize {
        match self {
            Self::Grove(settings) => settings.threads,
            Self::Tree(settings) => settings.threads,
        }
    }

    /// Chooses how many threads learn, 0 for one a core; what is learned does not depend on it.
    pub fn set_threads(&mut self, threads: usize) {
        match self {
            Self::Grove(settings) => settings.threads = threads,
            Self::Tree(settings) => settings.threads = threads,
        }
    }
}

/// All settings of a training: how rows become bits, and what is learned from them.
///
/// As JSON, `{"model": "tree", …, "encode": {…}}`, they are part of the model file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TrainSettings {
    /// What is learned.
    #[serde(flatten)]
    pub learn: LearnSettings,
    /// How raw columns become bits; of no use for rows that are bits already.
    pub encode: EncodeSettings,
    /// What a row of each class counts for in a grove, by name or balanced.
    #[serde(default, skip_serializing_if = "ClassWeight::is_even")]
    pub class_weight: ClassWeight,
}

impl TrainSettings {
    /// The default settings of a `grove` or a `tree`, with those of a JSON object put in their place: what the command and
    /// Python choose from.
    ///
    /// ```
    /// use gatewood::model::{LearnSettings, TrainSettings};
    /// let settings = TrainSettings::from_json("tree", r#"{"depth": 6, "encode": {"max_bins": 8}}"#)?;
    /// let LearnSettings::Tree(tree) = &settings.learn else { unreachable!() };
    /// assert_eq!((tree.arity, tree.depth, settings.encode.max_bins), (4, 6, 8));
    /// # Ok::<(), gatewood::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the text is no such object, there is no such model or setting, or a value is of the wrong kind; the message
    /// names it.
    pub fn from_json(model: &str, chosen: &str) -> Result<Self> {
        let chosen: serde_json::Map<String, serde_json::Value> = serde_json::from_str(chosen)
            .map_err(|error| Error::setting(format!("the settings are not a JSON object: {error}")))?;
        let mut learn = chosen.clone();
        let encode = match learn.remove("encode") {
            Some(serde_json::Value::Object(encode)) => read_settings(&encode)?,
            Some(_) => return Err(Error::setting("encode must be an object of settings")),
            None => EncodeSettings::default(),
        };
        let class_weight = match learn.remove("class_weight") {
            Some(value) => serde_json::from_value(value.clone()).map_err(|_| {
                Error::setting(format!(
                    "class_weight is \"balanced\" or an object of weights by class, not {value}"
                ))
            })?,
            None => ClassWeight::default(),
        };
        let mut learn = match model {
            "grove" => LearnSettings::Grove(read_settings(&learn)?),
            "tree" => LearnSettings::Tree(read_settings(&learn)?),
            _ => return Err(Error::setting(format!("{model} is not a model: there are grove and tree"))),
        };
        // A tree that is lower than the usual height is judged at its root.
        if let LearnSettings::Tree(tree) = &mut learn
            && !chosen.contains_key("height")
        {
            tree.height = tree.height.min(tree.depth);
        }
        Ok(Self { learn, encode, class_weight })
    }
}

/// Settings from a JSON object; those that are not in it have their defaults.
///
/// Each is read alone first, so that an error names the setting.
fn read_settings<T: DeserializeOwned>(chosen: &serde_json::Map<String, serde_json::Value>) -> Result<T> {
    for (name, value) in chosen {
        let alone = serde_json::Map::from_iter([(name.clone(), value.clone())]);
        serde_json::from_value::<T>(alone.into())
            .map_err(|error| Error::setting(format!("setting {name}: {error}")))?;
    }
    serde_json::from_value(chosen.clone().into()).map_err(|error| Error::setting(error.to_string()))
}
