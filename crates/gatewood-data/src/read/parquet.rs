//! Apache Parquet files, a batch of a column at a time.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use gatewood::encode::Table;
use gatewood::{Error, Result};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::sink::Sink;

/// Values read at a time.
const BATCH: usize = 1 << 14;

/// Reads a Parquet file. Nested columns are refused by name.
pub(crate) fn read_parquet<R: ChunkReader + 'static>(file: R) -> Result<Table> {
    // The reader we stand on is not proof against every damaged file.
    quietly(|| read(file)).unwrap_or_else(|| Err(Error::file("the Parquet file is damaged")))
}

thread_local! {
    /// Whether a panic of this thread is caught, and so none of the user's business.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs what may panic; `None` when it did. Nothing is printed.
fn quietly<T>(run: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                usual(panic);
            }
        }));
    });
    QUIET.set(true);
    let done = catch_unwind(AssertUnwindSafe(run));
    QUIET.set(false);
    done.ok()
}

fn damaged(error: ParquetError) -> Error {
    Error::file(format!("the Parquet file cannot be read: {error}"))
}

fn read<R: ChunkReader + 'static>(file: R) -> Result<Table> {
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let mut columns = Vec::new();
    for column in schema.columns() {
        let (kind, name) = (Kind::of(column)?, column.path().string());
        columns.push((name, kind, kind.sink()));
    }
    let mut rows = 0usize;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(damaged)?;
        let count = usize::try_from(group.metadata().num_rows()).unwrap_or(usize::MAX);
        rows = rows.saturating_add(count);
        if rows > u32::MAX as usize {
            return Err(Error::too_large(format!("more than {} rows", u32::MAX)));
        }
        for (index, (name, kind, sink)) in columns.iter_mut().enumerate() {
            let chunk = group.get_column_reader(index).map_err(damaged)?;
            let missing = schema.column(index).max_def_level();
            let read = read_chunk(chunk, missing, count, *kind, sink);
            read.map_err(|error| error.at(format_args!("column \"{name}\"")))?;
        }
    }
    if rows == 0 {
        return Err(Error::file("there are no rows in it"));
    }
    Table::new(columns.into_iter().map(|(name, _, sink)| (name, sink.finish())).collect())
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Number,
    Single,
    /// Whole numbers to be divided.
    Decimal(f64),
    Unsigned,
    /// Units in a second.
    Date(f64),
    Text,
}

impl Kind {
    fn of(column: &ColumnDescriptor) -> Result<Self> {
        let refused = |what: &str| {
            Error::file(format!(
                "column \"{}\" holds {what}, which cannot be encoded",
                column.path().string()
            ))
        };
        if column.max_rep_level() > 0 {
            return Err(refused("lists"));
        }
        let text = matches!(
            column.logical_type_ref(),
            Some(LogicalType::String | LogicalType::Enum | LogicalType::Json)
        ) || matches!(
            column.converted_type(),
            ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON
        );
        Ok(match (column.physical_type(), column.logical_type_ref()) {
            (Type::BOOLEAN, _) => Self::Text,
            (Type::INT32, Some(LogicalType::Date)) => Self::Date(1.0 / 86_400.0),
            (Type::INT32, _) if column.converted_type() == ConvertedType::DATE => Self::Date(1.0 / 86_400.0),
            (Type::INT64, Some(LogicalType::Timestamp(moment))) => Self::Date(match moment.unit {
                TimeUnit::MILLIS => 1e3,
                TimeUnit::MICROS => 1e6,
                TimeUnit::NANOS => 1e9,
            }),
            (Type::INT64, _) if column.converted_type() == ConvertedType::TIMESTAMP_MILLIS => Self::Date(1e3),
            (Type::INT64, _) if column.converted_type() == ConvertedType::TIMESTAMP_MICROS => Self::Date(1e6),
            (Type::INT96, _) => Self::Date(1e3),
            (Type::INT32 | Type::INT64, Some(LogicalType::Decimal(decimal))) => {
                Self::Decimal(10f64.powi(decimal.scale))
            }
            (Type::INT32 | Type::INT64, Some(LogicalType::Integer(integer))) if !integer.is_signed => {
                Self::Unsigned
            }
            (Type::INT32 | Type::INT64, _) => match column.converted_type() {
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64 => Self::Unsigned,
                _ => Self::Number,
            },
            (Type::FLOAT, _) => Self::Single,
            (Type::DOUBLE, _) => Self::Number,
            (Type::BYTE_ARRAY, _) if text => Self::Text,
            (Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY, _) => {
                return Err(refused("bytes or large decimals"));
            }
        })
    }

    fn sink(self) -> Sink {
        match self {
            Self::Number | Self::Unsigned | Self::Decimal(_) => Sink::F64(Vec::new()),
            Self::Single => Sink::F32(Vec::new()),
            Self::Date(_) => Sink::Date(Vec::new()),
            Self::Text => Sink::text(),
        }
    }

    fn number(self, value: i64) -> f64 {
        match self {
            Self::Date(per_second) => value as f64 / per_second,
            Self::Decimal(scale) => value as f64 / scale,
            Self::Unsigned => value as u64 as f64,
            _ => value as f64,
        }
    }
}

/// Reads the values that a column has in one group of rows.
fn read_chunk(chunk: ColumnReader, defined: i16, rows: usize, kind: Kind, sink: &mut Sink) -> Result<()> {
    let not_text = || Error::file("a text is not UTF-8, or holds a NUL");
    match chunk {
        ColumnReader::BoolColumnReader(reader) => {
            numbers(reader, defined, rows, sink, |&value| f64::from(u8::from(value)))
        }
        ColumnReader::Int32ColumnReader(reader) => numbers(reader, defined, rows, sink, |&value| {
            kind.number(if kind == Kind::Unsigned { i64::from(value as u32) } else { i64::from(value) })
        }),
        ColumnReader::Int64ColumnReader(reader) => {
            numbers(reader, defined, rows, sink, |&value| kind.number(value))
        }
        ColumnReader::Int96ColumnReader(reader) => {
            numbers(reader, defined, rows, sink, |value| kind.number(value.to_millis()))
        }
        ColumnReader::FloatColumnReader(reader) => {
            numbers(reader, defined, rows, sink, |&value| value.into())
        }
        ColumnReader::DoubleColumnReader(reader) => numbers(reader, defined, rows, sink, |&value| value),
        ColumnReader::ByteArrayColumnReader(reader) => each(reader, defined, rows, sink, |sink, value| {
            let text = std::str::from_utf8(value.data()).map_err(|_| not_text())?;
            sink.string(text).ok_or_else(not_text)
        }),
        ColumnReader::FixedLenByteArrayColumnReader(_) => {
            Err(Error::file("it holds bytes, which cannot be encoded"))
        }
    }
}

fn numbers<T: DataType>(
    reader: ColumnReaderImpl<T>,
    defined: i16,
    rows: usize,
    sink: &mut Sink,
    number: impl Fn(&T::T) -> f64,
) -> Result<()> {
    each(reader, defined, rows, sink, |sink, value| {
        sink.number(number(value));
        Ok(())
    })
}

fn each<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    defined: i16,
    rows: usize,
    sink: &mut Sink,
    push: impl Fn(&mut Sink, &T::T) -> Result<()>,
) -> Result<()> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let mut done = 0;
    while done < rows {
        levels.clear();
        values.clear();
        let wanted = BATCH.min(rows - done);
        sink.reserve(wanted)?;
        let (records, _, _) =
            reader.read_records(wanted, Some(&mut levels), None, &mut values).map_err(damaged)?;
        if records == 0 {
            return Err(Error::file(format!(
                "the Parquet file is damaged: {done} of {rows} values are there"
            )));
        }
        let mut present = values.iter();
        for record in 0..records {
            let is_there = defined == 0 || levels.get(record).is_some_and(|&level| level == defined);
            match is_there.then(|| present.next()).flatten() {
                Some(value) => push(sink, value)?,
                None => sink.missing(),
            }
        }
        done += records;
    }
    Ok(())
}
