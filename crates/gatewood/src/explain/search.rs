//! Whether a row exists for which some forms are all above zero: bounds first, then branching over columns.

use std::time::Duration;

use crate::platform::Instant;

use super::bound::{Allowed, Bound, VOTE};
use super::system::{Form, System};

/// Sweeps at the root, and at each branch.
const ROOT_SWEEPS: usize = 40;
const BRANCH_SWEEPS: usize = 6;

/// How long a question may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    deadline: Option<Instant>,
}

impl Limit {
    /// No limit.
    pub(super) const NONE: Self = Self { deadline: None };

    /// So much time from now on.
    pub(super) fn after(seconds: f64) -> Self {
        let time = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
        Self { deadline: Instant::now().checked_add(time) }
    }

    pub(super) fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// No row: proven.
    None,
    /// This one, gates included.
    Row(Vec<usize>),
    /// The time was over.
    Unknown,
}

/// Forms that are all to be above zero, with bounds that are kept from question to question.
#[derive(Debug, Clone)]
pub(super) struct Search {
    forms: Vec<Form>,
    bounds: Vec<Bound>,
    /// For each part, the terms of each form that change with it, and the gates.
    touched: Vec<Touched>,
}

#[derive(Debug, Clone, Default)]
struct Touched {
    /// By form: the places of its terms.
    terms: Vec<(usize, usize)>,
    /// Gates, in the order they are computed.
    gates: Vec<usize>,
}

impl Search {
    pub(super) fn new(system: &System, forms: Vec<Form>) -> Self {
        let bounds = forms.iter().map(|form| Bound::new(system, form)).collect();
        // The parts that each variable depends on.
        let mut parts_of: Vec<Vec<usize>> = (0..system.parts).map(|part| vec![part]).collect();
        let mut touched = vec![Touched::default(); system.parts];
        for gate in system.parts..system.variables() {
            let reads = system.rule_of[gate].map(|rule| &system.shapes[rule].reads);
            let mut parts: Vec<usize> = reads
                .into_iter()
                .flatten()
                .filter(|read| read.variable != gate)
                .flat_map(|read| parts_of[read.variable].clone())
                .collect();
            parts.sort_unstable();
            parts.dedup();
            parts.iter().for_each(|&part| touched[part].gates.push(gate));
            parts_of.push(parts);
        }
        for (number, form) in forms.iter().enumerate() {
            for (place, term) in form.terms.iter().enumerate() {
                let mut parts: Vec<usize> = system.shapes[term.shape]
                    .reads
                    .iter()
                    .flat_map(|read| parts_of[read.variable].iter().copied())
                    .collect();
                parts.sort_unstable();
                parts.dedup();
                parts.into_iter().for_each(|part| touched[part].terms.push((number, place)));
            }
        }
        Self { forms, bounds, touched }
    }

    /// Whether a form depends on a part at all.
    pub(super) fn depends_on(&self, part: usize) -> bool {
        !self.touched[part].terms.is_empty()
    }

    /// The most that a form can gain when one part changes, from a row on.
    pub(super) fn most_gained(&self, system: &System, part: usize, row: &[usize]) -> i64 {
        let cells: Vec<u32> = (0..system.cells(part) as u32).collect();
        let (mut row, mut changes) = (row.to_vec(), Vec::new());
        system.complete(&mut row);
        self.changes(system, part, &cells, &mut row, &mut changes);
        changes.into_iter().max().unwrap_or(0)
    }

    /// Looks for a row among those allowed, starting from a row that need not be allowed.
    pub(super) fn run(&mut self, system: &System, allowed: &Allowed, near: &[usize], limit: Limit) -> Found {
        let mut allowed = allowed.clone();
        allowed.resize_with(system.variables(), || vec![0, 1]);
        if allowed.iter().any(Vec::is_empty) {
            return Found::None;
        }
        let start: Vec<usize> = (0..system.parts)
            .map(|part| match near.get(part) {
                Some(&cell) if allowed[part].contains(&(cell as u32)) => cell,
                _ => allowed[part][0] as usize,
            })
            .collect();
        if let Some(row) = self.climb(system, &allowed, start) {
            return Found::Row(row);
        }
        let mut open: Vec<(Allowed, Vec<Bound>)> = vec![(allowed, self.bounds.clone())];
        let mut is_root = true;
        while let Some((mut allowed, mut bounds)) = open.pop() {
            if limit.is_over() {
                return Found::Unknown;
            }
            let sweeps = if is_root { ROOT_SWEEPS } else { BRANCH_SWEEPS };
            let verdict = self.examine(system, &mut allowed, &mut bounds, sweeps, limit);
            if is_root {
                self.bounds.clone_from(&bounds);
                is_root = false;
            }
            match verdict {
                Verdict::Closed => {}
                Verdict::Row(row) => return Found::Row(row),
                Verdict::Open(row) => {
                    let Some(part) = self.branch(system, &allowed, &bounds, &row) else {
                        // One row is left, and it is none.
                        continue;
                    };
                    for values in halves(&allowed[part], row[part] as u32) {
                        let mut narrower = allowed.clone();
                        narrower[part] = values;
                        open.push((narrower, bounds.clone()));
                    }
                }
            }
        }
        Found::None
    }

    fn examine(
        &self,
        system: &System,
        allowed: &mut Allowed,
        bounds: &mut [Bound],
        sweeps: usize,
        limit: Limit,
    ) -> Verdict {
        let mut last: Vec<i64> = vec![i64::MAX; bounds.len()];
        for sweep in 0..sweeps {
            let mut gained = 0;
            for (number, bound) in bounds.iter_mut().enumerate() {
                match bound.sweep(system, allowed, sweep % 2 == 1) {
                    // A form is a whole number: what is under one is not above zero.
                    Some(value) if value >= VOTE => {
                        gained = gained.max(last[number].saturating_sub(value));
                        last[number] = value;
                    }
                    _ => return Verdict::Closed,
                }
            }
            let excess = last.iter().min().map_or(0, |value| value - VOTE);
            // Going on does not pay where it would take many more sweeps.
            if sweep > 0 && sweep % 4 == 1 {
                if let Some(row) = self.climb(system, allowed, self.decode(system, allowed, bounds)) {
                    return Verdict::Row(row);
                }
                if gained.saturating_mul(100) < excess {
                    break;
                }
            }
            if limit.is_over() {
                break;
            }
        }
        let row = self.decode(system, allowed, bounds);
        match self.climb(system, allowed, row.clone()) {
            Some(row) => Verdict::Row(row),
            None => {
                let mut row = row;
                system.complete(&mut row);
                Verdict::Open(row)
            }
        }
    }

    /// The value of each part that the bounds like best.
    fn decode(&self, system: &System, allowed: &Allowed, bounds: &[Bound]) -> Vec<usize> {
        (0..system.parts)
            .map(|part| {
                let liked =
                    |cell: u32| -> i64 { bounds.iter().map(|bound| bound.unary(part)[cell as usize]).sum() };
                let first = allowed[part][0];
                let best = allowed[part].iter().fold((liked(first), first), |best, &cell| {
                    let value = liked(cell);
                    if value > best.0 { (value, cell) } else { best }
                });
                best.1 as usize
            })
            .collect()
    }

    /// Goes uphill, one part at a time, until all forms are above zero or nothing helps.
    fn climb(&self, system: &System, allowed: &Allowed, mut row: Vec<usize>) -> Option<Vec<usize>> {
        row.truncate(system.parts);
        system.complete(&mut row);
        let mut values: Vec<i64> = self.forms.iter().map(|form| system.value(form, &row)).collect();
        let lack = |values: &[i64]| values.iter().map(|value| (value - 1).min(0)).sum::<i64>();
        let mut changes = Vec::new();
        while lack(&values) < 0 {
            let mut best = (lack(&values), None);
            for part in (0..system.parts).filter(|&part| allowed[part].len() > 1) {
                if self.touched[part].terms.is_empty() {
                    continue;
                }
                self.changes(system, part, &allowed[part], &mut row, &mut changes);
                for (&cell, change) in allowed[part].iter().zip(changes.chunks(values.len())) {
                    let lacks: i64 =
                        values.iter().zip(change).map(|(value, change)| (value + change - 1).min(0)).sum();
                    if lacks > best.0 && self.may(system, part, cell as usize, &mut row) {
                        best = (lacks, Some((part, cell as usize)));
                    }
                }
            }
            let (part, cell) = best.1?;
            self.set(system, part, cell, &mut row);
            values.clear();
            values.extend(self.forms.iter().map(|form| system.value(form, &row)));
        }
        system.keeps_rules(&row).then_some(row)
    }

    /// Whether a row keeps the rules when a part takes another value.
    fn may(&self, system: &System, part: usize, cell: usize, row: &mut [usize]) -> bool {
        if system.rules.is_empty() {
            return true;
        }
        let own = row[part];
        self.set(system, part, cell, row);
        let may = system.keeps_rules(row);
        self.set(system, part, own, row);
        may
    }

    /// How each form changes when a part takes each of some values: a number a form, value by value.
    fn changes(
        &self,
        system: &System,
        part: usize,
        cells: &[u32],
        row: &mut [usize],
        changes: &mut Vec<i64>,
    ) {
        let forms = self.forms.len();
        changes.clear();
        changes.resize(cells.len() * forms, 0);
        if !self.touched[part].gates.is_empty() {
            let own = row[part];
            let before = self.part_of(system, part, row);
            for (&cell, change) in cells.iter().zip(changes.chunks_mut(forms)) {
                self.set(system, part, cell as usize, row);
                let after = self.part_of(system, part, row);
                change.iter_mut().zip(after.iter().zip(&before)).for_each(|(to, (a, b))| *to = a - b);
            }
            self.set(system, part, own, row);
            return;
        }
        let mut of_state = Vec::new();
        for &(form, place) in &self.touched[part].terms {
            let term = &self.forms[form].terms[place];
            let shape = &system.shapes[term.shape];
            let (mut offset, mut own) = (0, &shape.reads[0]);
            for read in &shape.reads {
                if read.variable == part {
                    own = read;
                } else {
                    offset += read.stride * usize::from(read.state[row[read.variable]]);
                }
            }
            let vote = |state: usize| term.votes[usize::from(shape.addresses[offset + own.stride * state])];
            let before = vote(usize::from(own.state[row[part]]));
            of_state.clear();
            of_state.extend((0..own.states).map(|state| vote(state) - before));
            for (&cell, change) in cells.iter().zip(changes.chunks_mut(forms)) {
                change[form] += of_state[usize::from(own.state[cell as usize])];
            }
        }
    }

    fn set(&self, system: &System, part: usize, cell: usize, row: &mut [usize]) {
        row[part] = cell;
        for &gate in &self.touched[part].gates {
            if let Some(rule) = system.rule_of[gate] {
                row[gate] = 0;
                row[gate] = usize::from(system.shapes[rule].address(row) != 0);
            }
        }
    }

    /// What the terms that change with a part add to each form.
    fn part_of(&self, system: &System, part: usize, row: &[usize]) -> Vec<i64> {
        let mut sums = vec![0; self.forms.len()];
        for &(form, place) in &self.touched[part].terms {
            let term = &self.forms[form].terms[place];
            sums[form] += term.votes[system.shapes[term.shape].address(row)];
        }
        sums
    }

    /// The part on whose value the terms are least agreed, in the form that is hardest to get above zero.
    fn branch(&self, system: &System, allowed: &Allowed, bounds: &[Bound], row: &[usize]) -> Option<usize> {
        let mut gaps = vec![0i64; system.variables()];
        bounds.iter().for_each(|bound| bound.gaps(system, row, &mut gaps));
        // What gates are not agreed on comes from what they read.
        for gate in (system.parts..system.variables()).rev() {
            if let Some(rule) = system.rule_of[gate] {
                let reads = &system.shapes[rule].reads;
                let share = gaps[gate] / reads.len() as i64;
                reads
                    .iter()
                    .filter(|read| read.variable != gate)
                    .for_each(|read| gaps[read.variable] += share);
            }
        }
        let matters = |part: usize| bounds.iter().any(|bound| bound.reads.binary_search(&part).is_ok());
        let open = (0..system.parts).filter(|&part| allowed[part].len() > 1 && matters(part));
        open.max_by_key(|&part| (gaps[part], std::cmp::Reverse(part)))
    }
}

enum Verdict {
    Closed,
    Row(Vec<usize>),
    Open(Vec<usize>),
}

/// Splits values in two, or one by one where they are few; that which has `first` comes last, to be looked at first.
fn halves(values: &[u32], first: u32) -> Vec<Vec<u32>> {
    let mut parts: Vec<Vec<u32>> = if values.len() <= 4 {
        values.iter().map(|&value| vec![value]).collect()
    } else {
        let (low, high) = values.split_at(values.len() / 2);
        vec![low.to_vec(), high.to_vec()]
    };
    parts.sort_by_key(|part| part.contains(&first));
    parts
}
