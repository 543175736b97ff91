//! What is made small where values are learned.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Objective, Poisson, Regression, ValueScale};
use crate::circuit::Quantiles;
use crate::{Error, Result};

/// What is made small where values are learned.
///
/// As text, and so on the command line, in Python and in files: `squared`, `huber`, `absolute`, `poisson`, or `quantile:0.1,0.5,0.9`.
///
/// ```
/// use gatewood::learn::objective::ValueLoss;
/// let loss: ValueLoss = "quantile:0.1,0.9".parse()?;
/// assert_eq!(loss.to_string(), "quantile:0.1,0.9");
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum ValueLoss {
    /// The squared difference, for the mean.
    #[default]
    Squared,
    /// The squared difference up to a standard deviation of the target, and in proportion beyond it.
    Huber,
    /// The difference, for the median.
    Absolute,
    /// The pinball loss of some quantiles, all at once.
    Quantile(Quantiles),
    /// The deviance of counts, for their mean; the margin is its logarithm.
    Poisson,
}

/// The names, as an error lists them.
const NAMES: &str = "squared, huber, absolute, poisson and quantile:0.1,0.5,0.9";

impl ValueLoss {
    /// What it is called in sentences.
    pub fn words(self) -> String {
        match self {
            Self::Squared => "squared error".into(),
            Self::Huber => "Huber loss".into(),
            Self::Absolute => "absolute error".into(),
            Self::Quantile(quantiles) => match quantiles.levels() {
                [level] => format!("quantile {level}"),
                levels => format!("quantiles {}", listed(levels, ", ")),
            },
            Self::Poisson => "Poisson deviance".into(),
        }
    }

    /// The scale of targets that suits values; `is_log` where their logarithms are learned.
    ///
    /// # Errors
    /// As [`ValueScale::of`], and when a value does not suit the loss or has no logarithm; the message names the row.
    pub fn scale_of(self, values: &[f64], is_log: bool) -> Result<ValueScale> {
        match (self, is_log) {
            (Self::Poisson, true) => Err(Error::setting(
                "poisson learns the logarithm of the mean as it is: leave the log of the target out",
            )),
            (Self::Poisson, false) => ValueScale::of_counts(values),
            (_, true) => ValueScale::of_logarithms(values),
            (_, false) => ValueScale::of(values),
        }
    }

    /// The objective for targets of such a scale, and votes that are worth `unit` each.
    pub fn objective(self, scale: ValueScale, unit: f64) -> Arc<dyn Objective> {
        match self {
            Self::Poisson => Arc::new(Poisson::new(scale, unit)),
            _ => Arc::new(Regression::new(self, scale, unit)),
        }
    }
}

fn listed(levels: &[f64], by: &str) -> String {
    levels.iter().map(f64::to_string).collect::<Vec<_>>().join(by)
}

impl fmt::Display for ValueLoss {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Squared => out.write_str("squared"),
            Self::Huber => out.write_str("huber"),
            Self::Absolute => out.write_str("absolute"),
            Self::Quantile(quantiles) => write!(out, "quantile:{}", listed(quantiles.levels(), ",")),
            Self::Poisson => out.write_str("poisson"),
        }
    }
}

impl FromStr for ValueLoss {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some(levels) = text.strip_prefix("quantile:") {
            let level = |text: &str| {
                text.trim().parse().map_err(|_| Error::setting(format!("{text:?} is not a quantile")))
            };
            let levels: Vec<f64> = levels.split(',').map(level).collect::<Result<_>>()?;
            return Quantiles::new(&levels).map(Self::Quantile);
        }
        match text {
            "squared" => Ok(Self::Squared),
            "huber" => Ok(Self::Huber),
            "absolute" => Ok(Self::Absolute),
            "poisson" => Ok(Self::Poisson),
            _ => Err(Error::setting(format!("{text} is not an objective: there are {NAMES}"))),
        }
    }
}

impl TryFrom<String> for ValueLoss {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<ValueLoss> for String {
    fn from(loss: ValueLoss) -> Self {
        loss.to_string()
    }
}

/// What of a value is learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TargetScale {
    /// The value itself.
    #[default]
    Plain,
    /// Its logarithm.
    Log,
}

impl FromStr for TargetScale {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "plain" => Ok(Self::Plain),
            "log" => Ok(Self::Log),
            _ => Err(Error::setting(format!("a target is learned plain or in its log, not {text}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_have_names() {
        for text in ["squared", "huber", "absolute", "poisson", "quantile:0.5", "quantile:0.1,0.5,0.9"] {
            assert_eq!(text.parse::<ValueLoss>().unwrap().to_string(), text);
        }
        for text in
            ["mse", "Huber", "", "quantile", "quantile:", "quantile:2", "quantile:0.9,0.1", "quantile:x"]
        {
            assert!(text.parse::<ValueLoss>().unwrap_err().is_setting(), "{text}");
        }
        assert!("ln".parse::<TargetScale>().unwrap_err().is_setting());
    }
}
