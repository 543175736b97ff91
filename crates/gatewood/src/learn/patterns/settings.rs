//! What patterns look like.

use serde::{Deserialize, Serialize};

use crate::circuit::MAX_ARITY;
use crate::encode::ImageShape;
use crate::{Error, Result};

/// What is done to training images to have more of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Augment {
    /// Each image moved by one pixel left, right, up and down, its edge repeated.
    Shift,
    /// Each image mirrored, left to right.
    Mirror,
}

/// How patterns are drawn. What is left at `None` is chosen by what the images are like.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PatternSettings {
    /// Literals of a pattern, the fewest and the most.
    pub literals: Option<[u32; 2]>,
    /// Pixels of the window that they are in, across and down.
    pub window: Option<[u32; 2]>,
    /// Pixels that a pattern is moved by at the most, in all directions.
    pub radius: Option<[u32; 2]>,
    /// Part of the patterns that compare pixels with others, 0 to 1; the rest compare them with levels.
    pub comparisons: Option<f64>,
    /// Pixels nearby that pixels are compared with.
    pub offsets: Option<usize>,
    /// How far away those are.
    pub reach: Option<usize>,
    /// By how much a pixel must be above another, in parts of the whole range.
    pub margin: Option<f64>,
    /// Levels that pixels are compared with.
    pub levels: Option<usize>,
    /// Columns of a pattern that ask how often it matches; 0 for one that asks whether it matches anywhere.
    pub counts: Option<u32>,
}

/// How patterns are drawn, with nothing left open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PatternPlan {
    /// Patterns that are drawn.
    pub count: usize,
    /// Literals of a pattern, the fewest and the most.
    pub literals: [u32; 2],
    /// Pixels of the window that they are in.
    pub window: [u32; 2],
    /// Pixels that a pattern is moved by.
    pub radius: [u32; 2],
    /// Part of the patterns that compare pixels with others.
    pub comparisons: f64,
    /// Pixels nearby that pixels are compared with.
    pub offsets: usize,
    /// How far away those are.
    pub reach: usize,
    /// By how much a pixel must be above another, in parts of the whole range.
    pub margin: f64,
    /// Levels that pixels are compared with.
    pub levels: usize,
    /// Columns of a pattern that ask how often it matches.
    pub counts: u32,
    /// Where all randomness comes from.
    pub seed: u64,
}

/// Columns of patterns that all rows together may have, in bits; and how many patterns there are at the most.
const MOST_BITS: u64 = 1 << 32;
const MOST_PATTERNS: usize = 40_000;

/// What is known of images before patterns are drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImageProfile {
    pub(crate) rows: usize,
    pub(crate) classes: usize,
    pub(crate) image: ImageShape,
    /// Whether pixels are single bits.
    pub(crate) is_binary: bool,
}

impl PatternSettings {
    /// Chooses what is left open; `count` patterns, where they are given.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub(crate) fn resolve(
        &self,
        count: Option<usize>,
        profile: &ImageProfile,
        seed: u64,
    ) -> Result<PatternPlan> {
        let side = profile.image.width.max(profile.image.height) as u32;
        let defaults = defaults(profile);
        let counts = self.counts.unwrap_or(defaults.counts);
        let fit = (MOST_BITS / profile.rows.max(1) as u64 / u64::from(counts.max(1))) as usize;
        let plan = PatternPlan {
            count: count.unwrap_or_else(|| fit.clamp(1000, MOST_PATTERNS)),
            literals: self.literals.unwrap_or(defaults.literals),
            window: self.window.unwrap_or(defaults.window),
            radius: self.radius.unwrap_or(defaults.radius),
            comparisons: self.comparisons.unwrap_or(defaults.comparisons),
            offsets: self.offsets.unwrap_or(defaults.offsets),
            reach: self.reach.unwrap_or(defaults.reach),
            margin: self.margin.unwrap_or(defaults.margin),
            levels: self.levels.unwrap_or(defaults.levels),
            counts,
            seed,
        };
        let between = |name: &str, [low, high]: [u32; 2], least: u32, most: u32| {
            if (least..=high).contains(&low) && high <= most {
                return Ok(());
            }
            Err(Error::setting(format!("{name} from {low} to {high} are not within {least} to {most}")))
        };
        between("literals of patterns", plan.literals, 1, MAX_ARITY as u32)?;
        between("windows of patterns", plan.window, 1, side.max(64))?;
        between("radii of patterns", plan.radius, 0, side.max(64))?;
        between("counts of patterns", [plan.counts; 2], 0, 16)?;
        if plan.count > 1 << 22 {
            return Err(Error::setting(format!("{} patterns are over {}", plan.count, 1 << 22)));
        }
        if !(0.0..=1.0).contains(&plan.comparisons) || !(0.0..=1.0).contains(&plan.margin) {
            return Err(Error::setting("comparisons and margin of patterns are parts, from 0 to 1"));
        }
        if plan.levels > 256 || plan.offsets > 1024 || !(1..=64).contains(&plan.reach) {
            return Err(Error::setting(
                "patterns have at most 256 levels and 1,024 offsets that reach 1 to 64 pixels",
            ));
        }
        Ok(plan)
    }
}

/// What suits images, as measured on rows held out of the training rows of several sets.
fn defaults(profile: &ImageProfile) -> PatternPlan {
    let binary = PatternPlan {
        count: 0,
        literals: [12, 12],
        window: [9, 9],
        radius: [3, 3],
        comparisons: 0.0,
        offsets: 0,
        reach: 3,
        margin: 0.04,
        levels: 1,
        counts: 0,
        seed: 0,
    };
    let colour = PatternPlan {
        literals: [4, 6],
        window: [5, 7],
        radius: [4, 6],
        comparisons: 1.0,
        offsets: 24,
        levels: 7,
        counts: if profile.classes == 2 { 0 } else { 2 },
        ..binary.clone()
    };
    let grey = PatternPlan {
        literals: [4, 8],
        window: [5, 7],
        radius: [3, 6],
        comparisons: 0.7,
        offsets: 16,
        levels: 2,
        counts: 1,
        ..binary.clone()
    };
    match profile {
        _ if profile.is_binary => binary,
        _ if profile.image.channels > 1 => colour,
        _ => grey,
    }
}
