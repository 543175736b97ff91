//! Counting and evaluating one bit at a time: the definition of what [`kernels`](super::kernels) computes.

use super::WORD_BITS;

/// The address a row has at a gate: bit `j` is the row's bit in `inputs[j]`.
pub fn address(inputs: &[&[u64]], row: usize) -> usize {
    inputs.iter().enumerate().fold(0, |address, (j, input)| {
        address | ((input[row / WORD_BITS] >> (row % WORD_BITS) & 1) as usize) << j
    })
}

/// How many of the first `rows` rows have each address.
pub fn count(inputs: &[&[u64]], rows: usize) -> Vec<u32> {
    let mut counts = vec![0; 1 << inputs.len()];
    for row in 0..rows {
        counts[address(inputs, row)] += 1;
    }
    counts
}

/// The output of a truth table for each of the first `rows` rows; bit `i` of the table is the output at address `i`.
pub fn evaluate(table: &[u64], inputs: &[&[u64]], rows: usize) -> Vec<u64> {
    let mut output = vec![0; super::words_for(rows)];
    for row in 0..rows {
        let address = address(inputs, row);
        output[row / WORD_BITS] |=
            (table[address / WORD_BITS] >> (address % WORD_BITS) & 1) << (row % WORD_BITS);
    }
    output
}
