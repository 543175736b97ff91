use proptest::prelude::*;

use super::super::testing::{below, equal_everywhere, flip, generator, random_netlist, random_tree};
use super::super::{NetlistBuilder, Signal, TruthTable, column_names};
use super::*;

/// Checks the verdict against every row, and the row given against both netlists.
fn check(first: &Netlist, second: &Netlist) -> bool {
    let verdict = prove_equal(first, second).unwrap();
    match &verdict {
        Equivalence::Equal => assert!(equal_everywhere(first, second), "called equal"),
        Equivalence::Undecided => panic!("left undecided"),
        Equivalence::Differs { inputs, output } => {
            assert_ne!(first.evaluate_row(inputs)[*output], second.evaluate_row(inputs)[*output]);
        }
    }
    verdict.is_equal()
}

/// How many circuits to flip a bit of: `GATEWOOD_FLIPS`, or a few.
fn flips() -> u32 {
    std::env::var("GATEWOOD_FLIPS").ok().and_then(|flips| flips.parse().ok()).unwrap_or(96)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(flips()))]
    #[test]
    fn a_flipped_bit_is_noticed_where_it_matters(
        seed in 0u64..1 << 32, inputs in 1usize..12, arity in 1usize..=7, place in 0usize..1 << 20,
    ) {
        let netlist = random_netlist(seed, inputs, 20, arity);
        let lut = place % netlist.luts();
        let address = (place / netlist.luts()) % (1 << netlist.lut(lut).arity());
        let flipped = flip(&netlist, lut, address);
        let equal = check(&netlist, &flipped);
        prop_assert_eq!(equal, equal_everywhere(&netlist, &flipped));
    }
}

/// The sum of some bits, as a chain of adders from one end or the other: equal functions of unlike structure.
fn adder_chain(bits: usize, reversed: bool) -> Netlist {
    let mut builder = NetlistBuilder::new(column_names(bits)).unwrap();
    let mut total: Vec<Signal> = Vec::new();
    for index in 0..bits {
        let mut carry = builder.input(if reversed { bits - 1 - index } else { index });
        for place in 0..5 {
            let Some(bit) = total.get(place).copied() else {
                total.push(carry);
                break;
            };
            total[place] = builder.add(&[0b0110], &[bit, carry]).unwrap();
            carry = builder.add(&[0b1000], &[bit, carry]).unwrap();
        }
    }
    for (place, bit) in total.into_iter().enumerate() {
        builder.output(format!("s{place}"), bit).unwrap();
    }
    builder.finish()
}

#[test]
fn equal_sums_of_unlike_structure_are_proven() {
    let (forward, backward) = (adder_chain(14, false), adder_chain(14, true));
    assert!(prove_equal(&forward, &backward).unwrap().is_equal());
    // The highest bit never meets a carry, as the sum is 14 at most: a flip there is no change, elsewhere it is one.
    let last = backward.luts() - 2;
    assert!(check(&forward, &flip(&backward, last, 3)));
    assert!(!check(&forward, &flip(&backward, last, 0)));
}

#[test]
fn one_row_of_very_many_is_found() {
    // The AND of 40 inputs against a constant: random rows never see the difference.
    let mut builder = NetlistBuilder::new(column_names(40)).unwrap();
    let all = TruthTable::from_fn(5, |address| address == 31);
    let mut and = builder.input(0);
    for chunk in (1..40).collect::<Vec<_>>().chunks(4) {
        let mut inputs: Vec<Signal> = chunk.iter().map(|&input| builder.input(input)).collect();
        inputs.resize(4, Signal::ONE);
        inputs.push(and);
        and = builder.add(all.words(), &inputs).unwrap();
    }
    let zero = {
        let mut builder = builder.clone();
        builder.output("y", Signal::ZERO).unwrap();
        builder.finish()
    };
    builder.output("y", and).unwrap();
    let and = builder.finish();
    assert_eq!(prove_equal(&and, &zero).unwrap(), Equivalence::Differs { inputs: vec![true; 40], output: 0 });
}

#[test]
fn names_are_matched_before_positions() {
    let gate = |names: [&str; 2], table: u64| {
        let mut builder = NetlistBuilder::new(names).unwrap();
        let output = builder.add(&[table], &[builder.input(0), builder.input(1)]).unwrap();
        builder.output("y", output).unwrap();
        builder.finish()
    };
    // a and not b, written in either order.
    assert!(prove_equal(&gate(["a", "b"], 0b0010), &gate(["b", "a"], 0b0100)).unwrap().is_equal());
    assert!(prove_equal(&gate(["a", "b"], 0b0010), &gate(["p", "q"], 0b0010)).unwrap().is_equal());
    assert!(!prove_equal(&gate(["a", "b"], 0b0010), &gate(["p", "q"], 0b0100)).unwrap().is_equal());
    let (two, three) = (random_netlist(1, 2, 4, 2), random_netlist(1, 3, 4, 2));
    assert!(prove_equal(&two, &three).unwrap_err().to_string().contains("inputs"));
}

#[test]
fn rows_that_cannot_occur_do_not_count() {
    let gate = |table: u64| {
        let mut builder = NetlistBuilder::new(["a", "b"]).unwrap();
        let output = builder.add(&[table], &[builder.input(0), builder.input(1)]).unwrap();
        builder.output("y", output).unwrap();
        builder.finish()
    };
    // A thermometer: b is one only where a is. Then "a and b" is "b".
    let ordered = gate(0b1011);
    assert!(!prove_equal(&gate(0b1000), &gate(0b1100)).unwrap().is_equal());
    assert!(prove_equal_where(&gate(0b1000), &gate(0b1100), &ordered).unwrap().is_equal());
    assert!(!prove_equal_where(&gate(0b1000), &gate(0b1010), &ordered).unwrap().is_equal());
}

#[test]
fn flips_in_a_tree_are_decided() {
    let tree = random_tree(7, 4, 5, 200);
    let netlist = Netlist::from_tree(&tree, column_names(200)).unwrap();
    let mut rng = generator(8);
    for _ in 0..10 {
        let (lut, address) = (below(&mut rng, netlist.luts()), below(&mut rng, 16));
        let flipped = flip(&netlist, lut, address);
        if let Equivalence::Differs { inputs, .. } = prove_equal(&netlist, &flipped).unwrap() {
            assert_ne!(netlist.evaluate_row(&inputs), flipped.evaluate_row(&inputs));
        }
    }
}

/// The product of two numbers, summed row by row; `swapped` takes the rows from the other number.
fn multiplier(width: usize, swapped: bool) -> Netlist {
    let names = (0..2 * width).map(|input| format!("x{input}"));
    let mut builder = NetlistBuilder::new(names).unwrap();
    let operand = |builder: &NetlistBuilder, second: bool, bit: usize| {
        builder.input(if second == swapped { bit } else { width + bit })
    };
    let mut sum = vec![Signal::ZERO; 2 * width];
    for row in 0..width {
        let mut carry = Signal::ZERO;
        for bit in 0..width {
            let pair = [operand(&builder, false, row), operand(&builder, true, bit)];
            let reads = [builder.add(&[0b1000], &pair).unwrap(), sum[row + bit], carry];
            sum[row + bit] = builder.add(&[0b1001_0110], &reads).unwrap();
            carry = builder.add(&[0b1110_1000], &reads).unwrap();
        }
        sum[row + width] = carry;
    }
    for (bit, signal) in sum.into_iter().enumerate() {
        builder.output(format!("p{bit}"), signal).unwrap();
    }
    builder.finish()
}

#[test]
fn hard_questions_end_undecided() {
    let [one, other] = [false, true].map(|swapped| multiplier(5, swapped));
    assert!(prove_equal(&one, &other).unwrap().is_equal());
    let [one, other] = [false, true].map(|swapped| multiplier(14, swapped));
    assert_eq!(prove_equal_within(&one, &other, 10).unwrap(), Equivalence::Undecided);
}
