//! Circuits to test with.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use super::{
    Grove, Literal, Netlist, NetlistBuilder, Pattern, PatternLayer, Planes, Signal, Span, Target, Tree,
    TruthTable, VoteTree,
};

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

/// Up to three random patterns over two planes of random inputs.
pub(crate) fn random_patterns(seed: u64, inputs: usize) -> PatternLayer {
    let mut rng = generator(seed ^ 0x5a5a);
    let (width, height) = (2 + below(&mut rng, 3), 1 + below(&mut rng, 3));
    let places = 2 * width * height;
    let planes: Vec<Option<u32>> = (0..places).map(|_| Some(below(&mut rng, inputs) as u32)).collect();
    let planes = Planes::new(width, height, planes).unwrap();
    let patterns = (0..below(&mut rng, 4)).map(|_| {
        let (wide, high) = (1 + below(&mut rng, width), 1 + below(&mut rng, height));
        let mut literals: Vec<Literal> = (0..1 + below(&mut rng, 9))
            .map(|_| Literal {
                plane: below(&mut rng, 2) as u16,
                x: below(&mut rng, wide) as u16,
                y: below(&mut rng, high) as u16,
                value: below(&mut rng, 2) == 1,
            })
            .collect();
        literals.sort_unstable();
        literals.dedup_by_key(|literal| (literal.plane, literal.x, literal.y));
        let shifts = (width + 1 - wide, height + 1 - high);
        let thresholds: Vec<u32> =
            (1..=(shifts.0 * shifts.1) as u32).filter(|_| below(&mut rng, 3) == 0).collect();
        let thresholds = if thresholds.is_empty() { vec![1] } else { thresholds };
        Pattern::new(literals, (shifts.0 as u16, shifts.1 as u16), thresholds).unwrap()
    });
    PatternLayer::new(planes, patterns.collect()).unwrap()
}

/// A random grove of trees of one or two levels, over inputs and a few spans and patterns, whose votes are at most `votes` from zero.
pub(crate) fn random_grove(seed: u64, inputs: usize, classes: usize, trees: usize, votes: i32) -> Grove {
    let features = (inputs, random_spans(seed, inputs), random_patterns(seed, inputs));
    random_grove_over(seed, features, classes, trees, votes)
}

/// As [`random_grove`], without patterns.
pub(crate) fn random_span_grove(seed: u64, inputs: usize, classes: usize, trees: usize, votes: i32) -> Grove {
    let features = (inputs, random_spans(seed, inputs), PatternLayer::default());
    random_grove_over(seed, features, classes, trees, votes)
}

/// Up to three random spans.
fn random_spans(seed: u64, inputs: usize) -> Vec<Span> {
    let mut rng = generator(!seed);
    let spans = if inputs < 2 { 0 } else { below(&mut rng, 4) };
    (0..spans)
        .map(|_| {
            let first = below(&mut rng, inputs - 1);
            let more = 1 + below(&mut rng, (inputs - 1 - first).min(7));
            Span::new(below(&mut rng, 2) == 1, (first as u32..=(first + more) as u32).collect()).unwrap()
        })
        .collect()
}

/// As [`random_grove`], over these inputs, spans and patterns.
pub(crate) fn random_grove_over(
    seed: u64,
    (inputs, spans, patterns): (usize, Vec<Span>, PatternLayer),
    classes: usize,
    trees: usize,
    votes: i32,
) -> Grove {
    let columns = inputs + spans.len() + patterns.columns();
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
            let leaves = (0..leaves).map(|_| below(&mut rng, columns) as u32).collect();
            let gates = if arities.len() == 2 { arities[1] } else { 0 };
            let tables =
                (0..gates).flat_map(|_| random_table(&mut rng, arities[0]).words().to_vec()).collect();
            let addresses = 1usize << arities[arities.len() - 1];
            let votes = (0..addresses * width).map(|_| vote(&mut rng)).collect();
            VoteTree::new(arities, target, leaves, tables, votes).unwrap()
        })
        .collect();
    Grove::with_features(inputs, spans, patterns, classes, bias, 0.01, trees).unwrap()
}

/// The netlist with one bit of one table flipped.
pub(crate) fn flip(netlist: &Netlist, lut: usize, address: usize) -> Netlist {
    let mut builder = NetlistBuilder::new(netlist.input_names().iter().cloned()).unwrap();
    for (index, each) in netlist.iter().enumerate() {
        let mut words = each.words().to_vec();
        if index == lut {
            words[address / 64] ^= 1 << (address % 64);
        }
        builder.add(&words, each.inputs()).unwrap();
    }
    for (name, signal) in netlist.output_list() {
        builder.output(name.clone(), *signal).unwrap();
    }
    builder.finish()
}

/// Whether two netlists of at most 16 inputs agree on every row: the definition, 64 rows at a time.
pub(crate) fn equal_everywhere(first: &Netlist, second: &Netlist) -> bool {
    let inputs = first.inputs();
    assert!(inputs <= 16 && second.inputs() == inputs);
    let low = [
        0xaaaa_aaaa_aaaa_aaaau64,
        0xcccc_cccc_cccc_cccc,
        0xf0f0_f0f0_f0f0_f0f0,
        0xff00_ff00_ff00_ff00,
        0xffff_0000_ffff_0000,
        0xffff_ffff_0000_0000,
    ];
    (0..(1usize << inputs).div_ceil(64)).all(|block| {
        let words: Vec<u64> = (0..inputs)
            .map(|input| match low.get(input) {
                Some(&word) => word,
                None => 0u64.wrapping_sub((block >> (input - 6) & 1) as u64),
            })
            .collect();
        let (ours, theirs) = (first.simulate_word(&words), second.simulate_word(&words));
        first
            .output_list()
            .iter()
            .zip(second.output_list())
            .all(|((_, a), (_, b))| ours[a.index()] == theirs[b.index()])
    })
}
