//! One bit of one table of an exported circuit flipped: shown by a row, or proven to change nothing.
//!
//! `cargo test --release -p gatewood-data --test all flips -- --ignored --nocapture` does it 200 times to the paper's default
//! tree, and prints what came of it.

use std::time::Instant;

use gatewood::circuit::{
    Equivalence, Netlist, NetlistBuilder, Signal, SimplifySettings, column_names, prove_equal,
};
use gatewood::export::{Format, Options, read, write};
use gatewood::learn::{Silent, TreeSettings, fit_tree};
use gatewood::random::{Purpose, Stream};
use gatewood_data::generate::{Cubes, make};

/// A tree learned on generated rows, as it was learned.
fn learned(depth: usize) -> Netlist {
    let (bits, labels) = make(&Cubes { noise: 0.1 }, 1, false, 12_000).unwrap();
    let settings = TreeSettings { arity: 4, depth, ..TreeSettings::default() };
    let tree = fit_tree(bits.view(), &labels, &settings, &Silent).unwrap();
    Netlist::from_tree(&tree, column_names(bits.columns())).unwrap()
}

/// The netlist with one bit of one table flipped.
fn flipped(netlist: &Netlist, stream: &mut Stream) -> Netlist {
    let chosen = stream.below(netlist.luts() as u32) as usize;
    let mut builder = NetlistBuilder::new(netlist.input_names().iter().cloned()).unwrap();
    for (index, lut) in netlist.iter().enumerate() {
        let mut words = lut.words().to_vec();
        if index == chosen {
            let address = stream.below(1 << lut.arity());
            words[address as usize / 64] ^= 1 << (address % 64);
        }
        // Signals are numbered alike in both.
        let inputs: Vec<Signal> = lut.inputs().to_vec();
        builder.add(&words, &inputs).unwrap();
    }
    for (name, signal) in netlist.output_list() {
        builder.output(name.clone(), *signal).unwrap();
    }
    builder.finish()
}

/// Flips bits of what was exported; gives how many flips a row showed, and how many were proven to change nothing.
fn flip(depth: usize, flips: usize, format: Format) -> [usize; 2] {
    let tree = learned(depth);
    let simplified = tree.simplify(&SimplifySettings::default()).unwrap().netlist;
    let mut file = Vec::new();
    write(&simplified, format, &Options::default(), &mut file).unwrap();
    let exported = read(&file, format).unwrap();
    assert!(prove_equal(&tree, &exported).unwrap().is_equal());
    let mut counts = [0; 2];
    let mut longest = 0f64;
    for place in 0..flips {
        let damaged = flipped(&exported, &mut Stream::new(7, Purpose::Generate, place as u64));
        let start = Instant::now();
        match prove_equal(&tree, &damaged).unwrap() {
            Equivalence::Differs { inputs, output } => {
                assert_ne!(tree.evaluate_row(&inputs)[output], damaged.evaluate_row(&inputs)[output]);
                counts[0] += 1;
            }
            Equivalence::Equal => counts[1] += 1,
            _ => panic!("flip {place} stayed undecided"),
        }
        longest = longest.max(start.elapsed().as_secs_f64());
    }
    println!("{flips} flips of {} LUTs as {format}: {counts:?}, longest {longest:.1} s", exported.luts());
    counts
}

#[test]
fn flips_of_a_learned_tree_are_told_apart_or_proven_equal() {
    let [told_apart, equal] = flip(5, 24, Format::Blif);
    assert_eq!(told_apart + equal, 24);
    assert!(told_apart > 12, "{told_apart}");
}

#[test]
#[ignore = "takes minutes; prints what came of 200 flips"]
fn two_hundred_flips_of_the_default_tree() {
    let [told_apart, equal] = flip(8, 200, Format::Blif);
    assert_eq!(told_apart + equal, 200);
    assert!(told_apart > 0, "{told_apart}");
}
