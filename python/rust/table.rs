//! Raw columns from NumPy arrays, without a loop in Python.

use gatewood::bits::BitMatrix;
use gatewood::encode::{self, Codes, Column, Kind, Numbers, Strings, Texts};
use gatewood::{Error, Result};
use numpy::ndarray::{ArrayView1, ArrayView2};
use numpy::{Element, IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::{detached, raise};

/// Rows of a row-major array that are read together, so that their cache lines are used up.
const BAND: usize = 64;

/// Raw rows, ready to be encoded.
#[pyclass(frozen, module = "gatewood._core")]
pub struct Table(encode::Table);

impl Table {
    /// A table of the library, for Python.
    pub fn new(table: encode::Table) -> Self {
        Self(table)
    }

    /// The table of the library.
    pub fn inner(&self) -> &encode::Table {
        &self.0
    }
}

fn named(table: encode::Table, names: Option<Vec<String>>) -> Result<encode::Table> {
    match names {
        Some(names) => table.with_names(names),
        None => Ok(table),
    }
}

#[pymethods]
impl Table {
    /// From a two-dimensional array of numbers: `bool` gives ready bits.
    #[staticmethod]
    fn from_array(py: Python<'_>, array: &Bound<'_, PyAny>, names: Option<Vec<String>>) -> PyResult<Self> {
        if let Ok(array) = array.extract::<PyReadonlyArray2<'_, bool>>() {
            let view = array.as_array();
            let bits = detached(py, || match view.as_slice() {
                Some(values) => BitMatrix::from_bools(view.ncols(), values),
                None => BitMatrix::from_bools(view.ncols(), &view.iter().copied().collect::<Vec<_>>()),
            })?;
            return named(encode::Table::from_bits(bits), names).map(Self).map_err(raise);
        }
        let columns = number_columns(py, array)?;
        let table = encode::Table::unnamed(columns).and_then(|table| named(table, names));
        table.map(Self).map_err(raise)
    }

    /// From columns, each `("number", values, None)`, `("date", seconds, None)`, `("text", codes, texts)` with -1 for a
    /// gap, or `("object", objects, None)`, which become numbers if all are, else texts.
    #[staticmethod]
    fn from_columns(
        py: Python<'_>,
        columns: Vec<(String, Bound<'_, PyAny>, Option<Vec<String>>)>,
        names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let read = |(kind, values, texts): (String, Bound<'_, PyAny>, Option<Vec<String>>)| {
            Ok(match (kind.as_str(), texts) {
                ("text", Some(texts)) => Column::Text(coded_texts(&values.extract()?, texts).map_err(raise)?),
                ("date", None) => Column::Date(numbers(py, &values)?),
                ("number", None) => Column::Number(numbers(py, &values)?),
                ("object", None) => objects(&values.extract()?, py)?,
                _ => return Err(PyTypeError::new_err(format!("{kind} is no kind of column"))),
            })
        };
        let columns: Vec<Column> = columns.into_iter().map(read).collect::<PyResult<_>>()?;
        let table = encode::Table::unnamed(columns).and_then(|table| named(table, names));
        table.map(Self).map_err(raise)
    }

    /// From the three arrays of a compressed sparse matrix by columns, its rows ascending within each.
    #[staticmethod]
    fn from_sparse_columns(
        py: Python<'_>,
        rows: usize,
        starts: PyReadonlyArray1<'_, i64>,
        row_of: PyReadonlyArray1<'_, i64>,
        values: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let (starts, row_of, values) = (starts.as_slice()?, row_of.as_slice()?, values.as_slice()?);
        detached(py, || {
            let column = |range: &[i64]| {
                let place = |at: i64| usize::try_from(at).unwrap_or(usize::MAX);
                let range = place(range[0])..place(range[1]);
                let (Some(row_of), Some(values)) = (row_of.get(range.clone()), values.get(range)) else {
                    return Err(Error::data("the sparse matrix points past its end"));
                };
                let row_of = row_of.iter().map(|&row| u32::try_from(row).unwrap_or(u32::MAX)).collect();
                Ok(Column::Number(Numbers::sparse(rows, row_of, values.to_vec())?))
            };
            encode::Table::unnamed(starts.windows(2).map(column).collect::<Result<_>>()?)
        })
        .map(Self)
    }

    /// Number of rows and of columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.0.rows(), self.0.columns())
    }

    /// The names of the columns, where they have names of their own.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        self.0
            .is_named()
            .then(|| (0..self.0.columns()).map(|column| self.0.name(column).into_owned()).collect())
    }

    /// What each column holds.
    fn kinds(&self) -> Vec<&'static str> {
        let name = |kind| match kind {
            Kind::Number => "number",
            Kind::Date => "date",
            Kind::Text => "text",
            Kind::Pixel => "pixel",
            Kind::Bit => "bit",
        };
        (0..self.0.columns()).map(|column| name(self.0.kind(column))).collect()
    }

    /// The pixels or bits as an array of `uint8` or `bool`, or nothing where the table has other columns.
    fn to_array<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let shape = [self.0.rows(), self.0.columns()];
        if let Some(pixels) = self.0.pixels() {
            let pixels = pixels.to_vec().into_pyarray(py).reshape(shape)?;
            return Ok(Some(pixels.into_any()));
        }
        let Some(bits) = self.0.bits() else { return Ok(None) };
        let array = PyArray2::<bool>::zeros(py, shape, false);
        let mut target = array.readwrite();
        let values = target.as_slice_mut()?;
        detached(py, || {
            for column in 0..shape[1] {
                let words = bits.column(column);
                for (row, value) in values.iter_mut().skip(column).step_by(shape[1]).enumerate() {
                    *value = words[row / 64] >> (row % 64) & 1 != 0;
                }
            }
            Ok(())
        })?;
        drop(target);
        Ok(Some(array.into_any()))
    }

    /// A column as numbers (gaps are NaN), or as codes and the texts they stand for (gaps are -1).
    #[allow(clippy::type_complexity)]
    fn column<'py>(
        &self,
        py: Python<'py>,
        column: usize,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Vec<String>>)> {
        match self.0.column(column) {
            Some(Column::Text(texts)) => {
                let codes: Vec<i64> =
                    texts.codes().iter().map(|code| texts.text(code).map_or(-1, |_| code as i64)).collect();
                let texts = (0..texts.distinct())
                    .map(|code| texts.text(code).unwrap_or_default().to_owned())
                    .collect();
                Ok((codes.into_pyarray(py).into_any(), Some(texts)))
            }
            Some(Column::Number(numbers) | Column::Date(numbers)) => {
                let values: Vec<f64> = (0..numbers.len()).map(|row| numbers.get(row)).collect();
                Ok((values.into_pyarray(py).into_any(), None))
            }
            None => Err(PyTypeError::new_err("a table of pixels or bits has no such column")),
        }
    }
}

/// A number type of NumPy, and the column that holds it best.
trait Source: Element + Copy {
    fn column(values: Vec<Self>) -> Numbers;
}

macro_rules! sources {
    ($($type:ty => $column:expr),* $(,)?) => {
        $(impl Source for $type {
            fn column(values: Vec<Self>) -> Numbers {
                let column: fn(Vec<Self>) -> Numbers = $column;
                column(values)
            }
        })*

        /// The columns of a two-dimensional array.
        fn number_columns(py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<Vec<Column>> {
            $(if let Ok(array) = array.extract::<PyReadonlyArray2<'_, $type>>() {
                let view = array.as_array();
                return detached(py, || split(view));
            })*
            Err(unreadable(array))
        }

        /// The numbers of a one-dimensional array.
        fn numbers(py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<Numbers> {
            $(if let Ok(array) = array.extract::<PyReadonlyArray1<'_, $type>>() {
                let view: ArrayView1<'_, $type> = array.as_array();
                return detached(py, || Ok(<$type>::column(view.iter().copied().collect())));
            })*
            Err(unreadable(array))
        }
    };
}

sources! {
    f64 => Numbers::F64,
    f32 => Numbers::F32,
    i64 => |values| wide(values.into_iter().map(|value| value as f64)),
    u64 => |values| wide(values.into_iter().map(|value| value as f64)),
    i32 => |values| wide(values.into_iter().map(f64::from)),
    u32 => |values| wide(values.into_iter().map(f64::from)),
    i16 => |values| Numbers::F32(values.into_iter().map(f32::from).collect()),
    u16 => |values| Numbers::F32(values.into_iter().map(f32::from).collect()),
    i8 => |values| bytes(values.into_iter().map(|value| value as u8).collect(), |code| f64::from(code as i8)),
    u8 => |values| bytes(values, f64::from),
    bool => |values| bytes(values.into_iter().map(u8::from).collect(), f64::from),
}

fn wide(values: impl Iterator<Item = f64>) -> Numbers {
    Numbers::F64(values.collect())
}

/// Bytes are codes already.
fn bytes(codes: Vec<u8>, value: impl Fn(u8) -> f64) -> Numbers {
    Numbers::Coded { codes: Codes::U8(codes), values: (0..=255).map(value).collect() }
}

fn unreadable(array: &Bound<'_, PyAny>) -> PyErr {
    let kind =
        array.getattr("dtype").map_or_else(|_| array.get_type().to_string(), |dtype| dtype.to_string());
    PyTypeError::new_err(format!("an array of {kind} holds no numbers"))
}

/// The columns of an array, a band of rows at a time.
fn split<T: Source>(array: ArrayView2<'_, T>) -> Result<Vec<Column>> {
    let mut columns = Vec::new();
    for _ in 0..array.ncols() {
        let mut column = Vec::new();
        column.try_reserve_exact(array.nrows()).map_err(|_| {
            Error::too_large(format!(
                "{} rows of {} columns do not fit in memory",
                array.nrows(),
                array.ncols()
            ))
        })?;
        columns.push(column);
    }
    for start in (0..array.nrows()).step_by(BAND) {
        let rows = start..array.nrows().min(start + BAND);
        for (column, values) in columns.iter_mut().enumerate() {
            values.extend(rows.clone().map(|row| array[[row, column]]));
        }
    }
    Ok(columns.into_iter().map(|column| Column::Number(T::column(column))).collect())
}

/// Texts from codes, -1 for a gap.
fn coded_texts(codes: &PyReadonlyArray1<'_, i64>, texts: Vec<String>) -> Result<Texts> {
    let gap =
        u32::try_from(texts.len()).map_err(|_| Error::too_large("a column has over 2^32 categories"))?;
    let mut values: Strings = texts.into_iter().collect();
    let codes = codes.as_array();
    let has_gap = codes.iter().any(|&code| code < 0);
    if has_gap {
        values.push("");
    }
    let codes =
        codes.iter().map(|&code| if code < 0 { gap } else { u32::try_from(code).unwrap_or(u32::MAX) });
    Texts::new(codes.collect(), values, has_gap.then_some(gap))
}

/// Python objects as numbers if all are, else as texts.
fn objects(objects: &PyReadonlyArray1<'_, Py<PyAny>>, py: Python<'_>) -> PyResult<Column> {
    let objects = objects.as_array();
    let is_gap = |object: &Bound<'_, PyAny>| -> PyResult<bool> {
        Ok(object.is_none()
            || object.get_type().name()? == "NAType"
            || object.get_type().name()? == "NaTType")
    };
    let mut values = Vec::with_capacity(objects.len());
    for object in objects {
        let object = object.bind(py);
        if object.is_instance_of::<PyString>() {
            break;
        }
        values.push(if is_gap(object)? { f64::NAN } else { number_of(object)? });
    }
    if values.len() == objects.len() {
        return Ok(Column::Number(Numbers::F64(values)));
    }
    let mut texts = Vec::with_capacity(objects.len());
    for object in objects {
        let object = object.bind(py);
        texts.push(if let Ok(text) = object.cast::<PyString>() {
            Some(text.to_str()?.to_owned())
        } else if is_gap(object)? || number_of(object)?.is_nan() {
            None
        } else {
            Some(object.str()?.to_str()?.to_owned())
        });
    }
    Ok(Column::Text(Texts::from_rows(texts.iter().map(Option::as_deref))))
}

fn number_of(object: &Bound<'_, PyAny>) -> PyResult<f64> {
    object.extract::<f64>().map_err(|_| {
        let kind = object.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
        PyTypeError::new_err(format!("the argument must be a string or a number in each cell, not '{kind}'"))
    })
}
