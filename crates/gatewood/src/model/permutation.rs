//! How much worse a model gets when a column is shuffled.

use super::{Circuit, Metrics, Model, Prediction};
use crate::bits::{BitMatrix, BitView};
use crate::circuit::{Grove, VoteTree, write_probabilities};
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

impl Model {
    /// How much worse the model gets on rows when one column is shuffled among them: for each column of the training table,
    /// by how much the mean log loss rises (of a single tree, which gives no probabilities, the error). A column that the
    /// circuit does not read has exactly 0.
    ///
    /// The rows are bits, as the encoder makes them; `labels` is the class of each.
    ///
    /// # Errors
    /// When the rows have not the bits the circuit takes, or there is not a class for each.
    pub fn permutation_importance(&self, bits: BitView<'_>, labels: &[u32], seed: u64) -> Result<Vec<f64>> {
        if bits.rows() != labels.len() || bits.columns() != self.encoder.bits() {
            return Err(Error::data(format!(
                "{} rows of {} bits for {} labels and {} bits of the encoder",
                bits.rows(),
                bits.columns(),
                labels.len(),
                self.encoder.bits()
            )));
        }
        let mut of_columns = vec![0.0; self.encoder.width()];
        if labels.is_empty() {
            return Ok(of_columns);
        }
        let judge = Judge::new(self, bits, labels)?;
        let everything: Vec<usize> = (0..bits.rows()).collect();
        let mut shuffled = bits.select_rows(&everything)?;
        let mut of_inputs: Vec<Vec<usize>> = vec![Vec::new(); self.encoder.inputs().len()];
        for (bit, meaning) in self.encoder.meanings().iter().enumerate() {
            meaning.columns().for_each(|column| of_inputs[column as usize].push(bit));
        }
        for (index, own) in of_inputs.iter().enumerate() {
            let Some(part) = judge.part(own)? else { continue };
            let mut order = everything.clone();
            Stream::new(seed, Purpose::Split, index as u64).shuffle(&mut order);
            own.iter().for_each(|&bit| permute(bits.column(bit), &order, shuffled.column_mut(bit)));
            let position = self.encoder.inputs()[index].position;
            of_columns[position] += judge.loss(&part, &shuffled)? - judge.whole;
            own.iter().for_each(|&bit| permute(bits.column(bit), &everything, shuffled.column_mut(bit)));
        }
        Ok(of_columns)
    }
}

/// Writes a column of bits in another order.
fn permute(from: &[u64], order: &[usize], to: &mut [u64]) {
    for (chunk, word) in order.chunks(64).zip(to) {
        *word = chunk
            .iter()
            .enumerate()
            .fold(0, |word, (place, &row)| word | (from[row / 64] >> (row % 64) & 1) << place);
    }
}

/// A model and some rows to judge it by.
struct Judge<'a> {
    model: &'a Model,
    bits: BitView<'a>,
    labels: &'a [u32],
    /// The margins of all rows, one list a margin.
    margins: Vec<Vec<i32>>,
    /// The loss on the rows as they are.
    whole: f64,
}

/// What must be run again where some bits change.
enum Part<'a> {
    /// A tree, whole.
    Tree,
    /// Some trees of a grove, and the margins of all rows without them.
    Trees { grove: &'a Grove, trees: Vec<&'a VoteTree>, others: Vec<Vec<i32>> },
}

impl<'a> Judge<'a> {
    fn new(model: &'a Model, bits: BitView<'a>, labels: &'a [u32]) -> Result<Self> {
        let mut judge = Self { model, bits, labels, margins: Vec::new(), whole: 0.0 };
        match &model.circuit {
            Circuit::Tree(_) => judge.whole = judge.error(&Prediction::run(&model.circuit, bits, 1)?)?,
            Circuit::Grove(grove) => {
                let margins = grove.run(bits, 1)?;
                judge.margins = (0..grove.margins()).map(|margin| margins.column(margin).to_vec()).collect();
                judge.whole = judge.log_loss(grove, &judge.margins);
            }
        }
        Ok(judge)
    }

    /// What reads any of these bits, which ascend; nothing if nothing does.
    fn part(&self, bits: &[usize]) -> Result<Option<Part<'a>>> {
        let holds = |column: u32| bits.binary_search(&(column as usize)).is_ok();
        let grove = match &self.model.circuit {
            Circuit::Tree(tree) => {
                return Ok(tree.leaves().iter().any(|&leaf| holds(leaf)).then_some(Part::Tree));
            }
            Circuit::Grove(grove) => grove,
        };
        let reads = |leaf: u32| grove.inputs_of(leaf).into_iter().any(holds);
        let trees: Vec<&VoteTree> =
            grove.trees().iter().filter(|tree| tree.leaves().iter().any(|&leaf| reads(leaf))).collect();
        if trees.is_empty() {
            return Ok(None);
        }
        let mut votes: Vec<Vec<i32>> = vec![vec![0; self.labels.len()]; grove.margins()];
        grove.add_trees(trees.iter().copied(), self.bits, &mut votes)?;
        let mut others = self.margins.clone();
        for (others, votes) in others.iter_mut().flatten().zip(votes.iter().flatten()) {
            *others -= votes;
        }
        Ok(Some(Part::Trees { grove, trees, others }))
    }

    /// The loss on rows of which some bits are changed.
    fn loss(&self, part: &Part<'_>, bits: &BitMatrix) -> Result<f64> {
        match part {
            Part::Tree => self.error(&Prediction::run(&self.model.circuit, bits.view(), 1)?),
            Part::Trees { grove, trees, others } => {
                let mut margins = others.clone();
                grove.add_trees(trees.iter().copied(), bits.view(), &mut margins)?;
                Ok(self.log_loss(grove, &margins))
            }
        }
    }

    fn error(&self, prediction: &Prediction) -> Result<f64> {
        Ok(Metrics::of_classes(self.model.classes.len(), self.labels, prediction.classes())?.error)
    }

    fn log_loss(&self, grove: &Grove, margins: &[Vec<i32>]) -> f64 {
        let mut probabilities = vec![0.0; grove.classes()];
        let mut row_margins = vec![0; margins.len()];
        let mut sum = 0.0;
        for (row, &label) in self.labels.iter().enumerate() {
            row_margins.iter_mut().zip(margins).for_each(|(to, of_rows)| *to = of_rows[row]);
            write_probabilities(grove.unit(), &row_margins, &mut probabilities);
            sum -= libm::log(probabilities[label as usize].max(1e-15));
        }
        sum / self.labels.len() as f64
    }
}
