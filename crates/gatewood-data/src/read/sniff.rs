//! Finds out how delimited text is written, from its start.

use std::collections::HashSet;

use gatewood::encode::parse_date;

use super::column::{is_missing, number};
use super::scan::{Field, Found, Scanner};

/// Records looked at.
const RECORDS: usize = 100;

/// The delimiters that are looked for, the likeliest first.
const DELIMITERS: [u8; 5] = [b',', b'\t', b';', b'|', b' '];

/// Fields of a record that tell whether it names the columns.
const FIELDS: usize = 1 << 12;

/// What `look` makes of the first records of a text; fewer when one is faulty.
fn records<T>(text: &[u8], delimiter: u8, last: bool, look: impl Fn(&[Field]) -> T) -> Vec<T> {
    let mut scanner = Scanner::new(delimiter);
    let (mut fields, mut at, mut all) = (Vec::new(), 0, Vec::new());
    while at < text.len() && all.len() < RECORDS {
        fields.clear();
        let Ok(Found::Record(next)) = scanner.record(text, at, last, &mut fields) else { break };
        if !is_blank(text, &fields) {
            all.push(look(&fields));
        }
        at = next;
    }
    all
}

/// Whether a record is an empty line.
pub(crate) fn is_blank(text: &[u8], fields: &[Field]) -> bool {
    fields.len() == 1 && text[fields[0].range()].trim_ascii().is_empty()
}

/// A field as text, without what surrounds it.
pub(crate) fn shown(text: &[u8], field: Field) -> String {
    let text = String::from_utf8_lossy(text[field.range()].trim_ascii()).into_owned();
    if field.doubled { text.replace("\"\"", "\"") } else { text }
}

/// The delimiter of a text: the first that gives nearly all records the same number of fields, more than one. One that gives
/// the first record as many comes before one that does not, such as a decimal comma below names without commas.
pub(crate) fn delimiter(text: &[u8], last: bool) -> u8 {
    let share = |delimiter: u8| {
        let widths: Vec<usize> = records(text, delimiter, last, <[Field]>::len);
        let like = |width: usize| widths.iter().filter(|&&other| other == width).count();
        let common = widths.iter().copied().filter(|&width| width > 1).max_by_key(|&width| like(width));
        let Some(width) = common else { return (0.0, false) };
        (like(width) as f64 / widths.len() as f64, widths.first() == Some(&width))
    };
    let shares = DELIMITERS.map(share);
    let best = shares.iter().map(|&(share, _)| share).fold(0.0, f64::max);
    let is_close = |&(share, _): &(f64, bool)| share > 0.0 && share >= best - 0.05;
    let first = shares.iter().position(|found| is_close(found) && found.1);
    first.or_else(|| shares.iter().position(is_close)).map_or(b',', |index| DELIMITERS[index])
}

/// What the first record is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heading {
    /// The names of the columns.
    Names,
    /// The names of the columns, though they are numbers, and the columns hold numbers too.
    PerhapsNames,
    /// A row.
    Row,
}

/// Whether the first record names the columns; `expected` are the names they have, where those are known.
///
/// A record without numbers, dates and gaps does when below one of its fields are numbers or dates, or when its fields are
/// distinct and none comes again below itself. One with whole numbers among its fields does when they are distinct,
/// and
/// - a text is above numbers, or a number above texts, or
/// - the numbers count up from 0 or 1, or at least ascend where the last column has few values, and the fields do not
///   come again below themselves.
pub(crate) fn heading<'n>(
    text: &[u8],
    delimiter: u8,
    last: bool,
    mut expected: impl ExactSizeIterator<Item = &'n String>,
) -> Heading {
    let records: Vec<Vec<String>> = records(text, delimiter, last, |fields| {
        fields.iter().take(FIELDS).map(|field| shown(text, *field)).collect()
    });
    let Some((first, rest)) = records.split_first() else { return Heading::Row };
    let distinct: HashSet<&String> = first.iter().collect();
    // One empty name is usual: the column of row names that some programs write. More are names where a text is above numbers.
    let empty = first.iter().filter(|field| field.is_empty()).count();
    let gaps = first.iter().filter(|field| is_missing(field)).count();
    let columns: Vec<Below<'_>> = (0..first.len()).map(|column| Below::new(first, rest, column)).collect();
    let names_numbers = || {
        let any_name = columns.iter().any(|below| !is_missing(below.field) && below.all_values);
        any_name && !first.iter().any(|field| is_value(field))
    };
    if gaps > empty || (empty > 1 && !names_numbers()) {
        return Heading::Row;
    }
    let are_distinct = distinct.len() == first.len();
    let is_known = expected.len() > 0;
    if is_known && expected.all(|name| distinct.contains(name)) {
        return Heading::Names;
    }
    if first.iter().any(|field| is_value(field)) {
        // Rows for a model without these names are not looked at that closely.
        return if is_known || !are_distinct { Heading::Row } else { numbered(first, &columns) };
    }
    if columns.iter().any(|below| below.all_values) {
        return Heading::Names;
    }
    let like_a_name = |field: &String| field.len() <= 64 && field.split_whitespace().count() <= 6;
    let is_new = !columns.iter().any(|below| below.comes_again);
    if are_distinct && !rest.is_empty() && first.iter().all(like_a_name) && is_new {
        Heading::Names
    } else {
        Heading::Row
    }
}

fn is_value(field: &str) -> bool {
    number(field).is_some() || parse_date(field).is_some()
}

/// What is below a field of the first record.
struct Below<'a> {
    field: &'a str,
    /// Fields are there, and all are numbers or dates.
    all_values: bool,
    /// Fields are there, and none is a number or a date.
    all_texts: bool,
    /// The field itself is among them.
    comes_again: bool,
    /// There are at least ten, and each comes about five times.
    is_class: bool,
}

impl<'a> Below<'a> {
    fn new(first: &'a [String], rest: &[Vec<String>], column: usize) -> Self {
        let fields: Vec<&String> =
            rest.iter().filter_map(|record| record.get(column)).filter(|field| !is_missing(field)).collect();
        let values = fields.iter().filter(|field| is_value(field)).count();
        let distinct: HashSet<&&String> = fields.iter().collect();
        Self {
            field: &first[column],
            all_values: !fields.is_empty() && values == fields.len(),
            all_texts: !fields.is_empty() && values == 0,
            comes_again: distinct.contains(&&first[column]),
            is_class: fields.len() >= 10 && distinct.len() * 5 <= fields.len(),
        }
    }
}

/// Whether a first record with numbers in it names the columns.
fn numbered(first: &[String], columns: &[Below<'_>]) -> Heading {
    let is_text = |below: &&Below<'_>| !is_value(below.field) && !is_missing(below.field);
    // Names are whole numbers, written as such: no sign, no zeros before them.
    let whole = |field: &str| field.parse::<u32>().ok().filter(|number| number.to_string() == field);
    let numbers: Vec<u32> =
        first.iter().filter(|field| is_value(field)).map_while(|field| whole(field)).collect();
    let are_whole = numbers.len() == first.iter().filter(|field| is_value(field)).count();
    let texts_are_new = columns.iter().filter(is_text).all(|below| !below.comes_again);
    if !are_whole || !texts_are_new {
        return Heading::Row;
    }
    let is_other = |below: &Below<'_>| {
        if is_text(&below) { below.all_values } else { whole(below.field).is_some() && below.all_texts }
    };
    if columns.iter().any(is_other) {
        return Heading::Names;
    }
    let any_class_text = columns.iter().filter(is_text).any(|below| below.is_class);
    let counts_up = numbers[0] <= 1 && numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    let again = columns.iter().filter(|below| below.comes_again).count();
    let ascends = numbers.windows(2).all(|pair| pair[0] < pair[1]);
    let label_is_new = columns.last().is_some_and(|below| below.is_class && !below.comes_again);
    let enough = numbers.len() >= 3 || any_class_text;
    if enough && ((counts_up && again * 2 < columns.len()) || (ascends && label_is_new)) {
        Heading::PerhapsNames
    } else {
        Heading::Row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_and_headers_are_found() {
        let cases = [
            ("a,b\n1,2\n", b',', true),
            ("1,2\n3,4\n", b',', false),
            ("39, State-gov, <=50K\n50, Self, >50K\n", b',', false),
            ("x\ty\n1,5\t2\n1,6\t3\n", b'\t', true),
            ("ham\tGo, now, there\nham\tOk\nspam\tFree, call\n", b'\t', false),
            ("p,x,s\ne,x,s\n", b',', false),
            ("name,kind\nann,cat\nbob,dog\n", b',', true),
            ("a;b;c\n\"x;y\";1;2\n", b';', true),
            ("a|b\n1|2\n", b'|', true),
            ("a b\n1 2\n", b' ', true),
            ("when,what\n2020-01-01,a\n", b',', true),
            ("only\n1\n2\n", b',', true),
            ("1\n2\n", b',', false),
            (",a,b\n0,1,2\n", b',', true),
            ("a,,,b\n1,2,3,x\n4,5,6,y\n", b',', true),
            ("a,,,b\nc,2,,d\ne,,3,f\n", b',', false),
            (",,1,b\n3,4,2,c\n", b',', false),
            ("?,a\nb,c\n", b',', false),
            ("a,a\n1,2\n", b',', true),
            ("a,a\nb,c\n", b',', false),
            ("\n\na,b\n\n1,2\n", b',', true),
        ];
        // A decimal comma on every row, and none among the names.
        let prices = format!("day;price\n{}", "2020-01-01;1,5\n2020-01-02;2,5\n".repeat(40));
        assert_eq!(delimiter(prices.as_bytes(), true), b';');
        for (text, expected, header) in cases {
            assert_eq!(delimiter(text.as_bytes(), true), expected, "{text}");
            let heading = heading(text.as_bytes(), expected, true, [].iter());
            assert_eq!(heading, if header { Heading::Names } else { Heading::Row }, "{text}");
        }
    }

    #[test]
    fn names_that_are_numbers() {
        let classes = |line: &str| line.repeat(6);
        let numbers = classes("5.5,3.1,0\n4.5,2.2,1\n");
        let flowers = classes("5.1,3.5,setosa\n4.9,3.0,virginica\n");
        let cases = [
            // A text above numbers, a number above texts.
            ("0,1,label\n", &numbers, Heading::Names),
            ("1,2,3\n", &flowers, Heading::Names),
            ("1990,1991,label\n", &numbers, Heading::Names),
            // Numbers above numbers.
            ("0,1,2\n", &numbers, Heading::PerhapsNames),
            ("1,2,3\n", &numbers, Heading::PerhapsNames),
            ("1990,1995,2010\n", &numbers, Heading::PerhapsNames),
            ("0,1,class\n", &flowers, Heading::PerhapsNames),
            // Rows.
            ("5.0,3.3,1\n", &numbers, Heading::Row),
            ("5,3,1\n", &numbers, Heading::Row),
            ("1990,1995,1\n", &numbers, Heading::Row),
            ("1990,1980,2\n", &numbers, Heading::Row),
            ("0,1,1\n", &numbers, Heading::Row),
            ("-1,0,1\n", &numbers, Heading::Row),
            ("00,01,02\n", &numbers, Heading::Row),
            ("5,3,setosa\n", &flowers, Heading::Row),
            ("0,1,setosa\n", &flowers, Heading::Row),
            ("?,1,class\n", &flowers, Heading::Row),
        ];
        for (first, rest, expected) in cases {
            let text = format!("{first}{rest}");
            assert_eq!(heading(text.as_bytes(), b',', true, [].iter()), expected, "{first}");
        }
        // Names that are known need no guess.
        let text = format!("7,3,5\n{numbers}");
        let names = ["3", "7"].map(str::to_owned);
        assert_eq!(heading(text.as_bytes(), b',', true, names.iter()), Heading::Names);
        let others = ["column_1", "column_2"].map(str::to_owned);
        let text = format!("0,1,2\n{numbers}");
        assert_eq!(heading(text.as_bytes(), b',', true, others.iter()), Heading::Row);
    }
}
