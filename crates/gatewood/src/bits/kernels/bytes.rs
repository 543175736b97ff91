//! Which bytes are greater than others, a bit for each.

use super::levels;
use super::vector::Vector;
use crate::bits::WORD_BITS;

levels! {
    /// Writes a bit for each of whole words of bytes: whether the first less the second is above a margin.
    fn exceed(one: &[u8], other: &[u8], margin: i16, out: &mut [u64]) = exceed_generic
}

#[inline(always)]
fn exceed_generic<V: Vector>(one: &[u8], other: &[u8], margin: i16, out: &mut [u64]) {
    // Bytes stay bytes: sums beyond the largest are as good as the largest.
    if let Ok(margin) = u8::try_from(margin) {
        pack(one, other, out, |one, other| one > other.saturating_add(margin));
    } else if let Ok(more) = u8::try_from(-1 - margin) {
        pack(one, other, out, |one, other| one.saturating_add(more) >= other);
    } else {
        out.fill(if margin < 0 { u64::MAX } else { 0 });
    }
}

levels! {
    /// Writes a bit for each of whole words of bytes: whether it is above a threshold.
    fn above(bytes: &[u8], threshold: u8, out: &mut [u64]) = above_generic
}

#[inline(always)]
fn above_generic<V: Vector>(bytes: &[u8], threshold: u8, out: &mut [u64]) {
    pack(bytes, bytes, out, |byte, _| byte > threshold);
}

#[inline(always)]
fn pack(one: &[u8], other: &[u8], out: &mut [u64], holds: impl Fn(u8, u8) -> bool) {
    let words = one.as_chunks::<WORD_BITS>().0.iter().zip(other.as_chunks::<WORD_BITS>().0);
    for (out, (one, other)) in out.iter_mut().zip(words) {
        let mut flags = [0u8; WORD_BITS];
        for (flag, (&one, &other)) in flags.iter_mut().zip(one.iter().zip(other)) {
            *flag = u8::from(holds(one, other));
        }
        // The low bits of eight bytes, gathered in the top byte.
        let gather = |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        let eights = flags.as_chunks::<8>().0.iter().enumerate();
        *out = eights.fold(0, |word, (place, eight)| word | gather(eight) << (8 * place));
    }
}

#[cfg(test)]
mod tests {
    use crate::bits::kernels::{Kernels, Level};

    #[test]
    fn bytes_are_compared_as_numbers_are() {
        // All pairs of bytes that are near an end or each other, and some others.
        let some: Vec<u8> = (0..=255u8).filter(|byte| byte % 16 < 2 || *byte > 250).collect();
        let pairs: Vec<(u8, u8)> = some.iter().flat_map(|&a| some.iter().map(move |&b| (a, b))).collect();
        let (mut one, mut other): (Vec<u8>, Vec<u8>) = pairs.into_iter().unzip();
        let whole = one.len().next_multiple_of(64);
        one.resize(whole, 7);
        other.resize(whole, 9);
        for level in Level::available() {
            let kernels = Kernels::at(level).unwrap();
            let mut found = vec![0; whole / 64];
            let check = |what: &str, holds: &dyn Fn(usize) -> bool, found: &[u64]| {
                for row in 0..whole {
                    assert_eq!(found[row / 64] >> (row % 64) & 1 != 0, holds(row), "{what} {row} {level:?}");
                }
            };
            for margin in [-256, -255, -254, -17, -1, 0, 1, 20, 254, 255, 256] {
                kernels.exceed(&one, &other, margin, &mut found);
                let holds = |row: usize| i16::from(one[row]) - i16::from(other[row]) > margin;
                check(&format!("margin {margin}"), &holds, &found);
            }
            for threshold in [0, 1, 127, 200, 254, 255] {
                kernels.above(&one, threshold, &mut found);
                check(&format!("threshold {threshold}"), &|row| one[row] > threshold, &found);
            }
        }
    }
}
