//! The schema of Arrow data: the columns and what they hold.

use gatewood::{Error, Result};

use super::flatbuffer::FlatTable;
use super::sink::Sink;

/// One column.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) values: Values,
    /// The number of the dictionary, and the type of the positions in it.
    pub(crate) dictionary: Option<(i64, Values)>,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    Null,
    Bool,
    Signed(usize),
    Unsigned(usize),
    Float(usize),
    /// A moment of this many bytes, in units of which there are `per_second`, or of `seconds` each.
    Date {
        size: usize,
        per_second: u32,
        seconds: u32,
    },
    /// Text with offsets of this many bytes.
    Text(usize),
    /// Text in views of 16 bytes.
    TextView,
}

impl Values {
    /// Buffers of a column, without those of [`Values::TextView`] whose number varies.
    pub(crate) fn buffers(self) -> usize {
        match self {
            Self::Null => 0,
            Self::Text(_) => 3,
            _ => 2,
        }
    }

    /// An empty column.
    pub(crate) fn sink(self) -> Sink {
        match self {
            Self::Signed(1) => Sink::Bytes(Vec::new(), 128),
            Self::Unsigned(1) => Sink::Bytes(Vec::new(), 0),
            Self::Signed(2) | Self::Unsigned(2) | Self::Float(2 | 4) => Sink::F32(Vec::new()),
            Self::Signed(_) | Self::Unsigned(_) | Self::Float(_) => Sink::F64(Vec::new()),
            Self::Date { .. } => Sink::Date(Vec::new()),
            Self::Null | Self::Bool | Self::Text(_) | Self::TextView => Sink::text(),
        }
    }

    fn of(kind: u8, table: FlatTable<'_>, name: &str) -> Result<Self> {
        let refused =
            |what: &str| Error::file(format!("column \"{name}\" holds {what}, which cannot be encoded"));
        Ok(match kind {
            1 => Self::Null,
            2 => {
                let size = match table.i32(0)? {
                    bits @ (8 | 16 | 32 | 64) => bits as usize / 8,
                    bits => return Err(refused(&format!("whole numbers of {bits} bits"))),
                };
                if table.u8(1)? != 0 { Self::Signed(size) } else { Self::Unsigned(size) }
            }
            3 => Self::Float(match table.i16(0, 0)? {
                0 => 2,
                1 => 4,
                2 => 8,
                other => return Err(refused(&format!("numbers of precision {other}"))),
            }),
            5 => Self::Text(4),
            6 => Self::Bool,
            8 if table.i16(0, 1)? == 0 => Self::Date { size: 4, per_second: 1, seconds: 86_400 },
            8 => Self::Date { size: 8, per_second: 1000, seconds: 1 },
            10 => {
                let per_second = match table.i16(0, 0)? {
                    0 => 1,
                    1 => 1000,
                    2 => 1_000_000,
                    3 => 1_000_000_000,
                    unit => return Err(refused(&format!("moments in units of kind {unit}"))),
                };
                Self::Date { size: 8, per_second, seconds: 1 }
            }
            20 => Self::Text(8),
            24 => Self::TextView,
            4 | 19 | 23 => return Err(refused("bytes")),
            7 => return Err(refused("decimals: turn them into floating-point numbers")),
            9 | 11 | 18 => return Err(refused("times or intervals")),
            12 | 13 | 14 | 16 | 17 | 21 | 22 => return Err(refused("nested values")),
            other => return Err(refused(&format!("values of kind {other}"))),
        })
    }
}

/// The columns of a schema.
pub(crate) fn fields(schema: FlatTable<'_>) -> Result<Vec<Field>> {
    if schema.i16(0, 0)? != 0 {
        return Err(Error::file("the Arrow data is big-endian, which is not read"));
    }
    schema.vector(1, 4)?.tables().map(|field| read_field(field?)).collect()
}

fn read_field(field: FlatTable<'_>) -> Result<Field> {
    let damaged = || Error::file("the description of the data is damaged");
    let name = field.text(0)?;
    let values = Values::of(field.u8(2)?, field.table(3)?.ok_or_else(damaged)?, &name)?;
    let dictionary = match field.table(4)? {
        None => None,
        Some(encoding) => {
            let positions = match encoding.table(1)? {
                Some(positions) => Values::of(2, positions, &name)?,
                None => Values::Signed(4),
            };
            Some((encoding.i64(0)?, positions))
        }
    };
    Ok(Field { name, values, dictionary })
}
