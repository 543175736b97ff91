//! Drawing rows by more than the size of their gradient.

use super::link::{ONE, POINT};
use crate::bits::kernels::FIRST_BITS as BITS;

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

    /// What sizes with the same first bits are drawn by, as [`Kernels::pulls`](crate::bits::kernels::Kernels::pulls) takes
    /// them: at least 1 and at most [`ONE`]; empty where each is drawn by itself.
    pub(super) fn powers(&self) -> &[u32] {
        &self.powers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::kernels::{Kernels, Level};

    /// What a size is drawn by, the same at every level.
    fn of(focus: &Focus, size: u32) -> u32 {
        let at = |level| {
            let (mut up, mut down) = ([0], [0]);
            let kernels = Kernels::at(level).unwrap();
            kernels.pulls(&[size as i32], focus.powers(), &mut up);
            kernels.pulls(&[-(size as i32)], focus.powers(), &mut down);
            assert_eq!(up, down);
            up[0]
        };
        let all: Vec<u32> = Level::available().into_iter().map(at).collect();
        assert!(all.iter().all(|&pull| pull == all[0]));
        all[0]
    }

    #[test]
    fn powers_are_those_of_sizes_with_the_same_first_bits() {
        for power in [1.25, 1.5, 2.0] {
            let focus = Focus::new(power);
            let of = |size: u32| of(&focus, size);
            for size in (1..=ONE).step_by(997).chain([ONE]) {
                let exact = (f64::from(size) / f64::from(ONE)).powf(power) * f64::from(ONE);
                let drawn_by = f64::from(of(size));
                let short = 1.0 - power / f64::from(1 << BITS);
                assert!(
                    drawn_by <= exact.max(0.5) + 0.5 && drawn_by >= exact * short - 0.5,
                    "{size}: {drawn_by} for {exact}"
                );
            }
            assert_eq!([0, 1, ONE].map(of), [1, 1, ONE]);
        }
    }

    #[test]
    fn the_first_power_is_the_size_itself() {
        assert_eq!([1, 1000, ONE].map(|size| of(&Focus::new(1.0), size)), [1, 1000, ONE]);
    }
}
