//! Rows as Python hands them over: a table, or images or packed bits that stay where they are.

use gatewood::bits::BitView;
use gatewood::encode::{Row, TableView};
use gatewood::model;
use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
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

/// A few rows of numbers, pixels or bits as they lie in a NumPy array.
pub enum Few<'py> {
    /// Numbers, gaps NaN.
    Numbers(PyReadonlyArray2<'py, f64>),
    /// Images.
    Pixels(PyReadonlyArray2<'py, u8>),
    /// Ready bits.
    Bits(PyReadonlyArray2<'py, bool>),
}

impl<'py> Few<'py> {
    /// The rows of an array; nothing where it is another kind of array, or one whose numbers lie across words.
    pub fn read(array: &Bound<'py, PyAny>) -> Option<Self> {
        if let Ok(numbers) = array.cast::<PyArray2<f64>>() {
            let step = size_of::<f64>();
            let is_aligned = numbers.data().is_aligned()
                && numbers.strides().iter().all(|stride| stride.unsigned_abs().is_multiple_of(step));
            return numbers.try_readonly().ok().filter(|_| is_aligned).map(Self::Numbers);
        }
        if let Ok(pixels) = array.cast::<PyArray2<u8>>() {
            return pixels.try_readonly().ok().map(Self::Pixels);
        }
        array.cast::<PyArray2<bool>>().ok()?.try_readonly().ok().map(Self::Bits)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(array) => array.shape()[0],
            Self::Pixels(array) => array.shape()[0],
            Self::Bits(array) => array.shape()[0],
        }
    }

    /// Shows each row in turn.
    pub fn each(&self, mut show: impl FnMut(Row<'_>) -> gatewood::Result<()>) -> gatewood::Result<()> {
        match self {
            Self::Numbers(array) => each_row(array, |row| show(Row::Numbers(row))),
            Self::Pixels(array) => each_row(array, |row| show(Row::Pixels(row))),
            Self::Bits(array) => each_row(array, |row| show(Row::Bits(row))),
        }
    }
}

/// Shows each row of an array; one that does not lie in one piece is copied.
fn each_row<T: numpy::Element + Copy>(
    array: &PyReadonlyArray2<'_, T>,
    mut show: impl FnMut(&[T]) -> gatewood::Result<()>,
) -> gatewood::Result<()> {
    array.as_array().rows().into_iter().try_for_each(|row| match row.as_slice() {
        Some(values) => show(values),
        None => show(&row.to_vec()),
    })
}

/// The shape of an array whose elements lie in the order of its rows.
fn shape<T: numpy::Element>(array: &PyReadonlyArray2<'_, T>) -> PyResult<(usize, usize)> {
    // The slice of an array in Fortran order would have its values in the wrong places.
    match *array.shape() {
        [first, second] if array.is_c_contiguous() => Ok((first, second)),
        _ => Err(PyValueError::new_err("pixels and packed bits must lie in C order, in two dimensions")),
    }
}
