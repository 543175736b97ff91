//! A grove as sums of small tables over variables that each take one of a few values.
//!
//! The variables are the parts of raw columns, whose values are their cells. Where a tree reads too many of them for one
//! table, its gates become variables too, tied to what they read by tables of what is forbidden. So do the columns of
//! patterns, which [`PatternGates`] ties to what they read.

use std::collections::HashMap;

use super::domain::Domain;
use super::flat::Flat;
use super::patterns::{PatternGates, Source};
use super::problem::Allowed;
use crate::circuit::{Grove, Target};

/// Entries of the largest table that is made of a whole tree.
const TABLE_ENTRIES: usize = 1 << 12;

/// One bit that a table reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lead {
    pub(super) variable: usize,
    /// The bit's place in the cell; 0 for a gate.
    pub(super) place: usize,
}

/// A variable as one table reads it: cells that look the same to the table are one state.
#[derive(Debug, Clone)]
pub(super) struct Read {
    pub(super) variable: usize,
    /// The state of each cell.
    pub(super) state: Vec<u8>,
    pub(super) states: usize,
    pub(super) stride: usize,
}

/// A table of addresses over the states of a few variables.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) reads: Vec<Read>,
    pub(super) addresses: Vec<u16>,
}

impl Shape {
    /// The address in a row of values.
    pub(super) fn address(&self, row: &[usize]) -> usize {
        let offset: usize =
            self.reads.iter().map(|read| read.stride * usize::from(read.state[row[read.variable]])).sum();
        usize::from(self.addresses[offset])
    }
}

/// A table of [`System::shapes`] with a number for each address.
#[derive(Debug, Clone)]
pub(super) struct Term {
    pub(super) shape: usize,
    pub(super) votes: Vec<i64>,
}

/// A sum of tables: a margin, or a difference of margins.
#[derive(Debug, Clone, Default)]
pub(super) struct Form {
    pub(super) constant: i64,
    pub(super) terms: Vec<Term>,
}

impl Form {
    /// This form plus `factor` times another; tables that cancel are left out.
    pub(super) fn plus(&self, factor: i64, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.constant += factor * other.constant;
        let mut place: HashMap<usize, usize> =
            sum.terms.iter().enumerate().map(|(place, term)| (term.shape, place)).collect();
        for term in &other.terms {
            let votes = term.votes.iter().map(|vote| factor * vote);
            match place.get(&term.shape) {
                Some(&place) => {
                    sum.terms[place].votes.iter_mut().zip(votes).for_each(|(vote, other)| *vote += other);
                }
                None => {
                    place.insert(term.shape, sum.terms.len());
                    sum.terms.push(Term { shape: term.shape, votes: votes.collect() });
                }
            }
        }
        let flat = |term: &Term| term.votes.iter().all(|vote| *vote == term.votes[0]);
        sum.constant += sum.terms.iter().filter(|term| flat(term)).map(|term| term.votes[0]).sum::<i64>();
        sum.terms.retain(|term| !flat(term));
        sum
    }

    /// This form and a constant.
    pub(super) fn offset(mut self, constant: i64) -> Self {
        self.constant += constant;
        self
    }
}

/// The variables, and the tables over them.
#[derive(Debug, Clone)]
pub(super) struct System {
    /// The keys of each variable's cells: the bits that tables read. Gates have one bit.
    keys: Vec<Vec<Vec<bool>>>,
    pub(super) shapes: Vec<Shape>,
    /// Shapes whose address must be zero. That of a gate's variable comes after those of the variables it reads.
    pub(super) rules: Vec<usize>,
    /// Those of the rules that are of no gate.
    row_rules: Vec<usize>,
    /// The rule that says a variable's value, for gates; columns of patterns have none.
    pub(super) rule_of: Vec<Option<usize>>,
    /// Variables that are parts of columns, copies included.
    pub(super) parts: usize,
    /// The patterns, over the parts and over their copies.
    pub(super) patterns: Vec<PatternGates>,
    /// Where those over parts and over copies are, once they are there.
    pattern_places: [Option<usize>; 2],
    copies: HashMap<usize, usize>,
    gates: HashMap<(u32, bool), usize>,
    trees: HashMap<(usize, bool), usize>,
}

impl System {
    /// The variables of a domain, and for each of `copied` parts another one that has a value of its own.
    pub(super) fn new(domain: &Domain, copied: &[usize]) -> Self {
        let keys = |part: usize| domain.parts[part].cells.iter().map(|cell| cell.key.clone()).collect();
        let order = (0..domain.parts.len()).chain(copied.iter().copied());
        let keys: Vec<Vec<Vec<bool>>> = order.map(keys).collect();
        let copies =
            copied.iter().enumerate().map(|(place, &part)| (part, domain.parts.len() + place)).collect();
        let parts = keys.len();
        let mut system = Self {
            rule_of: vec![None; parts],
            keys,
            shapes: Vec::new(),
            rules: Vec::new(),
            row_rules: Vec::new(),
            parts,
            patterns: Vec::new(),
            pattern_places: [None; 2],
            copies,
            gates: HashMap::new(),
            trees: HashMap::new(),
        };
        for &gap in &domain.gaps {
            for &other in &domain.of_column[domain.parts[gap].column] {
                if other != gap {
                    system.add_gap(gap, other, domain);
                }
            }
        }
        system
    }

    /// Number of variables.
    pub(super) fn variables(&self) -> usize {
        self.keys.len()
    }

    /// Number of values of a variable.
    pub(super) fn cells(&self, variable: usize) -> usize {
        self.keys[variable].len()
    }

    /// The variable that is the copy of a part.
    pub(super) fn copy_of(&self, part: usize) -> usize {
        self.copies.get(&part).copied().unwrap_or(part)
    }

    /// A gap leaves no other bit of its column set.
    fn add_gap(&mut self, gap: usize, other: usize, domain: &Domain) {
        for (gap, other) in [(gap, other), (self.copy_of(gap), self.copy_of(other))] {
            let mut leads = vec![Lead { variable: gap, place: 0 }];
            let width = domain.parts.get(other).map_or(0, |part| part.bits.len());
            let width = if width == 0 { self.keys[other][0].len() } else { width };
            leads.extend((0..width).map(|place| Lead { variable: other, place }));
            let rule = self.shape(&leads, |key| u16::from(key & 1 != 0 && key >> 1 != 0));
            let known = self.rules.iter().any(|&known| {
                let variables =
                    |shape: usize| self.shapes[shape].reads.iter().map(|r| r.variable).collect::<Vec<_>>();
                variables(known) == variables(rule)
            });
            if !known {
                self.rules.push(rule);
                self.row_rules.push(rule);
            }
        }
    }

    /// The margins of a grove: forms over the parts, or over their copies where there are any.
    pub(super) fn margins(&mut self, grove: &Grove, domain: &Domain, copy: bool) -> Vec<Form> {
        let mut margins: Vec<Form> =
            grove.bias().iter().map(|&bias| Form { constant: bias.into(), terms: Vec::new() }).collect();
        for (index, tree) in grove.trees().iter().enumerate() {
            let flat = Flat::new(grove, tree);
            let copied = copy && flat.inputs().iter().any(|&column| self.reads_copy(grove, domain, column));
            let shape = match self.trees.get(&(index, copied)) {
                Some(&shape) => shape,
                None => {
                    let shape = self.add_tree(grove, &flat, domain, copied);
                    self.trees.insert((index, copied), shape);
                    shape
                }
            };
            let votes = |margin: usize| -> Vec<i64> {
                let addresses = 1usize << tree.arities()[tree.depth() - 1];
                (0..addresses).map(|address| tree.votes_at(address)[margin].into()).collect()
            };
            match tree.target() {
                Target::One(margin) => margins[margin as usize].terms.push(Term { shape, votes: votes(0) }),
                Target::All => margins
                    .iter_mut()
                    .enumerate()
                    .for_each(|(margin, form)| form.terms.push(Term { shape, votes: votes(margin) })),
            }
        }
        margins
    }

    fn lead(&self, domain: &Domain, bit: u32, copied: bool) -> Lead {
        let (part, place) = domain.of_bit[bit as usize];
        Lead { variable: if copied { self.copy_of(part) } else { part }, place }
    }

    /// Whether a bit, or a column of a pattern, is one of a part that has a copy.
    fn reads_copy(&self, grove: &Grove, domain: &Domain, column: u32) -> bool {
        let of_bit = |bit: u32| domain.parts_of(bit).any(|part| self.copies.contains_key(&part));
        match grove.pattern(column) {
            None => of_bit(column),
            Some((pattern, _)) => grove.patterns().inputs_of(pattern).into_iter().any(of_bit),
        }
    }

    /// The variable of a column of a pattern.
    fn pattern_lead(&mut self, grove: &Grove, domain: &Domain, column: u32, copied: bool) -> Lead {
        let copied = copied && self.reads_copy(grove, domain, column);
        let place = self.pattern_places[usize::from(copied)].unwrap_or_else(|| {
            let variable = |part: usize| if copied { self.copy_of(part) } else { part };
            let source = |bit: u32| match domain.comparison(bit) {
                Some((part, other, margin)) => {
                    Source::Exceeds { variable: variable(part), other: variable(other), margin }
                }
                None => {
                    let (part, place) = domain.of_bit[bit as usize];
                    Source::Key { variable: variable(part), place }
                }
            };
            let gates = PatternGates::new(grove.patterns(), source, self.parts, self.keys.len());
            self.keys.extend(gates.variables().map(|_| vec![vec![false], vec![true]]));
            self.rule_of.resize(self.keys.len(), None);
            self.patterns.push(gates);
            self.pattern_places[usize::from(copied)] = Some(self.patterns.len() - 1);
            self.patterns.len() - 1
        });
        let first = grove.inputs() + grove.spans().len();
        Lead { variable: self.patterns[place].first + column as usize - first, place: 0 }
    }

    /// A tree as one table of its parts' cells, or else of the gates that trees share, or else of its own gates.
    fn add_tree(&mut self, grove: &Grove, flat: &Flat<'_>, domain: &Domain, copied: bool) -> usize {
        let has_patterns = flat.inputs().iter().any(|&column| grove.pattern(column).is_some());
        if !has_patterns && flat.inputs().len() <= 128 {
            let leads: Vec<Lead> = flat.inputs().iter().map(|&bit| self.lead(domain, bit, copied)).collect();
            if self.entries(&leads) <= TABLE_ENTRIES {
                return self.flat_shape(flat, &leads);
            }
        }
        let narrow = Flat::over_columns(flat.tree());
        let leads: Vec<Lead> = narrow
            .inputs()
            .iter()
            .map(|&column| match grove.span(column) {
                None if grove.pattern(column).is_some() => self.pattern_lead(grove, domain, column, copied),
                None => self.lead(domain, column, copied),
                Some(span) => {
                    let reads: Vec<Lead> =
                        span.columns().iter().map(|&bit| self.lead(domain, bit, copied)).collect();
                    let words = Flat::table_of(span);
                    self.gate(Some((column, copied)), &reads, &words)
                }
            })
            .collect();
        if narrow.inputs().len() <= 128 && self.entries(&leads) <= TABLE_ENTRIES {
            return self.flat_shape(&narrow, &leads);
        }
        let mut signals = leads;
        for (words, reads) in narrow.gates() {
            let reads: Vec<Lead> = reads.iter().map(|&signal| signals[signal]).collect();
            let gate = self.gate(None, &reads, words);
            signals.push(gate);
        }
        let root: Vec<Lead> = narrow.root().iter().map(|&signal| signals[signal]).collect();
        self.shape(&root, |key| key as u16)
    }

    fn flat_shape(&mut self, flat: &Flat<'_>, leads: &[Lead]) -> usize {
        if flat.inputs().len() <= 16 {
            let addresses = flat.addresses();
            return self.shape(leads, |key| addresses[key as usize]);
        }
        let (mut values, mut scratch) = (Vec::new(), Vec::new());
        self.shape(leads, |key| {
            values.clear();
            values.extend((0..leads.len()).map(|place| (key >> place & 1) as u64));
            flat.evaluate(&mut values, &mut scratch);
            flat.address(&values, 0) as u16
        })
    }

    /// The variable of a gate that reads these bits.
    fn gate(&mut self, known_as: Option<(u32, bool)>, reads: &[Lead], words: &[u64]) -> Lead {
        if let Some(&variable) = known_as.as_ref().and_then(|name| self.gates.get(name)) {
            return Lead { variable, place: 0 };
        }
        let variable = self.keys.len();
        self.keys.push(vec![vec![false], vec![true]]);
        let own = Lead { variable, place: 0 };
        let leads: Vec<Lead> = std::iter::once(own).chain(reads.iter().copied()).collect();
        let rule = self.shape(&leads, |key| {
            let address = (key >> 1) as usize;
            u16::from((key & 1) as u64 != words[address / 64] >> (address % 64) & 1)
        });
        self.rules.push(rule);
        self.rule_of.push(Some(rule));
        if let Some(name) = known_as {
            self.gates.insert(name, variable);
        }
        own
    }

    /// For each variable among some bits, the states that its cells have as these see them: the key of each state, and
    /// the state of each cell.
    fn states(&self, leads: &[Lead]) -> Vec<(usize, Vec<u128>, Vec<u8>)> {
        let mut variables: Vec<usize> = leads.iter().map(|lead| lead.variable).collect();
        variables.sort_unstable();
        variables.dedup();
        variables
            .into_iter()
            .map(|variable| {
                let mut states: Vec<u128> = Vec::new();
                let of_cell = self.keys[variable]
                    .iter()
                    .map(|key| {
                        let mask = leads
                            .iter()
                            .enumerate()
                            .filter(|(_, lead)| lead.variable == variable)
                            .fold(0u128, |mask, (bit, lead)| mask | u128::from(key[lead.place]) << bit);
                        let known = states.iter().position(|&state| state == mask).unwrap_or_else(|| {
                            states.push(mask);
                            states.len() - 1
                        });
                        known.min(255) as u8
                    })
                    .collect();
                (variable, states, of_cell)
            })
            .collect()
    }

    /// Entries of the table over some bits.
    fn entries(&self, leads: &[Lead]) -> usize {
        let states = self.states(leads);
        if states.iter().any(|(_, states, _)| states.len() > 255) {
            return usize::MAX;
        }
        states.iter().fold(1usize, |all, (_, states, _)| all.saturating_mul(states.len()))
    }

    /// Adds the table over some bits, bit `j` of its key being the `j`-th.
    fn shape(&mut self, leads: &[Lead], mut address: impl FnMut(u128) -> u16) -> usize {
        let states = self.states(leads);
        let mut keys = vec![0u128];
        let mut reads = Vec::with_capacity(states.len());
        for (variable, states, state) in states {
            reads.push(Read { variable, state, states: states.len(), stride: keys.len() });
            keys = states.iter().flat_map(|state| keys.iter().map(move |key| key | state)).collect();
        }
        self.shapes.push(Shape { reads, addresses: keys.into_iter().map(&mut address).collect() });
        self.shapes.len() - 1
    }

    /// Sets the values of gates from those of the parts.
    pub(super) fn complete(&self, row: &mut Vec<usize>) {
        row.resize(self.variables(), 0);
        self.patterns.iter().for_each(|patterns| patterns.complete(&self.keys, row));
        for variable in self.parts..self.variables() {
            if let Some(rule) = self.rule_of[variable] {
                row[variable] = 0;
                row[variable] = usize::from(self.shapes[rule].address(row) != 0);
            }
        }
    }

    /// The value of a form in a row whose gates are set.
    pub(super) fn value(&self, form: &Form, row: &[usize]) -> i64 {
        form.constant
            + form.terms.iter().map(|term| term.votes[self.shapes[term.shape].address(row)]).sum::<i64>()
    }

    /// Whether a row whose gates are set keeps all rules.
    pub(super) fn keeps_rules(&self, row: &[usize]) -> bool {
        self.row_rules.iter().all(|&rule| self.shapes[rule].address(row) == 0)
    }

    /// What the columns of patterns can be in a box of rows.
    pub(super) fn narrow(&self, values: &mut Allowed) {
        self.patterns.iter().for_each(|patterns| patterns.narrow(&self.keys, values));
    }

    /// The keys of each variable's cells.
    pub(super) fn keys(&self) -> &[Vec<Vec<bool>>] {
        &self.keys
    }
}
