//! Evaluating a truth table for whole columns of rows.
//!
//! The first two inputs have only 16 functions. All are computed once per vector; each four bits of the table pick
//! one, and the other inputs choose between those with multiplexers: 3 of them for a 4-gate instead of 15.

use super::levels;
use super::vector::Vector;

levels! {
    /// Writes the table's output for every row.
    fn evaluate(table: &[u64], inputs: &[&[u64]], output: &mut [u64]) = evaluate_generic
}

#[inline(always)]
fn evaluate_generic<V: Vector>(table: &[u64], inputs: &[&[u64]], output: &mut [u64]) {
    let words = output.len();
    let whole = words / V::WORDS * V::WORDS;
    evaluate_range::<V>(table, inputs, 0, whole, output);
    if whole < words {
        evaluate_range::<u64>(table, inputs, whole, words, output);
    }
}

#[inline(always)]
fn evaluate_range<V: Vector>(table: &[u64], inputs: &[&[u64]], start: usize, end: usize, output: &mut [u64]) {
    assert!(inputs.iter().all(|input| input.len() >= end) && output.len() >= end);
    match inputs.len() {
        1 => {
            // A gate of one input is one of two that ignores the second.
            let table = table[0] & 3;
            evaluate_word::<V, 2>(table | table << 2, &[inputs[0], inputs[0]], start, end, output);
        }
        2 => evaluate_word::<V, 2>(table[0], inputs, start, end, output),
        3 => evaluate_word::<V, 3>(table[0], inputs, start, end, output),
        4 => evaluate_word::<V, 4>(table[0], inputs, start, end, output),
        5 => evaluate_word::<V, 5>(table[0], inputs, start, end, output),
        6 => evaluate_word::<V, 6>(table[0], inputs, start, end, output),
        _ => evaluate_wide::<V>(table, inputs, start, end, output),
    }
}

/// A table that fits in one word.
#[inline(always)]
fn evaluate_word<V: Vector, const ARITY: usize>(
    table: u64,
    inputs: &[&[u64]],
    start: usize,
    end: usize,
    output: &mut [u64],
) {
    let nibbles = nibbles_of(table);
    let mut halves = [0u8; 16];
    let mut flips = [V::zero(); 16];
    for (i, &nibble) in nibbles.iter().enumerate() {
        let (half, flip) = HALVED[usize::from(nibble)];
        halves[i] = half;
        if flip {
            flips[i] = V::zero().not();
        }
    }
    for at in (start..end).step_by(V::WORDS) {
        // Plain loops, no closures: those are not always inlined into the level's function, and outside it a vector
        // passes through memory.
        let mut values = [V::zero(); ARITY];
        for (value, input) in values.iter_mut().zip(inputs) {
            // SAFETY: every input holds `end` words, and `end - start` is whole vectors.
            *value = unsafe { V::load(input.as_ptr().add(at)) };
        }
        let result = if ARITY <= 4 {
            // Few functions are picked: half of them and a flip cost less than storing all.
            let functions = half_the_functions(values[0], values[1]);
            let mut layer = [V::zero(); 4];
            for i in 0..1 << (ARITY - 2) {
                layer[i] = functions[usize::from(halves[i])].xor(flips[i]);
            }
            multiplex::<V, ARITY, 4>(&values, layer)
        } else {
            let functions = functions_of_two(values[0], values[1]);
            let mut layer = [V::zero(); 16];
            for i in 0..1 << (ARITY - 2) {
                layer[i] = functions[usize::from(nibbles[i])];
            }
            multiplex::<V, ARITY, 16>(&values, layer)
        };
        // SAFETY: the output holds `end` words.
        unsafe { result.store(output.as_mut_ptr().add(at)) };
    }
}

/// The table, four bits at a time.
#[inline(always)]
pub(super) fn nibbles_of(table: u64) -> [u8; 16] {
    let mut nibbles = [0; 16];
    for (i, nibble) in nibbles.iter_mut().enumerate() {
        *nibble = (table >> (4 * i) & 15) as u8;
    }
    nibbles
}

/// A table of several words: each word is a function of the first six inputs, merged as a binary counter carries.
#[inline(always)]
fn evaluate_wide<V: Vector>(table: &[u64], inputs: &[&[u64]], start: usize, end: usize, output: &mut [u64]) {
    let table = &table[..1 << (inputs.len() - 6)];
    for at in (start..end).step_by(V::WORDS) {
        let mut values = [V::zero(); 6];
        for (value, input) in values.iter_mut().zip(inputs) {
            // SAFETY: every input holds `end` words, and `end - start` is whole vectors.
            *value = unsafe { V::load(input.as_ptr().add(at)) };
        }
        let functions = functions_of_two(values[0], values[1]);
        let mut pending = [V::zero(); super::MAX_ARITY];
        for (index, &word) in table.iter().enumerate() {
            let mut layer = [V::zero(); 16];
            for (i, picked) in layer.iter_mut().enumerate() {
                *picked = functions[(word >> (4 * i) & 15) as usize];
            }
            let mut value = multiplex::<V, 6, 16>(&values, layer);
            let mut level = 0;
            while index >> level & 1 == 1 {
                // SAFETY: as above.
                let input = unsafe { V::load(inputs[6 + level].as_ptr().add(at)) };
                value = V::mux(input, pending[level], value);
                level += 1;
            }
            pending[level] = value;
        }
        // SAFETY: the output holds `end` words.
        unsafe { pending[inputs.len() - 6].store(output.as_mut_ptr().add(at)) };
    }
}

/// The 16 functions of two inputs, each at the number that is its truth table.
#[inline(always)]
pub(super) fn functions_of_two<V: Vector>(a: V, b: V) -> [V; 16] {
    let and = a.and(b);
    let xor = a.xor(b);
    let or = and.xor(xor);
    let a_only = a.xor(and);
    let b_only = b.xor(and);
    let zero = V::zero();
    [
        zero,
        or.not(),
        a_only,
        b.not(),
        b_only,
        a.not(),
        xor,
        and.not(),
        and,
        xor.not(),
        a,
        b_only.not(),
        b,
        a_only.not(),
        or,
        zero.not(),
    ]
}

/// For each function of two inputs, which of [`half_the_functions`] it is and whether it is to be flipped.
const HALVED: [(u8, bool); 16] = [
    (0, false),
    (3, true),
    (4, false),
    (7, true),
    (5, false),
    (6, true),
    (1, false),
    (2, true),
    (2, false),
    (1, true),
    (6, false),
    (5, true),
    (7, false),
    (4, true),
    (3, false),
    (0, true),
];

/// One of each pair of a function and its opposite.
#[inline(always)]
fn half_the_functions<V: Vector>(a: V, b: V) -> [V; 8] {
    let and = a.and(b);
    let xor = a.xor(b);
    [V::zero(), xor, and, and.xor(xor), a.xor(and), b.xor(and), a, b]
}

/// Multiplexes the picked functions of inputs 0 and 1 with inputs 2 and up.
#[inline(always)]
pub(super) fn multiplex<V: Vector, const ARITY: usize, const WIDTH: usize>(
    values: &[V; ARITY],
    mut layer: [V; WIDTH],
) -> V {
    let mut width = 1 << (ARITY - 2);
    for value in &values[2..] {
        width /= 2;
        for i in 0..width {
            layer[i] = V::mux(*value, layer[2 * i], layer[2 * i + 1]);
        }
    }
    layer[0]
}
