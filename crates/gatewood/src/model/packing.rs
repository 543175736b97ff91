//! Numbers of any width, packed bit by bit, low bits first.

use crate::{Error, Result};

/// Packs numbers into bytes.
#[derive(Debug, Default)]
pub(super) struct Packer {
    bytes: Vec<u8>,
    /// Bits used of the last byte; 0 when it is full or there is none.
    used: u32,
}

impl Packer {
    /// Appends the low `width` bits of a number; `width` is 64 at the most.
    pub(super) fn put(&mut self, mut value: u64, mut width: u32) {
        while width > 0 {
            if self.used == 0 {
                self.bytes.push(0);
            }
            let taken = width.min(8 - self.used);
            let part = (value & ((1 << taken) - 1)) as u8;
            *self.bytes.last_mut().expect("pushed above") |= part << self.used;
            self.used = (self.used + taken) % 8;
            value = value.checked_shr(taken).unwrap_or(0);
            width -= taken;
        }
    }

    /// The bytes, the last filled up with zeros.
    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Takes packed numbers out again.
#[derive(Debug)]
pub(super) struct Unpacker<'a> {
    bytes: &'a [u8],
    /// Bits taken.
    at: usize,
}

impl<'a> Unpacker<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Checks that `count` numbers of `width` bits are left, before memory is taken for them.
    ///
    /// # Errors
    /// When they are not.
    pub(super) fn expect(&self, count: usize, width: usize) -> Result<()> {
        let left = self.bytes.len().saturating_mul(8) - self.at;
        match count.checked_mul(width) {
            Some(needed) if needed <= left => Ok(()),
            _ => Err(Error::file("the circuit is cut short")),
        }
    }

    /// The next `width` bits, 64 at the most.
    ///
    /// # Errors
    /// When there are no more.
    pub(super) fn take(&mut self, width: u32) -> Result<u64> {
        self.expect(1, width as usize)?;
        let mut value = 0;
        let mut filled = 0;
        while filled < width {
            let shift = (self.at % 8) as u32;
            let taken = (width - filled).min(8 - shift);
            let part = u64::from(self.bytes[self.at / 8] >> shift) & ((1 << taken) - 1);
            value |= part << filled;
            filled += taken;
            self.at += taken as usize;
        }
        Ok(value)
    }

    /// Checks that nothing but zeros to fill the last byte is left.
    ///
    /// # Errors
    /// When there is more.
    pub(super) fn finish(mut self) -> Result<()> {
        let rest = self.bytes.len() * 8 - self.at;
        if rest >= 8 || self.take(rest as u32)? != 0 {
            return Err(Error::file("there is something after the circuit"));
        }
        Ok(())
    }
}

/// Bits that hold any number up to `largest`.
pub(super) fn width_of(largest: u64) -> u32 {
    u64::BITS - largest.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_packed_comes_out(values in prop::collection::vec((any::<u64>(), 0u32..=64), 0..50)) {
            let mut packer = Packer::default();
            for &(value, width) in &values {
                packer.put(value, width);
            }
            let bytes = packer.finish();
            let mut unpacker = Unpacker::new(&bytes);
            for &(value, width) in &values {
                let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
                prop_assert_eq!(unpacker.take(width).unwrap(), value & mask);
            }
            unpacker.finish().unwrap();
        }
    }
}
