//! Weighing rows and drawing some by their weights.

use super::Picks;
use crate::bits::kernels::{FIRST_BITS as BITS, POINT};
use crate::learn::objective::ONE;
use crate::pool::each_awake;

/// What rows are drawn by: a power of the size of their gradient, by a table.
#[derive(Debug, Clone)]
pub(crate) struct SamplingPower {
    power: f64,
    /// What sizes with the same first bits are drawn by; empty where each is drawn by itself.
    powers: Vec<u32>,
}

impl Default for SamplingPower {
    fn default() -> Self {
        Self { power: 1.0, powers: Vec::new() }
    }
}

impl SamplingPower {
    pub(crate) fn new(power: f64) -> Self {
        if power == 1.0 {
            return Self::default();
        }
        let power_of = |place: u32| {
            let fraction = 1.0 + f64::from(place % (1 << BITS)) / f64::from(1 << BITS);
            let size = libm::scalbn(fraction, (place >> BITS) as i32 - POINT as i32);
            libm::rint(libm::pow(size, power) * f64::from(ONE)).max(1.0) as u32
        };
        Self { power, powers: (0..=POINT << BITS).map(power_of).collect() }
    }

    /// The power itself.
    pub(super) fn power(&self) -> f64 {
        self.power
    }

    /// What sizes with the same first bits are drawn by, as [`Kernels::sampling_weights`](crate::bits::kernels::Kernels::sampling_weights) takes
    /// them: at least 1 and at most [`ONE`]; empty where each is drawn by itself.
    pub(super) fn powers(&self) -> &[u32] {
        &self.powers
    }
}

/// The sampling weights of some neighbouring rows.
pub(super) struct Weights {
    /// The first of these rows.
    pub(super) first: usize,
    pub(super) weights: Vec<u32>,
    pub(super) total: u64,
}

impl Weights {
    pub(super) fn new(first: usize, weights: Vec<u32>) -> Self {
        let total = weights.iter().map(|&weight| u64::from(weight)).sum();
        Self { first, weights, total }
    }
}

/// Evenly spaced places along the running sum of all weights, from a random start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spacing {
    shift: u32,
    scale: u64,
    start: u64,
}

/// Where places begin, given 64 random bits.
pub(super) fn start_of(random: u64) -> u64 {
    random >> 28
}

impl Spacing {
    /// About `size` places on a sum of `total`, given 64 random bits.
    pub(super) fn new(total: u64, size: usize, random: u64) -> Self {
        // Places before a point of the running sum are that point times `scale`, in units of 2^-36.
        let shift = (64 - total.leading_zeros()).saturating_sub(36);
        let scale = ((size as u128) << 36) / (u128::from(total >> shift) + 1);
        Self { shift, scale: scale as u64, start: start_of(random) }
    }

    /// How many places are before a point of the running sum.
    fn before(self, sum: u64) -> u64 {
        ((sum >> self.shift) * self.scale + self.start) >> 36
    }

    /// The rows on whose part of the running sum a place falls; `begun` is the sum before them. Those whose gradient is
    /// above zero are of the upper side.
    pub(super) fn pick(self, part: &Weights, begun: u64, gradients: &[i32]) -> Picks {
        let (mut sum, mut before) = (begun, self.before(begun));
        // Room for both sides, a little more than all: the upper one from the middle on.
        let room = (self.before(begun + part.total) - before) as usize + 2;
        let mut drawn = vec![0u32; 2 * room];
        let (mut lower, mut upper) = (0, room);
        for (row, (&weight, &gradient)) in (part.first..).zip(part.weights.iter().zip(gradients)) {
            sum += u64::from(weight);
            let now = self.before(sum);
            let times = (now - before) as usize;
            before = now;
            // Rows of either side, drawn never, once or twice, are all alike to the processor.
            let is_upper = usize::from(gradient > 0).wrapping_neg();
            let at = lower ^ ((lower ^ upper) & is_upper);
            drawn[at] = row as u32;
            drawn[at + 1] = row as u32;
            if times > 2 {
                drawn[at + 2..at + times].fill(row as u32);
            }
            lower += times & !is_upper;
            upper += times & is_upper;
        }
        [drawn[..lower].to_vec(), drawn[room..upper].to_vec()]
    }
}

/// Draws `size` rows, or one less, in proportion to their weights; `gradients` are those of all rows.
pub(super) fn draw(parts: Vec<Weights>, gradients: &[i32], size: usize, random: u64) -> Picks {
    let total: u64 = parts.iter().map(|part| part.total).sum();
    if total == 0 {
        return Picks::default();
    }
    pick_all(parts, gradients, Spacing::new(total, size, random), 0)
}

/// The rows of neighbouring parts on which places fall; `begun` is the sum of the weights before them.
pub(super) fn pick_all(parts: Vec<Weights>, gradients: &[i32], spacing: Spacing, begun: u64) -> Picks {
    let sums = parts.iter().scan(begun, |sum, part| Some(std::mem::replace(sum, *sum + part.total)));
    let sums: Vec<u64> = sums.collect();
    let drawn = each_awake(sums.into_iter().zip(parts).collect(), |(begun, part): (u64, Weights)| {
        spacing.pick(&part, begun, &gradients[part.first..])
    });
    join(drawn)
}

/// The picks of neighbouring parts, one after the other.
pub(super) fn join(parts: Vec<Picks>) -> Picks {
    let both = parts.into_iter().reduce(|mut all, part| {
        all.iter_mut().zip(part).for_each(|(all, part)| all.extend(part));
        all
    });
    both.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bits::kernels::{Kernels, Level};
    use crate::random::{Purpose, Stream};

    /// What a size is drawn by, the same at every level.
    fn of(power_of: &SamplingPower, size: u32) -> u32 {
        let at = |level| {
            let (mut up, mut down) = ([0], [0]);
            let kernels = Kernels::at(level).unwrap();
            kernels.sampling_weights(&[size as i32], power_of.powers(), &mut up);
            kernels.sampling_weights(&[-(size as i32)], power_of.powers(), &mut down);
            assert_eq!(up, down);
            up[0]
        };
        let all: Vec<u32> = Level::available().into_iter().map(at).collect();
        assert!(all.iter().all(|&weight| weight == all[0]));
        all[0]
    }

    #[test]
    fn powers_are_those_of_sizes_with_the_same_first_bits() {
        for power in [1.25, 1.5, 2.0] {
            let power_of = SamplingPower::new(power);
            let of = |size: u32| of(&power_of, size);
            for size in (1..=ONE as u32).step_by(997).chain([ONE as u32]) {
                let exact = (f64::from(size) / f64::from(ONE)).powf(power) * f64::from(ONE);
                let drawn_by = f64::from(of(size));
                let short = 1.0 - power / f64::from(1 << BITS);
                assert!(
                    drawn_by <= exact.max(0.5) + 0.5 && drawn_by >= exact * short - 0.5,
                    "{size}: {drawn_by} for {exact}"
                );
            }
            assert_eq!([0, 1, ONE as u32].map(of), [1, 1, ONE as u32]);
        }
    }

    #[test]
    fn the_first_power_is_the_size_itself() {
        assert_eq!(
            [1, 1000, ONE as u32].map(|size| of(&SamplingPower::new(1.0), size)),
            [1, 1000, ONE as u32]
        );
    }

    proptest! {
        /// Rows are drawn the same however they are shared out, about as often as their weight says.
        #[test]
        fn parts_are_drawn_from_as_one(rows in 1usize..500, part in 1usize..200, size in 1usize..400, seed: u64) {
            let mut stream = Stream::new(seed, Purpose::Sample, 0);
            let weights: Vec<u32> = (0..rows).map(|_| stream.below(1 << 24).saturating_sub(1 << 22)).collect();
            let gradients: Vec<i32> = (0..rows).map(|_| if stream.below(2) == 1 { 5 } else { -5 }).collect();
            let drawn = |part: usize| {
                let parts = weights.chunks(part).enumerate().map(|(number, weights)| Weights::new(number * part, weights.to_vec()));
                draw(parts.collect(), &gradients, size, Stream::new(seed, Purpose::Sample, 1).bits())
            };
            let picks = drawn(rows);
            prop_assert_eq!(&picks, &drawn(part));
            let total: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
            let count = picks[0].len() + picks[1].len();
            prop_assert!(total == 0 && count == 0 || total > 0 && (count == size || count + 1 == size));
            for (class, picks) in picks.iter().enumerate() {
                prop_assert!(picks.is_sorted());
                for picks in picks.chunk_by(|a, b| a == b) {
                    let row = picks[0] as usize;
                    prop_assert_eq!(gradients[row] > 0, class == 1);
                    let expected = size as f64 * f64::from(weights[row]) / total as f64;
                    prop_assert!((picks.len() as f64 - expected).abs() < 1.01);
                }
            }
        }
    }
}
