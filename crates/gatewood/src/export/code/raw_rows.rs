//! Random rows of raw values, to test code that takes them.

use crate::Result;
use crate::encode::{Column, Encoder, Input, Kind, Numbers, Table, Test, Texts};
use crate::random::{Purpose, Stream};

/// Rows of raw values, as a table and as what the program of [`raw_harness`](super::raw_harness()) reads.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RawRows {
    /// The rows, one column for each that the encoder reads.
    pub table: Table,
    /// The rows one after the other: the numbers, then each text as its length in four bytes (all ones when it is
    /// missing) and its bytes; all in the machine's byte order.
    pub bytes: Vec<u8>,
}

/// Random raw rows that an encoder can take: numbers at and next to what they are compared with, texts that it knows
/// and others, and gaps everywhere.
///
/// # Errors
/// When two columns of the encoder have one name.
pub(super) fn raw_rows(encoder: &Encoder, rows: usize, seed: u64) -> Result<RawRows> {
    let mut numbers: Vec<Vec<f64>> = Vec::new();
    let mut texts: Vec<Vec<Option<String>>> = Vec::new();
    let mut columns = Vec::new();
    for (index, input) in encoder.inputs().iter().enumerate() {
        let tests = || {
            let tests = encoder.meanings().iter().filter(|meaning| meaning.column as usize == index);
            tests.map(|meaning| &meaning.test)
        };
        let mut stream = Stream::new(seed, Purpose::Generate, index as u64);
        let column = if input.kind == Kind::Text {
            let known = known_texts(input, tests());
            let values: Vec<Option<String>> = (0..rows).map(|_| text(&mut stream, &known)).collect();
            let column = Column::Text(Texts::from_rows(values.iter().map(Option::as_deref)));
            texts.push(values);
            column
        } else {
            let compared: Vec<f64> = tests().filter_map(compared_with).collect();
            let values: Vec<f64> = (0..rows).map(|_| number(&mut stream, input.kind, &compared)).collect();
            numbers.push(values.clone());
            match input.kind {
                Kind::Date => Column::Date(Numbers::F64(values)),
                _ => Column::Number(Numbers::F64(values)),
            }
        };
        columns.push((input.name.clone(), column));
    }
    let mut bytes = Vec::new();
    for row in 0..rows {
        numbers.iter().for_each(|numbers| bytes.extend(numbers[row].to_ne_bytes()));
        for text in texts.iter().map(|texts| texts[row].as_deref()) {
            bytes.extend(text.map_or(u32::MAX, |text| text.len() as u32).to_ne_bytes());
            bytes.extend(text.unwrap_or_default().as_bytes());
        }
    }
    Ok(RawRows { table: Table::new(columns)?, bytes })
}

fn compared_with(test: &Test) -> Option<f64> {
    match test {
        Test::Above(value) | Test::Equals(value) => Some(*value),
        _ => None,
    }
}

fn number(stream: &mut Stream, kind: Kind, compared: &[f64]) -> f64 {
    if stream.below(12) == 0 {
        return f64::NAN;
    }
    match kind {
        Kind::Bit => f64::from(stream.below(2)),
        Kind::Pixel => f64::from(stream.below(256)),
        // Quarters of an hour of a century.
        Kind::Date if compared.is_empty() || stream.below(2) == 0 => {
            (f64::from(stream.below(3_500_000)) - 1_750_000.0) * 900.0 + f64::from(stream.below(4)) / 4.0
        }
        _ if compared.is_empty() => f64::from(stream.below(2001)) - 1000.0,
        _ => {
            let value = compared[stream.below(compared.len() as u32) as usize];
            match stream.below(5) {
                0 => value,
                1 => value.next_up(),
                2 => value.next_down(),
                3 => value + f64::from(stream.below(2001)) - 1000.0,
                _ => value * f64::from(stream.below(5)) / 2.0,
            }
        }
    }
}

fn known_texts<'a>(input: &'a Input, tests: impl Iterator<Item = &'a Test>) -> Vec<&'a str> {
    let asked = tests.filter_map(|test| match test {
        Test::Is(text) => Some(text.as_str()),
        _ => None,
    });
    asked.chain(input.categories.iter().map(String::as_str)).collect()
}

fn text(stream: &mut Stream, known: &[&str]) -> Option<String> {
    match stream.below(8) {
        0 => None,
        1 => Some(String::new()),
        2 => Some("something else".into()),
        _ if known.is_empty() => Some(format!("text {}", stream.below(10))),
        // Longer than a known text, and so another.
        3 => Some(format!("{}s", known[stream.below(known.len() as u32) as usize])),
        _ => Some(known[stream.below(known.len() as u32) as usize].into()),
    }
}
