//! Upper bounds of a form over boxes of rows, exact in whole numbers.
//!
//! The largest vote of each tree, summed, is a bound, but a poor one: each tree would like another row. So each tree hands
//! part of its votes over to the values of the variables it reads (the messages below), in such a way that no tree gains
//! from a value that the others dislike. Whatever the messages are, the sum of the best value of each variable is a bound;
//! good messages only make it a close one. This is the dual of a linear program, improved one tree at a time.

use super::system::{Form, System};

/// One vote, in the units that messages are counted in.
pub(super) const VOTE: i64 = 1 << 20;
/// What a forbidden address is worth.
const FORBIDDEN: i64 = i64::MIN;

/// The values that each variable may take, ascending.
pub(super) type Allowed = Vec<Vec<u32>>;

/// A form with its messages.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    constant: i64,
    terms: Vec<BoundTerm>,
    /// What all terms hand over to each value of each variable.
    unary: Vec<Vec<i64>>,
    /// The variables that the terms read.
    pub(super) reads: Vec<usize>,
}

#[derive(Debug, Clone)]
struct BoundTerm {
    shape: usize,
    /// What each address is worth.
    votes: Vec<i64>,
    /// What was handed over, for each variable read and each state of it.
    messages: Vec<Vec<i64>>,
}

#[derive(Default)]
struct Scratch {
    /// For each variable read: the states that are allowed, what the other terms say of each, and the best row with it.
    states: Vec<Vec<usize>>,
    rest: Vec<Vec<i64>>,
    best: Vec<Vec<i64>>,
}

impl Bound {
    pub(super) fn new(system: &System, form: &Form) -> Self {
        // Rules of gates that no term reads do not matter.
        let mut needed = vec![false; system.variables()];
        let mark = |shape: usize, needed: &mut Vec<bool>| {
            system.shapes[shape].reads.iter().for_each(|read| needed[read.variable] = true);
        };
        form.terms.iter().for_each(|term| mark(term.shape, &mut needed));
        let mut shapes: Vec<(usize, Vec<i64>)> = form
            .terms
            .iter()
            .map(|term| (term.shape, term.votes.iter().map(|vote| vote * VOTE).collect()))
            .collect();
        for &rule in system.rules.iter().rev() {
            let owner = system.rule_of.iter().position(|of| *of == Some(rule));
            if owner.is_none_or(|gate| needed[gate]) {
                mark(rule, &mut needed);
                shapes.push((rule, vec![0, FORBIDDEN]));
            }
        }
        let terms = shapes.into_iter().map(|(shape, votes)| {
            let messages = system.shapes[shape].reads.iter().map(|read| vec![0; read.states]).collect();
            BoundTerm { shape, votes, messages }
        });
        Self {
            constant: form.constant * VOTE,
            terms: terms.collect(),
            unary: (0..system.variables()).map(|variable| vec![0; system.cells(variable)]).collect(),
            reads: (0..system.variables()).filter(|&variable| needed[variable]).collect(),
        }
    }

    /// What the terms hand over to a variable's values.
    pub(super) fn unary(&self, variable: usize) -> &[i64] {
        &self.unary[variable]
    }

    /// Improves the messages of all terms once and gives the bound over the allowed rows, or nothing where there are none.
    /// Values that no allowed row has are no longer allowed.
    ///
    /// The bound holds from the first sweep after any value was allowed again.
    pub(super) fn sweep(&mut self, system: &System, allowed: &mut Allowed, backwards: bool) -> Option<i64> {
        let mut scratch = Scratch::default();
        let count = self.terms.len();
        for index in 0..count {
            let index = if backwards { count - 1 - index } else { index };
            self.improve(system, index, allowed, &mut scratch)?;
        }
        self.value(allowed)
    }

    /// The bound as the messages are.
    fn value(&self, allowed: &Allowed) -> Option<i64> {
        let mut sum = self.constant;
        for &variable in &self.reads {
            sum += allowed[variable].iter().map(|&cell| self.unary[variable][cell as usize]).max()?;
        }
        Some(sum)
    }

    /// Takes back what a term handed over, and hands out its best rows evenly. No row of the term is worth more than what
    /// it then has handed over.
    fn improve(
        &mut self,
        system: &System,
        index: usize,
        allowed: &mut Allowed,
        scratch: &mut Scratch,
    ) -> Option<()> {
        let term = &mut self.terms[index];
        let shape = &system.shapes[term.shape];
        let reads = shape.reads.len();
        scratch.states.resize_with(reads.max(scratch.states.len()), Vec::new);
        scratch.rest.resize_with(reads.max(scratch.rest.len()), Vec::new);
        scratch.best.resize_with(reads.max(scratch.best.len()), Vec::new);
        let mut free = 0;
        for (place, read) in shape.reads.iter().enumerate() {
            let rest = &mut scratch.rest[place];
            rest.clear();
            rest.resize(read.states, FORBIDDEN);
            let (unary, messages) = (&self.unary[read.variable], &term.messages[place]);
            for &cell in &allowed[read.variable] {
                let state = usize::from(read.state[cell as usize]);
                rest[state] = rest[state].max(unary[cell as usize] - messages[state]);
            }
            let states = &mut scratch.states[place];
            states.clear();
            states.extend((0..read.states).filter(|&state| rest[state] != FORBIDDEN));
            free += usize::from(states.len() > 1);
            let best = &mut scratch.best[place];
            best.clear();
            best.resize(read.states, FORBIDDEN);
        }
        let walk = Walk {
            addresses: &shape.addresses,
            votes: &term.votes,
            strides: &shape.reads.iter().map(|read| read.stride).collect::<Vec<_>>(),
            states: &scratch.states[..reads],
            rest: &scratch.rest[..reads],
        };
        if walk.best(reads, 0, 0, &mut scratch.best[..reads]) == FORBIDDEN {
            return None;
        }
        let shares = free.max(1) as i64;
        for (place, read) in shape.reads.iter().enumerate() {
            let (rest, best) = (&scratch.rest[place], &scratch.best[place]);
            let takes = scratch.states[place].len() > 1 || (free == 0 && place == 0);
            let mut is_narrower = false;
            for &state in &scratch.states[place] {
                if best[state] == FORBIDDEN {
                    is_narrower = true;
                    continue;
                }
                // Rounded up, so that the shares of a row make up all of it.
                let share = if takes { -(-best[state]).div_euclid(shares) } else { 0 };
                let change = share - rest[state] - term.messages[place][state];
                term.messages[place][state] += change;
                if change != 0 {
                    for (cell, unary) in self.unary[read.variable].iter_mut().enumerate() {
                        if usize::from(read.state[cell]) == state {
                            *unary += change;
                        }
                    }
                }
            }
            if is_narrower {
                allowed[read.variable]
                    .retain(|&cell| best[usize::from(read.state[cell as usize])] != FORBIDDEN);
            }
        }
        Some(())
    }

    /// For each variable, how far the terms that read it are from their best in a row.
    pub(super) fn gaps(&self, system: &System, row: &[usize], gaps: &mut [i64]) {
        for term in &self.terms {
            let shape = &system.shapes[term.shape];
            let vote = term.votes[shape.address(row)];
            if vote == FORBIDDEN {
                continue;
            }
            let handed: i64 = shape
                .reads
                .iter()
                .zip(&term.messages)
                .map(|(read, messages)| messages[usize::from(read.state[row[read.variable]])])
                .sum();
            let gap = handed.saturating_sub(vote);
            shape.reads.iter().for_each(|read| gaps[read.variable] += gap / shape.reads.len() as i64);
        }
    }
}

/// Goes over all allowed rows of a table.
struct Walk<'a> {
    addresses: &'a [u16],
    votes: &'a [i64],
    strides: &'a [usize],
    states: &'a [Vec<usize>],
    rest: &'a [Vec<i64>],
}

impl Walk<'_> {
    /// The best row with the states chosen so far, those of the variables from `level` on; notes the best of each state.
    fn best(&self, level: usize, offset: usize, so_far: i64, best: &mut [Vec<i64>]) -> i64 {
        let Some(level) = level.checked_sub(1) else {
            let vote = self.votes[usize::from(self.addresses[offset])];
            return if vote == FORBIDDEN { FORBIDDEN } else { vote + so_far };
        };
        let (stride, rest) = (self.strides[level], &self.rest[level]);
        let mut highest = FORBIDDEN;
        if level == 0 {
            let own = &mut best[0];
            for &state in &self.states[0] {
                let vote = self.votes[usize::from(self.addresses[offset + stride * state])];
                if vote != FORBIDDEN {
                    let value = vote + so_far + rest[state];
                    own[state] = own[state].max(value);
                    highest = highest.max(value);
                }
            }
            return highest;
        }
        for &state in &self.states[level] {
            let value = self.best(level, offset + stride * state, so_far + rest[state], best);
            best[level][state] = best[level][state].max(value);
            highest = highest.max(value);
        }
        highest
    }
}
