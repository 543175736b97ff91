//! The settings of a training, as the model file keeps them.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Error, Result};

/// The settings that a model was trained with: those that were chosen, those of the encoder, and for a grove what was
/// resolved from the data.
///
/// They are kept as the file has them, since a file of another version may have settings that this one does not know. Shown
/// or serialized, they are a JSON object; `null` for a model that was not trained.
///
/// ```
/// use gatewood::model::UsedSettings;
/// let used: UsedSettings = r#"{"seed": 7, "rounds": null, "encode": {"max_bins": 8}, "resolved": {"rounds": 120}}"#.parse()?;
/// assert_eq!(used.chosen("seed").as_deref(), Some("7"));
/// assert_eq!(used.chosen("rounds"), None);
/// assert_eq!(used.resolved(), [("rounds".into(), "120".into())]);
/// assert_eq!(used.encode(), [("max_bins".into(), "8".into())]);
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UsedSettings(Value);

impl UsedSettings {
    /// Any settings, by their names.
    ///
    /// # Errors
    /// When they have no form in JSON.
    pub fn new(settings: &impl Serialize) -> Result<Self> {
        let wrong = |error| Error::setting(format!("the settings cannot be written down: {error}"));
        serde_json::to_value(settings).map(Self).map_err(wrong)
    }

    /// Adds what was resolved from the data.
    #[cfg(feature = "train")]
    pub(super) fn with_resolved(mut self, plan: &impl Serialize, rounds: usize) -> Result<Self> {
        let Self(mut resolved) = Self::new(plan)?;
        resolved["rounds"] = rounds.into();
        if let Some(fields) = self.0.as_object_mut() {
            fields.insert("resolved".into(), resolved);
        }
        Ok(self)
    }

    /// Whether there are none: the model was not trained, or by something else.
    pub fn is_empty(&self) -> bool {
        self.0.as_object().is_none_or(Map::is_empty)
    }

    /// What was chosen for a setting, as JSON; nothing where it was left open.
    pub fn chosen(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|value| !value.is_null()).map(Value::to_string)
    }

    /// The names and values, as JSON, of what was learned with: with nothing left open for a grove, as chosen for a tree.
    pub fn resolved(&self) -> Vec<(String, String)> {
        let mut settings = listed(self.0.get("resolved").unwrap_or(&self.0));
        settings.retain(|(name, _)| name != "model");
        settings
    }

    /// The names and values, as JSON, of what raw columns were encoded with.
    pub fn encode(&self) -> Vec<(String, String)> {
        self.0.get("encode").map(listed).unwrap_or_default()
    }

    /// The columns that were left out because they were named to be.
    pub fn dropped(&self) -> Vec<String> {
        let names = self.0.get("encode").and_then(|encode| encode.get("drop")).and_then(Value::as_array);
        names.into_iter().flatten().filter_map(|name| Some(name.as_str()?.to_owned())).collect()
    }

    /// What was chosen, as a training takes it.
    ///
    /// # Errors
    /// When the file is of another version, and names settings that this one does not know.
    #[cfg(feature = "train")]
    pub fn train_settings(&self) -> Result<super::TrainSettings> {
        let mut chosen = self.0.clone();
        if let Some(fields) = chosen.as_object_mut() {
            fields.remove("resolved");
        }
        serde_json::from_value(chosen).map_err(|error| {
            Error::setting(format!("the settings of the model are not those of a training: {error}"))
        })
    }
}

/// The fields of an object that say something, in the order of the file.
fn listed(value: &Value) -> Vec<(String, String)> {
    let is_said = |value: &Value| match value {
        Value::Null | Value::Object(_) => false,
        Value::Array(list) => !list.is_empty(),
        _ => true,
    };
    let fields = value.as_object().into_iter().flatten().filter(|(_, value)| is_said(value));
    fields.map(|(name, value)| (name.clone(), value.to_string())).collect()
}

impl fmt::Display for UsedSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for UsedSettings {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => Ok(Self(fields.into())),
            Ok(_) => Err(Error::setting("settings must be a JSON object")),
            Err(error) => Err(Error::setting(format!("settings must be a JSON object: {error}"))),
        }
    }
}
