//! Upper bounds of a form over a box of rows, exact in whole numbers.
//!
//! The largest vote of each tree, summed, is a bound, but a poor one: each tree would like another row. So each tree hands
//! part of its votes over to the values of the variables it reads, in such a way that no tree gains from a value that the
//! others dislike. Whatever is handed over, the sum of the best value of each variable is a bound, once no entry of a table
//! is above zero; handing over well only makes it a close one. This is the dual of a linear program, improved one table at
//! a time.
//!
//! Only what can still vary in the box is held: values that all tables read alike are one, columns that are fixed are
//! gone, and small tables over the same columns are added up to one, whose bound is exact.

use std::rc::Rc;

use super::system::{Form, Shape, System};
use super::table::{NEVER, Read, Scratch, Table};

/// One vote. Everything is a whole number, far below the largest that a float holds exactly.
pub(super) const VOTE: f64 = (1u64 << 20) as f64;

/// Entries of sums of tables that always pay: of any two, and where a gate goes.
const SMALL_SUM: usize = 64;
const SMALL_GATE: usize = 1024;

/// The values that each variable may take, ascending.
pub(super) type Allowed = Vec<Vec<u32>>;

/// The tables and rules that one form needs.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    /// Rules of the gates that the form reads, in the order they are computed.
    rules: Vec<(usize, Option<usize>)>,
    /// Whether the form reads a variable.
    pub(super) reads: Vec<bool>,
}

impl Parts {
    pub(super) fn new(system: &System, form: &Form) -> Self {
        let mut reads = vec![false; system.variables()];
        let mark = |shape: usize, reads: &mut Vec<bool>| {
            system.shapes[shape].reads.iter().for_each(|read| reads[read.variable] = true);
        };
        form.terms.iter().for_each(|term| mark(term.shape, &mut reads));
        let mut owner = vec![None; system.shapes.len()];
        for (variable, rule) in system.rule_of.iter().enumerate() {
            if let Some(rule) = rule {
                owner[*rule] = Some(variable);
            }
        }
        // Rules of gates that no term reads do not matter. Patterns come before the gates that read them.
        let mut rules = Vec::new();
        for &rule in system.rules.iter().rev() {
            if owner[rule].is_none_or(|gate| reads[gate]) {
                mark(rule, &mut reads);
                rules.push((rule, owner[rule]));
            }
        }
        rules.reverse();
        system.patterns.iter().for_each(|patterns| patterns.mark_read(&mut reads));
        Self { rules, reads }
    }

    /// The shapes of the rules.
    #[cfg(feature = "prove")]
    pub(super) fn rules(&self) -> impl Iterator<Item = usize> + '_ {
        self.rules.iter().map(|rule| rule.0)
    }

    /// The shapes of all rules and terms.
    pub(super) fn shapes<'a>(&'a self, form: &'a Form) -> impl Iterator<Item = usize> + 'a {
        form.terms.iter().map(|term| term.shape).chain(self.rules.iter().map(|rule| rule.0))
    }
}

/// A form over a box of rows.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    constant: f64,
    /// What the tables handed over to each value of each variable.
    unary: Vec<Vec<f64>>,
    tables: Vec<Table>,
    /// Gates that can be made part of the tables: those that rules tie to what they read.
    gates: Rc<[usize]>,
    /// Whether no row is in the box.
    empty: bool,
}

impl Problem {
    /// A form over the rows that have these values. Gates whose values follow from them are fixed.
    pub(super) fn new(system: &System, form: &Form, parts: &Parts, values: &mut Allowed) -> Self {
        let mut problem = Self {
            constant: form.constant as f64 * VOTE,
            unary: Vec::new(),
            tables: Vec::new(),
            gates: parts.rules.iter().filter_map(|rule| rule.1).collect(),
            empty: false,
        };
        let mut tables = Vec::new();
        for &(rule, owner) in &parts.rules {
            let entry = |address: u16| if address == 0 { 0.0 } else { NEVER };
            let mut table = table_of(&system.shapes[rule], values, entry);
            if let Some(gate) = owner
                && let Some(value) = table.only_value(gate, &values[gate])
            {
                values[gate] = vec![value];
                table = table_of(&system.shapes[rule], values, entry);
            }
            tables.push(table);
        }
        for term in &form.terms {
            let entry = |address: u16| term.votes[usize::from(address)] as f64 * VOTE;
            tables.push(table_of(&system.shapes[term.shape], values, entry));
        }
        problem.unary = values.iter().map(|values| vec![0.0; values.len()]).collect();
        tables.into_iter().for_each(|table| problem.add(table));
        problem.tidy();
        problem
    }

    /// Adds a table: small ones are handed over at once.
    fn add(&mut self, table: Table) {
        match &table.reads[..] {
            [] => {
                self.empty |= table.entries[0] == NEVER;
                self.constant += table.entries[0];
            }
            [read] => {
                let unary = self.unary[read.variable].iter_mut();
                unary
                    .zip(&read.state[..])
                    .for_each(|(unary, &state)| *unary += table.entries[usize::from(state)]);
            }
            _ => self.tables.push(table),
        }
    }

    /// What the tables handed over to the values of a variable.
    pub(super) fn unary(&self, variable: usize) -> &[f64] {
        &self.unary[variable]
    }

    /// Keeps only some of the values of a variable, by their places.
    pub(super) fn restrict(&mut self, variable: usize, kept: &[usize]) {
        let unary = &mut self.unary[variable];
        *unary = kept.iter().map(|&place| unary[place]).collect();
        for mut table in std::mem::take(&mut self.tables) {
            table.restrict(variable, kept);
            self.add(table);
        }
    }

    /// Keeps only one value of some variables, by its place; nothing for those that keep all.
    pub(super) fn fix(&mut self, places: &[Option<usize>]) {
        for (unary, place) in self.unary.iter_mut().zip(places) {
            if let Some(place) = *place {
                *unary = vec![unary[place]];
            }
        }
        for mut table in std::mem::take(&mut self.tables) {
            for variable in table.variables() {
                if let Some(place) = places[variable] {
                    table.restrict(variable, &[place]);
                }
            }
            self.add(table);
        }
    }

    /// Makes gates that few tables read part of these, and adds small tables over the same variables up.
    pub(super) fn tidy(&mut self) {
        self.remove_gates();
        self.tables.sort_by_cached_key(Table::variables);
        let mut tables: Vec<Table> = Vec::with_capacity(self.tables.len());
        for table in std::mem::take(&mut self.tables) {
            match tables.last_mut() {
                Some(last) => match last.plus(&table, SMALL_SUM) {
                    Some(sum) => *last = sum,
                    None => tables.push(table),
                },
                None => tables.push(table),
            }
        }
        self.tables = tables;
    }

    fn remove_gates(&mut self) {
        let open = |unary: &[Vec<f64>], gate: usize| unary[gate].len() > 1;
        let gates = Rc::clone(&self.gates);
        if gates.iter().all(|&gate| !open(&self.unary, gate)) {
            return;
        }
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.unary.len()];
        let mut tables: Vec<Option<Table>> = std::mem::take(&mut self.tables).into_iter().map(Some).collect();
        for (place, table) in tables.iter().flatten().enumerate() {
            table.reads.iter().for_each(|read| users[read.variable].push(place));
        }
        for &gate in gates.iter().rev() {
            let places: Vec<usize> =
                users[gate].iter().copied().filter(|&place| tables[place].is_some()).collect();
            let Some((&first, rest)) = places.split_first().filter(|_| open(&self.unary, gate)) else {
                continue;
            };
            let start = tables[first].clone();
            let joined = rest.iter().try_fold(start, |sum, &place| {
                let (sum, next) = (sum?, tables[place].as_ref()?);
                sum.plus(next, SMALL_GATE).map(Some)
            });
            let Some(Some(joined)) = joined else { continue };
            places.iter().for_each(|&place| tables[place] = None);
            let table = joined.without(gate, &self.unary[gate]);
            self.unary[gate] = vec![0.0];
            table.reads.iter().for_each(|read| users[read.variable].push(tables.len()));
            tables.push(Some(table));
        }
        tables.into_iter().flatten().for_each(|table| self.add(table));
    }

    /// Lets every table hand over anew, and gives the bound over the rows of the box, or nothing where there are none.
    pub(super) fn sweep(&mut self, backwards: bool, scratch: &mut Scratch) -> Option<f64> {
        let count = self.tables.len();
        for index in 0..count {
            let index = if backwards { count - 1 - index } else { index };
            if self.empty || !self.tables[index].hand_over(&mut self.unary, scratch) {
                return None;
            }
        }
        let best = |unary: &Vec<f64>| unary.iter().copied().fold(NEVER, f64::max);
        let bound = self.constant + self.unary.iter().map(best).sum::<f64>();
        (bound != NEVER && !self.empty).then_some(bound)
    }

    /// For each variable, how far the tables that read it are from their best in a row, given by the places of its values.
    pub(super) fn gaps(&self, row: &[usize], gaps: &mut [f64]) {
        for table in &self.tables {
            let entry = table.entries[table.offset(row)];
            if entry != NEVER {
                let share = -entry / table.reads.len() as f64;
                table.reads.iter().for_each(|read| gaps[read.variable] += share);
            }
        }
    }
}

/// The part of a shape's table that is in a box.
fn table_of(shape: &Shape, values: &Allowed, entry: impl Fn(u16) -> f64) -> Table {
    let (mut offsets, mut reads) = (vec![0usize], Vec::new());
    for read in &shape.reads {
        let cells = &values[read.variable];
        let mut number: Vec<Option<u16>> = vec![None; read.states];
        let mut order = Vec::new();
        let state: Rc<[u16]> = cells
            .iter()
            .map(|&cell| {
                let state = usize::from(read.state[cell as usize]);
                *number[state].get_or_insert_with(|| {
                    order.push(state * read.stride);
                    order.len() as u16 - 1
                })
            })
            .collect();
        if order.len() == 1 {
            offsets.iter_mut().for_each(|offset| *offset += order[0]);
        } else {
            offsets = order.iter().flat_map(|more| offsets.iter().map(move |offset| offset + more)).collect();
            reads.push(Read { variable: read.variable, state, states: order.len() });
        }
    }
    let entries = offsets.into_iter().map(|offset| entry(shape.addresses[offset])).collect();
    let mut table = Table { reads: reads.into(), entries };
    table.simplify();
    table
}
