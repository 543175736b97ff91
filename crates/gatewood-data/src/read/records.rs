//! The records of delimited text, one after the other: quotes, empty lines, what is wrong with them.

use std::collections::HashSet;

use gatewood::encode::{Kind, Table};
use gatewood::text::quote;
use gatewood::{Error, Result};

use super::batch::{Batch, Odd, trim};
use super::column::{ColumnBuilder, MANY_COLUMNS, Misfit};
use super::piece::OddField;
use super::scan::{Fault, Field, Found, MOST_FIELDS, Scanner};
use super::sniff::{is_blank, shown};
use super::table::ReadOptions;
use super::text::{LONGEST, Text};

/// Takes the text apart, and keeps what is to be known of its records.
pub(super) struct Records<'a> {
    options: &'a ReadOptions,
    header: bool,
    scanner: Scanner,
    delimiter: u8,
    names: Option<Vec<String>>,
    /// Fields of a record; 0 before the first.
    width: usize,
    /// Rows so far.
    count: usize,
    /// The line of the next record.
    line: usize,
    /// The line that said how many fields there are.
    first_line: usize,
    /// The line of the next row if no line is left out.
    next_line: usize,
    /// Rows whose line is not the one after the row before, with that line.
    jumps: Vec<(usize, usize)>,
    /// A sentence on names that several columns have.
    pub(super) alike: Option<String>,
}

impl<'a> Records<'a> {
    /// The records of a text whose first is on this line.
    pub(super) fn new(options: &'a ReadOptions, delimiter: u8, header: bool, line: usize) -> Self {
        Self {
            options,
            header,
            scanner: Scanner::new(delimiter),
            delimiter,
            names: None,
            alike: None,
            width: 0,
            count: 0,
            line,
            first_line: line,
            next_line: 0,
            jumps: Vec::new(),
        }
    }

    /// The delimiter.
    pub(super) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Passes over lines that are a row each.
    pub(super) fn pass(&mut self, rows: usize) {
        if rows > 0 && self.line != self.next_line {
            self.jumps.push((self.count, self.line));
        }
        self.count += rows;
        self.line += rows;
        self.next_line = self.line;
    }

    /// Whether there is room for more rows.
    pub(super) fn has_room(&self, rows: usize) -> bool {
        self.count + rows <= u32::MAX as usize
    }

    /// Fills a batch with the records of the next piece of text; it stays empty at the end of the text.
    pub(super) fn fill(&mut self, text: &mut Text<'_>, batch: &mut Batch) {
        batch.clear();
        batch.fault = self.scan(text, batch).err();
        // The batch keeps the text of its fields; what is left of it is the start of the next piece.
        text.give(text.at, &mut batch.text);
        self.scanner.reset();
    }

    fn scan(&mut self, text: &mut Text<'_>, batch: &mut Batch) -> Result<()> {
        while text.at < text.bytes.len() || !text.ended {
            let (start, first) = (text.at, batch.fields.len());
            let found = self.scanner.record(&text.bytes, start, text.ended, &mut batch.fields);
            if !matches!(found, Ok(Found::Record(_))) {
                batch.fields.truncate(first);
            }
            let next = match found.map_err(|fault| self.fault(fault, &text.bytes, start))? {
                Found::Record(next) => next,
                Found::Incomplete if text.bytes.len() - start > LONGEST => {
                    return Err(Error::file(format!(
                        "line {}: the record is longer than {} MB: is a quote left open?",
                        self.line,
                        LONGEST >> 20
                    )));
                }
                Found::Incomplete if batch.rows() > 0 => return Ok(()),
                Found::Incomplete => {
                    text.read_on()?;
                    self.scanner.reset();
                    continue;
                }
            };
            let lines = if self.scanner.had_quotes {
                text.bytes[start..next].iter().filter(|&&byte| byte == b'\n').count().max(1)
            } else {
                1
            };
            if self.delimiter == b' ' {
                join_spaces(&text.bytes, &mut batch.fields, first);
            }
            self.take(&text.bytes, batch, first)?;
            self.line += lines;
            text.at = next;
        }
        Ok(())
    }

    /// Takes the record whose fields are those of the batch from `first` on: a row, the names, or an empty line.
    fn take(&mut self, text: &[u8], batch: &mut Batch, first: usize) -> Result<()> {
        let fields = &batch.fields[first..];
        if is_blank(text, fields) {
            batch.fields.truncate(first);
            return Ok(());
        }
        if self.width == 0 {
            self.begin(text, fields)?;
            if self.header {
                batch.fields.truncate(first);
                return Ok(());
            }
        }
        if fields.len() != self.width {
            let fields = plural(fields.len(), "field");
            batch.fields.truncate(first);
            // A line or two of words above the table.
            let hint = if self.width == 1 { "; --skip passes over lines above the table" } else { "" };
            return Err(Error::file(format!(
                "line {}: {fields}, where line {} has {}{hint}",
                self.line, self.first_line, self.width
            )));
        }
        if self.count >= u32::MAX as usize {
            batch.fields.truncate(first);
            return Err(Error::too_large(format!("line {}: more than {} rows", self.line, u32::MAX)));
        }
        if self.line != self.next_line {
            self.jumps.push((self.count, self.line));
        }
        self.next_line = self.line + 1;
        self.count += 1;
        batch.lines.push(self.line);
        Ok(())
    }

    /// Learns the columns from the first record.
    fn begin(&mut self, text: &[u8], fields: &[Field]) -> Result<()> {
        self.first_line = self.line;
        if self.header {
            if let Some(field) =
                fields.iter().find(|field| std::str::from_utf8(&text[field.range()]).is_err())
            {
                let name = &text[field.range()];
                let name = name[..name.len().min(40)].escape_ascii();
                return Err(Error::file(format!("line {}: \"{name}\" is not UTF-8 text", self.line)));
            }
            let names: Vec<String> = fields.iter().map(|field| shown(text, *field)).collect();
            let unique = unique(names.clone());
            let changed = |&column: &usize| !names[column].is_empty() && names[column] != unique[column];
            let mut renamed = (0..names.len()).filter(changed);
            self.alike = renamed.next().map(|column| {
                let (old, new) = (quote(&names[column]), quote(&unique[column]));
                let more = match renamed.count() {
                    0 => String::new(),
                    more => format!(", and so on for {more} more"),
                };
                format!("two columns are named {old}: column {} is called {new}{more}", column + 1)
            });
            self.names = Some(unique);
        }
        self.width = fields.len();
        Ok(())
    }

    /// Empty columns for the records.
    pub(super) fn columns(&self) -> Vec<ColumnBuilder> {
        let new = if self.width < MANY_COLUMNS { ColumnBuilder::new } else { ColumnBuilder::one_of_many };
        let columns = (0..self.width).map(|column| new(self.wanted(column)));
        if self.options.decimal_comma {
            columns.map(ColumnBuilder::with_decimal_comma).collect()
        } else {
            columns.collect()
        }
    }

    fn name(&self, column: usize) -> String {
        self.names.as_ref().map_or_else(|| format!("column_{}", column + 1), |names| names[column].clone())
    }

    fn wanted(&self, column: usize) -> Option<Kind> {
        // Without names, positions tell which is which, and a label that stands among the columns shifts them.
        let shifted = self.names.is_none() && self.options.width.is_some_and(|width| width != self.width);
        if self.options.kinds.is_empty() || shifted {
            return None;
        }
        // Bits and pixels are written as numbers.
        self.options.kinds.get(&self.name(column)).map(|kind| match kind {
            Kind::Pixel | Kind::Bit => Kind::Number,
            kind => *kind,
        })
    }

    /// The error of a field that does not fit.
    pub(super) fn odd(&self, batch: &Batch, odd: &Odd) -> Error {
        let field = trim(&batch.text, batch.fields[odd.row * self.width + odd.column].range());
        self.misfit(odd.column, batch.lines[odd.row], &batch.text[field], &odd.misfit)
    }

    /// The error of a field that does not fit, of the rows that are next to be passed.
    pub(super) fn odd_field(&self, odd: &OddField) -> Error {
        self.misfit(odd.column, self.line + odd.row, &odd.field, &odd.misfit)
    }

    fn fault(&self, fault: Fault, text: &[u8], start: usize) -> Error {
        let line_at = |at: usize| self.line + text[start..at].iter().filter(|&&byte| byte == b'\n').count();
        let excerpt = |at: usize| {
            let rest = text[at..].split(|&byte| byte == b'\n').next().unwrap_or_default();
            rest[..rest.len().min(20)].escape_ascii().to_string()
        };
        Error::file(match fault {
            Fault::AfterQuote(at) => {
                format!("line {}: \"{}\" follows a closing quote", line_at(at), excerpt(at))
            }
            Fault::OpenQuote(at) => {
                format!("line {}: the quote before \"{}\" is never closed", line_at(at), excerpt(at + 1))
            }
            Fault::TooWide => {
                format!("line {}: more than {MOST_FIELDS} columns, which is the limit", self.line)
            }
        })
    }

    fn misfit(&self, column: usize, line: usize, field: &[u8], misfit: &Misfit) -> Error {
        let name = quote(&self.name(column));
        let shown = match std::str::from_utf8(field) {
            Ok(text) if !text.contains('\0') => quote(text),
            _ => {
                let cut = &field[..field.len().min(40)];
                format!("\"{}{}\"", cut.escape_ascii(), if cut.len() < field.len() { "…" } else { "" })
            }
        };
        let reason = match misfit {
            Misfit::NotText if field.contains(&0) => "holds a zero byte, which text has not".to_owned(),
            Misfit::NotText => "is not UTF-8 text".to_owned(),
            Misfit::NotNumber => {
                "is not a number, as all values above it are; if it is text, say --categorical or --text"
                    .to_owned()
            }
            Misfit::Odd => {
                "is not a number, as nearly all others are; if it is text, say --categorical or --text"
                    .to_owned()
            }
            Misfit::NotKind(Kind::Date) => "is not a date".to_owned(),
            Misfit::NotKind(_) => "is not a number".to_owned(),
        };
        Error::file(format!("line {line}, column {name}: {shown} {reason}"))
    }

    /// The line of a row.
    fn line_of(&self, row: usize) -> usize {
        let after = self.jumps.partition_point(|jump| jump.0 <= row);
        after.checked_sub(1).map_or(0, |jump| self.jumps[jump].1 + row - self.jumps[jump].0)
    }

    pub(super) fn finish(self, builders: Vec<ColumnBuilder>) -> Result<Table> {
        if self.count == 0 {
            return Err(Error::file(if builders.is_empty() {
                "there is nothing in it".to_owned()
            } else {
                format!("there are no rows after the header on line {}", self.first_line)
            }));
        }
        let mut columns = Vec::with_capacity(builders.len());
        for (index, column) in builders.into_iter().enumerate() {
            columns.push(column.finish().map_err(|(row, text, misfit)| {
                self.misfit(index, self.line_of(row), text.as_bytes(), &misfit)
            })?);
        }
        match self.names {
            Some(names) => Table::new(names.into_iter().zip(columns).collect()),
            None => Table::unnamed(columns),
        }
    }
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Between spaces used as delimiters, empty fields are not fields. Looks at the fields from `first` on.
fn join_spaces(text: &[u8], fields: &mut Vec<Field>, first: usize) {
    if fields.len() > first + 1 {
        let quoted = |field: Field| field.start > 0 && text[field.start as usize - 1] == b'"';
        let mut record = fields.split_off(first);
        record.retain(|field| quoted(*field) || !text[field.range()].trim_ascii().is_empty());
        if record.is_empty() {
            record.push(Field { start: 0, end: 0, doubled: false });
        }
        fields.append(&mut record);
    }
}

/// Names with none empty and no two alike: the second `a` becomes `a_2`.
fn unique(names: Vec<String>) -> Vec<String> {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut seen = HashSet::new();
    let mut all = Vec::with_capacity(names.len());
    for (index, name) in names.into_iter().enumerate() {
        let base = if name.is_empty() { format!("column_{}", index + 1) } else { name };
        let mut unique = base.clone();
        let mut number = 2;
        while seen.contains(&unique) || (unique != base && taken.contains(&unique)) {
            unique = format!("{base}_{number}");
            number += 1;
        }
        taken.insert(unique.clone());
        seen.insert(unique.clone());
        all.push(unique);
    }
    all
}
