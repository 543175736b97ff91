//! Why a model says what it says, and what it says of every possible row.

use gatewood::explain::{
    BACKGROUND_ROWS, EXPLAIN_SECONDS, Explainer, PROOF_SECONDS, contributions as of_columns,
    contributions_among as of_columns_among,
};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use serde_json::json;

use crate::error::detached;
use crate::model::Model;
use crate::rows::Rows;

/// What each column adds to each margin, in log-odds, and after the columns of each margin the mean of the background:
/// the library's number of the rows themselves, evenly spread, where none is given.
#[pyfunction]
#[pyo3(signature = (model, rows, background, threads))]
pub fn contributions<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    rows: Rows<'py>,
    background: Option<Rows<'py>>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let model = model.get().inner();
    let rows = rows.borrow()?;
    let background = background.as_ref().map(Rows::borrow).transpose()?;
    let (count, all) = detached(py, || {
        let found = match background {
            Some(background) => of_columns(model, rows, background, threads)?,
            None => of_columns_among(model, rows, BACKGROUND_ROWS, threads)?,
        };
        let mut all = Vec::with_capacity(found.rows() * found.margins() * (found.columns() + 1));
        for row in 0..found.rows() {
            for margin in 0..found.margins() {
                all.extend(found.log_odds(row, margin));
                all.push(found.mean_log_odds(margin));
            }
        }
        Ok((found.rows(), all))
    })?;
    let width = all.len() / count.max(1);
    all.into_pyarray(py).reshape([count, width])
}

/// A sufficient reason for the class of the first row, as JSON; with what each column adds, where there is a background.
#[pyfunction]
#[pyo3(signature = (model, rows, *, background=None, time_limit=None))]
pub fn explain<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    rows: Rows<'py>,
    background: Option<Rows<'py>>,
    time_limit: Option<f64>,
) -> PyResult<String> {
    let model = model.get().inner();
    let rows = rows.borrow()?;
    let background = background.as_ref().map(Rows::borrow).transpose()?;
    detached(py, || {
        let explainer = Explainer::new(model)?;
        let row = explainer.row(rows, 0)?;
        let reason = explainer.reason(&row, Some(time_limit.unwrap_or(EXPLAIN_SECONDS)));
        let mut found = reason.to_json(model);
        if let Some(background) = background {
            found["contributions"] =
                of_columns(model, rows, background, 1)?.to_json(model, 0, reason.class());
        }
        found["values"] = json!(row.values().iter().map(ToString::to_string).collect::<Vec<_>>());
        Ok(found.to_string())
    })
}

/// The least change that turns the class of the first row without touching the fixed columns, as JSON.
#[pyfunction]
#[pyo3(signature = (model, rows, fixed, *, time_limit=None))]
pub fn counterfactual<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    rows: Rows<'py>,
    fixed: Vec<String>,
    time_limit: Option<f64>,
) -> PyResult<String> {
    let model = model.get().inner();
    let rows = rows.borrow()?;
    detached(py, || {
        let explainer = Explainer::new(model)?;
        let row = explainer.row(rows, 0)?;
        let fixed = explainer.columns_named(&fixed)?;
        let found = explainer.counterfactual(&row, &fixed, Some(time_limit.unwrap_or(EXPLAIN_SECONDS)));
        Ok(found.to_json(model).to_string())
    })
}

/// A property proven, shown false or left undecided, as JSON.
#[pyfunction]
#[pyo3(signature = (model, text, *, time_limit=None))]
pub fn prove(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    text: &str,
    time_limit: Option<f64>,
) -> PyResult<String> {
    let model = model.get().inner();
    detached(py, || {
        let explainer = Explainer::new(model)?;
        let property = explainer.property(text)?;
        let proof = explainer.prove(&property, Some(time_limit.unwrap_or(PROOF_SECONDS)))?;
        Ok(proof.to_json(model, &property).to_string())
    })
}
