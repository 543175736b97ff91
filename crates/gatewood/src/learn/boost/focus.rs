//! Drawing rows by more than the size of their gradient.

use super::link::{ONE, POINT};

/// Sizes are told apart by their first bits: so many after the highest.
const BITS: u32 = 6;

/// What rows are drawn by: a power of the size of their gradient, by a table.
#[derive(Debug, Clone, Default)]
pub(super) struct Focus {
    /// What sizes with the same first bits are drawn by; empty where each is drawn by itself.
    powers: Vec<u32>,
}

impl Focus {
    pub(super) fn new(power: f64) -> Self {
        if power == 1.0 {
            return Self { powers: Vec::new() };
        }
        let power_of = |place: u32| {
            let fraction = 1.0 + f64::from(place % (1 << BITS)) / f64::from(1 << BITS);
            let size = libm::scalbn(fraction, (place >> BITS) as i32 - POINT as i32);
            libm::rint(libm::pow(size, power) * f64::from(ONE)).max(1.0) as u32
        };
        Self { powers: (0..=POINT << BITS).map(power_of).collect() }
    }

    /// What a row is drawn by, given the size of its gradient: at least 1 and at most [`ONE`].
    #[inline]
    pub(super) fn of(&self, size: u32) -> u32 {
        // A float has the place of the highest bit, and after it the bits that follow.
        let first = |size: f32| (size.to_bits() >> (f32::MANTISSA_DIGITS - 1 - BITS)) as usize;
        if self.powers.is_empty() { size } else { self.powers[first(size as f32).saturating_sub(first(1.0))] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_those_of_sizes_with_the_same_first_bits() {
        for power in [1.25, 1.5, 2.0] {
            let focus = Focus::new(power);
            for size in (1..=ONE).step_by(997).chain([ONE]) {
                let exact = (f64::from(size) / f64::from(ONE)).powf(power) * f64::from(ONE);
                let drawn_by = f64::from(focus.of(size));
                let short = 1.0 - power / f64::from(1 << BITS);
                assert!(
                    drawn_by <= exact.max(0.5) + 0.5 && drawn_by >= exact * short - 0.5,
                    "{size}: {drawn_by} for {exact}"
                );
            }
            assert_eq!([0, 1, ONE].map(|size| focus.of(size)), [1, 1, ONE]);
        }
    }

    #[test]
    fn the_first_power_is_the_size_itself() {
        assert_eq!([1, 1000, ONE].map(|size| Focus::new(1.0).of(size)), [1, 1000, ONE]);
    }
}
