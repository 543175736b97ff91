//! Patterns as LUTs: one or more for each shift, and a tree or a counter that pools them.

use std::collections::HashMap;

use super::super::{Literal, Pattern, PatternLayer, Signal};
use super::adder::Sum;
use super::logic::{LUT_INPUTS, Logic};
use crate::Result;

/// Adds the columns of patterns to the signals of those before them.
pub(super) fn add(logic: &mut Logic, layer: &PatternLayer, columns: &mut Vec<Signal>) -> Result<()> {
    // Patterns with the same literals share what they match.
    let mut shared: HashMap<Vec<(Signal, bool)>, Signal> = HashMap::new();
    for pattern in layer.patterns() {
        let mut found = Vec::with_capacity(pattern.matches());
        let (across, down) = pattern.shifts();
        for y in 0..down {
            for x in 0..across {
                let read = |literal: &Literal| {
                    let (x, y) = (usize::from(literal.x) + x, usize::from(literal.y) + y);
                    let input = layer.planes().input(literal.plane.into(), x, y);
                    (input.map_or(Signal::ZERO, |input| columns[input as usize]), literal.value)
                };
                let mut reads: Vec<(Signal, bool)> = pattern.literals().iter().map(read).collect();
                reads.sort_unstable();
                reads.dedup();
                let signal = match shared.get(&reads) {
                    Some(&signal) => signal,
                    None => {
                        let signal = all(logic, &reads)?;
                        *shared.entry(reads).or_insert(signal)
                    }
                };
                found.push(signal);
            }
        }
        pool(logic, pattern, &found, columns)?;
    }
    Ok(())
}

/// Whether all signals have the values wanted of them.
fn all(logic: &mut Logic, wanted: &[(Signal, bool)]) -> Result<Signal> {
    let mut below: Vec<(Signal, bool)> = wanted.to_vec();
    loop {
        let parts: Vec<(Signal, bool)> = even_parts(below.len())
            .map(|part| {
                let part = &below[part];
                let inputs: Vec<Signal> = part.iter().map(|&(signal, _)| signal).collect();
                let at = part.iter().enumerate().fold(0, |at, (j, &(_, value))| at | usize::from(value) << j);
                Ok((logic.function(&inputs, |address| address == at)?, true))
            })
            .collect::<Result<_>>()?;
        if let [(signal, _)] = parts[..] {
            return Ok(signal);
        }
        below = parts;
    }
}

/// Whether any of the signals is one.
fn any(logic: &mut Logic, signals: &[Signal]) -> Result<Signal> {
    let mut below = signals.to_vec();
    loop {
        below = below
            .chunks(LUT_INPUTS)
            .map(|part| logic.function(part, |address| address != 0))
            .collect::<Result<_>>()?;
        if let [signal] = below[..] {
            return Ok(signal);
        }
    }
}

/// Parts of so many things that each fit a LUT, as large as each other.
fn even_parts(count: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let parts = count.div_ceil(LUT_INPUTS);
    (0..parts).map(move |part| part * count / parts..(part + 1) * count / parts)
}

/// Adds a column for each threshold, given what matches.
fn pool(logic: &mut Logic, pattern: &Pattern, found: &[Signal], columns: &mut Vec<Signal>) -> Result<()> {
    let counted = pattern.thresholds().iter().any(|&threshold| threshold > 1);
    let width = (usize::BITS - found.len().leading_zeros()) as usize;
    let mut count = Vec::new();
    if counted {
        let mut sum = Sum::default();
        found.iter().filter(|&&signal| signal != Signal::ZERO).for_each(|&signal| sum.add_bit(0, signal));
        count = sum.finish(logic, width)?;
    }
    for &threshold in pattern.thresholds() {
        columns.push(match threshold {
            1 => any(logic, found)?,
            _ => {
                let below: Vec<Signal> =
                    (0..width).map(|place| Signal::constant((threshold - 1) >> place & 1 != 0)).collect();
                logic.above(&count, &below)?
            }
        });
    }
    Ok(())
}
