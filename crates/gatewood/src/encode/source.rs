//! Where the bits of a group come from: each column's answers to its tests, a word a row.

use super::view::StoreView;
use super::{BitMeaning, Codes, Column, Input, Kind, Numbers, TableView, Test, Value, date};
use crate::bits::WORD_BITS;
use crate::text::quote;
use crate::{Error, Result};

/// A few bits of one column, as part of a group of 64.
pub(super) struct Piece<'a> {
    source: Source<'a>,
    table: TableView<'a>,
    position: usize,
    input: &'a Input,
    /// The first of its bits in the group.
    pub(super) first: usize,
    /// How many bits it has.
    pub(super) count: usize,
}

/// Where a row's word of answers comes from.
enum Source<'a> {
    /// Codes of two values, and the answers to each.
    Two(&'a [u8], [u64; 2]),
    U8(&'a [u8], Vec<u64>),
    U16(&'a [u16], Vec<u64>),
    U32(&'a [u32], Vec<u64>),
    Pixels {
        bytes: &'a [u8],
        width: usize,
        answers: Vec<u64>,
    },
    F64(&'a [f64], Levels),
    F32(&'a [f32], Levels),
    Sparse {
        rows: &'a [u32],
        answers: Vec<u64>,
        zero: u64,
    },
    /// Any values, asked one at a time.
    Each {
        bits: &'a [BitMeaning],
        shift: usize,
    },
}

/// The answers of thresholds: by the number of thresholds under the value.
struct Levels {
    /// Ascending, and a last one that no value is above.
    thresholds: Vec<f64>,
    answers: Vec<u64>,
    missing: u64,
    /// Stretches of equal length from the first threshold to the last: how many thresholds are in those before each.
    stretches: Box<[u8; STRETCHES]>,
    /// What a stretch is worth.
    scale: f64,
}

/// A value finds the thresholds near it by its stretch: most stretches have none, or one.
const STRETCHES: usize = 512;

impl Levels {
    fn new(bits: &[BitMeaning], shift: usize) -> Option<Self> {
        let (mut cuts, mut missing) = (Vec::new(), 0);
        for (bit, meaning) in (shift..).zip(bits) {
            match meaning.test {
                Test::Above(threshold) => cuts.push((threshold, 1u64 << bit)),
                Test::Missing => missing |= 1u64 << bit,
                _ => return None,
            }
        }
        cuts.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut answers = vec![0];
        for (_, bit) in &cuts {
            answers.push(answers[answers.len() - 1] | bit);
        }
        let mut thresholds: Vec<f64> = cuts.into_iter().map(|cut| cut.0).collect();
        let range = thresholds.last().zip(thresholds.first()).map_or(0.0, |(last, first)| last - first);
        thresholds.push(f64::INFINITY);
        // Of one threshold, or of such that are too far apart, all values are in the first stretch.
        let scale = if range > 0.0 && range < f64::INFINITY { (STRETCHES - 1) as f64 / range } else { 0.0 };
        let mut levels = Self { thresholds, answers, missing, stretches: Box::new([0; STRETCHES]), scale };
        let mut before = 0;
        for stretch in 0..STRETCHES {
            levels.stretches[stretch] = before as u8;
            while before + 1 < levels.thresholds.len() && levels.stretch(levels.thresholds[before]) == stretch
            {
                before += 1;
            }
        }
        Some(levels)
    }

    /// The stretch of a value, which no larger value is before.
    fn stretch(&self, value: f64) -> usize {
        (((value - self.thresholds[0]) * self.scale) as usize).min(STRETCHES - 1)
    }

    fn answer(&self, value: f64) -> u64 {
        if value.is_nan() {
            return self.missing;
        }
        let mut under = usize::from(self.stretches[self.stretch(value)]);
        while self.thresholds[under] < value {
            under += 1;
        }
        self.answers[under]
    }
}

impl<'a> Source<'a> {
    fn new(
        table: TableView<'a>,
        position: usize,
        input: &'a Input,
        bits: &'a [BitMeaning],
        shift: usize,
    ) -> Result<Self> {
        let from = table.kind(position);
        let codes_source = |codes: &'a Codes, answers: Vec<u64>| match codes {
            Codes::U8(codes) if (1..=2).contains(&answers.len()) => {
                Self::Two(codes, [answers[0], answers[answers.len() - 1]])
            }
            Codes::U8(codes) => Self::U8(codes, answers),
            Codes::U16(codes) => Self::U16(codes, answers),
            Codes::U32(codes) => Self::U32(codes, answers),
        };
        // A dictionary may list values that no row has; only rows can be wrong.
        let coded = |codes: &'a Codes, count: usize, value: &dyn Fn(usize) -> Value<'a>| {
            let mut answers = Vec::with_capacity(count);
            for code in 0..count {
                answers.push(match answer(value(code), from, input, bits, shift) {
                    Some(answer) => answer,
                    None => match codes.iter().position(|other| other == code) {
                        Some(row) => return Err(misfit(input, value(code), row)),
                        None => 0,
                    },
                });
            }
            Ok(codes_source(codes, answers))
        };
        let number = |value: f64| if value.is_nan() { Value::Missing } else { Value::Number(value) };
        let same = from == input.kind;
        match (table.store, table.column(position)) {
            (StoreView::Pixels { columns, bytes }, _) => {
                let misfit_at = |byte: u8| {
                    let row = bytes[position..].iter().step_by(columns).position(|&other| other == byte);
                    row.map(|row| misfit(input, Value::Pixel(byte), row))
                };
                if let Some(levels) = Levels::new(bits, shift).filter(|_| same) {
                    let answers = (0..=255).map(|byte: u8| levels.answer(byte.into())).collect();
                    return Ok(Self::Pixels { bytes: &bytes[position..], width: columns, answers });
                }
                let mut answers = Vec::with_capacity(256);
                for byte in 0..=255 {
                    answers.push(match answer(Value::Pixel(byte), from, input, bits, shift) {
                        Some(answer) => answer,
                        None => misfit_at(byte).map_or(Ok(0), Err)?,
                    });
                }
                Ok(Self::Pixels { bytes: &bytes[position..], width: columns, answers })
            }
            (_, Some(Column::Text(texts))) => coded(texts.codes(), texts.distinct(), &|code| {
                texts.text(code).map_or(Value::Missing, Value::Text)
            }),
            (_, Some(Column::Number(numbers) | Column::Date(numbers))) => match numbers {
                Numbers::Coded { codes, values } => match Levels::new(bits, shift).filter(|_| same) {
                    Some(levels) => {
                        Ok(codes_source(codes, values.iter().map(|&value| levels.answer(value)).collect()))
                    }
                    None => coded(codes, values.len(), &|code| number(values[code])),
                },
                Numbers::Sparse { rows, values, .. } => {
                    let each = |(&row, &value): (&u32, &f64)| {
                        let value = number(value);
                        answer(value, from, input, bits, shift)
                            .ok_or_else(|| misfit(input, value, row as usize))
                    };
                    let answers = rows.iter().zip(values).map(each).collect::<Result<_>>()?;
                    let zero = answer(number(0.0), from, input, bits, shift);
                    let zero = zero.ok_or_else(|| misfit(input, number(0.0), 0))?;
                    Ok(Self::Sparse { rows, answers, zero })
                }
                Numbers::F64(values) if same => Ok(match Levels::new(bits, shift) {
                    Some(levels) => Self::F64(values, levels),
                    None => Self::Each { bits, shift },
                }),
                Numbers::F32(values) if same => Ok(match Levels::new(bits, shift) {
                    Some(levels) => Self::F32(values, levels),
                    None => Self::Each { bits, shift },
                }),
                _ => Ok(Self::Each { bits, shift }),
            },
            _ => Ok(Self::Each { bits, shift }),
        }
    }
}

impl<'a> Piece<'a> {
    /// The given bits of the encoder, all of one column, the first of them at this place in the group.
    pub(super) fn new(
        table: TableView<'a>,
        position: usize,
        input: &'a Input,
        bits: &'a [BitMeaning],
        first: usize,
    ) -> Result<Self> {
        let source = Source::new(table, position, input, bits, first)?;
        Ok(Self { source, table, position, input, first, count: bits.len() })
    }

    /// Whether [`Piece::words`] gives its bits, and not [`Piece::add`].
    pub(super) fn is_two_valued(&self) -> bool {
        matches!(self.source, Source::Two(..))
    }

    /// Its bits for up to 64 rows from `row` on, where the column has two values: a word at the place of each bit.
    pub(super) fn words(&self, row: usize, to: &mut [u64; WORD_BITS]) {
        let Source::Two(codes, answers) = &self.source else { return };
        let codes = &codes[row..codes.len().min(row + WORD_BITS)];
        let mut padded = [0; WORD_BITS];
        padded[..codes.len()].copy_from_slice(codes);
        let (eights, _) = padded.as_chunks::<8>();
        // The low bits of eight bytes, gathered in the top byte.
        let low = 0x0101_0101_0101_0101;
        let gather =
            |eight: &[u8; 8]| (u64::from_le_bytes(*eight) & low).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        let second = (0..).zip(eights).fold(0, |word, (place, eight)| word | gather(eight) << (8 * place));
        let rows = u64::MAX >> (WORD_BITS - codes.len());
        for (bit, word) in to.iter_mut().enumerate().skip(self.first).take(self.count) {
            let [of_first, of_second] = answers.map(|answers| (answers >> bit & 1).wrapping_neg());
            *word = (second & of_second | !second & of_first) & rows;
        }
    }

    /// Adds the answers for the rows from `first` on to `words`.
    pub(super) fn add(&self, first: usize, words: &mut [u64]) -> Result<()> {
        let rows = first..first + words.len();
        match &self.source {
            Source::Two(codes, answers) => {
                codes[rows].iter().zip(words).for_each(|(&code, word)| *word |= answers[usize::from(code)]);
            }
            Source::U8(codes, answers) => {
                codes[rows].iter().zip(words).for_each(|(&code, word)| *word |= answers[usize::from(code)]);
            }
            Source::U16(codes, answers) => {
                codes[rows].iter().zip(words).for_each(|(&code, word)| *word |= answers[usize::from(code)]);
            }
            Source::U32(codes, answers) => {
                codes[rows].iter().zip(words).for_each(|(&code, word)| *word |= answers[code as usize]);
            }
            Source::Pixels { bytes, width, answers } => {
                let bytes = bytes[first * width..].iter().step_by(*width);
                bytes.zip(words).for_each(|(&byte, word)| *word |= answers[usize::from(byte)]);
            }
            Source::F64(values, levels) => {
                values[rows].iter().zip(words).for_each(|(&value, word)| *word |= levels.answer(value));
            }
            Source::F32(values, levels) => {
                values[rows]
                    .iter()
                    .zip(words)
                    .for_each(|(&value, word)| *word |= levels.answer(value.into()));
            }
            Source::Sparse { rows: listed, answers, zero } => {
                let start = listed.partition_point(|&row| (row as usize) < rows.start);
                let mut next = listed[start..].iter().zip(&answers[start..]).peekable();
                for (row, word) in rows.zip(words) {
                    *word |= match next.next_if(|(listed, _)| **listed as usize == row) {
                        Some((_, answer)) => *answer,
                        None => *zero,
                    };
                }
            }
            Source::Each { bits, shift } => {
                let from = self.table.kind(self.position);
                for (row, word) in rows.zip(words) {
                    let value = self.table.value(row, self.position);
                    *word |= answer(value, from, self.input, bits, *shift)
                        .ok_or_else(|| misfit(self.input, value, row))?;
                }
            }
        }
        Ok(())
    }
}

/// The answers of all tests to one value, the first in bit `shift`; `None` when the value does not fit the column.
fn answer(value: Value<'_>, from: Kind, input: &Input, bits: &[BitMeaning], shift: usize) -> Option<u64> {
    let ask = |value: Value<'_>| {
        let answers = (shift..).zip(bits);
        answers.fold(0, |word, (bit, meaning)| {
            word | u64::from(meaning.test.holds(value, &input.categories)) << bit
        })
    };
    Some(match convert(value, from, input)? {
        Converted::Value(value) => ask(value),
        Converted::Text(text) => ask(Value::Text(&text)),
    })
}

/// A value of one kind of column as the number that a column of another has; `None` when it does not fit.
pub(super) fn as_number(value: Value<'_>, from: Kind, input: &Input) -> Option<f64> {
    Some(match convert(value, from, input)? {
        Converted::Value(Value::Number(number)) => number,
        Converted::Value(Value::Pixel(byte)) => f64::from(byte),
        _ => f64::NAN,
    })
}

pub(super) enum Converted<'a> {
    Value(Value<'a>),
    Text(String),
}

/// A value of one kind of column as that of another, for instance a text that a reader took for a number.
pub(super) fn convert<'a>(value: Value<'a>, from: Kind, input: &Input) -> Option<Converted<'a>> {
    let to = input.kind;
    let byte =
        |number: f64| (number.fract() == 0.0 && (0.0..256.0).contains(&number)).then_some(number as u8);
    let bit = |number: f64| (number == 0.0 || number == 1.0).then_some(Value::Bit(number == 1.0));
    let value = match (to, value) {
        (_, Value::Missing) => value,
        (Kind::Number, Value::Number(_)) if from == Kind::Number => value,
        (Kind::Number | Kind::Date, Value::Text(text)) if input.written.is_some() => {
            Value::Number(input.written?.parse(text)?)
        }
        (Kind::Number, Value::Text(text)) => {
            Value::Number(text.trim().parse().ok().filter(|number: &f64| !number.is_nan())?)
        }
        (Kind::Number, Value::Pixel(byte)) => Value::Number(byte.into()),
        (Kind::Number, Value::Bit(bit)) => Value::Number(f64::from(u8::from(bit))),
        (Kind::Date, Value::Number(_)) if from == Kind::Date => value,
        (Kind::Date, Value::Text(text)) => Value::Number(date::parse_date(text.trim())?),
        (Kind::Text, Value::Text(_)) => value,
        (Kind::Text, Value::Number(seconds)) if from == Kind::Date => {
            return Some(Converted::Text(date::show_date(seconds)));
        }
        (Kind::Text, Value::Number(number)) => return Some(Converted::Text(number.to_string())),
        (Kind::Pixel, Value::Pixel(_)) => value,
        (Kind::Pixel, Value::Number(number)) if from == Kind::Number => Value::Pixel(byte(number)?),
        (Kind::Bit, Value::Bit(_)) => value,
        (Kind::Bit, Value::Number(number)) if from == Kind::Number => bit(number)?,
        (Kind::Bit, Value::Pixel(byte)) => bit(byte.into())?,
        _ => return None,
    };
    Some(Converted::Value(value))
}

pub(super) fn misfit(input: &Input, value: Value<'_>, row: usize) -> Error {
    let shown = match value {
        Value::Text(text) => quote(text),
        Value::Number(number) => number.to_string(),
        Value::Pixel(byte) => byte.to_string(),
        Value::Bit(bit) => u8::from(bit).to_string(),
        Value::Missing => "nothing".to_owned(),
    };
    Error::data(format!(
        "column {} held {} in training, but row {} has {shown}",
        quote(&input.name),
        input.kind,
        row + 1
    ))
}
