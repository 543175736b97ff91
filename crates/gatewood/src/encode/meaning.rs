//! What one encoded bit says about a raw row.

use serde::{Deserialize, Serialize};

use super::{Kind, Value, date, words};

/// What one encoded bit means: a test of one raw column, or of two.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BitMeaning {
    /// Position of the raw column among [`super::Encoder::inputs`].
    pub column: u32,
    /// The bit is one where this holds.
    pub test: Test,
}

impl BitMeaning {
    /// The raw columns that it reads, among [`super::Encoder::inputs`]: one, or the two that it compares.
    pub fn columns(&self) -> impl Iterator<Item = u32> {
        let other = match self.test {
            Test::Exceeds { other, .. } => Some(other),
            _ => None,
        };
        std::iter::once(self.column).chain(other)
    }
}

/// A test of one raw value, or of two. No test but [`Test::Missing`] holds for a gap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Test {
    /// The number (or pixel) is greater than this finite one.
    Above(f64),
    /// The number is this one.
    Equals(f64),
    /// The text is this one.
    Is(String),
    /// The text is none of the categories the column's input lists.
    Other,
    /// The value is missing.
    Missing,
    /// The text has this word.
    Word(String),
    /// This bit of the pixel's byte is set; 7 is the most significant.
    PixelBit(u8),
    /// This bit of the Gray code of the pixel's byte, `byte ^ byte >> 1`, is set.
    GrayBit(u8),
    /// The part of the date is greater than this.
    DatePart(DatePart, f64),
    /// The ready bit is set.
    Set,
    /// The number (or pixel) less that of another column is greater than the margin, a finite one. It asks for two values:
    /// [`Test::exceeds`].
    Exceeds {
        /// Position of the other raw column among [`super::Encoder::inputs`].
        other: u32,
        /// What the difference must be above.
        margin: f64,
    },
}

/// A comparison of two columns in words.
pub(super) fn compared(name: &str, other: &str, margin: f64) -> String {
    match margin {
        0.0 => format!("{name} > {other}"),
        _ if margin < 0.0 => format!("{name} > {other} - {}", -margin),
        _ => format!("{name} > {other} + {margin}"),
    }
}

/// A part of a date that a test can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DatePart {
    /// 1 to 12.
    Month,
    /// 1 (Monday) to 7.
    Weekday,
    /// 0 to 23.
    Hour,
}

impl DatePart {
    /// The part of a moment given in seconds since 1970-01-01.
    pub fn of(self, seconds: f64) -> f64 {
        match self {
            Self::Month => f64::from(date::civil(seconds).month),
            Self::Weekday => f64::from(date::weekday(seconds)),
            Self::Hour => f64::from(date::civil(seconds).hour),
        }
    }

    /// The part's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Month => "month",
            Self::Weekday => "weekday",
            Self::Hour => "hour",
        }
    }
}

impl Test {
    /// Whether the test holds for one value: the definition of the bit.
    ///
    /// `categories` are those the column's input lists, sorted; only [`Test::Other`] asks for them.
    pub fn holds(&self, value: Value<'_>, categories: &[String]) -> bool {
        match (self, value) {
            (Self::Missing, value) => value == Value::Missing,
            (_, Value::Missing) => false,
            (Self::Above(threshold), Value::Number(number)) => number > *threshold,
            (Self::Above(threshold), Value::Pixel(byte)) => f64::from(byte) > *threshold,
            (Self::Equals(wanted), Value::Number(number)) => number == *wanted,
            (Self::DatePart(part, threshold), Value::Number(seconds)) => part.of(seconds) > *threshold,
            (Self::Is(wanted), Value::Text(text)) => text == wanted,
            (Self::Other, Value::Text(text)) => {
                categories.binary_search_by(|category| category.as_str().cmp(text)).is_err()
            }
            (Self::Word(wanted), Value::Text(text)) => words(text).any(|word| word == *wanted),
            (Self::PixelBit(bit), Value::Pixel(byte)) => byte >> (bit & 7) & 1 != 0,
            (Self::GrayBit(bit), Value::Pixel(byte)) => (byte ^ byte >> 1) >> (bit & 7) & 1 != 0,
            (Self::Set, Value::Bit(bit)) => bit,
            _ => false,
        }
    }

    /// Whether a number or pixel less another one is above a margin: the definition of [`Test::Exceeds`], which does not hold
    /// where either is missing.
    pub fn exceeds(value: Value<'_>, other: Value<'_>, margin: f64) -> bool {
        let number = |value| match value {
            Value::Number(number) => number,
            Value::Pixel(byte) => f64::from(byte),
            _ => f64::NAN,
        };
        number(value) - number(other) > margin
    }

    /// Whether a column of this kind can be tested so.
    pub fn suits(&self, kind: Kind) -> bool {
        match self {
            Self::Above(threshold) => {
                threshold.is_finite() && matches!(kind, Kind::Number | Kind::Date | Kind::Pixel)
            }
            Self::Equals(number) => number.is_finite() && kind == Kind::Number,
            Self::DatePart(_, threshold) => threshold.is_finite() && kind == Kind::Date,
            Self::Is(_) | Self::Other | Self::Word(_) => kind == Kind::Text,
            Self::Missing => true,
            Self::PixelBit(bit) | Self::GrayBit(bit) => *bit < 8 && kind == Kind::Pixel,
            Self::Set => kind == Kind::Bit,
            Self::Exceeds { margin, .. } => margin.is_finite() && matches!(kind, Kind::Number | Kind::Pixel),
        }
    }

    /// The test in words, of a column with this name.
    pub fn describe(&self, name: &str, is_date: bool) -> String {
        match self {
            Self::Above(threshold) if is_date => format!("{name} > {}", date::show_date(*threshold)),
            Self::Above(threshold) => format!("{name} > {threshold}"),
            Self::Equals(number) => format!("{name} = {number}"),
            Self::Is(text) => format!("{name} = {text}"),
            Self::Other => format!("{name} is another value"),
            Self::Missing => format!("{name} is missing"),
            Self::Word(word) => format!("{name} has the word {word}"),
            Self::PixelBit(bit) => format!("bit {bit} of {name}"),
            Self::GrayBit(bit) => format!("Gray bit {bit} of {name}"),
            Self::DatePart(part, threshold) => format!("{} of {name} > {threshold}", part.name()),
            Self::Set => name.to_owned(),
            Self::Exceeds { other, margin } => compared(name, &format!("column {other}"), *margin),
        }
    }
}
