//! Growing a tree by a device: it fits and climbs pieces of the tree, level by level; of the gates above these it counts the rows and
//! writes the outputs, and this process chooses their tables.

use super::climb::drawn_trials;
use super::greedy::{Branch, Grower, gates_below, reserved};
use super::view::{ByClass, RowsOfClasses};
use super::{Criterion, TreeSettings};
use crate::circuit::TruthTable;
use crate::learn::device::{Device, DeviceSheet, DeviceTreeClimb, SheetToLoad};
use crate::platform::parallel::*;
use crate::{Error, Result};

/// Gates that are fitted at a time, so that their counts take little memory and work is stopped soon.
const GATES_AT_ONCE: usize = 1 << 14;

type DeviceGrower<'a> = Grower<'a, RowsOfClasses<'a>>;

/// Pieces that are grown together at the most, so that work is stopped soon.
const MOST_PIECES: usize = 1 << 15;

/// Outputs kept on a device: those of pieces of the tree of some height, and two places for what levels say in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    height: usize,
    /// Pieces that are grown side by side.
    together: usize,
    /// Where the places begin, and where they end.
    places: [usize; 2],
    end: usize,
}

impl Layout {
    /// The one of the highest pieces that fits; pieces that are climbed are as high as the climb. As many as fit are grown
    /// together.
    fn new(settings: &TreeSettings, room: usize) -> Option<Self> {
        let depth = settings.depth;
        let gates = |levels: usize| settings.arity.saturating_pow(levels as u32);
        let of = |height: usize| {
            let pieces = gates(depth - height);
            // A level of the levels above pieces, and the next.
            let level = |below: usize| (depth - height).checked_sub(below).map_or(0, gates);
            let places = [pieces, pieces.saturating_add(level(1))];
            let end = places[1].saturating_add(level(2));
            // Pieces are grown where the levels above them say later what they say.
            let each = DeviceTreeClimb::outputs(settings.arity, height).max(1);
            let together = (room.saturating_sub(pieces) / each).min(pieces).min(MOST_PIECES);
            let end = end.max(pieces.saturating_add(together.saturating_mul(each)));
            (together > 0 && end <= room).then_some(Self { height, together, places, end })
        };
        match settings.climb {
            0 => (1..=depth).rev().find_map(of),
            _ => of(settings.height),
        }
    }
}

/// Grows the whole tree.
pub(super) fn grow_on_device(grower: &DeviceGrower<'_>, device: &dyn Device) -> Result<Branch> {
    let (arity, depth) = (grower.settings.arity, grower.settings.depth);
    let wanted = Layout::new(grower.settings, usize::MAX).map_or(0, |layout| layout.end);
    let rows = SheetToLoad { bits: grower.view.bits, rows: &grower.view.rows };
    let all = rows.bits.rows() as u32;
    let (sheet, logs) = join(|| device.sheet(&rows, wanted), || grower.fitter.logs().list(all));
    let sheet = sheet?;
    let layout = Layout::new(grower.settings, sheet.room()).ok_or_else(|| {
        Error::too_large(format!(
            "the outputs of a tree of arity {arity} and depth {depth} do not fit in the memory of {}: use --device cpu",
            device.name()
        ))
    })?;
    let mut branch = Branch::new(depth);
    branch.leaves = reserved(grower.leaves.len())?;
    let inputs = grower.view.columns() as u32;
    // The first level is the widest, and has the wider place.
    let place = |level: usize| inputs + layout.places[(level + 1) % 2] as u32;
    grow_pieces(grower, &*sheet, layout, &logs, &mut branch)?;
    let pieces = arity.pow((depth - layout.height) as u32);
    let mut read: Vec<u32> = (inputs..inputs + pieces as u32).collect();
    for level in layout.height + 1..=depth {
        read = fit_level(grower, &*sheet, level, &read, place(level - layout.height), &mut branch)?;
    }
    Ok(branch)
}

/// Fits the gates of a level to the columns that they read, and writes their outputs from a column on; gives these.
fn fit_level(
    grower: &DeviceGrower<'_>,
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

/// Fits and climbs all pieces, some at a time.
fn grow_pieces(
    grower: &DeviceGrower<'_>,
    sheet: &dyn DeviceSheet,
    layout: Layout,
    logs: &[i64],
    branch: &mut Branch,
) -> Result<()> {
    let (settings, height) = (grower.settings, layout.height);
    let arity = settings.arity;
    let (inputs, is_whole) = (grower.view.columns() as u32, height == settings.depth);
    let words = TruthTable::words_for(arity);
    let piece_leaves = arity.pow(height as u32);
    for (part, leaves) in grower.leaves.chunks(piece_leaves * layout.together).enumerate() {
        let begun = part * layout.together;
        let pieces = begun..begun + leaves.len() / piece_leaves;
        let trials: Vec<Vec<[u32; 2]>> =
            pieces.clone().into_par_iter().map(|piece| drawn_trials(grower, piece)).collect();
        let (leaves, tables) = sheet.climb(&DeviceTreeClimb {
            settings,
            height,
            judged_by: if is_whole { Criterion::Accuracy } else { settings.criterion },
            leaves,
            trials: &trials,
            first: inputs + layout.places[0] as u32,
            output: (!is_whole).then_some(inputs + begun as u32),
            logs,
            done: &|trials| grower.tracker.advance(trials * height as u64),
        })?;
        branch.leaves.extend(leaves);
        for tables in tables.chunks(DeviceTreeClimb::gates(arity, height) * words) {
            let mut rest = tables;
            for level in 1..=height {
                let (here, above) = rest.split_at(arity.pow((height - level) as u32) * words);
                branch.levels[level - 1].extend_from_slice(here);
                rest = above;
            }
        }
        grower.tracker.advance(pieces.len() as u64 * gates_below(arity, height))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_as_high_as_memory_allows() {
        let settings = |arity, depth, climb| TreeSettings { arity, depth, climb, ..TreeSettings::default() };
        let of = |settings: &TreeSettings, room| {
            let layout = Layout::new(settings, room)?;
            Some((layout.height, layout.together, layout.places, layout.end))
        };
        // All at once: 340 gates below the last, and five that are made anew where trials are made.
        let greedy = settings(4, 5, 0);
        assert_eq!(of(&greedy, usize::MAX), Some((5, 1, [1, 1], 345)));
        assert_eq!(of(&greedy, 344), Some((4, 3, [4, 5], 265)));
        assert_eq!(of(&greedy, 100), Some((4, 1, [4, 5], 91)));
        assert_eq!(of(&greedy, 89), Some((3, 3, [16, 20], 82)));
        assert_eq!(of(&settings(1, 3, 0), 5), Some((3, 1, [1, 1], 5)));
        assert_eq!(of(&settings(2, 1, 0), 2), Some((1, 1, [1, 1], 2)));
        // 16 subtrees of three levels, each with 20 gates below its last and two that a trial makes.
        let climbed = settings(4, 5, 1);
        assert_eq!(of(&climbed, usize::MAX), Some((3, 16, [16, 20], 368)));
        assert_eq!(of(&climbed, 100), Some((3, 3, [16, 20], 82)));
        assert_eq!(of(&climbed, 37), None);
    }
}
