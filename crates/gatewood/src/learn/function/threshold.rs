//! Weighted sums of columns compared with a threshold.

use super::samples::Samples;
use crate::Result;
use crate::circuit::{Grove, GroveOutputs, Netlist, SumsOf, Target, VoteTree, column_names};

/// Passes over the rows, and columns up to which sums are tried.
const PASSES: usize = 60;
const MOST_COLUMNS: usize = 2_000;

/// Weighted sums whose weights have so many bits.
pub(super) fn weighted_sum(samples: &Samples, bits: u32) -> Result<Option<Netlist>> {
    if samples.columns() > MOST_COLUMNS {
        return Ok(None);
    }
    let weights = averaged(samples);
    let largest = weights.iter().map(|weight| weight.abs()).max().unwrap_or(0);
    if largest == 0 {
        return Ok(None);
    }
    let most = (1i64 << bits) - 1;
    let rounded: Vec<i32> = weights
        .iter()
        .map(|&weight| ((2 * weight * most + weight.signum() * largest) / (2 * largest)) as i32)
        .collect();
    let bias = best_bias(samples, &rounded);
    let trees = rounded.iter().enumerate().filter(|(_, weight)| **weight != 0);
    let trees = trees
        .map(|(column, &weight)| {
            VoteTree::new(vec![1], Target::One(0), vec![column as u32], vec![], vec![0, weight])
        })
        .collect::<Result<Vec<_>>>()?;
    let grove = Grove::new(samples.columns(), 2, vec![bias], 1.0, trees)?;
    let names = column_names(samples.columns());
    Netlist::from_grove_with(&grove, names, GroveOutputs::default(), SumsOf::FullAdders).map(Some)
}

/// The rows as lists of the columns that are one.
fn ones(samples: &Samples) -> Vec<Vec<u32>> {
    let mut ones = vec![Vec::new(); samples.rows()];
    for column in 0..samples.columns() {
        for (word, &bits) in samples.column(column).iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                ones[word * 64 + bits.trailing_zeros() as usize].push(column as u32);
                bits &= bits - 1;
            }
        }
    }
    ones
}

/// The weights of a perceptron, summed over all steps.
fn averaged(samples: &Samples) -> Vec<i64> {
    let (ones, columns) = (ones(samples), samples.columns());
    // Weights, and their sums over time: `total` is `weights * now - delayed`.
    let (mut weights, mut delayed) = (vec![0i64; columns], vec![0i64; columns]);
    let (mut bias, mut now) = (0i64, 1i64);
    for _ in 0..PASSES {
        let mut wrong = 0;
        for (row, ones) in ones.iter().enumerate() {
            let sum = bias + ones.iter().map(|&column| weights[column as usize]).sum::<i64>();
            let label = samples.label[row / 64] >> (row % 64) & 1 != 0;
            if (sum > 0) != label {
                let step = if label { 1 } else { -1 };
                bias += step * (columns as i64 / 4).max(1);
                for &column in ones {
                    weights[column as usize] += step;
                    delayed[column as usize] += step * now;
                }
                wrong += 1;
            }
            now += 1;
        }
        if wrong == 0 {
            return weights;
        }
    }
    weights.iter().zip(&delayed).map(|(weight, delayed)| weight * now - delayed).collect()
}

/// What to add to the sum so that the most rows are above zero just where the output is one.
fn best_bias(samples: &Samples, weights: &[i32]) -> i32 {
    let mut sums: Vec<(i32, bool)> = ones(samples)
        .iter()
        .enumerate()
        .map(|(row, ones)| {
            let sum = ones.iter().map(|&column| weights[column as usize]).sum();
            (sum, samples.label[row / 64] >> (row % 64) & 1 != 0)
        })
        .collect();
    sums.sort_unstable();
    // All are above: as many right as there are ones. Then the lowest sums go below, one value after the other.
    let mut right = sums.iter().filter(|(_, label)| *label).count() as i64;
    let mut best = (right, sums.first().map_or(0, |(sum, _)| sum - 1));
    for (place, &(sum, label)) in sums.iter().enumerate() {
        right += if label { -1 } else { 1 };
        let is_last = sums.get(place + 1).is_none_or(|next| next.0 != sum);
        if is_last && right > best.0 {
            best = (right, sum);
        }
    }
    -best.1
}
