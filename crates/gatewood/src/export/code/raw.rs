//! Raw values in: the encoder's tests as tables that a loop of C or Rust walks.

use std::ops::Range;

use crate::encode::{DatePart, Encoder, Kind, Test};
use crate::export::names;
use crate::{Error, Result};

/// The tests of raw values that fill a row, and where they find the values.
///
/// Numbers, dates, pixels and ready bits are handed in as numbers, in the order of the encoder's columns; texts apart
/// from them, in that order too.
#[derive(Debug, Default)]
pub(super) struct Raw {
    /// How many numbers there are.
    pub(super) numbers: usize,
    /// How many texts there are.
    pub(super) texts: usize,
    /// What each of them is: `numbers[0] is age`.
    pub(super) facts: Vec<String>,
    pub(super) number_tests: Vec<NumberTest>,
    pub(super) text_tests: Vec<TextTest>,
    /// The texts that tests know.
    pub(super) values: Vec<String>,
}

/// A test of a number that fills a bit of the row.
#[derive(Debug)]
pub(super) struct NumberTest {
    pub(super) bit: u32,
    pub(super) column: u32,
    /// A number that is taken from it before it is tested.
    pub(super) other: Option<u32>,
    pub(super) kind: NumberKind,
    pub(super) value: f64,
}

/// What a test of a number asks; the number is what generated code knows it by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberKind {
    Missing = 0,
    Above = 1,
    Equals = 2,
    PixelBit = 3,
    GrayBit = 4,
    Month = 5,
    Weekday = 6,
    Hour = 7,
}

/// A test of a text that fills a bit of the row.
#[derive(Debug)]
pub(super) struct TextTest {
    pub(super) bit: u32,
    pub(super) column: u32,
    pub(super) kind: TextKind,
    /// The values it knows, as places in [`Raw::values`].
    pub(super) values: Range<usize>,
}

/// What a test of a text asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    Missing = 0,
    /// Whether it is one of the values.
    Known = 1,
    /// Whether it is none of them.
    Other = 2,
}

/// What a test asks of a number, or of a text.
enum Ask<'a> {
    Number(NumberKind, f64),
    Text(TextKind, &'a [String]),
}

impl Raw {
    /// The tests of those bits of an encoder that are used.
    ///
    /// # Errors
    /// When a bit asks for a word of a text: which letters make words, and what their lower case is, is not for C.
    pub(super) fn of(encoder: &Encoder, used: &[bool]) -> Result<Self> {
        let mut raw = Self::default();
        let mut places = Vec::new();
        for input in encoder.inputs() {
            let (name, place, note) = match input.kind {
                Kind::Text => ("texts", &mut raw.texts, ""),
                Kind::Number => ("numbers", &mut raw.numbers, ""),
                Kind::Date => ("numbers", &mut raw.numbers, ", in seconds since 1970"),
                Kind::Pixel => ("numbers", &mut raw.numbers, ", 0 to 255"),
                Kind::Bit => ("numbers", &mut raw.numbers, ", 0 or 1"),
            };
            raw.facts.push(format!("{name}[{place}] is {}{note}", names::safe(&input.name)));
            places.push(*place as u32);
            *place += 1;
        }
        for (bit, meaning) in encoder.meanings().iter().enumerate().filter(|&(bit, _)| used[bit]) {
            let input = &encoder.inputs()[meaning.column as usize];
            let column = places[meaning.column as usize];
            let bit = bit as u32;
            let ask = match &meaning.test {
                Test::Above(value) => Ask::Number(NumberKind::Above, *value),
                Test::Equals(value) => Ask::Number(NumberKind::Equals, *value),
                Test::Set => Ask::Number(NumberKind::Equals, 1.0),
                Test::PixelBit(place) => Ask::Number(NumberKind::PixelBit, (*place).into()),
                Test::GrayBit(place) => Ask::Number(NumberKind::GrayBit, (*place).into()),
                Test::DatePart(DatePart::Month, value) => Ask::Number(NumberKind::Month, *value),
                Test::DatePart(DatePart::Weekday, value) => Ask::Number(NumberKind::Weekday, *value),
                Test::DatePart(DatePart::Hour, value) => Ask::Number(NumberKind::Hour, *value),
                Test::Exceeds { margin, .. } => Ask::Number(NumberKind::Above, *margin),
                Test::Missing if input.kind == Kind::Text => Ask::Text(TextKind::Missing, &[]),
                Test::Missing => Ask::Number(NumberKind::Missing, 0.0),
                Test::Is(text) => Ask::Text(TextKind::Known, std::slice::from_ref(text)),
                Test::Other => Ask::Text(TextKind::Other, &input.categories),
                Test::Word(_) => {
                    return Err(Error::setting(format!(
                        "column \"{}\" is asked for words, which C and Rust with the encoder cannot: \
                         write it without, and hand in the encoder's bits",
                        input.name
                    )));
                }
            };
            match ask {
                Ask::Number(kind, value) => {
                    let other = match meaning.test {
                        Test::Exceeds { other, .. } => Some(places[other as usize]),
                        _ => None,
                    };
                    raw.number_tests.push(NumberTest { bit, column, other, kind, value });
                }
                Ask::Text(kind, texts) => {
                    if let Some(text) = texts.iter().find(|text| text.contains('\0')) {
                        return Err(Error::setting(format!(
                            "column \"{}\" is compared with {text:?}, which no text of C can be",
                            input.name
                        )));
                    }
                    let first = raw.values.len();
                    raw.values.extend_from_slice(texts);
                    raw.text_tests.push(TextTest { bit, column, kind, values: first..raw.values.len() });
                }
            }
        }
        Ok(raw)
    }

    /// Whether a test asks for a part of a date.
    pub(super) fn has_dates(&self) -> bool {
        let dates = [NumberKind::Month, NumberKind::Weekday, NumberKind::Hour];
        self.number_tests.iter().any(|test| dates.contains(&test.kind))
    }

    /// Whether a test asks for a bit of a pixel.
    pub(super) fn has_pixel_bits(&self) -> bool {
        let pixels = [NumberKind::PixelBit, NumberKind::GrayBit];
        self.number_tests.iter().any(|test| pixels.contains(&test.kind))
    }
}
