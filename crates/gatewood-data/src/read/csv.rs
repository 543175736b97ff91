//! Delimited text: CSV, TSV and the like. Read once, a piece at a time.

use std::collections::HashSet;
use std::io::Read;

use gatewood::encode::{Kind, Table};
use gatewood::{Error, Result};

use super::column::{ColumnBuilder, Misfit};
use super::scan::{Fault, Field, Found, Scanner};
use super::sniff::{self, is_blank, shown};
use super::table::ReadOptions;

/// Bytes read at a time.
const PIECE: usize = 1 << 18;

/// Records that are taken apart before their fields go to the columns, one column after the other: the ends of all
/// columns at once would not stay in the cache.
const BATCH: usize = 32;

/// Bytes a record may have.
const LONGEST: usize = 1 << 28;

/// Text of which a part was read.
struct Text<'a> {
    reader: &'a mut dyn Read,
    bytes: Vec<u8>,
    /// Start of what was not used yet.
    at: usize,
    ended: bool,
}

impl Text<'_> {
    /// Reads on, and forgets what was used. Makes room for twice as much when nothing was used.
    fn read_on(&mut self) -> Result<()> {
        self.bytes.drain(..self.at);
        self.at = 0;
        let kept = self.bytes.len();
        let wanted = kept + PIECE.max(kept);
        self.bytes.resize(wanted, 0);
        let mut filled = kept;
        while filled < wanted && !self.ended {
            match self.reader.read(&mut self.bytes[filled..]) {
                Ok(0) => self.ended = true,
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(error.to_string())),
            }
        }
        self.bytes.truncate(filled);
        Ok(())
    }
}

/// Reads delimited text. Errors name line, column and text; the caller puts the file before them.
pub(crate) fn read_csv(reader: &mut dyn Read, options: &ReadOptions) -> Result<Table> {
    let mut text = Text { reader, bytes: Vec::new(), at: 0, ended: false };
    text.read_on()?;
    // To tell how the text is written takes two lines.
    while !text.ended
        && text.bytes.len() < LONGEST
        && text.bytes.iter().filter(|&&byte| byte == b'\n').count() < 2
    {
        text.read_on()?;
    }
    match text.bytes.as_slice() {
        [0xef, 0xbb, 0xbf, ..] => text.at = 3,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            return Err(Error::file("the text is UTF-16: save it as UTF-8"));
        }
        _ => {}
    }
    let mut line = 1;
    for _ in 0..options.skip_lines {
        let Some(end) = text.bytes[text.at..].iter().position(|&byte| byte == b'\n') else { break };
        text.at += end + 1;
        line += 1;
    }
    let start = &text.bytes[text.at..];
    let delimiter = options.delimiter.unwrap_or_else(|| sniff::delimiter(start, text.ended));
    if matches!(delimiter, b'\n' | b'\r' | b'"') {
        return Err(Error::setting("a line end or a quote cannot be the delimiter"));
    }
    let header = options.header.unwrap_or_else(|| sniff::has_header(start, delimiter, text.ended));
    let mut rows = Rows {
        options,
        header,
        delimiter,
        names: None,
        columns: Vec::new(),
        count: 0,
        line,
        first_line: line,
        jumps: Vec::new(),
        waiting: Vec::new(),
        waiting_lines: Vec::new(),
        unescaped: Vec::new(),
    };
    rows.read(&mut text)?;
    rows.finish()
}

/// The rows read so far.
struct Rows<'a> {
    options: &'a ReadOptions,
    header: bool,
    delimiter: u8,
    names: Option<Vec<String>>,
    columns: Vec<ColumnBuilder>,
    count: usize,
    /// The line of the next record.
    line: usize,
    /// The line that said how many fields there are.
    first_line: usize,
    /// Rows whose line is not the one after the row before, with that line.
    jumps: Vec<(usize, usize)>,
    /// The fields of the records that wait, and their lines.
    waiting: Vec<Field>,
    waiting_lines: Vec<usize>,
    unescaped: Vec<u8>,
}

impl Rows<'_> {
    fn read(&mut self, text: &mut Text<'_>) -> Result<()> {
        let mut scanner = Scanner::new(self.delimiter);
        let mut fields = Vec::new();
        let mut line_of_next_row = 0;
        loop {
            if text.at == text.bytes.len() && text.ended {
                return self.flush(&text.bytes);
            }
            let start = text.at;
            let found = scanner.record(&text.bytes, start, text.ended, &mut fields);
            if !matches!(found, Ok(Found::Record(_))) {
                self.flush(&text.bytes)?;
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
                Found::Incomplete => {
                    text.read_on()?;
                    scanner.reset();
                    continue;
                }
            };
            let lines = if scanner.had_quotes {
                text.bytes[start..next].iter().filter(|&&byte| byte == b'\n').count().max(1)
            } else {
                1
            };
            if self.delimiter == b' ' {
                join_spaces(&text.bytes, &mut fields);
            }
            if !is_blank(&text.bytes, &fields) {
                if self.columns.is_empty() {
                    self.begin(&text.bytes, &fields)?;
                    if !self.header {
                        self.jumps.push((0, self.line));
                        line_of_next_row = self.line + 1;
                        self.push(&text.bytes, &fields)?;
                    }
                } else {
                    if self.line != line_of_next_row {
                        self.jumps.push((self.count, self.line));
                    }
                    line_of_next_row = self.line + 1;
                    self.push(&text.bytes, &fields)?;
                }
            }
            self.line += lines;
            text.at = next;
        }
    }

    /// Makes the columns from the first record.
    fn begin(&mut self, text: &[u8], fields: &[Field]) -> Result<()> {
        self.first_line = self.line;
        if self.header {
            if let Some(field) =
                fields.iter().find(|field| std::str::from_utf8(&text[field.start..field.end]).is_err())
            {
                let name = text[field.start..field.end].escape_ascii();
                return Err(Error::file(format!("line {}: \"{name}\" is not UTF-8 text", self.line)));
            }
            self.names = Some(unique(fields.iter().map(|field| shown(text, *field)).collect()));
        }
        self.columns =
            (0..fields.len()).map(|column| ColumnBuilder::new(self.wanted(column, fields.len()))).collect();
        Ok(())
    }

    fn name(&self, column: usize) -> String {
        self.names.as_ref().map_or_else(|| format!("column_{}", column + 1), |names| names[column].clone())
    }

    fn wanted(&self, column: usize, columns: usize) -> Option<Kind> {
        // Without names, positions tell which is which, and a label that stands among the columns shifts them.
        let shifted = self.names.is_none() && self.options.width.is_some_and(|width| width != columns);
        if self.options.kinds.is_empty() || shifted {
            return None;
        }
        // Bits and pixels are written as numbers.
        self.options.kinds.get(&self.name(column)).map(|kind| match kind {
            Kind::Pixel | Kind::Bit => Kind::Number,
            kind => *kind,
        })
    }

    /// Takes a record; its fields wait for others to go to the columns with.
    fn push(&mut self, text: &[u8], fields: &[Field]) -> Result<()> {
        if fields.len() != self.columns.len() {
            self.flush(text)?;
            return Err(Error::file(format!(
                "line {}: {}, where line {} has {}",
                self.line,
                plural(fields.len(), "field"),
                self.first_line,
                self.columns.len()
            )));
        }
        if self.count >= u32::MAX as usize {
            return Err(Error::too_large(format!("line {}: more than {} rows", self.line, u32::MAX)));
        }
        self.waiting.extend_from_slice(fields);
        self.waiting_lines.push(self.line);
        self.count += 1;
        if self.waiting_lines.len() == BATCH { self.flush(text) } else { Ok(()) }
    }

    /// Gives the fields that wait to the columns.
    fn flush(&mut self, text: &[u8]) -> Result<()> {
        let width = self.columns.len();
        // The misfit of the first row is told, not that of the first column.
        let mut first: Option<(usize, usize, Misfit)> = None;
        for (index, column) in self.columns.iter_mut().enumerate() {
            let fields = self.waiting[index.min(self.waiting.len())..].iter().step_by(width);
            for (row, field) in fields.enumerate() {
                let (start, end) = trim(text, field.start, field.end);
                let pushed = if field.doubled {
                    unescape(&text[start..end], &mut self.unescaped);
                    column.push(&self.unescaped, 0, self.unescaped.len())
                } else {
                    column.push(text, start, end)
                };
                if let Err(misfit) = pushed {
                    if first.as_ref().is_none_or(|first| row < first.0) {
                        first = Some((row, index, misfit));
                    }
                    break;
                }
            }
        }
        if let Some((row, index, misfit)) = first {
            let field = self.waiting[row * width + index];
            let (start, end) = trim(text, field.start, field.end);
            return Err(self.misfit(index, self.waiting_lines[row], &text[start..end], &misfit));
        }
        self.waiting.clear();
        self.waiting_lines.clear();
        Ok(())
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
        })
    }

    fn misfit(&self, column: usize, line: usize, field: &[u8], misfit: &Misfit) -> Error {
        let name = self.name(column);
        let cut = &field[..field.len().min(40)];
        let more = if cut.len() < field.len() { "…" } else { "" };
        let shown = match std::str::from_utf8(cut) {
            Ok(text) if !text.contains('\0') => format!("{text}{more}"),
            _ => format!("{}{more}", cut.escape_ascii()),
        };
        let reason = match misfit {
            Misfit::NotText => "is not UTF-8 text".to_owned(),
            Misfit::NotNumber => {
                "is not a number, as all values above it are; say that the column is text if it is".to_owned()
            }
            Misfit::Odd => {
                "is not a number, as nearly all others are; say that the column is text if it is".to_owned()
            }
            Misfit::NotKind(Kind::Date) => "is not a date".to_owned(),
            Misfit::NotKind(_) => "is not a number".to_owned(),
        };
        Error::file(format!("line {line}, column \"{name}\": \"{shown}\" {reason}"))
    }

    /// The line of a row.
    fn line_of(&self, row: usize) -> usize {
        let after = self.jumps.partition_point(|jump| jump.0 <= row);
        after.checked_sub(1).map_or(0, |jump| self.jumps[jump].1 + row - self.jumps[jump].0)
    }

    fn finish(mut self) -> Result<Table> {
        if self.count == 0 {
            return Err(Error::file(if self.columns.is_empty() {
                "there is nothing in it".to_owned()
            } else {
                format!("there are no rows after the header on line {}", self.first_line)
            }));
        }
        let mut columns = Vec::with_capacity(self.columns.len());
        for (index, column) in std::mem::take(&mut self.columns).into_iter().enumerate() {
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

/// A field without the spaces around it, or the carriage return after it.
#[inline]
fn trim(text: &[u8], mut start: usize, mut end: usize) -> (usize, usize) {
    let space = |byte: u8| matches!(byte, b' ' | b'\r' | b'\t' | b'\n');
    while start < end && space(text[start]) {
        start += 1;
    }
    while start < end && space(text[end - 1]) {
        end -= 1;
    }
    (start, end)
}

fn unescape(field: &[u8], unescaped: &mut Vec<u8>) {
    unescaped.clear();
    let mut bytes = field.iter();
    while let Some(&byte) = bytes.next() {
        unescaped.push(byte);
        if byte == b'"' {
            bytes.next();
        }
    }
}

/// Between spaces used as delimiters, empty fields are not fields.
fn join_spaces(text: &[u8], fields: &mut Vec<Field>) {
    if fields.len() > 1 {
        let quoted = |field: &Field| field.start > 0 && text[field.start - 1] == b'"';
        fields.retain(|field| quoted(field) || !text[field.start..field.end].trim_ascii().is_empty());
        if fields.is_empty() {
            fields.push(Field { start: 0, end: 0, doubled: false });
        }
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
