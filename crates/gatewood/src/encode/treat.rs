//! A raw column as it is to be encoded: what the settings ask for, else what its texts look like.

use std::borrow::Cow;
use std::collections::HashMap;

use super::fit::code_counts;
use super::report::DOUBT;
use super::{
    Codes, Column, DateOrder, Decimal, EncodeSettings, Numbers, Recognised, Strings, Texts, Treatment, Value,
    Written, parse_date, show_date,
};
use crate::text::quote;
use crate::{Error, Result};

/// A column, read as it is to be encoded.
pub(super) struct Treated<'c> {
    pub(super) column: Cow<'c, Column>,
    /// How its texts were read as numbers or dates, where not in the plain way.
    pub(super) written: Option<Written>,
    /// What was found out, for the user.
    pub(super) note: Option<String>,
}

impl<'c> Treated<'c> {
    fn as_is(column: &'c Column) -> Self {
        Self { column: Cow::Borrowed(column), written: None, note: None }
    }

    fn as_other(column: Column) -> Self {
        Self { column: Cow::Owned(column), written: None, note: None }
    }
}

/// Reads a column as it is to be encoded; `rows` are the training rows, all of them where not given.
pub(super) fn treat<'c>(
    column: &'c Column,
    rows: Option<&[usize]>,
    treatment: Option<Treatment>,
    settings: &EncodeSettings,
) -> Result<Treated<'c>> {
    match (treatment, column) {
        (Some(Treatment::Category | Treatment::Words), Column::Number(numbers)) => {
            let name = |number: f64| if number == 0.0 { "0".to_owned() } else { number.to_string() };
            Ok(Treated::as_other(Column::Text(named(numbers, name))))
        }
        (Some(Treatment::Category | Treatment::Words), Column::Date(moments)) => {
            Ok(Treated::as_other(Column::Text(named(moments, show_date))))
        }
        (Some(Treatment::Number), Column::Text(texts)) => numbers_of(texts, rows, settings),
        (Some(Treatment::Date), Column::Text(texts)) => dates_of(texts, rows, settings),
        (Some(Treatment::Number), Column::Date(_)) => Err(Error::setting("it holds dates, not numbers")),
        (Some(Treatment::Date), Column::Number(_)) => Err(Error::setting("it holds numbers, not dates")),
        (None | Some(Treatment::Keep), Column::Text(texts)) => {
            // Texts that are all plain numbers were given as texts on purpose.
            let used = used(texts, rows);
            let is_plain =
                |text: &str| settings.decimal != Some(Decimal::Comma) && text.parse::<f64>().is_ok();
            match recognise(&used, settings).filter(|_| !used.iter().all(|text| is_plain(text))) {
                Some(found) => Ok(read_as(texts, found)),
                None => Ok(Treated { note: nearly_written(&used, is_plain), ..Treated::as_is(column) }),
            }
        }
        _ => Ok(Treated::as_is(column)),
    }
}

/// Fewest different texts of a column of which it is said that they look like numbers or dates.
const FEW_TEXTS: usize = 10;

/// A note on texts that look like numbers or dates, nearly all of them, and are not written in one way.
fn nearly_written(texts: &[&str], is_plain: impl Fn(&str) -> bool) -> Option<String> {
    use Written::{DayFirst, DecimalComma, DecimalPoint, MonthFirst};
    // Texts that are all plain numbers were given as texts on purpose.
    if texts.len() < FEW_TEXTS || texts.iter().all(|text| is_plain(text)) {
        return None;
    }
    for (what, ways) in [("numbers", [DecimalPoint, DecimalComma]), ("dates", [DayFirst, MonthFirst])] {
        let fits = |way: Written| texts.iter().filter(|text| way.parse(text).is_some()).count();
        let like = texts.iter().filter(|text| ways.iter().any(|way| way.parse(text).is_some())).count();
        if like * 10 < texts.len() * 9 {
            continue;
        }
        let usual = if fits(ways[0]) >= fits(ways[1]) { ways[0] } else { ways[1] };
        let why = match texts.iter().filter(|text| usual.parse(text).is_none()).min() {
            Some(odd) => format!("but {} is not written as the others are", quote(odd)),
            None => "but not all have the same sign of money or percent".to_owned(),
        };
        return Some(format!(
            "read as text{DOUBT}most of it looks like {what}, {why}; if it holds categories, say --categorical"
        ));
    }
    None
}

/// The texts that training rows have.
fn used<'t>(texts: &'t Texts, rows: Option<&[usize]>) -> Vec<&'t str> {
    let counts = code_counts(texts.codes(), texts.distinct(), rows);
    (0..texts.distinct()).filter(|&code| counts[code] > 0).filter_map(|code| texts.text(code)).collect()
}

/// How the texts are written: as the settings say where that fits, else as they look.
fn recognise(texts: &[&str], settings: &EncodeSettings) -> Option<Recognised> {
    let wanted = [
        settings.decimal.map(|decimal| match decimal {
            Decimal::Point => Written::DecimalPoint,
            Decimal::Comma => Written::DecimalComma,
        }),
        settings.date_order.map(|order| match order {
            DateOrder::Day => Written::DayFirst,
            DateOrder::Month => Written::MonthFirst,
        }),
    ];
    let fits = |way: &Written| !texts.is_empty() && way.fits(texts.iter().copied());
    match wanted.into_iter().flatten().find(fits) {
        Some(written) => Some(Recognised { written, other: None }),
        None => Written::recognise(texts.iter().copied()),
    }
}

/// Texts read in a way that fits all training rows.
fn read_as(texts: &Texts, found: Recognised) -> Treated<'static> {
    let Recognised { written, other } = found;
    let values = values(texts, |text| written.parse(text));
    let column = if written.is_date() { Column::Date(values) } else { Column::Number(values) };
    let doubt = other.map(|other| {
        let option = match other {
            Written::DecimalComma => "--decimal comma",
            Written::DecimalPoint => "--decimal point",
            Written::DayFirst => "--date-order day",
            Written::MonthFirst => "--date-order month",
        };
        format!("{DOUBT}{} fit too; if they are, say {option}", other.describe())
    });
    let note = format!("read as {}{}", written.describe(), doubt.unwrap_or_default());
    Treated { column: Cow::Owned(column), written: Some(written), note: Some(note) }
}

fn numbers_of<'c>(texts: &Texts, rows: Option<&[usize]>, settings: &EncodeSettings) -> Result<Treated<'c>> {
    let used = used(texts, rows);
    let plain = |text: &str| text.trim().parse().ok().filter(|number: &f64| !number.is_nan());
    match used.iter().find(|text| plain(text).is_none()) {
        None => Ok(Treated::as_other(Column::Number(values(texts, plain)))),
        Some(odd) => match recognise(&used, settings).filter(|found| !found.written.is_date()) {
            Some(found) => Ok(read_as(texts, found)),
            None => Err(misfit(texts, rows, odd, "a number")),
        },
    }
}

fn dates_of<'c>(texts: &Texts, rows: Option<&[usize]>, settings: &EncodeSettings) -> Result<Treated<'c>> {
    let used = used(texts, rows);
    let plain = |text: &str| parse_date(text.trim());
    match used.iter().find(|text| plain(text).is_none()) {
        None => Ok(Treated::as_other(Column::Date(values(texts, plain)))),
        Some(odd) => match recognise(&used, settings).filter(|found| found.written.is_date()) {
            Some(found) => Ok(read_as(texts, found)),
            None => Err(misfit(texts, rows, odd, "a date")),
        },
    }
}

fn misfit(texts: &Texts, rows: Option<&[usize]>, odd: &str, what: &str) -> Error {
    let count = rows.map_or(texts.len(), <[usize]>::len);
    let mut all = (0..count).map(|index| rows.map_or(index, |rows| rows[index]));
    let row = all.find(|&row| texts.get(row) == Some(odd)).unwrap_or(0);
    Error::data(format!("row {}: {} is not {what}, or not all are written in one way", row + 1, quote(odd)))
}

/// What `parse` makes of each text; what it makes nothing of is a gap.
fn values(texts: &Texts, parse: impl Fn(&str) -> Option<f64>) -> Numbers {
    let value = |code: usize| texts.text(code).and_then(&parse).unwrap_or(f64::NAN);
    Numbers::Coded { codes: texts.codes().clone(), values: (0..texts.distinct()).map(value).collect() }
}

/// Numbers as texts.
fn named(numbers: &Numbers, name: impl Fn(f64) -> String) -> Texts {
    let (mut codes, mut names, mut missing) = (Codes::new(), Strings::new(), None);
    let mut seen: HashMap<u64, u32> = HashMap::new();
    let column = Column::Number(numbers.clone());
    for row in 0..numbers.len() {
        let key = match column.get(row) {
            Value::Number(number) => (number + 0.0).to_bits(),
            _ => u64::MAX,
        };
        let code = *seen.entry(key).or_insert_with(|| {
            let code = names.len() as u32;
            match column.get(row) {
                Value::Number(number) => names.push(&name(number)),
                _ => {
                    names.push("");
                    missing = Some(code);
                }
            }
            code
        });
        codes.push(code);
    }
    Texts::new(codes, names, missing).expect("codes are positions in the names")
}
