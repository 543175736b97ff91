//! One bit of each of many bytes.

use super::levels;
use super::vector::Vector;
use crate::bits::WORD_BITS;

levels! {
    /// Packs bit `bit` of each of the bytes.
    fn pick(bytes: &[u8], bit: u32, out: &mut [u64]) = pick_generic
}

/// The lowest bit of each byte of a word, and what moves those together at the top: the product has bit `i` of the eight at
/// `56 + i`, and no two of its terms meet.
const LOWEST: u64 = 0x0101_0101_0101_0101;
const TOGETHER: u64 = 0x0102_0408_1020_4080;

#[inline(always)]
fn pick_generic<V: Vector>(bytes: &[u8], bit: u32, out: &mut [u64]) {
    for (bytes, out) in bytes.as_chunks::<WORD_BITS>().0.iter().zip(out) {
        let eights = bytes.as_chunks::<8>().0.iter().enumerate();
        *out = eights.fold(0, |word, (at, &eight)| {
            let bits = (u64::from_le_bytes(eight) >> bit & LOWEST).wrapping_mul(TOGETHER) >> 56;
            word | bits << (8 * at)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kernels, Level};
    use super::*;
    use crate::random::{Purpose, Stream};

    #[test]
    fn every_level_picks_one_bit_of_each_byte() {
        let mut stream = Stream::new(5, Purpose::Generate, 0);
        let bytes: Vec<u8> = (0..7 * WORD_BITS).map(|_| stream.bits() as u8).collect();
        for level in Level::available() {
            for bit in 0..8 {
                let mut out = [0; 7];
                Kernels::at(level).unwrap().pick(&bytes, bit, &mut out);
                for (row, byte) in bytes.iter().enumerate() {
                    let picked = out[row / WORD_BITS] >> (row % WORD_BITS) & 1;
                    assert_eq!(picked, u64::from(byte >> bit & 1), "{level:?} {bit}");
                }
            }
        }
    }
}
