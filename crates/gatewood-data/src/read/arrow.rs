//! Apache Arrow data: the file and the stream of record batches, read from front to back.

use std::collections::HashMap;
use std::io::{BufRead, Read};

use gatewood::encode::Table;
use gatewood::{Error, Result, memory};

use super::arrow_schema::{Field, Values, fields};
use super::bytes::{read_array, read_whole};
use super::flatbuffer::{FlatTable, FlatVector};
use super::sink::Sink;

/// Rows or columns there may be.
const MOST: usize = u32::MAX as usize;

/// One value of a column.
#[derive(Debug, Clone)]
enum Item {
    Missing,
    Number(f64),
    Text(String),
}

/// Reads Arrow data.
pub(crate) fn read_arrow(reader: &mut dyn BufRead) -> Result<Table> {
    let is_file = reader.fill_buf().map_err(|error| Error::io(error.to_string()))?.starts_with(b"ARROW1");
    if is_file {
        let _: [u8; 8] = read_array(reader, "the start of Arrow data")?;
    }
    let mut columns: Option<Vec<(Field, Sink)>> = None;
    let mut dictionaries: HashMap<i64, Vec<Item>> = HashMap::new();
    let mut rows = 0;
    while let Some(metadata) = next_message(reader)? {
        let message = FlatTable::root(&metadata)?;
        let header = message.table(2)?.ok_or_else(|| damaged("a message without content"))?;
        let length = u64::try_from(message.i64(3)?).map_err(|_| damaged("a negative length"))?;
        let mut body = Vec::new();
        read_whole(&mut { &mut *reader }.take(length), &mut body)?;
        if (body.len() as u64) < length {
            return Err(Error::file(format!(
                "the file ends after {} of {length} bytes of a batch",
                body.len()
            )));
        }
        match (message.u8(1)?, &mut columns) {
            (1, None) => {
                columns = Some(
                    fields(header)?
                        .into_iter()
                        .map(|field| {
                            let sink = field.values.sink();
                            (field, sink)
                        })
                        .collect(),
                );
            }
            (2, Some(columns)) => {
                let id = header.i64(0)?;
                let field =
                    columns.iter().find(|(field, _)| field.dictionary.is_some_and(|(other, _)| other == id));
                let values = field.ok_or_else(|| damaged("a dictionary of no column"))?.0.values;
                let data = header.table(1)?.ok_or_else(|| damaged("a dictionary without values"))?;
                let mut batch = Batch::new(data, &body)?;
                let items = batch.items(values, None)?;
                if header.u8(2)? != 0 {
                    dictionaries.entry(id).or_default().extend(items);
                } else {
                    dictionaries.insert(id, items);
                }
            }
            (3, Some(columns)) => {
                let mut batch = Batch::new(header, &body)?;
                rows += batch.rows;
                if rows > MOST {
                    return Err(Error::too_large(format!("more than {MOST} rows")));
                }
                for (field, sink) in columns {
                    add(field, sink, &mut batch, &dictionaries)
                        .map_err(|error| error.at(format_args!("column \"{}\"", field.name)))?;
                }
            }
            (1, Some(_)) => return Err(damaged("a second schema")),
            (2 | 3, None) => return Err(damaged("no schema before the data")),
            (other, _) => return Err(damaged(&format!("a message of kind {other}"))),
        }
    }
    let columns = columns.ok_or_else(|| Error::file("there is nothing in it"))?;
    if rows == 0 {
        return Err(Error::file("there are no rows in it"));
    }
    Table::new(columns.into_iter().map(|(field, sink)| (field.name, sink.finish())).collect())
}

fn damaged(what: &str) -> Error {
    Error::file(format!("the Arrow data is damaged: {what}"))
}

/// The description of the next message; nothing at the end.
fn next_message(reader: &mut dyn BufRead) -> Result<Option<Vec<u8>>> {
    let mut start = Vec::new();
    read_whole(&mut { &mut *reader }.take(4), &mut start)?;
    // A stream may just stop.
    let Ok(start) = <[u8; 4]>::try_from(start) else { return Ok(None) };
    let length = match u32::from_le_bytes(start) {
        u32::MAX => u32::from_le_bytes(read_array(reader, "the length of a message")?),
        length => length,
    };
    if length == 0 {
        return Ok(None);
    }
    let mut metadata = Vec::new();
    read_whole(&mut { &mut *reader }.take(length.into()), &mut metadata)?;
    if metadata.len() < length as usize {
        return Err(Error::file(format!(
            "the file ends after {} of {length} bytes of a message",
            metadata.len()
        )));
    }
    Ok(Some(metadata))
}

/// Adds a batch's values to a column.
fn add(
    field: &Field,
    sink: &mut Sink,
    batch: &mut Batch<'_>,
    dictionaries: &HashMap<i64, Vec<Item>>,
) -> Result<()> {
    let Some((id, positions)) = field.dictionary else {
        batch.items(field.values, Some(sink))?;
        return Ok(());
    };
    let dictionary = dictionaries.get(&id).ok_or_else(|| damaged("no dictionary before its column"))?;
    for position in batch.items(positions, None)? {
        let item = match position {
            Item::Number(position) => dictionary.get(position as usize).filter(|_| position >= 0.0),
            _ => Some(&Item::Missing),
        };
        push(sink, item.cloned().ok_or_else(|| damaged("a position outside the dictionary"))?)?;
    }
    Ok(())
}

fn push(sink: &mut Sink, item: Item) -> Result<()> {
    match item {
        Item::Missing => sink.missing(),
        Item::Number(number) => sink.number(number),
        Item::Text(text) => sink.string(&text).ok_or_else(|| Error::file("a text holds a NUL"))?,
    }
    Ok(())
}

/// A record batch while its columns are taken one after the other.
struct Batch<'a> {
    rows: usize,
    body: &'a [u8],
    nodes: FlatVector<'a>,
    buffers: FlatVector<'a>,
    /// How many buffers each column of views has beyond the first two.
    variadic: FlatVector<'a>,
    compression: Option<u8>,
    next: [usize; 3],
}

impl<'a> Batch<'a> {
    fn new(header: FlatTable<'a>, body: &'a [u8]) -> Result<Self> {
        let rows = usize::try_from(header.i64(0)?).ok().filter(|&rows| rows <= MOST);
        Ok(Self {
            rows: rows.ok_or_else(|| damaged("a batch of too many rows"))?,
            body,
            nodes: header.vector(1, 16)?,
            buffers: header.vector(2, 16)?,
            variadic: header.vector(4, 8)?,
            compression: header.table(3)?.map(|compression| compression.u8(0)).transpose()?,
            next: [0; 3],
        })
    }

    /// The next buffer, unpacked.
    fn buffer(&mut self) -> Result<Vec<u8>> {
        let index = self.next[1];
        self.next[1] += 1;
        if index >= self.buffers.len() {
            return Err(damaged("fewer buffers than the columns need"));
        }
        let (start, length) = (self.buffers.i64(2 * index)?, self.buffers.i64(2 * index + 1)?);
        let slice = usize::try_from(start)
            .ok()
            .zip(usize::try_from(length).ok())
            .and_then(|(start, length)| self.body.get(start..start.checked_add(length)?));
        let bytes = slice.ok_or_else(|| damaged("a buffer outside its batch"))?;
        match self.compression {
            Some(codec) if !bytes.is_empty() => unpack(bytes, codec),
            _ => Ok(bytes.to_vec()),
        }
    }

    /// The next column: into the sink, or as a list.
    fn items(&mut self, values: Values, sink: Option<&mut Sink>) -> Result<Vec<Item>> {
        let node = self.next[0];
        self.next[0] += 1;
        if node >= self.nodes.len() || usize::try_from(self.nodes.i64(2 * node)?) != Ok(self.rows) {
            return Err(damaged("a column of another length than its batch"));
        }
        let mut list = Vec::new();
        let mut sink = sink;
        match &mut sink {
            Some(sink) => sink.reserve(self.rows)?,
            None => memory::reserve(&mut list, self.rows)?,
        }
        let mut emit: Box<dyn FnMut(Item) -> Result<()>> = match sink {
            Some(sink) => Box::new(|item| push(sink, item)),
            None => Box::new(|item| {
                list.push(item);
                Ok(())
            }),
        };
        let mut buffers = (0..values.buffers()).map(|_| self.buffer()).collect::<Result<Vec<_>>>()?;
        if values == Values::TextView {
            let index = self.next[2];
            self.next[2] += 1;
            if index >= self.variadic.len() {
                return Err(damaged("a column of views without a number of buffers"));
            }
            for _ in 0..self.variadic.i64(index)? {
                let buffer = self.buffer()?;
                buffers.push(buffer);
            }
        }
        for row in 0..self.rows {
            let is_null = values == Values::Null
                || buffers[0].get(row / 8).is_some_and(|byte| byte >> (row % 8) & 1 == 0);
            emit(if is_null { Item::Missing } else { item(values, &buffers, row)? })?;
        }
        drop(emit);
        Ok(list)
    }
}

/// The value of one row.
fn item(values: Values, buffers: &[Vec<u8>], row: usize) -> Result<Item> {
    let short = || damaged("a buffer that is too short");
    let number = |size: usize| {
        let bytes = buffers[1].get(row * size..(row + 1) * size).ok_or_else(short)?;
        Ok::<u64, Error>(bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)))
    };
    let signed = |size: usize| {
        let unused = 64 - 8 * size as u32;
        Ok::<i64, Error>((number(size)? << unused) as i64 >> unused)
    };
    let text = |bytes: Option<&[u8]>| {
        let text =
            std::str::from_utf8(bytes.ok_or_else(short)?).map_err(|_| damaged("a text that is not UTF-8"))?;
        Ok::<Item, Error>(Item::Text(text.to_owned()))
    };
    Ok(match values {
        Values::Null => Item::Missing,
        Values::Bool => {
            let byte = buffers[1].get(row / 8).ok_or_else(short)?;
            Item::Number(f64::from(byte >> (row % 8) & 1))
        }
        Values::Signed(size) => Item::Number(signed(size)? as f64),
        Values::Unsigned(size) => Item::Number(number(size)? as f64),
        Values::Float(2) => Item::Number(super::npy_header::half(number(2)? as u16)),
        Values::Float(4) => Item::Number(f32::from_bits(number(4)? as u32).into()),
        Values::Float(_) => Item::Number(f64::from_bits(number(8)?)),
        Values::Date { size, per_second, seconds } => {
            Item::Number(signed(size)? as f64 * f64::from(seconds) / f64::from(per_second))
        }
        Values::Text(size) => {
            let offset = |row: usize| {
                let bytes = buffers[1].get(row * size..(row + 1) * size).ok_or_else(short)?;
                Ok::<usize, Error>(bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | usize::from(byte)))
            };
            text(buffers[2].get(offset(row)?..offset(row + 1)?))?
        }
        Values::TextView => {
            let view = buffers[1].get(row * 16..(row + 1) * 16).ok_or_else(short)?;
            let part =
                |at: usize| u32::from_le_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]]) as usize;
            let length = part(0);
            if length <= 12 {
                text(view.get(4..4 + length))?
            } else {
                text(buffers.get(2 + part(8)).and_then(|data| data.get(part(12)..)?.get(..length)))?
            }
        }
    })
}

/// Unpacks a buffer: its plain length, then LZ4 or zstandard.
fn unpack(bytes: &[u8], codec: u8) -> Result<Vec<u8>> {
    let (length, packed) =
        bytes.split_first_chunk::<8>().ok_or_else(|| damaged("a packed buffer without a length"))?;
    let length = match i64::from_le_bytes(*length) {
        -1 => return Ok(packed.to_vec()),
        length => u64::try_from(length).map_err(|_| damaged("a negative length"))?,
    };
    let mut plain = Vec::new();
    let wrong = |error: String| damaged(&format!("a packed buffer ({error})"));
    let read = match codec {
        0 => read_whole(&mut lz4_flex::frame::FrameDecoder::new(packed).take(length), &mut plain),
        1 => {
            let frame =
                ruzstd::decoding::StreamingDecoder::new(packed).map_err(|error| wrong(error.to_string()))?;
            read_whole(&mut frame.take(length), &mut plain)
        }
        other => return Err(damaged(&format!("packed by method {other}"))),
    };
    read.map_err(|error| if error.is_too_large() { error } else { wrong(error.to_string()) })?;
    if (plain.len() as u64) < length {
        return Err(damaged("a packed buffer that is cut short"));
    }
    Ok(plain)
}
