//! Questions about a graph answered for all inputs: small windows by exhaustion, larger ones by SAT.

use std::collections::{BTreeSet, HashMap};

use batsat::{Callbacks, Solver, SolverInterface, SolverOpts, clause, lbool};

use super::Deadline;
use super::aig::{Aig, Edge};
use super::window::Window;

/// Nodes of the windows given to the SAT solver before the whole cone is.
const CONES: [usize; 2] = [150, 1500];
/// Nodes of the window in which addresses are shown to be impossible by SAT.
const ADDRESS_CONE: usize = 400;
/// Conflicts that the SAT solver may meet for one address.
const ADDRESS_CONFLICTS: u64 = 100;

/// What is known of two edges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// They are equal for all inputs.
    Equal,
    /// They differ for these inputs of the graph, by number; those not named do not matter.
    Differ(Vec<(usize, bool)>),
    /// The limit was reached.
    Unknown,
}

/// How much work to spend on a pair of edges.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Conflicts the SAT solver may meet in all.
    pub(crate) conflicts: u64,
    /// Nodes that the cone of both edges may have for the whole of it to be given to the SAT solver.
    pub(crate) nodes: usize,
    /// When to give up in any case.
    pub(crate) deadline: Deadline,
}

impl Effort {
    /// Only what is quick: a window at every address, a small cone by SAT.
    pub(crate) const SMALL: Self = Self { conflicts: 100, nodes: CONES[0], deadline: Deadline::NONE };

    /// The whole cone, with so many conflicts.
    pub(crate) fn whole(conflicts: u64, deadline: Deadline) -> Self {
        Self { conflicts, nodes: usize::MAX, deadline }
    }
}

/// Decides whether two edges of a graph are equal.
pub(crate) fn compare(aig: &Aig, a: Edge, b: Edge, effort: Effort) -> Verdict {
    if a == b {
        return Verdict::Equal;
    }
    if a == !b {
        return Verdict::Differ(Vec::new());
    }
    if Window::below(aig, &[a, b]).all_equal(a, b) {
        return Verdict::Equal;
    }
    for nodes in CONES.into_iter().filter(|&nodes| nodes <= effort.nodes) {
        let cone = Cone::of(aig, &[a, b], nodes);
        let whole = cone.whole;
        match cone.solve(aig, a, b, effort) {
            Verdict::Equal => return Verdict::Equal,
            verdict if whole => return verdict,
            // What differs in a window may never do so in the whole.
            _ => {}
        }
    }
    if CONES.contains(&effort.nodes) {
        return Verdict::Unknown;
    }
    let cone = Cone::of(aig, &[a, b], effort.nodes);
    if cone.whole { cone.solve(aig, a, b, effort) } else { Verdict::Unknown }
}

/// Those of some addresses that no inputs give: bit `j` of an address is the value of `edges[j]`.
///
/// An address that is not named may be impossible all the same.
pub(crate) fn impossible_addresses(aig: &Aig, edges: &[Edge], addresses: &[usize]) -> Vec<usize> {
    let reached = Window::below(aig, edges).addresses(edges);
    let is_reached = |address: usize| reached[address / 64] >> (address % 64) & 1 != 0;
    let (open, mut impossible): (Vec<usize>, Vec<usize>) =
        addresses.iter().partition(|&&address| is_reached(address));
    if open.is_empty() {
        return impossible;
    }
    let cone = Cone::of(aig, edges, ADDRESS_CONE);
    let mut clauses =
        Clauses::of(aig, &cone, Budget { conflicts: ADDRESS_CONFLICTS, deadline: Deadline::NONE });
    let literals: Vec<clause::Lit> = edges.iter().map(|&edge| clauses.literal(edge)).collect();
    for address in open {
        let assumed: Vec<clause::Lit> = literals
            .iter()
            .enumerate()
            .map(|(place, &literal)| if address >> place & 1 != 0 { literal } else { !literal })
            .collect();
        clauses.solver.cb_mut().conflicts = ADDRESS_CONFLICTS;
        if clauses.solver.solve_limited(&assumed) == lbool::FALSE {
            impossible.push(address);
        }
    }
    impossible.sort_unstable();
    impossible
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
    fn solve(&self, aig: &Aig, a: Edge, b: Edge, effort: Effort) -> Verdict {
        let mut clauses =
            Clauses::of(aig, self, Budget { conflicts: effort.conflicts, deadline: effort.deadline });
        let (a, b) = (clauses.literal(a), clauses.literal(b));
        clauses.add(&[a, b]);
        clauses.add(&[!a, !b]);
        match clauses.solver.solve_limited(&[]) {
            result if result == lbool::FALSE => Verdict::Equal,
            result if result == lbool::TRUE && self.whole => Verdict::Differ(clauses.inputs(aig)),
            _ => Verdict::Unknown,
        }
    }
}

/// The ANDs of a cone as clauses.
struct Clauses {
    solver: Solver<Budget>,
    variables: HashMap<usize, clause::Var>,
    buffer: Vec<clause::Lit>,
}

impl Clauses {
    fn of(aig: &Aig, cone: &Cone, budget: Budget) -> Self {
        let solver = Solver::new(SolverOpts::default(), budget);
        let variables = HashMap::with_capacity(cone.ands.len() * 2);
        let mut clauses = Self { solver, variables, buffer: Vec::new() };
        for &node in &cone.ands {
            let fanins = aig.fanins(node).expect("a cone holds ANDs");
            let output = clauses.literal(Edge::new(node, false));
            let [x, y] = fanins.map(|fanin| clauses.literal(fanin));
            clauses.add(&[!output, x]);
            clauses.add(&[!output, y]);
            clauses.add(&[output, !x, !y]);
        }
        clauses
    }

    fn add(&mut self, literals: &[clause::Lit]) {
        self.buffer.clear();
        self.buffer.extend_from_slice(literals);
        self.solver.add_clause_reuse(&mut self.buffer);
    }

    fn literal(&mut self, edge: Edge) -> clause::Lit {
        let variable = match self.variables.get(&edge.node()) {
            Some(&variable) => variable,
            None => {
                let variable = self.solver.new_var_default();
                self.variables.insert(edge.node(), variable);
                if edge.node() == 0 {
                    self.add(&[clause::Lit::new(variable, false)]);
                }
                variable
            }
        };
        clause::Lit::new(variable, !edge.inverted())
    }

    /// The values that the solver found for the inputs of the graph.
    fn inputs(&self, aig: &Aig) -> Vec<(usize, bool)> {
        let mut inputs: Vec<(usize, bool)> = self
            .variables
            .iter()
            .filter(|(node, _)| (1..=aig.inputs()).contains(*node))
            .map(|(&node, &variable)| (node - 1, self.solver.value_var(variable) == lbool::TRUE))
            .collect();
        inputs.sort_unstable();
        inputs
    }
}

/// Stops the SAT solver after so many conflicts, or at a moment.
struct Budget {
    conflicts: u64,
    deadline: Deadline,
}

impl Callbacks for Budget {
    fn on_new_clause(&mut self, _: &[clause::Lit], _: clause::Kind) {
        self.conflicts = self.conflicts.saturating_sub(1);
    }

    fn stop(&self) -> bool {
        self.conflicts == 0 || self.deadline.has_passed()
    }
}
