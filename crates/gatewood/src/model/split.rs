//! Rows put aside: to test on, to tell when to stop, or in turn; class by class, by a seed.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use super::{LabelledRows, Rows};
use crate::bits::BitMatrix;
use crate::encode::{Labels, Table};
use crate::{Error, Result};

/// The share of training rows that tell when to stop, where early stopping is asked for without validation rows.
pub const EARLY_STOPPING_SHARE: f64 = 0.1;

/// Rows to learn from and rows to test on, each in rising order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parts {
    /// Rows to learn from.
    pub train: Vec<usize>,
    /// Rows to test on.
    pub test: Vec<usize>,
}

/// Puts aside a share of the rows of every class, rounded to the nearest number.
///
/// ```
/// use gatewood::encode::Labels;
/// use gatewood::model::holdout;
/// let labels = Labels::new(vec!["a".into(), "b".into()], vec![0, 1, 0, 1, 0, 1, 0, 1, 0, 1])?;
/// let parts = holdout(&labels, 0.2, 7)?;
/// assert_eq!((parts.train.len(), parts.test.len()), (8, 2));
/// # Ok::<(), gatewood::Error>(())
/// ```
///
/// # Errors
/// When the share is not between 0 and 1, or leaves nothing on a side.
pub fn holdout(labels: &Labels, share: f64, seed: u64) -> Result<Parts> {
    if !(share > 0.0 && share < 1.0) {
        return Err(Error::setting(format!("the share put aside must be between 0 and 1, not {share}")));
    }
    let mut is_test = vec![false; labels.len()];
    for rows in shuffled_classes(labels, seed) {
        let count = (rows.len() as f64 * share).round() as usize;
        rows[..count].iter().for_each(|&row| is_test[row] = true);
    }
    let parts = parts(&is_test);
    if parts.test.is_empty() || parts.train.is_empty() {
        return Err(Error::data(format!(
            "a share of {share} of {} rows leaves {} to learn from and {} to test on",
            labels.len(),
            parts.train.len(),
            parts.test.len()
        )));
    }
    Ok(parts)
}

/// Splits the rows in `count` folds with as equal shares of every class as can be; each fold is the test rows of one part.
///
/// # Errors
/// When there are fewer than two folds, or a class to learn would be missing from a part.
pub fn folds(labels: &Labels, count: usize, seed: u64) -> Result<Vec<Parts>> {
    if count < 2 {
        return Err(Error::setting(format!("there must be two folds or more, not {count}")));
    }
    if let Some(class) = labels.counts().iter().position(|&rows| rows < count.min(2)) {
        return Err(Error::data(format!(
            "class \"{}\" has too few rows to be split in folds",
            labels.classes()[class]
        )));
    }
    if labels.len() < count {
        return Err(Error::data(format!("{} rows cannot be split in {count} folds", labels.len())));
    }
    let mut fold_of = vec![0; labels.len()];
    // The next class goes on where the last one stopped, so that folds differ by one row at most.
    for (place, row) in shuffled_classes(labels, seed).into_iter().flatten().enumerate() {
        fold_of[row] = place % count;
    }
    Ok((0..count).map(|fold| parts(&fold_of.iter().map(|&f| f == fold).collect::<Vec<_>>())).collect())
}

fn parts(is_test: &[bool]) -> Parts {
    let (test, train) = (0..is_test.len()).partition(|&row| is_test[row]);
    Parts { train, test }
}

/// The rows of each class, shuffled; a class's order depends on the seed and its own position alone.
fn shuffled_classes(labels: &Labels, seed: u64) -> Vec<Vec<usize>> {
    let mut classes = vec![Vec::new(); labels.classes().len()];
    for (row, &class) in labels.codes().iter().enumerate() {
        classes[class as usize].push(row);
    }
    if labels.values().is_some() {
        classes.push((0..labels.len()).collect());
    }
    for (class, rows) in classes.iter_mut().enumerate() {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..13].copy_from_slice(b"split");
        let mut random = ChaCha8Rng::from_seed(key);
        random.set_stream(class as u64);
        for last in (1..rows.len()).rev() {
            rows.swap(last, below(&mut random, u32::try_from(last + 1).unwrap_or(u32::MAX)) as usize);
        }
    }
    classes
}

/// A number below `bound`, which is not 0, each as likely as any other.
fn below(random: &mut ChaCha8Rng, bound: u32) -> u32 {
    // A multiplication maps 32 random bits onto 0..bound; the few values that would favour some are drawn again.
    let reject = bound.wrapping_neg() % bound;
    loop {
        let product = u64::from(random.next_u32()) * u64::from(bound);
        if product as u32 >= reject {
            return (product >> 32) as u32;
        }
    }
}

/// Some of the rows that somebody else holds, with their labels and weights.
#[derive(Debug, Clone)]
pub struct Subset {
    rows: Selected,
    labels: Labels,
    weights: Option<Vec<f64>>,
}

#[derive(Debug, Clone)]
enum Selected {
    Raw(Table),
    Bits(BitMatrix),
}

impl Subset {
    /// The rows as training takes them.
    pub fn view(&self) -> LabelledRows<'_> {
        LabelledRows {
            rows: match &self.rows {
                Selected::Raw(table) => Rows::Raw(table.view()),
                Selected::Bits(bits) => Rows::Bits(bits.view()),
            },
            labels: &self.labels,
            weights: self.weights.as_deref(),
        }
    }
}

impl LabelledRows<'_> {
    /// The given rows of these, in that order.
    ///
    /// # Errors
    /// When a row has no label or no weight, or the memory is unavailable.
    pub fn select(&self, rows: &[usize]) -> Result<Subset> {
        let count = self.labels.len().min(self.rows.len()).min(self.weights.map_or(usize::MAX, <[f64]>::len));
        if let Some(row) = rows.iter().find(|&&row| row >= count) {
            return Err(Error::data(format!("there is no row {row}, or it has no label or weight")));
        }
        Ok(Subset {
            rows: match self.rows {
                Rows::Raw(table) => Selected::Raw(table.select_rows(rows)?),
                Rows::Bits(bits) => Selected::Bits(bits.select_rows(rows)?),
            },
            labels: self.labels.select_rows(rows),
            weights: self.weights.map(|weights| rows.iter().map(|&row| weights[row]).collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(codes: Vec<u32>) -> Labels {
        Labels::new(vec!["a".into(), "b".into(), "c".into()], codes).unwrap()
    }

    proptest! {
        #[test]
        fn folds_test_every_row_once_and_share_the_classes(
            codes in proptest::collection::vec(0u32..3, 1..200), count in 2usize..7, seed: u64,
        ) {
            let labels = labels(codes);
            let Ok(folds) = folds(&labels, count, seed) else {
                prop_assert!(labels.counts().iter().any(|&c| c < 2) || labels.len() < count);
                return Ok(());
            };
            let mut tested = vec![0; labels.len()];
            for parts in &folds {
                parts.test.iter().for_each(|&row| tested[row] += 1);
                prop_assert_eq!(parts.train.len() + parts.test.len(), labels.len());
                prop_assert!(parts.test.len().abs_diff(labels.len() / count) <= 1);
                let counts = labels.select_rows(&parts.test).counts();
                for (count_here, all) in counts.iter().zip(labels.counts()) {
                    prop_assert!(count_here.abs_diff(all / count) <= 1);
                }
            }
            prop_assert!(tested.iter().all(|&times| times == 1));
        }

        #[test]
        fn a_holdout_is_a_partition_with_its_share_of_every_class(
            codes in proptest::collection::vec(0u32..3, 20..200), seed: u64,
        ) {
            let labels = labels(codes);
            let parts = holdout(&labels, 0.25, seed).unwrap();
            let mut rows = [parts.train.clone(), parts.test.clone()].concat();
            rows.sort_unstable();
            prop_assert_eq!(rows, (0..labels.len()).collect::<Vec<_>>());
            for (here, all) in labels.select_rows(&parts.test).counts().iter().zip(labels.counts()) {
                prop_assert!((*here as f64 - all as f64 * 0.25).abs() <= 0.5);
            }
            prop_assert_eq!(&parts, &holdout(&labels, 0.25, seed).unwrap());
        }
    }

    #[test]
    fn a_split_is_pinned_by_its_seed() {
        let labels = labels((0..30).map(|i| i % 3).collect());
        assert_eq!(holdout(&labels, 0.2, 0).unwrap().test, [0, 4, 14, 22, 24, 29]);
        assert_ne!(holdout(&labels, 0.2, 0).unwrap(), holdout(&labels, 0.2, 1).unwrap());
    }

    #[test]
    fn shares_that_leave_nothing_are_refused() {
        let labels = labels(vec![0, 1, 2, 0]);
        assert!(holdout(&labels, 0.0, 0).unwrap_err().is_setting());
        assert!(holdout(&labels, 1.0, 0).unwrap_err().is_setting());
        assert!(holdout(&labels, 0.01, 0).unwrap_err().is_data());
        assert!(folds(&labels, 1, 0).unwrap_err().is_setting());
        assert!(folds(&labels, 9, 0).unwrap_err().is_data());
    }
}
