//! Engines: where rows live, and who does the phases of a round on them.
//!
//! A round has six phases. Each takes integers and gives integers, so every engine learns the same grove bit for bit:
//!
//! 1. **weigh**: gradients become sampling weights ([`Engine::draw`]);
//! 2. **draw**: rows are picked by these weights, by position and seed ([`Engine::draw`]);
//! 3. **gather**: the bits of the picked rows become a [`Sample`] ([`Engine::gather`]);
//! 4. **search**: hill climbing on the sample ([`super::search`]), or by the engine itself ([`Engine::search`]);
//! 5. **sum**: gradient and hessian by root address ([`Engine::address`], [`Engine::sum`]);
//! 6. **update**: votes, margins, gradients and loss ([`Engine::update`], [`Engine::loss`]).
//!
//! - [`Engine`]: the seam. [`CpuEngine`]: rows in this process, threads and SIMD. [`DeviceEngine`]: rows on an accelerator,
//!   behind the seam of [`super::device`].
//! - [`ColumnOrder`]: the order in which columns are packed into words of rows.

mod addresses;
mod cpu;
mod device;
mod draw;
mod made;
pub(crate) mod remote;
mod rows;

use std::sync::Arc;

pub(crate) use addresses::RowAddresses;
pub(crate) use cpu::CpuEngine;
pub(crate) use device::DeviceEngine;
pub(crate) use draw::SamplingPower;
pub(crate) use made::{MADE_LINES, MADE_ROWS, MakeColumns};

use super::gate::LogTable;
use super::objective::{Loss, Objective};
use super::search::{Climbed, Sample};
use crate::Result;
use crate::bits::kernels::Sums;
use crate::bits::{WORD_BITS, words_for};
use crate::circuit::VoteTree;
use crate::pool::each_awake;
use crate::random::{Purpose, Stream};

/// Where rows live, and who does the phases of a round on them.
pub(crate) trait Engine: Sync {
    /// The margins and gradients of all rows during one fit.
    type State: Send + Sync;
    /// The root address of every row in one tree.
    type Addresses: Send + Sync;

    /// Number of rows.
    fn rows(&self) -> usize;

    /// The target of every row.
    fn targets(&self) -> Result<Vec<u32>>;

    /// What an objective needs to know of all rows to say where margins start.
    fn totals(&self, objective: &dyn Objective) -> Result<Vec<i64>>;

    /// The state before the first round.
    fn begin(&self, start: &Start<'_>) -> Result<Self::State>;

    /// Weighs all rows and draws some: those whose gradient is zero or less, and those above. Both lists ascend.
    fn draw(&self, state: &Self::State, draw: &Draw<'_>) -> Result<Picks>;

    /// The bits of picked rows, of the columns in some words.
    fn gather(&self, picks: &Picks, words: &[u32]) -> Result<Sample>;

    /// [`Engine::draw`] for each of some draws.
    fn draw_each(&self, state: &Self::State, draws: &[Draw<'_>]) -> Result<Vec<Picks>> {
        each_awake(draws.iter().collect(), |draw| self.draw(state, draw)).into_iter().collect()
    }

    /// A sample for each of some draws, of the columns in its words; none where all rows are of one side.
    fn samples(
        &self,
        state: &Self::State,
        draws: &[Draw<'_>],
        words: &[Vec<u32>],
    ) -> Result<Vec<Option<Sample>>> {
        let sample = |(draw, words)| {
            let picks = self.draw(state, draw)?;
            let is_empty = picks.iter().any(Vec::is_empty);
            if is_empty { Ok(None) } else { self.gather(&picks, words).map(Some) }
        };
        each_awake(draws.iter().zip(words.iter().map(Vec::as_slice)).collect(), sample).into_iter().collect()
    }

    /// A sample that this process can read.
    fn fetch(&self, sample: Sample) -> Result<Sample> {
        Ok(sample)
    }

    /// Whether it climbs trees of such arities itself, with so many candidates a trial.
    fn searches(&self, arities: &[usize], candidates: u32) -> bool {
        let _ = (arities, candidates);
        false
    }

    /// Climbs trees side by side; their leaves are places among the columns of their samples. Only where it searches itself.
    fn search(&self, trees: Vec<TreeToClimb<'_>>, logs: &LogTable) -> Result<Vec<Climbed>> {
        let _ = (trees, logs);
        Err(crate::Error::data("this engine leaves hill climbing to others"))
    }

    /// The root address of every row.
    fn address(&self, state: &Self::State, tree: &VoteTree) -> Result<Self::Addresses>;

    /// Gradient and hessian of one margin, summed over the rows of each root address.
    fn sum(&self, state: &Self::State, what: &Summand<'_, Self::Addresses>) -> Result<Vec<Sums>>;

    /// [`Engine::address`] for each of some trees of one shape.
    fn address_each(&self, state: &Self::State, trees: &[VoteTree]) -> Result<Vec<Self::Addresses>> {
        each_awake(trees.iter().collect(), |tree| self.address(state, tree)).into_iter().collect()
    }

    /// [`Engine::sum`] for each of some trees.
    fn sum_each(&self, state: &Self::State, all: &[Summand<'_, Self::Addresses>]) -> Result<Vec<Vec<Sums>>> {
        each_awake(all.iter().collect(), |what| self.sum(state, what)).into_iter().collect()
    }

    /// Adds the votes of trees to the margins and brings the gradients up to date; without trees, only that.
    fn update(&self, state: &mut Self::State, trees: &[(&VoteTree, &Self::Addresses)]) -> Result<()>;

    /// For one margin: [`Engine::update`] by a tree, then [`Engine::sum`] for the next, while the rows are at hand. The
    /// gradients are up to date after a call without a next tree.
    fn update_and_sum(
        &self,
        state: &mut Self::State,
        tree: Option<(&VoteTree, &Self::Addresses)>,
        next: Option<&Summand<'_, Self::Addresses>>,
    ) -> Result<Vec<Sums>> {
        self.update(state, tree.as_slice())?;
        next.map_or_else(|| Ok(Vec::new()), |next| self.sum(state, next))
    }

    /// Adds the votes of a tree to the margins and leaves the gradients as they are.
    fn shift(&self, state: &mut Self::State, tree: &VoteTree, addresses: &Self::Addresses) -> Result<()>;

    /// The margins of all rows, a list for each margin.
    fn margins(&self, state: &Self::State) -> Result<Vec<Vec<i32>>>;

    /// The loss of all rows.
    fn loss(&self, state: &Self::State) -> Result<Loss>;

    /// The sums of [`Objective::scaled`] over rows, all or those of `among`, in units of 2^-32.
    fn scaled_loss(&self, state: &Self::State, among: Option<&[bool]>, scale: &Scale) -> Result<[i128; 3]>;
}

/// How margins are scaled before their loss is taken.
pub(crate) struct Scale {
    /// What margins are multiplied by.
    pub(crate) factor: f64,
    /// The weight of one more row without a known target.
    pub(crate) doubt: f64,
}

/// What a fit starts from.
#[derive(Clone, Copy)]
pub(crate) struct Start<'a> {
    pub(crate) objective: &'a Arc<dyn Objective>,
    /// The margins of a row before any tree.
    pub(crate) bias: &'a [i32],
    /// Trees whose votes are added first.
    pub(crate) trees: &'a [VoteTree],
    /// Rows that are not learned from: their margins are kept up to date, but their weight is zero.
    pub(crate) held_out: Option<&'a [bool]>,
}

/// Rows of a sample: those of the lower and those of the upper side. A row may stand there more than once.
pub(crate) type Picks = [Vec<u32>; 2];

/// Which gradients a tree is learned from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Direction<'a> {
    /// That of one margin.
    Margin(usize),
    /// The sum of those of some margins.
    Group(&'a [bool]),
}

/// How rows are drawn.
pub(crate) struct Draw<'a> {
    pub(crate) direction: Direction<'a>,
    /// What the sizes of gradients become before rows are drawn by them.
    pub(crate) power: &'a SamplingPower,
    /// Rows that may be drawn; empty for all.
    pub(crate) among: &'a [bool],
    /// How many to draw.
    pub(crate) size: usize,
    /// 64 random bits.
    pub(crate) start: u64,
}

/// A tree whose addresses gradients are summed over.
pub(crate) struct Summand<'a, A> {
    pub(crate) margin: usize,
    pub(crate) addresses: &'a A,
    /// How many addresses the root has.
    pub(crate) count: usize,
    /// Rows that the tree was climbed on, where others were kept honest; they count for less. Else empty.
    pub(crate) climbed: &'a [bool],
}

/// A tree that an engine climbs itself.
pub(crate) struct TreeToClimb<'a> {
    pub(crate) sample: &'a Sample,
    pub(crate) arities: &'a [usize],
    /// The column of the sample that each leaf reads at first.
    pub(crate) leaves: Vec<u32>,
    pub(crate) candidates: u32,
    /// The trials: a leaf, then the columns that are compared for it. They do not depend on what comes of them.
    pub(crate) trials: Vec<u32>,
}

/// The order in which columns are packed into words of rows: random, so that the columns of a word are a random choice.
#[derive(Debug)]
pub(crate) struct ColumnOrder(Vec<u32>);

impl ColumnOrder {
    pub(crate) fn new(columns: usize, seed: u64) -> Self {
        let mut order: Vec<u32> = (0..columns as u32).collect();
        Stream::new(seed, Purpose::Leaves, 0).shuffle(&mut order);
        Self(order)
    }

    /// The column at each position.
    pub(crate) fn columns(&self) -> &[u32] {
        &self.0
    }

    /// Words of a row.
    pub(crate) fn words(&self) -> usize {
        words_for(self.0.len())
    }

    /// The columns of a word.
    pub(crate) fn word(&self, word: u32) -> &[u32] {
        let first = word as usize * WORD_BITS;
        &self.0[first..self.0.len().min(first + WORD_BITS)]
    }

    /// The words that a tree may choose from: all, or `wanted` at random where there are more.
    pub(crate) fn choose(&self, wanted: usize, stream: &mut Stream) -> Vec<u32> {
        let mut words: Vec<u32> = (0..self.words() as u32).collect();
        if wanted < words.len() {
            for chosen in 0..wanted {
                let other = chosen + stream.below((words.len() - chosen) as u32) as usize;
                words.swap(chosen, other);
            }
            words.truncate(wanted);
        }
        words
    }
}
