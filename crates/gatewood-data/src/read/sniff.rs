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

/// The delimiter of a text: the first that gives nearly all records the same number of fields, more than one.
pub(crate) fn delimiter(text: &[u8], last: bool) -> u8 {
    let share = |delimiter: u8| {
        let widths: Vec<usize> = records(text, delimiter, last, <[Field]>::len);
        let like = |width: usize| widths.iter().filter(|&&other| other == width).count();
        let common = widths.iter().copied().filter(|&width| width > 1).max_by_key(|&width| like(width));
        common.map_or(0.0, |width| like(width) as f64 / widths.len() as f64)
    };
    let shares = DELIMITERS.map(share);
    let best = shares.iter().copied().fold(0.0, f64::max);
    let close = shares.iter().position(|&share| share > 0.0 && share >= best - 0.05);
    close.map_or(b',', |index| DELIMITERS[index])
}

/// Whether the first record names the columns.
///
/// It does when its fields are distinct and none of them is a number, a date or a gap; and when below one of them are
/// numbers or dates, or no field comes again below itself.
pub(crate) fn has_header(text: &[u8], delimiter: u8, last: bool) -> bool {
    let records: Vec<Vec<String>> = records(text, delimiter, last, |fields| {
        fields.iter().take(FIELDS).map(|field| shown(text, *field)).collect()
    });
    let Some((first, rest)) = records.split_first() else { return false };
    let is_value = |field: &str| number(field).is_some() || parse_date(field).is_some();
    let distinct: HashSet<&String> = first.iter().collect();
    // One empty name is usual: the column of row names that some programs write.
    let empty = first.iter().filter(|field| field.is_empty()).count();
    let gaps = first.iter().filter(|field| is_missing(field)).count();
    if first.iter().any(|field| is_value(field)) || gaps > empty || empty > 1 || distinct.len() != first.len()
    {
        return false;
    }
    let below = |column: usize| {
        rest.iter().filter_map(move |record| record.get(column)).filter(|field| !is_missing(field))
    };
    let values_below = |column: usize| {
        let mut fields = below(column).peekable();
        fields.peek().is_some() && fields.all(|field| is_value(field))
    };
    let comes_again = |column: usize| below(column).any(|field| *field == first[column]);
    if (0..first.len()).any(values_below) {
        return true;
    }
    let like_a_name = |field: &String| field.len() <= 64 && field.split_whitespace().count() <= 6;
    !rest.is_empty() && first.iter().all(like_a_name) && !(0..first.len()).any(comes_again)
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
            ("?,a\nb,c\n", b',', false),
            ("a,a\n1,2\n", b',', false),
            ("\n\na,b\n\n1,2\n", b',', true),
        ];
        for (text, expected, header) in cases {
            assert_eq!(delimiter(text.as_bytes(), true), expected, "{text}");
            assert_eq!(has_header(text.as_bytes(), expected, true), header, "{text}");
        }
    }
}
