//! Randomness that does not depend on threads or machines: one ChaCha8 stream per unit of work.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// What a stream is used for; streams of different purposes never overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[non_exhaustive]
pub enum Purpose {
    /// The columns leaves start with.
    Leaves = 1,
    /// How many trials fall on each subtree.
    Trials = 2,
    /// The trials of one subtree.
    Climb = 3,
    /// The rows a round of boosting learns from.
    Sample = 4,
    /// The trees of a round of boosting.
    Round = 5,
    /// Splitting rows into parts.
    Split = 6,
    /// Generating rows.
    Generate = 7,
    /// The rows a tree of a grove is climbed among.
    Honest = 8,
    /// Patterns of images.
    Patterns = 9,
    /// Gates that are fitted anew.
    Refit = 10,
    /// Copies of images.
    Augment = 11,
    /// Rows that gates are fitted anew to.
    RefitRows = 12,
    /// Pairs of columns that are compared.
    Pairs = 13,
}

/// A stream of random numbers, given by seed, purpose and position alone.
///
/// ```
/// use gatewood::random::{Purpose, Stream};
/// let mut a = Stream::new(7, Purpose::Leaves, 0);
/// let mut b = Stream::new(7, Purpose::Leaves, 1);
/// assert_ne!(a.bits(), b.bits());
/// assert!(a.below(10) < 10);
/// ```
#[derive(Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of a purpose at a position, which must be below 2^56.
    pub fn new(seed: u64, purpose: Purpose, position: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream((purpose as u64) << 56 | position);
        Self(rng)
    }

    /// How far it is, to go on from there again.
    pub(crate) fn place(&self) -> u128 {
        self.0.get_word_pos()
    }

    /// Goes on from where it was before.
    pub(crate) fn go_on_from(&mut self, place: u128) {
        if place != self.place() {
            self.0.set_word_pos(place);
        }
    }

    /// 32 random bits, of which [`Stream::below`] makes a number.
    pub(crate) fn number(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `limit`, each as likely as the other to within 2^-32.
    ///
    /// # Panics
    /// When the limit is zero.
    pub fn below(&mut self, limit: u32) -> u32 {
        assert!(limit > 0);
        ((u64::from(self.number()) * u64::from(limit)) >> 32) as u32
    }

    /// A number from 0 up to but not 1, with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Puts the items in random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            // Positions past 2^32 are drawn from 64 bits.
            let pick = ((u128::from(self.bits()) * (last as u128 + 1)) >> 64) as usize;
            items.swap(last, pick);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_goes_on_from_where_it_was() {
        let mut stream = Stream::new(3, Purpose::Patterns, 5);
        for skipped in 0..80 {
            stream.below(7);
            let place = stream.place();
            let mut draw = || (stream.below(1000), stream.bits(), stream.below(9), stream.unit());
            let drawn: Vec<_> = (0..skipped).map(|_| draw()).collect();
            stream.go_on_from(place);
            let mut draw = || (stream.below(1000), stream.bits(), stream.below(9), stream.unit());
            assert_eq!((0..skipped).map(|_| draw()).collect::<Vec<_>>(), drawn, "{skipped}");
            stream.go_on_from(place);
        }
    }
}
