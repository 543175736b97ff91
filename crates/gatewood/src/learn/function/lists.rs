//! Decision lists of two columns a step: comparators of two words, carries of adders, and the like.
//!
//! Each step asks for two columns with given values; the first step that fits a row says its output. `a > b` is such a list,
//! from the highest bits down, and so is the carry out of `a + b`.

use super::samples::{Samples, count};
use super::sketch::Sketch;
use crate::Result;
use crate::circuit::{Netlist, Signal};

/// One step: the two columns, the values they must have, and the output then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    columns: [usize; 2],
    values: [bool; 2],
    output: bool,
}

impl Step {
    /// Of some rows, those that the step fits.
    fn fits(&self, samples: &Samples, rows: &[u64]) -> Vec<u64> {
        let [a, b] = self.columns.map(|column| samples.column(column));
        let flips = self.values.map(|value| if value { 0 } else { u64::MAX });
        rows.iter().zip(a.iter().zip(b)).map(|(row, (a, b))| row & (a ^ flips[0]) & (b ^ flips[1])).collect()
    }
}

/// What chance may have to do with a step, in powers of two: of so many, one is found where there is none.
const CHANCE: f64 = 6.0;

/// Columns up to which lists are looked for.
const MOST_COLUMNS: usize = 1_000;

/// The part of rows that may be left over.
const LEFT: f64 = 0.25;

/// Lists that tell all rows rightly, but for a few that no step fits: one that goes on as its steps do where samples end, and
/// one that does not.
pub(super) fn decision_lists(samples: &Samples) -> Result<Vec<Netlist>> {
    if samples.columns() > MOST_COLUMNS {
        return Ok(Vec::new());
    }
    let mut rows = samples.all();
    let mut steps: Vec<Step> = Vec::new();
    loop {
        let (left, ones) = (count(rows.iter().copied()), ones(samples, &rows));
        if ones == 0 || ones == left {
            break;
        }
        let Some(step) = best_step(samples, &rows) else { break };
        take(samples, &mut rows, step);
        steps.push(step);
    }
    let left = count(rows.iter().copied());
    if steps.is_empty() || left as f64 > LEFT * samples.rows() as f64 {
        return Ok(Vec::new());
    }
    let mut lists: Vec<Vec<Step>> = extended(samples, &steps).into_iter().collect();
    lists.push(steps);
    lists.into_iter().map(|steps| circuit(samples, &steps)).collect()
}

/// How many of some rows have an output of one.
fn ones(samples: &Samples, rows: &[u64]) -> usize {
    count(rows.iter().zip(&samples.label).map(|(row, label)| row & label))
}

/// Takes away the rows that a step fits.
fn take(samples: &Samples, rows: &mut [u64], step: Step) {
    let fits = step.fits(samples, rows);
    rows.iter_mut().zip(fits).for_each(|(row, fits)| *row &= !fits);
}

/// The step that fits the most of some rows and tells all of them rightly, if that is not by chance.
fn best_step(samples: &Samples, rows: &[u64]) -> Option<Step> {
    let masked = |column: usize| -> Vec<u64> {
        rows.iter().zip(samples.column(column)).map(|(row, bit)| row & bit).collect()
    };
    let both = |a: &[u64], b: &[u64]| count(a.iter().zip(b).map(|(a, b)| a & b));
    let kept: Vec<Vec<u64>> = (0..samples.columns()).map(masked).collect();
    let labels: Vec<u64> = rows.iter().zip(&samples.label).map(|(row, label)| row & label).collect();
    let total = [count(rows.iter().copied()), count(labels.iter().copied())];
    let singles: Vec<[usize; 2]> =
        kept.iter().map(|kept| [count(kept.iter().copied()), both(kept, &labels)]).collect();
    // So many rows of one output are hardly found together by chance, however many steps are tried.
    let bits = CHANCE + libm::log2(2.0 * (samples.columns() as f64).powi(2));
    let fewest = [total[0] - total[1], total[1]]
        .map(|rows| libm::ceil(bits / libm::log2(total[0] as f64 / rows.max(1) as f64).max(1e-9)) as usize);
    let mut best: Option<(usize, Step)> = None;
    for first in 0..samples.columns() {
        let marked: Vec<u64> = kept[first].iter().zip(&labels).map(|(a, b)| a & b).collect();
        for second in first..samples.columns() {
            let joint = [both(&kept[first], &kept[second]), both(&marked, &kept[second])];
            for values in [[true, true], [true, false], [false, true], [false, false]] {
                // Rows, and those whose output is one, by inclusion and exclusion.
                let [fit, ones] = [0, 1].map(|which| {
                    let (a, b) = (singles[first][which], singles[second][which]);
                    match values {
                        [true, true] => joint[which],
                        [true, false] => a - joint[which],
                        [false, true] => b - joint[which],
                        [false, false] => total[which] + joint[which] - a - b,
                    }
                });
                let output = ones > 0;
                let pure = ones == 0 || ones == fit;
                if pure && fit >= fewest[usize::from(output)] && best.is_none_or(|(most, _)| fit > most) {
                    best = Some((fit, Step { columns: [first, second], values, output }));
                }
            }
        }
    }
    best.map(|(_, step)| step)
}

/// Levels of a list that follow from each other before it is believed that more do.
const PROGRESSION: usize = 3;

/// The steps that go from the columns of one word to the next, and on like that to the end of the words, as long as no row speaks
/// against it. What does not follow is left out: it was found by chance, where few rows were left.
fn extended(samples: &Samples, steps: &[Step]) -> Option<Vec<Step>> {
    // Steps of the same columns belong together.
    let mut levels: Vec<Vec<Step>> = Vec::new();
    for &step in steps {
        match levels.iter_mut().find(|level| level[0].columns == step.columns) {
            Some(level) => level.push(step),
            None => levels.push(vec![step]),
        }
    }
    let away = |pair: &[Vec<Step>]| {
        [0, 1].map(|side| pair[1][0].columns[side] as isize - pair[0][0].columns[side] as isize)
    };
    let first = away(levels.get(..2)?);
    let follow = 1 + levels.windows(2).take_while(|pair| away(pair) == first).count();
    if follow < PROGRESSION || first == [0, 0] {
        return None;
    }
    // The highest level may be of another kind, as a sign is; the second is like all below it.
    let shape = levels[1].clone();
    let mut steps: Vec<Step> = levels[..follow].concat();
    let mut rows = samples.all();
    steps.iter().for_each(|&step| take(samples, &mut rows, step));
    let mut at = levels[follow - 1][0].columns;
    loop {
        for step in &shape {
            let step = Step { columns: at, ..*step };
            let fits = step.fits(samples, &rows);
            let (fit, ones) = (count(fits.iter().copied()), ones(samples, &fits));
            if ones != if step.output { fit } else { 0 } {
                return Some(steps);
            }
            if !steps.contains(&step) {
                take(samples, &mut rows, step);
                steps.push(step);
            }
        }
        let next = [0, 1].map(|side| at[side].checked_add_signed(first[side]));
        let [Some(one), Some(other)] = next else { return Some(steps) };
        let is_used = |column: usize| steps.iter().any(|step| step.columns.contains(&column));
        if one.max(other) >= samples.columns() || is_used(one) || is_used(other) {
            return Some(steps);
        }
        at = [one, other];
    }
}

fn circuit(samples: &Samples, steps: &[Step]) -> Result<Netlist> {
    let mut rows = samples.all();
    steps.iter().for_each(|&step| take(samples, &mut rows, step));
    let otherwise = 2 * ones(samples, &rows) > count(rows.iter().copied());
    let mut sketch = Sketch::new(samples.columns())?;
    let mut output = Signal::constant(otherwise);
    for step in steps.iter().rev() {
        let first = sketch.literal(step.columns[0], step.values[0])?;
        let second = sketch.literal(step.columns[1], step.values[1])?;
        let fits = if step.columns[0] == step.columns[1] { first } else { sketch.and(first, second)? };
        output = if step.output {
            sketch.or(fits, output)?
        } else {
            let passes = sketch.not(fits)?;
            sketch.and(passes, output)?
        };
    }
    sketch.finish(output)
}
