//! Deciding whether two edges of a graph are equal: small windows by exhaustion, larger ones by SAT.

use std::collections::BTreeSet;
use std::collections::HashMap;

use batsat::{Callbacks, Solver, SolverInterface, SolverOpts, clause, lbool};

use super::super::aig::{Aig, Edge, PROJECTIONS};

/// The most inputs of a window that is tried at every address.
const WINDOW_INPUTS: usize = 10;
/// The most nodes of a window that is tried at every address.
const WINDOW_NODES: usize = 400;
/// Nodes of the windows given to the SAT solver before the whole cone is.
const CONES: [usize; 2] = [150, 1500];

/// What is known of two edges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// They are equal for all inputs.
    Equal,
    /// They differ for these inputs of the graph, by number; those not named do not matter.
    Differ(Vec<(usize, bool)>),
    /// The limit was reached.
    Unknown,
}

/// How much work to spend on a pair of edges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// Conflicts the SAT solver may meet in all.
    pub(super) conflicts: u64,
    /// Nodes that the cone of both edges may have for the whole of it to be given to the SAT solver.
    pub(super) nodes: usize,
}

impl Effort {
    pub(super) const UNLIMITED: Self = Self { conflicts: u64::MAX, nodes: usize::MAX };
}

/// Decides whether two edges of a graph are equal.
pub(super) fn compare(aig: &Aig, a: Edge, b: Edge, effort: Effort) -> Verdict {
    if a == b {
        return Verdict::Equal;
    }
    if a == !b {
        return Verdict::Differ(Vec::new());
    }
    if equal_in_window(aig, a, b) {
        return Verdict::Equal;
    }
    for nodes in CONES {
        let cone = Cone::of(aig, &[a, b], nodes);
        let whole = cone.whole;
        match cone.solve(aig, a, b, effort.conflicts) {
            Verdict::Equal => return Verdict::Equal,
            verdict if whole => return verdict,
            // What differs in a window may never do so in the whole.
            _ => {}
        }
    }
    let cone = Cone::of(aig, &[a, b], effort.nodes);
    if cone.whole { cone.solve(aig, a, b, effort.conflicts) } else { Verdict::Unknown }
}

/// Whether two edges are equal whatever the values at a small cut below them.
fn equal_in_window(aig: &Aig, a: Edge, b: Edge) -> bool {
    let mut inner: BTreeSet<usize> = BTreeSet::new();
    let mut leaves: BTreeSet<usize> = [a.node(), b.node()].into();
    leaves.remove(&0);
    loop {
        // The leaf that brings the fewest new leaves, the highest of equals.
        let cost = |node: usize| {
            let fanins = aig.fanins(node)?;
            Some(fanins.iter().filter(|fanin| !leaves.contains(&fanin.node())).count())
        };
        let Some((cost, node)) =
            leaves.iter().rev().filter_map(|&node| Some((cost(node)?, node))).min_by_key(|&(cost, _)| cost)
        else {
            break;
        };
        if leaves.len() + cost > WINDOW_INPUTS + 1 || inner.len() >= WINDOW_NODES {
            break;
        }
        leaves.remove(&node);
        inner.insert(node);
        for fanin in aig.fanins(node).into_iter().flatten() {
            // A leaf may have been passed on another path: then it is inside already.
            if !inner.contains(&fanin.node()) {
                leaves.insert(fanin.node());
            }
        }
    }
    let leaves: Vec<usize> = leaves.into_iter().collect();
    let words = (1usize << leaves.len()).div_ceil(64);
    let mut values: HashMap<usize, u64> = HashMap::with_capacity(leaves.len() + inner.len() + 1);
    (0..words).all(|word| {
        values.clear();
        values.insert(0, 0);
        for (input, &leaf) in leaves.iter().enumerate() {
            let value = match PROJECTIONS.get(input) {
                Some(&projection) => projection,
                None => 0u64.wrapping_sub((word >> (input - 6) & 1) as u64),
            };
            values.insert(leaf, value);
        }
        let value = |values: &HashMap<usize, u64>, edge: Edge| values[&edge.node()] ^ edge.mask();
        for &node in &inner {
            let [x, y] = aig.fanins(node).expect("only ANDs are inside");
            let and = value(&values, x) & value(&values, y);
            values.insert(node, and);
        }
        value(&values, a) == value(&values, b)
    })
}

/// Nodes below some edges, to be given to the SAT solver; those whose fanins are not in it are free.
struct Cone {
    /// The ANDs, the highest first.
    ands: Vec<usize>,
    /// Whether nothing was left out.
    whole: bool,
}

impl Cone {
    /// The highest `limit` ANDs below some edges.
    fn of(aig: &Aig, edges: &[Edge], limit: usize) -> Self {
        let mut waiting: BTreeSet<usize> = edges.iter().map(|edge| edge.node()).collect();
        let mut ands = Vec::new();
        while let Some(node) = waiting.pop_last() {
            let Some(fanins) = aig.fanins(node) else { continue };
            if ands.len() == limit {
                return Self { ands, whole: false };
            }
            ands.push(node);
            waiting.extend(fanins.iter().map(|fanin| fanin.node()).filter(|&fanin| fanin != 0));
        }
        Self { ands, whole: true }
    }

    /// Asks the SAT solver for values at which two edges of the cone differ.
    fn solve(&self, aig: &Aig, a: Edge, b: Edge, conflicts: u64) -> Verdict {
        let mut solver = Solver::new(SolverOpts::default(), Budget { conflicts });
        let mut variables: HashMap<usize, clause::Var> = HashMap::with_capacity(self.ands.len() * 2);
        let mut clause = Vec::with_capacity(3);
        // No AND has the constant as a fanin, but a or b may be it.
        let mut literal = |solver: &mut Solver<Budget>, edge: Edge| {
            let new = !variables.contains_key(&edge.node());
            let variable = *variables.entry(edge.node()).or_insert_with(|| solver.new_var_default());
            if new && edge.node() == 0 {
                solver.add_clause_reuse(&mut vec![clause::Lit::new(variable, false)]);
            }
            clause::Lit::new(variable, !edge.inverted())
        };
        for &node in &self.ands {
            let fanins = aig.fanins(node).expect("a cone holds ANDs");
            let output = literal(&mut solver, Edge::new(node, false));
            let [x, y] = fanins.map(|fanin| literal(&mut solver, fanin));
            for literals in [&[!output, x][..], &[!output, y], &[output, !x, !y]] {
                clause.clear();
                clause.extend_from_slice(literals);
                solver.add_clause_reuse(&mut clause);
            }
        }
        let (a, b) = (literal(&mut solver, a), literal(&mut solver, b));
        for literals in [[a, b], [!a, !b]] {
            clause.clear();
            clause.extend_from_slice(&literals);
            solver.add_clause_reuse(&mut clause);
        }
        match solver.solve_limited(&[]) {
            result if result == lbool::FALSE => Verdict::Equal,
            result if result == lbool::TRUE && self.whole => {
                let mut inputs: Vec<(usize, bool)> = variables
                    .iter()
                    .filter(|(node, _)| (1..=aig.inputs()).contains(*node))
                    .map(|(&node, &variable)| (node - 1, solver.value_var(variable) == lbool::TRUE))
                    .collect();
                inputs.sort_unstable();
                Verdict::Differ(inputs)
            }
            _ => Verdict::Unknown,
        }
    }
}

/// Stops the SAT solver after so many conflicts.
struct Budget {
    conflicts: u64,
}

impl Callbacks for Budget {
    fn on_new_clause(&mut self, _: &[clause::Lit], _: clause::Kind) {
        self.conflicts = self.conflicts.saturating_sub(1);
    }

    fn stop(&self) -> bool {
        self.conflicts == 0
    }
}
