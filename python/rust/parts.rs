//! Rows in other processes: the part that answers there, and training that asks all parts.

use std::sync::{Mutex, PoisonError};

use gatewood::encode::{self, Labels};
use gatewood::learn::Parts;
use gatewood::model::{self, PartsTraining, TrainSettings};
use gatewood::{Error, Result};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{detached, raise};
use crate::model::Model;
use crate::rows::Rows;
use crate::training::{Watch, watched};

/// The rows of one part, which answers messages where they are.
#[pyclass(frozen, module = "gatewood._core")]
pub struct Part(Mutex<model::Part>);

#[pymethods]
impl Part {
    /// Rows to be learned from, or else to judge.
    #[new]
    fn new(py: Python<'_>, rows: Rows<'_>, judges: bool, threads: usize) -> PyResult<Self> {
        let part = match &rows {
            Rows::Table(table) => {
                let table = table.get().inner();
                detached(py, || model::Part::new(table.clone(), judges, threads))?
            }
            Rows::Pixels(_) => {
                let rows = rows.borrow()?;
                detached(py, || {
                    let (columns, pixels) = match rows {
                        model::Rows::Raw(table) => (table.columns(), table.pixels()),
                        model::Rows::Bits(_) => (0, None),
                    };
                    let table = encode::Table::from_pixels(columns, pixels.unwrap_or_default().to_vec())?;
                    model::Part::new(table, judges, threads)
                })?
            }
            Rows::Bits(..) => {
                return Err(raise(Error::data(
                    "packed bits are unavailable on several machines: use arrays of bool",
                )));
            }
        };
        Ok(Self(Mutex::new(part)))
    }

    /// The answer to a message.
    fn answer<'py>(&self, py: Python<'py>, message: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let answer = detached(py, || {
            let mut part = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(part.answer(message))
        })?;
        Ok(PyBytes::new(py, &answer))
    }
}

/// The answers of parts to messages of one kind, sums and losses added up in the first of them.
#[pyfunction]
pub fn merged_answers<'py>(
    py: Python<'py>,
    kind: u8,
    answers: Vec<Bound<'py, PyBytes>>,
) -> Vec<Bound<'py, PyBytes>> {
    let answers = answers.iter().map(|answer| answer.as_bytes().to_vec()).collect();
    let merged = gatewood::learn::merged_answers(kind, answers);
    merged.iter().map(|answer| PyBytes::new(py, answer)).collect()
}

/// The way to the parts: a function of Python that takes a message or `None` for each and returns their answers.
struct Asked {
    ask: Py<PyAny>,
    count: usize,
    climbers: Vec<usize>,
    /// What it has raised.
    raised: Mutex<Option<PyErr>>,
}

impl Parts for Asked {
    fn count(&self) -> usize {
        self.count
    }

    fn climbers(&self) -> &[usize] {
        &self.climbers
    }

    fn ask(&self, messages: Vec<Option<Vec<u8>>>) -> Result<Vec<Option<Vec<u8>>>> {
        let asked = Python::attach(|py| -> PyResult<Vec<Option<Vec<u8>>>> {
            let messages: Vec<Option<Bound<'_, PyBytes>>> = messages
                .iter()
                .map(|message| message.as_ref().map(|message| PyBytes::new(py, message)))
                .collect();
            let answers: Vec<Option<Bound<'_, PyBytes>>> = self.ask.call1(py, (messages,))?.extract(py)?;
            Ok(answers.into_iter().map(|answer| Some(answer?.as_bytes().to_vec())).collect())
        });
        asked.map_err(|error| {
            let message = error.to_string();
            self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            Error::data(message)
        })
    }
}

/// Trains a model where its rows are, and tells how it went, as JSON.
///
/// `ask` takes a list with a message or `None` for each of `count` parts, and returns their answers in the same order; it is
/// called from other threads. `climbers` are parts in processes of their own, which may climb trees. All else is as in `train`, the labels being those of all rows in the order of the parts.
#[pyfunction]
#[pyo3(signature = (settings, ask, count, labels, classes, *, values=None, validation=None, validation_values=None, threads=None, weights=None, label=None, data="", climbers=Vec::new(), progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn train_parts(
    py: Python<'_>,
    settings: &str,
    ask: Py<PyAny>,
    count: usize,
    labels: PyReadonlyArray1<'_, u32>,
    classes: Vec<String>,
    values: Option<PyReadonlyArray1<'_, f64>>,
    validation: Option<PyReadonlyArray1<'_, u32>>,
    validation_values: Option<PyReadonlyArray1<'_, f64>>,
    threads: Option<usize>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    label: Option<&str>,
    data: &str,
    climbers: Vec<usize>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(Model, String)> {
    let mut settings = TrainSettings::from_json("grove", settings).map_err(raise)?;
    if let Some(threads) = threads {
        settings.learn.set_threads(threads);
    }
    let of = |values: &Option<PyReadonlyArray1<'_, f64>>, codes: Option<&PyReadonlyArray1<'_, u32>>| {
        Ok::<_, PyErr>(match (values, codes) {
            (Some(values), _) => Some(Labels::from_values(values.as_slice()?.to_vec()).map_err(raise)?),
            (None, Some(codes)) => {
                Some(Labels::new(classes.clone(), codes.as_slice()?.to_vec()).map_err(raise)?)
            }
            (None, None) => None,
        })
    };
    let held = of(&validation_values, validation.as_ref())?;
    let Some(labels) = of(&values, Some(&labels))? else {
        return Err(PyRuntimeError::new_err("there are no labels"));
    };
    if values.is_none() {
        labels.refuse_quantity(label.unwrap_or("y")).map_err(raise)?;
    }
    let weights = match &weights {
        Some(weights) => Some(weights.as_slice()?),
        None => None,
    };
    let climbers = climbers.into_iter().filter(|&part| part < count).collect();
    let asked = Asked { ask, count, climbers, raised: Mutex::new(None) };
    let training =
        PartsTraining { parts: &asked, labels: &labels, weights, validation: held.as_ref(), label, data };
    let watch = Watch::default();
    let progress = progress.map(Bound::unbind);
    let trained = watched(py, &watch, progress.as_ref(), || model::train_parts(&training, &settings, &watch));
    let raised = asked.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    let trained = trained.map_err(|error| raised.unwrap_or(error))?;
    let report = serde_json::to_string(&trained.report())
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok((Model::new(trained.model), report))
}
