//! The native half of the `gatewood` Python package: rows in, models out, no defaults and no logic of its own.
//!
//! Everything here is private to the package (`gatewood._core`); its stubs are in `src/gatewood/_core.pyi`.

#![forbid(unsafe_code)]

mod data;
mod error;
mod explain;
mod explore;
mod export;
mod model;
mod parts;
mod rows;
mod table;
mod training;

use pyo3::prelude::*;

/// The module `gatewood._core`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::data::load_dataset;
    #[pymodule_export]
    use super::explain::{contributions, counterfactual, explain, prove};
    #[pymodule_export]
    use super::explore::explore;
    #[pymodule_export]
    use super::export::{export, export_project, format_of, test_code, verify};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::parts::{Part, merged_answers, train_parts};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::training::{default_settings, provoke_panic, train};

    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
