//! Raw rows where they lie.

use std::borrow::Cow;

use super::table::Store;
use super::{Column, Kind, Table, Value};
use crate::bits::BitMatrix;
use crate::{Error, Result};

/// Raw rows that somebody else holds: a [`Table`], or the bytes of images. Encoders read these, so that rows need not be
/// copied to be encoded.
///
/// ```
/// use gatewood::encode::{EncodeSettings, Encoder, Table, TableView};
/// let bytes = [0, 50, 100, 150, 200, 250];
/// let lent = TableView::from_pixels(3, &bytes)?;
/// assert_eq!((lent.rows(), lent.columns()), (2, 3));
/// let (encoder, _) = Encoder::fit(lent, &EncodeSettings::default())?;
/// assert_eq!(encoder.transform(lent)?, encoder.transform(&Table::from_pixels(3, bytes.to_vec())?)?);
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct TableView<'a> {
    rows: usize,
    pub(super) store: StoreView<'a>,
    names: Option<&'a [String]>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum StoreView<'a> {
    Columns(&'a [Column]),
    /// Row-major bytes.
    Pixels {
        columns: usize,
        bytes: &'a [u8],
    },
    Bits(&'a BitMatrix),
}

impl<'a> From<&'a Table> for TableView<'a> {
    fn from(table: &'a Table) -> Self {
        table.view()
    }
}

impl<'a> TableView<'a> {
    pub(super) fn new(rows: usize, store: StoreView<'a>, names: Option<&'a [String]>) -> Self {
        Self { rows, store, names }
    }

    /// Row-major bytes of images, `columns` a row; columns are named `pixel_0`, `pixel_1`, ….
    ///
    /// # Errors
    /// When the bytes are not whole rows.
    pub fn from_pixels(columns: usize, bytes: &'a [u8]) -> Result<Self> {
        if columns == 0 || !bytes.len().is_multiple_of(columns) {
            return Err(Error::data(format!("{} bytes are not whole rows of {columns} pixels", bytes.len())));
        }
        Ok(Self::new(bytes.len() / columns, StoreView::Pixels { columns, bytes }, None))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self.store {
            StoreView::Columns(columns) => columns.len(),
            StoreView::Pixels { columns, .. } => columns,
            StoreView::Bits(bits) => bits.columns(),
        }
    }

    /// The name of a column.
    pub fn name(&self, column: usize) -> Cow<'a, str> {
        match (self.names, self.store) {
            (Some(names), _) => Cow::Borrowed(&names[column]),
            (None, StoreView::Pixels { .. }) => Cow::Owned(format!("pixel_{column}")),
            (None, StoreView::Bits(_)) => Cow::Owned(format!("bit_{column}")),
            (None, StoreView::Columns(_)) => Cow::Owned(format!("column_{}", column + 1)),
        }
    }

    /// Whether the columns have names of their own, and not only their positions.
    pub fn is_named(&self) -> bool {
        self.names.is_some()
    }

    /// What a column holds.
    pub fn kind(&self, column: usize) -> Kind {
        match self.store {
            StoreView::Columns(columns) => columns[column].kind(),
            StoreView::Pixels { .. } => Kind::Pixel,
            StoreView::Bits(_) => Kind::Bit,
        }
    }

    /// One value.
    pub fn value(&self, row: usize, column: usize) -> Value<'a> {
        match self.store {
            StoreView::Columns(columns) => columns[column].get(row),
            StoreView::Pixels { columns, bytes } => Value::Pixel(bytes[row * columns + column]),
            StoreView::Bits(bits) => Value::Bit(bits.get(row, column)),
        }
    }

    /// A column, where the rows are made of columns.
    pub fn column(&self, column: usize) -> Option<&'a Column> {
        match self.store {
            StoreView::Columns(columns) => columns.get(column),
            _ => None,
        }
    }

    /// The row-major bytes, where the rows are made of pixels.
    pub fn pixels(&self) -> Option<&'a [u8]> {
        match self.store {
            StoreView::Pixels { bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    /// The bits, where the rows are made of ready bits.
    pub fn bits(&self) -> Option<&'a BitMatrix> {
        match self.store {
            StoreView::Bits(bits) => Some(bits),
            _ => None,
        }
    }

    /// A table of the given rows of these, in that order.
    ///
    /// # Errors
    /// When a row does not exist, or memory runs out.
    pub fn select_rows(&self, rows: &[usize]) -> Result<Table> {
        if let Some(row) = rows.iter().find(|&&row| row >= self.rows) {
            return Err(Error::data(format!("there is no row {row}: there are {}", self.rows)));
        }
        let store = match self.store {
            StoreView::Columns(columns) => {
                Store::Columns(columns.iter().map(|column| column.select(rows)).collect())
            }
            StoreView::Pixels { columns, bytes } => {
                let mut selected = Vec::with_capacity(rows.len() * columns);
                for &row in rows {
                    selected.extend_from_slice(&bytes[row * columns..][..columns]);
                }
                Store::Pixels { columns, bytes: selected }
            }
            StoreView::Bits(bits) => Store::Bits(bits.select_rows(rows)?),
        };
        Ok(Table { rows: rows.len(), store, names: self.names.map(<[String]>::to_vec) })
    }
}
