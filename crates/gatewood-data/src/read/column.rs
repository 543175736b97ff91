//! Builds a raw column from fields of text, and finds out what they are.
//!
//! The fields are kept as codes of distinct texts, so what a column holds is decided at its end, from each distinct
//! text once. Only a column of very many distinct numbers is turned into plain numbers on the way.

use std::ops::BitOr;

use gatewood::encode::{Codes, Column, Kind, Numbers, Strings, Texts, Written, parse_date};

use super::dictionary::{Dictionary, Known};

/// Distinct texts at which a column is first asked whether it is one of plain numbers.
const FIRST_LOOK: usize = 4096;

/// Distinct texts past which a column of numbers is kept plain in any case.
const LAST_LOOK: usize = 1 << 16;

/// Columns from which a table is so wide that their fields are kept as text first.
pub(crate) const MANY_COLUMNS: usize = 4096;

/// Bytes of text at which a column of such a table gets a dictionary after all.
const MOST_RAW: usize = 1 << 15;

/// Distinct texts of a short column from which plain numbers can take less than codes.
const FEW: usize = 16;

/// Why a field does not fit its column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// It is not UTF-8 text.
    NotText,
    /// It is not a number, as all before it were.
    NotNumber,
    /// It is not what was asked for.
    NotKind(Kind),
    /// It is not a number, as nearly all others are.
    Odd,
}

/// The texts that stand for a gap.
pub(crate) fn is_missing(text: &str) -> bool {
    matches!(
        text,
        "" | "?"
            | "NA"
            | "N/A"
            | "n/a"
            | "NaN"
            | "nan"
            | "NAN"
            | "-nan"
            | "-NaN"
            | "null"
            | "NULL"
            | "Null"
            | "None"
            | "<NA>"
            | "#N/A"
    )
}

/// A number, or nothing.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| !number.is_nan())
}

/// A column while it is read.
#[derive(Debug)]
pub(crate) struct ColumnBuilder {
    wanted: Option<Kind>,
    /// Whether a point sets thousands apart, so that a number with one is not written in the plain way.
    decimal_comma: bool,
    state: State,
    /// The code that makes us look at the column again.
    look_at: u32,
}

#[derive(Debug)]
enum State {
    /// The fields as they came, each with a NUL after it; the dictionary is empty. A dictionary in each of very many
    /// columns would take several times the text.
    Raw(Vec<u8>, Dictionary),
    Coded(Codes, Dictionary),
    Plain {
        values: Vec<f64>,
        /// The number of each code from when the column was coded.
        coded: Vec<f64>,
    },
}

impl ColumnBuilder {
    /// An empty column, of a kind that was asked for or to be found out.
    pub(crate) fn new(wanted: Option<Kind>) -> Self {
        let plain = matches!(wanted, None | Some(Kind::Number));
        let look_at = if plain { FIRST_LOOK as u32 } else { u32::MAX };
        Self {
            wanted,
            decimal_comma: false,
            state: State::Coded(Codes::new(), Dictionary::default()),
            look_at,
        }
    }

    /// An empty column of a table of very many.
    pub(crate) fn one_of_many(wanted: Option<Kind>) -> Self {
        Self { state: State::Raw(Vec::new(), Dictionary::default()), ..Self::new(wanted) }
    }

    /// The same column, in which numbers have a decimal comma.
    #[must_use]
    pub(crate) fn with_decimal_comma(self) -> Self {
        Self { decimal_comma: true, look_at: u32::MAX, ..self }
    }

    /// Bytes that it may take besides those it has, for so many fields more.
    pub(crate) fn growth(&self, fields: usize) -> usize {
        // A list that is full is made twice as long elsewhere.
        let list = |length: usize, capacity: usize, more: usize| {
            if capacity - length < more { (2 * capacity).max(length + more) } else { 0 }
        };
        match &self.state {
            // Of a few letters each: long fields are few in the text that is read at a time.
            State::Raw(bytes, _) => list(bytes.len(), bytes.capacity(), 8 * fields),
            State::Coded(codes, dictionary) => {
                codes.growth(fields, dictionary.len() + fields) + dictionary.growth(fields)
            }
            State::Plain { values, .. } => list(values.len(), values.capacity(), fields) * size_of::<f64>(),
        }
    }

    /// Gives the fields that were kept as text to a dictionary.
    #[cold]
    fn code_raw(&mut self) {
        let State::Raw(bytes, _) = &mut self.state else { return };
        let bytes = std::mem::take(bytes);
        let (mut codes, mut dictionary) = (Codes::new(), Dictionary::default());
        let mut start = 0;
        while let Some(length) = bytes[start..].iter().position(|&byte| byte == 0) {
            let code = dictionary.code(&bytes, start, start + length);
            codes.push(code.expect("it was found to be text when it came"));
            start += length + 1;
        }
        let distinct = dictionary.len();
        self.state = State::Coded(codes, dictionary);
        if self.look_at != u32::MAX && distinct >= FEW {
            self.look();
        }
    }

    /// Appends the field of a text.
    #[inline]
    pub(crate) fn push(&mut self, text: &[u8], start: usize, end: usize) -> Result<(), Misfit> {
        match &mut self.state {
            State::Raw(bytes, _) => {
                let field = &text[start..end];
                if field.contains(&0) || std::str::from_utf8(field).is_err() {
                    return Err(Misfit::NotText);
                }
                bytes.extend_from_slice(field);
                bytes.push(0);
                if bytes.len() > MOST_RAW {
                    self.code_raw();
                }
                Ok(())
            }
            State::Coded(codes, dictionary) => {
                let code = dictionary.code(text, start, end).ok_or(Misfit::NotText)?;
                codes.push(code);
                if code >= self.look_at {
                    self.look();
                }
                Ok(())
            }
            State::Plain { values, .. } => {
                let field = std::str::from_utf8(&text[start..end]).map_err(|_| Misfit::NotText)?;
                values.push(plain_number(field).ok_or(Misfit::NotNumber)?);
                Ok(())
            }
        }
    }

    /// Appends fields that a [`Look`] at this column found codes for.
    pub(crate) fn extend_codes<T: Copy + BitOr<Output = T> + Into<u32>>(&mut self, fields: &[T]) {
        match &mut self.state {
            State::Raw(..) => debug_assert!(fields.is_empty(), "there are no codes yet"),
            State::Coded(codes, _) => codes.extend_from_slice(fields),
            State::Plain { values, coded } => {
                values.extend(fields.iter().map(|&code| coded[code.into() as usize]));
            }
        }
    }

    /// Appends fields to a column that is kept plain.
    pub(crate) fn extend_numbers(&mut self, numbers: &[f64]) {
        match &mut self.state {
            State::Plain { values, .. } => values.extend_from_slice(numbers),
            State::Raw(..) | State::Coded(..) => {
                unreachable!("a column never turns from plain numbers to codes")
            }
        }
    }

    /// What is known of the column's fields so far.
    pub(crate) fn look_up(&self) -> Look<'_> {
        match &self.state {
            State::Raw(_, dictionary) | State::Coded(_, dictionary) => Look(Some(dictionary.known())),
            State::Plain { .. } => Look(None),
        }
    }

    /// Turns to plain numbers where that takes less.
    #[cold]
    fn look(&mut self) {
        let State::Coded(codes, dictionary) = &self.state else { return };
        let distinct = dictionary.len();
        if distinct <= LAST_LOOK && distinct * 2 <= codes.len() {
            self.look_at = self.look_at.saturating_mul(2).min(LAST_LOOK as u32);
            return;
        }
        self.look_at = u32::MAX;
        let numbers: Option<Vec<f64>> = dictionary.texts().iter().map(plain_number).collect();
        if let Some(numbers) = numbers {
            let values = codes.iter().map(|code| numbers[code]).collect();
            self.state = State::Plain { values, coded: numbers };
        }
    }

    /// The column, or why it cannot be one: the row and the text that do not fit.
    pub(crate) fn finish(mut self) -> Result<Column, (usize, String, Misfit)> {
        self.code_raw();
        let (codes, dictionary) = match self.state {
            State::Plain { values, .. } => return Ok(Column::Number(Numbers::F64(values))),
            State::Coded(codes, dictionary) => (codes, dictionary),
            State::Raw(..) => unreachable!("it was coded above"),
        };
        let texts = dictionary.texts();
        let misfit = |code: usize, misfit: Misfit| {
            let row = codes.iter().position(|other| other == code).unwrap_or(0);
            (row, texts.get(code).to_owned(), misfit)
        };
        let decimal_comma = self.decimal_comma;
        let (numbers, odd) =
            parse_all(
                texts,
                |text| {
                    if decimal_comma && text.contains('.') { None } else { plain_number(text) }
                },
            );
        // Numbers and dates that are not written in the plain way stay texts: the encoder finds out how they are.
        let written = || {
            let present = texts.iter().filter(|text| !is_missing(text));
            let comma = decimal_comma && Written::DecimalComma.fits(present.clone());
            if comma {
                Some(Written::DecimalComma)
            } else {
                Written::recognise(present).map(|found| found.written)
            }
        };
        let all_missing = texts.iter().all(is_missing);
        match (self.wanted, odd.first()) {
            (None | Some(Kind::Number), None) if !(all_missing && self.wanted.is_none()) => {
                return Ok(coded_numbers(codes, numbers, Column::Number));
            }
            (Some(Kind::Number), Some(&code)) if written().is_none_or(Written::is_date) => {
                return Err(misfit(code, Misfit::NotKind(Kind::Number)));
            }
            _ => {}
        }
        if matches!(self.wanted, None | Some(Kind::Date)) && !all_missing {
            let (dates, not_dates) = parse_all(texts, plain_date);
            match (self.wanted, not_dates.first()) {
                (_, None) => return Ok(coded_numbers(codes, dates, Column::Date)),
                (Some(_), Some(&code)) if !written().is_some_and(Written::is_date) => {
                    return Err(misfit(code, Misfit::NotKind(Kind::Date)));
                }
                _ => {}
            }
        }
        if self.wanted.is_none()
            && !all_missing
            && odd.len() * 100 <= texts.len() - odd.len()
            && written().is_none()
        {
            return Err(misfit(odd[0], Misfit::Odd));
        }
        Ok(Column::Text(coded_texts(codes, dictionary.into_texts())))
    }
}

/// What is known of a column's fields: their codes, or that they are plain numbers.
#[derive(Clone, Copy)]
pub(crate) struct Look<'a>(Option<Known<'a>>);

impl Look<'_> {
    /// Whether the column is kept as plain numbers, without codes.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.0.is_none()
    }

    /// The number of codes.
    pub(crate) fn codes(&self) -> usize {
        self.0.as_ref().map_or(0, Known::len)
    }

    /// The code of a field that is one digit, and has been seen before.
    #[inline(always)]
    pub(crate) fn digit(&self, byte: u8) -> Option<u32> {
        self.0.as_ref()?.digit(byte)
    }

    /// The code of a field that has been seen before.
    #[inline(always)]
    pub(crate) fn code(&self, text: &[u8], start: usize, end: usize) -> Option<u32> {
        self.0.as_ref()?.code(text, start, end)
    }

    /// The number in a field; `None` when there is none.
    pub(crate) fn number(&self, text: &[u8], start: usize, end: usize) -> Option<f64> {
        let field = &text[start..end];
        match short_decimal(field) {
            None => plain_number(std::str::from_utf8(field).ok()?),
            number => number,
        }
    }
}

/// The number that some digits are, with a sign before them or a point among them; `None` where it is not that short and plain.
///
/// The digits as a whole number and the power of ten are both exact, so their quotient is the number nearest to the text.
fn short_decimal(field: &[u8]) -> Option<f64> {
    const MOST_DIGITS: usize = 15;
    const POWERS: [f64; MOST_DIGITS + 1] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let (is_negative, digits) = match field {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, field),
    };
    if digits.len() > MOST_DIGITS + 1 {
        return None;
    }
    let (mut whole, mut point) = (0u64, None);
    for (place, &byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => whole = 10 * whole + u64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(place),
            _ => return None,
        }
    }
    let fraction = point.map_or(0, |point| digits.len() - 1 - point);
    if !(1..=MOST_DIGITS).contains(&(digits.len() - usize::from(point.is_some()))) {
        return None;
    }
    let number = whole as f64 / POWERS.get(fraction)?;
    Some(if is_negative { -number } else { number })
}

/// What `parse` makes of each text, and the codes of those it makes nothing of.
fn parse_all(texts: &Strings, parse: impl Fn(&str) -> Option<f64>) -> (Vec<f64>, Vec<usize>) {
    let mut odd = Vec::new();
    let values = texts
        .iter()
        .enumerate()
        .map(|(code, text)| {
            parse(text).unwrap_or_else(|| {
                odd.push(code);
                f64::NAN
            })
        })
        .collect();
    (values, odd)
}

fn plain_number(text: &str) -> Option<f64> {
    if is_missing(text) { Some(f64::NAN) } else { number(text) }
}

fn plain_date(text: &str) -> Option<f64> {
    if is_missing(text) { Some(f64::NAN) } else { parse_date(text) }
}

fn coded_numbers(codes: Codes, values: Vec<f64>, column: fn(Numbers) -> Column) -> Column {
    column(Numbers::Coded { codes, values })
}

/// Texts with all ways of writing a gap made one.
fn coded_texts(codes: Codes, texts: Strings) -> Texts {
    let gaps: Vec<bool> = texts.iter().map(is_missing).collect();
    let missing = gaps.iter().position(|&gap| gap).map(|code| code as u32);
    let codes = match missing {
        Some(missing) if gaps.iter().filter(|&&gap| gap).count() > 1 => {
            codes.iter().map(|code| if gaps[code] { missing } else { code as u32 }).collect()
        }
        _ => codes,
    };
    Texts::new(codes, texts, missing).expect("codes are positions in the texts")
}

#[cfg(test)]
mod tests {
    use super::short_decimal;

    #[test]
    fn short_decimals_are_what_the_library_reads() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 33
        };
        let mut short = 0;
        for _ in 0..200_000 {
            let mut text = if next() % 3 == 0 { "-".to_owned() } else { String::new() };
            for _ in 0..next() % 18 {
                text.push(char::from(b"0123456789.0123456789e"[next() as usize % 22]));
            }
            if let Some(number) = short_decimal(text.as_bytes()) {
                assert_eq!(text.parse().map(f64::to_bits), Ok(number.to_bits()), "{text}");
                short += 1;
            }
        }
        assert!(short > 50_000, "{short}");
        for text in ["", "-", ".", "-.", "--1", "1.2.3", "1e5", "+1", " 1", "1234567890123456", "nan"] {
            assert_eq!(short_decimal(text.as_bytes()), None, "{text}");
        }
        assert_eq!(short_decimal(b"-0.1234"), Some(-0.1234));
    }
}
