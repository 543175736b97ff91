//! A trained model, held by Python.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gatewood::circuit::Output;
use gatewood::encode::Row;
use gatewood::model::{self, Circuit, Prediction, Predictor};
use gatewood_cuda::DeviceChoice;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

use crate::error::{defect, detached, raise};
use crate::rows::{Few, Rows};

/// A trained model: what the estimators and the `.gw` file hold.
#[pyclass(frozen, module = "gatewood._core")]
pub struct Model {
    model: Arc<model::Model>,
    /// Made when it is first asked for.
    predictor: OnceLock<Predictor>,
    /// The same model by the devices that run its rows.
    devices: Mutex<BTreeMap<String, Py<Model>>>,
}

impl Model {
    /// A model of the library, for Python.
    pub fn new(model: model::Model) -> Self {
        Self::of(Arc::new(model), OnceLock::new())
    }

    fn of(model: Arc<model::Model>, predictor: OnceLock<Predictor>) -> Self {
        Self { model, predictor, devices: Mutex::default() }
    }

    /// The model of the library.
    pub fn inner(&self) -> &model::Model {
        &self.model
    }

    fn predictor(&self) -> &Predictor {
        self.predictor.get_or_init(|| Predictor::new(Arc::clone(&self.model)))
    }

    fn run(&self, py: Python<'_>, rows: &Rows<'_>, threads: usize) -> PyResult<Prediction> {
        let rows = rows.borrow()?;
        detached(py, || self.predictor().predict(rows, threads))
    }

    fn stages(
        &self,
        py: Python<'_>,
        rows: &Rows<'_>,
        trees: &[usize],
        threads: usize,
    ) -> PyResult<Vec<Prediction>> {
        let rows = rows.borrow()?;
        detached(py, || self.predictor().predict_stages(rows, trees, threads))
    }

    fn probabilities_of<'py>(
        &self,
        py: Python<'py>,
        prediction: &Prediction,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let classes = self.model.classes().len();
        let count = prediction.classes().len();
        let all = detached(py, || {
            let mut all = Vec::with_capacity(count * classes);
            for (row, &class) in prediction.classes().iter().enumerate() {
                match prediction.probabilities(row) {
                    Some(probabilities) => all.extend(probabilities),
                    None => {
                        all.extend((0..classes).map(|other| f64::from(u8::from(other == class as usize))))
                    }
                }
            }
            Ok(all)
        })?;
        all.into_pyarray(py).reshape([count, classes])
    }

    fn values_of<'py>(
        &self,
        py: Python<'py>,
        prediction: &Prediction,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = prediction
            .values()
            .ok_or_else(|| raise(gatewood::Error::setting("the model says classes, not values")))?;
        let width = prediction.width().unwrap_or(1);
        let rows = values.len() / width;
        values.into_pyarray(py).reshape([rows, width])
    }

    /// Runs a few rows one by one with the interpreter's lock held: giving it up takes longer than most of them.
    fn few<T>(
        &self,
        rows: &Few<'_>,
        mut ask: impl FnMut(&Predictor, Row<'_>) -> gatewood::Result<T>,
    ) -> PyResult<Vec<T>> {
        let work = AssertUnwindSafe(|| {
            let mut answers = Vec::with_capacity(rows.len());
            rows.each(|row| {
                answers.push(ask(self.predictor(), row)?);
                Ok(())
            })?;
            Ok(answers)
        });
        catch_unwind(work).map_err(|panic| defect(&*panic))?.map_err(raise)
    }
}

#[pymethods]
impl Model {
    /// Reads the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        detached(py, || model::Model::from_bytes(bytes)).map(Self::new)
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Self> {
        detached(py, || model::Model::load(path)).map(Self::new)
    }

    /// Writes a model file, all of it or nothing.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        detached(py, || self.model.save(path))
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.model.to_bytes())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py),)))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().model == self.model)
    }

    /// The same model with many rows run on a device, which is opened once.
    fn on(slf: &Bound<'_, Self>, device: &str) -> PyResult<Py<Self>> {
        let (py, this) = (slf.py(), slf.get());
        let choice: DeviceChoice = device.parse().map_err(raise)?;
        let devices = || this.devices.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = devices().get(device) {
            return Ok(model.clone_ref(py));
        }
        let made = detached(py, || {
            let Some(device) = choice.open_to_predict()? else { return Ok(None) };
            Predictor::new(Arc::clone(&this.model)).on(&*device).map(Some)
        })?;
        let Some(predictor) = made else { return Ok(slf.clone().unbind()) };
        let model = Py::new(py, Self::of(Arc::clone(&this.model), predictor.into()))?;
        devices().insert(device.to_owned(), model.clone_ref(py));
        Ok(model)
    }

    /// The position of each row's class.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        Ok(self.run(py, &rows, threads)?.classes().to_vec().into_pyarray(py))
    }

    /// The position of the class of each of a few rows of an array: numbers, pixels or bits. Nothing for other arrays.
    fn predict_few<'py>(&self, array: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyArray1<u32>>>> {
        let Some(rows) = Few::read(array) else { return Ok(None) };
        let classes = self.few(&rows, |predictor, row| predictor.predict_one(row))?;
        Ok(Some(classes.into_pyarray(array.py())))
    }

    /// The probability of each class for each of a few rows of an array; as `predict_few`.
    fn probabilities_few<'py>(
        &self,
        array: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let Some(rows) = Few::read(array) else { return Ok(None) };
        let classes = self.model.classes().len();
        let mut all = vec![0.0; rows.len() * classes];
        let mut to = all.chunks_exact_mut(classes.max(1));
        self.few(&rows, |predictor, row| match to.next() {
            Some(to) => predictor.predict_proba_one(row, to),
            None => Ok(0),
        })?;
        Ok(Some(all.into_pyarray(array.py()).reshape([rows.len(), classes])?))
    }

    /// The value of each row, or its quantiles, a column for each.
    fn values<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.values_of(py, &self.run(py, &rows, threads)?)
    }

    /// The value of each of a few rows of an array, as `predict_few`; nothing where quantiles are said.
    fn values_few<'py>(&self, array: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let Some(rows) = Few::read(array).filter(|_| self.quantiles().is_empty()) else { return Ok(None) };
        let values = self.few(&rows, |predictor, row| predictor.predict_value_one(row))?;
        Ok(Some(values.into_pyarray(array.py()).reshape([rows.len(), 1])?))
    }

    /// The value of each row after each of some numbers of trees.
    fn staged_values<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        trees: Vec<usize>,
        threads: usize,
    ) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
        let stages = self.stages(py, &rows, &trees, threads)?;
        stages.into_iter().map(|stage| self.values_of(py, &stage)).collect()
    }

    /// Whether it says values, and not classes.
    #[getter]
    fn says_values(&self) -> bool {
        self.model.circuit().says_values()
    }

    /// The quantiles it says, where it says some.
    #[getter]
    fn quantiles(&self) -> Vec<f64> {
        match self.model.circuit() {
            Circuit::Grove(grove) => match grove.output() {
                Output::Value(output) => output.quantiles.levels().to_vec(),
                _ => Vec::new(),
            },
            Circuit::Tree(_) => Vec::new(),
        }
    }

    /// The position of each row's class after each of some numbers of trees.
    fn staged_classes<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        trees: Vec<usize>,
        threads: usize,
    ) -> PyResult<Vec<Bound<'py, PyArray1<u32>>>> {
        let stages = self.stages(py, &rows, &trees, threads)?;
        Ok(stages.into_iter().map(|stage| stage.into_classes().into_pyarray(py)).collect())
    }

    /// The probability of each class for each row after each of some numbers of trees.
    fn staged_probabilities<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        trees: Vec<usize>,
        threads: usize,
    ) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
        let stages = self.stages(py, &rows, &trees, threads)?;
        stages.into_iter().map(|stage| self.probabilities_of(py, &stage)).collect()
    }

    /// The margins of each row in log-odds, or nothing for a tree.
    fn margins<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        threads: usize,
    ) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let prediction = self.run(py, &rows, threads)?;
        let (Some(width), Some(margins), Circuit::Grove(grove)) =
            (prediction.width(), prediction.margins(), self.model.circuit())
        else {
            return Ok(None);
        };
        let unit = grove.unit();
        let scaled: Vec<f64> = margins.iter().map(|&margin| unit * f64::from(margin)).collect();
        let rows = prediction.classes().len();
        Ok(Some(scaled.into_pyarray(py).reshape([rows, width])?))
    }

    /// The probability of each class for each row; a tree is always sure.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let prediction = self.run(py, &rows, threads)?;
        self.probabilities_of(py, &prediction)
    }

    /// What each raw column is worth.
    fn importance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.model.importance().into_pyarray(py)
    }

    /// The names of the classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.model.classes().to_vec()
    }

    /// The columns of the rows it was trained on.
    #[getter]
    fn width(&self) -> usize {
        self.model.encoder().width()
    }

    /// Whether it was trained on rows of ready bits.
    #[getter]
    fn takes_bits(&self) -> bool {
        self.model.encoder().inputs().iter().all(|input| input.kind == gatewood::encode::Kind::Bit)
    }

    /// The names of the bits that leaves may read, spans after the encoder's bits: what each says of a row.
    fn bit_names(&self) -> Vec<String> {
        let columns = match self.model.circuit() {
            Circuit::Tree(tree) => tree.inputs(),
            Circuit::Grove(grove) => grove.columns(),
        };
        (0..columns as u32).map(|column| self.model.describe(column)).collect()
    }

    /// What there is to tell of it, as JSON.
    fn summary(&self) -> PyResult<String> {
        let circuit = self.model.circuit();
        let (kind, trees, spans) = match circuit {
            Circuit::Tree(_) => ("tree", 1, 0),
            Circuit::Grove(grove) => ("grove", grove.trees().len(), grove.spans().len()),
        };
        let used = circuit.used_inputs().len();
        let encoder = self.model.encoder();
        let inputs: Vec<_> =
            encoder.inputs().iter().map(|input| (&input.name, input.position, input.kind)).collect();
        Ok(json!({
            "model": kind,
            "trees": trees,
            "spans": spans,
            "gates": circuit.gates(),
            "depth": circuit.depth(),
            "bits": circuit.inputs(),
            "bits_used": used,
            "columns": encoder.width(),
            "inputs": inputs,
            "classes": self.model.classes(),
            "values": circuit.says_values(),
            "quantiles": self.quantiles(),
            "label": self.model.label(),
            "settings": self.model.settings(),
            "provenance": self.model.provenance(),
            "bytes": self.model.to_bytes().len(),
        })
        .to_string())
    }

    /// The same model under the name of the data it was trained on.
    fn with_data(&self, data: String) -> Self {
        let mut provenance = self.model.provenance().clone();
        provenance.data = data;
        Self::new(model::Model::clone(&self.model).with_provenance(provenance))
    }

    /// One tree as its leaves and gates, as JSON: the arity of each level, the bit each leaf reads, the tables of the
    /// gates (level by level from the bottom, as hexadecimal numbers), and the votes at the root, where it has votes.
    fn tree(&self, index: usize) -> PyResult<String> {
        let hex = |words: &[u64]| words.iter().rev().map(|word| format!("{word:016x}")).collect::<String>();
        let tree = match self.model.circuit() {
            Circuit::Tree(tree) if index == 0 => {
                let gates = |level: usize| tree.arity().pow((tree.depth() - level) as u32);
                json!({
                    "arities": vec![tree.arity(); tree.depth()],
                    "leaves": tree.leaves(),
                    "tables": (1..=tree.depth())
                        .map(|level| (0..gates(level)).map(|gate| hex(tree.table_words(level, gate))).collect())
                        .collect::<Vec<Vec<String>>>(),
                })
            }
            Circuit::Grove(grove) if index < grove.trees().len() => {
                let tree = &grove.trees()[index];
                json!({
                    "arities": tree.arities(),
                    "leaves": tree.leaves(),
                    "tables": (1..tree.depth())
                        .map(|level| {
                            (0..tree.level_gates(level)).map(|gate| hex(tree.table_words(level, gate))).collect()
                        })
                        .collect::<Vec<Vec<String>>>(),
                    "votes": (0..1usize << tree.arities()[tree.depth() - 1])
                        .map(|address| tree.votes_at(address))
                        .collect::<Vec<_>>(),
                })
            }
            _ => return Err(raise(gatewood::Error::data(format!("there is no tree {index}")))),
        };
        Ok(tree.to_string())
    }
}
