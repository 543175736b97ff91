//! Decision trees over gates that earlier trees asked for: control logic whose gates nobody wrote down.
//!
//! Where a tree ends, the last two questions of a path are a gate of two signals; paths that end alike ask for the same one.
//! Such gates become columns, and the next tree may ask them in one question and make gates of gates. After some rounds a tree
//! of a network's function is the network itself, and its last question the output. The order of the columns does not matter.

use std::collections::{BTreeMap, HashMap};

use super::samples::{Samples, count};
use super::sketch::Sketch;
use crate::Result;
use crate::circuit::{Netlist, Signal};

/// How trees grow, and which exclusive ors they may ask for from the start.
#[derive(Debug, Clone)]
pub(super) struct Fringe {
    /// Rows below which a node is a leaf.
    pub(super) fewest: usize,
    /// Exclusive ors of columns that are there from the start.
    pub(super) sums: Vec<Vec<usize>>,
    /// Trees grown one after the other; the last one counts.
    pub(super) rounds: usize,
}

/// Trees at the most.
pub(super) const ROUNDS: usize = 40;

/// New gates a round, those that the most paths ask for.
const NEW_GATES: usize = 100;

/// Gates that a tree may ask for at the most.
const MOST_GATES: usize = 400;

/// The most nodes of a tree, and its greatest depth.
const MOST_NODES: usize = 2_400;
const DEEPEST: usize = 40;

/// Columns up to which such trees are grown.
const MOST_COLUMNS: usize = 2_000;

/// Paths that an exclusive or counts for.
const PATHS_OF_SUM: usize = 4;

/// A gate of two signals: columns first, then gates made before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Gate {
    /// One where both signals have these values.
    Both { inputs: [usize; 2], values: [bool; 2] },
    /// One where the signals differ.
    Differ { inputs: [usize; 2] },
}

impl Gate {
    fn words(self, signal: impl Fn(usize) -> Vec<u64>, all: &[u64]) -> Vec<u64> {
        let (Self::Both { inputs, .. } | Self::Differ { inputs }) = self;
        let [a, b] = inputs.map(signal);
        let flips = match self {
            Self::Both { values, .. } => values.map(|value| if value { 0 } else { u64::MAX }),
            Self::Differ { .. } => [0, 0],
        };
        let pairs = a.iter().zip(&b).zip(all);
        pairs
            .map(|((a, b), all)| match self {
                Self::Both { .. } => (a ^ flips[0]) & (b ^ flips[1]) & all,
                Self::Differ { .. } => a ^ b,
            })
            .collect()
    }
}

/// Columns and the gates made of them, over rows to learn from and maybe rows that judge.
struct Signals<'a> {
    samples: Vec<&'a Samples>,
    masks: Vec<Vec<u64>>,
    gates: Vec<Gate>,
    known: HashMap<Gate, usize>,
    /// For each of the samples, the value of each gate.
    words: Vec<Vec<Vec<u64>>>,
}

impl<'a> Signals<'a> {
    fn new(samples: Vec<&'a Samples>) -> Self {
        let masks = samples.iter().map(|samples| samples.all()).collect();
        let words = vec![Vec::new(); samples.len()];
        Self { samples, masks, gates: Vec::new(), known: HashMap::new(), words }
    }

    fn columns(&self) -> usize {
        self.samples[0].columns()
    }

    fn of(&self, which: usize, signal: usize) -> &[u64] {
        match signal.checked_sub(self.columns()) {
            None => self.samples[which].column(signal),
            Some(gate) => &self.words[which][gate],
        }
    }

    /// The signal of a gate, made if it is new.
    fn make(&mut self, gate: Gate) -> usize {
        if let Some(&signal) = self.known.get(&gate) {
            return signal;
        }
        for which in 0..self.samples.len() {
            let words = gate.words(|signal| self.of(which, signal).to_vec(), &self.masks[which]);
            self.words[which].push(words);
        }
        let signal = self.columns() + self.gates.len();
        self.gates.push(gate);
        self.known.insert(gate, signal);
        signal
    }
}

/// Words of rows that a node has, those without any left out.
type Rows = Vec<(usize, u64)>;

enum Node {
    Leaf(bool),
    Split { signal: usize, zero: usize, one: usize },
}

struct Tree {
    /// Children come before their parents; the last node is the root.
    nodes: Vec<Node>,
    splits: usize,
}

impl Tree {
    fn grow(signals: &Signals<'_>, active: &[usize], fewest: usize) -> Self {
        let mut tree = Self { nodes: Vec::new(), splits: 0 };
        let rows: Rows = signals.masks[0].iter().copied().enumerate().collect();
        tree.node(signals, active, fewest, &rows, 0);
        tree
    }

    fn root(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Adds a node of these rows, after its children.
    fn node(
        &mut self,
        signals: &Signals<'_>,
        active: &[usize],
        fewest: usize,
        rows: &Rows,
        depth: usize,
    ) -> usize {
        let label = &signals.samples[0].label;
        let all = count(rows.iter().map(|(_, row)| *row));
        let ones = count(rows.iter().map(|&(at, row)| row & label[at]));
        let ends = ones == 0 || ones == all || all < fewest || depth >= DEEPEST || self.splits >= MOST_NODES;
        let split = if ends { None } else { most_telling(signals, active, rows, [all, ones]) };
        let node = match split {
            None => Node::Leaf(2 * ones > all),
            Some(signal) => {
                self.splits += 1;
                let bits = signals.of(0, signal);
                let part = |flip: u64| -> Rows {
                    let kept = rows.iter().map(|&(at, row)| (at, row & (bits[at] ^ flip)));
                    kept.filter(|(_, row)| *row != 0).collect()
                };
                let (zero, one) = (part(u64::MAX), part(0));
                let zero = self.node(signals, active, fewest, &zero, depth + 1);
                let one = self.node(signals, active, fewest, &one, depth + 1);
                Node::Split { signal, zero, one }
            }
        };
        self.nodes.push(node);
        self.root()
    }

    /// The rows of some samples that the tree tells wrongly.
    fn wrong(&self, signals: &Signals<'_>, which: usize) -> usize {
        let label = &signals.samples[which].label;
        let mut wrong = 0;
        let mut open: Vec<(usize, Vec<u64>)> = vec![(self.root(), signals.masks[which].clone())];
        while let Some((node, rows)) = open.pop() {
            match self.nodes[node] {
                Node::Leaf(value) => {
                    let flip = if value { u64::MAX } else { 0 };
                    wrong += count(rows.iter().zip(label).map(|(row, label)| row & (label ^ flip)));
                }
                Node::Split { signal, zero, one } => {
                    let bits = signals.of(which, signal);
                    open.push((zero, rows.iter().zip(bits).map(|(row, bit)| row & !bit).collect()));
                    open.push((one, rows.iter().zip(bits).map(|(row, bit)| row & bit).collect()));
                }
            }
        }
        wrong
    }

    /// The gates that the ends of paths ask for, each with how many do.
    fn asked(&self) -> BTreeMap<Gate, usize> {
        let mut asked = BTreeMap::new();
        for node in &self.nodes {
            let Node::Split { signal, zero, one } = *node else { continue };
            for (child, value) in [(zero, false), (one, true)] {
                let Node::Split { signal: below, zero, one } = self.nodes[child] else { continue };
                if below == signal {
                    continue;
                }
                for (leaf, last) in [(zero, false), (one, true)] {
                    if let Node::Leaf(_) = self.nodes[leaf] {
                        *asked.entry(both([(signal, value), (below, last)])).or_default() += 1;
                    }
                }
            }
            if let (
                Node::Split { signal: left, zero: a, one: b },
                Node::Split { signal: right, zero: c, one: d },
            ) = (&self.nodes[zero], &self.nodes[one])
                && left == right
                && *left != signal
                && let [Node::Leaf(a), Node::Leaf(b), Node::Leaf(c), Node::Leaf(d)] =
                    [a, b, c, d].map(|&leaf| &self.nodes[leaf])
                && (a, b) == (d, c)
                && a != b
            {
                let inputs = [signal.min(*left), signal.max(*left)];
                *asked.entry(Gate::Differ { inputs }).or_default() += PATHS_OF_SUM;
            }
        }
        asked
    }

    /// The gates that the tree asks for.
    fn used(&self, columns: usize) -> Vec<usize> {
        let signals = self.nodes.iter().filter_map(|node| match node {
            Node::Split { signal, .. } if *signal >= columns => Some(*signal),
            _ => None,
        });
        let mut used: Vec<usize> = signals.collect();
        used.sort_unstable();
        used.dedup();
        used
    }

    /// The tree as a circuit, with the gates it asks for.
    fn circuit(&self, signals: &Signals<'_>) -> Result<Netlist> {
        let mut sketch = Sketch::new(signals.columns())?;
        let mut made = HashMap::new();
        let mut outputs: Vec<Signal> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            outputs.push(match *node {
                Node::Leaf(value) => Signal::constant(value),
                Node::Split { signal, zero, one } => {
                    let select = draw(&mut sketch, signals, signal, &mut made)?;
                    match (outputs[zero].as_constant(), outputs[one].as_constant()) {
                        (Some(true), Some(false)) => sketch.not(select)?,
                        (Some(false), Some(true)) => select,
                        (Some(true), None) => {
                            let other = sketch.not(select)?;
                            sketch.or(other, outputs[one])?
                        }
                        (None, Some(false)) => {
                            let other = sketch.not(select)?;
                            sketch.and(other, outputs[zero])?
                        }
                        _ => sketch.choose(select, outputs[zero], outputs[one])?,
                    }
                }
            });
        }
        let output = outputs[self.root()];
        sketch.finish(output)
    }
}

/// A gate of two literals, the lower signal first.
fn both([a, b]: [(usize, bool); 2]) -> Gate {
    let [a, b] = if a.0 < b.0 { [a, b] } else { [b, a] };
    Gate::Both { inputs: [a.0, b.0], values: [a.1, b.1] }
}

/// A signal in a circuit, with all that it is made of.
fn draw(
    sketch: &mut Sketch,
    signals: &Signals<'_>,
    signal: usize,
    made: &mut HashMap<usize, Signal>,
) -> Result<Signal> {
    let Some(gate) = signal.checked_sub(signals.columns()) else { return Ok(sketch.input(signal)) };
    if let Some(&known) = made.get(&signal) {
        return Ok(known);
    }
    let gate = signals.gates[gate];
    let (Gate::Both { inputs, .. } | Gate::Differ { inputs }) = gate;
    let a = draw(sketch, signals, inputs[0], made)?;
    let b = draw(sketch, signals, inputs[1], made)?;
    let drawn = match gate {
        Gate::Both { values, .. } => {
            let a = if values[0] { a } else { sketch.not(a)? };
            let b = if values[1] { b } else { sketch.not(b)? };
            sketch.and(a, b)?
        }
        Gate::Differ { .. } => sketch.xor(a, b)?,
    };
    made.insert(signal, drawn);
    Ok(drawn)
}

/// The signal that tells most of the output by itself.
fn most_telling(
    signals: &Signals<'_>,
    active: &[usize],
    rows: &Rows,
    [all, ones]: [usize; 2],
) -> Option<usize> {
    let label = &signals.samples[0].label;
    let impure =
        |all: usize, ones: usize| if all == 0 { 0.0 } else { ones as f64 * (all - ones) as f64 / all as f64 };
    let mut best: Option<(f64, usize)> = None;
    for &signal in active {
        let bits = signals.of(0, signal);
        let (mut set, mut both) = (0, 0);
        for &(at, row) in rows {
            let kept = row & bits[at];
            set += kept.count_ones() as usize;
            both += (kept & label[at]).count_ones() as usize;
        }
        if set == 0 || set == all {
            continue;
        }
        let impurity = impure(set, both) + impure(all - set, ones - both);
        if best.is_none_or(|(least, _)| impurity < least) {
            best = Some((impurity, signal));
        }
    }
    best.map(|(_, signal)| signal)
}

/// A tree over gates that the trees before it asked for, and how many were grown: as many as `held` finds best where it is given,
/// else all rounds.
pub(super) fn tree(
    samples: &Samples,
    held: Option<&Samples>,
    fringe: &Fringe,
    max_ands: usize,
    check: impl Fn() -> Result<()>,
) -> Result<Option<(Netlist, usize)>> {
    if samples.columns() > MOST_COLUMNS {
        return Ok(None);
    }
    let mut signals = Signals::new([samples].into_iter().chain(held).collect());
    let columns = signals.columns();
    let mut active: Vec<usize> = (0..columns).collect();
    for sum in &fringe.sums {
        let [a, b] = sum[..] else { continue };
        active.push(signals.make(Gate::Differ { inputs: [a.min(b), a.max(b)] }));
    }
    let mut best: Option<([usize; 2], Tree, usize)> = None;
    for round in 1..=fringe.rounds {
        check()?;
        let tree = Tree::grow(&signals, &active, fringe.fewest);
        let used = tree.used(columns);
        // The gates of a round are added to those that a tree has asked for.
        let mut next: Vec<usize> = (0..columns).chain(used.iter().copied()).collect();
        let mut asked: Vec<(Gate, usize)> = tree.asked().into_iter().collect();
        asked.sort_by_key(|&(gate, paths)| (std::cmp::Reverse(paths), gate));
        let mut added = 0;
        for (gate, _) in asked {
            if added == NEW_GATES || next.len() - columns >= MOST_GATES {
                break;
            }
            let signal = signals.make(gate);
            if !active.contains(&signal) && !next.contains(&signal) {
                next.push(signal);
                added += 1;
            }
        }
        let small = 3 * tree.splits + used.len() <= 2 * max_ands;
        let judge = if held.is_some() { tree.wrong(&signals, 1) } else { 0 };
        let key = [judge, tree.splits];
        let (is_last, splits) = (added == 0 || tree.splits <= 1, tree.splits);
        if small && (held.is_none() || best.as_ref().is_none_or(|(least, ..)| key < *least)) {
            best = Some((key, tree, round));
        }
        if is_last || splits >= MOST_NODES {
            break;
        }
        active = next;
    }
    let Some((_, tree, round)) = best else { return Ok(None) };
    Ok(Some((tree.circuit(&signals)?, round)))
}
