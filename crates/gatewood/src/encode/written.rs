//! Numbers and dates as people write them: `1.234,50 €`, `12 %`, `31/12/2020`.
//!
//! One column is written in one way. [`Written::recognise`] finds it from the texts of a column, each of which must fit;
//! where several ways fit, the likelier is taken and the encoder's report says so.

use serde::{Deserialize, Serialize};

use super::date::parse_date;

/// How the values of a text column are written, where they are numbers or dates but not in the plain way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Written {
    /// Numbers with a decimal point: `1,234.5`, `$ 12`, `3 %`.
    DecimalPoint,
    /// Numbers with a decimal comma: `1.234,5`, `12,50 €`.
    DecimalComma,
    /// Dates with the day first: `31/12/2020`, `31.12.2020 18:30`.
    DayFirst,
    /// Dates with the month first: `12/31/2020`.
    MonthFirst,
}

/// What [`Written::recognise`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recognised {
    /// The way that fits every text.
    pub written: Written,
    /// Another way that fits every text too.
    pub other: Option<Written>,
}

/// Signs of money, before or after a number.
const CURRENCIES: [&str; 14] =
    ["$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "CHF", "JPY", "CAD", "AUD", "CNY", "INR"];

impl Written {
    /// Whether the values are dates.
    pub fn is_date(self) -> bool {
        matches!(self, Self::DayFirst | Self::MonthFirst)
    }

    /// The way in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::DecimalPoint => "numbers with a decimal point",
            Self::DecimalComma => "numbers with a decimal comma",
            Self::DayFirst => "dates with the day first",
            Self::MonthFirst => "dates with the month first",
        }
    }

    /// The value of one text, in seconds since 1970-01-01 for a date; nothing when it is not written so.
    ///
    /// ```
    /// use gatewood::encode::Written;
    /// assert_eq!(Written::DecimalComma.parse("1.234,50 €"), Some(1234.5));
    /// assert_eq!(Written::DecimalPoint.parse("-$1,234.5"), Some(-1234.5));
    /// assert_eq!(Written::DecimalPoint.parse("1,23"), None);
    /// assert_eq!(Written::DayFirst.parse("02/01/1970"), Some(86_400.0));
    /// ```
    pub fn parse(self, text: &str) -> Option<f64> {
        match self {
            Self::DecimalPoint => parse_number(text, '.', ',').map(|number| number.value),
            Self::DecimalComma => parse_number(text, ',', '.').map(|number| number.value),
            Self::DayFirst => parse_day(text, false),
            Self::MonthFirst => parse_day(text, true),
        }
    }

    /// How all of these texts are written, if they are numbers or dates in one way; gaps are not among them.
    ///
    /// ```
    /// use gatewood::encode::Written;
    /// let prices = ["1.234,50", "7,25", "100"];
    /// assert_eq!(Written::recognise(prices.into_iter()).unwrap().written, Written::DecimalComma);
    /// assert_eq!(Written::recognise(["red", "12,5"].into_iter()), None);
    /// ```
    pub fn recognise<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Option<Recognised> {
        texts.clone().next()?;
        let ways = if texts.clone().all(|text| text.starts_with(|letter: char| letter.is_ascii_digit()))
            && texts.clone().all(|text| parse_day(text, false).or_else(|| parse_day(text, true)).is_some())
        {
            [Self::DayFirst, Self::MonthFirst]
        } else {
            [Self::DecimalPoint, Self::DecimalComma]
        };
        let [first, second] = ways.map(|way| way.fits(texts.clone()));
        match (first, second) {
            (true, second) => {
                let differ = second && texts.clone().any(|text| ways[0].parse(text) != ways[1].parse(text));
                Some(Recognised { written: ways[0], other: differ.then_some(ways[1]) })
            }
            (false, true) => Some(Recognised { written: ways[1], other: None }),
            (false, false) => None,
        }
    }

    /// Whether all texts are written so, with one currency, and with percent signs on all of them or none.
    pub fn fits<'a>(self, mut texts: impl Iterator<Item = &'a str>) -> bool {
        let (decimal, thousands) = match self {
            Self::DecimalPoint => ('.', ','),
            Self::DecimalComma => (',', '.'),
            Self::DayFirst | Self::MonthFirst => return texts.all(|text| self.parse(text).is_some()),
        };
        let mut sign: Option<&str> = None;
        let (mut percents, mut others) = (false, false);
        texts.all(|text| {
            let Some(number) = parse_number(text, decimal, thousands) else { return false };
            // Zero is zero in any unit.
            if number.value != 0.0 {
                percents |= number.sign == Some("%");
                others |= number.sign != Some("%");
            }
            match (sign, number.sign) {
                (Some(before), Some(now)) if before != now => return false,
                (None, Some(_)) => sign = number.sign,
                _ => {}
            }
            !(percents && others)
        })
    }
}

/// A number with the sign beside it.
struct Amount<'a> {
    value: f64,
    /// A currency or `%`.
    sign: Option<&'a str>,
}

fn parse_number(text: &str, decimal: char, thousands: char) -> Option<Amount<'static>> {
    // Brackets are a minus, as in accounts.
    if let Some(inner) = text.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        let amount = parse_number(inner, decimal, thousands)?;
        let is_plain = !inner.contains(['(', '-', '\u{2212}', '+']);
        return is_plain.then_some(Amount { value: -amount.value, ..amount });
    }
    let (mut rest, mut negative, mut sign) = (text.trim(), false, None);
    // A minus may come before the currency or after it.
    for _ in 0..2 {
        if let Some(after) = rest.strip_prefix(['-', '\u{2212}']).filter(|_| !negative) {
            (rest, negative) = (after.trim_start(), true);
        } else if let Some(after) = rest.strip_prefix('+') {
            rest = after;
        }
        if let Some(currency) = CURRENCIES.into_iter().find(|currency| rest.starts_with(currency)) {
            if sign.is_some() {
                return None;
            }
            (rest, sign) = (rest[currency.len()..].trim_start(), Some(currency));
        }
    }
    let after = CURRENCIES.into_iter().chain(["%"]).find(|sign| rest.ends_with(sign));
    if let Some(after) = after {
        if sign.is_some() {
            return None;
        }
        (rest, sign) = (rest[..rest.len() - after.len()].trim_end(), Some(after));
    }
    let mut digits = String::with_capacity(rest.len() + 1);
    if negative {
        digits.push('-');
    }
    // An exponent is part of a plain number, which has no thousands.
    let (whole, fraction) =
        rest.split_once(decimal).map_or((rest, None), |(whole, rest)| (whole, Some(rest)));
    push_whole(whole, thousands, &mut digits)?;
    if let Some(fraction) = fraction {
        if fraction.contains(|letter: char| !matches!(letter, '0'..='9' | 'e' | 'E' | '-' | '+')) {
            return None;
        }
        digits.push('.');
        digits.push_str(fraction);
    }
    let value: f64 = digits.parse().ok()?;
    value.is_finite().then_some(Amount { value, sign })
}

/// The digits of the part before the decimal sign, thousands set apart by a sign, a space or an apostrophe, or not at all.
fn push_whole(whole: &str, thousands: char, digits: &mut String) -> Option<()> {
    let is_space = |letter: char| matches!(letter, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'' | '’');
    let mark = whole.chars().find(|&letter| letter == thousands || is_space(letter));
    let Some(mark) = mark else {
        let plain = whole.chars().all(|letter| letter.is_ascii_digit());
        let power = !plain
            && whole.starts_with(|letter: char| letter.is_ascii_digit())
            && whole.parse::<f64>().is_ok();
        if !plain && !power {
            return None;
        }
        digits.push_str(whole);
        return Some(());
    };
    for (place, group) in whole.split(mark).enumerate() {
        let length = if place == 0 { 1..=3 } else { 3..=3 };
        if !length.contains(&group.len()) || !group.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        digits.push_str(group);
    }
    Some(())
}

/// A date of day, month and year, perhaps with a time after it.
fn parse_day(text: &str, month_first: bool) -> Option<f64> {
    let text = text.trim();
    let (day, time) = match text.find([' ', 'T']) {
        Some(space) => (&text[..space], &text[space..]),
        None => (text, ""),
    };
    let mark = day.chars().find(|letter| matches!(letter, '/' | '.' | '-'))?;
    let mut parts = day.split(mark);
    let (first, second, year) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() != 4 {
        return None;
    }
    let number = |part: &str| {
        let digits = (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u8>().ok().filter(|_| digits)
    };
    let (first, second) = (number(first)?, number(second)?);
    let (day, month) = if month_first { (second, first) } else { (first, second) };
    // Through the one reader of dates, so that both know the same days and times.
    parse_date(&format!("{year}-{month:02}-{day:02}{time}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        let cases = [
            ("1,234.5", Some(1234.5), None),
            ("1.234,5", None, Some(1234.5)),
            ("1,234", Some(1234.0), Some(1.234)),
            ("12,5", None, Some(12.5)),
            ("12.5", Some(12.5), None),
            ("1 234 567", Some(1_234_567.0), Some(1_234_567.0)),
            ("1\u{202f}234,50", None, Some(1234.5)),
            ("1'234.50", Some(1234.5), None),
            ("$1,000", Some(1000.0), Some(1.0)),
            ("-$5", Some(-5.0), Some(-5.0)),
            ("$-5", Some(-5.0), Some(-5.0)),
            ("12,50 €", None, Some(12.5)),
            ("EUR 7", Some(7.0), Some(7.0)),
            ("3 %", Some(3.0), Some(3.0)),
            ("0.5%", Some(0.5), None),
            ("1e5", Some(1e5), Some(1e5)),
            ("1.5e3", Some(1500.0), None),
            (".5", Some(0.5), None),
            ("1,2,3", None, None),
            ("12,34,567", None, None),
            ("1234,567", None, Some(1234.567)),
            ("$", None, None),
            ("$5$", None, None),
            ("5 apples", None, None),
            ("--5", None, None),
            ("inf", None, None),
            ("(1,234.5)", Some(-1234.5), None),
            ("($5)", Some(-5.0), Some(-5.0)),
            ("(-5)", None, None),
            ("((5))", None, None),
            ("()", None, None),
            ("", None, None),
        ];
        for (text, point, comma) in cases {
            assert_eq!(Written::DecimalPoint.parse(text), point, "{text}, point");
            assert_eq!(Written::DecimalComma.parse(text), comma, "{text}, comma");
        }
    }

    #[test]
    fn a_column_is_written_in_one_way() {
        let found = |texts: &[&str]| {
            Written::recognise(texts.iter().copied()).map(|found| (found.written, found.other))
        };
        use Written::{DayFirst, DecimalComma, DecimalPoint, MonthFirst};
        assert_eq!(found(&["1,234", "12"]), Some((DecimalPoint, Some(DecimalComma))));
        assert_eq!(found(&["1,234", "12,5"]), Some((DecimalComma, None)));
        assert_eq!(found(&["1,234", "12.5"]), Some((DecimalPoint, None)));
        assert_eq!(found(&["1,234.5", "1.234,5"]), None);
        assert_eq!(found(&["$5", "€6"]), None);
        assert_eq!(found(&["5%", "0.05"]), None);
        assert_eq!(found(&["5%", "0"]), Some((DecimalPoint, None)));
        assert_eq!(found(&["31/12/2020", "01/02/2020"]), Some((DayFirst, None)));
        assert_eq!(found(&["12/31/2020", "01/02/2020"]), Some((MonthFirst, None)));
        assert_eq!(found(&["03/04/2020"]), Some((DayFirst, Some(MonthFirst))));
        assert_eq!(found(&["3.4.2020 18:30", "13.4.2020 08:00"]), Some((DayFirst, None)));
        assert_eq!(found(&["31/12/2020", "12/31/2020"]), None);
        assert_eq!(found(&["red", "blue"]), None);
        assert_eq!(found(&[]), None);
    }
}
