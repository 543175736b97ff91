//! A trained model, held by Python.

use gatewood::model::{self, Circuit, Prediction};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

use crate::error::{detached, raise};
use crate::rows::Rows;

/// A trained model: what the estimators and the `.gw` file hold.
#[pyclass(frozen, module = "gatewood._core")]
pub struct Model(model::Model);

impl Model {
    /// A model of the library, for Python.
    pub fn new(model: model::Model) -> Self {
        Self(model)
    }

    /// The model of the library.
    pub fn inner(&self) -> &model::Model {
        &self.0
    }

    fn run(&self, py: Python<'_>, rows: &Rows<'_>, threads: usize) -> PyResult<Prediction> {
        let rows = rows.borrow()?;
        detached(py, || self.0.predict_rows(rows, threads))
    }
}

#[pymethods]
impl Model {
    /// Reads the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        detached(py, || model::Model::from_bytes(bytes)).map(Self)
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Self> {
        detached(py, || model::Model::load(path)).map(Self)
    }

    /// Writes a model file, all of it or nothing.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        detached(py, || self.0.save(path))
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py),)))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().0 == self.0)
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

    /// The margins of each row in log-odds, or nothing for a tree.
    fn margins<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        threads: usize,
    ) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let prediction = self.run(py, &rows, threads)?;
        let (Some(width), Some(margins), Circuit::Grove(grove)) =
            (prediction.width(), prediction.margins(), self.0.circuit())
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
        let classes = self.0.classes().len();
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

    /// What each raw column is worth.
    fn importance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.importance().into_pyarray(py)
    }

    /// The names of the classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.0.classes().to_vec()
    }

    /// The columns of the rows it was trained on.
    #[getter]
    fn width(&self) -> usize {
        self.0.encoder().width()
    }

    /// Whether it was trained on rows of ready bits.
    #[getter]
    fn takes_bits(&self) -> bool {
        self.0.encoder().inputs().iter().all(|input| input.kind == gatewood::encode::Kind::Bit)
    }

    /// The names of the bits that leaves may read, spans after the encoder's bits: what each says of a row.
    fn bit_names(&self) -> Vec<String> {
        let columns = match self.0.circuit() {
            Circuit::Tree(tree) => tree.inputs(),
            Circuit::Grove(grove) => grove.columns(),
        };
        (0..columns as u32).map(|column| self.0.describe(column)).collect()
    }

    /// What there is to tell of it, as JSON.
    fn summary(&self) -> PyResult<String> {
        let circuit = self.0.circuit();
        let (kind, trees, spans) = match circuit {
            Circuit::Tree(_) => ("tree", 1, 0),
            Circuit::Grove(grove) => ("grove", grove.trees().len(), grove.spans().len()),
        };
        let used = circuit.used_inputs().len();
        let encoder = self.0.encoder();
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
            "classes": self.0.classes(),
            "label": self.0.label(),
            "settings": self.0.settings(),
            "provenance": self.0.provenance(),
            "bytes": self.0.to_bytes().len(),
        })
        .to_string())
    }

    /// The same model under the name of the data it was trained on.
    fn with_data(&self, data: String) -> Self {
        let mut provenance = self.0.provenance().clone();
        provenance.data = data;
        Self(self.0.clone().with_provenance(provenance))
    }

    /// One tree as its leaves and gates, as JSON: the arity of each level, the bit each leaf reads, the tables of the
    /// gates (level by level from the bottom, as hexadecimal numbers), and the votes at the root, where it has votes.
    fn tree(&self, index: usize) -> PyResult<String> {
        let hex = |words: &[u64]| words.iter().rev().map(|word| format!("{word:016x}")).collect::<String>();
        let tree = match self.0.circuit() {
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
