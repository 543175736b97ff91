//! Cells in words, and rows of cells as raw values.

use super::cell::{Cell, Interval};
use super::domain::{Domain, Part, unlisted};
use crate::encode::{Encoder, Kind, TableView, Test, Value, show_date};

/// A raw value that a row has, as the user's columns hold it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RawValue {
    /// A gap.
    Missing,
    /// A number.
    Number(f64),
    /// A moment, in seconds since 1970-01-01.
    Date(f64),
    /// A text.
    Text(String),
    /// A pixel.
    Pixel(u8),
    /// A ready bit.
    Bit(bool),
}

impl RawValue {
    /// The value as the encoder reads it.
    pub fn as_value(&self) -> Value<'_> {
        match self {
            Self::Missing => Value::Missing,
            Self::Number(number) | Self::Date(number) => Value::Number(*number),
            Self::Text(text) => Value::Text(text),
            Self::Pixel(byte) => Value::Pixel(*byte),
            Self::Bit(bit) => Value::Bit(*bit),
        }
    }

    pub(super) fn from_value(value: Value<'_>, kind: Kind) -> Self {
        match value {
            Value::Missing => Self::Missing,
            Value::Number(seconds) if kind == Kind::Date => Self::Date(seconds),
            Value::Number(number) => Self::Number(number),
            Value::Text(text) => Self::Text(text.to_owned()),
            Value::Pixel(byte) => Self::Pixel(byte),
            Value::Bit(bit) => Self::Bit(bit),
        }
    }
}

impl std::fmt::Display for RawValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => f.write_str("missing"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Date(seconds) => f.write_str(&show_date(*seconds)),
            Self::Text(text) => f.write_str(text),
            Self::Pixel(byte) => write!(f, "{byte}"),
            Self::Bit(bit) => f.write_str(if *bit { "1" } else { "0" }),
        }
    }
}

/// What some cells of a part say of its column, in words; nothing where they are all cells.
pub(super) fn describe(encoder: &Encoder, part: &Part, cells: &[u32]) -> Option<String> {
    if cells.len() == part.cells.len() {
        return None;
    }
    let input = &encoder.inputs()[part.column];
    let name = match part.date_part {
        Some(date_part) => format!("{} of {}", date_part.name(), input.name),
        None => input.name.clone(),
    };
    let chosen = || cells.iter().map(|&cell| &part.cells[cell as usize]);
    let show = |number: f64| {
        let is_moment = input.kind == Kind::Date && part.date_part.is_none();
        if is_moment { show_date(number) } else { number.to_string() }
    };
    let mut said: Vec<String> = Vec::new();
    match input.kind {
        Kind::Number | Kind::Date => {
            let mut intervals: Vec<Interval> = chosen().flat_map(|cell| cell.intervals.clone()).collect();
            intervals.sort_unstable_by(|a, b| a.low.total_cmp(&b.low).then(b.has_low.cmp(&a.has_low)));
            let mut joined = Cell::default();
            intervals.into_iter().for_each(|interval| joined.add_interval(interval));
            said.extend(joined.intervals.iter().map(|interval| in_words(&name, interval, &show)));
        }
        Kind::Pixel | Kind::Bit => {
            let bytes: Vec<u8> = chosen().flat_map(|cell| cell.bytes.clone()).collect();
            said.extend(bytes_in_words(&name, bytes, input.kind));
        }
        Kind::Text if part.bits.len() == 1 && is_word(encoder, part) => {
            let has = chosen().any(|cell| !cell.texts.is_empty());
            let word = part.cells.iter().find_map(|cell| cell.texts.first()).cloned().unwrap_or_default();
            said.push(format!("{name} {} the word {word}", if has { "has" } else { "does not have" }));
        }
        Kind::Text => {
            let others = (0..part.cells.len() as u32).filter(|cell| !cells.contains(cell));
            let others: Vec<&Cell> = others.map(|cell| &part.cells[cell as usize]).collect();
            let listed = |cells: &[&Cell]| cells.iter().all(|cell| !cell.other_text);
            if chosen().any(|cell| cell.other_text) && listed(&others) {
                let texts: Vec<&str> =
                    others.iter().flat_map(|cell| &cell.texts).map(String::as_str).collect();
                if !texts.is_empty() {
                    said.push(format!("{name} is not {}", texts.join(" or ")));
                }
            } else {
                let texts: Vec<&str> = chosen().flat_map(|cell| &cell.texts).map(String::as_str).collect();
                if !texts.is_empty() {
                    said.push(format!("{name} = {}", texts.join(" or ")));
                }
            }
        }
    }
    let gap = chosen().any(Cell::is_only_gap);
    let gap_left_out = part.cells.iter().any(Cell::is_only_gap) && !gap;
    if gap {
        said.push(format!("{name} is missing"));
    } else if said.is_empty() || said.iter().all(String::is_empty) {
        said = vec![format!("{name} is {}", if gap_left_out { "not missing" } else { "as it is" })];
    }
    said.retain(|part| !part.is_empty());
    Some(said.join(" or "))
}

fn is_word(encoder: &Encoder, part: &Part) -> bool {
    matches!(encoder.meanings()[part.bits[0] as usize].test, Test::Word(_))
}

/// An interval of a column in words; nothing for all numbers.
fn in_words(name: &str, interval: &Interval, show: &dyn Fn(f64) -> String) -> String {
    let Interval { low, high, has_low, has_high } = *interval;
    let (lower, upper) = (if has_low { ">=" } else { ">" }, if has_high { "<=" } else { "<" });
    match (low == f64::NEG_INFINITY, high == f64::INFINITY) {
        _ if low == high => format!("{name} = {}", show(low)),
        (true, true) => String::new(),
        (true, false) => format!("{name} {upper} {}", show(high)),
        (false, true) => format!("{name} {lower} {}", show(low)),
        (false, false) => {
            let lower = if has_low { "<=" } else { "<" };
            format!("{} {lower} {name} {upper} {}", show(low), show(high))
        }
    }
}

fn bytes_in_words(name: &str, mut bytes: Vec<u8>, kind: Kind) -> Vec<String> {
    bytes.sort_unstable();
    if kind == Kind::Bit {
        return bytes.iter().map(|byte| format!("{name} = {byte}")).collect();
    }
    let mut runs: Vec<(u8, u8)> = Vec::new();
    for byte in bytes {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == byte => *last = byte,
            _ => runs.push((byte, byte)),
        }
    }
    let run = |(low, high): (u8, u8)| match (low, high) {
        (0, 255) => String::new(),
        (0, high) => format!("{name} <= {high}"),
        (low, 255) => format!("{name} >= {low}"),
        (low, high) if low == high => format!("{name} = {low}"),
        (low, high) => format!("{low} <= {name} <= {high}"),
    };
    runs.into_iter().map(run).collect()
}

/// The raw value of each column of a row of cells: that of `near` where its cell is the same, else one within `wanted`.
pub(super) fn raw_values(
    encoder: &Encoder,
    domain: &Domain,
    row: &[usize],
    near: Option<(&[usize], &[RawValue])>,
    wanted: &[Option<Interval>],
) -> Vec<RawValue> {
    let inputs = encoder.inputs().iter().enumerate();
    inputs
        .map(|(column, input)| {
            let parts = &domain.of_column[column];
            if let Some((cells, values)) = near
                && parts.iter().all(|&part| cells[part] == row[part])
            {
                return values[column].clone();
            }
            let cell = |part: usize| &domain.parts[part].cells[row[part]];
            let Some(&first) = parts.first() else { return RawValue::Missing };
            if parts.len() == 1 {
                let within = wanted.get(column).copied().flatten();
                return of_cell(encoder, &domain.parts[first], cell(first), within);
            }
            if parts.iter().any(|part| domain.gaps.contains(part) && cell(*part).missing) {
                return RawValue::Missing;
            }
            if input.kind == Kind::Date {
                return date_of(domain, parts, row);
            }
            let words: Vec<&str> =
                parts.iter().flat_map(|&part| &cell(part).texts).map(String::as_str).collect();
            RawValue::Text(words.join(" "))
        })
        .collect()
}

fn of_cell(encoder: &Encoder, part: &Part, cell: &Cell, within: Option<Interval>) -> RawValue {
    let input = &encoder.inputs()[part.column];
    if cell.is_only_gap() {
        return RawValue::Missing;
    }
    match input.kind {
        Kind::Number | Kind::Date => {
            let within = within.unwrap_or_else(Interval::all);
            let mut inside = cell.intervals.iter().map(|interval| interval.and(within));
            let number = inside.find(|interval| !interval.is_empty()).map(|interval| interval.inside());
            match number {
                Some(seconds) if input.kind == Kind::Date => RawValue::Date(seconds),
                Some(number) => RawValue::Number(number),
                None => RawValue::Missing,
            }
        }
        Kind::Text => match cell.texts.first() {
            Some(text) if is_word(encoder, part) => RawValue::Text(text.clone()),
            Some(text) => RawValue::Text(text.clone()),
            None => {
                let tests: Vec<&Test> =
                    part.bits.iter().map(|&bit| &encoder.meanings()[bit as usize].test).collect();
                RawValue::Text(if is_word(encoder, part) {
                    String::new()
                } else {
                    unlisted(&tests, &input.categories)
                })
            }
        },
        Kind::Pixel => RawValue::Pixel(cell.bytes.first().copied().unwrap_or(0)),
        Kind::Bit => RawValue::Bit(cell.bytes.first() == Some(&1)),
    }
}

/// A moment with the given parts, if the calendar has one in the interval; else any moment in the interval.
fn date_of(domain: &Domain, parts: &[usize], row: &[usize]) -> RawValue {
    const HOUR: f64 = 3600.0;
    let cell = |part: usize| &domain.parts[part].cells[row[part]];
    let moment =
        parts.iter().find(|&&part| domain.parts[part].date_part.is_none() && !domain.gaps.contains(&part));
    let interval =
        moment.and_then(|&part| cell(part).intervals.first().copied()).unwrap_or_else(Interval::all);
    let fits = |seconds: f64| {
        interval.contains(seconds)
            && parts.iter().all(|&part| match domain.parts[part].date_part {
                Some(date_part) => cell(part).intervals.iter().any(|i| i.contains(date_part.of(seconds))),
                None => true,
            })
    };
    let start = interval.inside();
    let steps = (0..366 * 24).flat_map(|hours| [f64::from(hours), -f64::from(hours)]);
    let found = steps.map(|hours| start + hours * HOUR).find(|&seconds| fits(seconds));
    RawValue::Date(found.unwrap_or(start))
}

/// The raw values of a row of a table, one for each column that the encoder reads.
pub(super) fn values_of(encoder: &Encoder, table: TableView<'_>, row: usize) -> Vec<RawValue> {
    let find = |name: &str, position: usize| {
        if table.is_named() {
            (0..table.columns()).find(|&column| table.name(column) == name)
        } else {
            (position < table.columns()).then_some(position)
        }
    };
    encoder
        .inputs()
        .iter()
        .map(|input| match find(&input.name, input.position) {
            Some(column) => RawValue::from_value(table.value(row, column), table.kind(column)),
            None => RawValue::Missing,
        })
        .collect()
}
