//! Delimited text: CSV, TSV and the like. Read once, a piece at a time.

use std::collections::HashSet;
use std::io::Read;

use gatewood::encode::{Kind, Table};
use gatewood::{Error, Result};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::batch::{Batch, Odd, trim};
use super::column::{ColumnBuilder, Misfit};
use super::scan::{Fault, Field, Found, MOST_FIELDS, Scanner};
use super::sniff::{self, is_blank, shown};
use super::table::ReadOptions;

/// Bytes read at a time.
const PIECE: usize = 1 << 18;

/// Threads that are of use: the text is taken apart by one.
const MOST_THREADS: usize = 6;

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
    let mut records = Records {
        options,
        header,
        scanner: Scanner::new(delimiter),
        delimiter,
        names: None,
        width: 0,
        count: 0,
        line,
        first_line: line,
        next_line: 0,
        jumps: Vec::new(),
    };
    let (mut batch, mut next) = (Batch::default(), Batch::default());
    records.fill(&mut text, &mut batch);
    let mut columns = records.columns();
    // A text of one piece is not worth the threads.
    let pool = if text.ended { None } else { pool() };
    let threads = pool.as_ref().map_or(1, ThreadPool::current_num_threads);
    loop {
        let (fault, is_last) = (batch.fault.take(), batch.rows() == 0);
        let mut odd = None;
        match &pool {
            // The next piece is taken apart while the columns take this one.
            Some(pool) if fault.is_none() && !is_last => pool.in_place_scope(|scope| {
                scope.spawn(|_| odd = batch.append(&mut columns, threads));
                records.fill(&mut text, &mut next);
            }),
            _ => odd = batch.append(&mut columns, 1),
        }
        if let Some(odd) = odd {
            return Err(records.odd(&batch, &odd));
        }
        match fault {
            Some(fault) => return Err(fault),
            None if is_last => return records.finish(columns),
            None if pool.is_none() => records.fill(&mut text, &mut next),
            None => {}
        }
        std::mem::swap(&mut batch, &mut next);
    }
}

/// A thread pool for the columns; none when there is one core, or threads are not to be had.
fn pool() -> Option<ThreadPool> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    if threads == 1 { None } else { ThreadPoolBuilder::new().num_threads(threads).build().ok() }
}

/// Takes the text apart, and keeps what is to be known of its records.
struct Records<'a> {
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
}

impl Records<'_> {
    /// Fills a batch with the records of the next piece of text; it stays empty at the end of the text.
    fn fill(&mut self, text: &mut Text<'_>, batch: &mut Batch) {
        batch.clear();
        batch.fault = self.scan(text, batch).err();
        // The batch keeps the text of its fields; what is left of it is the start of the next piece.
        std::mem::swap(&mut text.bytes, &mut batch.text);
        text.bytes.clear();
        text.bytes.extend_from_slice(&batch.text[text.at..]);
        text.at = 0;
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
            return Err(Error::file(format!(
                "line {}: {fields}, where line {} has {}",
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
                let name = text[field.range()].escape_ascii();
                return Err(Error::file(format!("line {}: \"{name}\" is not UTF-8 text", self.line)));
            }
            self.names = Some(unique(fields.iter().map(|field| shown(text, *field)).collect()));
        }
        self.width = fields.len();
        Ok(())
    }

    /// Empty columns for the records.
    fn columns(&self) -> Vec<ColumnBuilder> {
        (0..self.width).map(|column| ColumnBuilder::new(self.wanted(column))).collect()
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
    fn odd(&self, batch: &Batch, odd: &Odd) -> Error {
        let field = trim(&batch.text, batch.fields[odd.row * self.width + odd.column]);
        self.misfit(odd.column, batch.lines[odd.row], &batch.text[field], &odd.misfit)
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

    fn finish(self, builders: Vec<ColumnBuilder>) -> Result<Table> {
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
