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
    let nibbles: [u8; 16] = std::array::from_fn(|i| (table >> (4 * i) & 15) as u8);
    for at in (start..end).step_by(V::WORDS) {
        // SAFETY: every input and the output hold `end` words, and `end - start` is whole vectors.
        unsafe {
            let values: [V; ARITY] = std::array::from_fn(|j| V::load(inputs[j].as_ptr().add(at)));
            let functions = functions_of_two(values[0], values[1]);
            select::<V, ARITY>(&functions, &values, &nibbles).store(output.as_mut_ptr().add(at));
        }
    }
}

/// A table of several words: each word is a function of the first six inputs, merged as a binary counter carries.
#[inline(always)]
fn evaluate_wide<V: Vector>(table: &[u64], inputs: &[&[u64]], start: usize, end: usize, output: &mut [u64]) {
    let table = &table[..1 << (inputs.len() - 6)];
    for at in (start..end).step_by(V::WORDS) {
        // SAFETY: as in `evaluate_word`.
        unsafe {
            let values: [V; 6] = std::array::from_fn(|j| V::load(inputs[j].as_ptr().add(at)));
            let functions = functions_of_two(values[0], values[1]);
            let mut pending = [V::zero(); super::MAX_ARITY];
            for (index, &word) in table.iter().enumerate() {
                let nibbles: [u8; 16] = std::array::from_fn(|i| (word >> (4 * i) & 15) as u8);
                let mut value = select::<V, 6>(&functions, &values, &nibbles);
                let mut level = 0;
                while index >> level & 1 == 1 {
                    let input = V::load(inputs[6 + level].as_ptr().add(at));
                    value = V::mux(input, pending[level], value);
                    level += 1;
                }
                pending[level] = value;
            }
            pending[inputs.len() - 6].store(output.as_mut_ptr().add(at));
        }
    }
}

/// The 16 functions of two inputs, each at the number that is its truth table.
#[inline(always)]
fn functions_of_two<V: Vector>(a: V, b: V) -> [V; 16] {
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

/// Multiplexes the functions picked by the nibbles with inputs 2 and up.
#[inline(always)]
fn select<V: Vector, const ARITY: usize>(functions: &[V; 16], values: &[V; ARITY], nibbles: &[u8; 16]) -> V {
    let mut layer: [V; 16] = [functions[0]; 16];
    let mut width = 1 << (ARITY - 2);
    for i in 0..width {
        layer[i] = functions[usize::from(nibbles[i] & 15)];
    }
    for value in &values[2..] {
        width /= 2;
        for i in 0..width {
            layer[i] = V::mux(*value, layer[2 * i], layer[2 * i + 1]);
        }
    }
    layer[0]
}
