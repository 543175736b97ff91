//! The rows that can exist: for each raw column, the ways in which its bits can be set together.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::cell::{Cell, Interval};
use crate::encode::{DatePart, Encoder, Kind, Test, Value};
use crate::{Error, Result};

/// A part of a raw column whose bits are set independently of all other parts.
///
/// Most columns are one part: the thresholds of a number are ordered, categories exclude each other. Texts read as words
/// have a part for each word; dates have one for the moment and one each for month, weekday and hour.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// The column, by its number among [`Encoder::inputs`].
    pub(super) column: usize,
    /// The encoder's bits that it has.
    pub(super) bits: Vec<u32>,
    /// The ways they can be set, those of numbers in ascending order.
    pub(super) cells: Vec<Cell>,
    /// The part of a date, where it is one.
    pub(super) date_part: Option<DatePart>,
    /// Whether the cells are in order, but for a last one that is a gap.
    pub(super) ordered: bool,
}

impl Part {
    /// Whether its last cell is a gap and nothing else.
    pub(super) fn has_gap_cell(&self) -> bool {
        self.cells.last().is_some_and(Cell::is_only_gap)
    }

    /// How far apart two cells are: in the share of the thresholds between them, or 1 for what has no order.
    pub(super) fn distance(&self, a: usize, b: usize) -> f64 {
        if a == b {
            return 0.0;
        }
        let ordered = self.cells.len() - usize::from(self.has_gap_cell());
        if !self.ordered || a >= ordered || b >= ordered {
            return 1.0;
        }
        a.abs_diff(b) as f64 / (ordered - 1).max(1) as f64
    }
}

/// All rows that can exist: one cell of each part, any with any.
///
/// Where a column has several parts, a gap sets the bits of all of them to zero. That rule is [`Domain::gaps`].
#[derive(Debug, Clone)]
pub(super) struct Domain {
    pub(super) parts: Vec<Part>,
    /// The part that has each bit, and its place in it.
    pub(super) of_bit: Vec<(usize, usize)>,
    /// Parts that are the gap of a column of several parts.
    pub(super) gaps: Vec<usize>,
    /// The parts of each column.
    pub(super) of_column: Vec<Vec<usize>>,
    /// Whether every combination of cells is a row that can exist. Dates may have some that are on no calendar.
    pub(super) exact: bool,
    /// Bits that compare two pixels: the parts of both, and the margin. The cells of these parts are the bytes.
    comparisons: HashMap<u32, (usize, usize, f64)>,
    /// The parts whose cells are bytes.
    bytes: HashSet<usize>,
}

impl Domain {
    pub(super) fn new(encoder: &Encoder) -> Self {
        let mut bits_of: Vec<Vec<u32>> = vec![Vec::new(); encoder.inputs().len()];
        let mut is_compared = vec![false; encoder.inputs().len()];
        for (bit, meaning) in (0..).zip(encoder.meanings()) {
            match meaning.test {
                Test::Exceeds { .. } => {
                    meaning.columns().for_each(|column| is_compared[column as usize] = true);
                }
                _ => bits_of[meaning.column as usize].push(bit),
            }
        }
        let mut domain = Self {
            parts: Vec::new(),
            of_bit: vec![(usize::MAX, 0); encoder.bits()],
            gaps: Vec::new(),
            of_column: Vec::new(),
            exact: true,
            comparisons: HashMap::new(),
            bytes: HashSet::new(),
        };
        for (column, bits) in bits_of.into_iter().enumerate() {
            let first = domain.parts.len();
            match is_compared[column] {
                true => domain.add_bytes(encoder, column, bits),
                false => domain.add_column(encoder, column, bits),
            }
            domain.of_column.push((first..domain.parts.len()).collect());
        }
        for (number, part) in domain.parts.iter().enumerate() {
            for (place, &bit) in part.bits.iter().enumerate() {
                domain.of_bit[bit as usize] = (number, place);
            }
        }
        for (bit, meaning) in (0..).zip(encoder.meanings()) {
            if let Test::Exceeds { other, margin } = meaning.test {
                let part = |column: u32| domain.of_column[column as usize][0];
                domain.comparisons.insert(bit, (part(meaning.column), part(other), margin));
            }
        }
        domain
    }

    /// The parts of the two pixels that a bit compares, and the margin.
    pub(super) fn comparison(&self, bit: u32) -> Option<(usize, usize, f64)> {
        self.comparisons.get(&bit).copied()
    }

    /// The parts that a bit is of.
    pub(super) fn parts_of(&self, bit: u32) -> impl Iterator<Item = usize> {
        let (first, second) = match self.comparison(bit) {
            Some((part, other, _)) => (part, Some(other)),
            None => (self.of_bit[bit as usize].0, None),
        };
        std::iter::once(first).chain(second)
    }

    /// Whether the cells of a part are bytes, each with one of its own.
    pub(super) fn is_bytes(&self, part: usize) -> bool {
        self.bytes.contains(&part)
    }

    /// Adds a pixel that is compared with others: a cell for each byte.
    fn add_bytes(&mut self, encoder: &Encoder, column: usize, bits: Vec<u32>) {
        let cell = |byte: u8| {
            let holds = |&bit: &u32| encoder.meanings()[bit as usize].test.holds(Value::Pixel(byte), &[]);
            let mut cell = Cell::new(bits.iter().map(holds).collect());
            cell.bytes.push(byte);
            cell
        };
        let cells = (0..=255).map(cell).collect();
        self.bytes.insert(self.parts.len());
        self.parts.push(Part { column, bits, cells, date_part: None, ordered: true });
    }

    fn add_column(&mut self, encoder: &Encoder, column: usize, bits: Vec<u32>) {
        if bits.is_empty() {
            return;
        }
        let test = |bit: &u32| &encoder.meanings()[*bit as usize].test;
        let has_parts = bits.iter().any(|bit| matches!(test(bit), Test::Word(_) | Test::DatePart(..)));
        if !has_parts {
            self.add_part(encoder, column, bits, None);
            return;
        }
        let is_word = |bit: &u32| matches!(test(bit), Test::Word(_));
        let mut groups: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for &bit in &bits {
            let group = match test(&bit) {
                Test::Missing => 0,
                Test::DatePart(part, _) => 2 + *part as usize,
                Test::Word(_) => 5 + bit as usize,
                _ => 1,
            };
            groups.entry(group).or_default().push(bit);
        }
        self.exact &= groups.len() == 1 || bits.iter().any(is_word);
        for (group, bits) in groups {
            let parts = [DatePart::Month, DatePart::Weekday, DatePart::Hour];
            let part = group.checked_sub(2).and_then(|at| parts.get(at));
            if group == 0 {
                self.gaps.push(self.parts.len());
            }
            self.add_part(encoder, column, bits, part.copied());
        }
    }

    fn add_part(&mut self, encoder: &Encoder, column: usize, bits: Vec<u32>, date_part: Option<DatePart>) {
        let input = &encoder.inputs()[column];
        let tests: Vec<&Test> = bits.iter().map(|&bit| &encoder.meanings()[bit as usize].test).collect();
        let mut cells: Vec<Cell> = Vec::new();
        let mut add = |key: Vec<bool>, note: &mut dyn FnMut(&mut Cell)| {
            let place = cells.iter().position(|cell| cell.key == key).unwrap_or_else(|| {
                cells.push(Cell::new(key));
                cells.len() - 1
            });
            note(&mut cells[place]);
        };
        let ask = |value: Value<'_>| -> Vec<bool> {
            tests.iter().map(|test| test.holds(value, &input.categories)).collect()
        };
        let mut ordered = true;
        let only_gap = matches!(tests[..], [Test::Missing]);
        match input.kind {
            _ if only_gap => {
                add(vec![false], &mut |cell| cell.present = true);
                ordered = false;
            }
            Kind::Bit => [false, true]
                .into_iter()
                .for_each(|bit| add(ask(Value::Bit(bit)), &mut |cell| cell.bytes.push(bit.into()))),
            Kind::Pixel => {
                (0..=255).for_each(|byte| add(ask(Value::Pixel(byte)), &mut |cell| cell.bytes.push(byte)))
            }
            Kind::Text => {
                ordered = false;
                for test in &tests {
                    match test {
                        Test::Is(text) => {
                            add(ask(Value::Text(text)), &mut |cell| cell.texts.push(text.clone()))
                        }
                        Test::Word(word) => {
                            add(vec![false], &mut |cell| cell.other_text = true);
                            add(vec![true], &mut |cell| cell.texts.push(word.clone()));
                        }
                        _ => {}
                    }
                }
                for text in &input.categories {
                    let is_new = !tests.iter().any(|test| matches!(test, Test::Is(known) if known == text));
                    if is_new {
                        add(ask(Value::Text(text)), &mut |cell| cell.texts.push(text.clone()));
                    }
                }
                if !matches!(tests[..], [Test::Word(_)]) {
                    add(ask(Value::Text(&unlisted(&tests, &input.categories))), &mut |cell| {
                        cell.other_text = true
                    });
                }
            }
            Kind::Number | Kind::Date => {
                for interval in pieces(&tests) {
                    let value = interval.inside();
                    let key = match date_part {
                        // A part is asked for by its own number.
                        Some(_) => tests
                            .iter()
                            .map(|test| matches!(test, Test::DatePart(_, threshold) if value > *threshold))
                            .collect(),
                        None => ask(Value::Number(value)),
                    };
                    add(key, &mut |cell| cell.add_interval(interval));
                }
            }
        }
        let zero = vec![false; tests.len()];
        let is_gap_of_many = date_part.is_some() || matches!(tests[..], [Test::Word(_)]);
        if only_gap || tests.contains(&&Test::Missing) {
            let gap = tests.iter().map(|test| **test == Test::Missing).collect();
            add(gap, &mut |cell| cell.missing = true);
        } else if !is_gap_of_many && input.kind != Kind::Bit && input.kind != Kind::Pixel {
            // A gap looks like the cell of no bit, where there is one.
            add(zero, &mut |cell| cell.missing = true);
        }
        // What lies in several stretches has no place in an order.
        ordered &= cells.iter().all(|cell| cell.intervals.len() < 2);
        self.parts.push(Part { column, bits, cells, date_part, ordered });
    }

    /// The cells of a row, given as a function from bit to value.
    ///
    /// # Errors
    /// When no raw row has these bits.
    pub(super) fn cells_of(&self, encoder: &Encoder, bit: impl Fn(usize) -> bool) -> Result<Vec<usize>> {
        self.parts
            .iter()
            .map(|part| {
                let matches = |cell: &Cell| {
                    cell.key.iter().zip(&part.bits).all(|(&value, &at)| value == bit(at as usize))
                };
                part.cells.iter().position(matches).ok_or_else(|| {
                    Error::data(format!(
                        "no value of column \"{}\" sets its bits as this row has them",
                        encoder.inputs()[part.column].name
                    ))
                })
            })
            .collect()
    }

    /// The value of a bit in a row of cells.
    pub(super) fn bit(&self, row: &[usize], bit: usize) -> bool {
        if let Some((part, other, margin)) = self.comparison(bit as u32) {
            return row[part] as f64 - row[other] as f64 > margin;
        }
        let (part, place) = self.of_bit[bit];
        self.parts[part].cells[row[part]].key[place]
    }

    /// Whether a row of cells keeps the rule of gaps.
    pub(super) fn keeps_gaps(&self, row: &[usize]) -> bool {
        self.gaps.iter().all(|&gap| {
            let part = &self.parts[gap];
            let is_gap = part.cells[row[gap]].missing;
            !is_gap
                || self.of_column[part.column]
                    .iter()
                    .all(|&other| other == gap || !self.parts[other].cells[row[other]].key.contains(&true))
        })
    }
}

/// A text that no test names.
pub(super) fn unlisted(tests: &[&Test], categories: &[String]) -> String {
    let mut text = "another value".to_owned();
    let named = |text: &str| {
        categories.iter().any(|category| category == text)
            || tests.iter().any(|test| matches!(test, Test::Is(known) if known == text))
    };
    while named(&text) {
        text.push('_');
    }
    text
}

/// The numbers, cut wherever a test changes its answer: points and the open intervals between them, ascending.
fn pieces(tests: &[&Test]) -> Vec<Interval> {
    let mut cuts: Vec<f64> = tests
        .iter()
        .filter_map(|test| match test {
            Test::Above(number) | Test::Equals(number) | Test::DatePart(_, number) => Some(*number),
            _ => None,
        })
        .collect();
    cuts.sort_unstable_by(f64::total_cmp);
    cuts.dedup();
    let mut pieces = Vec::with_capacity(2 * cuts.len() + 1);
    let mut low = f64::NEG_INFINITY;
    for cut in cuts {
        pieces.push(Interval::open(low, cut));
        pieces.push(Interval::point(cut));
        low = cut;
    }
    pieces.push(Interval::open(low, f64::INFINITY));
    // Between two neighbouring numbers there is none.
    pieces.retain(|piece| !piece.is_empty());
    pieces
}
