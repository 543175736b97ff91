//! Models out as files of other tools, and proofs that such a file is the model.

use gatewood::circuit::{Equivalence, GroveOutputs, prove_equal};
use gatewood::export::{Format, ModelOptions, read_for, write_model};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{detached, raise};
use crate::model::Model;

fn format_named(name: &str) -> PyResult<Format> {
    name.parse().map_err(raise)
}

/// A model in a format, as the bytes of a file. What is left at nothing has the library's default.
#[pyfunction]
#[pyo3(signature = (model, format, *, name=None, encoder=None, fraction=None, pipeline=None, cells=None, one_hot=None, margins=None, simplify=None))]
#[allow(clippy::too_many_arguments)]
pub fn export<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    format: &str,
    name: Option<String>,
    encoder: Option<bool>,
    fraction: Option<u32>,
    pipeline: Option<usize>,
    cells: Option<bool>,
    one_hot: Option<bool>,
    margins: Option<bool>,
    simplify: Option<bool>,
) -> PyResult<Bound<'py, PyBytes>> {
    let format = format_named(format)?;
    let ModelOptions { mut file, outputs, encoder: with, fraction: places, simplify: smaller } =
        ModelOptions::default();
    file.name = name.unwrap_or(file.name);
    file.pipeline = pipeline.unwrap_or(file.pipeline);
    file.cells = cells.unwrap_or(file.cells);
    let options = ModelOptions {
        file,
        encoder: encoder.unwrap_or(with),
        fraction: fraction.unwrap_or(places),
        outputs: GroveOutputs {
            one_hot: one_hot.unwrap_or(outputs.one_hot),
            margins: margins.unwrap_or(outputs.margins),
        },
        simplify: simplify.unwrap_or(smaller),
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
    let fraction = fraction.unwrap_or(ModelOptions::default().fraction);
    let model = model.get();
    let (names, found) = detached(py, || {
        let (ours, file) = read_for(model.inner(), bytes, format, fraction)?;
        Ok((ours.input_names().to_vec(), prove_equal(&ours, &file)?))
    })?;
    match found {
        Equivalence::Equal => Ok(None),
        Equivalence::Differs { inputs, .. } => Ok(Some(names.into_iter().zip(inputs).collect())),
        _ => Err(PyRuntimeError::new_err(
            "undecided: no row tells the file from the model, but a proof that there is none takes too long",
        )),
    }
}

/// The format of a file with that ending, if there is one.
#[pyfunction]
pub fn format_of(extension: &str) -> Option<&'static str> {
    Format::from_extension(extension).map(Format::name)
}
