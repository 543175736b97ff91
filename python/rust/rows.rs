//! Rows as Python hands them over: a table, or packed bits that stay where they are.

use gatewood::bits::BitView;
use gatewood::model;
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::raise;
use crate::table::Table;

/// A [`Table`], or a pair of packed words (one row of the array per column of bits) and the number of rows.
#[derive(FromPyObject)]
pub enum Rows<'py> {
    /// Raw columns.
    Table(Bound<'py, Table>),
    /// Packed bits, borrowed from NumPy.
    Bits(PyReadonlyArray2<'py, u64>, usize),
}

impl Rows<'_> {
    /// The rows as the library takes them; nothing is copied.
    pub fn borrow(&self) -> PyResult<model::Rows<'_>> {
        Ok(match self {
            Self::Table(table) => model::Rows::Raw(table.get().inner()),
            Self::Bits(words, rows) => {
                // The slice of an array in Fortran order would have its bits in the wrong places.
                if !words.is_c_contiguous() {
                    return Err(PyValueError::new_err("packed bits must lie in C order"));
                }
                let [columns, stride] = *words.shape() else {
                    return Err(PyValueError::new_err("packed bits must have two dimensions"));
                };
                let bits = BitView::new(*rows, columns, stride, words.as_slice()?).map_err(raise)?;
                model::Rows::Bits(bits)
            }
        })
    }
}
