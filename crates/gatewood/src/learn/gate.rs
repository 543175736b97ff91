//! From the counts of a gate's addresses to its table.
//!
//! Scores are integers, so that equal partitions have equal scores whatever the order of the sums.

use super::{Criterion, Unseen};
use crate::circuit::MAX_ARITY;
use crate::platform::parallel::*;

/// `x log2 x` in units of 2^-20, from a table for small `x`.
#[derive(Debug, Clone)]
pub struct LogTable {
    values: Vec<i64>,
}

impl LogTable {
    /// Largest `x` in the table; beyond it the value is computed.
    const LIMIT: usize = 1 << 16;

    /// A table for counts up to `rows`.
    pub fn new(rows: usize) -> Self {
        Self { values: (0..=rows.min(Self::LIMIT)).map(|x| x_log_x(x as u32)).collect() }
    }

    /// For every part of `all`, `x log2 x` of the part and of what it leaves.
    pub(crate) fn parted(&self, all: u32) -> Vec<i64> {
        match self.values.get(..=all as usize) {
            Some(values) => values.iter().zip(values.iter().rev()).map(|(part, rest)| part + rest).collect(),
            None => (0..=all).map(|part| self.at(part) + self.at(all - part)).collect(),
        }
    }

    /// `x log2 x` for all `x` up to `most`.
    pub fn list(&self, most: u32) -> Vec<i64> {
        (0..most as usize + 1).into_par_iter().map(|x| self.at(x as u32)).collect()
    }

    /// `x log2 x`.
    #[inline]
    pub fn at(&self, x: u32) -> i64 {
        match self.values.get(x as usize) {
            Some(&value) => value,
            None => beyond(x),
        }
    }

    /// Minus the number of rows times the entropy of their class.
    #[inline]
    pub fn purity(&self, zeros: u32, ones: u32) -> i64 {
        self.at(zeros) + self.at(ones) - self.at(zeros + ones)
    }
}

/// [`x_log_x`] where the table ends: out of the way, so that looking up is short.
#[cold]
#[inline(never)]
fn beyond(x: u32) -> i64 {
    x_log_x(x)
}

fn x_log_x(x: u32) -> i64 {
    if x == 0 {
        return 0;
    }
    let x = f64::from(x);
    // At most 2^32 * 32 * 2^20 = 2^57.
    libm::rint(x * libm::log2(x) * (1 << 20) as f64) as i64
}

/// What was fitted besides the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fit {
    /// The criterion's value, larger is better; comparable among gates over the same rows.
    pub score: i64,
    /// Rows of each class for which the gate says one.
    pub ones: [u32; 2],
}

/// Fits tables to counts.
#[derive(Debug, Clone)]
pub struct GateFitter {
    logs: LogTable,
    rows: [u32; 2],
    unseen: Unseen,
    /// The key unseen addresses are sorted by.
    prior: f64,
}

impl GateFitter {
    /// A fitter for gates over `rows[c]` rows of class `c`.
    pub fn new(rows: [u32; 2], unseen: Unseen, logs: LogTable) -> Self {
        let all = f64::from(rows[0]) + f64::from(rows[1]);
        Self { logs, rows, unseen, prior: f64::from(rows[1]) / all }
    }

    /// The logarithms in use.
    pub fn logs(&self) -> &LogTable {
        &self.logs
    }

    /// Chooses a table by a criterion. `zeros[a]` and `ones[a]` are the rows of class 0 and 1 at address `a`.
    ///
    /// # Panics
    /// When the slices do not fit each other.
    pub fn fit(&self, criterion: Criterion, zeros: &[u32], ones: &[u32], table: &mut [u64]) -> Fit {
        match criterion {
            Criterion::InformationGain => self.fit_information_gain(zeros, ones, table),
            Criterion::Accuracy => self.fit_accuracy(zeros, ones, table),
        }
    }

    /// The majority class of each address; class 1 where they are equal, as in the paper.
    pub fn fit_accuracy(&self, zeros: &[u32], ones: &[u32], table: &mut [u64]) -> Fit {
        assert!(zeros.len() == ones.len() && table.len() == zeros.len().div_ceil(64));
        let unseen = self.unseen == Unseen::Prior && self.rows[1] >= self.rows[0];
        table.fill(0);
        let mut said = [0; 2];
        for (address, (&zero, &one)) in zeros.iter().zip(ones).enumerate() {
            let output = if zero + one == 0 { unseen } else { one >= zero };
            if output {
                table[address / 64] |= 1 << (address % 64);
                said[0] += zero;
                said[1] += one;
            }
        }
        let right = i64::from(self.rows[0] - said[0]) + i64::from(said[1]);
        Fit { score: right, ones: said }
    }

    /// The cut of the addresses, sorted by their share of class 1, with the largest information gain.
    pub fn fit_information_gain(&self, zeros: &[u32], ones: &[u32], table: &mut [u64]) -> Fit {
        assert!(zeros.len() == ones.len() && table.len() == zeros.len().div_ceil(64));
        // Gates of few inputs are fitted by the million: their keys need no allocation.
        let (mut few, mut many);
        let keys = match zeros.len() {
            addresses @ ..=64 => {
                few = [0u64; 64];
                &mut few[..addresses]
            }
            addresses => {
                many = vec![0u64; addresses];
                &mut many[..]
            }
        };
        let keys = self.sort(zeros, ones, keys);

        // Rows of the addresses before the cut.
        let mut before = [0u32; 2];
        let mut best = (i64::MIN, 0, before);
        for (cut, &key) in keys.iter().enumerate() {
            if cut > 0 {
                let score = self.logs.purity(before[0], before[1])
                    + self.logs.purity(self.rows[0] - before[0], self.rows[1] - before[1]);
                if score > best.0 {
                    best = (score, cut, before);
                }
            }
            let address = address_of(key);
            before[0] += zeros[address];
            before[1] += ones[address];
        }
        table.fill(0);
        if best.1 == 0 {
            // One address or none: nothing to cut, the gate says the majority.
            best.0 = self.logs.purity(self.rows[0], self.rows[1]);
            if self.rows[1] < self.rows[0] {
                return Fit { score: best.0, ones: [0; 2] };
            }
        }
        for &key in &keys[best.1..] {
            let address = address_of(key);
            table[address / 64] |= 1 << (address % 64);
        }
        Fit { score: best.0, ones: [self.rows[0] - best.2[0], self.rows[1] - best.2[1]] }
    }

    /// The addresses to be cut, in the order of their share of class 1, each in the low bits of its key.
    fn sort<'k>(&self, zeros: &[u32], ones: &[u32], keys: &'k mut [u64]) -> &'k [u64] {
        let mut length = 0;
        for (address, (&zero, &one)) in zeros.iter().zip(ones).enumerate() {
            let rows = zero + one;
            let share = if rows == 0 { self.prior } else { f64::from(one) / f64::from(rows) };
            // Positive floats sort as their bits do; the lowest bits make way for the address.
            keys[length] = share.to_bits() & !ADDRESS_MASK | address as u64;
            length += usize::from(rows > 0 || self.unseen == Unseen::Prior);
        }
        let keys = &mut keys[..length];
        if length <= 16 {
            insertion_sort(keys)
        } else {
            keys.sort_unstable()
        }
        keys
    }
}

const ADDRESS_MASK: u64 = (1 << MAX_ARITY) - 1;

fn address_of(key: u64) -> usize {
    (key & ADDRESS_MASK) as usize
}

fn insertion_sort(keys: &mut [u64]) {
    for end in 1..keys.len() {
        let key = keys[end];
        let mut at = end;
        while at > 0 && keys[at - 1] > key {
            keys[at] = keys[at - 1];
            at -= 1;
        }
        keys[at] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Rows times the mutual information of output and class, in bits, from the definition.
    fn gain(table: u64, zeros: &[u32], ones: &[u32]) -> f64 {
        let mut counts = [[0.0f64; 2]; 2];
        for address in 0..zeros.len() {
            let output = (table >> address & 1) as usize;
            counts[output][0] += f64::from(zeros[address]);
            counts[output][1] += f64::from(ones[address]);
        }
        let all: f64 = counts.iter().flatten().sum();
        let mut gain = 0.0;
        for output in 0..2 {
            for class in 0..2 {
                let both = counts[output][class];
                let product = counts[output].iter().sum::<f64>() * (counts[0][class] + counts[1][class]);
                if both > 0.0 {
                    gain += both * (both * all / product).log2();
                }
            }
        }
        gain
    }

    proptest! {
        #[test]
        fn finds_the_largest_information_gain(
            counts in prop::collection::vec((0u32..40, 0u32..40), 8), unseen_zero: bool,
        ) {
            let (zeros, ones): (Vec<u32>, Vec<u32>) = counts.into_iter().unzip();
            let rows = [zeros.iter().sum(), ones.iter().sum()];
            prop_assume!(rows[0] > 0 && rows[1] > 0);
            let unseen = if unseen_zero { Unseen::Zero } else { Unseen::Prior };
            let fitter = GateFitter::new(rows, unseen, LogTable::new(600));
            let mut table = [0];
            let fit = fitter.fit(Criterion::InformationGain, &zeros, &ones, &mut table);
            let best = (0u64..256).map(|table| gain(table, &zeros, &ones)).fold(0.0, f64::max);
            prop_assert!((gain(table[0], &zeros, &ones) - best).abs() < 1e-3);
            let whole = fitter.logs().purity(rows[0], rows[1]);
            prop_assert!(((fit.score - whole) as f64 / (1 << 20) as f64 - best).abs() < 1e-3);
            for (class, counts) in [zeros, ones].iter().enumerate() {
                let said: u32 = (0..8).filter(|a| table[0] >> a & 1 == 1).map(|a| counts[a]).sum();
                prop_assert_eq!(fit.ones[class], said);
            }
        }
    }

    #[test]
    fn unseen_addresses_follow_the_policy() {
        // Address 1 is unseen; class 1 is the larger one.
        let (zeros, ones) = ([5, 0, 1, 0], [1, 0, 7, 9]);
        let mut table = [0];
        GateFitter::new([6, 17], Unseen::Zero, LogTable::new(23)).fit(
            Criterion::Accuracy,
            &zeros,
            &ones,
            &mut table,
        );
        assert_eq!(table[0], 0b1100);
        GateFitter::new([6, 17], Unseen::Prior, LogTable::new(23)).fit(
            Criterion::Accuracy,
            &zeros,
            &ones,
            &mut table,
        );
        assert_eq!(table[0], 0b1110);
    }

    #[test]
    fn one_address_is_a_constant() {
        let mut table = [0];
        let fit = GateFitter::new([3, 9], Unseen::Zero, LogTable::new(12)).fit(
            Criterion::InformationGain,
            &[3, 0, 0, 0],
            &[9, 0, 0, 0],
            &mut table,
        );
        assert_eq!((table[0], fit.ones), (0b0001, [3, 9]));
    }
}
