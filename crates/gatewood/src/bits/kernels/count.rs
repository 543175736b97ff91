//! Counting rows in which several columns are all one.

use std::mem::MaybeUninit;

use super::levels;
use super::vector::Vector;

/// Vectors a column is worked through at a time: few enough that all products of a chunk stay in the first-level
/// cache and a byte-wise counter does not overflow.
const CHUNK: usize = 31;

/// Largest number of inputs besides the three that are kept in registers.
const MAX_UPPER: usize = 9;

levels! {
    /// How many bits are one.
    fn popcount(words: &[u64]) -> u64 = popcount_generic
}

/// Eight vectors are added with carry-save adders first where counting the ones of a vector takes many operations: one
/// vector of eights is then counted in place of eight vectors.
#[inline(always)]
pub(super) fn popcount_generic<V: Vector>(words: &[u64]) -> u64 {
    let vectors = words.len() / V::WORDS;
    // SAFETY: `vector` is below the number of whole vectors wherever this is used.
    let load = |vector: usize| unsafe { V::load(words.as_ptr().add(vector * V::WORDS)) };
    let mut total = 0;
    let mut next = 0;
    if V::CARRY_SAVE {
        let (mut ones, mut twos, mut fours) = (V::zero(), V::zero(), V::zero());
        while next + 8 <= vectors {
            let end = next + (vectors - next).min(8 * V::COUNTER_LIMIT.min(31)) / 8 * 8;
            let mut eights = V::counter();
            while next < end {
                let first = carry_save(&mut ones, load(next), load(next + 1));
                let second = carry_save(&mut ones, load(next + 2), load(next + 3));
                let low = carry_save(&mut twos, first, second);
                let first = carry_save(&mut ones, load(next + 4), load(next + 5));
                let second = carry_save(&mut ones, load(next + 6), load(next + 7));
                let high = carry_save(&mut twos, first, second);
                eights = V::add(eights, carry_save(&mut fours, low, high));
                next += 8;
            }
            total += 8 * V::total(eights);
        }
        for (weight, vector) in [(1, ones), (2, twos), (4, fours)] {
            total += weight * V::total(V::add(V::counter(), vector));
        }
    }
    while next < vectors {
        let end = next + (vectors - next).min(V::COUNTER_LIMIT);
        // Two counters, so that one addition does not wait for the other.
        let mut counters = [V::counter(); 2];
        while next < end {
            counters[next % 2] = V::add(counters[next % 2], load(next));
            next += 1;
        }
        total += V::total(counters[0]) + V::total(counters[1]);
    }
    words[vectors * V::WORDS..].iter().fold(total, |total, word| total + u64::from(word.count_ones()))
}

/// Adds two vectors to a third, bit by bit: the sum stays in `sum`, the carry is returned.
#[inline(always)]
pub(super) fn carry_save<V: Vector>(sum: &mut V, a: V, b: V) -> V {
    let either = a.xor(b);
    let carry = V::mux(either, a, *sum);
    *sum = either.xor(*sum);
    carry
}

levels! {
    /// Counts of all subsets of `inputs`, each together with `base`; counts of a single column are left as they are.
    fn and_counts(base: Option<&[u64]>, inputs: &[&[u64]], words: usize, out: &mut [u32]) = and_counts_generic
}

#[inline(always)]
fn and_counts_generic<V: Vector>(base: Option<&[u64]>, inputs: &[&[u64]], words: usize, out: &mut [u32]) {
    let columns = usize::from(base.is_some()) + inputs.len();
    if columns < 2 {
        return;
    }
    // Single columns are not counted: what the caller has there stays.
    for (subset, count) in out.iter_mut().enumerate() {
        if subset.count_ones() as usize + usize::from(base.is_some()) >= 2 {
            *count = 0;
        }
    }
    let whole = words / V::WORDS * V::WORDS;
    and_counts_range::<V, false>(base, inputs, 0, whole, out);
    if whole < words {
        and_counts_range::<u64, false>(base, inputs, whole, words, out);
    }
}

/// Adds the counts of the words from `start` to `end`, a whole number of vectors; that of the base alone only where
/// `ALONE` says so.
#[inline(always)]
pub(super) fn and_counts_range<V: Vector, const ALONE: bool>(
    base: Option<&[u64]>,
    inputs: &[&[u64]],
    start: usize,
    end: usize,
    out: &mut [u32],
) {
    match inputs.len() {
        0 => {}
        1 => and_counts_chunks::<V, 1, ALONE>(base, inputs, start, end, out),
        2 => and_counts_chunks::<V, 2, ALONE>(base, inputs, start, end, out),
        _ => and_counts_chunks::<V, 3, ALONE>(base, inputs, start, end, out),
    }
}

/// The first `LOWER` inputs are combined in registers, the products of the others (and the base) in a buffer.
#[inline(always)]
fn and_counts_chunks<V: Vector, const LOWER: usize, const ALONE: bool>(
    base: Option<&[u64]>,
    inputs: &[&[u64]],
    start: usize,
    end: usize,
    out: &mut [u32],
) {
    const { assert!(CHUNK <= 31) };
    let (lower, upper) = inputs.split_at(LOWER);
    assert!(upper.len() <= MAX_UPPER && out.len() == 1 << inputs.len());
    assert!(base.iter().chain(inputs).all(|column| column.len() >= end));
    let lower: [*const u64; LOWER] = std::array::from_fn(|j| lower[j].as_ptr());
    // `products[s]`: the AND of the base and the upper inputs in subset `s`, for this chunk.
    let mut buffer = [[const { MaybeUninit::<V>::uninit() }; CHUNK]; 1 << (MAX_SUBSET_INPUTS - 3)];
    let mut at = start;
    while at < end {
        let vectors = CHUNK.min((end - at) / V::WORDS);
        // SAFETY: every column holds `end` words, and `at + vectors * WORDS <= end`.
        unsafe {
            let lower = lower.map(|column| column.add(at));
            for subset in 0..1usize << upper.len() {
                let out = &mut out[subset << LOWER..][..1 << LOWER];
                let members = subset.count_ones() as usize + usize::from(base.is_some());
                let product: *const u64 = match members {
                    0 => std::ptr::null(),
                    1 if subset == 0 => base.map_or(std::ptr::null(), |base| base.as_ptr().add(at)),
                    1 => upper[subset.trailing_zeros() as usize].as_ptr().add(at),
                    _ => {
                        // One more input than a subset that is done already.
                        let top = subset.ilog2() as usize;
                        let rest = subset & !(1 << top);
                        let column = upper[top].as_ptr().add(at);
                        let (done, free) = buffer.split_at_mut(subset);
                        let target = &mut free[0];
                        for (i, product) in target[..vectors].iter_mut().enumerate() {
                            let part = match (rest, base) {
                                (0, Some(base)) => V::load(base.as_ptr().add(at + i * V::WORDS)),
                                _ if rest.count_ones() as usize + usize::from(base.is_some()) == 1 => {
                                    V::load(
                                        upper[rest.trailing_zeros() as usize].as_ptr().add(at + i * V::WORDS),
                                    )
                                }
                                // Written above, when its subset was reached.
                                _ => done[rest][i].assume_init(),
                            };
                            product.write(part.and(V::load(column.add(i * V::WORDS))));
                        }
                        target.as_ptr().cast()
                    }
                };
                match members {
                    0 => lower_counts::<V, LOWER, NONE>(product, lower, vectors, out),
                    1 if !(ALONE && subset == 0) => {
                        lower_counts::<V, LOWER, ONE>(product, lower, vectors, out)
                    }
                    _ => lower_counts::<V, LOWER, MANY>(product, lower, vectors, out),
                }
            }
        }
        at += vectors * V::WORDS;
    }
}

/// Inputs counted by AND and popcount at the most, the base not among them.
const MAX_SUBSET_INPUTS: usize = super::HISTOGRAM_ARITY - 1;

/// How many columns the product of the upper inputs is made of: none, one whose count is known, or more.
const NONE: u8 = 0;
const ONE: u8 = 1;
const MANY: u8 = 2;

/// Adds the counts of all subsets of the lower columns, each together with `product` where it is given.
///
/// # Safety
/// `vectors` vectors must be readable at each pointer (at `product` unless `MEMBERS` is `NONE`), and be at most the
/// counter's limit.
#[inline(always)]
unsafe fn lower_counts<V: Vector, const LOWER: usize, const MEMBERS: u8>(
    product: *const u64,
    lower: [*const u64; LOWER],
    vectors: usize,
    out: &mut [u32],
) {
    let mut counters = [V::counter(); 8];
    for i in 0..vectors {
        let at = i * V::WORDS;
        let mut values = [V::zero(); LOWER];
        for (value, column) in values.iter_mut().zip(lower) {
            // SAFETY: the caller's promise.
            *value = unsafe { V::load(column.add(at)) };
        }
        // Each subset's vector follows from the one without its last column.
        let mut subsets = [V::zero(); 8];
        if MEMBERS != NONE {
            // SAFETY: the caller's promise.
            subsets[0] = unsafe { V::load(product.add(at)) };
        }
        if MEMBERS == MANY {
            counters[0] = V::add(counters[0], subsets[0]);
        }
        for (last, &value) in values.iter().enumerate() {
            for rest in 0..1 << last {
                let alone = MEMBERS == NONE && rest == 0;
                let subset = rest | 1 << last;
                subsets[subset] = if alone { value } else { subsets[rest].and(value) };
                if !alone {
                    counters[subset] = V::add(counters[subset], subsets[subset]);
                }
            }
        }
    }
    for (count, counter) in out.iter_mut().zip(counters) {
        *count += V::total(counter) as u32;
    }
}
