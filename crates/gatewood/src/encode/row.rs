//! One raw row to bits, for predicting rows as they come: only the bits that a circuit reads, and nothing is allocated.

use std::collections::HashMap;

use super::source::{Converted, as_number, convert, misfit};
use super::{BitMeaning, Encoder, Input, Kind, TableView, Test, Value, transform};
use crate::Result;
use crate::bits::BitView;

/// One raw row, its columns in the order of the training table.
///
/// ```
/// use gatewood::encode::{Row, Value};
/// let numbers = Row::from(&[39.0, f64::NAN][..]);
/// let mixed = Row::from(&[Value::Number(39.0), Value::Text("State"), Value::Missing][..]);
/// assert_eq!((numbers.columns(), mixed.columns()), (2, 3));
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Row<'a> {
    /// Values of any kind. A number in a column of dates is a moment in seconds since 1970-01-01.
    Values(&'a [Value<'a>]),
    /// Numbers; a NaN is a gap.
    Numbers(&'a [f64]),
    /// The bytes of an image.
    Pixels(&'a [u8]),
    /// Ready bits.
    Bits(&'a [bool]),
    /// A row of a table, by its position.
    Of(TableView<'a>, usize),
    /// A row of packed bits, by its position.
    Packed(BitView<'a>, usize),
}

impl<'a> From<&'a [Value<'a>]> for Row<'a> {
    fn from(values: &'a [Value<'a>]) -> Self {
        Self::Values(values)
    }
}

impl<'a> From<&'a [f64]> for Row<'a> {
    fn from(numbers: &'a [f64]) -> Self {
        Self::Numbers(numbers)
    }
}

impl<'a> From<&'a [u8]> for Row<'a> {
    fn from(pixels: &'a [u8]) -> Self {
        Self::Pixels(pixels)
    }
}

impl<'a> From<&'a [bool]> for Row<'a> {
    fn from(bits: &'a [bool]) -> Self {
        Self::Bits(bits)
    }
}

impl<'a> Row<'a> {
    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Self::Values(values) => values.len(),
            Self::Numbers(numbers) => numbers.len(),
            Self::Pixels(pixels) => pixels.len(),
            Self::Bits(bits) => bits.len(),
            Self::Of(table, _) => table.columns(),
            Self::Packed(bits, _) => bits.columns(),
        }
    }

    /// The value of a column, and the kind of column it is from.
    #[inline]
    fn get(&self, column: usize, wanted: Kind) -> (Value<'a>, Kind) {
        match self {
            Self::Values(values) => {
                let value = values[column];
                let kind = match value {
                    Value::Missing => wanted,
                    Value::Number(number) if number.is_nan() => return (Value::Missing, wanted),
                    Value::Number(_) if wanted == Kind::Date => Kind::Date,
                    Value::Number(_) => Kind::Number,
                    Value::Text(_) => Kind::Text,
                    Value::Pixel(_) => Kind::Pixel,
                    Value::Bit(_) => Kind::Bit,
                };
                (value, kind)
            }
            Self::Numbers(numbers) => match numbers[column] {
                number if number.is_nan() => (Value::Missing, Kind::Number),
                number => (Value::Number(number), Kind::Number),
            },
            Self::Pixels(pixels) => (Value::Pixel(pixels[column]), Kind::Pixel),
            Self::Bits(bits) => (Value::Bit(bits[column]), Kind::Bit),
            Self::Of(table, row) => (table.value(*row, column), table.kind(column)),
            Self::Packed(bits, row) => (Value::Bit(bits.get(*row, column)), Kind::Bit),
        }
    }

    fn number(&self) -> usize {
        match self {
            Self::Of(_, row) | Self::Packed(_, row) => *row,
            _ => 0,
        }
    }
}

/// Some bits of an encoder, in an order of its own: each has a slot, a byte that is 0 or 1.
#[derive(Debug, Clone)]
pub(crate) struct RowEncoder {
    columns: Vec<RowColumn>,
    /// All slots at once, where all columns are of one kind and all tests alike; those of comparisons aside.
    flat: Option<Flat>,
    /// Bits that compare two inputs; their slots are the last.
    pairs: Vec<RowPair>,
    /// The encoder's bit in each slot.
    bits: Vec<u32>,
}

/// Two inputs of the encoder that are compared.
#[derive(Debug, Clone)]
struct RowPair {
    one: usize,
    other: usize,
    margin: f64,
}

/// The slots of one input of the encoder.
#[derive(Debug, Clone)]
struct RowColumn {
    /// The first of its slots.
    first: usize,
    count: usize,
    tests: Tests,
}

#[derive(Debug, Clone)]
enum Tests {
    /// No bit is asked for.
    None,
    /// Thresholds, ascending; after them, where it has a slot, whether the value is missing.
    Levels(Vec<f64>),
    /// One ready bit.
    Set,
    /// A column of texts: the slots of whole texts, of words, and any other tests.
    Texts { whole: HashMap<String, Vec<u32>>, words: HashMap<String, Vec<u32>>, rest: Vec<(u32, Test)> },
    /// Any tests, asked one by one.
    Each(Vec<Test>),
}

impl RowEncoder {
    /// Keeps the given bits of an encoder, each once.
    pub(crate) fn new(encoder: &Encoder, used: &[u32]) -> Self {
        let mut by_input: Vec<Vec<u32>> = vec![Vec::new(); encoder.inputs.len()];
        let (mut pairs, mut compared) = (Vec::new(), Vec::new());
        for &bit in used {
            let BitMeaning { column, test } = &encoder.bits[bit as usize];
            match *test {
                Test::Exceeds { other, margin } => {
                    pairs.push(RowPair { one: *column as usize, other: other as usize, margin });
                    compared.push(bit);
                }
                _ => by_input[*column as usize].push(bit),
            }
        }
        let (mut columns, mut bits) = (Vec::with_capacity(by_input.len()), Vec::with_capacity(used.len()));
        for (input, mut of_input) in encoder.inputs.iter().zip(by_input) {
            let first = bits.len();
            let tests = Tests::new(input, &encoder.bits, &mut of_input, first);
            columns.push(RowColumn { first, count: of_input.len(), tests });
            bits.extend(of_input);
        }
        let flat = Flat::new(encoder, &bits);
        bits.extend(compared);
        Self { columns, flat, pairs, bits }
    }

    /// The encoder's bit in each slot.
    pub(crate) fn bits(&self) -> &[u32] {
        &self.bits
    }

    /// Writes the bits of one row, given the encoder that it was made for; `room` is for words.
    ///
    /// # Errors
    /// As [`Encoder::transform`].
    pub(crate) fn fill(
        &self,
        encoder: &Encoder,
        row: Row<'_>,
        room: &mut String,
        slots: &mut [u8],
    ) -> Result<()> {
        let moved = locate(encoder, row)?;
        if let (Some(flat), None) = (&self.flat, &moved)
            && flat.fill(row, slots)
        {
            return self.compare(encoder, row, moved.as_deref(), slots);
        }
        for (index, (column, input)) in self.columns.iter().zip(&encoder.inputs).enumerate() {
            let position = moved.as_ref().map_or(input.position, |positions| positions[index]);
            let (value, from) = row.get(position, input.kind);
            let slots = &mut slots[column.first..][..column.count];
            if from == input.kind {
                column.tests.answer(value, input, column.first, room, slots);
                continue;
            }
            match convert(value, from, input).ok_or_else(|| misfit(input, value, row.number()))? {
                Converted::Value(value) => column.tests.answer(value, input, column.first, room, slots),
                Converted::Text(text) => {
                    column.tests.answer(Value::Text(&text), input, column.first, room, slots);
                }
            }
        }
        self.compare(encoder, row, moved.as_deref(), slots)
    }

    /// Writes the bits that compare two inputs.
    fn compare(
        &self,
        encoder: &Encoder,
        row: Row<'_>,
        moved: Option<&[usize]>,
        slots: &mut [u8],
    ) -> Result<()> {
        let number = |index: usize| {
            let input = &encoder.inputs[index];
            let position = moved.map_or(input.position, |positions| positions[index]);
            let (value, from) = row.get(position, input.kind);
            as_number(value, from, input).ok_or_else(|| misfit(input, value, row.number()))
        };
        let first = self.bits.len() - self.pairs.len();
        for (pair, slot) in self.pairs.iter().zip(&mut slots[first..]) {
            *slot = u8::from(number(pair.one)? - number(pair.other)? > pair.margin);
        }
        Ok(())
    }
}

/// The tests of all slots where all columns are numbers, pixels or bits: a column and a threshold each.
#[derive(Debug, Clone)]
enum Flat {
    /// Whether a number is above a threshold; with a NaN for a threshold, whether it is missing.
    Numbers(Vec<(u32, f64)>),
    /// Whether a pixel is above a threshold, which may be -1.
    Pixels(Vec<(u32, i16)>),
    /// Whether a bit is set.
    Bits(Vec<u32>),
}

impl Flat {
    fn new(encoder: &Encoder, bits: &[u32]) -> Option<Self> {
        let kind = encoder.inputs.first()?.kind;
        if encoder.inputs.iter().any(|input| input.kind != kind) {
            return None;
        }
        let mut tests = bits.iter().map(|&bit| {
            let BitMeaning { column, test } = &encoder.bits[bit as usize];
            (encoder.inputs[*column as usize].position as u32, test)
        });
        match kind {
            Kind::Number => tests
                .map(|(position, test)| match test {
                    Test::Above(threshold) => Some((position, *threshold)),
                    Test::Missing => Some((position, f64::NAN)),
                    _ => None,
                })
                .collect::<Option<_>>()
                .map(Self::Numbers),
            Kind::Pixel => tests
                .map(|(position, test)| match test {
                    Test::Above(threshold) => {
                        Some((position, libm::floor(*threshold).clamp(-1.0, 255.0) as i16))
                    }
                    // A pixel is never missing.
                    Test::Missing => Some((position, 255)),
                    _ => None,
                })
                .collect::<Option<_>>()
                .map(Self::Pixels),
            Kind::Bit => {
                let all = tests.all(|(_, test)| *test == Test::Set);
                let positions = bits.iter().map(|&bit| {
                    let column = encoder.bits[bit as usize].column as usize;
                    encoder.inputs[column].position as u32
                });
                all.then(|| Self::Bits(positions.collect()))
            }
            Kind::Date | Kind::Text => None,
        }
    }

    /// Writes all slots, if the row holds just what the columns held in training.
    #[inline]
    fn fill(&self, row: Row<'_>, slots: &mut [u8]) -> bool {
        match (self, row) {
            (Self::Numbers(tests), Row::Numbers(numbers)) => {
                for (slot, &(position, threshold)) in slots.iter_mut().zip(tests) {
                    let number = numbers[position as usize];
                    *slot = u8::from(number > threshold || threshold.is_nan() && number.is_nan());
                }
            }
            (Self::Pixels(tests), Row::Pixels(pixels)) => {
                for (slot, &(position, threshold)) in slots.iter_mut().zip(tests) {
                    *slot = u8::from(i16::from(pixels[position as usize]) > threshold);
                }
            }
            (Self::Bits(positions), Row::Bits(bits)) => {
                for (slot, &position) in slots.iter_mut().zip(positions) {
                    *slot = u8::from(bits[position as usize]);
                }
            }
            _ => return false,
        }
        true
    }
}

/// Where the columns of a table are whose names are not where they were in training; nothing where they are.
fn locate(encoder: &Encoder, row: Row<'_>) -> Result<Option<Vec<usize>>> {
    if let Row::Of(table, _) = row
        && table.is_named()
    {
        let in_place = |input: &Input| {
            input.position < table.columns() && table.name(input.position) == input.name.as_str()
        };
        return match encoder.inputs.iter().all(in_place) {
            true => Ok(None),
            false => transform::locate(encoder, table).map(Some),
        };
    }
    if row.columns() == encoder.width {
        return Ok(None);
    }
    Err(transform::wrong_width(encoder, row.columns()))
}

impl Tests {
    /// The tests of some bits of one input, which are put in the order of their slots.
    fn new(input: &Input, meanings: &[BitMeaning], bits: &mut [u32], first: usize) -> Self {
        let test = |bit: u32| &meanings[bit as usize].test;
        if bits.is_empty() {
            return Self::None;
        }
        if bits.iter().all(|&bit| *test(bit) == Test::Set) && bits.len() == 1 {
            return Self::Set;
        }
        let missing = bits.iter().filter(|&&bit| *test(bit) == Test::Missing).count();
        let levels = bits.iter().filter(|&&bit| matches!(test(bit), Test::Above(_))).count();
        if missing <= 1 && missing + levels == bits.len() {
            let key =
                |bit: u32| if let Test::Above(threshold) = test(bit) { *threshold } else { f64::INFINITY };
            bits.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
            return Self::Levels(bits[..levels].iter().map(|&bit| key(bit)).collect());
        }
        if input.kind != Kind::Text {
            return Self::Each(bits.iter().map(|&bit| test(bit).clone()).collect());
        }
        let (mut whole, mut words) = (HashMap::<_, Vec<u32>>::new(), HashMap::<_, Vec<u32>>::new());
        let mut rest = Vec::new();
        for (slot, &bit) in bits.iter().enumerate() {
            let slot = (first + slot) as u32;
            match test(bit) {
                Test::Is(text) => whole.entry(text.clone()).or_default().push(slot),
                Test::Word(word) => words.entry(word.clone()).or_default().push(slot),
                other => rest.push((slot, other.clone())),
            }
        }
        Self::Texts { whole, words, rest }
    }

    /// Writes the answers to a value of the input's own kind.
    #[inline]
    fn answer(&self, value: Value<'_>, input: &Input, first: usize, room: &mut String, slots: &mut [u8]) {
        match self {
            Self::None => {}
            Self::Set => slots[0] = u8::from(value == Value::Bit(true)),
            Self::Levels(thresholds) => {
                let (above, missing) = slots.split_at_mut(thresholds.len());
                let number = match value {
                    Value::Number(number) => number,
                    Value::Pixel(byte) => f64::from(byte),
                    _ => f64::NEG_INFINITY,
                };
                // A gap is above no threshold; all are finite.
                for (slot, &threshold) in above.iter_mut().zip(thresholds) {
                    *slot = u8::from(number > threshold);
                }
                if let Some(missing) = missing.first_mut() {
                    *missing = u8::from(value == Value::Missing);
                }
            }
            Self::Each(tests) => {
                for (slot, test) in slots.iter_mut().zip(tests) {
                    *slot = u8::from(test.holds(value, &input.categories));
                }
            }
            Self::Texts { whole, words, rest } => {
                slots.fill(0);
                let mut set = |found: Option<&Vec<u32>>| {
                    found.into_iter().flatten().for_each(|&slot| slots[slot as usize - first] = 1);
                };
                if let Value::Text(text) = value {
                    set(whole.get(text));
                    if !words.is_empty() {
                        super::words::each_word(text, room, |word| set(words.get(word)));
                    }
                }
                for (slot, test) in rest {
                    slots[*slot as usize - first] = u8::from(test.holds(value, &input.categories));
                }
            }
        }
    }
}
