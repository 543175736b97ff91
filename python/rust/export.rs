//! Models out as files of other tools, and proofs that such a file is the model.

use std::path::PathBuf;

use gatewood::circuit::{Equivalence, GroveOutputs};
use gatewood::export::{
    CellFamily, CodeTestOptions, Format, Frequency, ModelOptions, ProjectOptions, VerifyOptions,
    make_project, test_code as test_exported, verify as verify_circuit, write_model,
};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{detached, raise};
use crate::model::Model;
use crate::rows::Rows;

fn format_named(name: &str) -> PyResult<Format> {
    name.parse().map_err(raise)
}

/// Which cells: Xilinx's where nothing more is said.
#[derive(FromPyObject)]
pub enum Cells {
    On(bool),
    Family(String),
}

/// What of a model is written, and how. What is left at nothing has the library's default.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Settings {
    name: Option<String>,
    encoder: Option<bool>,
    fraction: Option<u32>,
    pipeline: Option<usize>,
    clock: Option<String>,
    handshake: Option<bool>,
    cells: Option<Cells>,
    one_hot: Option<bool>,
    margins: Option<bool>,
    all_inputs: Option<bool>,
    bus: Option<bool>,
    simplify: Option<bool>,
}

impl Settings {
    fn options(self) -> PyResult<ModelOptions> {
        let mut options = ModelOptions::default();
        let file = &mut options.file;
        file.name = self.name.unwrap_or(std::mem::take(&mut file.name));
        file.pipeline = self.pipeline.unwrap_or(file.pipeline);
        file.handshake = self.handshake.unwrap_or(file.handshake);
        file.cells = match self.cells {
            None => file.cells,
            Some(Cells::On(on)) => on.then_some(CellFamily::Xilinx),
            Some(Cells::Family(name)) => Some(name.parse().map_err(raise)?),
        };
        let clock: Option<Frequency> = self.clock.map(|clock| clock.parse()).transpose().map_err(raise)?;
        options.clock = clock.or(options.clock);
        options.encoder = self.encoder.unwrap_or(options.encoder);
        options.fraction = self.fraction.or(options.fraction);
        options.outputs = GroveOutputs {
            one_hot: self.one_hot.unwrap_or(options.outputs.one_hot),
            margins: self.margins.unwrap_or(options.outputs.margins),
        };
        options.all_inputs = self.all_inputs.unwrap_or(options.all_inputs);
        options.bus = self.bus.unwrap_or(options.bus);
        options.simplify = self.simplify.unwrap_or(options.simplify);
        Ok(options)
    }
}

/// A model in a format, as the bytes of a file.
#[pyfunction]
pub fn export<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    format: &str,
    settings: Settings,
) -> PyResult<Bound<'py, PyBytes>> {
    let (format, options) = (format_named(format)?, settings.options()?);
    let model = model.get();
    let bytes = detached(py, || {
        let mut bytes = Vec::new();
        write_model(model.inner(), format, &options, &mut bytes)?;
        Ok(bytes)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// The files of a design around a model, each with its name.
#[pyfunction]
#[pyo3(signature = (model, format, settings, rows=None, *, word_bits=None, most=None))]
pub fn export_project<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    format: &str,
    settings: Settings,
    rows: Option<Rows<'py>>,
    word_bits: Option<usize>,
    most: Option<usize>,
) -> PyResult<Vec<(String, String)>> {
    let (format, mut options) = (format_named(format)?, ProjectOptions::default());
    options.model = settings.options()?;
    options.word = word_bits.unwrap_or(options.word);
    options.rows = most.unwrap_or(options.rows);
    let model = model.get();
    let rows = rows.as_ref().map(Rows::borrow).transpose()?;
    let project = detached(py, || make_project(model.inner(), format, &options, rows))?;
    Ok(project.files.into_iter().map(|file| (file.name, file.text)).collect())
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
    options.fraction = fraction.or(options.fraction);
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
