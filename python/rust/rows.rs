//! Rows as Python hands them over: a table, or images or packed bits that stay where they are.

use gatewood::bits::BitView;
use gatewood::encode::TableView;
use gatewood::model;
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::raise;
use crate::table::Table;

/// A [`Table`], an array of pixels (a row a row), or a pair of packed words (one row of the array per column of bits)
/// and the number of rows.
#[derive(FromPyObject)]
pub enum Rows<'py> {
    /// Raw columns.
    Table(Bound<'py, Table>),
    /// Images, borrowed from NumPy.
    Pixels(PyReadonlyArray2<'py, u8>),
    /// Packed bits, borrowed from NumPy.
    Bits(PyReadonlyArray2<'py, u64>, usize),
}

impl Rows<'_> {
    /// The rows as the library takes them; nothing is copied.
    pub fn borrow(&self) -> PyResult<model::Rows<'_>> {
        Ok(match self {
            Self::Table(table) => model::Rows::Raw(table.get().inner().view()),
            Self::Pixels(pixels) => {
                let (_, columns) = shape(pixels)?;
                model::Rows::Raw(TableView::from_pixels(columns, pixels.as_slice()?).map_err(raise)?)
            }
            Self::Bits(words, rows) => {
                let (columns, stride) = shape(words)?;
                let bits = BitView::new(*rows, columns, stride, words.as_slice()?).map_err(raise)?;
                model::Rows::Bits(bits)
            }
        })
    }
}

/// The shape of an array whose elements lie in the order of its rows.
fn shape<T: numpy::Element>(array: &PyReadonlyArray2<'_, T>) -> PyResult<(usize, usize)> {
    // The slice of an array in Fortran order would have its values in the wrong places.
    match *array.shape() {
        [first, second] if array.is_c_contiguous() => Ok((first, second)),
        _ => Err(PyValueError::new_err("pixels and packed bits must lie in C order, in two dimensions")),
    }
}
