//! Growing a tree by a device: it counts rows and writes the outputs of gates, this process chooses their tables.

use super::greedy::{Branch, Grower, reserved};
use crate::circuit::TruthTable;
use crate::learn::device::{Device, DeviceSheet};
use crate::platform::parallel::*;
use crate::{Error, Result};

/// Gates that are fitted at a time, so that their counts take little memory and work is stopped soon.
const GATES_AT_ONCE: usize = 1 << 14;

/// Outputs kept on a device: those of pieces of the tree of some height, and two places for what levels say in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    height: usize,
    /// Where the places begin, and where they end.
    places: [usize; 2],
    end: usize,
}

impl Layout {
    /// The one of the highest pieces that fits.
    fn new(arity: usize, depth: usize, room: usize) -> Option<Self> {
        let gates = |levels: usize| arity.saturating_pow(levels as u32);
        (1..=depth).rev().find_map(|height| {
            let pieces = gates(depth - height);
            // A level of a piece or of the levels above pieces, and the next.
            let level = |below: usize| {
                let piece = height.checked_sub(below).map_or(0, gates);
                piece.max((depth - height).checked_sub(below).map_or(0, gates))
            };
            let places = [pieces, pieces.saturating_add(level(1))];
            let end = places[1].saturating_add(level(2));
            (end <= room).then_some(Self { height, places, end })
        })
    }
}

/// Grows the whole tree, without hill climbing.
pub(super) fn grow_there(grower: &Grower<'_>, device: &dyn Device) -> Result<Branch> {
    let (arity, depth) = (grower.settings.arity, grower.settings.depth);
    let wanted = Layout::new(arity, depth, usize::MAX).map_or(0, |layout| layout.end);
    let sheet = device.sheet(grower.view, wanted)?;
    let layout = Layout::new(arity, depth, sheet.room()).ok_or_else(|| {
        Error::too_large(format!(
            "the outputs of a tree of arity {arity} and depth {depth} do not fit in the memory of {}: use --device cpu",
            device.name()
        ))
    })?;
    let mut branch = Branch::new(depth);
    branch.leaves = reserved(grower.leaves.len())?;
    branch.leaves.extend_from_slice(grower.leaves);
    let inputs = grower.view.columns() as u32;
    // The first level is the widest, and has the wider place.
    let place = |level: usize| inputs + layout.places[(level + 1) % 2] as u32;
    let piece_leaves = arity.pow(layout.height as u32);
    for (piece, leaves) in grower.leaves.chunks(piece_leaves).enumerate() {
        let mut read = leaves.to_vec();
        for level in 1..=layout.height {
            let first = if level == layout.height { inputs + piece as u32 } else { place(level) };
            read = fit_level(grower, &*sheet, level, &read, first, &mut branch)?;
        }
    }
    let pieces = arity.pow((depth - layout.height) as u32);
    let mut read: Vec<u32> = (inputs..inputs + pieces as u32).collect();
    for level in layout.height + 1..=depth {
        read = fit_level(grower, &*sheet, level, &read, place(level - layout.height), &mut branch)?;
    }
    Ok(branch)
}

/// Fits the gates of a level to the columns that they read, and writes their outputs from a column on; gives these.
fn fit_level(
    grower: &Grower<'_>,
    sheet: &dyn DeviceSheet,
    level: usize,
    inputs: &[u32],
    first: u32,
    branch: &mut Branch,
) -> Result<Vec<u32>> {
    let arity = grower.settings.arity;
    let words = TruthTable::words_for(arity);
    let gates = inputs.len() / arity;
    for (part, inputs) in inputs.chunks(GATES_AT_ONCE * arity).enumerate() {
        let counts = sheet.count(arity, inputs)?;
        let mut tables = vec![0u64; inputs.len() / arity * words];
        tables.par_chunks_mut(words).zip(counts.par_chunks(2 << arity)).for_each(|(table, counts)| {
            let (zeros, ones) = counts.split_at(1 << arity);
            grower.fit_counts(level, zeros, ones, table);
        });
        if level < grower.settings.depth {
            sheet.evaluate(arity, inputs, &tables, first + (part * GATES_AT_ONCE) as u32)?;
        }
        branch.levels[level - 1].extend(tables);
        grower.tracker.advance((inputs.len() / arity) as u64)?;
    }
    Ok((first..first + gates as u32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_as_high_as_memory_allows() {
        let of = |room| Layout::new(4, 5, room).map(|layout| (layout.height, layout.places, layout.end));
        // All at once: the root, the 256 gates at the bottom and the 64 above them.
        assert_eq!(of(usize::MAX), Some((5, [1, 257], 321)));
        assert_eq!(of(320), Some((4, [4, 68], 84)));
        assert_eq!(of(83), Some((3, [16, 32], 36)));
        assert_eq!(of(35), None);
        assert_eq!(Layout::new(1, 3, 3), Some(Layout { height: 3, places: [1, 2], end: 3 }));
        assert_eq!(Layout::new(2, 1, 2), Some(Layout { height: 1, places: [1, 2], end: 2 }));
    }
}
