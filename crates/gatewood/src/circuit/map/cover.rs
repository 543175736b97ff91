//! Choosing the nodes of a graph that become LUTs, and a cut for each.

use super::super::aig::{Aig, Edge};
use super::cuts::{Cut, Cuts, Goal};

/// Passes that choose cuts by their share of the area below them.
const FLOW_PASSES: usize = 3;
/// Passes that choose cuts by the LUTs they add to the cover as it stands.
const EXACT_PASSES: usize = 3;

/// A cut for every node, and how often each node is read by the LUTs of those that are needed.
pub(super) struct Cover<'a> {
    aig: &'a Aig,
    outputs: Vec<usize>,
    chosen: Vec<Option<Cut>>,
    readers: Vec<u32>,
    levels: Vec<u32>,
    latest: Vec<u32>,
}

impl<'a> Cover<'a> {
    /// Covers the nodes that the outputs need by LUTs of so many inputs: as few as can be found for the least depth,
    /// or for the given one if that is more.
    pub(super) fn find(
        aig: &'a Aig,
        outputs: &[Edge],
        inputs: usize,
        seeds: &[Option<Vec<u32>>],
        depth: Option<u32>,
    ) -> Self {
        let outputs =
            outputs.iter().map(|edge| edge.node()).filter(|&node| node >= aig.first_and()).collect();
        let nodes = aig.nodes();
        let mut cover = Self {
            aig,
            outputs,
            chosen: vec![None; nodes],
            readers: vec![0; nodes],
            levels: vec![0; nodes],
            latest: vec![u32::MAX; nodes],
        };
        // Before there is a cover, the readers in the graph stand for those in the cover.
        let mut expected = vec![0.0f32; nodes];
        for node in aig.first_and()..nodes {
            aig.fanins(node).into_iter().flatten().for_each(|fanin| expected[fanin.node()] += 1.0);
        }
        let cuts = Cuts::find(aig, inputs, Goal::Depth, seeds, &expected, None);
        cover.choose_best(&cuts);
        let least = cover.outputs.iter().map(|&node| cover.levels[node]).max().unwrap_or(0);
        let depth = depth.unwrap_or(0).max(least);
        cover.time(depth);
        let mut cuts = cuts;
        for _ in 0..FLOW_PASSES {
            for (expected, &readers) in expected.iter_mut().zip(&cover.readers) {
                *expected = (*expected + 2.0 * readers as f32) / 3.0;
            }
            cuts = Cuts::find(aig, inputs, Goal::Area, seeds, &expected, Some(&cover.latest));
            cover.choose_best(&cuts);
            cover.time(depth);
        }
        for _ in 0..EXACT_PASSES {
            let before = cover.luts();
            cover.choose_exact(&cuts);
            cover.time(depth);
            if cover.luts() == before {
                break;
            }
        }
        cover
    }

    /// The cut of a node, if it is a LUT of the cover.
    pub(super) fn lut(&self, node: usize) -> Option<&Cut> {
        (self.readers[node] > 0).then(|| self.chosen[node].as_ref()).flatten()
    }

    /// Number of LUTs.
    pub(super) fn luts(&self) -> usize {
        (self.aig.first_and()..self.aig.nodes()).filter(|&node| self.readers[node] > 0).count()
    }

    fn level_of(&self, cut: &Cut) -> u32 {
        1 + cut.leaves().iter().map(|&leaf| self.levels[leaf as usize]).max().unwrap_or(0)
    }

    /// Takes the first cut of every node that is in time, and counts the readers.
    fn choose_best(&mut self, cuts: &Cuts) {
        for node in self.aig.first_and()..self.aig.nodes() {
            let of = cuts.of(node);
            let in_time = of.iter().find(|cut| self.level_of(cut) <= self.latest[node]);
            let cut =
                *in_time.or_else(|| of.iter().min_by_key(|cut| self.level_of(cut))).expect("a node has cuts");
            self.levels[node] = self.level_of(&cut);
            self.chosen[node] = Some(cut);
        }
        self.readers.fill(0);
        for &node in &self.outputs {
            self.readers[node] += 1;
        }
        for node in (self.aig.first_and()..self.aig.nodes()).rev() {
            if self.readers[node] > 0
                && let Some(cut) = &self.chosen[node]
            {
                cut.leaves().iter().for_each(|&leaf| self.readers[leaf as usize] += 1);
            }
        }
    }

    /// The level by which each node must be there for the outputs to be there by `depth`.
    fn time(&mut self, depth: u32) {
        self.latest.fill(u32::MAX);
        for &node in &self.outputs {
            self.latest[node] = depth;
        }
        for node in (self.aig.first_and()..self.aig.nodes()).rev() {
            if self.readers[node] > 0
                && let Some(cut) = &self.chosen[node]
            {
                // Few cuts of a node are kept, and none of them may be in time: then its leaves must be as early as they can.
                let before = self.latest[node].saturating_sub(1);
                for &leaf in cut.leaves() {
                    let latest = &mut self.latest[leaf as usize];
                    *latest = before.min(*latest);
                }
            }
        }
    }

    /// For each LUT in turn, takes the cut that adds the fewest LUTs to the rest of the cover.
    fn choose_exact(&mut self, cuts: &Cuts) {
        for node in self.aig.first_and()..self.aig.nodes() {
            let Some(current) = self.chosen[node] else { continue };
            if self.readers[node] == 0 {
                // Not in the cover now, but a cut above may want it: the level must stay true.
                self.levels[node] = self.level_of(&current);
                continue;
            }
            self.release(&current);
            let (mut best, mut best_key) = (current, None);
            for cut in cuts.of(node).iter().chain([&current]) {
                let level = self.level_of(cut);
                if level > self.latest[node] {
                    continue;
                }
                let area = self.hold(cut);
                self.release(cut);
                let key = (area, level, cut.leaves().len());
                if best_key.is_none_or(|best_key| key < best_key) {
                    (best, best_key) = (*cut, Some(key));
                }
            }
            self.hold(&best);
            self.levels[node] = self.level_of(&best);
            self.chosen[node] = Some(best);
        }
    }

    /// Counts a LUT of the cut in; gives the number of LUTs that this adds, itself included.
    fn hold(&mut self, cut: &Cut) -> u32 {
        let mut added = 0;
        let mut waiting = vec![*cut];
        while let Some(cut) = waiting.pop() {
            added += 1;
            for &leaf in cut.leaves() {
                let leaf = leaf as usize;
                self.readers[leaf] += 1;
                if self.readers[leaf] == 1 {
                    waiting.extend(self.chosen[leaf]);
                }
            }
        }
        added
    }

    /// Undoes [`Cover::hold`].
    fn release(&mut self, cut: &Cut) {
        let mut waiting = vec![*cut];
        while let Some(cut) = waiting.pop() {
            for &leaf in cut.leaves() {
                let leaf = leaf as usize;
                self.readers[leaf] -= 1;
                if self.readers[leaf] == 0 {
                    waiting.extend(self.chosen[leaf]);
                }
            }
        }
    }
}
