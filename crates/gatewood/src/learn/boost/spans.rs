//! Learning a grove over columns and the spans of them.
//!
//! Spans are written out as columns, trees are learned over all, and the spans that no tree reads are dropped again.

use std::collections::HashMap;
use std::time::Instant;

use rayon::prelude::*;

use super::fit::{GroveFit, Task, fit};
use super::settings::GroveSettings;
use super::state::Examples;
use crate::bits::kernels::Kernels;
use crate::bits::{BitView, WORD_BITS};
use crate::circuit::{Grove, Span, VoteTree, widen};
use crate::learn::Observer;
use crate::pool::in_pool;
use crate::{Error, Result};

/// [`fit_grove`](super::fit_grove) for trees that may read spans besides the columns; the grove has those they read.
///
/// ```
/// use gatewood::bits::BitMatrix;
/// use gatewood::circuit::Span;
/// use gatewood::learn::{Examples, GroveSettings, Ignore, fit_grove_with_spans};
/// let bits = BitMatrix::from_bools(2, &[false, false, true, false, false, true, true, true])?;
/// let rows = Examples { bits: bits.view(), labels: &[0, 1, 1, 1], weights: None };
/// let settings = GroveSettings {
///     arity: Some(1),
///     depth: Some(1),
///     rounds: Some(20),
///     learning_rate: Some(0.5),
///     apart: Some(0.0),
///     ..GroveSettings::default()
/// };
/// let fit = fit_grove_with_spans(vec![Span::any(vec![0, 1])?], &rows, 2, None, None, &settings, &Ignore)?;
/// assert_eq!(fit.grove.predict(bits.view(), 1)?, [0, 1, 1, 1]);
/// # Ok::<(), gatewood::Error>(())
/// ```
///
/// # Errors
/// As [`fit_grove`](super::fit_grove), and when a span reads a column that is not there.
pub fn fit_grove_with_spans(
    spans: Vec<Span>,
    train: &Examples<'_>,
    classes: usize,
    validation: Option<&Examples<'_>>,
    start: Option<&Grove>,
    settings: &GroveSettings,
    observer: &dyn Observer,
) -> Result<GroveFit> {
    let begun = Instant::now();
    let (bits, kernels) = (train.bits.columns(), Kernels::best());
    let own = start.map_or(&[][..], Grove::spans);
    // What does not fit is told there, too.
    let fits = validation.is_none_or(|held| held.bits.columns() == bits)
        && start.is_none_or(|start| start.inputs() == bits);
    if spans.is_empty() && own.is_empty() || !fits {
        return fit(&Task { train, bits, classes, validation, start }, settings, observer, kernels);
    }
    if let Some(column) = spans.iter().flat_map(Span::columns).find(|&&column| column as usize >= bits) {
        return Err(Error::data(format!("a span reads column {column} of {bits}")));
    }
    let widened =
        |examples: &Examples<'_>, spans: &[Span]| in_pool(settings.threads, || widen(examples.bits, spans));
    // Those of the start are where they were when it was learned, if they are given again.
    let mut all = in_pool(settings.threads, || Ok(telling(train.bits, spans)))?;
    let mut places: HashMap<Span, usize> = all.iter().cloned().zip(bits..).collect();
    for span in own.iter().filter(|span| !places.contains_key(span)) {
        all.push(span.clone());
    }
    places.extend(all.iter().cloned().zip(bits..));
    let wide = widened(train, &all)?;
    let train = Examples { bits: wide.view(), ..*train };
    let held = validation.map(|held| widened(held, &all)).transpose()?;
    let validation =
        validation.zip(held.as_ref()).map(|(held, bits)| Examples { bits: bits.view(), ..*held });
    let start = start.map(|start| {
        let place = |leaf: u32| start.span(leaf).map_or(leaf, |span| places[span] as u32);
        let trees = start.trees().iter().map(|tree| renumbered(tree, place)).collect::<Result<_>>()?;
        Grove::new(wide.columns(), start.classes(), start.bias().to_vec(), start.unit(), trees)
    });
    let start = start.transpose()?;
    let task = Task { train: &train, bits, classes, validation: validation.as_ref(), start: start.as_ref() };
    // Writing spans out is part of the time there is.
    let left = |seconds: f64| {
        if seconds > 0.0 { (seconds - begun.elapsed().as_secs_f64()).max(1e-3) } else { seconds }
    };
    let budget_seconds = settings.budget_seconds.map(left);
    let mut learned = fit(&task, &GroveSettings { budget_seconds, ..settings.clone() }, observer, kernels)?;
    learned.plan.budget_seconds = settings.budget_seconds;
    learned.grove = with_spans(&learned.grove, bits, &all)?;
    let shares = learned.importance.split_off(bits);
    for (span, share) in all.iter().zip(shares) {
        let share = share / span.columns().len() as f64;
        span.columns().iter().for_each(|&column| learned.importance[column as usize] += share);
    }
    Ok(learned)
}

/// Those of some spans that are not the same for all rows.
fn telling(bits: BitView<'_>, spans: Vec<Span>) -> Vec<Span> {
    let is_telling = |span: &Span| {
        let columns: Vec<&[u64]> =
            span.columns().iter().map(|&column| bits.column(column as usize)).collect();
        let (mut ones, mut zeros) = (false, false);
        for word in 0..bits.rows().div_ceil(WORD_BITS) {
            let words = columns.iter().map(|column| column[word]);
            let said = if span.is_all() { words.fold(!0, |a, b| a & b) } else { words.fold(0, |a, b| a | b) };
            let rows = !0 >> (WORD_BITS - WORD_BITS.min(bits.rows() - word * WORD_BITS));
            ones |= said & rows != 0;
            zeros |= said & rows != rows;
            if ones && zeros {
                return true;
            }
        }
        false
    };
    spans.into_par_iter().filter(is_telling).collect()
}

/// A grove over columns and spans written out, as one of spans: those that trees read.
fn with_spans(grove: &Grove, inputs: usize, spans: &[Span]) -> Result<Grove> {
    let mut read: Vec<u32> = grove.trees().iter().flat_map(VoteTree::leaves).copied().collect();
    read.retain(|&column| column as usize >= inputs);
    read.sort_unstable();
    read.dedup();
    let places: HashMap<u32, u32> = read.iter().copied().zip(inputs as u32..).collect();
    let place = |leaf: u32| *places.get(&leaf).unwrap_or(&leaf);
    Grove::with_spans(
        inputs,
        read.iter().map(|&column| spans[column as usize - inputs].clone()).collect(),
        grove.classes(),
        grove.bias().to_vec(),
        grove.unit(),
        grove.trees().iter().map(|tree| renumbered(tree, place)).collect::<Result<_>>()?,
    )
}

/// A tree that reads other columns.
fn renumbered(tree: &VoteTree, column: impl Fn(u32) -> u32) -> Result<VoteTree> {
    let leaves = tree.leaves().iter().map(|&leaf| column(leaf)).collect();
    let (arities, tables, votes) = (tree.arities().to_vec(), tree.tables().to_vec(), tree.votes().to_vec());
    VoteTree::new(arities, tree.target(), leaves, tables, votes)
}
