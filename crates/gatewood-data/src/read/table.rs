//! Files of rows to tables.

use std::collections::BTreeMap;
use std::io::BufRead;

use gatewood::encode::{Column, Decimal, EncodeSettings, Encoder, Kind, Table, Treatment};
use gatewood::{Error, Result};

use super::bytes::read_whole;
use super::{Opened, csv, libsvm, npy, npz};

/// How a file of rows is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Delimited text.
    Csv,
    /// A label and `position:value` pairs a line.
    Libsvm,
    /// One numpy array.
    Npy,
    /// Several numpy arrays.
    Npz,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow's file or stream of record batches.
    Arrow,
}

/// How to read a file of rows; what is not given is found out.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The format; else by the first bytes, then by the name.
    pub format: Option<Format>,
    /// The delimiter of delimited text.
    pub delimiter: Option<u8>,
    /// Whether the first line of delimited text names the columns.
    pub header: Option<bool>,
    /// Lines to pass over at the start of delimited text.
    pub skip_lines: usize,
    /// What columns hold, by name, where that is known.
    pub kinds: BTreeMap<String, Kind>,
    /// The least number of columns of a file that leaves out zeros.
    pub width: Option<usize>,
    /// The array to take from a file of several.
    pub array: Option<String>,
    /// Whether numbers have a decimal comma, so that `1.234` is more than a thousand.
    pub decimal_comma: bool,
}

impl ReadOptions {
    /// Whether something was said that only delimited text has.
    pub(crate) fn is_delimited(&self) -> bool {
        self.delimiter.is_some() || self.header.is_some()
    }

    /// The options to read rows for an encoder: its columns hold what they held in training.
    pub fn for_encoder(encoder: &Encoder) -> Self {
        Self {
            // Texts that the encoder reads as numbers or dates stay texts for it.
            kinds: (encoder.inputs().iter())
                .map(|input| {
                    (input.name.clone(), if input.written.is_some() { Kind::Text } else { input.kind })
                })
                .collect(),
            width: Some(encoder.width()),
            ..Self::default()
        }
    }

    /// The options to read rows to learn from, whose columns are to be encoded so.
    #[must_use]
    pub fn for_settings(mut self, settings: &EncodeSettings) -> Self {
        self.decimal_comma = settings.decimal == Some(Decimal::Comma);
        for (name, treatment) in settings.treatments() {
            let kind = match treatment {
                Treatment::Category | Treatment::Words => Kind::Text,
                Treatment::Number => Kind::Number,
                Treatment::Date => Kind::Date,
                Treatment::Drop | Treatment::Keep => continue,
            };
            self.kinds.insert(name.to_owned(), kind);
        }
        self
    }
}

/// Rows as a file held them.
#[derive(Debug, Clone, PartialEq)]
pub struct RawRows {
    /// The columns.
    pub table: Table,
    /// The label with its name, where the format sets one apart: libsvm, and numpy files with an array `y`.
    pub label: Option<(String, Column)>,
    /// What was found out in doubt, in a sentence for the user.
    pub note: Option<String>,
}

impl RawRows {
    /// Columns of which none is set apart.
    fn without_label(table: Table) -> Self {
        Self { table, label: None, note: None }
    }
}

/// Reads a file of rows; `-` is standard input. Files may be packed with gzip, xz or zstandard.
///
/// Where the format sets a label apart, it becomes the first column.
///
/// # Errors
/// When the file cannot be read or does not hold rows; the message names the file, and the line and column where it
/// can.
pub fn read_table(source: &str, options: &ReadOptions) -> Result<Table> {
    let RawRows { table, label, .. } = read_rows(source, options)?;
    let Some(label) = label else { return Ok(table) };
    let columns =
        (0..table.columns()).map(|column| (table.name(column).into_owned(), as_column(&table, column)));
    Table::new(std::iter::once(label).chain(columns).collect()).map_err(|error| error.at(source))
}

/// Reads a file of rows; a label that the format sets apart is kept apart.
///
/// # Errors
/// As [`read_table`].
pub fn read_rows(source: &str, options: &ReadOptions) -> Result<RawRows> {
    read_opened(Opened::new(source)?, options)
}

/// Reads a file of rows that is opened already.
pub(crate) fn read_opened(opened: Opened, options: &ReadOptions) -> Result<RawRows> {
    let Opened { mut reader, place, file } = opened;
    #[cfg(feature = "parquet")]
    if let Some(file) = file
        && matches!(options.format, None | Some(Format::Parquet))
        && reader.fill_buf().is_ok_and(|start| start.starts_with(b"PAR1"))
    {
        // Read from its place, not through memory.
        drop(reader);
        let table = super::parquet::read_parquet(file).map_err(|error| error.at(&place))?;
        return Ok(RawRows::without_label(table));
    }
    #[cfg(not(feature = "parquet"))]
    drop(file);
    read_rows_from(&mut *reader, &place, options).map_err(|error| error.at(&place))
}

#[cfg(feature = "parquet")]
fn parquet_table(bytes: Vec<u8>) -> Result<Table> {
    super::parquet::read_parquet(bytes::Bytes::from(bytes))
}

#[cfg(feature = "arrow")]
use super::arrow::read_arrow as arrow_table;

#[cfg(not(feature = "arrow"))]
fn arrow_table(_: &mut dyn BufRead) -> Result<Table> {
    Err(Error::file("this is an Arrow file, and Arrow was left out when this program was built"))
}

#[cfg(not(feature = "parquet"))]
fn parquet_table(_: Vec<u8>) -> Result<Table> {
    Err(Error::file("this is a Parquet file, and Parquet was left out when this program was built"))
}

/// Reads rows from a stream that is unpacked already. `name` tells the format where its first bytes do not.
///
/// # Errors
/// When the stream cannot be read or does not hold rows.
pub fn read_rows_from(reader: &mut dyn BufRead, name: &str, options: &ReadOptions) -> Result<RawRows> {
    let start = reader.fill_buf().map_err(|error| Error::io(error.to_string()))?;
    let format = options.format.unwrap_or_else(|| format_of(name, start, options.is_delimited()));
    match format {
        Format::Csv => {
            let mut options = options.clone();
            if bare_name(name).ends_with(".tsv") {
                options.delimiter = options.delimiter.or(Some(b'\t'));
            }
            csv::read_csv(&mut { reader }, &options)
        }
        Format::Libsvm => libsvm::read_libsvm(reader, options),
        Format::Npy => Ok(RawRows::without_label(npy::read_npy(&mut { reader }, true)?.into_table()?)),
        Format::Npz => npz::read_npz(reader, options),
        Format::Arrow => arrow_table(reader).map(RawRows::without_label),
        Format::Parquet => {
            let mut bytes = Vec::new();
            read_whole(&mut { reader }, &mut bytes)?;
            parquet_table(bytes).map(RawRows::without_label)
        }
    }
}

/// A name in lower case, without the ending of its packing.
fn bare_name(name: &str) -> String {
    let name = name.to_lowercase();
    let bare = [".gz", ".xz", ".zst"].iter().find_map(|ending| name.strip_suffix(ending));
    bare.unwrap_or(&name).to_owned()
}

fn format_of(name: &str, start: &[u8], is_delimited: bool) -> Format {
    if start.starts_with(b"\x93NUMPY") {
        return Format::Npy;
    }
    if start.starts_with(b"PK\x03\x04") {
        return Format::Npz;
    }
    if start.starts_with(b"PAR1") {
        return Format::Parquet;
    }
    if start.starts_with(b"ARROW1") || start.starts_with(&[0xff; 4]) {
        return Format::Arrow;
    }
    let name = bare_name(name);
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if is_delimited {
        Format::Csv
    } else if ends(&[".libsvm", ".svm", ".svmlight"]) || libsvm::looks_like_libsvm(start) {
        Format::Libsvm
    } else if ends(&[".npy"]) {
        Format::Npy
    } else if ends(&[".npz"]) {
        Format::Npz
    } else if ends(&[".parquet", ".pq"]) {
        Format::Parquet
    } else if ends(&[".arrow", ".feather", ".ipc"]) {
        Format::Arrow
    } else {
        Format::Csv
    }
}

/// A column of any table as a column of its own.
pub(crate) fn as_column(table: &Table, column: usize) -> Column {
    use gatewood::encode::{Codes, Numbers, Value};
    if let Some(column) = table.column(column) {
        return column.clone();
    }
    let codes: Codes = (0..table.rows())
        .map(|row| match table.value(row, column) {
            Value::Pixel(byte) => u32::from(byte),
            Value::Bit(bit) => u32::from(bit),
            _ => 0,
        })
        .collect();
    Column::Number(Numbers::Coded { codes, values: (0..256).map(f64::from).collect() })
}
