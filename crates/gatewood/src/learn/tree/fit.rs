//! The paper's tree: random leaves, greedy gates, hill climbing.

use crate::platform::parallel::*;

use super::greedy::{Branch, Column, Grower, Scratch, reserved};
use super::on_device::grow_on_device;
use super::view::{ByClass, RowsOfClasses};
use super::{TrainingView, TreeSettings};
use crate::bits::BitView;
use crate::bits::kernels::Kernels;
use crate::circuit::{Shape, Tree, TruthTable};
use crate::learn::device::Device;
use crate::learn::gate::{GateFitter, LogTable};
use crate::learn::{Observer, Tracker};
use crate::pool::in_pool;
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

/// Leaves drawn from one stream.
const LEAVES_A_STREAM: usize = 4096;

/// Pieces of work wanted for each thread, so that the last to finish is not much later than the first.
const PIECES_A_THREAD: usize = 32;

/// Learns a tree that tells rows labelled 1 from rows labelled 0.
///
/// The tree depends on the data and the settings alone, not on threads, SIMD level or machine.
///
/// ```
/// use gatewood::bits::BitMatrix;
/// use gatewood::learn::{Silent, TreeSettings, fit_tree};
/// // The exclusive or of two bits.
/// let bits = BitMatrix::from_bools(2, &[false, false, true, false, false, true, true, true])?;
/// let settings = TreeSettings { arity: 2, depth: 2, ..TreeSettings::default() };
/// let tree = fit_tree(bits.view(), &[0, 1, 1, 0], &settings, &Silent)?;
/// assert_eq!(tree.gates(), 3);
/// # Ok::<(), gatewood::Error>(())
/// ```
///
/// # Errors
/// When a setting is out of range, the data has no rows, one class or labels other than 0 and 1, the memory is not to
/// be had, or the observer stops the work.
pub fn fit_tree(
    bits: BitView<'_>,
    labels: &[u32],
    settings: &TreeSettings,
    observer: &dyn Observer,
) -> Result<Tree> {
    fit_tree_at(bits, labels, settings, observer, Kernels::best())
}

/// [`fit_tree`] with given kernels.
///
/// # Errors
/// As [`fit_tree`].
pub fn fit_tree_at(
    bits: BitView<'_>,
    labels: &[u32],
    settings: &TreeSettings,
    observer: &dyn Observer,
    kernels: Kernels,
) -> Result<Tree> {
    let order = || TrainingView::new(bits, labels, kernels);
    fit_by(order, grow_all, labels.len(), settings, observer, kernels)
}

/// [`fit_tree`] by a device.
///
/// # Errors
/// As [`fit_tree`]; also when the memory of the device does not hold the rows and the tree's outputs, or the device fails.
pub fn fit_tree_on(
    device: &dyn Device,
    bits: BitView<'_>,
    labels: &[u32],
    settings: &TreeSettings,
    observer: &dyn Observer,
) -> Result<Tree> {
    let kernels = Kernels::best();
    let order = || RowsOfClasses::new(bits, labels, kernels);
    fit_by(order, |grower| grow_on_device(grower, device), labels.len(), settings, observer, kernels)
}

/// Learns a tree, given how its rows are held, and how it is grown once its leaves are drawn.
fn fit_by<V: ByClass + Send>(
    order: impl Fn() -> Result<V> + Send + Sync,
    grow: impl Fn(&Grower<'_, V>) -> Result<Branch> + Send + Sync,
    rows: usize,
    settings: &TreeSettings,
    observer: &dyn Observer,
    kernels: Kernels,
) -> Result<Tree> {
    settings.check()?;
    let shape = Shape::new(settings.arity, settings.depth)?;
    let table_words = shape.gates.saturating_mul(TruthTable::words_for(settings.arity));
    // Leaves and tables are held twice while the parts are put together.
    crate::memory::check(
        shape.leaves.saturating_mul(4).saturating_add(table_words.saturating_mul(8)).saturating_mul(2),
    )
    .map_err(|error| error.at(format_args!("a tree of {} leaves", shape.leaves)))?;
    in_pool(settings.threads, || {
        let (view, logs) = join(order, || LogTable::new(rows));
        let view = view?;
        let leaves = random_leaves(settings.seed, shape.leaves, view.columns())?;
        let trials = trials_by_subtree(settings)?;
        let climbing = settings.climb.saturating_mul(settings.height as u64);
        let grower = Grower {
            view: &view,
            kernels,
            fitter: GateFitter::new(view.rows(), settings.unseen, logs),
            settings,
            leaves: &leaves,
            trials: &trials,
            tracker: Tracker::new(observer, climbing.saturating_add(shape.gates as u64)),
        };
        let branch = grow(&grower)?;
        let mut tables = reserved(table_words)?;
        branch.levels.iter().for_each(|level| tables.extend_from_slice(level));
        Tree::new(settings.arity, settings.depth, view.columns(), branch.leaves, tables)
    })
}

/// A uniformly random column for every leaf.
pub(super) fn random_leaves(seed: u64, leaves: usize, columns: usize) -> Result<Vec<u32>> {
    let mut columns_of_leaves = reserved(leaves)?;
    columns_of_leaves.resize(leaves, 0u32);
    columns_of_leaves.par_chunks_mut(LEAVES_A_STREAM).enumerate().for_each(|(position, leaves)| {
        let mut stream = Stream::new(seed, Purpose::Leaves, position as u64);
        leaves.iter_mut().for_each(|leaf| *leaf = stream.below(columns as u32));
    });
    Ok(columns_of_leaves)
}

/// How many of the trials fall on each subtree of the climbing height, every leaf being as likely as any other.
pub(super) fn trials_by_subtree(settings: &TreeSettings) -> Result<Vec<u32>> {
    if settings.climb == 0 {
        return Ok(Vec::new());
    }
    let too_many = || Error::setting(format!("{} trials are more than can be counted", settings.climb));
    let subtrees = settings.arity.pow((settings.depth - settings.height) as u32);
    let mut trials = reserved(subtrees)?;
    if subtrees == 1 {
        trials.push(u32::try_from(settings.climb).map_err(|_| too_many())?);
        return Ok(trials);
    }
    trials.resize(subtrees, 0u32);
    let mut stream = Stream::new(settings.seed, Purpose::Trials, 0);
    for _ in 0..settings.climb {
        let subtree = &mut trials[stream.below(subtrees as u32) as usize];
        *subtree = subtree.checked_add(1).ok_or_else(too_many)?;
    }
    Ok(trials)
}

/// Grows the whole tree: subtrees side by side, then the levels above them.
fn grow_all(grower: &Grower<'_>) -> Result<Branch> {
    let (arity, depth) = (grower.settings.arity, grower.settings.depth);
    let lowest = if grower.trials.is_empty() { 1 } else { grower.settings.height };
    let wanted = PIECES_A_THREAD * current_num_threads();
    // The highest level that has enough gates, but never below the subtrees that are climbed as a whole.
    let mut split = depth;
    while split > lowest && arity.pow((depth - split) as u32) < wanted {
        split -= 1;
    }
    let pieces = arity.pow((depth - split) as u32);
    let grown: Vec<(Branch, Column)> = (0..pieces)
        .into_par_iter()
        .map_init(
            || Scratch::new(grower, split),
            |scratch, index| {
                let scratch = scratch.as_mut().map_err(|error| error.clone())?;
                let mut branch = Branch::new(split);
                let mut output = Column::new(grower.view)?;
                grower.grow(split, index, scratch, &mut output, &mut branch)?;
                grower.report_piece(split)?;
                Ok((branch, output))
            },
        )
        .collect::<Result<_>>()?;

    let mut whole = Branch::new(depth);
    let mut columns = Vec::with_capacity(pieces);
    for (branch, column) in grown {
        whole.leaves.extend(branch.leaves);
        for (level, tables) in whole.levels.iter_mut().zip(branch.levels) {
            level.extend(tables);
        }
        columns.push(column);
    }
    for level in split + 1..=depth {
        let fitted: Vec<(Column, Vec<u64>)> = columns
            .par_chunks(arity)
            .map(|children| {
                let mut output = Column::new(grower.view)?;
                let mut table = Vec::new();
                let inputs = children.iter().map(|child| (&child.words[..], child.ones));
                grower.fit(level, inputs, &mut output, &mut table);
                grower.tracker.advance(1)?;
                Ok((output, table))
            })
            .collect::<Result<_>>()?;
        columns.clear();
        for (column, table) in fitted {
            columns.push(column);
            whole.levels[level - 1].extend(table);
        }
    }
    Ok(whole)
}
