//! numpy arrays: the NPY format, versions 1 to 3.

use std::io::Read;

use gatewood::bits::BitMatrix;
use gatewood::encode::{Column, Table};
use gatewood::{Error, Result, memory};

use super::bytes::{read_array, read_to_length};
use super::npy_header::{Header, Item};
use super::sink::Sink;

/// Columns an array may have.
const MOST_COLUMNS: usize = 1 << 24;

/// Bytes read at a time, rounded up to a whole row.
const PIECE: usize = 1 << 18;

/// An array as rows.
#[derive(Debug)]
pub(crate) struct Array {
    /// Number of dimensions; those after the first are the columns.
    pub(crate) dimensions: usize,
    pub(crate) rows: usize,
    pub(crate) data: Data,
}

/// The values of an array.
#[derive(Debug)]
pub(crate) enum Data {
    Columns(Vec<Column>),
    /// Row-major bytes of an array of two or more dimensions.
    Pixels {
        columns: usize,
        bytes: Vec<u8>,
    },
    Bits(BitMatrix),
}

impl Array {
    /// The array as a table without names.
    pub(crate) fn into_table(self) -> Result<Table> {
        match self.data {
            Data::Columns(columns) => Table::unnamed(columns),
            Data::Pixels { columns, bytes } => Table::from_pixels(columns, bytes),
            Data::Bits(bits) => Ok(Table::from_bits(bits)),
        }
    }
}

/// Reads one array; `ends` tells whether nothing may follow it.
pub(crate) fn read_npy(reader: &mut dyn Read, ends: bool) -> Result<Array> {
    let magic: [u8; 8] = read_array(reader, "the start of a numpy array")?;
    if magic[..6] != *b"\x93NUMPY" {
        return Err(Error::file("not a numpy array: it does not start with \\x93NUMPY"));
    }
    let length = match magic[6] {
        1 => u32::from(u16::from_le_bytes(read_array(reader, "the length of the header")?)),
        2 | 3 => u32::from_le_bytes(read_array(reader, "the length of the header")?),
        version => return Err(Error::file(format!("version {version} of the numpy format is not known"))),
    };
    if length > 1 << 20 {
        return Err(Error::file(format!("a header of {length} bytes is too long for a numpy array")));
    }
    let header =
        read_to_length(&mut reader.take(length.into()), length as usize, "the header of a numpy array")?;
    let header = Header::parse(&String::from_utf8_lossy(&header))?;
    let array = read_values(reader, &header)?;
    if ends && reader.read(&mut [0]).map_err(|error| Error::io(error.to_string()))? != 0 {
        return Err(Error::file(format!(
            "the file goes on after the {} values of the array",
            header.shown()
        )));
    }
    Ok(array)
}

fn read_values(reader: &mut dyn Read, header: &Header) -> Result<Array> {
    let too_large =
        || Error::too_large(format!("an array of {} values does not fit in memory", header.shown()));
    let Some((&rows, inner)) = header.shape.split_first() else {
        return Err(Error::file("the array is a single value, but rows are wanted"));
    };
    let columns =
        inner.iter().try_fold(1usize, |columns, &size| columns.checked_mul(size)).ok_or_else(too_large)?;
    if columns == 0 || rows == 0 {
        return Err(Error::file(format!("the array of {} values is empty", header.shown())));
    }
    if columns > MOST_COLUMNS || rows > u32::MAX as usize {
        return Err(too_large());
    }
    let size = header.item.size();
    columns.checked_mul(size).and_then(|bytes| bytes.checked_mul(rows)).ok_or_else(too_large)?;
    let fortran = header.fortran && inner.iter().any(|&size| size > 1);
    if fortran && inner.len() > 1 {
        return Err(Error::file("an array of more than two dimensions must be in C order"));
    }
    let mut values = Values { reader, header, done: 0, total: rows * columns, piece: Vec::new() };
    let dimensions = header.shape.len();
    let wide = dimensions > 1;
    let data = match header.item {
        Item::Unsigned(1) if wide => {
            Data::Pixels { columns, bytes: read_pixels(&mut values, rows, columns, fortran)? }
        }
        Item::Bool if wide && !fortran => Data::Bits(read_bits(&mut values, rows, columns)?),
        _ if fortran => {
            let columns = (0..columns).map(|_| {
                let mut sinks = vec![sink(header.item)];
                values.read(rows, 1, &mut sinks)?;
                Ok(sinks.remove(0).finish())
            });
            Data::Columns(columns.collect::<Result<_>>()?)
        }
        _ => {
            let mut sinks = Vec::new();
            values.read(rows, columns, &mut sinks)?;
            Data::Columns(sinks.into_iter().map(Sink::finish).collect())
        }
    };
    Ok(Array { dimensions, rows, data })
}

/// The values that are still to be read.
struct Values<'a> {
    reader: &'a mut dyn Read,
    header: &'a Header,
    done: usize,
    total: usize,
    piece: Vec<u8>,
}

impl Values<'_> {
    /// Reads this many values into `piece`.
    fn next(&mut self, count: usize) -> Result<()> {
        let wanted = count * self.header.item.size();
        self.piece.clear();
        let read = self.reader.take(wanted as u64).read_to_end(&mut self.piece);
        read.map_err(|error| Error::io(error.to_string()))?;
        if self.piece.len() < wanted {
            return Err(Error::file(format!(
                "the file ends after {} of the {} values of the array",
                self.done + self.piece.len() / self.header.item.size(),
                self.header.shown()
            )));
        }
        self.done += count;
        debug_assert!(self.done <= self.total);
        Ok(())
    }

    /// Reads rows of values, one sink a column; sinks are made once the first row is here.
    fn read(&mut self, rows: usize, columns: usize, sinks: &mut Vec<Sink>) -> Result<()> {
        let size = self.header.item.size();
        let together = (PIECE / (columns * size)).max(1);
        let mut row = 0;
        while row < rows {
            let count = together.min(rows - row);
            self.next(count * columns)?;
            if sinks.is_empty() {
                sinks.resize_with(columns, || sink(self.header.item));
            }
            sinks.iter_mut().try_for_each(|sink| sink.reserve(count))?;
            for (index, value) in self.piece.chunks_exact(size).enumerate() {
                let column = &mut sinks[if columns == 1 { 0 } else { index % columns }];
                push(column, value, self.header.item, self.header.big_endian).ok_or_else(|| {
                    Error::file(format!(
                        "row {}, column {}: the text is not valid",
                        row + index / columns + 1,
                        index % columns + 1
                    ))
                })?;
            }
            row += count;
        }
        Ok(())
    }
}

fn read_pixels(values: &mut Values<'_>, rows: usize, columns: usize, fortran: bool) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut left = rows * columns;
    while left > 0 {
        let count = left.min(PIECE);
        values.next(count)?;
        memory::reserve(&mut bytes, values.piece.len())?;
        bytes.extend_from_slice(&values.piece);
        left -= count;
    }
    if !fortran {
        return Ok(bytes);
    }
    memory::check(bytes.len())?;
    let mut turned = vec![0; bytes.len()];
    for (column, from) in bytes.chunks_exact(rows).enumerate() {
        from.iter().zip(turned[column..].iter_mut().step_by(columns)).for_each(|(&from, to)| *to = from);
    }
    Ok(turned)
}

fn read_bits(values: &mut Values<'_>, rows: usize, columns: usize) -> Result<BitMatrix> {
    let mut packed = Vec::new();
    for _ in 0..rows {
        values.next(columns)?;
        let pack = |eight: &[u8]| {
            eight.iter().enumerate().fold(0, |byte, (bit, &value)| byte | u8::from(value != 0) << bit)
        };
        memory::reserve(&mut packed, columns.div_ceil(8))?;
        packed.extend(values.piece.chunks(8).map(pack));
    }
    BitMatrix::from_packed_rows(rows, columns, &packed)
}

/// An empty column for values of this type.
fn sink(item: Item) -> Sink {
    match item {
        Item::Unsigned(1) => Sink::Bytes(Vec::new(), 0),
        Item::Signed(1) => Sink::Bytes(Vec::new(), 128),
        Item::Float(2 | 4) | Item::Signed(2) | Item::Unsigned(2) => Sink::F32(Vec::new()),
        Item::Float(_) | Item::Signed(_) | Item::Unsigned(_) => Sink::F64(Vec::new()),
        Item::Date { .. } => Sink::Date(Vec::new()),
        Item::Bool | Item::Unicode(_) | Item::Bytes(_) => Sink::text(),
    }
}

/// Appends one value; `None` when it is a text that is not valid.
fn push(sink: &mut Sink, value: &[u8], item: Item, big_endian: bool) -> Option<()> {
    match item {
        Item::Unicode(_) | Item::Bytes(_) => sink.string(&item.text(value, big_endian)?),
        _ => {
            sink.number(item.number(value, big_endian));
            Some(())
        }
    }
}
