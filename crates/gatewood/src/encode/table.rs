//! Raw rows, held by column.

use std::borrow::Cow;

use super::{Column, Kind, Value};
use crate::bits::BitMatrix;
use crate::{Error, Result};

/// Raw rows as they came in: named columns of one length, or a block of pixels, or bits that are ready.
///
/// ```
/// use gatewood::encode::{Column, Numbers, Table, Texts, Value};
/// let age = Column::Number(Numbers::F64(vec![39.0, 50.0, f64::NAN]));
/// let work = Column::Text(Texts::from_rows([Some("State"), Some("Private"), None]));
/// let table = Table::new(vec![("age".into(), age), ("work".into(), work)])?;
/// assert_eq!((table.rows(), table.columns()), (3, 2));
/// assert_eq!(table.value(1, 1), Value::Text("Private"));
/// assert_eq!(table.value(2, 0), Value::Missing);
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    rows: usize,
    pub(super) store: Store,
    names: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Store {
    Columns(Vec<Column>),
    /// Row-major bytes.
    Pixels {
        columns: usize,
        bytes: Vec<u8>,
    },
    Bits(BitMatrix),
}

impl Table {
    /// From named columns.
    ///
    /// # Errors
    /// When the columns are not of one length, or two have one name.
    pub fn new(columns: Vec<(String, Column)>) -> Result<Self> {
        let rows = columns.first().map_or(0, |(_, column)| column.len());
        if let Some((name, column)) = columns.iter().find(|(_, column)| column.len() != rows) {
            return Err(Error::data(format!(
                "column \"{name}\" has {} rows, but column \"{}\" has {rows}",
                column.len(),
                columns[0].0
            )));
        }
        let (names, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        Self { rows, store: Store::Columns(columns), names: None }.with_names(names)
    }

    /// From columns without names of their own: they are `column_1`, `column_2`, …, also after one was taken out.
    ///
    /// # Errors
    /// When the columns are not of one length.
    pub fn unnamed(columns: Vec<Column>) -> Result<Self> {
        let named =
            columns.into_iter().enumerate().map(|(index, column)| (format!("column_{}", index + 1), column));
        Ok(Self { names: None, ..Self::new(named.collect())? })
    }

    /// From row-major bytes of images, `columns` a row. Columns are named `pixel_0`, `pixel_1`, … until
    /// [`Table::with_names`].
    ///
    /// # Errors
    /// When the bytes are not whole rows.
    pub fn from_pixels(columns: usize, bytes: Vec<u8>) -> Result<Self> {
        if columns == 0 || !bytes.len().is_multiple_of(columns) {
            return Err(Error::data(format!("{} bytes are not whole rows of {columns} pixels", bytes.len())));
        }
        Ok(Self { rows: bytes.len() / columns, store: Store::Pixels { columns, bytes }, names: None })
    }

    /// From bits that are ready for use. Columns are named `bit_0`, `bit_1`, … until [`Table::with_names`].
    pub fn from_bits(bits: BitMatrix) -> Self {
        Self { rows: bits.rows(), store: Store::Bits(bits), names: None }
    }

    /// The same table under other names.
    ///
    /// # Errors
    /// When their number is not that of the columns, or two are equal.
    pub fn with_names(mut self, names: Vec<String>) -> Result<Self> {
        if names.len() != self.columns() {
            return Err(Error::data(format!("{} names for {} columns", names.len(), self.columns())));
        }
        let mut sorted: Vec<_> = names.iter().collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::data(format!("two columns are named \"{}\"", pair[0])));
        }
        self.names = Some(names);
        Ok(self)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        match &self.store {
            Store::Columns(columns) => columns.len(),
            Store::Pixels { columns, .. } => *columns,
            Store::Bits(bits) => bits.columns(),
        }
    }

    /// The name of a column.
    pub fn name(&self, column: usize) -> Cow<'_, str> {
        match (&self.names, &self.store) {
            (Some(names), _) => Cow::Borrowed(&names[column]),
            (None, Store::Pixels { .. }) => Cow::Owned(format!("pixel_{column}")),
            (None, Store::Bits(_)) => Cow::Owned(format!("bit_{column}")),
            (None, Store::Columns(_)) => Cow::Owned(format!("column_{}", column + 1)),
        }
    }

    /// Whether the columns have names of their own, and not only their positions.
    pub fn is_named(&self) -> bool {
        self.names.is_some()
    }

    /// What a column holds.
    pub fn kind(&self, column: usize) -> Kind {
        match &self.store {
            Store::Columns(columns) => columns[column].kind(),
            Store::Pixels { .. } => Kind::Pixel,
            Store::Bits(_) => Kind::Bit,
        }
    }

    /// One value.
    pub fn value(&self, row: usize, column: usize) -> Value<'_> {
        match &self.store {
            Store::Columns(columns) => columns[column].get(row),
            Store::Pixels { columns, bytes } => Value::Pixel(bytes[row * columns + column]),
            Store::Bits(bits) => Value::Bit(bits.get(row, column)),
        }
    }

    /// A column, where the table is made of columns.
    pub fn column(&self, column: usize) -> Option<&Column> {
        match &self.store {
            Store::Columns(columns) => columns.get(column),
            _ => None,
        }
    }

    /// The row-major bytes, where the table is made of pixels.
    pub fn pixels(&self) -> Option<&[u8]> {
        match &self.store {
            Store::Pixels { bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    /// The bits, where the table is made of ready bits.
    pub fn bits(&self) -> Option<&BitMatrix> {
        match &self.store {
            Store::Bits(bits) => Some(bits),
            _ => None,
        }
    }

    /// The column with this name, or else at this position: from 1 for the first, or from -1 for the last.
    ///
    /// # Errors
    /// When there is no such column; the message lists those there are.
    pub fn find(&self, column: &str) -> Result<usize> {
        let count = self.columns();
        if let Some(found) = (0..count).find(|&index| self.name(index) == column) {
            return Ok(found);
        }
        let position = match column.parse::<i64>() {
            Ok(n @ 1..) => usize::try_from(n - 1).ok(),
            Ok(n @ ..=-1) => usize::try_from(n.unsigned_abs()).ok().and_then(|back| count.checked_sub(back)),
            _ => None,
        };
        position.filter(|&position| position < count).ok_or_else(|| {
            let shown = 20;
            let names: Vec<_> = (0..count.min(shown)).map(|index| self.name(index)).collect();
            let more = if count > shown { format!(" and {} more", count - shown) } else { String::new() };
            Error::data(format!(
                "there is no column \"{column}\" among the {count} columns: {}{more}",
                names.join(", ")
            ))
        })
    }

    /// Takes a column out of a table made of columns, for instance the label.
    ///
    /// # Errors
    /// When the table is pixels or bits, or has no such column.
    pub fn take_column(&mut self, column: usize) -> Result<(String, Column)> {
        let Store::Columns(columns) = &mut self.store else {
            return Err(Error::data("a table of pixels or bits has no column to take out"));
        };
        if column >= columns.len() {
            return Err(Error::data(format!("there is no column {column}: there are {}", columns.len())));
        }
        let taken = columns.remove(column);
        let name = match &mut self.names {
            Some(names) => names.remove(column),
            None => format!("column_{}", column + 1),
        };
        Ok((name, taken))
    }

    /// A table of the given rows of this one, in that order.
    ///
    /// # Errors
    /// When a row does not exist, or the memory is not to be had.
    pub fn select_rows(&self, rows: &[usize]) -> Result<Self> {
        if let Some(row) = rows.iter().find(|&&row| row >= self.rows) {
            return Err(Error::data(format!("there is no row {row}: there are {}", self.rows)));
        }
        let store = match &self.store {
            Store::Columns(columns) => {
                Store::Columns(columns.iter().map(|column| column.select(rows)).collect())
            }
            Store::Pixels { columns, bytes } => {
                let mut selected = Vec::with_capacity(rows.len() * columns);
                for &row in rows {
                    selected.extend_from_slice(&bytes[row * columns..][..*columns]);
                }
                Store::Pixels { columns: *columns, bytes: selected }
            }
            Store::Bits(bits) => Store::Bits(bits.select_rows(rows)?),
        };
        Ok(Self { rows: rows.len(), store, names: self.names.clone() })
    }
}
