use proptest::prelude::*;

use super::super::testing::{equal_everywhere, random_grove, random_netlist, random_tree};
use super::super::{GroveOutputs, NetlistBuilder, Signal, column_names, prove_equal};
use super::*;

fn check(netlist: &Netlist, settings: SimplifySettings) -> Simplified {
    let simplified = netlist.simplify(&settings).unwrap();
    simplified.netlist.validate().unwrap();
    assert_eq!(netlist.input_names(), simplified.netlist.input_names());
    let names = |netlist: &Netlist| netlist.output_list().iter().map(|(n, _)| n.clone()).collect::<Vec<_>>();
    assert_eq!(names(netlist), names(&simplified.netlist));
    assert_eq!((simplified.before, simplified.after), (netlist.size(), simplified.netlist.size()));
    simplified
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn the_function_stays(
        seed in 0u64..1 << 32, inputs in 1usize..12, luts in 1usize..40, arity in 0usize..=8,
        proofs in any::<bool>(), merge in 0usize..=8,
    ) {
        let netlist = random_netlist(seed, inputs, luts, arity);
        let simplified = check(&netlist, SimplifySettings { proofs, merge });
        prop_assert!(equal_everywhere(&netlist, &simplified.netlist));
        // An output shown both ways, or an inverted input, costs a LUT that a netlist with shared inverters may not.
        prop_assert!(simplified.after.luts <= simplified.before.luts + netlist.outputs());
        prop_assert!(prove_equal(&netlist, &simplified.netlist).unwrap().is_equal());
    }

    #[test]
    fn groves_stay_what_they_are(seed in 0u64..1 << 32, classes in 2usize..6, trees in 1usize..10) {
        let grove = random_grove(seed, 8, classes, trees, 9);
        let netlist = Netlist::from_grove(&grove, column_names(8), GroveOutputs::default()).unwrap();
        let simplified = check(&netlist, SimplifySettings::default());
        prop_assert!(equal_everywhere(&netlist, &simplified.netlist));
        prop_assert!(simplified.after.luts <= simplified.before.luts);
    }
}

#[test]
fn constants_buffers_and_inverters_vanish() {
    let mut builder = NetlistBuilder::new(["a", "b"]).unwrap();
    let (a, b) = (builder.input(0), builder.input(1));
    let not_a = builder.add(&[0b01], &[a]).unwrap();
    let buffer = builder.add(&[0b10], &[not_a]).unwrap();
    let one = builder.add(&[0b1], &[]).unwrap();
    let and = builder.add(&[0b1000_0000], &[buffer, b, one]).unwrap();
    let nand_again = builder.add(&[0b1011], &[b, a]).unwrap();
    let dead = builder.add(&[0b0110], &[and, b]).unwrap();
    let _ = dead;
    builder.output("and", and).unwrap();
    builder.output("again", nand_again).unwrap();
    builder.output("one", one).unwrap();
    builder.output("a", a).unwrap();
    let netlist = builder.finish();
    let simplified = check(&netlist, SimplifySettings { proofs: false, merge: 0 }).netlist;
    // The AND, and its inverse for the output that shows it inverted.
    assert_eq!(simplified.luts(), 2);
    assert_eq!(simplified.output_list()[2].1, Signal::ONE);
    assert!(equal_everywhere(&netlist, &simplified));
}

#[test]
fn addresses_that_cannot_occur_free_inputs() {
    // x = a and b, y = a or b: x without y cannot occur, so a gate that is one only there is constant.
    let mut builder = NetlistBuilder::new(["a", "b", "c"]).unwrap();
    let (a, b, c) = (builder.input(0), builder.input(1), builder.input(2));
    let x = builder.add(&[0b1000], &[a, b]).unwrap();
    let y = builder.add(&[0b1110], &[a, b]).unwrap();
    let never = builder.add(&[0b0010_0000], &[x, y, c]).unwrap();
    let other = builder.add(&[0b1110], &[never, c]).unwrap();
    builder.output("z", other).unwrap();
    let netlist = builder.finish();
    let simplified = check(&netlist, SimplifySettings { proofs: true, merge: 0 });
    assert_eq!(simplified.after, NetlistSize { luts: 0, depth: 0 });
}

#[test]
fn narrow_gates_merge() {
    // A tree of 63 two-input gates over 64 inputs fits far fewer gates of six inputs.
    let tree = random_tree(5, 2, 6, 64);
    let netlist = Netlist::from_tree(&tree, column_names(64)).unwrap();
    let simplified = check(&netlist, SimplifySettings::default());
    assert!(simplified.after.luts <= 25, "{:?}", simplified.after);
    assert!(simplified.netlist.max_arity() <= 6);
    assert!(prove_equal(&netlist, &simplified.netlist).unwrap().is_equal());
}
