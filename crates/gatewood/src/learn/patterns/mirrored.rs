//! Groves that look at an image and at its mirrored one, and add up what both say.

use std::collections::HashMap;

use crate::Result;
use crate::circuit::{Grove, Literal, Pattern, PatternLayer, Planes, Span, VoteTree};
use crate::encode::{BitMeaning, Encoder, Input, Test};

/// The encoder and the grove with a mirrored twin of every tree, each vote being worth half of what it was. `inputs` are all
/// columns of images whose lines have `width` pixels, in order: the twins may read some that the encoder does not.
///
/// # Errors
/// When the encoder is of other columns.
pub(super) fn with_mirrored(
    encoder: &Encoder,
    grove: &Grove,
    inputs: &[Input],
    width: usize,
) -> Result<(Encoder, Grove)> {
    let read = read(grove);
    let (whole, places) = encoder.extended(&mirrored(encoder, inputs, width)?, &read)?;
    let mut twins = vec![0; encoder.bits()];
    read.iter().zip(places).for_each(|(&bit, place)| twins[bit as usize] = place);
    let (spans, twin_spans) = spans(grove.spans(), &twins)?;
    let layer = patterns(grove.patterns(), &twins)?;
    // Where columns are: inputs, then spans, then those of patterns.
    let (old, new) = (grove.inputs(), whole.bits());
    let shared = new + spans.len();
    let place = |leaf: u32| match (leaf as usize).checked_sub(old) {
        None => leaf,
        Some(span) if span < grove.spans().len() => (new + span) as u32,
        Some(column) => (shared + column - grove.spans().len()) as u32,
    };
    let twin = |leaf: u32| match (leaf as usize).checked_sub(old) {
        None => twins[leaf as usize],
        Some(span) if span < grove.spans().len() => twin_spans[span] + new as u32,
        Some(_) => place(leaf) + grove.patterns().columns() as u32,
    };
    let mut trees = renumbered(grove.trees(), place)?;
    trees.extend(renumbered(grove.trees(), twin)?);
    let bias = grove.bias().iter().map(|bias| bias.saturating_mul(2)).collect();
    let grove = Grove::with_output(new, (spans, layer), grove.output(), bias, grove.unit() / 2.0, trees)?;
    Ok((whole, grove))
}

/// The inputs that a grove reads, in whatever way.
fn read(grove: &Grove) -> Vec<u32> {
    let leaves = grove.trees().iter().flat_map(VoteTree::leaves).copied();
    let leaves = leaves.filter(|&leaf| (leaf as usize) < grove.inputs());
    let spans = grove.spans().iter().flat_map(|span| span.columns().iter().copied());
    let mut read: Vec<u32> =
        leaves.chain(spans).chain(grove.patterns().planes().inputs().flatten()).collect();
    read.sort_unstable();
    read.dedup();
    read
}

/// An encoder that says of an image what another says of the mirrored one, bit by bit.
fn mirrored(encoder: &Encoder, inputs: &[Input], width: usize) -> Result<Encoder> {
    let column = |column: u32| {
        let position = encoder.inputs()[column as usize].position;
        let x = position % width;
        (position - x + width - 1 - x) as u32
    };
    let meanings = encoder.meanings().iter().map(|meaning| BitMeaning {
        column: column(meaning.column),
        test: match meaning.test {
            Test::Exceeds { other, margin } => Test::Exceeds { other: column(other), margin },
            ref test => test.clone(),
        },
    });
    Encoder::from_parts(inputs.len(), inputs.to_vec(), meanings.collect())
}

/// Spans and their twins, each once; and where the twins are.
fn spans(spans: &[Span], twins: &[u32]) -> Result<(Vec<Span>, Vec<u32>)> {
    let mut both = spans.to_vec();
    let mut known: HashMap<Span, u32> = spans.iter().cloned().zip(0..).collect();
    let mut places = Vec::with_capacity(spans.len());
    for span in spans {
        let mut columns: Vec<u32> = span.columns().iter().map(|&column| twins[column as usize]).collect();
        columns.sort_unstable();
        let twin = Span::new(span.is_all(), columns)?;
        places.push(*known.entry(twin.clone()).or_insert_with(|| {
            both.push(twin);
            both.len() as u32 - 1
        }));
    }
    Ok((both, places))
}

/// Patterns and after them their twins: the same patterns, over planes that say what is at the mirrored place.
fn patterns(layer: &PatternLayer, twins: &[u32]) -> Result<PatternLayer> {
    if layer.is_empty() {
        return Ok(PatternLayer::default());
    }
    let planes = layer.planes();
    let mirrored = planes.inputs().map(|input| input.map(|input| twins[input as usize]));
    let both = Planes::new(planes.width(), planes.height(), planes.inputs().chain(mirrored))?;
    let twin = |pattern: &Pattern| {
        let literal =
            |literal: &Literal| Literal { plane: literal.plane + planes.count() as u16, ..*literal };
        let (across, down) = pattern.shifts();
        let literals = pattern.literals().iter().map(literal).collect();
        Pattern::new(literals, (across as u16, down as u16), pattern.thresholds().to_vec())
    };
    let mut patterns = layer.patterns().to_vec();
    patterns.extend(layer.patterns().iter().map(twin).collect::<Result<Vec<_>>>()?);
    PatternLayer::new(both, patterns)
}

/// Trees that read other columns.
pub(super) fn renumbered(trees: &[VoteTree], column: impl Fn(u32) -> u32) -> Result<Vec<VoteTree>> {
    let renumber = |tree: &VoteTree| {
        let leaves = tree.leaves().iter().map(|&leaf| column(leaf)).collect();
        let (arities, tables) = (tree.arities().to_vec(), tree.tables().to_vec());
        VoteTree::new(arities, tree.target(), leaves, tables, tree.votes().to_vec())
    };
    trees.iter().map(renumber).collect()
}
