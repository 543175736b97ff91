//! Running a netlist on many rows at once, 64 to a word.

use super::{Lut, Netlist, Signal};
use crate::bits::{BitMatrix, BitView, words_for};
use crate::{Error, Result};

/// Words of rows that pass through the whole netlist together: the values of a signal stay in one cache line.
const CHUNK: usize = 8;

impl Netlist {
    /// The outputs for every row, one column an output: what [`Netlist::evaluate_row`] says, 64 rows a word.
    ///
    /// # Errors
    /// When the columns are not as many as the inputs, or memory runs out.
    pub fn evaluate(&self, rows: BitView<'_>) -> Result<BitMatrix> {
        if rows.columns() != self.inputs() {
            return Err(Error::data(format!(
                "the netlist has {} inputs, but the rows have {} columns",
                self.inputs(),
                rows.columns()
            )));
        }
        let mut result = BitMatrix::zeros(rows.rows(), self.outputs())?;
        let mut values: Vec<[u64; CHUNK]> = Vec::new();
        for start in (0..words_for(rows.rows())).step_by(CHUNK) {
            let width = CHUNK.min(words_for(rows.rows()) - start);
            self.simulate_into(&mut values, |input| {
                let mut words = [0; CHUNK];
                words[..width].copy_from_slice(&rows.column(input)[start..start + width]);
                words
            });
            for (output, (_, signal)) in self.output_list().iter().enumerate() {
                result.column_mut(output)[start..start + width]
                    .copy_from_slice(&values[signal.index()][..width]);
            }
        }
        result.clear_tail();
        Ok(result)
    }

    /// The values of all signals for 64 rows, given the word of each input: entry `s.index()` belongs to signal `s`.
    ///
    /// # Panics
    /// When there is another number of words than inputs.
    pub fn simulate_word(&self, inputs: &[u64]) -> Vec<u64> {
        assert_eq!(inputs.len(), self.inputs(), "one word an input");
        let mut values = Vec::new();
        self.simulate_into(&mut values, |input| [inputs[input]]);
        values.into_iter().map(|[word]| word).collect()
    }

    /// The values of all signals for `64 * N` rows.
    pub(crate) fn simulate_into<const N: usize>(
        &self,
        values: &mut Vec<[u64; N]>,
        input: impl Fn(usize) -> [u64; N],
    ) {
        values.clear();
        values.reserve(self.signals());
        values.push([0; N]);
        values.push([u64::MAX; N]);
        values.extend((0..self.inputs()).map(input));
        let mut scratch = Vec::new();
        for lut in self.iter() {
            let value = evaluate_lut(lut, values, &mut scratch);
            values.push(value);
        }
    }
}

/// The output of a LUT: its table folded in half by one input after another, the last first.
fn evaluate_lut<const N: usize>(lut: Lut<'_>, values: &[[u64; N]], scratch: &mut Vec<[u64; N]>) -> [u64; N] {
    let value = |signal: Signal| &values[signal.index()];
    let Some((&first, rest)) = lut.inputs().split_first() else {
        return [if lut.output(0) { u64::MAX } else { 0 }; N];
    };
    // The lowest input turns each pair of table bits into one of four functions of it.
    let low = value(first);
    scratch.clear();
    scratch.extend((0..1usize << rest.len()).map(|pair| {
        let bits = lut.words()[pair / 32] >> (pair % 32 * 2);
        let (flip, keep) = (0u64.wrapping_sub(bits & 1), 0u64.wrapping_sub((bits ^ bits >> 1) & 1));
        low.map(|word| word & keep ^ flip)
    }));
    for &signal in rest {
        let select = *value(signal);
        for pair in 0..scratch.len() / 2 {
            let (zero, one) = (scratch[2 * pair], scratch[2 * pair + 1]);
            scratch[pair] = std::array::from_fn(|i| zero[i] ^ (zero[i] ^ one[i]) & select[i]);
        }
        scratch.truncate(scratch.len() / 2);
    }
    scratch[0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::random_netlist;
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn words_say_what_rows_say(seed in 0u64..1 << 32, rows in 1usize..700, arity in 0usize..=8) {
            let netlist = random_netlist(seed, 6, 12, arity);
            let bits = |row: usize, input: usize| (row * 31 + input * 17 + row * row * input) % 7 < 3;
            let values: Vec<bool> =
                (0..rows).flat_map(|row| (0..6).map(move |input| bits(row, input))).collect();
            let matrix = BitMatrix::from_bools(6, &values).unwrap();
            let result = netlist.evaluate(matrix.view()).unwrap();
            result.view().validate().unwrap();
            for (row, bits) in values.chunks(6).enumerate() {
                let expected = netlist.evaluate_row(bits);
                for (output, expected) in expected.into_iter().enumerate() {
                    prop_assert_eq!(result.get(row, output), expected);
                }
            }
        }
    }

    #[test]
    fn another_number_of_columns_is_an_error() {
        let netlist = random_netlist(1, 6, 3, 2);
        let error = netlist.evaluate(BitMatrix::zeros(1, 5).unwrap().view()).unwrap_err();
        assert!(error.to_string().contains("6 inputs"));
    }
}
