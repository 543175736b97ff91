//! A digest of training rows, small enough for the model file: tells whether rows to test on were learned from.
//!
//! Every row has a hash of its bits and its class. The digest keeps the smallest few, which are a sample of the rows that does
//! not depend on their order. Rows that hold most of the sample hold most of the training rows.

use std::collections::BTreeSet;

use crate::bits::{BitView, WORD_BITS};

/// Hashes kept.
const KEPT: usize = 16;

/// Columns of bits that are hashed, spread over all of them: enough to tell rows apart, few enough to cost nothing.
const COLUMNS: usize = 128;

/// Words of a column that are hashed at a time.
const CHUNK: usize = 1 << 8;

/// The digest of rows with their classes, as text.
pub(super) fn digest(bits: BitView<'_>, classes: &[u32]) -> String {
    written(hashes(bits, classes))
}

/// The smallest hashes of rows; those of parts of the rows can be put together.
pub(super) fn hashes(bits: BitView<'_>, classes: &[u32]) -> BTreeSet<u64> {
    let mut kept = BTreeSet::new();
    each_hash(bits, classes, |hash| {
        if kept.len() < KEPT || kept.last().is_some_and(|&last| hash < last) {
            kept.insert(hash);
            if kept.len() > KEPT {
                kept.pop_last();
            }
        }
    });
    kept
}

/// The digest of the smallest hashes, as text.
pub(super) fn written(hashes: BTreeSet<u64>) -> String {
    hashes.iter().take(KEPT).map(|hash| format!("{hash:016x}")).collect()
}

/// The share of the rows behind a digest that are among these rows, about; nothing when there is no digest.
pub(super) fn share_among(digest: &str, bits: BitView<'_>, classes: &[u32]) -> Option<f64> {
    let hash = |digits: &[u8]| u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let kept: BTreeSet<u64> = digest.as_bytes().chunks(16).map(hash).collect::<Option<_>>()?;
    let largest = *kept.last()?;
    let mut found = BTreeSet::new();
    each_hash(bits, classes, |hash| {
        if hash <= largest && kept.contains(&hash) {
            found.insert(hash);
        }
    });
    Some(found.len() as f64 / kept.len() as f64)
}

/// Calls back with the hash of every row.
fn each_hash(bits: BitView<'_>, classes: &[u32], mut each: impl FnMut(u64)) {
    let count = bits.columns().min(COLUMNS);
    let columns: Vec<usize> = (0..count).map(|place| place * bits.columns() / count).collect();
    let keys: Vec<u64> = columns.iter().map(|&column| mix(column as u64 + 1)).collect();
    let mut sums = vec![0u64; CHUNK * WORD_BITS];
    for (chunk, classes) in classes.chunks(CHUNK * WORD_BITS).enumerate() {
        let words = classes.len().div_ceil(WORD_BITS);
        sums.fill(0);
        for (&column, key) in columns.iter().zip(&keys) {
            let words = &bits.column(column)[chunk * CHUNK..][..words];
            for (&word, sums) in words.iter().zip(sums.chunks_exact_mut(WORD_BITS)) {
                let mut left = word;
                while left != 0 {
                    let sum = &mut sums[left.trailing_zeros() as usize];
                    *sum = sum.wrapping_add(*key);
                    left &= left - 1;
                }
            }
        }
        for (&class, sum) in classes.iter().zip(&sums) {
            each(mix(sum.wrapping_add(mix(u64::from(class) ^ 0x5bd1_e995))));
        }
    }
}

/// Spreads a number over all 64 bits.
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::BitMatrix;

    #[test]
    fn rows_are_found_again() {
        let columns = 40;
        let bools: Vec<bool> = (0..50_000 * columns).map(|place| mix(place as u64) & 1 == 1).collect();
        let matrix = BitMatrix::from_bools(columns, &bools).unwrap();
        let classes: Vec<u32> = (0..50_000).map(|row| row % 3).collect();
        let part = |from: usize, to: usize| {
            let rows: Vec<usize> = (from..to).collect();
            (matrix.select_rows(&rows).unwrap(), &classes[from..to])
        };
        let (train, train_classes) = part(0, 20_000);
        let text = digest(train.view(), train_classes);
        assert_eq!(text.len(), 16 * KEPT);
        let share = |from: usize, to: usize| {
            let (rows, classes) = part(from, to);
            share_among(&text, rows.view(), classes).unwrap()
        };
        assert_eq!(share(0, 20_000), 1.0);
        assert_eq!(share(0, 50_000), 1.0);
        assert_eq!(share(20_000, 50_000), 0.0);
        let half = share(0, 10_000);
        assert!(half > 0.1 && half < 0.9, "{half}");
        // The order of the rows does not matter.
        let turned: Vec<usize> = (0..20_000).rev().collect();
        let classes: Vec<u32> = turned.iter().map(|&row| classes[row]).collect();
        assert_eq!(digest(matrix.select_rows(&turned).unwrap().view(), &classes), text);
        assert_eq!(share_among("", train.view(), train_classes), None);
        assert_eq!(share_among("no digest", train.view(), train_classes), None);
    }
}
