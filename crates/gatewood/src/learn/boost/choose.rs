//! Choosing the shape of the trees and the number of rounds by what held-out rows say.

use rayon::prelude::*;

use super::fit::Setup;
use super::settings::GrovePlan;
use super::state::{State, WEIGHT_ONE};
use crate::Result;
use crate::learn::Tracker;
use crate::random::{Purpose, Stream};

/// Parts the rows are split into; each part is held out in turn, as many as the plan has folds.
pub(super) const PARTS: u32 = 5;

/// Fewest rounds without improvement after which a fold ends.
const FEWEST: usize = 20;

/// The part of the loss that it must fall by to be called better, and what it must fall by in any case.
const BETTER: (f64, f64) = (0.002, 0.0001);

/// The plan with the shape and the rounds whose loss on held-out rows is least.
pub(super) fn choose(setup: &Setup<'_>, plan: &GrovePlan, tracker: &Tracker<'_>) -> Result<GrovePlan> {
    let parts = parts(setup.train.labels, setup.classes, plan.seed);
    let pieces: Vec<(usize, usize)> =
        (0..plan.shapes.len()).flat_map(|shape| (0..plan.folds).map(move |fold| (shape, fold))).collect();
    let losses: Vec<Vec<f64>> = pieces
        .into_par_iter()
        .with_max_len(1)
        .map(|(shape, fold)| {
            let plan = GrovePlan { arities: plan.shapes[shape].clone(), ..plan.clone() };
            fold_losses(setup, plan, &parts, fold as u32, tracker)
        })
        .collect::<Result<_>>()?;
    let mut best = (f64::INFINITY, 0, 1);
    for (shape, losses) in losses.chunks(plan.folds).enumerate() {
        let longest = losses.iter().map(Vec::len).max().unwrap_or(0);
        for round in 0..longest {
            // A fold that ended early stays where it was.
            let loss = losses.iter().map(|losses| losses[round.min(losses.len() - 1)]).sum::<f64>();
            if loss < best.0 * (1.0 - BETTER.0) - BETTER.1 * plan.folds as f64 {
                best = (loss, shape, round + 1);
            }
        }
    }
    Ok(GrovePlan { arities: plan.shapes[best.1].clone(), rounds: best.2, ..plan.clone() })
}

/// The part each row belongs to, the classes spread evenly.
fn parts(labels: &[u32], classes: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    Stream::new(seed, Purpose::Split, 0).shuffle(&mut order);
    let mut next = vec![0u32; classes];
    let mut parts = vec![0; labels.len()];
    for row in order {
        let next = &mut next[labels[row] as usize];
        parts[row] = *next % PARTS;
        *next += 1;
    }
    parts
}

/// The loss on one part after each round of learning from the others.
fn fold_losses(
    setup: &Setup<'_>,
    plan: GrovePlan,
    parts: &[u32],
    fold: u32,
    tracker: &Tracker<'_>,
) -> Result<Vec<f64>> {
    // Rows of weight zero are not learned from, but their margins are there to be judged.
    let weights: Vec<u32> = parts
        .iter()
        .enumerate()
        .map(|(row, &part)| if part == fold { 0 } else { *setup.weights.get(row).unwrap_or(&WEIGHT_ONE) })
        .collect();
    let booster = setup.booster(plan);
    let mut state = State::new(setup.train, weights, setup.margins()?, &booster.link);
    let mut losses: Vec<f64> = Vec::new();
    let mut best = 0;
    let mut gates = setup.base.gates();
    for round in 0..booster.plan.rounds {
        let room = booster.plan.room(gates);
        let grown = booster.round(setup.first_round(&booster.plan) + round, &mut state, room)?;
        if grown.is_empty() {
            break;
        }
        gates += grown.iter().map(|grown| grown.tree.gates()).sum::<usize>();
        let (_, loss) = state.judge(|row| parts[row] == fold);
        losses.push(loss);
        if loss < losses[best] * (1.0 - BETTER.0) - BETTER.1 {
            best = round;
        }
        tracker.check()?;
        if round - best > FEWEST.max(best / 4) {
            break;
        }
    }
    if losses.is_empty() {
        losses.push(f64::MAX);
    }
    Ok(losses)
}
