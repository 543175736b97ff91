//! Merging equal nodes of a graph from the inputs up, until the outputs are decided.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use super::super::Deadline;
use super::super::aig::{Aig, Edge};
use super::super::classes::Classes;
use super::super::solver::{self, Effort, Verdict};
use super::Equivalence;
use super::reach::Reach;

/// Rounds of 64 random rows that sort the nodes into classes.
const CLASS_ROUNDS: usize = 64;
/// Rounds of 64 random rows that look only at the outputs.
const OUTPUT_ROUNDS: usize = 1024;
/// How often a node is compared with another candidate after a row told it apart from the one before.
const ATTEMPTS: usize = 6;
/// How many candidates a node is compared with quickly before the best is compared with more effort.
const CANDIDATES: usize = 4;
/// The members of a class among which candidates are looked for.
const MEMBERS: usize = 2_000;
/// What is spent on a pair of inner nodes.
const INNER: Effort = Effort { conflicts: 500, nodes: 20_000, deadline: Deadline::NONE };

/// A row on which two outputs differ, and the number of the output.
type Difference = (Vec<bool>, usize);

impl From<Difference> for Equivalence {
    fn from((inputs, output): Difference) -> Self {
        Self::Differs { inputs, output }
    }
}

/// A graph of two netlists, the nodes from `boundary` on belonging to the second alone.
pub(super) struct Sweep {
    source: Aig,
    boundary: usize,
    pairs: Vec<(Edge, Edge)>,
    /// The graph with equal nodes merged, and the edge in it of each node of `source` so far.
    merged: Aig,
    edges: Vec<Edge>,
    reach: Reach,
    rng: ChaCha8Rng,
    values: Vec<u64>,
    words: Vec<u64>,
    deadline: Deadline,
}

impl Sweep {
    pub(super) fn new(source: Aig, boundary: usize, pairs: Vec<(Edge, Edge)>, deadline: Deadline) -> Self {
        let merged = Aig::new(source.inputs());
        let edges = (0..source.first_and()).map(|node| Edge::new(node, false)).collect();
        Self {
            source,
            boundary,
            pairs,
            merged,
            edges,
            reach: Reach::default(),
            rng: ChaCha8Rng::seed_from_u64(0),
            values: Vec::new(),
            words: Vec::new(),
            deadline,
        }
    }

    /// Proves all pairs equal, or finds a row for which one is not; `conflicts` is what the SAT solver may meet for
    /// each pair in the end.
    pub(super) fn run(mut self, conflicts: u64) -> Equivalence {
        if self.pairs.iter().all(|(ours, theirs)| ours == theirs) {
            return Equivalence::Equal;
        }
        let mut classes: Option<Classes> = None;
        for round in 0..OUTPUT_ROUNDS {
            self.random_words(round);
            if let Some(difference) = self.simulate() {
                return difference.into();
            }
            if self.deadline.has_passed() {
                return Equivalence::Undecided;
            }
            if round < CLASS_ROUNDS {
                match &mut classes {
                    None => classes = Some(Classes::new(&self.values)),
                    Some(classes) => classes.refine(&self.values),
                }
            }
        }
        let mut classes = classes.expect("there is a round");
        self.reach = Reach::of(&self.source);
        for (node, needed) in self.needed().into_iter().enumerate() {
            let Some([a, b]) = self.source.fanins(node) else { continue };
            let edge = self.merged.and(self.edge(a), self.edge(b));
            self.edges.push(edge);
            // Nodes that both netlists have need no proof.
            if node >= self.boundary
                && needed
                && let Some(difference) = self.merge(node, &mut classes)
            {
                return difference.into();
            }
            if node >= self.boundary && self.deadline.has_passed() {
                return Equivalence::Undecided;
            }
        }
        self.decide_outputs(conflicts)
    }

    /// The edge in the merged graph of an edge of the source.
    fn edge(&self, edge: Edge) -> Edge {
        self.edges[edge.node()].invert_if(edge.inverted())
    }

    /// Which nodes lie below an output that is not decided yet.
    fn needed(&self) -> Vec<bool> {
        let mut needed = vec![false; self.source.nodes()];
        for (ours, theirs) in self.pairs.iter().filter(|(ours, theirs)| ours != theirs) {
            needed[ours.node()] = true;
            needed[theirs.node()] = true;
        }
        for node in (self.source.first_and()..self.source.nodes()).rev() {
            if needed[node] {
                for fanin in self.source.fanins(node).into_iter().flatten() {
                    needed[fanin.node()] = true;
                }
            }
        }
        needed
    }

    /// Tries to merge a node of the second netlist with a node of the first that it was never seen to differ from.
    fn merge(&mut self, node: usize, classes: &mut Classes) -> Option<Difference> {
        for _ in 0..ATTEMPTS {
            let candidates = self.candidates(node, classes);
            let edge = self.edges[node];
            let quick = candidates.iter().find(|&&theirs| {
                solver::compare(&self.merged, edge, theirs, Effort::SMALL) == Verdict::Equal
            });
            if let Some(&theirs) = quick {
                self.edges[node] = theirs;
                return None;
            }
            let theirs = *candidates.first()?;
            match solver::compare(&self.merged, edge, theirs, INNER) {
                Verdict::Equal => {
                    self.edges[node] = theirs;
                    return None;
                }
                Verdict::Differ(inputs) => {
                    self.words_around(&inputs);
                    if let Some(difference) = self.simulate() {
                        return Some(difference);
                    }
                    classes.refine(&self.values);
                }
                Verdict::Unknown => {
                    classes.give_up(node);
                    return None;
                }
            }
        }
        None
    }

    /// The edges of nodes that a node may be equal to, those first whose cones reach the most alike inputs.
    fn candidates(&self, node: usize, classes: &Classes) -> Vec<Edge> {
        let members = classes.members_before(node, self.boundary);
        let members = &members[members.len().saturating_sub(MEMBERS)..];
        let mut ranked: Vec<(usize, u32)> =
            members.iter().map(|&member| (self.reach.unlike(node, member as usize), member)).collect();
        let few = ranked.len().min(CANDIDATES);
        if few < ranked.len() {
            ranked.select_nth_unstable(few);
        }
        ranked.truncate(few);
        ranked.sort_unstable();
        let edge = |member: usize| self.edges[member].invert_if(classes.inverse(node, member));
        ranked.into_iter().map(|(_, member)| edge(member as usize)).collect()
    }

    /// Decides the outputs in the merged graph, if the SAT solver can.
    fn decide_outputs(&mut self, conflicts: u64) -> Equivalence {
        let mut found = Equivalence::Equal;
        for output in 0..self.pairs.len() {
            let (ours, theirs) = self.pairs[output];
            let (ours, theirs) = (self.edge(ours), self.edge(theirs));
            match solver::compare(&self.merged, ours, theirs, Effort::whole(conflicts, self.deadline)) {
                Verdict::Equal => {}
                Verdict::Differ(values) => {
                    let mut inputs = vec![false; self.source.inputs()];
                    values.into_iter().for_each(|(input, value)| inputs[input] = value);
                    return Equivalence::Differs { inputs, output };
                }
                // Another output may still differ.
                Verdict::Unknown => found = Equivalence::Undecided,
            }
        }
        found
    }

    /// Simulates the rows in `words` and looks for one on which a pair of outputs differs.
    fn simulate(&mut self) -> Option<Difference> {
        self.source.simulate(self.words.iter().copied(), &mut self.values);
        let value = |edge: Edge| self.values[edge.node()] ^ edge.mask();
        self.pairs.iter().enumerate().find_map(|(output, &(ours, theirs))| {
            let differs = value(ours) ^ value(theirs);
            (differs != 0).then(|| {
                let row = differs.trailing_zeros();
                (self.words.iter().map(|word| word >> row & 1 != 0).collect(), output)
            })
        })
    }

    /// Random rows: mostly even odds for every bit, in some rounds more ones or more zeros.
    fn random_words(&mut self, round: usize) {
        let rng = &mut self.rng;
        self.words.clear();
        self.words.extend((0..self.source.inputs()).map(|_| match round % 8 {
            6 => rng.next_u64() & rng.next_u64(),
            7 => rng.next_u64() | rng.next_u64(),
            _ => rng.next_u64(),
        }));
    }

    /// Rows near one that told two nodes apart: its bits kept and all others random, then some of its bits flipped.
    fn words_around(&mut self, inputs: &[(usize, bool)]) {
        self.random_words(0);
        for &(input, value) in inputs {
            let few = self.rng.next_u64() & self.rng.next_u64() & self.rng.next_u64() & self.rng.next_u64();
            let value = 0u64.wrapping_sub(u64::from(value));
            self.words[input] = value ^ (few & 0xffff_ffff_0000_0000);
        }
    }
}
