//! Counting by address: for gates of many inputs.

use super::levels;
use super::vector::Vector;

levels! {
    /// Counts the address of every row, padding rows included.
    fn histogram(inputs: &[&[u64]], words: usize, out: &mut [u32]) = histogram_generic
}

#[inline(always)]
fn histogram_generic<V: Vector>(inputs: &[&[u64]], words: usize, out: &mut [u32]) {
    out.fill(0);
    let (low, high) = inputs.split_at(inputs.len().min(8));
    // Two tables, so that equal addresses in a row do not wait for each other.
    let mut other = [0u32; 1 << super::MAX_ARITY];
    let other = &mut other[..out.len()];
    for word in 0..words {
        let low = addresses(low, word);
        let high = if high.is_empty() { [0; 8] } else { addresses(high, word) };
        for (low, high) in low.into_iter().zip(high) {
            let (low, high) = (low.to_le_bytes(), high.to_le_bytes());
            for i in (0..8).step_by(2) {
                // Addresses are below the number of counts by construction; the mask says so to the compiler.
                out[(usize::from(low[i]) | usize::from(high[i]) << 8) & (out.len() - 1)] += 1;
                other[(usize::from(low[i + 1]) | usize::from(high[i + 1]) << 8) & (out.len() - 1)] += 1;
            }
        }
    }
    for (count, other) in out.iter_mut().zip(other) {
        *count += *other;
    }
}

/// The addresses of 64 rows over up to eight inputs: byte `i` of entry `g` is the address of row `8 g + i`.
#[inline(always)]
pub(super) fn addresses(inputs: &[&[u64]], word: usize) -> [u64; 8] {
    // Plain loops over all groups, so that these are done side by side.
    let mut groups = [0u64; 8];
    for (j, input) in inputs.iter().enumerate() {
        for (group, bytes) in groups.iter_mut().enumerate() {
            *bytes |= (input[word] >> (8 * group) & 0xff) << (8 * j);
        }
    }
    for group in &mut groups {
        *group = transpose_8(*group);
    }
    groups
}

/// Transposes 8 by 8 bits: bit `j` of byte `i` becomes bit `i` of byte `j`.
#[inline(always)]
fn transpose_8(mut x: u64) -> u64 {
    for (shift, mask) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let swap = (x ^ x >> shift) & mask;
        x ^= swap ^ swap << shift;
    }
    x
}
