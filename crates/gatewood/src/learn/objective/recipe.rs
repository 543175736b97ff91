//! Objectives as data, so that others can make the same.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Objective, ValueLoss, ValueScale, for_classes};

/// How an objective is made elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Recipe {
    /// Classes.
    Classes {
        /// How many.
        classes: usize,
        /// What a vote is worth.
        unit: f64,
    },
    /// Values.
    Values {
        /// What is made small.
        loss: ValueLoss,
        /// How values become targets.
        scale: ValueScale,
        /// What a vote is worth.
        unit: f64,
    },
}

impl Recipe {
    /// The objective.
    pub fn make(&self) -> Arc<dyn Objective> {
        match *self {
            Self::Classes { classes, unit } => for_classes(classes, unit),
            Self::Values { loss, scale, unit } => loss.objective(scale, unit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objective_made_of_its_recipe_is_the_same() {
        let scale = ValueScale::of(&[0.1, 7.3, 2.2]).unwrap();
        let mut made = vec![for_classes(2, 0.013), for_classes(5, 0.1)];
        for loss in ["squared", "huber", "absolute", "poisson", "quantile:0.1,0.9"] {
            made.push(loss.parse::<ValueLoss>().unwrap().objective(scale, 0.007));
        }
        for objective in made {
            let text = serde_json::to_string(&objective.recipe().unwrap()).unwrap();
            let again: Recipe = serde_json::from_str(&text).unwrap();
            assert_eq!(format!("{:?}", again.make()), format!("{objective:?}"), "{text}");
        }
    }
}
