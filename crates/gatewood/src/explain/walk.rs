//! A row that changes one part at a time, and what some forms are worth in it.

use std::collections::BTreeSet;

use super::patterns::Matches;
use super::system::{Form, System};

/// Values of a pixel that is compared with others that are tried at the most, evenly spread.
const TRIED: usize = 8;

/// What reads each variable.
#[derive(Debug, Clone)]
pub(super) struct Links {
    /// Terms, by form and place.
    terms: Vec<Vec<(usize, usize)>>,
    /// Gates, by their rules.
    gates: Vec<Vec<usize>>,
}

impl Links {
    pub(super) fn new(system: &System, forms: &[Form]) -> Self {
        let mut links =
            Self { terms: vec![Vec::new(); system.variables()], gates: vec![Vec::new(); system.variables()] };
        for (number, form) in forms.iter().enumerate() {
            for (place, term) in form.terms.iter().enumerate() {
                let reads = &system.shapes[term.shape].reads;
                reads.iter().for_each(|read| links.terms[read.variable].push((number, place)));
            }
        }
        for gate in system.parts..system.variables() {
            let reads = system.rule_of[gate].map(|rule| &system.shapes[rule].reads);
            let reads = reads.into_iter().flatten().filter(|read| read.variable != gate);
            reads.for_each(|read| links.gates[read.variable].push(gate));
        }
        links
    }
}

/// A row that changes one part at a time.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    system: &'a System,
    forms: &'a [Form],
    links: &'a Links,
    /// The value of each variable.
    pub(super) row: Vec<usize>,
    /// What each form is worth.
    pub(super) values: Vec<i64>,
    /// What each term adds, form by form.
    votes: Vec<Vec<i64>>,
    matches: Vec<Matches>,
    /// Variables whose value changed, and gates that read one of them.
    changed: Vec<usize>,
    waiting: BTreeSet<usize>,
}

impl<'a> Walk<'a> {
    /// Begins at a row of parts.
    pub(super) fn new(system: &'a System, forms: &'a [Form], links: &'a Links, row: &[usize]) -> Self {
        let mut row = row.to_vec();
        row.truncate(system.parts);
        system.complete(&mut row);
        let votes: Vec<Vec<i64>> = forms
            .iter()
            .map(|form| {
                let vote = |term: &super::system::Term| term.votes[system.shapes[term.shape].address(&row)];
                form.terms.iter().map(vote).collect()
            })
            .collect();
        let values = forms.iter().zip(&votes).map(|(form, votes)| form.constant + votes.iter().sum::<i64>());
        let matches = system.patterns.iter().map(|patterns| patterns.matches(system.keys(), &row));
        Self {
            system,
            forms,
            links,
            values: values.collect(),
            matches: matches.collect(),
            votes,
            changed: Vec::new(),
            waiting: BTreeSet::new(),
            row,
        }
    }

    /// Gives a part another value.
    pub(super) fn set(&mut self, part: usize, value: usize) {
        if self.row[part] == value {
            return;
        }
        self.row[part] = value;
        self.changed.clear();
        self.changed.push(part);
        for (patterns, matches) in self.system.patterns.iter().zip(&mut self.matches) {
            let changed = &mut self.changed;
            patterns.update(self.system.keys(), part, &mut self.row, matches, |column| changed.push(column));
        }
        for &variable in &self.changed {
            self.waiting.extend(&self.links.gates[variable]);
        }
        // Gates come after what they read.
        while let Some(gate) = self.waiting.pop_first() {
            let Some(rule) = self.system.rule_of[gate] else { continue };
            let before = std::mem::replace(&mut self.row[gate], 0);
            self.row[gate] = usize::from(self.system.shapes[rule].address(&self.row) != 0);
            if self.row[gate] != before {
                self.changed.push(gate);
                self.waiting.extend(&self.links.gates[gate]);
            }
        }
        for &variable in &self.changed {
            for &(form, place) in &self.links.terms[variable] {
                let term = &self.forms[form].terms[place];
                let vote = term.votes[self.system.shapes[term.shape].address(&self.row)];
                self.values[form] += vote - std::mem::replace(&mut self.votes[form][place], vote);
            }
        }
    }

    /// How each form changes when a part takes each of some values: a number a form, value by value. Of many values that cannot
    /// be looked up, only some are tried, unless it is to be `exact`; the others change nothing then.
    pub(super) fn changes(&mut self, part: usize, cells: &[u32], exact: bool, changes: &mut Vec<i64>) {
        let count = self.forms.len();
        changes.clear();
        changes.resize(cells.len() * count, 0);
        let is_read = |patterns: &super::patterns::PatternGates| patterns.reads(part);
        if !self.links.gates[part].is_empty() || self.system.patterns.iter().any(is_read) {
            let (own, before) = (self.row[part], self.values.clone());
            for (place, &cell) in cells.iter().enumerate() {
                if exact || is_tried(place, cells.len()) {
                    self.set(part, cell as usize);
                    let change = &mut changes[place * count..(place + 1) * count];
                    for ((to, after), before) in change.iter_mut().zip(&self.values).zip(&before) {
                        *to = after - before;
                    }
                }
            }
            self.set(part, own);
            return;
        }
        let mut of_state = Vec::new();
        for &(form, place) in &self.links.terms[part] {
            let term = &self.forms[form].terms[place];
            let shape = &self.system.shapes[term.shape];
            let (mut offset, mut own) = (0, &shape.reads[0]);
            for read in &shape.reads {
                if read.variable == part {
                    own = read;
                } else {
                    offset += read.stride * usize::from(read.state[self.row[read.variable]]);
                }
            }
            let vote = |state: usize| term.votes[usize::from(shape.addresses[offset + own.stride * state])];
            let before = vote(usize::from(own.state[self.row[part]]));
            of_state.clear();
            of_state.extend((0..own.states).map(|state| vote(state) - before));
            for (&cell, change) in cells.iter().zip(changes.chunks_mut(count)) {
                change[form] += of_state[usize::from(own.state[cell as usize])];
            }
        }
    }

    /// Whether the row keeps the rules when a part takes another value.
    pub(super) fn may(&mut self, part: usize, value: usize) -> bool {
        let own = std::mem::replace(&mut self.row[part], value);
        let may = self.system.keeps_rules(&self.row);
        self.row[part] = own;
        may
    }
}

/// Whether a value is among those that are tried, by its place among so many: the first, the last and some between.
fn is_tried(place: usize, count: usize) -> bool {
    count <= 2 * TRIED || place == count - 1 || place.is_multiple_of(count / TRIED)
}
