//! A model made ready to predict again and again.

use std::sync::{Arc, Mutex, PoisonError};

use super::rows::{Encoded, Rows, encode};
use super::{Circuit, Model, Prediction};
#[cfg(feature = "train")]
use crate::bits::BitView;
use crate::bits::kernels::Kernels;
#[cfg(feature = "train")]
use crate::circuit::Margins;
use crate::circuit::{Grove, Output, RowCircuit, RowRoom, Tally, write_probabilities};
use crate::encode::{Kind, Row, RowEncoder};
#[cfg(feature = "train")]
use crate::learn::device::{Device, DeviceGrove};
use crate::{Error, Result};

/// Rows that are predicted one by one rather than side by side: side by side, eight take as long as hundreds.
const FEW: usize = 8;

/// A model compiled for predicting: made once, then asked from any number of threads.
///
/// One row is predicted without a thread pool, without a transpose and without allocating: only the columns that the
/// circuit reads are encoded, and its gates look up their tables. (Texts are an exception: a word with letters beyond
/// ASCII, and a number in a column that held texts, are allocated.) Many rows run side by side as in
/// [`Model::predict`]. The answers are the same, bit for bit.
///
/// ```
/// use gatewood::encode::{Column, Labels, Numbers, Table, Texts, Value};
/// use gatewood::learn::Silent;
/// use gatewood::model::{Rows, TrainSettings, Training, train};
///
/// let width: Vec<f64> = (0..100).map(f64::from).collect();
/// let kind = Texts::from_rows((0..100).map(|row| Some(if row % 2 == 0 { "even" } else { "odd" })));
/// let table = Table::new(vec![
///     ("width".into(), Column::Number(Numbers::F64(width))),
///     ("kind".into(), Column::Text(kind)),
/// ])?;
/// let labels = Labels::new(vec!["small".into(), "large".into()], (0..100).map(|row| u32::from(row > 40)).collect())?;
/// let model = train(&Training::new(Rows::Raw(table.view()), &labels), &TrainSettings::default(), &Silent)?.model;
///
/// let predictor = model.predictor();
/// let class = predictor.predict_one(&[Value::Number(70.0), Value::Text("odd")][..])?;
/// assert_eq!(predictor.model().classes()[class as usize], "large");
/// let mut probabilities = [0.0; 2];
/// predictor.predict_proba_one(&[Value::Number(3.0), Value::Missing][..], &mut probabilities)?;
/// assert!(probabilities[0] > 0.5);
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug)]
pub struct Predictor {
    model: Arc<Model>,
    encoder: RowEncoder,
    circuit: RowCircuit,
    /// The grove made ready for many rows.
    tally: Option<Tally>,
    /// The circuit where many rows are run, if that is not this process.
    #[cfg(feature = "train")]
    device: Option<Arc<dyn DeviceGrove>>,
    takes_bits: bool,
    /// Room that was used and is free again.
    rooms: Mutex<Vec<Room>>,
}

/// What one call works in.
#[derive(Debug, Clone)]
struct Room {
    row: RowRoom,
    word: String,
}

impl Clone for Predictor {
    fn clone(&self) -> Self {
        Self {
            model: Arc::clone(&self.model),
            encoder: self.encoder.clone(),
            circuit: self.circuit.clone(),
            tally: self.tally.clone(),
            #[cfg(feature = "train")]
            device: self.device.clone(),
            takes_bits: self.takes_bits,
            rooms: Mutex::default(),
        }
    }
}

impl Predictor {
    /// Makes a model ready; a shared one stays shared.
    pub fn new(model: impl Into<Arc<Model>>) -> Self {
        let model = model.into();
        let encoder = RowEncoder::new(model.encoder(), &model.circuit().used_inputs());
        let (circuit, tally) = match model.circuit() {
            Circuit::Tree(tree) => (RowCircuit::of_tree(tree, encoder.bits()), None),
            Circuit::Grove(grove) => (RowCircuit::of_grove(grove, encoder.bits()), Some(Tally::new(grove))),
        };
        let takes_bits = model.encoder().inputs().iter().all(|input| input.kind == Kind::Bit);
        Self {
            model,
            encoder,
            circuit,
            tally,
            #[cfg(feature = "train")]
            device: None,
            takes_bits,
            rooms: Mutex::default(),
        }
    }

    /// The same, with many rows run on a device. A few are still predicted here; the answers are the same.
    ///
    /// # Errors
    /// When the memory of the device does not hold the circuit, or the device fails.
    #[cfg(feature = "train")]
    pub fn on(self, device: &dyn Device) -> Result<Self> {
        let grove = match self.model.circuit() {
            Circuit::Tree(tree) => device.grove(&tree.to_grove()?)?,
            Circuit::Grove(grove) => device.grove(grove)?,
        };
        Ok(Self { device: Some(grove.into()), ..self })
    }

    /// The model that it was made from.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What the model says of rows, on `threads` threads, 0 for one a core. A few rows are predicted one by one.
    ///
    /// # Errors
    /// As [`Model::predict_rows`].
    pub fn predict(&self, rows: Rows<'_>, threads: usize) -> Result<Prediction> {
        let one_by_one = match rows {
            Rows::Raw(table) => (1..=FEW).contains(&table.rows()),
            Rows::Bits(bits) => (1..=FEW).contains(&bits.rows()) && self.takes_bits,
        };
        if one_by_one {
            let row = |row: usize| match rows {
                Rows::Raw(table) => Row::Of(table, row),
                Rows::Bits(bits) => Row::Packed(bits, row),
            };
            return self.predict_few((0..rows.len()).map(row));
        }
        let bits = self.encode(rows, threads)?;
        #[cfg(feature = "train")]
        if let Some(device) = &self.device {
            return self.predict_there(&**device, bits.view());
        }
        match (self.model.circuit(), &self.tally) {
            (Circuit::Grove(grove), Some(tally)) => {
                let margins = grove.run_with(tally, bits.view(), threads, Kernels::best())?;
                Prediction::of_margins(grove, &margins)
            }
            (circuit, _) => Prediction::run(circuit, bits.view(), threads),
        }
    }

    /// What the model says of rows, by a device.
    #[cfg(feature = "train")]
    fn predict_there(&self, device: &dyn DeviceGrove, bits: BitView<'_>) -> Result<Prediction> {
        let inputs = self.model.circuit().inputs();
        if bits.columns() != inputs {
            return Err(Error::data(format!("rows of {} bits for {inputs} inputs", bits.columns())));
        }
        let margins = match self.model.circuit() {
            Circuit::Grove(grove) => grove.margins(),
            Circuit::Tree(_) => 1,
        };
        crate::memory::check(bits.rows().saturating_mul(4 * margins))?;
        let margins = Margins::of_columns(device.run(bits)?);
        match self.model.circuit() {
            Circuit::Grove(grove) => Prediction::of_margins(grove, &margins),
            circuit => Ok(Prediction::of_rows(circuit, margins.classes(), Vec::new())),
        }
    }

    /// What the model says of rows, one by one.
    ///
    /// # Errors
    /// As [`Predictor::predict_one`], for the first row that does not fit.
    pub fn predict_few<'a>(&self, rows: impl IntoIterator<Item = Row<'a>>) -> Result<Prediction> {
        let (mut classes, mut margins) = (Vec::new(), Vec::new());
        for row in rows {
            classes.push(self.with(row, |class, of_row| {
                margins.extend_from_slice(of_row);
                class
            })?);
        }
        if self.model.circuit().says_values() {
            classes.clear();
        }
        Ok(Prediction::of_rows(self.model.circuit(), classes, margins))
    }

    /// The class of one row, by its position in [`Model::classes`].
    ///
    /// # Errors
    /// When the row has not the columns of training, a value does not fit its column, or the model says values.
    pub fn predict_one<'a>(&self, row: impl Into<Row<'a>>) -> Result<u32> {
        self.check_classes()?;
        self.with(row.into(), |class, _| class)
    }

    /// The value of one row, where the model says values: of several quantiles, that nearest to the median.
    ///
    /// # Errors
    /// When the row has not the columns of training, a value does not fit its column, or the model says classes.
    pub fn predict_value_one<'a>(&self, row: impl Into<Row<'a>>) -> Result<f64> {
        let Circuit::Grove(grove) = self.model.circuit() else {
            return Err(Error::setting("the model says classes, not values"));
        };
        let Output::Value(output) = grove.output() else {
            return Err(Error::setting("the model says classes, not values"));
        };
        self.with(row.into(), |_, margins| {
            let mut places = [0; 16];
            let places = &mut places[..margins.len()];
            places.copy_from_slice(margins);
            grove.output().arrange(places);
            output.value(places[output.quantiles.middle()])
        })
    }

    fn check_classes(&self) -> Result<()> {
        if self.model.circuit().says_values() {
            return Err(Error::setting("the model says values, not classes"));
        }
        Ok(())
    }

    /// The class of one row; writes the probability of each class. A single tree is always certain.
    ///
    /// # Errors
    /// As [`Predictor::predict_one`], and when there is not one place for each class.
    pub fn predict_proba_one<'a>(&self, row: impl Into<Row<'a>>, probabilities: &mut [f64]) -> Result<u32> {
        self.check_classes()?;
        if probabilities.len() != self.model.classes().len() {
            return Err(Error::data(format!(
                "room for {} probabilities, but there are {} classes",
                probabilities.len(),
                self.model.classes().len()
            )));
        }
        self.with(row.into(), |class, margins| {
            match self.model.circuit() {
                Circuit::Grove(grove) => write_probabilities(grove.unit(), margins, probabilities),
                Circuit::Tree(_) => {
                    probabilities.fill(0.0);
                    probabilities[class as usize] = 1.0;
                }
            }
            class
        })
    }

    pub(super) fn encode<'a>(&self, rows: Rows<'a>, threads: usize) -> Result<Encoded<'a>> {
        encode(self.model.encoder(), rows, threads)
    }

    /// Runs one row, and shows its class and its margins.
    fn with<T>(&self, row: Row<'_>, show: impl FnOnce(u32, &[i32]) -> T) -> Result<T> {
        let free = || self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = free().pop();
        let mut room = taken.unwrap_or_else(|| Room { row: self.circuit.room(), word: String::new() });
        let Room { row: room_of_row, word } = &mut room;
        let filled = self.encoder.fill(self.model.encoder(), row, word, &mut room_of_row.slots);
        let shown = filled.map(|()| {
            self.circuit.run(room_of_row);
            let margins = &room_of_row.margins;
            show(Grove::class_of(margins) as u32, margins)
        });
        free().push(room);
        shown
    }
}

impl Model {
    /// The model made ready to predict again and again, also single rows.
    pub fn predictor(&self) -> Predictor {
        Predictor::new(self.clone())
    }
}
