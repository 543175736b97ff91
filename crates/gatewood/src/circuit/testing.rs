//! Circuits to test with.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use super::{Grove, Netlist, NetlistBuilder, Signal, Target, Tree, TruthTable, VoteTree};

/// A generator of its own for each seed.
pub(crate) fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A number below `bound`.
pub(crate) fn below(rng: &mut ChaCha8Rng, bound: usize) -> usize {
    (rng.next_u64() % bound as u64) as usize
}

/// A random table of `arity` inputs: uniform, or with few ones, or a function of the number of ones.
pub(crate) fn random_table(rng: &mut ChaCha8Rng, arity: usize) -> TruthTable {
    let (style, bits) = (below(rng, 4), rng.next_u64());
    let words: Vec<u64> = (0..TruthTable::words_for(arity)).map(|_| rng.next_u64()).collect();
    let more: Vec<u64> = (0..TruthTable::words_for(arity)).map(|_| rng.next_u64()).collect();
    let bit = |words: &[u64], address: usize| words[address / 64] >> (address % 64) & 1 != 0;
    TruthTable::from_fn(arity, |address| match style {
        0 | 1 => bit(&words, address),
        2 => bit(&words, address) && bit(&more, address),
        _ => bits >> address.count_ones() & 1 != 0,
    })
}

/// A random netlist: LUTs of up to `arity` inputs that read any signal before them, some outputs.
pub(crate) fn random_netlist(seed: u64, inputs: usize, luts: usize, arity: usize) -> Netlist {
    let mut rng = generator(seed);
    let mut builder = NetlistBuilder::new((0..inputs).map(|input| format!("x{input}"))).unwrap();
    for lut in 0..luts {
        let signals = Signal::CONSTANTS + inputs + lut;
        let arity = below(&mut rng, arity + 1);
        let reads: Vec<Signal> = (0..arity)
            .map(|_| {
                // Constants are possible but rare.
                let signal = below(&mut rng, signals);
                Signal::from_index(if signal < 2 && below(&mut rng, 4) != 0 { signals - 1 } else { signal })
            })
            .collect();
        let table = random_table(&mut rng, arity);
        builder.add(table.words(), &reads).unwrap();
    }
    for output in 0..4 {
        let signal = Signal::CONSTANTS + inputs + luts - 1 - below(&mut rng, luts.min(5 + output));
        builder.output(format!("y{output}"), Signal::from_index(signal)).unwrap();
    }
    builder.finish()
}

/// A random tree with random leaves.
pub(crate) fn random_tree(seed: u64, arity: usize, depth: usize, inputs: usize) -> Tree {
    let mut rng = generator(seed);
    let leaves: Vec<u32> = (0..arity.pow(depth as u32)).map(|_| below(&mut rng, inputs) as u32).collect();
    let gates: usize = (0..depth).map(|level| arity.pow(level as u32)).sum();
    let tables = (0..gates).flat_map(|_| random_table(&mut rng, arity).words().to_vec()).collect();
    Tree::new(arity, depth, inputs, leaves, tables).unwrap()
}

/// A random grove of trees of one or two levels whose votes are at most `votes` from zero.
pub(crate) fn random_grove(seed: u64, inputs: usize, classes: usize, trees: usize, votes: i32) -> Grove {
    let mut rng = generator(seed);
    let margins = if classes == 2 { 1 } else { classes };
    let vote = move |rng: &mut ChaCha8Rng| below(rng, 2 * votes as usize + 1) as i32 - votes;
    let bias = (0..margins).map(|_| vote(&mut rng)).collect();
    let trees = (0..trees)
        .map(|_| {
            let arities: Vec<usize> = (0..1 + below(&mut rng, 2)).map(|_| 1 + below(&mut rng, 4)).collect();
            let (target, width) = match below(&mut rng, 3) {
                0 => (Target::All, margins),
                _ => (Target::One(below(&mut rng, margins) as u32), 1),
            };
            let leaves = arities.iter().product();
            let leaves = (0..leaves).map(|_| below(&mut rng, inputs) as u32).collect();
            let gates = if arities.len() == 2 { arities[1] } else { 0 };
            let tables =
                (0..gates).flat_map(|_| random_table(&mut rng, arities[0]).words().to_vec()).collect();
            let addresses = 1usize << arities[arities.len() - 1];
            let votes = (0..addresses * width).map(|_| vote(&mut rng)).collect();
            VoteTree::new(arities, target, leaves, tables, votes).unwrap()
        })
        .collect();
    Grove::new(inputs, classes, bias, 0.01, trees).unwrap()
}
