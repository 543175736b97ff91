//! Bits that compare two columns of numbers of a table: lines across two columns, which thresholds of each only follow in steps.

use super::source::as_number;
use super::{BitMeaning, Encoder, Kind, TableView, Test};
use crate::Result;
use crate::random::{Purpose, Stream};

/// Pairs that are compared by default, at the most: as many bits as a tree chooses from.
pub(crate) const MOST_PAIRS: usize = 1_000;

/// Rows by which it is judged whether two columns can be compared.
const ROWS: usize = 2_048;

/// The least share of these rows on either side of a comparison.
const LEAST_SHARE: f64 = 0.05;

/// Bits of a column that is a number and not a mark.
const FEWEST_BITS: usize = 3;

/// Pairs that are looked at for each one that is wanted.
const LOOKS: usize = 8;

impl Encoder {
    /// The same encoder with bits after those it has, each of which compares two columns of numbers: at most so many, neighbours
    /// first and the others in a drawn order. Nothing where no two columns have values in the same range.
    pub(crate) fn comparing(&self, table: TableView<'_>, most: usize, seed: u64) -> Result<Option<Self>> {
        let mut bits = vec![0; self.inputs.len()];
        self.bits.iter().for_each(|bit| bits[bit.column as usize] += 1);
        let is_number =
            |&input: &usize| self.inputs[input].kind == Kind::Number && bits[input] >= FEWEST_BITS;
        let numbers: Vec<usize> = (0..self.inputs.len()).filter(is_number).collect();
        if numbers.len() < 2 || most == 0 {
            return Ok(None);
        }
        let positions = super::transform::locate(self, table)?;
        let rows = table.rows().min(ROWS);
        let values = |&input: &usize| -> Vec<f64> {
            let (from, position) = (table.kind(positions[input]), positions[input]);
            let row = |index: usize| (index as u128 * table.rows() as u128 / rows as u128) as usize;
            let value = |index: usize| table.value(row(index), position);
            (0..rows)
                .map(|index| as_number(value(index), from, &self.inputs[input]).unwrap_or(f64::NAN))
                .collect()
        };
        let values: Vec<Vec<f64>> = numbers.iter().map(values).collect();
        let is_telling = |one: usize, other: usize| {
            let above = values[one].iter().zip(&values[other]).filter(|(one, other)| one > other).count();
            let below = values[one].iter().zip(&values[other]).filter(|(one, other)| one < other).count();
            let least = (LEAST_SHARE * rows as f64).max(1.0);
            above as f64 >= least && below as f64 >= least
        };
        let mut pairs: Vec<(usize, usize)> = (1..numbers.len()).map(|next| (next - 1, next)).collect();
        pairs.retain(|&(one, other)| is_telling(one, other));
        for (one, other) in drawn(numbers.len(), LOOKS * most, seed) {
            if pairs.len() >= most {
                break;
            }
            if is_telling(one, other) {
                pairs.push((one, other));
            }
        }
        pairs.truncate(most);
        if pairs.is_empty() {
            return Ok(None);
        }
        let bits = pairs.into_iter().map(|(one, other)| BitMeaning {
            column: numbers[one] as u32,
            test: Test::Exceeds { other: numbers[other] as u32, margin: 0.0 },
        });
        Ok(Some(self.clone().with_bits(bits)?))
    }
}

/// Pairs of columns that are not neighbours, the first before the second: all of them where there are so many at the most, else so
/// many at random, none twice.
fn drawn(columns: usize, most: usize, seed: u64) -> Vec<(usize, usize)> {
    let mut stream = Stream::new(seed, Purpose::Pairs, 0);
    if columns.saturating_mul(columns) / 2 <= most {
        let mut pairs: Vec<(usize, usize)> =
            (0..columns).flat_map(|one| (one + 2..columns).map(move |other| (one, other))).collect();
        stream.shuffle(&mut pairs);
        return pairs;
    }
    let mut seen = std::collections::HashSet::new();
    let draw = |_| {
        let (one, other) = (stream.below(columns as u32) as usize, stream.below(columns as u32) as usize);
        let pair = (one.min(other), one.max(other));
        (pair.1 - pair.0 > 1 && seen.insert(pair)).then_some(pair)
    };
    (0..most).filter_map(draw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Column, EncodeSettings, Numbers, Table};

    fn table(columns: Vec<Vec<f64>>) -> Table {
        let named = |(index, values)| (format!("c{index}"), Column::Number(Numbers::F64(values)));
        Table::new(columns.into_iter().enumerate().map(named).collect()).unwrap()
    }

    #[test]
    fn columns_of_the_same_range_are_compared() {
        let mut stream = Stream::new(1, Purpose::Generate, 0);
        let mut column = |from: f64, to: f64| -> Vec<f64> {
            (0..200).map(|_| from + (to - from) * stream.unit()).collect()
        };
        let table = table(vec![
            column(0.0, 1.0),
            column(0.0, 1.0),
            column(5.0, 6.0),
            column(0.5, 1.5),
            vec![1.0; 200],
        ]);
        let settings = EncodeSettings::default();
        let (encoder, _) = Encoder::fit(&table, &settings).unwrap();
        let more = encoder.comparing(table.view(), 100, 0).unwrap().unwrap();
        let compared: Vec<String> = (encoder.bits()..more.bits()).map(|bit| more.describe(bit)).collect();
        assert_eq!(compared.len(), 3, "{compared:?}");
        assert!(compared.iter().all(|text| !text.contains("c2") && !text.contains("c4")), "{compared:?}");
        assert_eq!(encoder.comparing(table.view(), 1, 0).unwrap().unwrap().bits(), encoder.bits() + 1);
        assert!(encoder.comparing(table.view(), 0, 0).unwrap().is_none());
        let bits = more.transform(&table).unwrap();
        for (bit, meaning) in more.meanings().iter().enumerate().skip(encoder.bits()) {
            let Test::Exceeds { other, .. } = meaning.test else { panic!("{meaning:?}") };
            for row in 0..200 {
                let value = |input: u32| table.view().value(row, more.inputs()[input as usize].position);
                assert_eq!(bits.get(row, bit), Test::exceeds(value(meaning.column), value(other), 0.0));
            }
        }
    }

    #[test]
    fn pairs_are_drawn_once() {
        for (columns, most) in [(2, 10), (5, 100), (40, 100), (300, 1_000)] {
            let pairs = drawn(columns, most, 3);
            let mut sorted = pairs.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), pairs.len());
            assert!(
                pairs.len() <= most && pairs.iter().all(|&(one, other)| one + 1 < other && other < columns)
            );
        }
        assert_eq!(drawn(5, 100, 0).len(), 6);
    }
}
