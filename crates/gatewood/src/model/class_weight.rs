//! What a row of each class counts for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::encode::Labels;
use crate::{Error, Result};

/// What a row of each class counts for.
///
/// As JSON: `null`, `"balanced"`, or `{"spam": 2.0}`.
///
/// ```
/// use gatewood::encode::Labels;
/// use gatewood::model::ClassWeight;
/// let labels = Labels::new(vec!["ham".into(), "spam".into()], vec![0, 0, 0, 1])?;
/// assert_eq!(ClassWeight::Balanced.weights(&labels)?, [4.0 / 6.0, 2.0]);
/// assert_eq!(ClassWeight::ByName([("spam".into(), 5.0)].into()).weights(&labels)?, [1.0, 5.0]);
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "Option<Spelled>", into = "Option<Spelled>")]
#[non_exhaustive]
pub enum ClassWeight {
    /// One each.
    #[default]
    Even,
    /// The classes that occur count alike, however many rows they have.
    Balanced,
    /// By the name of the class; one for those not named.
    ByName(BTreeMap<String, f64>),
}

/// How it is written down.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Spelled {
    Word(Balanced),
    Names(BTreeMap<String, f64>),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Balanced {
    Balanced,
}

impl From<Option<Spelled>> for ClassWeight {
    fn from(spelled: Option<Spelled>) -> Self {
        match spelled {
            None => Self::Even,
            Some(Spelled::Word(Balanced::Balanced)) => Self::Balanced,
            Some(Spelled::Names(names)) => Self::ByName(names),
        }
    }
}

impl From<ClassWeight> for Option<Spelled> {
    fn from(weight: ClassWeight) -> Self {
        match weight {
            ClassWeight::Even => None,
            ClassWeight::Balanced => Some(Spelled::Word(Balanced::Balanced)),
            ClassWeight::ByName(names) => Some(Spelled::Names(names)),
        }
    }
}

impl ClassWeight {
    /// Whether every row counts for one.
    pub fn is_even(&self) -> bool {
        *self == Self::Even
    }

    /// The weight of each class, in the order of the labels' classes; none where all are even.
    ///
    /// # Errors
    /// When a name is not that of a class.
    pub fn weights(&self, labels: &Labels) -> Result<Vec<f64>> {
        match self {
            Self::Even => Ok(Vec::new()),
            Self::Balanced => {
                let counts = labels.counts();
                let present = counts.iter().filter(|&&count| count > 0).count();
                let even = labels.len() as f64 / present.max(1) as f64;
                Ok(counts.iter().map(|&count| if count > 0 { even / count as f64 } else { 1.0 }).collect())
            }
            Self::ByName(names) => {
                let mut weights = vec![1.0; labels.classes().len()];
                for (name, &weight) in names {
                    let position = labels.classes().iter().position(|class| class == name);
                    let position = position.ok_or_else(|| {
                        let classes = labels.classes().join(", ");
                        Error::setting(format!("class_weight \"{name}\": the classes are {classes}"))
                    })?;
                    weights[position] = weight;
                }
                Ok(weights)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_written_and_read() {
        let named = ClassWeight::ByName([("a".to_owned(), 2.0)].into());
        for (weight, json) in
            [(ClassWeight::Even, "null"), (ClassWeight::Balanced, "\"balanced\""), (named, "{\"a\":2.0}")]
        {
            assert_eq!(serde_json::to_string(&weight).unwrap(), json);
            assert_eq!(serde_json::from_str::<ClassWeight>(json).unwrap(), weight);
        }
        assert!(serde_json::from_str::<ClassWeight>("\"even\"").is_err());
    }

    #[test]
    fn classes_that_do_not_occur_have_no_share() {
        let classes = ["a", "b", "c"].map(String::from).to_vec();
        let labels = Labels::new(classes, vec![0, 0, 0, 2]).unwrap();
        let weights = ClassWeight::Balanced.weights(&labels).unwrap();
        assert_eq!(weights, [4.0 / 6.0, 1.0, 2.0]);
        let unknown = ClassWeight::ByName([("d".to_owned(), 2.0)].into()).weights(&labels).unwrap_err();
        assert!(unknown.is_setting() && unknown.to_string().contains("a, b, c"), "{unknown}");
    }
}
