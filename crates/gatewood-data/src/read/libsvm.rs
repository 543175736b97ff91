//! libsvm text: a label and `position:value` pairs a line; what is not listed is zero.

use std::io::BufRead;

use gatewood::encode::{Column, Numbers, Table};
use gatewood::text::quote;
use gatewood::{Error, Result, memory};

use super::bytes::read_line;
use super::column::{ColumnBuilder, number};
use super::table::{RawRows, ReadOptions};

/// The largest position of a feature.
const LAST_POSITION: usize = 1 << 20;

/// Bytes a line may have.
const LONGEST: usize = 1 << 26;

/// The listed values of one feature.
#[derive(Debug, Clone, Default)]
struct Listed {
    rows: Vec<u32>,
    values: Vec<f64>,
}

/// Reads libsvm text. Features are named by their positions, `feature_1` and on; the label is set apart.
pub(crate) fn read_libsvm(reader: &mut dyn BufRead, options: &ReadOptions) -> Result<RawRows> {
    let mut features: Vec<Listed> = Vec::new();
    let mut labels = ColumnBuilder::new(None);
    let (mut line, mut number_of_line, mut rows) = (Vec::new(), 0usize, 0usize);
    let mut lines_of_rows = Vec::new();
    loop {
        number_of_line += 1;
        read_line(reader, &mut line, LONGEST)
            .map_err(|error| error.at(format_args!("line {number_of_line}")))?;
        if line.is_empty() {
            break;
        }
        let text = std::str::from_utf8(&line)
            .map_err(|_| Error::file(format!("line {number_of_line}: is not UTF-8 text")))?;
        let text = if rows == 0 { text.trim_start_matches('\u{feff}') } else { text };
        let mut words = text.split('#').next().unwrap_or_default().split_ascii_whitespace();
        let Some(label) = words.next() else { continue };
        if rows >= u32::MAX as usize {
            return Err(Error::too_large(format!("line {number_of_line}: more than {} rows", u32::MAX)));
        }
        let label_misfit =
            |_| Error::file(format!("line {number_of_line}: the label {} does not fit", quote(label)));
        if label.contains(':') {
            return Err(Error::file(format!(
                "line {number_of_line}: {} stands where the label should be",
                quote(label)
            )));
        }
        labels.push(label.as_bytes(), 0, label.len()).map_err(label_misfit)?;
        for word in words.filter(|word| !word.starts_with("qid:")) {
            push(&mut features, word, rows)
                .map_err(|error| error.at(format_args!("line {number_of_line}")))?;
        }
        memory::reserve(&mut lines_of_rows, 1)?;
        lines_of_rows.push(number_of_line);
        rows += 1;
    }
    if rows == 0 {
        return Err(Error::file("there is nothing in it"));
    }
    let label = labels.finish().map_err(|(row, text, _)| {
        Error::file(format!(
            "line {}: the label {} is not a number, as nearly all others are",
            lines_of_rows[row],
            quote(&text)
        ))
    })?;
    drop(lines_of_rows);
    let table = table(features, rows, options)?;
    Ok(RawRows { table, label: Some(("label".to_owned(), label)), note: None })
}

/// Adds one `position:value` pair.
fn push(features: &mut Vec<Listed>, word: &str, row: usize) -> Result<()> {
    let misfit = |what: &str| Error::file(format!("{} {what}", quote(word)));
    let (position, value) =
        word.split_once(':').ok_or_else(|| misfit("is not a position, a colon and a value"))?;
    let position: usize = position.parse().map_err(|_| misfit("does not start with a position"))?;
    if position > LAST_POSITION {
        return Err(misfit(&format!("is past the last position there can be, {LAST_POSITION}")));
    }
    let value = match value {
        "nan" | "NaN" | "NA" | "?" => f64::NAN,
        value => number(value).ok_or_else(|| misfit("does not end with a number"))?,
    };
    if features.len() <= position {
        memory::reserve(features, position + 1 - features.len())?;
        features.resize_with(position + 1, Listed::default);
    }
    let feature = &mut features[position];
    if feature.rows.last() == Some(&(row as u32)) {
        return Err(misfit("gives a position a second time"));
    }
    memory::reserve(&mut feature.rows, 1)?;
    memory::reserve(&mut feature.values, 1)?;
    feature.rows.push(row as u32);
    feature.values.push(value);
    Ok(())
}

fn table(mut features: Vec<Listed>, rows: usize, options: &ReadOptions) -> Result<Table> {
    // Features that an encoder asks for are there even when this file lists none of their values.
    let asked = options.kinds.keys().filter_map(|name| name.strip_prefix("feature_")?.parse().ok());
    let asked: Vec<usize> = asked.filter(|&position| position <= LAST_POSITION).collect();
    let last = asked.iter().copied().max().unwrap_or(0).max(options.width.unwrap_or(0).min(LAST_POSITION));
    if features.len() <= last {
        features.resize_with(last + 1, Listed::default);
    }
    let from_zero = features.first().is_some_and(|first| !first.rows.is_empty()) || asked.contains(&0);
    let columns = features.into_iter().enumerate().skip(usize::from(!from_zero));
    let columns: Vec<(String, Column)> = columns
        .map(|(position, Listed { rows: listed, values })| {
            Ok((format!("feature_{position}"), Column::Number(Numbers::sparse(rows, listed, values)?)))
        })
        .collect::<Result<_>>()?;
    if columns.is_empty() {
        return Err(Error::file("no row has a feature"));
    }
    Table::new(columns)
}

/// Whether a text starts like libsvm text: a label, then at least one pair.
pub(crate) fn looks_like_libsvm(start: &[u8]) -> bool {
    let line = start.split(|&byte| matches!(byte, b'\n' | b'#')).next().unwrap_or_default();
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let is_number = |word: &[u8]| {
        std::str::from_utf8(word).is_ok_and(|word| matches!(word, "NA" | "?") || word.parse::<f64>().is_ok())
    };
    let is_pair = |word: &[u8]| {
        let Some(colon) = word.iter().position(|&byte| byte == b':') else { return false };
        // The last word may be cut.
        let is_cut = line.ends_with(word) && line.len() == start.len();
        let digits = colon > 0 && word[..colon].iter().all(u8::is_ascii_digit);
        digits && (is_number(&word[colon + 1..]) || (is_cut && colon + 1 < word.len()))
    };
    let is_label = |word: &[u8]| !word.contains(&b':') && !word.contains(&b',');
    words.next().is_some_and(is_label)
        && words.next().is_some_and(is_pair)
        && words.all(|word| is_pair(word) || word.starts_with(b"qid:") || line.ends_with(word))
}
