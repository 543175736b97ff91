//! Running a circuit on one row: bits are bytes, gates look up their tables, and nothing is allocated.

use std::collections::{HashMap, HashSet};

use super::{Grove, Literal, MAX_ARITY, Pattern, Span, Target, Tree, TruthTable};

/// Room to work in: a byte a column, the outputs of one level of gates and of the next, and the margins.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowRoom {
    /// The bits that are read, 0 or 1 each, in the order that [`RowCircuit::new`] was given them; spans and patterns follow.
    pub(crate) slots: Vec<u8>,
    levels: [Vec<u8>; 2],
    /// A word for each line of the planes that patterns look at, where lines fit into words.
    lines: Vec<u64>,
    /// The margins of the row; none for the paper's tree.
    pub(crate) margins: Vec<i32>,
}

/// A circuit laid out for running one row.
#[derive(Debug, Clone)]
pub(crate) struct RowCircuit {
    inputs: usize,
    spans: Vec<RowSpans>,
    patterns: RowPatterns,
    bias: Vec<i32>,
    shapes: Vec<RowTrees>,
}

/// Patterns over slots: each threshold fills one, after those of the spans.
#[derive(Debug, Clone, Default)]
struct RowPatterns {
    /// The slot of each place of the planes.
    slots: Vec<u32>,
    width: usize,
    patterns: Vec<RowPattern>,
    columns: usize,
}

#[derive(Debug, Clone)]
struct RowPattern {
    literals: Vec<RowLiteral>,
    shifts: (usize, usize),
    thresholds: Vec<u32>,
}

/// Where a literal looks before it is moved.
#[derive(Debug, Clone, Copy)]
struct RowLiteral {
    line: usize,
    x: u32,
    /// All ones where a zero must be there.
    turned: u64,
}

/// Lines of shifts that are looked at together, which the compiler makes vectors of.
const LINES: usize = 4;

impl RowPatterns {
    fn new(grove: &Grove, slots: &HashMap<u32, u32>) -> Self {
        let (layer, planes) = (grove.patterns(), grove.patterns().planes());
        let read: HashSet<u32> = grove.trees().iter().flat_map(|tree| tree.leaves()).copied().collect();
        let mut column = (grove.inputs() + grove.spans().len()) as u32;
        let mut pattern = |pattern: &Pattern| {
            let columns = column..column + pattern.thresholds().len() as u32;
            column = columns.end;
            // What no leaf reads need not be looked for, and its inputs may have no slots.
            let is_read = columns.into_iter().any(|column| read.contains(&column));
            let place = |literal: &Literal| RowLiteral {
                line: planes.place(literal) / planes.width(),
                x: (planes.place(literal) % planes.width()) as u32,
                turned: u64::from(literal.value).wrapping_sub(1),
            };
            RowPattern {
                literals: pattern.literals().iter().map(place).collect(),
                shifts: if is_read { pattern.shifts() } else { (0, 0) },
                thresholds: pattern.thresholds().to_vec(),
            }
        };
        let slot = |input: Option<u32>| input.and_then(|input| slots.get(&input)).copied().unwrap_or(0);
        Self {
            slots: planes.inputs().map(slot).collect(),
            width: planes.width(),
            patterns: layer.patterns().iter().map(&mut pattern).collect(),
            columns: layer.columns(),
        }
    }

    /// Words for the lines of the planes, with some to spare that stay zero; none where a line is longer than a word, or no
    /// pattern is read.
    fn lines(&self) -> usize {
        let is_read = self.patterns.iter().any(|pattern| pattern.shifts.1 > 0);
        if is_read && self.width <= 64 { self.slots.len() / self.width + LINES } else { 0 }
    }

    /// Writes what the columns of patterns say, given the inputs.
    fn run(&self, inputs: &[u8], lines: &mut [u64], mut out: &mut [u8]) {
        for (line, slots) in lines.iter_mut().zip(self.slots.chunks_exact(self.width.max(1))) {
            let bits = slots.iter().zip(0..);
            *line = bits.fold(0, |line, (&slot, place)| line | u64::from(inputs[slot as usize]) << place);
        }
        for pattern in &self.patterns {
            let count = match lines.is_empty() {
                true => self.count_each(pattern, inputs),
                false => Self::count(pattern, lines),
            };
            let (here, rest) = out.split_at_mut(pattern.thresholds.len());
            for (slot, &threshold) in here.iter_mut().zip(&pattern.thresholds) {
                *slot = u8::from(count >= threshold);
            }
            out = rest;
        }
    }

    /// At how many places a pattern matches, all places of some lines at once.
    fn count(pattern: &RowPattern, lines: &[u64]) -> u32 {
        let (across, down) = pattern.shifts;
        let places = if across < 64 { (1 << across) - 1 } else { u64::MAX };
        let (mut count, mut any) = (0, 0);
        // Most patterns ask whether there is any match, which takes no counting.
        let is_counted = pattern.thresholds.iter().any(|&threshold| threshold > 1);
        for y in (0..down).step_by(LINES) {
            let mut matches = [places; LINES];
            for &RowLiteral { line, x, turned } in &pattern.literals {
                let lines: &[u64; LINES] = lines[line + y..].first_chunk().expect("there are lines to spare");
                for (matches, line) in matches.iter_mut().zip(lines) {
                    *matches &= line >> x ^ turned;
                }
            }
            matches[LINES.min(down - y)..].fill(0);
            any |= matches.iter().fold(0, |any, matches| any | matches);
            if is_counted {
                count += matches.iter().map(|matches| matches.count_ones()).sum::<u32>();
            }
        }
        if is_counted { count } else { u32::from(any != 0) }
    }

    /// The same, place by place.
    fn count_each(&self, pattern: &RowPattern, inputs: &[u8]) -> u32 {
        let (across, down) = pattern.shifts;
        let mut count = 0;
        for y in 0..down {
            for shift in 0..across {
                let holds = |literal: &RowLiteral| {
                    let place = (literal.line + y) * self.width + literal.x as usize + shift;
                    inputs[self.slots[place] as usize] == u8::from(literal.turned == 0)
                };
                count += u32::from(pattern.literals.iter().all(holds));
            }
        }
        count
    }
}

/// Spans of one kind and length, neighbours among the slots: each is any or all of some slots.
#[derive(Debug, Clone)]
struct RowSpans {
    all: bool,
    length: usize,
    /// The slots that the spans read, one span after the other.
    slots: Vec<u32>,
}

impl RowSpans {
    fn count(&self) -> usize {
        self.slots.len() / self.length
    }

    fn fill(&self, inputs: &[u8], to: &mut [u8]) {
        match self.length {
            2 => self.fill_each::<2>(inputs, to),
            3 => self.fill_each::<3>(inputs, to),
            4 => self.fill_each::<4>(inputs, to),
            5 => self.fill_each::<5>(inputs, to),
            6 => self.fill_each::<6>(inputs, to),
            _ => {
                for (slots, to) in self.slots.chunks_exact(self.length).zip(to) {
                    *to = self.merge(slots.iter().map(|&slot| inputs[slot as usize]));
                }
            }
        }
    }

    fn fill_each<const N: usize>(&self, inputs: &[u8], to: &mut [u8]) {
        let (spans, _) = self.slots.as_chunks::<N>();
        for (slots, to) in spans.iter().zip(to) {
            *to = self.merge(slots.iter().map(|&slot| inputs[slot as usize]));
        }
    }

    /// Without a branch: reading a few bytes more takes less time than guessing wrong.
    #[inline(always)]
    fn merge(&self, bits: impl Iterator<Item = u8>) -> u8 {
        if self.all { bits.fold(1, |all, bit| all & bit) } else { bits.fold(0, |any, bit| any | bit) }
    }
}

/// Trees of one shape.
#[derive(Debug, Clone)]
struct RowTrees {
    /// Arity of each level of gates, the bottom first; the root is not among them.
    gates: Vec<usize>,
    root: usize,
    /// The first margin that each tree votes on.
    margins: Vec<u32>,
    /// Votes at each root address.
    width: usize,
    /// The slots that leaves read, tree by tree; then the tables below the root, and the votes.
    leaves: Vec<u32>,
    tables: Vec<u64>,
    votes: Vec<i32>,
}

impl RowCircuit {
    /// The paper's tree, as one that votes 1 or -1: its margin is the class.
    ///
    /// `bits` are the columns that it reads, in the order of their slots.
    pub(crate) fn of_tree(tree: &Tree, bits: &[u32]) -> Self {
        let slots = numbered(bits);
        let top = tree.table_words(tree.depth(), 0);
        let vote = |address: usize| if top[address / 64] >> (address % 64) & 1 != 0 { 1 } else { -1 };
        let below = tree.tables().len() - top.len();
        let shape = RowTrees {
            gates: vec![tree.arity(); tree.depth() - 1],
            root: tree.arity(),
            margins: vec![0],
            width: 1,
            leaves: tree.leaves().iter().map(|leaf| slots[leaf]).collect(),
            tables: tree.tables()[..below].to_vec(),
            votes: (0..1 << tree.arity()).map(vote).collect(),
        };
        let (spans, patterns) = (Vec::new(), RowPatterns::default());
        Self { inputs: bits.len(), spans, patterns, bias: vec![0], shapes: vec![shape] }
    }

    /// A grove; `bits` are the columns that it reads, itself or through spans and patterns, in the order of their slots.
    pub(crate) fn of_grove(grove: &Grove, bits: &[u32]) -> Self {
        let mut slots = numbered(bits);
        let mut read: Vec<u32> = grove.trees().iter().flat_map(|tree| tree.leaves()).copied().collect();
        read.sort_unstable();
        read.dedup();
        let mut read: Vec<(u32, &Span)> =
            read.into_iter().filter_map(|leaf| Some((leaf, grove.span(leaf)?))).collect();
        read.sort_by_key(|(_, span)| (span.is_all(), span.columns().len()));
        let mut spans: Vec<RowSpans> = Vec::new();
        for (place, (leaf, span)) in read.into_iter().enumerate() {
            let (all, length) = (span.is_all(), span.columns().len());
            if spans.last().is_none_or(|last| (last.all, last.length) != (all, length)) {
                spans.push(RowSpans { all, length, slots: Vec::new() });
            }
            if let Some(last) = spans.last_mut() {
                last.slots.extend(span.columns().iter().map(|column| slots[column]));
            }
            slots.insert(leaf, (bits.len() + place) as u32);
        }
        let patterns = RowPatterns::new(grove, &slots);
        let first_pattern = (grove.inputs() + grove.spans().len()) as u32;
        let span_slots = spans.iter().map(RowSpans::count).sum::<usize>();
        let first_slot = (bits.len() + span_slots) as u32;
        slots
            .extend((0..patterns.columns as u32).map(|column| (first_pattern + column, first_slot + column)));
        let mut shapes: Vec<RowTrees> = Vec::new();
        let mut places: HashMap<(&[usize], bool), usize> = HashMap::new();
        for tree in grove.trees() {
            let (first, all) = match tree.target() {
                Target::One(margin) => (margin, false),
                Target::All => (0, true),
            };
            let place = *places.entry((tree.arities(), all)).or_insert_with(|| {
                let (root, gates) = tree.arities().split_last().expect("a tree has a root");
                shapes.push(RowTrees {
                    gates: gates.to_vec(),
                    root: *root,
                    margins: Vec::new(),
                    width: if all { grove.margins() } else { 1 },
                    leaves: Vec::new(),
                    tables: Vec::new(),
                    votes: Vec::new(),
                });
                shapes.len() - 1
            });
            let shape = &mut shapes[place];
            shape.margins.push(first);
            shape.leaves.extend(tree.leaves().iter().map(|leaf| slots[leaf]));
            shape.tables.extend_from_slice(tree.tables());
            shape.votes.extend_from_slice(tree.votes());
        }
        Self { inputs: bits.len(), spans, patterns, bias: grove.bias().to_vec(), shapes }
    }

    /// Room for one row.
    pub(crate) fn room(&self) -> RowRoom {
        let widest = |shape: &RowTrees| {
            let leaves = shape.leaves.len() / shape.margins.len().max(1);
            shape.gates.first().map_or(0, |arity| leaves / arity)
        };
        let widest = self.shapes.iter().map(widest).max().unwrap_or(0);
        RowRoom {
            slots: vec![0; self.inputs + self.span_slots() + self.patterns.columns],
            levels: [vec![0; widest], vec![0; widest]],
            lines: vec![0; self.patterns.lines()],
            margins: vec![0; self.bias.len()],
        }
    }

    fn span_slots(&self) -> usize {
        self.spans.iter().map(RowSpans::count).sum()
    }

    /// Adds up the margins of the row whose bits are in the first slots of the room.
    pub(crate) fn run(&self, room: &mut RowRoom) {
        let RowRoom { slots, levels, lines, margins } = room;
        let (inputs, made) = slots.split_at_mut(self.inputs);
        let (of_spans, of_patterns) = made.split_at_mut(self.span_slots());
        self.patterns.run(inputs, lines, of_patterns);
        let mut made = of_spans;
        for spans in &self.spans {
            let (here, rest) = made.split_at_mut(spans.count());
            spans.fill(inputs, here);
            made = rest;
        }
        margins.copy_from_slice(&self.bias);
        self.shapes.iter().for_each(|shape| shape.add(slots, levels, margins));
    }
}

/// The position of each column.
fn numbered(bits: &[u32]) -> HashMap<u32, u32> {
    bits.iter().copied().zip(0..).collect()
}

impl RowTrees {
    fn add(&self, slots: &[u8], levels: &mut [Vec<u8>; 2], margins: &mut [i32]) {
        match &self.gates[..] {
            [] => self.add_each(margins, |leaves, _| address(leaves, |leaf| slots[leaf as usize])),
            // Trees of two levels are most of all trees, and most of their gates have few inputs.
            [2] => self.add_pairs::<2>(slots, margins),
            [3] => self.add_pairs::<3>(slots, margins),
            [4] => self.add_pairs::<4>(slots, margins),
            [5] => self.add_pairs::<5>(slots, margins),
            [6] => self.add_pairs::<6>(slots, margins),
            gates => self.add_each(margins, |leaves, tables| {
                let mut tables = tables;
                let [odd, even] = levels;
                for (level, &arity) in gates.iter().enumerate() {
                    let (from, to) = if level % 2 == 0 { (&*even, &mut *odd) } else { (&*odd, &mut *even) };
                    let count: usize = gates[level + 1..].iter().product::<usize>() * self.root;
                    let words = TruthTable::words_for(arity);
                    let (here, above) = tables.split_at(count * words);
                    tables = above;
                    to.resize(to.len().max(count), 0);
                    for (gate, (table, output)) in here.chunks_exact(words).zip(to.iter_mut()).enumerate() {
                        let place = gate * arity;
                        let address = match level {
                            0 => address(&leaves[place..place + arity], |leaf| slots[leaf as usize]),
                            _ => address(&from[place..place + arity], |bit| bit),
                        };
                        *output = (table[address / 64] >> (address % 64) & 1) as u8;
                    }
                }
                let top = if gates.len() % 2 == 1 { odd } else { even };
                address(&top[..self.root], |bit| bit)
            }),
        }
    }

    /// Trees of gates with `N` inputs, at most 6, under a root.
    #[inline]
    fn add_pairs<const N: usize>(&self, slots: &[u8], margins: &mut [i32]) {
        self.add_each(margins, |leaves, tables| {
            let (gates, _) = leaves.as_chunks::<N>();
            (0..).zip(gates.iter().zip(tables)).fold(0, |root, (place, (leaves, table))| {
                let address = address(leaves, |leaf| slots[leaf as usize]);
                root | ((table >> address & 1) as usize) << place
            })
        });
    }

    /// Adds the votes of each tree at the address that is found by its leaves and tables.
    #[inline(always)]
    fn add_each(&self, margins: &mut [i32], mut find: impl FnMut(&[u32], &[u64]) -> usize) {
        let trees = self.margins.len();
        let (leaves, words) = (self.leaves.len() / trees, self.tables.len() / trees);
        let votes = self.width << self.root;
        for (tree, &margin) in self.margins.iter().enumerate() {
            let leaves = &self.leaves[tree * leaves..][..leaves];
            let address = find(leaves, &self.tables[tree * words..][..words]);
            let votes = &self.votes[tree * votes + address * self.width..][..self.width];
            for (margin, vote) in margins[margin as usize..].iter_mut().zip(votes) {
                *margin += vote;
            }
        }
    }
}

/// Bits read as a number, the first the lowest.
#[inline(always)]
fn address<T: Copy>(inputs: &[T], bit: impl Fn(T) -> u8) -> usize {
    debug_assert!(inputs.len() <= MAX_ARITY);
    (0..).zip(inputs).fold(0, |address, (place, &input)| address | usize::from(bit(input)) << place)
}

#[cfg(test)]
mod tests {
    use chacha20::ChaCha8Rng;
    use proptest::prelude::*;

    use super::*;
    use crate::circuit::VoteTree;
    use crate::circuit::testing::{below, generator, random_table};

    fn random_tables(rng: &mut ChaCha8Rng, arities: &[usize]) -> Vec<u64> {
        let mut tables = Vec::new();
        for level in 0..arities.len() - 1 {
            for _ in 0..arities[level + 1..].iter().product::<usize>() {
                tables.extend_from_slice(random_table(rng, arities[level]).words());
            }
        }
        tables
    }

    fn used(columns: impl Iterator<Item = u32>, rng: &mut ChaCha8Rng) -> Vec<u32> {
        let mut used: Vec<u32> = columns.collect();
        used.sort_unstable();
        used.dedup();
        // Any order of slots will do.
        (1..used.len()).for_each(|i| used.swap(i, below(rng, i + 1)));
        used
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn groves_of_every_shape_give_what_the_definition_gives(seed: u64, trees in 0usize..12, classes in 2usize..5) {
            let mut rng = generator(seed);
            let inputs = 12 + below(&mut rng, 60);
            let spans: Vec<Span> = (0..below(&mut rng, 4))
                .map(|_| {
                    let columns = vec![below(&mut rng, inputs - 1) as u32, inputs as u32 - 1];
                    if below(&mut rng, 2) == 0 { Span::any(columns) } else { Span::all(columns) }.unwrap()
                })
                .collect();
            let patterns = crate::circuit::testing::random_patterns(seed, inputs);
            let columns = inputs + spans.len() + patterns.columns();
            let margins = if classes == 2 { 1 } else { classes };
            let trees: Vec<VoteTree> = (0..trees)
                .map(|_| {
                    let mut arities: Vec<usize> =
                        (0..1 + below(&mut rng, 3)).map(|_| 1 + below(&mut rng, 4)).collect();
                    if arities.len() < 3 && below(&mut rng, 3) == 0 {
                        arities[0] = 5 + below(&mut rng, 4);
                    }
                    let leaves: usize = arities.iter().product();
                    let leaves = (0..leaves).map(|_| below(&mut rng, columns) as u32).collect();
                    let tables = random_tables(&mut rng, &arities);
                    let target = match below(&mut rng, 2) {
                        0 => Target::All,
                        _ => Target::One(below(&mut rng, margins) as u32),
                    };
                    let width = if target == Target::All { margins } else { 1 };
                    let votes = (0..width << arities[arities.len() - 1])
                        .map(|_| below(&mut rng, 401) as i32 - 200)
                        .collect();
                    VoteTree::new(arities, target, leaves, tables, votes).unwrap()
                })
                .collect();
            let bias = (0..margins).map(|_| below(&mut rng, 21) as i32 - 10).collect();
            let grove = Grove::with_features(inputs, spans, patterns, classes, bias, 0.1, trees).unwrap();
            let read = grove.trees().iter().flat_map(|tree| tree.leaves()).flat_map(|&leaf| grove.inputs_of(leaf));
            let read: Vec<u32> = read.collect();
            let bits = used(read.into_iter(), &mut rng);
            let circuit = RowCircuit::of_grove(&grove, &bits);
            let mut room = circuit.room();
            for _ in 0..8 {
                let row: Vec<u8> = (0..inputs).map(|_| below(&mut rng, 2) as u8).collect();
                bits.iter().zip(&mut room.slots).for_each(|(&bit, slot)| *slot = row[bit as usize]);
                circuit.run(&mut room);
                prop_assert_eq!(&room.margins, &grove.margins_of(|column| row[column] != 0));
            }
        }

        #[test]
        fn trees_give_what_the_definition_gives(seed: u64, arity in 1usize..9, depth in 1usize..4) {
            let mut rng = generator(seed);
            let inputs = 1 + below(&mut rng, 30);
            let (leaves, depth) = if arity > 4 { (arity, 1) } else { (arity.pow(depth as u32), depth) };
            let leaves: Vec<u32> = (0..leaves).map(|_| below(&mut rng, inputs) as u32).collect();
            let gates: usize = (0..depth).map(|level| arity.pow(level as u32)).sum();
            let tables = (0..gates).flat_map(|_| random_table(&mut rng, arity).words().to_vec()).collect();
            let tree = Tree::new(arity, depth, inputs, leaves, tables).unwrap();
            let bits = used(tree.leaves().iter().copied(), &mut rng);
            let circuit = RowCircuit::of_tree(&tree, &bits);
            let mut room = circuit.room();
            for _ in 0..8 {
                let row: Vec<u8> = (0..inputs).map(|_| below(&mut rng, 2) as u8).collect();
                bits.iter().zip(&mut room.slots).for_each(|(&bit, slot)| *slot = row[bit as usize]);
                circuit.run(&mut room);
                prop_assert_eq!(room.margins[0] > 0, tree.output(|column| row[column] != 0));
            }
        }
    }
}
