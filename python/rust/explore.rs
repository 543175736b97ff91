//! A model as a page to look into with a browser.

use gatewood::encode::{ImageShape, Labels};
use gatewood::export::{ExplorerOptions, ExplorerRows, explorer_page};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::error::{detached, raise};
use crate::model::Model;
use crate::rows::Rows;

/// The HTML of a page with the model and perhaps rows in it. What is left at nothing has the library's default.
#[pyfunction]
#[pyo3(signature = (model, rows, labels, *, name=None, most=None, shape=None, luts=None, threads=None))]
#[allow(clippy::too_many_arguments)]
pub fn explore<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    rows: Option<Rows<'py>>,
    labels: Option<PyReadonlyArray1<'py, u32>>,
    name: Option<String>,
    most: Option<usize>,
    shape: Option<(usize, usize, usize)>,
    luts: Option<usize>,
    threads: Option<usize>,
) -> PyResult<String> {
    let model = model.get().inner();
    let labels = match labels {
        Some(codes) => {
            Some(Labels::new(model.classes().to_vec(), codes.as_slice()?.to_vec()).map_err(raise)?)
        }
        None => None,
    };
    let rows = rows.as_ref().map(Rows::borrow).transpose()?;
    let rows = rows.map(|rows| ExplorerRows { rows, labels: labels.as_ref() });
    let mut options = ExplorerOptions::default();
    options.name = name.unwrap_or(options.name);
    options.rows = most.unwrap_or(options.rows);
    options.image = shape.map(|(height, width, channels)| ImageShape { width, height, channels });
    options.luts = luts.or(options.luts);
    options.threads = threads.unwrap_or(options.threads);
    detached(py, || explorer_page(model, rows.as_ref(), &options))
}
