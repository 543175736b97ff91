//! How much worse a model gets when a column is shuffled.

use super::{Circuit, Metrics, Model, Prediction};
use crate::bits::{BitMatrix, BitView};
use crate::circuit::{Grove, VoteTree, write_probabilities};
use crate::pool::{each, with_pool};
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
        let readers = self.readers();
        for (index, worth) in judge.shuffle_all(&readers, 1, seed, false)?.into_iter().enumerate() {
            of_columns[self.encoder.inputs()[index].position] += worth;
        }
        Ok(of_columns)
    }

    /// [`Model::permutation_importance`] of a grove on some of these rows, as many as take little time; each column's part of
    /// the sum. Nothing where even few rows would take long, as on images, or no column matters.
    pub(super) fn measured_importance(
        &self,
        bits: BitView<'_>,
        labels: &[u32],
        seed: u64,
        threads: usize,
    ) -> Result<Option<Vec<f64>>> {
        if bits.columns() != self.encoder.bits() || bits.rows() != labels.len() {
            return Ok(None);
        }
        let Some(sample) = self.importance_sample(bits.rows()) else { return Ok(None) };
        let labels: Vec<u32> = sample.rows.iter().map(|&row| labels[row]).collect();
        self.importance_of(bits.select_rows(&sample.rows)?.view(), &labels, &sample, seed, threads)
    }

    /// The rows out of so many that [`Model::measured_importance`] looks at.
    pub(super) fn importance_sample(&self, rows: usize) -> Option<ImportanceSample> {
        let Circuit::Grove(grove) = &self.circuit else { return None };
        if self.circuit.says_values() || !grove.patterns().is_empty() || !grove.spans().is_empty() {
            return None;
        }
        let readers = self.readers();
        let trees: usize = readers.iter().map(|readers| readers.trees.len()).sum();
        let affordable = WORK / (2 * trees.max(1) + READING * readers.len());
        let count = rows.min(affordable).min(MOST_ROWS);
        if count < rows.min(FEWEST_ROWS) {
            return None;
        }
        let times = (affordable / count.max(1)).min(MOST_ROWS / count.max(1)).clamp(1, MOST_TIMES);
        Some(ImportanceSample { rows: (0..count).map(|index| index * rows / count).collect(), times })
    }

    /// [`Model::measured_importance`] of the rows of a sample.
    pub(super) fn importance_of(
        &self,
        bits: BitView<'_>,
        labels: &[u32],
        sample: &ImportanceSample,
        seed: u64,
        threads: usize,
    ) -> Result<Option<Vec<f64>>> {
        let (readers, times) = (self.readers(), sample.times);
        let judge = Judge::new(self, bits, labels)?;
        let worth = with_pool(threads, true, |parallel| judge.shuffle_all(&readers, times, seed, parallel))?;
        let mut of_columns = vec![0.0; self.encoder.width()];
        for (index, worth) in worth.into_iter().enumerate() {
            of_columns[self.encoder.inputs()[index].position] += worth.max(0.0);
        }
        let all: f64 = of_columns.iter().sum();
        // A millionth is as fine as anyone reads it, and short in the file.
        of_columns.iter_mut().for_each(|worth| *worth = libm::rint(*worth / all * 1e6) / 1e6);
        Ok((all > 0.0).then_some(of_columns))
    }

    /// For each input of the encoder its bits, and the trees of a grove that read any of them.
    fn readers(&self) -> Vec<Readers> {
        let inputs = self.encoder.inputs().len();
        let mut readers: Vec<Readers> = (0..inputs).map(|_| Readers::default()).collect();
        let mut columns_of = vec![Vec::new(); self.encoder.bits()];
        for (bit, meaning) in self.encoder.meanings().iter().enumerate() {
            for column in meaning.columns() {
                readers[column as usize].bits.push(bit);
                columns_of[bit].push(column as usize);
            }
        }
        if let Circuit::Grove(grove) = &self.circuit {
            for (position, tree) in grove.trees().iter().enumerate() {
                for &leaf in tree.leaves() {
                    for bit in grove.inputs_of(leaf) {
                        for &column in &columns_of[bit as usize] {
                            let trees = &mut readers[column].trees;
                            if trees.last() != Some(&position) {
                                trees.push(position);
                            }
                        }
                    }
                }
            }
        }
        readers
    }
}

/// Trees times rows that are run to measure what columns are worth: about a tenth of a second.
const WORK: usize = 1 << 26;

/// What it takes to judge a row once more, in trees.
const READING: usize = 20;

/// Rows that columns are shuffled among: at the most, and at the least where there are as many.
const MOST_ROWS: usize = 4096;
const FEWEST_ROWS: usize = 256;

/// How often a column is shuffled at the most, where rows are few.
const MOST_TIMES: usize = 8;

/// The rows that columns are shuffled among, and how often.
pub(super) struct ImportanceSample {
    pub(super) rows: Vec<usize>,
    times: usize,
}

/// An input of the encoder.
#[derive(Default)]
struct Readers {
    /// Its bits, ascending.
    bits: Vec<usize>,
    /// The trees of a grove that read any of them, ascending.
    trees: Vec<usize>,
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

    /// By how much the loss rises when the bits of one input after the other are shuffled so many times, on average.
    fn shuffle_all(&self, readers: &[Readers], times: usize, seed: u64, parallel: bool) -> Result<Vec<f64>> {
        let everything: Vec<usize> = (0..self.bits.rows()).collect();
        let shuffle = |index: usize| -> Result<f64> {
            let own = &readers[index];
            let Some(part) = self.part(own)? else { return Ok(0.0) };
            let mut shuffled = self.bits.to_matrix()?;
            let mut stream = Stream::new(seed, Purpose::Split, index as u64);
            let mut sum = 0.0;
            for _ in 0..times {
                let mut order = everything.clone();
                stream.shuffle(&mut order);
                for &bit in &own.bits {
                    permute(self.bits.column(bit), &order, shuffled.column_mut(bit));
                }
                sum += self.loss(&part, &shuffled)? - self.whole;
            }
            Ok(sum / times as f64)
        };
        each(parallel, readers.len(), shuffle).into_iter().collect()
    }

    /// What reads any bit of an input; nothing if nothing does.
    fn part(&self, readers: &Readers) -> Result<Option<Part<'a>>> {
        let grove = match &self.model.circuit {
            Circuit::Tree(tree) => {
                let holds = |leaf: &u32| readers.bits.binary_search(&(*leaf as usize)).is_ok();
                return Ok(tree.leaves().iter().any(holds).then_some(Part::Tree));
            }
            Circuit::Grove(grove) => grove,
        };
        if readers.trees.is_empty() {
            return Ok(None);
        }
        let trees: Vec<&VoteTree> = readers.trees.iter().map(|&tree| &grove.trees()[tree]).collect();
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
