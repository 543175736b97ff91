//! What patterns look like.

use serde::{Deserialize, Serialize};

use crate::circuit::MAX_ARITY;
use crate::encode::ImageShape;
use crate::{Error, Result};

/// What patterns look like. What is left at `None` is chosen by what the images are like.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PatternSettings {
    /// Literals of a pattern when it is drawn, the fewest and the most.
    pub literals: Option<[u32; 2]>,
    /// Pixels of the window that they are in, across and down.
    pub window: Option<[u32; 2]>,
    /// Pixels that a pattern is moved by at the most, in all directions.
    pub radius: Option<[u32; 2]>,
    /// Whether patterns compare pixels with others (1), with levels (0), or some do one and some the other.
    pub comparisons: Option<f64>,
    /// Pixels nearby that pixels are compared with.
    pub offsets: Option<usize>,
    /// How far away those are.
    pub reach: Option<usize>,
    /// By how much a pixel must be above another, in parts of the whole range.
    pub margin: Option<f64>,
    /// Levels that pixels are compared with.
    pub levels: Option<usize>,
    /// Whether trees read pixels and spans beside patterns.
    pub pixels: Option<bool>,
    /// Columns of a pattern that ask how often it matches; 0 for one that asks whether it matches anywhere. Those of a
    /// learned pattern ask for what tells most, for twice and for half as many matches, and so on.
    pub counts: Option<u32>,
    /// Part of the patterns that are learned, 0 to 1; the others are only drawn.
    pub learned: Option<f64>,
    /// Variations that are tried of each pattern that is learned.
    pub trials: Option<u32>,
    /// Rows that they are tried on.
    pub sample_rows: Option<usize>,
    /// The power of the gradient that these are drawn by, 1 to 2.
    pub sampling_power: Option<f64>,
    /// The part of a step that the little trees take which patterns are learned with.
    pub learning_rate: Option<f64>,
    /// Whether a grove looks at the mirrored image, too, and adds up what it says of both: twice as many gates.
    pub mirrored: Option<bool>,
}

/// One kind of patterns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PatternKind {
    /// Literals of a pattern when it is drawn, the fewest and the most.
    pub literals: [u32; 2],
    /// Pixels of the window that they are in.
    pub window: [u32; 2],
    /// Pixels that a pattern is moved by.
    pub radius: [u32; 2],
    /// Whether they compare pixels with others, not with levels.
    pub compares: bool,
}

/// What patterns look like, with nothing left open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PatternPlan {
    /// Patterns that trees may read.
    pub count: usize,
    /// Part of the patterns that are learned; the others are only drawn.
    pub learned: f64,
    /// Kinds of patterns; those that turn out well are drawn more often.
    pub kinds: Vec<PatternKind>,
    /// Pixels nearby that pixels are compared with.
    pub offsets: usize,
    /// How far away those are.
    pub reach: usize,
    /// By how much a pixel must be above another, in parts of the whole range.
    pub margin: f64,
    /// Levels that pixels are compared with.
    pub levels: usize,
    /// Whether trees read pixels and spans beside patterns.
    pub pixels: bool,
    /// Columns of a pattern that ask how often it matches.
    pub counts: u32,
    /// Variations that are tried of each pattern that is learned.
    pub trials: u32,
    /// Rows that they are tried on.
    pub sample_rows: usize,
    /// The power of the gradient that these are drawn by.
    pub sampling_power: f64,
    /// The part of a step that the little trees take which patterns are learned with.
    pub learning_rate: f64,
    /// Whether a grove looks at the mirrored image, too.
    pub mirrored: bool,
    /// Where all randomness comes from.
    pub seed: u64,
}

/// Columns of patterns that all rows together may have, in bits; and how many patterns there are at the most.
const MOST_BITS: u64 = 1 << 35;

/// Images from which on patterns of colours are many, and learned in small steps.
const LARGE: usize = 20_000;

/// Patterns of grey and colour images for each of them where they are few, and how many there are at least.
const PER_ROW: usize = 8;
const FEWEST: usize = 2_000;

/// Images from which on more variations of a pattern of colours are worth their time.
const MANY: usize = 2_000;

/// What is known of images before patterns are drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImageProfile {
    /// Images, copies not counted.
    pub(crate) rows: usize,
    /// Images and copies.
    pub(crate) all_rows: usize,
    pub(crate) image: ImageShape,
    /// Whether pixels are single bits.
    pub(crate) is_binary: bool,
    /// Whether values are learned, not classes.
    pub(crate) has_values: bool,
    /// Whether there are mirrored copies.
    pub(crate) mirrors: bool,
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
        let mut plan = defaults(profile);
        plan.counts = self.counts.unwrap_or(plan.counts);
        // Fewer where they would take too much memory.
        let fit = (MOST_BITS / profile.all_rows.max(1) as u64 / u64::from(plan.counts.max(1))) as usize;
        plan.count = count.unwrap_or_else(|| plan.count.min(fit.max(1000)));
        plan.learned = self.learned.unwrap_or(plan.learned);
        plan.pixels = self.pixels.unwrap_or(plan.pixels);
        plan.offsets = self.offsets.unwrap_or(plan.offsets);
        plan.reach = self.reach.unwrap_or(plan.reach);
        plan.margin = self.margin.unwrap_or(plan.margin);
        plan.levels = self.levels.unwrap_or(plan.levels);
        plan.trials = self.trials.unwrap_or(plan.trials);
        plan.sample_rows = self.sample_rows.unwrap_or(plan.sample_rows);
        plan.sampling_power = self.sampling_power.unwrap_or(plan.sampling_power);
        plan.learning_rate = self.learning_rate.unwrap_or(plan.learning_rate);
        plan.mirrored = self.mirrored.unwrap_or(plan.mirrored && !plan.pixels);
        plan.seed = seed;
        let comparisons = self.comparisons.unwrap_or(0.5);
        if comparisons == 0.0 || comparisons == 1.0 {
            plan.kinds.iter_mut().for_each(|kind| kind.compares = comparisons == 1.0);
        }
        for kind in &mut plan.kinds {
            kind.literals = self.literals.unwrap_or(kind.literals);
            kind.window = self.window.unwrap_or(kind.window);
            kind.radius = self.radius.unwrap_or(kind.radius);
        }
        plan.kinds.dedup();
        let between = |name: &str, [low, high]: [u32; 2], least: u32, most: u32| {
            if (least..=high).contains(&low) && high <= most {
                return Ok(());
            }
            Err(Error::setting(format!("{name} from {low} to {high} are not within {least} to {most}")))
        };
        for kind in &plan.kinds {
            between("literals of patterns", kind.literals, 1, MAX_ARITY as u32)?;
            between("windows of patterns", kind.window, 1, side.max(64))?;
            between("radii of patterns", kind.radius, 0, side.max(64))?;
        }
        between("counts of patterns", [plan.counts; 2], 0, 16)?;
        between("trials of patterns", [plan.trials; 2], 0, 1 << 20)?;
        let within = |name: &str, value: f64, low: f64, high: f64| match value {
            value if (low..=high).contains(&value) => Ok(()),
            _ => Err(Error::setting(format!("{name} of patterns, {value}, is not between {low} and {high}"))),
        };
        within("the part that is learned", plan.learned, 0.0, 1.0)?;
        within("sampling_power", plan.sampling_power, 1.0, 2.0)?;
        within("comparisons", comparisons, 0.0, 1.0)?;
        within("margin", plan.margin, 0.0, 1.0)?;
        within("learning_rate", plan.learning_rate, 0.001, 1.0)?;
        if !(64..=1 << 20).contains(&plan.sample_rows) {
            return Err(Error::setting("patterns are tried on 64 to 1,048,576 rows"));
        }
        if plan.count > 1 << 22 {
            return Err(Error::setting(format!("{} patterns are over {}", plan.count, 1 << 22)));
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
    let side = profile.image.width.max(profile.image.height) as u32;
    let kind = |literals, window, radius, compares| PatternKind { literals, window, radius, compares };
    let half = (side / 2 + 2).min(side);
    let binary = PatternPlan {
        count: if profile.rows < 5_000 { 2000 } else { 4000 },
        learned: if profile.is_binary { 0.5 } else { 1.0 },
        kinds: vec![
            kind([6, 12], [7, 9], [1, 4], false),
            kind([3, 5], [half, half], [side - 1, side - 1], false),
        ],
        offsets: 0,
        reach: 3,
        margin: 0.04,
        levels: 1,
        pixels: true,
        counts: 0,
        trials: 64,
        sample_rows: if profile.rows < 25_000 { 1000 } else { 2000 },
        sampling_power: 1.0,
        learning_rate: 0.2,
        mirrored: false,
        seed: 0,
    };
    // Patterns that are tried on few rows learn these by heart. It was measured for classes.
    let values = profile.has_values;
    let sample_rows = if values { binary.sample_rows } else { profile.rows.clamp(1000, 8192) };
    let is_large = profile.rows >= LARGE;
    let few = profile.rows.saturating_mul(PER_ROW).max(FEWEST);
    let colour = PatternPlan {
        count: if is_large { 48_000 } else { few.min(12_000) },
        kinds: vec![kind([3, 5], [5, 7], [4, 9], true), kind([3, 6], [5, 7], [4, 9], false)],
        offsets: 24,
        margin: if values { 0.04 } else { 0.08 },
        levels: 3,
        pixels: values,
        counts: 3,
        trials: if values || profile.rows < MANY { 64 } else { 256 },
        learning_rate: if is_large { 0.06 } else { 0.2 },
        // Measured for colours alone.
        mirrored: profile.mirrors,
        sample_rows,
        ..binary.clone()
    };
    let grey = PatternPlan {
        count: few.min(if values { 10_000 } else { 20_000 }),
        kinds: vec![kind([4, 8], [5, 7], [2, 5], true), kind([4, 8], [5, 9], [1, 4], false)],
        offsets: 16,
        levels: 3,
        pixels: values,
        counts: 1,
        sample_rows,
        ..binary.clone()
    };
    match profile {
        _ if profile.is_binary => binary,
        _ if profile.image.channels > 1 => colour,
        _ => grey,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_of_colours_are_looked_at_from_both_sides() {
        let profile = |channels: usize, mirrors: bool| {
            let image = ImageShape { width: 32, height: 32, channels };
            let (rows, all_rows) = (50_000, 100_000);
            ImageProfile { rows, all_rows, image, is_binary: false, has_values: false, mirrors }
        };
        let resolve = |channels: usize, mirrors: bool, settings: &PatternSettings| {
            settings.resolve(None, &profile(channels, mirrors), 1).unwrap()
        };
        let open = PatternSettings::default();
        let plan = resolve(3, true, &open);
        assert_eq!((plan.count, plan.counts, plan.trials, plan.mirrored), (48_000, 3, 256, true));
        assert!(!resolve(3, false, &open).mirrored && !resolve(1, true, &open).mirrored);
        let settings = |text: &str| serde_json::from_str::<PatternSettings>(text).unwrap();
        assert!(!resolve(3, true, &settings(r#"{"pixels": true}"#)).mirrored);
        assert!(!resolve(3, true, &settings(r#"{"mirrored": false}"#)).mirrored);
        assert!(resolve(1, true, &settings(r#"{"mirrored": true}"#)).mirrored);
        let few = ImageProfile { rows: 900, ..profile(3, false) };
        let plan = open.resolve(None, &few, 1).unwrap();
        assert_eq!((plan.count, plan.trials), (7_200, 64));
        let steps = settings(r#"{"learning_rate": 0}"#);
        assert!(steps.resolve(None, &few, 1).is_err_and(|error| error.is_setting()));
    }
}
