//! Every kernel at every level of this machine equals the definition, one bit at a time.

use gatewood::bits::kernels::{Kernels, Level};
use gatewood::bits::{reference, words_for};
use proptest::prelude::*;

/// Columns of random bits, zero past the last row, with some extra zero words.
fn columns(arity: usize, rows: usize, padding: usize, seed: u64) -> Vec<Vec<u64>> {
    let mut state = seed;
    let mut next = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    (0..arity)
        .map(|_| {
            let mut column: Vec<u64> = (0..words_for(rows)).map(|_| next() & (next() | next())).collect();
            if !rows.is_multiple_of(64) {
                *column.last_mut().unwrap() &= (1 << (rows % 64)) - 1;
            }
            column.resize(words_for(rows) + padding, 0);
            column
        })
        .collect()
}

fn each_level(mut test: impl FnMut(Kernels)) {
    for level in Level::available() {
        test(Kernels::at(level).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn count_equals_the_definition(arity in 1usize..=12, rows in 0usize..3000, padding in 0usize..9, seed: u64) {
        let columns = columns(arity, rows, padding, seed);
        let inputs: Vec<&[u64]> = columns.iter().map(Vec::as_slice).collect();
        let expected = reference::count(&inputs, rows);
        each_level(|kernels| {
            let singles: Vec<u32> = inputs.iter().map(|input| kernels.popcount(input) as u32).collect();
            let mut counts = vec![u32::MAX; 1 << arity];
            kernels.count(&inputs, &singles, rows, &mut counts);
            assert_eq!(counts, expected, "{:?}", kernels.level());
        });
    }

    #[test]
    fn counting_with_a_changed_input_equals_the_definition(
        others in 0usize..=7, rows in 0usize..3000, padding in 0usize..9, seed: u64,
    ) {
        let columns = columns(others + 1, rows, padding, seed);
        let inputs: Vec<&[u64]> = columns.iter().map(Vec::as_slice).collect();
        let (changed, others) = inputs.split_last().unwrap();
        let mut expected: Vec<u32> = (0..1usize << others.len())
            .map(|subset| (0..rows).filter(|&row| {
                let address = reference::address(&inputs, row);
                address & subset == subset && address >> others.len() == 1
            }).count() as u32)
            .collect();
        expected[0] = 77;
        each_level(|kernels| {
            let mut counts = vec![77; 1 << others.len()];
            kernels.and_counts_with(changed, others, &mut counts);
            assert_eq!(counts, expected, "{:?}", kernels.level());
        });
    }

    #[test]
    fn evaluate_equals_the_definition(arity in 1usize..=12, rows in 1usize..2000, seed: u64) {
        let columns = columns(arity, rows, 0, seed);
        let inputs: Vec<&[u64]> = columns.iter().map(Vec::as_slice).collect();
        let mut table: Vec<u64> = self::columns(1, 1 << arity, 0, !seed).remove(0);
        if arity < 6 { table[0] &= (1 << (1 << arity)) - 1; }
        let expected = reference::evaluate(&table, &inputs, rows);
        each_level(|kernels| {
            let mut output = vec![0; words_for(rows)];
            kernels.evaluate(&table, &inputs, &mut output);
            if !rows.is_multiple_of(64) { *output.last_mut().unwrap() &= (1 << (rows % 64)) - 1; }
            assert_eq!(output, expected, "{:?}", kernels.level());
        });
    }
}
