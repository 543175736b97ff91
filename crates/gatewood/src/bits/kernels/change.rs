//! Counting a gate of which one input changed, and finding the order of its addresses.

use super::count::{and_counts_range, popcount_generic};
use super::levels;
use super::vector::Vector;

levels! {
    /// For both parts of the columns and every subset of `others`, the rows with a one in `changed` and all of the subset.
    fn count_changed(changed: &[u64], others: &[&[u64]], split: usize, zeros: &mut [u32], ones: &mut [u32]) = count_changed_generic
}

#[inline(always)]
fn count_changed_generic<V: Vector>(
    changed: &[u64],
    others: &[&[u64]],
    split: usize,
    zeros: &mut [u32],
    ones: &mut [u32],
) {
    for (start, end, out) in [(0, split, zeros), (split, changed.len(), ones)] {
        out.fill(0);
        // Both parts are whole blocks, and so whole vectors of every level.
        if others.is_empty() {
            out[0] = popcount_generic::<V>(&changed[start..end]) as u32;
        } else {
            and_counts_range::<V, true>(Some(changed), others, start, end, out);
        }
    }
}

levels! {
    /// For each key, how many are less; keys must differ.
    fn rank(keys: &[u32], ranks: &mut [u32]) = rank_generic
}

#[inline(always)]
fn rank_generic<V: Vector>(keys: &[u32], ranks: &mut [u32]) {
    match keys.len() {
        16 => rank_fixed::<16>(keys.try_into().expect("16"), ranks),
        32 => rank_fixed::<32>(keys.try_into().expect("32"), ranks),
        64 => rank_fixed::<64>(keys.try_into().expect("64"), ranks),
        _ => ranks.iter_mut().zip(keys).for_each(|(rank, key)| {
            *rank = keys.iter().map(|other| u32::from(other < key)).sum();
        }),
    }
}

#[inline(always)]
fn rank_fixed<const N: usize>(keys: &[u32; N], ranks: &mut [u32]) {
    let mut counts = [0u32; N];
    for &other in keys {
        for (count, &key) in counts.iter_mut().zip(keys) {
            // Keys are below 2^31, so a signed comparison, which vectors have, is right.
            *count += u32::from((other as i32) < key as i32);
        }
    }
    ranks[..N].copy_from_slice(&counts);
}

levels! {
    /// The address of every row over up to sixteen inputs.
    fn addresses(inputs: &[&[u64]], words: usize, out: &mut [u16]) = addresses_generic
}

#[inline(always)]
fn addresses_generic<V: Vector>(inputs: &[&[u64]], words: usize, out: &mut [u16]) {
    let (low, high) = inputs.split_at(inputs.len().min(8));
    for (word, out) in out.chunks_mut(64).enumerate().take(words) {
        let low = bytes_of(super::histogram::addresses(low, word));
        let mut all = [0u16; 64];
        for (all, low) in all.iter_mut().zip(low) {
            *all = u16::from(low);
        }
        if !high.is_empty() {
            let high = bytes_of(super::histogram::addresses(high, word));
            for (all, high) in all.iter_mut().zip(high) {
                *all |= u16::from(high) << 8;
            }
        }
        out.copy_from_slice(&all[..out.len()]);
    }
}

#[inline(always)]
fn bytes_of(words: [u64; 8]) -> [u8; 64] {
    let mut bytes = [0; 64];
    for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}
