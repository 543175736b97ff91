//! A table of numbers over the values of a few variables, and what it hands over to them.

use std::rc::Rc;

/// What an impossible row is worth.
pub(super) const NEVER: f64 = f64::NEG_INFINITY;

/// Entries that a sum of tables may have at the most.
const MOST_ENTRIES: usize = 1 << 12;
/// Entries that are gone over together, at the least.
const BLOCK: usize = 16;

/// A variable as one table reads it: values that look the same to the table are one state.
#[derive(Debug, Clone)]
pub(super) struct Read {
    pub(super) variable: usize,
    /// The state of each value, by its place among those that the variable may take.
    pub(super) state: Rc<[u16]>,
    pub(super) states: usize,
}

/// A number for each combination of states; the first variable changes fastest.
#[derive(Debug, Clone)]
pub(super) struct Table {
    /// Ascending by variable, each of two states or more.
    pub(super) reads: Rc<[Read]>,
    pub(super) entries: Vec<f64>,
}

/// What [`Table::hand_over`] works with.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// For each variable read and each state of it: the best value there, and the best row with it.
    rest: Vec<Vec<f64>>,
    best: Vec<Vec<f64>>,
    /// The same for each combination of states of the first variables, which are gone over together.
    block_rest: Vec<f64>,
    block_best: Vec<f64>,
}

impl Table {
    pub(super) fn variables(&self) -> Vec<usize> {
        self.reads.iter().map(|read| read.variable).collect()
    }

    /// The entry of a row, given by the places of the values.
    pub(super) fn offset(&self, row: &[usize]) -> usize {
        let mut stride = 1;
        let mut offset = 0;
        for read in self.reads.iter() {
            offset += stride * usize::from(read.state[row[read.variable]]);
            stride *= read.states;
        }
        offset
    }

    /// The one value of a variable of two that has a possible row, if one has none; `values` are the two.
    pub(super) fn only_value(&self, variable: usize, values: &[u32]) -> Option<u32> {
        let place = self.reads.iter().position(|read| read.variable == variable)?;
        let (read, stride) = (&self.reads[place], self.stride(place));
        let mut possible = vec![false; read.states];
        for (index, &entry) in self.entries.iter().enumerate() {
            possible[index / stride % read.states] |= entry != NEVER;
        }
        let mut left = values.iter().zip(&read.state[..]).filter(|(_, state)| possible[usize::from(**state)]);
        match (left.next(), left.next()) {
            (Some((&value, _)), None) => Some(value),
            _ => None,
        }
    }

    fn stride(&self, place: usize) -> usize {
        self.reads[..place].iter().map(|read| read.states).product()
    }

    /// Makes states that are alike one.
    pub(super) fn simplify(&mut self) {
        for place in (0..self.reads.len()).rev() {
            let (read, stride) = (&self.reads[place], self.stride(place));
            let alike = |a: usize, b: usize| {
                self.entries
                    .chunks_exact(stride * read.states)
                    .all(|block| block[a * stride..(a + 1) * stride] == block[b * stride..(b + 1) * stride])
            };
            let mut first: Vec<usize> = Vec::new();
            let number: Vec<u16> = (0..read.states)
                .map(|state| {
                    let known = first.iter().position(|&other| alike(other, state));
                    known.unwrap_or_else(|| {
                        first.push(state);
                        first.len() - 1
                    }) as u16
                })
                .collect();
            if first.len() < read.states {
                let state = read.state.iter().map(|&state| number[usize::from(state)]).collect();
                self.select(place, state, &first);
            }
        }
    }

    /// Keeps some states of a variable, with a new state for each of its values.
    fn select(&mut self, place: usize, state: Rc<[u16]>, kept: &[usize]) {
        let (read, stride) = (&self.reads[place], self.stride(place));
        if kept.len() < read.states || !kept.is_sorted() {
            let blocks = self.entries.chunks_exact(stride * read.states);
            let slices = blocks.flat_map(|block| {
                kept.iter().map(move |&state| &block[state * stride..(state + 1) * stride])
            });
            let mut entries = Vec::with_capacity(self.entries.len() / read.states * kept.len());
            slices.for_each(|slice| entries.extend_from_slice(slice));
            self.entries = entries;
        }
        let mut reads = self.reads.to_vec();
        if kept.len() == 1 {
            reads.remove(place);
        } else {
            reads[place] = Read { variable: read.variable, state, states: kept.len() };
        }
        self.reads = reads.into();
    }

    /// Keeps only some values of a variable, by their places.
    pub(super) fn restrict(&mut self, variable: usize, kept: &[usize]) {
        let Some(place) = self.reads.iter().position(|read| read.variable == variable) else { return };
        let read = &self.reads[place];
        let mut number: Vec<Option<u16>> = vec![None; read.states];
        let mut order = Vec::new();
        let state = kept
            .iter()
            .map(|&value| {
                let state = usize::from(read.state[value]);
                *number[state].get_or_insert_with(|| {
                    order.push(state);
                    order.len() as u16 - 1
                })
            })
            .collect();
        self.select(place, state, &order);
    }

    /// The sum of two tables, unless it is large: so many entries it may have in any case.
    pub(super) fn plus(&self, other: &Self, small: usize) -> Option<Self> {
        let most = MOST_ENTRIES.min((2 * (self.entries.len() + other.entries.len())).max(small));
        let (mut reads, mut places): (Vec<Read>, Vec<Vec<(usize, usize)>>) = (Vec::new(), Vec::new());
        let (mut ours, mut theirs) = (self.reads.iter().peekable(), other.reads.iter().peekable());
        let (mut our_stride, mut their_stride, mut size) = (1, 1, 1usize);
        loop {
            let variable = match (ours.peek(), theirs.peek()) {
                (Some(a), Some(b)) => a.variable.min(b.variable),
                (Some(read), None) | (None, Some(read)) => read.variable,
                (None, None) => break,
            };
            let a = ours.next_if(|read| read.variable == variable);
            let b = theirs.next_if(|read| read.variable == variable);
            // The pairs of states that values have, and their offsets in both tables.
            let mut pairs: Vec<(u16, u16)> = Vec::new();
            let values = a.or(b).map_or(0, |read| read.state.len());
            let state = (0..values)
                .map(|value| {
                    let of = |read: Option<&Read>| read.map_or(0, |read| read.state[value]);
                    let pair = (of(a), of(b));
                    let known = pairs.iter().position(|&other| other == pair);
                    known.unwrap_or_else(|| {
                        pairs.push(pair);
                        pairs.len() - 1
                    }) as u16
                })
                .collect();
            size = size.saturating_mul(pairs.len());
            if size > most {
                return None;
            }
            reads.push(Read { variable, state, states: pairs.len() });
            places.push(
                pairs
                    .iter()
                    .map(|&(a, b)| (our_stride * usize::from(a), their_stride * usize::from(b)))
                    .collect(),
            );
            our_stride *= a.map_or(1, |read| read.states);
            their_stride *= b.map_or(1, |read| read.states);
        }
        let mut offsets = vec![(0, 0)];
        for pairs in places {
            let next =
                pairs.iter().flat_map(|more| offsets.iter().map(move |at| (at.0 + more.0, at.1 + more.1)));
            offsets = next.collect();
        }
        let entries = offsets.into_iter().map(|(a, b)| self.entries[a] + other.entries[b]).collect();
        Some(Self { reads: reads.into(), entries })
    }

    /// The table of the best value of a variable that no other reads, given what was handed over to its values.
    pub(super) fn without(&self, variable: usize, unary: &[f64]) -> Self {
        let Some(place) = self.reads.iter().position(|read| read.variable == variable) else {
            return self.clone();
        };
        let (read, stride) = (&self.reads[place], self.stride(place));
        let mut worth = vec![NEVER; read.states];
        for (&state, &unary) in read.state.iter().zip(unary) {
            let worth = &mut worth[usize::from(state)];
            *worth = worth.max(unary);
        }
        let mut entries = Vec::with_capacity(self.entries.len() / read.states);
        for block in self.entries.chunks_exact(stride * read.states) {
            entries.extend((0..stride).map(|at| {
                let values =
                    worth.iter().enumerate().map(|(state, worth)| block[state * stride + at] + worth);
                values.fold(NEVER, f64::max)
            }));
        }
        let mut reads = self.reads.to_vec();
        reads.remove(place);
        let mut table = Self { reads: reads.into(), entries };
        table.simplify();
        table
    }

    /// Takes back what the table handed over, and hands out its best rows evenly. No entry is then above zero. Values that
    /// no possible row has are worth [`NEVER`] from then on. False where no row is possible.
    pub(super) fn hand_over(&mut self, unary: &mut [Vec<f64>], scratch: &mut Scratch) -> bool {
        let count = self.reads.len();
        if scratch.rest.len() < count {
            scratch.rest.resize_with(count, Vec::new);
            scratch.best.resize_with(count, Vec::new);
        }
        let (rest, best) = (&mut scratch.rest[..count], &mut scratch.best[..count]);
        for ((read, rest), best) in self.reads.iter().zip(&mut *rest).zip(&mut *best) {
            rest.clear();
            rest.resize(read.states, NEVER);
            for (&state, &worth) in read.state.iter().zip(&unary[read.variable]) {
                let rest = &mut rest[usize::from(state)];
                *rest = rest.max(worth);
            }
            best.clear();
            best.resize(read.states, NEVER);
        }
        let mut low = 0;
        let mut size = 1;
        while low < count && size < BLOCK {
            size *= self.reads[low].states;
            low += 1;
        }
        let (block_rest, block_best) = (&mut scratch.block_rest, &mut scratch.block_best);
        sums(&rest[..low], block_rest);
        block_best.clear();
        block_best.resize(size, NEVER);
        let (reads, rest_above, best_above) = (&self.reads[low..], &rest[low..], &mut best[low..]);
        if best_rows(&self.entries, reads, rest_above, best_above, (block_rest, block_best), 0.0) == NEVER {
            return false;
        }
        for (at, &value) in block_best.iter().enumerate() {
            let mut at = at;
            for best in &mut best[..low] {
                let states = best.len();
                let of_state = &mut best[at % states];
                *of_state = larger(value, *of_state);
                at /= states;
            }
        }
        for ((read, rest), best) in self.reads.iter().zip(&*rest).zip(&mut *best) {
            let unary = &mut unary[read.variable];
            for (state, (best, &rest)) in best.iter_mut().zip(rest).enumerate() {
                if *best == NEVER {
                    let values = unary.iter_mut().zip(&read.state[..]);
                    values.filter(|(_, of)| usize::from(**of) == state).for_each(|(unary, _)| *unary = NEVER);
                    *best = 0.0;
                } else {
                    // Rounded up, so that the shares of a row make up all of it.
                    *best = (*best / count as f64).ceil() - rest;
                }
            }
            for (unary, &state) in unary.iter_mut().zip(&read.state[..]) {
                *unary += best[usize::from(state)];
            }
        }
        sums(&best[..low], block_rest);
        subtract(&mut self.entries, &self.reads[low..], &best[low..], block_rest, 0.0);
        true
    }
}

fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The sum of one number of each list, for all combinations; the first list changes fastest.
fn sums(lists: &[Vec<f64>], sums: &mut Vec<f64>) {
    sums.clear();
    sums.push(0.0);
    for list in lists {
        let before = sums.len();
        for &number in &list[1..] {
            for at in 0..before {
                sums.push(sums[at] + number);
            }
        }
        sums[..before].iter_mut().for_each(|sum| *sum += list[0]);
    }
}

/// The best row with the states chosen so far; notes the best of each state of the variables, and of each place of a block.
fn best_rows(
    entries: &[f64],
    reads: &[Read],
    rest: &[Vec<f64>],
    best: &mut [Vec<f64>],
    block: (&[f64], &mut [f64]),
    so_far: f64,
) -> f64 {
    let (block_rest, block_best) = block;
    let [below @ .., read] = reads else { return best_of_block(entries, block_rest, block_best, so_far) };
    let level = below.len();
    let mut highest = NEVER;
    for (state, entries) in entries.chunks_exact(entries.len() / read.states).enumerate() {
        let worth = rest[level][state];
        if worth != NEVER {
            let value = best_rows(entries, below, rest, best, (block_rest, block_best), so_far + worth);
            best[level][state] = larger(value, best[level][state]);
            highest = larger(value, highest);
        }
    }
    highest
}

fn best_of_block(entries: &[f64], rest: &[f64], best: &mut [f64], so_far: f64) -> f64 {
    // Four at a time: the processor compares several numbers at once.
    let mut highest = [NEVER; 4];
    let mut entries = entries.chunks_exact(4);
    let mut rest = rest.chunks_exact(4);
    let mut best = best.chunks_exact_mut(4);
    for ((entries, rest), best) in (&mut entries).zip(&mut rest).zip(&mut best) {
        for lane in 0..4 {
            let value = entries[lane] + rest[lane] + so_far;
            best[lane] = larger(value, best[lane]);
            highest[lane] = larger(value, highest[lane]);
        }
    }
    let last = entries.remainder().iter().zip(rest.remainder()).zip(best.into_remainder());
    for ((entry, rest), best) in last {
        let value = entry + rest + so_far;
        *best = larger(value, *best);
        highest[0] = larger(value, highest[0]);
    }
    highest.into_iter().fold(NEVER, larger)
}

/// Takes what is handed over from all entries.
fn subtract(entries: &mut [f64], reads: &[Read], change: &[Vec<f64>], block: &[f64], so_far: f64) {
    let [below @ .., read] = reads else {
        entries.iter_mut().zip(block).for_each(|(entry, change)| *entry -= change + so_far);
        return;
    };
    let stride = entries.len() / read.states;
    for (entries, more) in entries.chunks_exact_mut(stride).zip(&change[below.len()]) {
        subtract(entries, below, change, block, so_far + more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::testing::{below, generator};

    const STATES: [usize; 4] = [3, 2, 4, 3];

    /// A table over some of four variables, with random numbers.
    fn random_table(seed: u64, variables: &[usize]) -> Table {
        let mut rng = generator(seed);
        let reads: Vec<Read> = variables
            .iter()
            .map(|&variable| {
                // Two values may look the same.
                let states = STATES[variable] - below(&mut rng, 2).min(STATES[variable] - 2);
                let state = (0..STATES[variable]).map(|value| value.min(states - 1) as u16).collect();
                Read { variable, state, states }
            })
            .collect();
        let size: usize = reads.iter().map(|read| read.states).product();
        let entries = (0..size).map(|_| (below(&mut rng, 201) as f64 - 100.0) * 1024.0).collect();
        Table { reads: reads.into(), entries }
    }

    fn rows() -> Vec<Vec<usize>> {
        let mut rows = vec![vec![]];
        for states in STATES {
            let longer = |row: &Vec<usize>| {
                let row = row.clone();
                (0..states).map(move |value| [row.clone(), vec![value]].concat())
            };
            rows = rows.iter().flat_map(longer).collect();
        }
        rows
    }

    #[test]
    fn handing_over_changes_no_row_and_leaves_nothing_above_zero() {
        for seed in 0..30 {
            let mut tables = [random_table(seed, &[0, 1, 3]), random_table(!seed, &[1, 2, 3])];
            let mut unary: Vec<Vec<f64>> = STATES.iter().map(|&states| vec![0.0; states]).collect();
            let value = |tables: &[Table], unary: &[Vec<f64>], row: &[usize]| -> f64 {
                let handed: f64 = row.iter().zip(unary).map(|(&value, unary)| unary[value]).sum();
                handed + tables.iter().map(|table| table.entries[table.offset(row)]).sum::<f64>()
            };
            let before: Vec<f64> = rows().iter().map(|row| value(&tables, &unary, row)).collect();
            let mut scratch = Scratch::default();
            let mut last = f64::MAX;
            for _ in 0..10 {
                assert!(tables.iter_mut().all(|table| table.hand_over(&mut unary, &mut scratch)));
                let after: Vec<f64> = rows().iter().map(|row| value(&tables, &unary, row)).collect();
                assert_eq!(before, after, "every row is worth the same");
                assert!(tables.iter().all(|table| table.entries.iter().all(|&entry| entry <= 0.0)));
                let bound: f64 = unary.iter().map(|unary| unary.iter().copied().fold(NEVER, f64::max)).sum();
                let best = before.iter().copied().fold(NEVER, f64::max);
                assert!(best <= bound, "it is a bound");
                assert!(bound <= last + 8.0, "it becomes no worse but for rounding");
                last = bound;
            }
        }
    }

    #[test]
    fn sums_restrictions_and_best_values_are_those_of_the_entries() {
        for seed in 0..30 {
            let (a, b) = (random_table(seed, &[0, 1, 3]), random_table(!seed, &[1, 2]));
            let sum = a.plus(&b, 1 << 10).unwrap();
            for row in rows() {
                let parts = a.entries[a.offset(&row)] + b.entries[b.offset(&row)];
                assert_eq!(sum.entries[sum.offset(&row)], parts);
            }
            let unary = [5.0, 1.0, 0.0];
            let without = sum.without(3, &unary);
            let kept = [2, 0];
            let mut narrow = sum.clone();
            narrow.restrict(2, &kept);
            for row in rows() {
                let with =
                    |value: usize| sum.entries[sum.offset(&[row[0], row[1], row[2], value])] + unary[value];
                assert_eq!(without.entries[without.offset(&row)], with(0).max(with(1)).max(with(2)));
                if row[2] < kept.len() {
                    let wide = [row[0], row[1], kept[row[2]], row[3]];
                    assert_eq!(narrow.entries[narrow.offset(&row)], sum.entries[sum.offset(&wide)]);
                }
            }
            assert!(
                a.plus(&b, 0).is_none_or(|sum| sum.entries.len() <= 2 * (a.entries.len() + b.entries.len()))
            );
        }
    }

    #[test]
    fn impossible_rows_rule_values_out() {
        let read = |variable| Read { variable, state: Rc::from([0, 1]), states: 2 };
        // A gate that is the AND of two others.
        let entries = (0..8).map(|row| if (row & 1 != 0) == (row >> 1 == 3) { 0.0 } else { NEVER }).collect();
        let mut table = Table { reads: Rc::from([read(0), read(1), read(2)]), entries };
        assert_eq!(table.only_value(0, &[0, 1]), None);
        let mut unary = vec![vec![0.0; 2], vec![0.0, NEVER], vec![0.0; 2]];
        assert!(table.hand_over(&mut unary, &mut Scratch::default()));
        assert_eq!(unary[0][1], NEVER, "one input is zero, so the AND is");
        let mut low = table.clone();
        low.restrict(1, &[0]);
        assert_eq!(low.only_value(0, &[0, 1]), Some(0));
    }
}
