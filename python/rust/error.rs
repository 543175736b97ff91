//! Errors and panics as Python exceptions.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// An error of the library as the exception a Python user expects.
pub fn raise(error: gatewood::Error) -> PyErr {
    let message = error.to_string();
    if error.is_io() {
        PyOSError::new_err(message)
    } else if error.is_too_large() {
        PyMemoryError::new_err(message)
    } else if error.is_cancelled() {
        PyKeyboardInterrupt::new_err(message)
    } else {
        PyValueError::new_err(message)
    }
}

/// Runs work without the interpreter's lock; a panic in it becomes a `RuntimeError`.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> gatewood::Result<T> + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work))).map_err(|panic| defect(&*panic))?.map_err(raise)
}

/// A panic as an exception that `except Exception` catches.
pub fn defect(panic: &(dyn Any + Send)) -> PyErr {
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    PyRuntimeError::new_err(format!("a defect in gatewood: {message}"))
}
