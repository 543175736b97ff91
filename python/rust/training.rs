//! Training with the interpreter's lock released, stopped by Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use gatewood::encode::Labels;
use gatewood::learn::{CurvePoint, Observer, Progress};
use gatewood::model::{LabelledRows, LearnSettings, TrainSettings, Trained, Training};
use gatewood_cuda::DeviceChoice;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::{defect, detached, raise};
use crate::model::Model;
use crate::rows::Rows;

/// How often the calling thread looks for Ctrl-C and tells of progress.
const LOOK: Duration = Duration::from_millis(50);

/// Written by the threads that learn, read by the one that called.
#[derive(Default)]
pub(crate) struct Watch {
    stop: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    /// Rounds that the calling thread has not told of.
    rounds: Mutex<Vec<CurvePoint>>,
}

impl Watch {
    /// Work done, work in all, and the rounds since the last call as JSON.
    fn news(&self) -> (u64, u64, String) {
        let rounds = std::mem::take(&mut *self.rounds.lock().unwrap_or_else(PoisonError::into_inner));
        let [done, total] = [&self.done, &self.total].map(|count| count.load(Ordering::Relaxed));
        (done, total, serde_json::to_string(&rounds).unwrap_or_default())
    }
}

impl Observer for Watch {
    fn progress(&self, progress: Progress) {
        self.total.store(progress.total, Ordering::Relaxed);
        self.done.fetch_max(progress.done, Ordering::Relaxed);
    }

    fn round(&self, point: &CurvePoint) {
        self.rounds.lock().unwrap_or_else(PoisonError::into_inner).push(*point);
    }

    fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The settings of `tree` or `grove` that hold where nothing else is said, as JSON.
#[pyfunction]
pub fn default_settings(model: &str) -> PyResult<String> {
    let settings = TrainSettings::from_json(model, "{}").map_err(raise)?;
    serde_json::to_string(&settings).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Trains a model and tells how it went, as JSON.
///
/// `settings` is a JSON object of the settings that differ from the library's defaults. With `values`, those are learned, and
/// neither labels nor classes are looked at. `progress` is called with the
/// work done and the work in all, from the calling thread.
#[pyfunction]
#[pyo3(signature = (model, settings, rows, labels, classes, *, values=None, validation_values=None, threads=None, weights=None, validation=None, start=None, label=None, data="", device="cpu", progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn train(
    py: Python<'_>,
    model: &str,
    settings: &str,
    rows: Rows<'_>,
    labels: PyReadonlyArray1<'_, u32>,
    classes: Vec<String>,
    values: Option<PyReadonlyArray1<'_, f64>>,
    validation_values: Option<(Rows<'_>, PyReadonlyArray1<'_, f64>)>,
    threads: Option<usize>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    validation: Option<(Rows<'_>, PyReadonlyArray1<'_, u32>)>,
    start: Option<Bound<'_, Model>>,
    label: Option<&str>,
    data: &str,
    device: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(Model, String)> {
    let mut settings = TrainSettings::from_json(model, settings).map_err(raise)?;
    if let Some(threads) = threads {
        settings.learn.set_threads(threads);
    }
    let held = match (&validation, &validation_values) {
        (_, Some((rows, values))) => {
            Some((rows.borrow()?, Labels::from_values(values.as_slice()?.to_vec()).map_err(raise)?))
        }
        (Some((rows, labels)), None) => {
            Some((rows.borrow()?, Labels::new(classes.clone(), labels.as_slice()?.to_vec()).map_err(raise)?))
        }
        (None, None) => None,
    };
    let labels = match &values {
        Some(values) => Labels::from_values(values.as_slice()?.to_vec()),
        None => Labels::new(classes, labels.as_slice()?.to_vec()),
    };
    let labels = labels.map_err(raise)?;
    if start.is_none() && values.is_none() {
        let is_no_class = |error| {
            raise(gatewood::Error::data(format!("{error}; GatewoodRegressor learns values as they are")))
        };
        labels.refuse_quantity(label.unwrap_or("y")).map_err(is_no_class)?;
    }
    let weights = match &weights {
        Some(weights) => Some(weights.as_slice()?),
        None => None,
    };
    let device: DeviceChoice = device.parse().map_err(raise)?;
    let device = match (device, &settings.learn) {
        // Whether a GPU pays for trees has not been measured.
        (DeviceChoice::Auto, LearnSettings::Tree(_)) => None,
        (device, _) => device.open(labels.len()).map_err(raise)?,
    };
    let training = Training {
        device: device.as_deref(),
        train: LabelledRows { rows: rows.borrow()?, labels: &labels, weights },
        validation: held.as_ref().map(|(rows, labels)| LabelledRows { rows: *rows, labels, weights: None }),
        start: start.as_ref().map(|start| start.get().inner()),
        label,
        data,
    };
    let watch = Watch::default();
    let progress = progress.map(Bound::unbind);
    let trained =
        watched(py, &watch, progress.as_ref(), || gatewood::train_sized(&training, &settings, &watch))?;
    let report = serde_json::to_string(&trained.report())
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok((Model::new(trained.model), report))
}

/// Runs work on a thread of its own while this one, which may be Python's main thread, listens for signals.
pub(crate) fn watched(
    py: Python<'_>,
    watch: &Watch,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce() -> gatewood::Result<Trained> + Send,
) -> PyResult<Trained> {
    let listen = || -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            if let Some(progress) = progress {
                progress.call1(py, watch.news())?;
            }
            Ok(())
        })
    };
    py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, finished) = mpsc::channel();
            scope.spawn(move || {
                let result = catch_unwind(AssertUnwindSafe(work));
                // The receiver waits for this, and is there.
                let _ = sender.send(result);
            });
            let mut interrupted = None;
            let result = loop {
                match finished.recv_timeout(LOOK) {
                    Ok(result) => break result,
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        if interrupted.is_none()
                            && let Err(error) = listen()
                        {
                            watch.stop.store(true, Ordering::Relaxed);
                            interrupted = Some(error);
                        }
                    }
                    Err(mpsc::RecvTimeoutError::Disconnected) => {
                        return Err(PyRuntimeError::new_err(
                            "the thread that learns has ended without a result",
                        ));
                    }
                }
            };
            // The rounds since the last look are told too.
            if interrupted.is_none() && matches!(result, Ok(Ok(_))) {
                interrupted = listen().err();
            }
            match (interrupted, result) {
                (Some(error), _) => Err(error),
                (None, Ok(result)) => result.map_err(raise),
                (None, Err(panic)) => Err(defect(&*panic)),
            }
        })
    })
}

/// Panics while learning, or elsewhere without the interpreter's lock: for the tests, which want to see an exception.
#[pyfunction]
pub fn provoke_panic(py: Python<'_>, learning: bool) -> PyResult<()> {
    if learning {
        watched(py, &Watch::default(), None, || panic!("provoked")).map(|_| ())
    } else {
        detached(py, || panic!("provoked"))
    }
}
