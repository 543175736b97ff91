//! Functions whose shape is known are learned exactly; the others within their ANDs.

use super::*;
use crate::bits::BitMatrix;
use crate::learn::Silent;
use crate::random::{Purpose, Stream};

/// What a row's output is.
type Function<'a> = &'a dyn Fn(&[bool]) -> bool;

/// Random rows of a function.
fn sampled(columns: usize, rows: usize, seed: u64, outputs: &[Function<'_>]) -> (BitMatrix, BitMatrix) {
    let mut stream = Stream::new(seed, Purpose::Generate, 0);
    let (mut inputs, mut said) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let row: Vec<bool> = (0..columns).map(|_| stream.below(2) == 1).collect();
        said.extend(outputs.iter().map(|output| output(&row)));
        inputs.extend(row);
    }
    (BitMatrix::from_bools(columns, &inputs).unwrap(), BitMatrix::from_bools(outputs.len(), &said).unwrap())
}

/// Names such as x0, x1, x2.
fn names(letter: char, count: usize) -> Vec<String> {
    (0..count).map(|at| format!("{letter}{at}")).collect()
}

/// What is to be learned, without validation rows.
fn task<'a>(
    inputs: &'a BitMatrix,
    outputs: &'a BitMatrix,
    input_names: &'a [String],
    output_names: &'a [String],
) -> FunctionTask<'a> {
    FunctionTask {
        inputs: inputs.view(),
        outputs: outputs.view(),
        input_names,
        output_names,
        validation: None,
    }
}

/// Learns from 2,000 rows; the fit, and its errors on 2,000 others.
fn learned(columns: usize, outputs: &[Function<'_>]) -> (FunctionFit, Vec<f64>) {
    let (inputs, said) = sampled(columns, 2_000, 1, outputs);
    let (input_names, output_names) = (names('x', columns), names('y', outputs.len()));
    let task = task(&inputs, &said, &input_names, &output_names);
    let fit = learn_function(&task, &FunctionSettings::default(), &Silent).unwrap();
    let (inputs, said) = sampled(columns, 2_000, 2, outputs);
    let errors = fit.errors(inputs.view(), said.view()).unwrap();
    (fit, errors)
}

/// A word of some columns, the lowest bit first.
fn word(row: &[bool]) -> u64 {
    row.iter().enumerate().fold(0, |word, (place, &bit)| word | u64::from(bit) << place)
}

#[test]
fn known_shapes_are_exact() {
    let parity = |row: &[bool]| row.iter().step_by(3).filter(|bit| **bit).count() % 2 == 1;
    let symmetric = |row: &[bool]| [3, 7, 11, 12, 13].contains(&row.iter().filter(|bit| **bit).count());
    let above = |row: &[bool]| word(&row[..12]) > word(&row[12..24]);
    let sum_bit = |row: &[bool]| (word(&row[..12]) + word(&row[12..24])) >> 9 & 1 == 1;
    let carry = |row: &[bool]| (word(&row[..12]) + word(&row[12..24])) >> 12 == 1;
    let multiplexer = |row: &[bool]| row[3 + word(&row[..3]) as usize];
    let products = |row: &[bool]| row.chunks(2).fold(false, |sum, pair| sum ^ (pair[0] && pair[1]));
    let cases: [(usize, Function<'_>, &str); 7] = [
        (30, &parity, "parity"),
        (24, &symmetric, "symmetric function"),
        (24, &above, "decision list"),
        (24, &sum_bit, "exclusive or of columns and a decision list"),
        (24, &carry, "decision list"),
        (11, &multiplexer, "decision tree"),
        (20, &products, "exclusive or of products of 2 columns"),
    ];
    for (columns, function, shape) in cases {
        let (fit, errors) = learned(columns, &[function]);
        assert_eq!(fit.outputs[0].shape, shape);
        assert_eq!(errors, [0.0], "{shape}");
        assert!(fit.ands < 300, "{shape}: {}", fit.ands);
    }
}

#[test]
fn gates_that_nobody_named_are_found_in_any_order() {
    // One of eight products of three columns each, and an exclusive or with another product: no tree of columns is small.
    let products = |row: &[bool]| {
        let any = row[..24].chunks(3).any(|product| product.iter().all(|bit| *bit));
        any ^ (row[24] && !row[25])
    };
    let turned = |row: &[bool]| products(&(0..26).map(|place| row[place * 7 % 26]).collect::<Vec<_>>());
    for function in [&products as Function<'_>, &turned] {
        let (fit, errors) = learned(26, &[function]);
        assert_eq!(fit.outputs[0].shape, "decision tree over gates");
        assert_eq!(errors, [0.0]);
        assert!(fit.ands < 60, "{}", fit.ands);
    }
}

#[test]
fn all_outputs_share_one_circuit_within_the_ands() {
    let adder = |bit: usize| move |row: &[bool]| (word(&row[..8]) + word(&row[8..16])) >> bit & 1 == 1;
    let bits: Vec<_> = (0..9).map(adder).collect();
    let outputs: Vec<Function<'_>> = bits.iter().map(|bit| bit as Function<'_>).collect();
    let (fit, errors) = learned(16, &outputs);
    assert_eq!(errors, [0.0; 9]);
    assert_eq!(fit.netlist.outputs(), 9);
    assert!(fit.ands <= 500, "{}", fit.ands);
}

#[test]
fn what_has_no_shape_stays_within_its_ands() {
    let odd = |row: &[bool]| word(&row[..10]).wrapping_mul(0x9e37_79b9) >> 7 & 1 == 1;
    let (inputs, said) = sampled(12, 600, 1, &[&odd]);
    let (names, output_names) = (names('x', 12), names('y', 1));
    let task = task(&inputs, &said, &names, &output_names);
    let settings = FunctionSettings { max_ands: 60, ..FunctionSettings::default() };
    let fit = learn_function(&task, &settings, &Silent).unwrap();
    assert!(fit.ands <= 60, "{}", fit.ands);
}

#[test]
fn wrong_samples_are_refused() {
    let (inputs, said) = sampled(4, 10, 1, &[&|row: &[bool]| row[0]]);
    let (names, output_names) = (names('x', 4), names('y', 1));
    let task = task(&inputs, &said, &names, &output_names);
    let refused = |task: &FunctionTask<'_>| {
        learn_function(task, &FunctionSettings::default(), &Silent).unwrap_err().to_string()
    };
    assert!(refused(&task).contains("10 rows are too few"));
    assert!(refused(&FunctionTask { input_names: &names[..3], ..task }).contains("4 inputs"));
}
