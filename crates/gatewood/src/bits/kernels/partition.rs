//! Parting the bits of a column by a mask.

use super::levels;
use super::vector::Vector;

levels! {
    /// Appends the bits at zeros of the mask to `zeros` and those at ones to `ones`, both zero beforehand.
    fn partition(column: &[u64], mask: &[u64], rows: usize, zeros: &mut [u64], ones: &mut [u64]) = partition_generic
}

#[inline(always)]
fn partition_generic<V: Vector>(
    column: &[u64],
    mask: &[u64],
    rows: usize,
    zeros: &mut [u64],
    ones: &mut [u64],
) {
    let mut filled = [0usize; 2];
    for (index, (&word, &mask)) in column.iter().zip(mask).enumerate() {
        let valid = match rows - index * 64 {
            rest @ 0..64 => (1u64 << rest) - 1,
            _ => u64::MAX,
        };
        append(zeros, &mut filled[0], V::extract(word, !mask & valid), (!mask & valid).count_ones());
        append(ones, &mut filled[1], V::extract(word, mask & valid), (mask & valid).count_ones());
    }
}

/// Writes the low `length` bits of `bits` at bit `filled` of `target`.
#[inline(always)]
fn append(target: &mut [u64], filled: &mut usize, bits: u64, length: u32) {
    let (word, shift) = (*filled / 64, *filled % 64);
    if bits != 0 {
        target[word] |= bits << shift;
        if shift + length as usize > 64 {
            target[word + 1] |= bits >> (64 - shift);
        }
    }
    *filled += length as usize;
}
