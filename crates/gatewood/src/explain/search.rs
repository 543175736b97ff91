//! Whether a row exists for which some forms are all above zero: bounds first, then branching over columns.

use std::rc::Rc;
use std::time::Duration;

use crate::platform::Instant;

use super::problem::{Allowed, Parts, Problem, VOTE};
#[cfg(feature = "prove")]
use super::sat::Clauses;
use super::system::{Form, System};
use super::table::Scratch;
use super::walk::{Links, Walk};

/// Sweeps at the root, and at each branch.
const ROOT_SWEEPS: usize = 40;
const BRANCH_SWEEPS: usize = 6;
/// Boxes that are looked at before the SAT solver is asked for the first time: few trees, and many. Bounds are the better
/// the more trees there are; adding votes up bit by bit is hard for a solver.
const FIRST_CLAUSES: [usize; 2] = [64, 4096];
/// What few trees are.
const FEW_TERMS: usize = 8;

/// How long a question may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    deadline: Option<Instant>,
    /// Boxes that may be looked at.
    boxes: usize,
}

impl Limit {
    /// No limit.
    pub(super) const NONE: Self = Self { deadline: None, boxes: usize::MAX };

    /// So much time from now on.
    pub(super) fn after(seconds: f64) -> Self {
        let time = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
        Self { deadline: Instant::now().checked_add(time), boxes: usize::MAX }
    }

    /// The same, but so many boxes for a question.
    pub(super) fn with_boxes(self, boxes: usize) -> Self {
        Self { boxes, ..self }
    }

    /// Boxes that may be looked at.
    #[cfg(feature = "prove")]
    pub(super) fn boxes(&self) -> usize {
        self.boxes
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

/// Forms that are all to be above zero.
#[derive(Debug)]
pub(super) struct Search {
    forms: Vec<Form>,
    /// What each form needs.
    needs: Vec<Parts>,
    /// What reads each variable.
    links: Links,
    /// For each variable, a number for each cell: the same where no form tells cells from each other.
    classes: Vec<Vec<u32>>,
    /// The same question as clauses, once it was asked for; none where they would be too many.
    #[cfg(feature = "prove")]
    clauses: Option<Option<Box<Clauses>>>,
}

/// A box of rows that is still to be looked at: part of another one.
struct Open {
    whole: Rc<Looked>,
    /// The variable that has fewer values, and the places of those that are left.
    narrowed: Option<(usize, Vec<usize>)>,
}

/// A box of rows: one cell for each value that a variable may take, and the forms over it.
#[derive(Clone)]
struct Looked {
    values: Allowed,
    problems: Vec<Problem>,
}

enum Verdict {
    Closed,
    Row(Vec<usize>),
    /// The places of the values that the bounds like best.
    Open(Vec<usize>),
}

impl Search {
    pub(super) fn new(system: &System, forms: Vec<Form>) -> Self {
        let needs: Vec<Parts> = forms.iter().map(|form| Parts::new(system, form)).collect();
        let links = Links::new(system, &forms);
        let mut classes: Vec<Vec<u32>> =
            (0..system.variables()).map(|variable| vec![0; system.cells(variable)]).collect();
        for shape in forms.iter().zip(&needs).flat_map(|(form, needs)| needs.shapes(form)) {
            for read in &system.shapes[shape].reads {
                refine(&mut classes[read.variable], &read.state);
            }
        }
        for (variable, classes) in classes.iter_mut().enumerate().take(system.parts) {
            system.patterns.iter().for_each(|patterns| patterns.tell_apart(system.keys(), variable, classes));
        }
        Self {
            forms,
            needs,
            links,
            classes,
            #[cfg(feature = "prove")]
            clauses: None,
        }
    }

    /// Whether a form depends on a part at all.
    pub(super) fn depends_on(&self, part: usize) -> bool {
        self.needs.iter().any(|needs| needs.reads[part])
    }

    /// The most that a form can gain when each part changes, itself alone, from a row on.
    pub(super) fn most_gained(&self, system: &System, row: &[usize]) -> Vec<i64> {
        let (mut walk, mut changes) = (self.walk(system, row), Vec::new());
        (0..system.parts)
            .map(|part| {
                let cells: Vec<u32> = (0..system.cells(part) as u32).collect();
                walk.changes(part, &cells, false, &mut changes);
                changes.iter().copied().max().unwrap_or(0)
            })
            .collect()
    }

    /// Which parts, each changed alone, make all forms be above zero, from a row on.
    pub(super) fn turned_by_one(&self, system: &System, row: &[usize]) -> Vec<bool> {
        let (mut walk, mut changes) = (self.walk(system, row), Vec::new());
        (0..system.parts)
            .map(|part| {
                let cells: Vec<u32> = (0..system.cells(part) as u32).collect();
                walk.changes(part, &cells, true, &mut changes);
                let turns =
                    |change: &[i64]| walk.values.iter().zip(change).all(|(value, change)| value + change > 0);
                changes.chunks(self.forms.len()).any(turns)
            })
            .collect()
    }

    /// Changes one part after the other, that first which helps most, until all forms are above zero or nothing helps.
    pub(super) fn steepest(
        &self,
        system: &System,
        allowed: &Allowed,
        row: &[usize],
        limit: Limit,
    ) -> Option<Vec<usize>> {
        let mut walk = self.walk(system, row);
        let lack = |values: &[i64], change: &[i64]| -> i64 {
            values.iter().zip(change).map(|(value, change)| (value + change - 1).min(0)).sum()
        };
        let none = vec![0; self.forms.len()];
        let mut changes = Vec::new();
        while lack(&walk.values, &none) < 0 {
            let mut best = (lack(&walk.values, &none), None);
            for part in (0..system.parts).filter(|&part| allowed[part].len() > 1 && self.depends_on(part)) {
                walk.changes(part, &allowed[part], false, &mut changes);
                for (&cell, change) in allowed[part].iter().zip(changes.chunks(self.forms.len())) {
                    let lacks = lack(&walk.values, change);
                    if lacks > best.0 && walk.may(part, cell as usize) {
                        best = (lacks, Some((part, cell as usize)));
                    }
                }
            }
            let (part, cell) = best.1.filter(|_| !limit.is_over())?;
            walk.set(part, cell);
        }
        system.keeps_rules(&walk.row).then_some(walk.row)
    }

    fn walk<'a>(&'a self, system: &'a System, row: &[usize]) -> Walk<'a> {
        Walk::new(system, &self.forms, &self.links, row)
    }

    /// Looks for a row among those allowed, starting from a row that need not be allowed.
    pub(super) fn run(&mut self, system: &System, allowed: &Allowed, near: &[usize], limit: Limit) -> Found {
        if allowed.iter().any(Vec::is_empty) {
            return Found::None;
        }
        if limit.is_over() {
            return Found::Unknown;
        }
        let mut values = self.values(system, allowed, near);
        let own = |part: usize| near.get(part).map_or(0, |&cell| cell as u32);
        let start: Vec<usize> = (0..system.parts)
            .map(|part| if values[part].contains(&own(part)) { own(part) } else { values[part][0] } as usize)
            .collect();
        if let Some(row) = self.climb(system, &values, &start) {
            return Found::Row(row);
        }
        system.narrow(&mut values);
        let problem = |(form, needs): (&Form, &Parts)| Problem::new(system, form, needs, &mut values);
        let problems = self.forms.iter().zip(&self.needs).map(problem).collect();
        let mut open = vec![Open { whole: Rc::new(Looked { values, problems }), narrowed: None }];
        let mut scratch = Scratch::default();
        let (mut looked_at, mut next_clauses) = (0, FIRST_CLAUSES[usize::from(self.has_many_terms())]);
        while let Some(next) = open.pop() {
            if limit.is_over() {
                return Found::Unknown;
            }
            if looked_at == next_clauses {
                let found = self.by_clauses(system, allowed, limit.with_boxes(looked_at.min(limit.boxes)));
                if found != Found::Unknown {
                    return found;
                }
                next_clauses = next_clauses.saturating_mul(4);
            }
            if looked_at >= limit.boxes {
                return Found::Unknown;
            }
            let sweeps = if next.narrowed.is_none() { ROOT_SWEEPS } else { BRANCH_SWEEPS };
            let mut looked = next.take(system);
            looked_at += 1;
            match self.examine(system, &mut looked, sweeps, limit, &mut scratch) {
                Verdict::Closed => {}
                Verdict::Row(row) => return Found::Row(row),
                Verdict::Open(row) => {
                    let Some(variable) = self.branch(system, &looked, &row) else {
                        // One row is left, and it is none.
                        continue;
                    };
                    let whole = Rc::new(looked);
                    for kept in halves(whole.values[variable].len(), row[variable]) {
                        open.push(Open { whole: Rc::clone(&whole), narrowed: Some((variable, kept)) });
                    }
                }
            }
        }
        Found::None
    }

    fn has_many_terms(&self) -> bool {
        self.forms.iter().any(|form| form.terms.len() > FEW_TERMS)
    }

    /// One cell for each value that a variable may take.
    fn values(&self, system: &System, allowed: &Allowed, near: &[usize]) -> Allowed {
        let of_part = |(part, cells): (usize, &Vec<u32>)| {
            one_of_each(&self.classes[part], cells, near.get(part).copied())
        };
        let mut values: Allowed = allowed.iter().enumerate().map(of_part).collect();
        values.resize_with(system.variables(), || vec![0, 1]);
        values
    }

    /// The same question for the SAT solver, which keeps what it learns.
    #[cfg(feature = "prove")]
    pub(super) fn by_clauses(&mut self, system: &System, allowed: &Allowed, limit: Limit) -> Found {
        // Of patterns there are no clauses.
        if !system.patterns.is_empty() {
            return Found::Unknown;
        }
        let values = self.values(system, allowed, &[]);
        let clauses = self.clauses.get_or_insert_with(|| {
            Clauses::new(system, &self.forms, &self.needs, &self.classes).map(Box::new)
        });
        match clauses {
            Some(clauses) => clauses.find(system, &self.forms, &self.classes, &values, limit),
            None => Found::Unknown,
        }
    }

    #[cfg(not(feature = "prove"))]
    fn by_clauses(&mut self, _: &System, _: &Allowed, _: Limit) -> Found {
        Found::Unknown
    }

    fn examine(
        &self,
        system: &System,
        looked: &mut Looked,
        sweeps: usize,
        limit: Limit,
        scratch: &mut Scratch,
    ) -> Verdict {
        let mut last: Vec<f64> = vec![f64::MAX; looked.problems.len()];
        for sweep in 0..sweeps {
            let mut gained = 0.0f64;
            for (problem, last) in looked.problems.iter_mut().zip(&mut last) {
                match problem.sweep(sweep % 2 == 1, scratch) {
                    // A form is a whole number: what is under one is not above zero.
                    Some(value) if value >= VOTE => {
                        gained = gained.max(*last - value);
                        *last = value;
                    }
                    _ => return Verdict::Closed,
                }
            }
            let excess = last.iter().copied().fold(f64::MAX, f64::min) - VOTE;
            // Going on does not pay where it would take many more sweeps.
            if sweep > 0 && sweep % 4 == 1 && gained * 100.0 < excess || limit.is_over() {
                break;
            }
        }
        let row = self.decode(system, looked);
        let cells: Vec<usize> =
            (0..system.parts).map(|part| looked.values[part][row[part]] as usize).collect();
        self.climb(system, &looked.values, &cells).map_or(Verdict::Open(row), Verdict::Row)
    }

    /// The place of the value of each variable that the bounds like best.
    fn decode(&self, system: &System, looked: &Looked) -> Vec<usize> {
        let liked = |variable: usize, place: usize| -> f64 {
            looked
                .problems
                .iter()
                .map(|problem| problem.unary(variable)[place.min(problem.unary(variable).len() - 1)])
                .sum()
        };
        (0..system.variables())
            .map(|variable| {
                let places = 1..looked.values[variable].len();
                let best = places.fold((liked(variable, 0), 0), |best, place| {
                    let value = liked(variable, place);
                    if value > best.0 { (value, place) } else { best }
                });
                best.1
            })
            .collect()
    }

    /// Goes uphill, one part after the other, until all forms are above zero or nothing helps.
    fn climb(&self, system: &System, allowed: &Allowed, row: &[usize]) -> Option<Vec<usize>> {
        let mut walk = self.walk(system, row);
        let lack = |values: &[i64]| values.iter().map(|value| (value - 1).min(0)).sum::<i64>();
        let open: Vec<usize> =
            (0..system.parts).filter(|&part| allowed[part].len() > 1 && self.depends_on(part)).collect();
        let mut changes = Vec::new();
        // Parts since the last that helped.
        let (mut next, mut idle) = (0, 0);
        while lack(&walk.values) < 0 {
            if idle >= open.len() {
                return None;
            }
            let part = open[next];
            (next, idle) = ((next + 1) % open.len(), idle + 1);
            walk.changes(part, &allowed[part], false, &mut changes);
            let mut best = (lack(&walk.values), None);
            for (&cell, change) in allowed[part].iter().zip(changes.chunks(self.forms.len())) {
                let lacks: i64 =
                    walk.values.iter().zip(change).map(|(value, change)| (value + change - 1).min(0)).sum();
                if lacks > best.0 && walk.may(part, cell as usize) {
                    best = (lacks, Some(cell as usize));
                }
            }
            if let (_, Some(cell)) = best {
                walk.set(part, cell);
                idle = 0;
            }
        }
        system.keeps_rules(&walk.row).then_some(walk.row)
    }

    /// The part on whose value the tables are least agreed.
    fn branch(&self, system: &System, looked: &Looked, row: &[usize]) -> Option<usize> {
        let mut gaps = vec![0.0f64; system.variables()];
        looked.problems.iter().for_each(|problem| problem.gaps(row, &mut gaps));
        // What gates are not agreed on comes from what they read.
        for gate in (system.parts..system.variables()).rev() {
            if let Some(rule) = system.rule_of[gate].filter(|_| gaps[gate] != 0.0) {
                let reads = &system.shapes[rule].reads;
                let open = || {
                    reads
                        .iter()
                        .filter(|read| read.variable != gate && looked.values[read.variable].len() > 1)
                };
                let share = gaps[gate] / open().count().max(1) as f64;
                open().for_each(|read| gaps[read.variable] += share);
            }
        }
        system.patterns.iter().for_each(|patterns| patterns.blame(system.keys(), &looked.values, &mut gaps));
        let matters = |part: usize| self.needs.iter().any(|needs| needs.reads[part]);
        let open = (0..system.parts).filter(|&part| looked.values[part].len() > 1 && matters(part));
        open.max_by(|&a, &b| gaps[a].total_cmp(&gaps[b]).then(b.cmp(&a)))
    }
}

impl Open {
    fn take(self, system: &System) -> Looked {
        let mut looked = Rc::unwrap_or_clone(self.whole);
        if let Some((variable, kept)) = self.narrowed {
            let values = &mut looked.values[variable];
            *values = kept.iter().map(|&place| values[place]).collect();
            let mut narrow = looked.values.clone();
            system.narrow(&mut narrow);
            // The columns of patterns that are known now.
            let known = |(now, before): (&Vec<u32>, &Vec<u32>)| {
                before.iter().position(|value| now.len() < before.len() && now[0] == *value)
            };
            let known: Vec<Option<usize>> = narrow.iter().zip(&looked.values).map(known).collect();
            looked.values = narrow;
            for problem in &mut looked.problems {
                problem.restrict(variable, &kept);
                if known.iter().any(Option::is_some) {
                    problem.fix(&known);
                }
                problem.tidy();
            }
        }
        looked
    }
}

/// Gives cells that have the same number so far different ones where their states differ.
pub(super) fn refine(classes: &mut [u32], states: &[u8]) {
    let mut known: Vec<(u32, u8)> = Vec::new();
    for (class, &state) in classes.iter_mut().zip(states) {
        let pair = (*class, state);
        let place = known.iter().rposition(|&other| other == pair).unwrap_or_else(|| {
            known.push(pair);
            known.len() - 1
        });
        *class = place as u32;
    }
}

/// One of some cells for each of their classes: `own` where it is among them, else the first.
fn one_of_each(classes: &[u32], cells: &[u32], own: Option<usize>) -> Vec<u32> {
    let mut is_known = vec![false; classes.len()];
    let mut chosen: Vec<u32> = Vec::new();
    let own = own.map(|cell| cell as u32).filter(|cell| cells.contains(cell));
    if let Some(own) = own {
        is_known[classes[own as usize] as usize] = true;
    }
    for &cell in cells {
        let class = classes[cell as usize] as usize;
        if Some(cell) == own || !is_known[class] {
            is_known[class] = true;
            chosen.push(cell);
        }
    }
    chosen
}

/// The places of so many values in two halves, or one by one where they are few; that which has `first` comes last, to be
/// looked at first.
fn halves(values: usize, first: usize) -> Vec<Vec<usize>> {
    let mut parts: Vec<Vec<usize>> = if values <= 4 {
        (0..values).map(|value| vec![value]).collect()
    } else {
        vec![(0..values / 2).collect(), (values / 2..values).collect()]
    };
    parts.sort_by_key(|part| part.contains(&first));
    parts
}
