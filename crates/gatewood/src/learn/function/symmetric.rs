//! Functions of how many of some columns are one.

use super::samples::Samples;
use super::screen::Telling;
use super::sketch::Sketch;
use crate::Result;
use crate::circuit::{Netlist, Signal};

/// The part of rows that a count may tell wrongly for the function to be called one of counts.
const WRONG: f64 = 0.02;

/// Standard deviations that a correlation is away from chance for a column to be counted.
const DEVIATIONS: f64 = 4.5;

/// Columns to count, each as it is or inverted.
type Counted = Vec<(usize, bool)>;

/// Functions of counts that explain nearly all rows.
pub(super) fn of_counts(samples: &Samples, pairs: &[Telling]) -> Result<Vec<Netlist>> {
    let mut sets: Vec<Counted> = vec![(0..samples.columns()).map(|column| (column, true)).collect()];
    sets.push(correlated(samples));
    let mut paired: Vec<usize> = pairs.iter().flat_map(|pair| pair.columns.clone()).collect();
    paired.sort_unstable();
    paired.dedup();
    sets.push(paired.into_iter().map(|column| (column, true)).collect());
    sets.retain(|set| set.len() > 1);
    sets.dedup();
    let mut found = Vec::new();
    for set in sets {
        if let Some(table) = table_over(samples, &set) {
            found.push(circuit(samples.columns(), &set, &table)?);
        }
    }
    Ok(found)
}

/// The columns that agree with the output, or with its inverse, more than chance would have it.
fn correlated(samples: &Samples) -> Counted {
    let least = DEVIATIONS / libm::sqrt(samples.rows() as f64);
    let correlations = samples.correlations().into_iter().enumerate();
    correlations.filter(|(_, c)| c.abs() >= least).map(|(column, c)| (column, c > 0.0)).collect()
}

/// How many of some columns are one, for each row.
pub(super) fn counts(samples: &Samples, counted: &[(usize, bool)]) -> Vec<u32> {
    let mut counts = vec![0; samples.rows()];
    for &(column, positive) in counted {
        let words = samples.column(column);
        for (row, count) in counts.iter_mut().enumerate() {
            *count += u32::from((words[row / 64] >> (row % 64) & 1 != 0) == positive);
        }
    }
    counts
}

/// The output for each count, if counts explain the rows.
fn table_over(samples: &Samples, counted: &[(usize, bool)]) -> Option<Vec<bool>> {
    let mut seen = vec![[0usize; 2]; counted.len() + 1];
    for (row, count) in counts(samples, counted).into_iter().enumerate() {
        seen[count as usize][(samples.label[row / 64] >> (row % 64) & 1) as usize] += 1;
    }
    let wrong: usize = seen.iter().map(|[zeros, ones]| zeros.min(ones)).sum();
    // A function of counts that is nearly a constant is better learned otherwise.
    let rare: usize = (0..2).map(|value| seen.iter().map(|seen| seen[value]).sum()).min().unwrap_or(0);
    if wrong as f64 > WRONG * samples.rows() as f64 || 4 * wrong > rare {
        return None;
    }
    let known: Vec<Option<bool>> =
        seen.iter().map(|[zeros, ones]| (zeros + ones > 0).then_some(ones > zeros)).collect();
    Some(completed(&known))
}

/// A table whose gaps are filled: by its period where it has one, else as the nearest count that was seen.
fn completed(known: &[Option<bool>]) -> Vec<bool> {
    let seen = known.iter().flatten().count();
    let changes = known.windows(2).filter(|pair| matches!(pair, [Some(a), Some(b)] if a != b)).count();
    let period = (2..=seen / 3).find(|&period| {
        let values = |start: usize| known.iter().skip(start).step_by(period).flatten();
        changes > 1 && (0..period).all(|start| values(start).all(|value| Some(value) == values(start).next()))
    });
    let nearest = |count: usize| {
        let at = |distance: usize| {
            let below = count.checked_sub(distance).and_then(|place| known[place]);
            below.or_else(|| known.get(count + distance).copied().flatten())
        };
        (0..known.len()).find_map(at).unwrap_or(false)
    };
    let periodic = |count: usize, period: usize| {
        known.iter().skip(count % period).step_by(period).flatten().next().copied()
    };
    (0..known.len())
        .map(|count| known[count].or_else(|| periodic(count, period?)).unwrap_or_else(|| nearest(count)))
        .collect()
}

/// A counter of full adders, and the table over its bits as choices between them.
fn circuit(columns: usize, counted: &[(usize, bool)], table: &[bool]) -> Result<Netlist> {
    let mut sketch = Sketch::new(columns)?;
    let mut places: Vec<Vec<Signal>> = vec![Vec::new()];
    for &(column, positive) in counted {
        let bit = sketch.literal(column, positive)?;
        places[0].push(bit);
    }
    let mut bits = Vec::new();
    let mut place = 0;
    while place < places.len() {
        // Taken from the front and put at the back, so that the depth is that of a tree.
        let mut waiting: std::collections::VecDeque<Signal> = std::mem::take(&mut places[place]).into();
        let mut carries = Vec::new();
        while waiting.len() > 1 {
            let (a, b) = (waiting.pop_front(), waiting.pop_front());
            let (a, b) = (a.unwrap_or(Signal::ZERO), b.unwrap_or(Signal::ZERO));
            let (sum, carry) = sketch.full_add(a, b, waiting.pop_front().unwrap_or(Signal::ZERO))?;
            waiting.push_back(sum);
            carries.push(carry);
        }
        bits.push(waiting.pop_front().unwrap_or(Signal::ZERO));
        if !carries.is_empty() {
            places.push(carries);
        }
        place += 1;
    }
    let at = |count: usize| table.get(count).copied();
    let output = choice(&mut sketch, &bits, &at, 0, &mut std::collections::HashMap::new())?;
    sketch.finish(output)
}

/// The table's output by the bits of a count, the highest first; counts past the table may be anything.
fn choice(
    sketch: &mut Sketch,
    bits: &[Signal],
    table: &dyn Fn(usize) -> Option<bool>,
    above: usize,
    made: &mut std::collections::HashMap<Vec<Option<bool>>, Signal>,
) -> Result<Signal> {
    let values: Vec<Option<bool>> =
        (0..1usize << bits.len()).map(|low| table(above << bits.len() | low)).collect();
    let mut known = values.iter().flatten();
    let first = known.next().copied().unwrap_or(false);
    if known.all(|&value| value == first) {
        return Ok(Signal::constant(first));
    }
    if let Some(&signal) = made.get(&values) {
        return Ok(signal);
    }
    let Some((&highest, lower)) = bits.split_last() else { return Ok(Signal::constant(first)) };
    let half = values.len() / 2;
    // Where both halves agree as far as they are known, the bit does not matter.
    let alike = values[..half].iter().zip(&values[half..]).all(|(a, b)| a.is_none() || b.is_none() || a == b);
    let signal = if alike {
        let joint: Vec<Option<bool>> =
            values[..half].iter().zip(&values[half..]).map(|(a, b)| a.or(*b)).collect();
        choice(sketch, lower, &|low: usize| joint[low], 0, made)?
    } else if values[..half].iter().zip(&values[half..]).all(|(a, b)| match (a, b) {
        (Some(a), Some(b)) => a != b,
        _ => true,
    }) {
        let joint: Vec<Option<bool>> =
            values[..half].iter().zip(&values[half..]).map(|(a, b)| a.or(b.map(|b| !b))).collect();
        let low = choice(sketch, lower, &|low: usize| joint[low], 0, made)?;
        sketch.xor(highest, low)?
    } else {
        let zero = choice(sketch, lower, &|low: usize| values[low], 0, made)?;
        let one = choice(sketch, lower, &|low: usize| values[half | low], 0, made)?;
        sketch.choose(highest, zero, one)?
    };
    made.insert(values, signal);
    Ok(signal)
}
