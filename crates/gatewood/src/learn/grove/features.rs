//! Learning a grove over columns and the spans of them.
//!
//! Trees are learned over all spans there are, as columns after the others; a grove has those that its trees read.

use std::collections::{HashMap, HashSet};

use crate::platform::parallel::*;

use crate::Result;
use crate::bits::{BitView, WORD_BITS};
use crate::circuit::{Grove, Output, PatternLayer, Span, VoteTree};

/// The spans that trees may read: those that are not the same for all rows, and those of the start. These are where they
/// were when it was learned, if they are given again.
pub(super) fn candidates(bits: BitView<'_>, spans: Vec<Span>, start: Option<&Grove>) -> Vec<Span> {
    let mut all = telling(bits, spans);
    if let Some(start) = start {
        let known: HashSet<Span> = all.iter().cloned().collect();
        all.extend(start.spans().iter().filter(|span| !known.contains(span)).cloned());
    }
    all
}

/// Those of some spans that are not the same for all rows.
fn telling(bits: BitView<'_>, spans: Vec<Span>) -> Vec<Span> {
    spans.into_par_iter().filter(|span| is_telling(bits, span) == [true; 2]).collect()
}

/// Whether a span is one for some rows, and whether it is zero for some.
pub(crate) fn is_telling(bits: BitView<'_>, span: &Span) -> [bool; 2] {
    let columns: Vec<&[u64]> = span.columns().iter().map(|&column| bits.column(column as usize)).collect();
    let (mut ones, mut zeros) = (false, false);
    for word in 0..bits.rows().div_ceil(WORD_BITS) {
        let words = columns.iter().map(|column| column[word]);
        let said = if span.is_all() { words.fold(!0, |a, b| a & b) } else { words.fold(0, |a, b| a | b) };
        let rows = !0 >> (WORD_BITS - WORD_BITS.min(bits.rows() - word * WORD_BITS));
        ones |= said & rows != 0;
        zeros |= said & rows != rows;
        if ones && zeros {
            break;
        }
    }
    [ones, zeros]
}

/// The trees of a grove, its spans being among others.
pub(super) fn trees_among(grove: &Grove, spans: &[Span]) -> Result<Vec<VoteTree>> {
    let places: HashMap<&Span, u32> = spans.iter().zip(grove.inputs() as u32..).collect();
    let place = |leaf: u32| grove.span(leaf).map_or(leaf, |span| places[span]);
    grove.trees().iter().map(|tree| renumbered(tree, place)).collect()
}

/// A grove of trees that read some of the spans given: it has those.
pub(super) fn grove_of(
    inputs: usize,
    spans: &[Span],
    output: Output,
    bias: Vec<i32>,
    unit: f64,
    trees: &[VoteTree],
) -> Result<Grove> {
    let mut read: Vec<u32> = trees.iter().flat_map(VoteTree::leaves).copied().collect();
    read.retain(|&column| column as usize >= inputs);
    read.sort_unstable();
    read.dedup();
    let places: HashMap<u32, u32> = read.iter().copied().zip(inputs as u32..).collect();
    let place = |leaf: u32| *places.get(&leaf).unwrap_or(&leaf);
    let read = read.iter().map(|&column| spans[column as usize - inputs].clone()).collect();
    let trees = trees.iter().map(|tree| renumbered(tree, place)).collect::<Result<_>>()?;
    Grove::with_output(inputs, (read, PatternLayer::default()), output, bias, unit, trees)
}

/// A tree that reads other columns.
fn renumbered(tree: &VoteTree, column: impl Fn(u32) -> u32) -> Result<VoteTree> {
    let leaves = tree.leaves().iter().map(|&leaf| column(leaf)).collect();
    let (arities, tables, votes) = (tree.arities().to_vec(), tree.tables().to_vec(), tree.votes().to_vec());
    VoteTree::new(arities, tree.target(), leaves, tables, votes)
}
