//! Models out as files of other tools, and proofs that such a file is the model.

use std::path::PathBuf;

use gatewood::circuit::{Equivalence, GroveOutputs};
use gatewood::export::{
    CellFamily, CodeTestOptions, Format, ModelOptions, VerifyOptions, test_code as test_exported,
    verify as verify_circuit, write_model,
};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{detached, raise};
use crate::model::Model;

fn format_named(name: &str) -> PyResult<Format> {
    name.parse().map_err(raise)
}

/// Which cells: Xilinx's where nothing more is said.
#[derive(FromPyObject)]
pub enum Cells {
    On(bool),
    Family(String),
}

/// A model in a format, as the bytes of a file. What is left at nothing has the library's default.
#[pyfunction]
#[pyo3(signature = (model, format, *, name=None, encoder=None, fraction=None, pipeline=None, cells=None, one_hot=None, margins=None, all_inputs=None, simplify=None))]
#[allow(clippy::too_many_arguments)]
pub fn export<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    format: &str,
    name: Option<String>,
    encoder: Option<bool>,
    fraction: Option<u32>,
    pipeline: Option<usize>,
    cells: Option<Cells>,
    one_hot: Option<bool>,
    margins: Option<bool>,
    all_inputs: Option<bool>,
    simplify: Option<bool>,
) -> PyResult<Bound<'py, PyBytes>> {
    let format = format_named(format)?;
    let ModelOptions {
        mut file,
        outputs,
        encoder: with,
        fraction: places,
        all_inputs: all,
        simplify: smaller,
        sums,
    } = ModelOptions::default();
    file.name = name.unwrap_or(file.name);
    file.pipeline = pipeline.unwrap_or(file.pipeline);
    file.cells = match cells {
        None => file.cells,
        Some(Cells::On(on)) => on.then_some(CellFamily::Xilinx),
        Some(Cells::Family(name)) => Some(name.parse().map_err(raise)?),
    };
    let options = ModelOptions {
        file,
        encoder: encoder.unwrap_or(with),
        fraction: fraction.unwrap_or(places),
        outputs: GroveOutputs {
            one_hot: one_hot.unwrap_or(outputs.one_hot),
            margins: margins.unwrap_or(outputs.margins),
        },
        all_inputs: all_inputs.unwrap_or(all),
        simplify: simplify.unwrap_or(smaller),
        sums,
    };
    let model = model.get();
    let bytes = detached(py, || {
        let mut bytes = Vec::new();
        write_model(model.inner(), format, &options, &mut bytes)?;
        Ok(bytes)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// Proves that a file computes what the model computes: nothing if it does, else the inputs for which it does not, by name.
#[pyfunction]
#[pyo3(signature = (model, bytes, format, *, fraction=None))]
pub fn verify(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    bytes: &[u8],
    format: &str,
    fraction: Option<u32>,
) -> PyResult<Option<Vec<(String, bool)>>> {
    let format = format_named(format)?;
    let mut options = VerifyOptions::default();
    options.fraction = fraction.unwrap_or(options.fraction);
    let model = model.get();
    let verification = detached(py, || verify_circuit(model.inner(), bytes, format, &options))?;
    match verification.found {
        Equivalence::Equal => Ok(None),
        Equivalence::Differs { inputs, .. } => {
            Ok(Some(verification.inputs.into_iter().zip(inputs).collect()))
        }
        _ => Err(PyRuntimeError::new_err(
            "undecided: no row tells the file from the model, but a proof that there is none takes too long",
        )),
    }
}

/// Tests a file of exported C or Rust on random rows: nothing if it agrees with the model, else how it differs.
#[pyfunction]
#[pyo3(signature = (model, path, format, *, rows=None))]
pub fn test_code(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    path: PathBuf,
    format: &str,
    rows: Option<usize>,
) -> PyResult<Option<String>> {
    let format = format_named(format)?;
    let mut options = CodeTestOptions::default();
    options.rows = rows.unwrap_or(options.rows);
    let model = model.get();
    Ok(detached(py, || test_exported(model.inner(), format, &path, &options))?.difference)
}

/// The format of a file with that ending, if there is one.
#[pyfunction]
pub fn format_of(extension: &str) -> Option<&'static str> {
    Format::from_extension(extension).map(Format::name)
}
