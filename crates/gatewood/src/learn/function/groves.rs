//! Groves for functions that have no known shape, as large as the ANDs allow.

use super::samples::Samples;
use super::sketch::Sketch;
use crate::Result;
use crate::circuit::{Grove, GroveOutputs, Netlist, Signal, SumsOf, column_names};
use crate::learn::{Examples, GroveSettings, GroveTask, Observer, fit_grove};

/// A shape of trees that is tried.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Inputs of the gates of each level, the root last.
    pub(super) arities: &'static [usize],
    pub(super) vote_bits: u32,
    pub(super) rounds: usize,
    pub(super) learning_rate: f64,
}

/// Shapes that suit functions without noise: one gate a tree, or small trees.
pub(super) const SHAPES: [Shape; 4] = [
    Shape { arities: &[6], vote_bits: 3, rounds: 100, learning_rate: 0.3 },
    Shape { arities: &[8], vote_bits: 2, rounds: 60, learning_rate: 0.4 },
    Shape { arities: &[10], vote_bits: 2, rounds: 30, learning_rate: 0.5 },
    Shape { arities: &[3, 4], vote_bits: 3, rounds: 150, learning_rate: 0.25 },
];

/// Trials of hill climbing for each tree.
const CLIMB: u32 = 3_000;

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let arities: Vec<String> = self.arities.iter().map(usize::to_string).collect();
        write!(f, "grove of gates of {} inputs", arities.join(" and "))
    }
}

/// A grove over the columns and some exclusive ors of them, of no more ANDs than there may be.
pub(super) fn grove(
    samples: &Samples,
    sums: &[Vec<usize>],
    shape: Shape,
    max_ands: usize,
    (seed, threads): (u64, usize),
    observer: &dyn Observer,
) -> Result<Option<Netlist>> {
    let wide = samples.widened(sums)?;
    let targets = wide.classes();
    if !targets.contains(&0) || !targets.contains(&1) {
        return Ok(None);
    }
    let examples = Examples { bits: wide.bits.view(), targets: &targets, weights: None };
    let depth = shape.arities.len();
    let settings = GroveSettings {
        arity: Some(shape.arities[0]),
        root_arity: Some(shape.arities[depth - 1]),
        depth: Some(depth),
        climb: Some(CLIMB),
        rounds: Some(shape.rounds),
        trees_per_round: Some(1),
        learning_rate: Some(shape.learning_rate),
        vote_bits: Some(shape.vote_bits),
        candidates: Some(1),
        seed,
        threads,
        ..GroveSettings::default()
    };
    let fit = fit_grove(&GroveTask::new(examples, 2), &settings, observer)?;
    let lower = |trees: usize| -> Result<(usize, Netlist)> {
        let grove = &fit.grove;
        let first = Grove::new(
            grove.inputs(),
            2,
            grove.bias().to_vec(),
            grove.unit(),
            grove.trees()[..trees].to_vec(),
        )?;
        let names = column_names(wide.columns());
        let netlist = Netlist::from_grove_with(&first, names, GroveOutputs::default(), SumsOf::FullAdders)?;
        let netlist = over_columns(samples.columns(), sums, &netlist)?;
        Ok((netlist.ands(), netlist))
    };
    // The most trees that fit, between those that do and those that do not.
    let all = fit.grove.trees().len();
    let (ands, whole) = lower(all)?;
    if ands <= max_ands {
        return Ok(Some(whole));
    }
    let (mut fits, mut over) = (0, all);
    let mut best = None;
    while over - fits > 1 + over / 32 {
        let middle = (fits + over) / 2;
        let (ands, netlist) = lower(middle)?;
        if ands <= max_ands {
            (fits, best) = (middle, Some(netlist));
        } else {
            over = middle;
        }
    }
    Ok(best)
}

/// A circuit over columns and exclusive ors of them as one over the columns alone.
fn over_columns(columns: usize, sums: &[Vec<usize>], netlist: &Netlist) -> Result<Netlist> {
    let mut sketch = Sketch::new(columns)?;
    let mut inputs: Vec<Signal> = (0..columns).map(|column| sketch.input(column)).collect();
    for sum in sums {
        inputs.push(sketch.sum(sum)?);
    }
    let output = sketch.add(netlist, &inputs)?[0];
    sketch.finish(output)
}
