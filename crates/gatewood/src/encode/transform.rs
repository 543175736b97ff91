//! Raw rows to bits, 64 bits of 512 rows at a time.
//!
//! A column whose values are codes needs each test once per distinct value: the answers of up to 64 tests are one
//! word, found by code. Words of 64 rows make a square of bits, and its transpose is one word of each bit column.

use std::collections::HashMap;
use std::ops::Range;

use super::table::Store;
use super::{
    BitMeaning, Codes, Column, Encoder, Input, Kind, Numbers, Table, Test, Texts, Value, date, words,
};
use crate::bits::{BLOCK_WORDS, BitMatrix, WORD_BITS, transpose_block};
use crate::{Error, Result};

/// Rows that are encoded together: one block of words in each bit column.
const BAND: usize = WORD_BITS * BLOCK_WORDS;

pub(super) fn transform(encoder: &Encoder, table: &Table) -> Result<BitMatrix> {
    let mut matrix = BitMatrix::zeros(table.rows(), encoder.bits.len())?;
    let positions = locate(encoder, table)?;
    fill(encoder, table, &positions, 0..encoder.bits.len(), &mut matrix)?;
    Ok(matrix)
}

/// The column of the table that each input of the encoder reads.
pub(super) fn locate(encoder: &Encoder, table: &Table) -> Result<Vec<usize>> {
    if !table.is_named() {
        let width = encoder.width;
        if table.columns() != width {
            return Err(Error::data(format!(
                "the rows have {} columns, but those of training had {width}",
                table.columns()
            )));
        }
        return Ok(encoder.inputs.iter().map(|input| input.position).collect());
    }
    let names: Vec<_> = (0..table.columns()).map(|column| table.name(column)).collect();
    let by_name: HashMap<&str, usize> = names.iter().map(AsRef::as_ref).zip(0..).collect();
    let find = |input: &Input| {
        by_name.get(input.name.as_str()).copied().ok_or_else(|| {
            Error::data(format!("column \"{}\" is missing: the model was trained with it", input.name))
        })
    };
    encoder.inputs.iter().map(find).collect()
}

/// Fills a matrix with a range of the encoder's bits.
pub(super) fn fill(
    encoder: &Encoder,
    table: &Table,
    positions: &[usize],
    range: Range<usize>,
    matrix: &mut BitMatrix,
) -> Result<()> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let mut group = 0..0;
    let bits = &encoder.bits[range];
    let mut first = 0;
    while first < bits.len() {
        let column = bits[first].column;
        let same = bits[first..].iter().take_while(|bit| bit.column == column).count();
        let input = &encoder.inputs[column as usize];
        let position = positions[column as usize];
        let run = first..first + same;
        if let (Store::Bits(ready), Kind::Bit) = (&table.store, input.kind) {
            for bit in run.clone().filter(|&bit| bits[bit].test == Test::Set) {
                matrix.column_mut(bit).copy_from_slice(ready.column(position));
            }
        } else if let (Some(Column::Text(texts)), Kind::Text) = (table.column(position), input.kind) {
            set_texts(texts, input, &bits[run.clone()], first, matrix);
        } else {
            let mut start = run.start;
            while start < run.end {
                if start != group.end || group.len() == WORD_BITS {
                    write_group(&mut pieces, group, table.rows(), matrix)?;
                    group = start..start;
                }
                let end = run.end.min(group.start + WORD_BITS);
                let source = Source::new(table, position, input, &bits[start..end], start - group.start)?;
                pieces.push(Piece { source, table, position, input });
                group.end = end;
                start = end;
            }
        }
        first = run.end;
    }
    write_group(&mut pieces, group, table.rows(), matrix)
}

/// Sets the bits of a text column, each text looked at once.
fn set_texts(texts: &Texts, input: &Input, bits: &[BitMeaning], first: usize, matrix: &mut BitMatrix) {
    let (mut is, mut has) = (HashMap::<&str, Vec<usize>>::new(), HashMap::<&str, Vec<usize>>::new());
    let mut rest = Vec::new();
    for (bit, meaning) in (first..).zip(bits) {
        match &meaning.test {
            Test::Is(text) => is.entry(text).or_default().push(bit),
            Test::Word(word) => has.entry(word).or_default().push(bit),
            test => rest.push((bit, test)),
        }
    }
    let bits_of = |code: usize| {
        let text = texts.text(code);
        let value = text.map_or(Value::Missing, Value::Text);
        let mut on: Vec<usize> = rest
            .iter()
            .filter(|(_, test)| test.holds(value, &input.categories))
            .map(|&(bit, _)| bit)
            .chain(text.and_then(|text| is.get(text)).into_iter().flatten().copied())
            .collect();
        if let (false, Some(text)) = (has.is_empty(), text) {
            on.extend(words(text).filter_map(|word| has.get(word.as_str())).flatten());
        }
        on
    };
    let on: Vec<Vec<usize>> = (0..texts.distinct()).map(bits_of).collect();
    for (row, code) in texts.codes().iter().enumerate() {
        for &bit in &on[code] {
            matrix.column_mut(bit)[row / WORD_BITS] |= 1 << (row % WORD_BITS);
        }
    }
}

/// A few bits of one column, as part of a group of 64.
struct Piece<'a> {
    source: Source<'a>,
    table: &'a Table,
    position: usize,
    input: &'a Input,
}

/// Where a row's word of answers comes from.
enum Source<'a> {
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
    thresholds: Vec<f64>,
    answers: Vec<u64>,
    missing: u64,
}

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
        Some(Self { thresholds: cuts.into_iter().map(|cut| cut.0).collect(), answers, missing })
    }

    fn answer(&self, value: f64) -> u64 {
        if value.is_nan() {
            return self.missing;
        }
        self.answers[self.thresholds.partition_point(|&threshold| threshold < value)]
    }
}

impl<'a> Source<'a> {
    fn new(
        table: &'a Table,
        position: usize,
        input: &'a Input,
        bits: &'a [BitMeaning],
        shift: usize,
    ) -> Result<Self> {
        let from = table.kind(position);
        let codes_source = |codes: &'a Codes, answers: Vec<u64>| match codes {
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
        match (&table.store, table.column(position)) {
            (Store::Pixels { columns, bytes }, _) => {
                let misfit_at = |byte: u8| {
                    let row = bytes[position..].iter().step_by(*columns).position(|&other| other == byte);
                    row.map(|row| misfit(input, Value::Pixel(byte), row))
                };
                let mut answers = Vec::with_capacity(256);
                for byte in 0..=255 {
                    answers.push(match answer(Value::Pixel(byte), from, input, bits, shift) {
                        Some(answer) => answer,
                        None => misfit_at(byte).map_or(Ok(0), Err)?,
                    });
                }
                Ok(Self::Pixels { bytes: &bytes[position..], width: *columns, answers })
            }
            (_, Some(Column::Text(texts))) => coded(texts.codes(), texts.distinct(), &|code| {
                texts.text(code).map_or(Value::Missing, Value::Text)
            }),
            (_, Some(Column::Number(numbers) | Column::Date(numbers))) => match numbers {
                Numbers::Coded { codes, values } => coded(codes, values.len(), &|code| number(values[code])),
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

impl Piece<'_> {
    /// Adds the answers for the rows from `first` on to `words`.
    fn add(&self, first: usize, words: &mut [u64]) -> Result<()> {
        let rows = first..first + words.len();
        match &self.source {
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

/// Writes up to 64 neighbouring bit columns, and forgets the pieces.
fn write_group(
    pieces: &mut Vec<Piece<'_>>,
    group: Range<usize>,
    rows: usize,
    matrix: &mut BitMatrix,
) -> Result<()> {
    let mut band = [0u64; BAND];
    for first in (0..rows).step_by(if pieces.is_empty() { usize::MAX } else { BAND }) {
        let count = BAND.min(rows - first);
        band.fill(0);
        for piece in pieces.iter() {
            piece.add(first, &mut band[..count])?;
        }
        let (blocks, _) = band.as_chunks_mut::<WORD_BITS>();
        blocks.iter_mut().for_each(transpose_block);
        let words = first / WORD_BITS..(first + count).div_ceil(WORD_BITS);
        for (bit, column) in group.clone().enumerate() {
            for (word, block) in matrix.column_mut(column)[words.clone()].iter_mut().zip(&*blocks) {
                *word = block[bit];
            }
        }
    }
    pieces.clear();
    Ok(())
}

/// The answers of all tests to one value, the first in bit `shift`; `None` when the value does not fit the column.
fn answer(value: Value<'_>, from: Kind, input: &Input, bits: &[BitMeaning], shift: usize) -> Option<u64> {
    let ask = |value: Value<'_>| {
        let answers = (shift..).zip(bits);
        answers.fold(0, |word, (bit, meaning)| {
            word | u64::from(meaning.test.holds(value, &input.categories)) << bit
        })
    };
    Some(match convert(value, from, input.kind)? {
        Converted::Value(value) => ask(value),
        Converted::Text(text) => ask(Value::Text(&text)),
    })
}

enum Converted<'a> {
    Value(Value<'a>),
    Text(String),
}

/// A value of one kind of column as that of another, for instance a text that a reader took for a number.
fn convert(value: Value<'_>, from: Kind, to: Kind) -> Option<Converted<'_>> {
    let byte =
        |number: f64| (number.fract() == 0.0 && (0.0..256.0).contains(&number)).then_some(number as u8);
    let bit = |number: f64| (number == 0.0 || number == 1.0).then_some(Value::Bit(number == 1.0));
    let value = match (to, value) {
        (_, Value::Missing) => value,
        (Kind::Number, Value::Number(_)) if from == Kind::Number => value,
        (Kind::Number, Value::Text(text)) => {
            Value::Number(text.trim().parse().ok().filter(|number: &f64| !number.is_nan())?)
        }
        (Kind::Number, Value::Pixel(byte)) => Value::Number(byte.into()),
        (Kind::Number, Value::Bit(bit)) => Value::Number(f64::from(u8::from(bit))),
        (Kind::Date, Value::Number(_)) if from == Kind::Date => value,
        (Kind::Date, Value::Text(text)) => Value::Number(date::parse_date(text.trim())?),
        (Kind::Text, Value::Text(_)) => value,
        (Kind::Text, Value::Number(seconds)) if from == Kind::Date => {
            return Some(Converted::Text(date::show(seconds)));
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

fn misfit(input: &Input, value: Value<'_>, row: usize) -> Error {
    let shown = match value {
        Value::Text(text) => format!("\"{text}\""),
        Value::Number(number) => number.to_string(),
        Value::Pixel(byte) => byte.to_string(),
        Value::Bit(bit) => u8::from(bit).to_string(),
        Value::Missing => "nothing".to_owned(),
    };
    Error::data(format!(
        "column \"{}\" held {} in training, but row {} has {shown}",
        input.name,
        input.kind,
        row + 1
    ))
}
