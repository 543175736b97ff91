//! Cuts of a graph: small sets of nodes that a node is a function of.

use super::super::aig::Aig;

/// The most leaves of a cut.
pub(super) const MAX_LEAVES: usize = 6;
/// Cuts kept for each node, besides the node itself.
const KEPT: usize = 12;

/// Nodes that another node is a function of, and what it would cost to make it a LUT of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    nodes: [u32; MAX_LEAVES],
    len: u8,
    /// One bit for each leaf by its number modulo 64, to tell quickly that one cut does not hold another.
    signature: u64,
    /// The level of a LUT of these leaves.
    pub(super) level: u32,
    /// The LUTs below and of this one, those that others share counted in part.
    pub(super) flow: f32,
}

impl Cut {
    /// The cut of one node: the node itself.
    fn of_node(node: usize, level: u32, flow: f32) -> Self {
        let mut nodes = [0; MAX_LEAVES];
        nodes[0] = node as u32;
        Self { nodes, len: 1, signature: 1 << (node % 64), level, flow }
    }

    /// The cut of some leaves, in ascending order and not more than [`MAX_LEAVES`].
    fn of_leaves(leaves: &[u32]) -> Self {
        let mut nodes = [0; MAX_LEAVES];
        nodes[..leaves.len()].copy_from_slice(leaves);
        let signature = leaves.iter().fold(0, |signature, leaf| signature | 1 << (leaf % 64));
        Self { nodes, len: leaves.len() as u8, signature, level: 0, flow: 0.0 }
    }

    pub(super) fn leaves(&self) -> &[u32] {
        &self.nodes[..usize::from(self.len)]
    }

    /// The leaves of both cuts, if they are not too many.
    fn union(&self, other: &Self, most: usize) -> Option<Self> {
        if (self.signature | other.signature).count_ones() as usize > most {
            return None;
        }
        let (a, b) = (self.leaves(), other.leaves());
        let mut nodes = [0; MAX_LEAVES];
        let (mut i, mut j, mut len) = (0, 0, 0);
        while i < a.len() || j < b.len() {
            if len == most {
                return None;
            }
            let next = match (a.get(i), b.get(j)) {
                (Some(&x), Some(&y)) => x.min(y),
                (Some(&x), None) | (None, Some(&x)) => x,
                (None, None) => unreachable!("one is not at its end"),
            };
            i += usize::from(a.get(i) == Some(&next));
            j += usize::from(b.get(j) == Some(&next));
            nodes[len] = next;
            len += 1;
        }
        let signature = self.signature | other.signature;
        Some(Self { nodes, len: len as u8, signature, level: 0, flow: 0.0 })
    }

    /// Whether all leaves of this cut are leaves of the other.
    fn within(&self, other: &Self) -> bool {
        self.len <= other.len
            && self.signature & !other.signature == 0
            && self.leaves().iter().all(|leaf| other.leaves().contains(leaf))
    }
}

/// What a pass prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// The lowest level, then the least area.
    Depth,
    /// The least area, then the lowest level.
    Area,
}

impl Goal {
    fn prefers(self, a: &Cut, b: &Cut) -> std::cmp::Ordering {
        let (level, flow) = (a.level.cmp(&b.level), a.flow.total_cmp(&b.flow));
        match self {
            Self::Depth => level.then(flow),
            Self::Area => flow.then(level),
        }
        .then(a.len.cmp(&b.len))
        .then_with(|| a.leaves().cmp(b.leaves()))
    }
}

/// The cuts of every node, the best first; the constant and the inputs have none.
pub(super) struct Cuts {
    starts: Vec<u32>,
    cuts: Vec<Cut>,
}

impl Cuts {
    pub(super) fn of(&self, node: usize) -> &[Cut] {
        &self.cuts[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// Finds the cuts of all nodes. A seed is a cut that a node has in any case; readers are how often each node is
    /// expected to be read; a node's best cut must not be above its level in `latest`, where there is one.
    pub(super) fn find(
        aig: &Aig,
        inputs: usize,
        goal: Goal,
        seeds: &[Option<Vec<u32>>],
        readers: &[f32],
        latest: Option<&[u32]>,
    ) -> Self {
        let mut starts = vec![0; aig.first_and() + 1];
        starts.reserve(aig.nodes());
        let mut cuts: Vec<Cut> = Vec::with_capacity(aig.nodes() * KEPT / 2);
        // The level and flow of each node if made by its best cut.
        let mut best: Vec<(u32, f32)> = vec![(0, 0.0); aig.first_and()];
        let mut found: Vec<Cut> = Vec::new();
        for node in aig.first_and()..aig.nodes() {
            let fanins = aig.fanins(node).expect("past the inputs all nodes are ANDs");
            found.clear();
            let below = fanins.map(|fanin| {
                let own = Cut::of_node(fanin.node(), 0, 0.0);
                let range = starts[fanin.node()] as usize..starts[fanin.node() + 1] as usize;
                (own, range)
            });
            let of = |side: usize| {
                let (own, range) = &below[side];
                std::iter::once(own).chain(&cuts[range.clone()])
            };
            let rate = |mut cut: Cut| {
                let leaves = cut.leaves().iter().map(|&leaf| (best[leaf as usize], readers[leaf as usize]));
                let (level, flow) = leaves.fold((0, 1.0), |(level, flow), ((below, area), readers)| {
                    (below.max(level), flow + area / readers.max(1.0))
                });
                (cut.level, cut.flow) = (level + 1, flow);
                cut
            };
            for a in of(0) {
                for b in of(1) {
                    if let Some(cut) = a.union(b, inputs) {
                        found.push(rate(cut));
                    }
                }
            }
            let seed = seeds[node].as_ref().map(|leaves| rate(Cut::of_leaves(leaves)));
            found.extend(seed);
            let limit = latest.map_or(u32::MAX, |latest| latest[node]);
            found.sort_unstable_by(|a, b| {
                (a.level > limit).cmp(&(b.level > limit)).then_with(|| goal.prefers(a, b))
            });
            let from = cuts.len();
            for cut in &found {
                if cuts.len() - from == KEPT {
                    break;
                }
                if !cuts[from..].iter().any(|kept| kept.within(cut)) {
                    cuts.push(*cut);
                }
            }
            if let Some(seed) = seed
                && !cuts[from..].iter().any(|kept| kept.within(&seed))
            {
                *cuts.last_mut().expect("an AND has the cut of its fanins") = seed;
            }
            best.push((cuts[from].level, cuts[from].flow));
            starts.push(cuts.len() as u32);
        }
        Self { starts, cuts }
    }
}
