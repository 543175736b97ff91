//! Patterns of images as variables of a system: what they say of one row, and what they may say of a box of rows.
//!
//! A pattern reads far too many pixels for a table. In a box of rows it is asked in three values instead: a shift matches
//! for certain, perhaps, or never. Where that leaves a column of the pattern open, bounds take it to be either, which is more
//! than there is: what is ruled out so is ruled out, and branching over pixels decides the rest.

use super::problem::Allowed;
use crate::circuit::{Pattern, PatternLayer};

/// Bits of a word.
const WORD: usize = 64;

/// Where a place of a plane has its bit from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Source {
    /// A bit of the keys of a variable.
    Key { variable: usize, place: usize },
    /// Whether one pixel less another is above a margin. The values of both are bytes.
    Exceeds { variable: usize, other: usize, margin: f64 },
}

impl Source {
    /// What it is in a row.
    fn bit(&self, keys: &[Vec<Vec<bool>>], row: &[usize]) -> bool {
        match *self {
            Self::Key { variable, place } => keys[variable][row[variable]][place],
            Self::Exceeds { variable, other, margin } => row[variable] as f64 - row[other] as f64 > margin,
        }
    }

    /// Whether it can be zero in a box of rows, and whether it can be one.
    fn may(&self, keys: &[Vec<Vec<bool>>], values: &Allowed) -> [bool; 2] {
        match *self {
            Self::Key { variable, place } => {
                let is = |value: bool| {
                    values[variable].iter().any(|&cell| keys[variable][cell as usize][place] == value)
                };
                [is(false), is(true)]
            }
            Self::Exceeds { variable, other, margin } => {
                // Values are in order.
                let ends = |variable: usize| {
                    let values = &values[variable];
                    [values.first(), values.last()].map(|value| value.map_or(0.0, |&value| f64::from(value)))
                };
                let ([low, high], [other_low, other_high]) = (ends(variable), ends(other));
                [low - other_high <= margin, high - other_low > margin]
            }
        }
    }

    fn variables(&self) -> impl Iterator<Item = usize> {
        let (first, second) = match *self {
            Self::Key { variable, .. } => (variable, None),
            Self::Exceeds { variable, other, .. } => (variable, Some(other)),
        };
        std::iter::once(first).chain(second)
    }
}

/// The patterns of a grove over the variables of a system: each column is a variable, in their order.
#[derive(Debug, Clone)]
pub(super) struct PatternGates {
    width: usize,
    height: usize,
    /// Where each place of each plane has its bit from.
    sources: Vec<Option<Source>>,
    patterns: Vec<Pattern>,
    /// The first match of each pattern among those of all, and its first column.
    firsts: Vec<(usize, usize)>,
    matches: usize,
    /// The variable of the first column.
    pub(super) first: usize,
    columns: usize,
    /// For each place: the matches that read it, twice their number, and one more where they want a one.
    readers: Vec<Vec<u32>>,
    /// The places that each variable of a part changes.
    of_variable: Vec<Vec<u32>>,
}

/// How often each pattern matches in a row, kept up to date as the row changes.
#[derive(Debug, Clone)]
pub(super) struct Matches {
    bits: Vec<bool>,
    /// Literals of each match that do not hold.
    failing: Vec<u8>,
    counts: Vec<u32>,
    /// Patterns whose count changed.
    changed: Vec<u32>,
}

/// Which places of each line of each plane can be zero, and which can be one.
struct Lines {
    may: [Vec<u64>; 2],
    words: usize,
}

impl PatternGates {
    /// Patterns whose inputs are somewhere among so many parts; their columns are variables from `first` on.
    pub(super) fn new(
        layer: &PatternLayer,
        source: impl Fn(u32) -> Source,
        parts: usize,
        first: usize,
    ) -> Self {
        let planes = layer.planes();
        let sources: Vec<Option<Source>> = planes.inputs().map(|input| input.map(&source)).collect();
        let mut of_variable = vec![Vec::new(); parts];
        for (place, source) in sources.iter().enumerate() {
            for variable in source.iter().flat_map(Source::variables) {
                of_variable[variable].push(place as u32);
            }
        }
        let mut gates = Self {
            width: planes.width(),
            height: planes.height(),
            readers: vec![Vec::new(); sources.len()],
            sources,
            patterns: layer.patterns().to_vec(),
            firsts: Vec::new(),
            matches: 0,
            first,
            columns: layer.columns(),
            of_variable,
        };
        let mut column = 0;
        for pattern in layer.patterns() {
            gates.firsts.push((gates.matches, column));
            let (across, down) = pattern.shifts();
            for literal in pattern.literals() {
                let place = planes.place(literal);
                for (y, x) in (0..down).flat_map(|y| (0..across).map(move |x| (y, x))) {
                    let number = 2 * (gates.matches + y * across + x) as u32 + u32::from(literal.value);
                    gates.readers[place + y * gates.width + x].push(number);
                }
            }
            gates.matches += pattern.matches();
            column += pattern.thresholds().len();
        }
        gates
    }

    /// The variables of its columns.
    pub(super) fn variables(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.columns
    }

    /// Whether a variable of a part is read.
    pub(super) fn reads(&self, variable: usize) -> bool {
        self.of_variable.get(variable).is_some_and(|places| !places.is_empty())
    }

    /// Gives values of a variable that patterns can tell apart different numbers.
    pub(super) fn tell_apart(&self, keys: &[Vec<Vec<bool>>], variable: usize, classes: &mut [u32]) {
        let sources = || self.of_variable[variable].iter().filter_map(|&place| self.sources[place as usize]);
        if sources().any(|source| matches!(source, Source::Exceeds { .. })) {
            classes.iter_mut().zip(0..).for_each(|(class, number)| *class = number);
            return;
        }
        let mut places: Vec<usize> = sources()
            .filter_map(|source| match source {
                Source::Key { place, .. } => Some(place),
                Source::Exceeds { .. } => None,
            })
            .collect();
        places.sort_unstable();
        places.dedup();
        for place in places {
            let states: Vec<u8> = keys[variable].iter().map(|key| key[place].into()).collect();
            super::search::refine(classes, &states);
        }
    }

    /// Which parts the columns read that are marked among all variables.
    pub(super) fn mark_read(&self, reads: &mut [bool]) {
        if self.variables().any(|column| reads[column]) {
            for variable in self.sources.iter().flatten().flat_map(Source::variables) {
                reads[variable] = true;
            }
        }
    }

    /// Says of each column what it can be in a box of rows.
    pub(super) fn narrow(&self, keys: &[Vec<Vec<bool>>], values: &mut Allowed) {
        let lines = self.lines(|source| source.may(keys, values));
        self.for_each_column(&lines, |column, may| {
            let said: &[u32] = match may {
                [true, true] => &[0, 1],
                [_, true] => &[1],
                _ => &[0],
            };
            if values[column] != said {
                values[column] = said.to_vec();
            }
        });
    }

    /// Sets the columns in a row.
    pub(super) fn complete(&self, keys: &[Vec<Vec<bool>>], row: &mut [usize]) {
        let lines = self.lines(|source| {
            let bit = source.bit(keys, row);
            [!bit, bit]
        });
        self.for_each_column(&lines, |column, [_, may_be_one]| row[column] = usize::from(may_be_one));
    }

    fn lines(&self, may: impl Fn(&Source) -> [bool; 2]) -> Lines {
        let words = self.width.div_ceil(WORD);
        let mut lines =
            Lines { may: [(); 2].map(|()| vec![0; words * self.sources.len() / self.width]), words };
        for (place, source) in self.sources.iter().enumerate() {
            let (line, x) = (place / self.width, place % self.width);
            let may = source.as_ref().map_or([true, false], &may);
            for (lines, may) in lines.may.iter_mut().zip(may) {
                lines[line * words + x / WORD] |= u64::from(may) << (x % WORD);
            }
        }
        lines
    }

    /// Calls a function with each column's variable, and whether it can be zero and one.
    fn for_each_column(&self, lines: &Lines, mut call: impl FnMut(usize, [bool; 2])) {
        for (pattern, &(_, column)) in self.patterns.iter().zip(&self.firsts) {
            let (mut least, mut most) = (0, 0);
            self.for_each_word(pattern, lines, |_, _, possible, certain| {
                least += certain.count_ones();
                most += possible.count_ones();
            });
            for (place, &threshold) in pattern.thresholds().iter().enumerate() {
                call(self.first + column + place, [least < threshold, most >= threshold]);
            }
        }
    }

    /// Calls a function for each line of shifts of a pattern, a word at a time: the line, the first shift of the word, those
    /// that may match, and those that match for certain.
    fn for_each_word(&self, pattern: &Pattern, lines: &Lines, mut call: impl FnMut(usize, usize, u64, u64)) {
        let (across, down) = pattern.shifts();
        for y in 0..down {
            for first in (0..across).step_by(WORD) {
                let mut possible = !0 >> (WORD - (across - first).min(WORD));
                let mut certain = possible;
                for literal in pattern.literals() {
                    let line = usize::from(literal.plane) * self.height + usize::from(literal.y) + y;
                    let at = first + usize::from(literal.x);
                    let wanted = usize::from(literal.value);
                    possible &= lines.word(wanted, line, at);
                    certain &= !lines.word(1 - wanted, line, at);
                    if possible == 0 {
                        break;
                    }
                }
                call(y, first, possible, possible & certain);
            }
        }
    }

    /// Hands what columns are not agreed on to the parts that still leave them open.
    pub(super) fn blame(&self, keys: &[Vec<Vec<bool>>], values: &Allowed, gaps: &mut [f64]) {
        let lines = self.lines(|source| source.may(keys, values));
        let mut open = Vec::new();
        for (pattern, &(_, column)) in self.patterns.iter().zip(&self.firsts) {
            let columns = self.first + column..self.first + column + pattern.thresholds().len();
            let gap: f64 = gaps[columns].iter().sum();
            if gap == 0.0 {
                continue;
            }
            open.clear();
            self.for_each_word(pattern, &lines, |y, first, possible, certain| {
                let mut left = possible & !certain;
                while left != 0 {
                    let x = first + left.trailing_zeros() as usize;
                    left &= left - 1;
                    for literal in pattern.literals() {
                        let line = usize::from(literal.plane) * self.height + usize::from(literal.y) + y;
                        let source = &self.sources[line * self.width + usize::from(literal.x) + x];
                        open.extend(
                            source.iter().flat_map(Source::variables).filter(|&v| values[v].len() > 1),
                        );
                    }
                }
            });
            let share = gap / open.len().max(1) as f64;
            open.iter().for_each(|&variable| gaps[variable] += share);
        }
    }

    /// The matches in a row.
    pub(super) fn matches(&self, keys: &[Vec<Vec<bool>>], row: &[usize]) -> Matches {
        let is_one = |source: &Option<Source>| source.as_ref().is_some_and(|source| source.bit(keys, row));
        let bits: Vec<bool> = self.sources.iter().map(is_one).collect();
        let mut failing = vec![0u8; self.matches];
        for (readers, &bit) in self.readers.iter().zip(&bits) {
            for &reader in readers {
                failing[(reader >> 1) as usize] += u8::from((reader & 1 != 0) != bit);
            }
        }
        let count = |(place, pattern): (usize, &Pattern)| {
            let first = self.firsts[place].0;
            failing[first..first + pattern.matches()].iter().filter(|&&failing| failing == 0).count() as u32
        };
        let counts = self.patterns.iter().enumerate().map(count).collect();
        Matches { bits, failing, counts, changed: Vec::new() }
    }

    /// Brings matches up to date after a part took another value in a row, and calls a function with each column that changes.
    pub(super) fn update(
        &self,
        keys: &[Vec<Vec<bool>>],
        part: usize,
        row: &mut [usize],
        matches: &mut Matches,
        mut call: impl FnMut(usize),
    ) {
        for &place in &self.of_variable[part] {
            let place = place as usize;
            let bit = self.sources[place].is_some_and(|source| source.bit(keys, row));
            if matches.bits[place] != bit {
                matches.bits[place] = bit;
                self.turn(place, bit, matches);
            }
        }
        let changed = std::mem::take(&mut matches.changed);
        for &pattern in &changed {
            let (column, count) = (self.firsts[pattern as usize].1, matches.counts[pattern as usize]);
            for (place, &threshold) in self.patterns[pattern as usize].thresholds().iter().enumerate() {
                let variable = self.first + column + place;
                let value = usize::from(count >= threshold);
                if row[variable] != value {
                    row[variable] = value;
                    call(variable);
                }
            }
        }
        matches.changed = changed;
        matches.changed.clear();
    }

    /// A bit of a plane changes.
    fn turn(&self, place: usize, bit: bool, matches: &mut Matches) {
        for &reader in &self.readers[place] {
            let at = (reader >> 1) as usize;
            let failing = &mut matches.failing[at];
            let before = *failing;
            if (reader & 1 != 0) == bit {
                *failing -= 1;
            } else {
                *failing += 1;
            }
            if before == 0 || *failing == 0 {
                let pattern = self.firsts.partition_point(|&(first, _)| first <= at) - 1;
                let count = &mut matches.counts[pattern];
                *count = if before == 0 { *count - 1 } else { *count + 1 };
                matches.changed.push(pattern as u32);
            }
        }
    }
}

impl Lines {
    /// The word of a line from a place on, of those that can be a value.
    fn word(&self, value: usize, line: usize, at: usize) -> u64 {
        let line = &self.may[value][line * self.words..(line + 1) * self.words];
        let (word, shift) = (at / WORD, at % WORD);
        let low = line[word] >> shift;
        match line.get(word + 1) {
            Some(next) if shift > 0 => low | next << (WORD - shift),
            _ => low,
        }
    }
}
