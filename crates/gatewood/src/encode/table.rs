//! Raw rows, held by column.

use std::borrow::Cow;

use super::view::{StoreView, TableView};
use super::{Column, Kind, Value};
use crate::bits::BitMatrix;
use crate::text::{quote, short};
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
    pub(super) rows: usize,
    pub(super) store: Store,
    pub(super) names: Option<Vec<String>>,
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
        let rows = TableView::from_pixels(columns, &bytes)?.rows();
        Ok(Self { rows, store: Store::Pixels { columns, bytes }, names: None })
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

    /// The table as encoders read it.
    pub fn view(&self) -> TableView<'_> {
        let store = match &self.store {
            Store::Columns(columns) => StoreView::Columns(columns),
            Store::Pixels { columns, bytes } => StoreView::Pixels { columns: *columns, bytes },
            Store::Bits(bits) => StoreView::Bits(bits),
        };
        TableView::new(self.rows, store, self.names.as_deref())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.view().columns()
    }

    /// The name of a column.
    pub fn name(&self, column: usize) -> Cow<'_, str> {
        self.view().name(column)
    }

    /// Whether the columns have names of their own, and not only their positions.
    pub fn is_named(&self) -> bool {
        self.names.is_some()
    }

    /// What a column holds.
    pub fn kind(&self, column: usize) -> Kind {
        self.view().kind(column)
    }

    /// One value.
    pub fn value(&self, row: usize, column: usize) -> Value<'_> {
        self.view().value(row, column)
    }

    /// A column, where the table is made of columns.
    pub fn column(&self, column: usize) -> Option<&Column> {
        self.view().column(column)
    }

    /// The row-major bytes, where the table is made of pixels.
    pub fn pixels(&self) -> Option<&[u8]> {
        self.view().pixels()
    }

    /// The bits, where the table is made of ready bits.
    pub fn bits(&self) -> Option<&BitMatrix> {
        self.view().bits()
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
            let names: Vec<_> = (0..count.min(shown)).map(|index| short(&self.name(index))).collect();
            let more = if count > shown { format!(" and {} more", count - shown) } else { String::new() };
            Error::data(format!(
                "there is no column {} among the {count} columns: {}{more}",
                quote(column),
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
    /// When a row does not exist, or memory runs out.
    pub fn select_rows(&self, rows: &[usize]) -> Result<Self> {
        self.view().select_rows(rows)
    }
}
