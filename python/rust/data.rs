//! Named data sets.

use std::path::PathBuf;

use gatewood_data::{DataSpec, Folders, Source, Split, load_named};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{detached, raise};
use crate::table::Table;

fn split<'py>(py: Python<'py>, split: Split) -> PyResult<(Bound<'py, Table>, Bound<'py, PyArray1<u32>>)> {
    let labels = split.labels.codes().to_vec().into_pyarray(py);
    Ok((Bound::new(py, Table::new(split.table))?, labels))
}

/// Loads a named set: its options are `key=value` pairs, its files are looked for in the folder first.
#[pyfunction]
pub fn load_dataset<'py>(
    py: Python<'py>,
    name: &str,
    options: Vec<(String, String)>,
    folder: Option<PathBuf>,
) -> PyResult<Bound<'py, PyDict>> {
    // A name that is none gets the advice of the command.
    let spec: DataSpec = name.parse().map_err(raise)?;
    let Source::Named(known) = &spec.source else {
        return Err(raise(gatewood::Error::data(format!("there is no data set named \"{name}\""))));
    };
    let options = [spec.options.clone(), options].concat();
    let dataset = detached(py, || load_named(known, &options, &Folders::standard(folder.as_deref())))?;
    let encode = serde_json::to_string(&dataset.encode)
        .map_err(|error| raise(gatewood::Error::data(error.to_string())))?;
    let result = PyDict::new(py);
    result.set_item("name", &dataset.name)?;
    result.set_item("classes", dataset.classes())?;
    result.set_item("encode", encode)?;
    result.set_item("source", &dataset.source)?;
    result.set_item("licence", &dataset.licence)?;
    result.set_item("image", dataset.image.map(|image| (image.height, image.width, image.channels)))?;
    result.set_item("train", split(py, dataset.train)?)?;
    result.set_item("test", dataset.test.map(|test| split(py, test)).transpose()?)?;
    Ok(result)
}
