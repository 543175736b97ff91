//! The questions of a search as clauses, for what bounds leave open.
//!
//! A variable's values are literals of which one holds, a rule is a clause for each combination that it forbids, and the
//! votes of a form are added up bit by bit. The box of rows that a question is about is assumed, so that what the solver
//! learns in one question serves the next.

use batsat::{Callbacks, Solver, SolverInterface, SolverOpts, lbool};

use super::problem::{Allowed, Parts};
use super::search::{Found, Limit};
use super::system::{Form, Shape, System};

type Literal = batsat::clause::Lit;

/// Clauses that are made at the most.
const MOST_CLAUSES: usize = 1 << 20;
/// Conflicts for each box that the bounds looked at.
const CONFLICTS: u64 = 16;

/// Clauses that hold where all forms are above zero.
pub(super) struct Clauses {
    solver: Solver<Budget>,
    /// For each variable, the literal of each class of its cells; none for variables that no form reads.
    values: Vec<Vec<Literal>>,
    clauses: usize,
}

impl std::fmt::Debug for Clauses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Clauses").field("clauses", &self.clauses).finish_non_exhaustive()
    }
}

/// Stops the solver after so many conflicts, or when the time is over.
struct Budget {
    conflicts: u64,
    limit: Limit,
}

impl Callbacks for Budget {
    fn on_new_clause(&mut self, _: &[Literal], _: batsat::clause::Kind) {
        self.conflicts = self.conflicts.saturating_sub(1);
    }

    fn stop(&self) -> bool {
        self.conflicts == 0 || self.limit.is_over()
    }
}

impl Clauses {
    /// The clauses of some forms, unless they are too many. `classes` has a number for each cell of each variable.
    pub(super) fn new(
        system: &System,
        forms: &[Form],
        needs: &[Parts],
        classes: &[Vec<u32>],
    ) -> Option<Self> {
        let budget = Budget { conflicts: u64::MAX, limit: Limit::NONE };
        let solver = Solver::new(SolverOpts::default(), budget);
        let mut clauses = Self { solver, values: vec![Vec::new(); system.variables()], clauses: 0 };
        for (variable, classes) in classes.iter().enumerate() {
            if needs.iter().any(|needs| needs.reads[variable]) {
                let count = classes.iter().max().map_or(1, |&last| last as usize + 1);
                clauses.values[variable] = clauses.one_of(count)?;
            }
        }
        let mut rules: Vec<usize> = needs.iter().flat_map(Parts::rules).collect();
        rules.sort_unstable();
        rules.dedup();
        for rule in rules {
            let shape = &system.shapes[rule];
            let states = clauses.states(shape, classes)?;
            clauses.for_each_combination(shape, &states, |clauses, combination, address| {
                if address == 0 { Some(()) } else { clauses.add(combination) }
            })?;
        }
        forms.iter().try_for_each(|form| clauses.add_form(system, form, classes))?;
        Some(clauses)
    }

    /// A row among those that have these values, one cell for each class.
    pub(super) fn find(
        &mut self,
        system: &System,
        forms: &[Form],
        classes: &[Vec<u32>],
        values: &Allowed,
        limit: Limit,
    ) -> Found {
        let mut assumed = Vec::new();
        for part in 0..system.parts {
            let allowed = |class: usize| {
                values[part].iter().any(|&cell| classes[part][cell as usize] as usize == class)
            };
            let literals = self.values[part].iter().enumerate();
            assumed.extend(literals.filter(|(class, _)| !allowed(*class)).map(|(_, &literal)| !literal));
        }
        let conflicts = CONFLICTS.saturating_mul(limit.boxes() as u64);
        *self.solver.cb_mut() = Budget { conflicts, limit };
        let answer = self.solver.solve_limited(&assumed);
        if answer == lbool::FALSE {
            return Found::None;
        }
        if answer != lbool::TRUE {
            return Found::Unknown;
        }
        let mut row: Vec<usize> = (0..system.parts)
            .map(|part| {
                let holds = |cell: &&u32| {
                    let literal = self.values[part].get(classes[part][**cell as usize] as usize);
                    literal.is_none_or(|&literal| self.solver.value_lit(literal) == lbool::TRUE)
                };
                values[part].iter().find(holds).map_or(0, |&cell| cell as usize)
            })
            .collect();
        system.complete(&mut row);
        let holds = system.keeps_rules(&row) && forms.iter().all(|form| system.value(form, &row) > 0);
        if holds { Found::Row(row) } else { Found::Unknown }
    }

    fn literal(&mut self) -> Literal {
        Literal::new(self.solver.new_var_default(), true)
    }

    /// Adds a clause: one of some literals holds.
    fn add(&mut self, literals: &[Literal]) -> Option<()> {
        self.clauses += 1;
        self.solver.add_clause_reuse(&mut literals.to_vec());
        (self.clauses <= MOST_CLAUSES).then_some(())
    }

    /// Literals of which exactly one holds.
    fn one_of(&mut self, count: usize) -> Option<Vec<Literal>> {
        if count == 2 {
            let literal = self.literal();
            return Some(vec![!literal, literal]);
        }
        let literals: Vec<Literal> = (0..count).map(|_| self.literal()).collect();
        self.add(&literals)?;
        for (place, &a) in literals.iter().enumerate() {
            literals[..place].iter().try_for_each(|&b| self.add(&[!a, !b]))?;
        }
        Some(literals)
    }

    /// A literal for each state of each variable that a shape reads.
    fn states(&mut self, shape: &Shape, classes: &[Vec<u32>]) -> Option<Vec<Vec<Literal>>> {
        let mut states = Vec::with_capacity(shape.reads.len());
        for read in &shape.reads {
            let mut of_state: Vec<Vec<Literal>> = vec![Vec::new(); read.states];
            for (class, &literal) in self.values[read.variable].clone().iter().enumerate() {
                let cell = classes[read.variable].iter().position(|&of| of as usize == class)?;
                of_state[usize::from(read.state[cell])].push(literal);
            }
            let mut literals = Vec::with_capacity(read.states);
            for of_state in of_state {
                if let [literal] = of_state[..] {
                    literals.push(literal);
                    continue;
                }
                let literal = self.literal();
                of_state.iter().try_for_each(|&value| self.add(&[literal, !value]))?;
                self.add(&[&of_state[..], &[!literal]].concat())?;
                literals.push(literal);
            }
            states.push(literals);
        }
        Some(states)
    }

    /// Calls a function for each combination of states with a clause that forbids it, and its address.
    fn for_each_combination(
        &mut self,
        shape: &Shape,
        states: &[Vec<Literal>],
        mut call: impl FnMut(&mut Self, &[Literal], u16) -> Option<()>,
    ) -> Option<()> {
        let mut combination = Vec::with_capacity(states.len());
        for (at, &address) in shape.addresses.iter().enumerate() {
            combination.clear();
            let of_read = |(read, states): (&super::system::Read, &Vec<Literal>)| {
                !states[at / read.stride % read.states]
            };
            combination.extend(shape.reads.iter().zip(states).map(of_read));
            call(self, &combination, address)?;
        }
        Some(())
    }

    /// The form is above zero.
    fn add_form(&mut self, system: &System, form: &Form, classes: &[Vec<u32>]) -> Option<()> {
        if let [term] = &form.terms[..] {
            let shape = &system.shapes[term.shape];
            let states = self.states(shape, classes)?;
            return self.for_each_combination(shape, &states, |clauses, combination, address| {
                let is_above = form.constant + term.votes[usize::from(address)] > 0;
                if is_above { Some(()) } else { clauses.add(combination) }
            });
        }
        // Votes above the least of their term, added up, are at least this.
        let mut wanted = 1 - form.constant;
        let mut columns: Vec<Vec<Literal>> = Vec::new();
        for term in &form.terms {
            let least = term.votes.iter().copied().min().unwrap_or(0);
            let most = term.votes.iter().copied().max().unwrap_or(0);
            wanted -= least;
            let width = (i64::BITS - (most - least).leading_zeros()) as usize;
            let bits: Vec<Literal> = (0..width).map(|_| self.literal()).collect();
            columns.resize_with(columns.len().max(width), Vec::new);
            columns.iter_mut().zip(&bits).for_each(|(column, &bit)| column.push(bit));
            let shape = &system.shapes[term.shape];
            let states = self.states(shape, classes)?;
            self.for_each_combination(shape, &states, |clauses, combination, address| {
                let vote = term.votes[usize::from(address)] - least;
                let mut clause = combination.to_vec();
                for (place, &bit) in bits.iter().enumerate() {
                    clause.push(if vote >> place & 1 != 0 { bit } else { !bit });
                    clauses.add(&clause)?;
                    clause.pop();
                }
                Some(())
            })?;
        }
        let sum = self.sum(columns)?;
        self.at_least(&sum, wanted)
    }

    /// The bits of the sum of some numbers, given as the bits of each weight.
    fn sum(&mut self, mut columns: Vec<Vec<Literal>>) -> Option<Vec<Literal>> {
        let mut sum = Vec::new();
        let mut place = 0;
        while place < columns.len() {
            // The oldest first, so that the adders are shallow.
            let mut waiting = std::collections::VecDeque::from(std::mem::take(&mut columns[place]));
            while let (Some(a), Some(b)) = (waiting.pop_front(), waiting.pop_front()) {
                let (bit, carry) = self.adder(a, b, waiting.pop_front())?;
                waiting.push_back(bit);
                if place + 1 == columns.len() {
                    columns.push(Vec::new());
                }
                columns[place + 1].push(carry);
                if waiting.len() == 1 {
                    break;
                }
            }
            match waiting.pop_front() {
                Some(bit) => sum.push(bit),
                None => {
                    let zero = self.literal();
                    self.add(&[!zero])?;
                    sum.push(zero);
                }
            }
            place += 1;
        }
        Some(sum)
    }

    /// The sum and the carry of two or three bits.
    fn adder(&mut self, a: Literal, b: Literal, c: Option<Literal>) -> Option<(Literal, Literal)> {
        let (sum, carry) = (self.literal(), self.literal());
        let inputs: Vec<Literal> = [a, b].into_iter().chain(c).collect();
        for values in 0..1usize << inputs.len() {
            let ones = values.count_ones();
            let mut clause: Vec<Literal> = inputs
                .iter()
                .enumerate()
                .map(|(place, &input)| if values >> place & 1 != 0 { !input } else { input })
                .collect();
            for (output, value) in [(sum, ones & 1 != 0), (carry, ones > 1)] {
                clause.push(if value { output } else { !output });
                self.add(&clause)?;
                clause.pop();
            }
        }
        Some((sum, carry))
    }

    /// A number, given by its bits, is at least another.
    fn at_least(&mut self, bits: &[Literal], wanted: i64) -> Option<()> {
        if wanted <= 0 {
            return Some(());
        }
        if wanted.unsigned_abs() >> bits.len().min(63) != 0 {
            return self.add(&[]);
        }
        let is_one = |place: usize| wanted >> place & 1 != 0;
        for place in (0..bits.len()).filter(|&place| is_one(place)) {
            let higher = (place + 1..bits.len()).filter(|&higher| !is_one(higher));
            let clause: Vec<Literal> = higher.chain([place]).map(|at| bits[at]).collect();
            self.add(&clause)?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::testing::{random_span_grove, random_tree};
    use crate::encode::Encoder;
    use crate::explain::Explainer;
    use crate::explain::explainer::wins;
    use crate::explain::search::Search;
    use crate::model::{Circuit, Model};

    /// Whether clauses and bounds say the same of boxes around rows.
    fn check(circuit: Circuit, seed: u64) -> [usize; 2] {
        let names = vec!["no".to_owned(), "yes".to_owned()];
        let model = Model::new(Encoder::identity(8), circuit, names).unwrap();
        let explainer = Explainer::new(&model).unwrap();
        let mut said = [0; 2];
        for other in 0..2 {
            let forms = vec![wins(&explainer.margins, other, 1 - other)];
            let mut search = Search::new(&explainer.system, forms);
            let mut state = seed;
            for _ in 0..12 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let mut allowed = explainer.everything();
                for (part, cells) in allowed.iter_mut().enumerate() {
                    if state >> (40 + part) & 1 != 0 {
                        *cells = vec![(state >> (50 + part / 2) & 1) as u32];
                    }
                }
                let by_bounds = search.run(&explainer.system, &allowed, &[], Limit::NONE);
                let by_clauses = search.by_clauses(&explainer.system, &allowed, Limit::NONE);
                match (by_bounds, by_clauses) {
                    (Found::None, Found::None) => said[0] += 1,
                    (Found::Row(_), Found::Row(row)) => {
                        said[1] += 1;
                        assert_eq!(explainer.class_of(&row), other);
                        let in_box = |(cells, &cell): (&Vec<u32>, &usize)| cells.contains(&(cell as u32));
                        assert!(allowed.iter().zip(&row).all(in_box));
                    }
                    (a, b) => panic!("bounds say {a:?}, clauses {b:?}"),
                }
            }
        }
        said
    }

    #[test]
    fn clauses_say_what_bounds_say() {
        let mut said = [0; 2];
        for seed in 0..8 {
            let grove = check(Circuit::Grove(random_span_grove(seed, 8, 2, 10, 20)), seed);
            let tree = check(Circuit::Tree(random_tree(seed, 3, 3, 8)), seed);
            said[0] += grove[0] + tree[0];
            said[1] += grove[1] + tree[1];
        }
        assert!(said.iter().all(|&count| count > 20), "both answers are tested: {said:?}");
    }
}
