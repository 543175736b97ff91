//! What boosting does with every row of two classes: votes become gradients, and these are summed address by address.
//!
//! Gradients are in fixed point, [`POINT`] bits after the point, and less than one in size. All sums are of integers, so
//! every level gives the same.

use super::levels;
use super::vector::Vector;

/// Bits after the point of probabilities, gradients and hessians.
pub(crate) const POINT: u32 = 24;

/// Sizes of gradients differ by their first bits: so many after the highest.
pub(crate) const FIRST_BITS: u32 = 6;

/// Addresses up to which rows are summed for each address in turn, many at once, and not one by one.
const FEW_ADDRESSES: usize = 8;

/// Rows whose sums fit in 32 bits.
const BLOCK: usize = 64;

/// Addresses up to which gradient and hessian are summed in one number, in several tables: neighbouring rows often have the
/// same address, and would wait for each other. On AVX-512 a row of 16 addresses takes 0.5 ns in place of 0.9.
const SOME_ADDRESSES: usize = 64;
/// Those of a gate of four inputs.
const USUAL_ADDRESSES: usize = 16;
const TABLES: usize = 4;

/// Rows of a table whose sums of gradients, each at most 2^[`POINT`] in size, fit in 32 bits with their sign.
const TABLE_ROWS: usize = 124;

/// Numbers that are multiplied side by side.
const LANES: usize = 8;

/// Factors of a lane, each at most 2^[`POINT`], whose product is far from the largest number there is.
const FACTORS: usize = 32;

/// Gradient and hessian, summed over the rows of one address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) gradient: i64,
    pub(crate) hessian: i64,
}

impl Sums {
    /// Adds what one row counts for.
    #[inline]
    pub(crate) fn add(&mut self, gradient: i32, weight: i64) {
        self.gradient += i64::from(gradient) * weight;
        self.hessian += i64::from(hessian(gradient)) * weight;
    }

    /// Adds what one row counts for, whose hessian is given.
    #[inline]
    pub(crate) fn put(&mut self, gradient: i32, hessian: i32, weight: i64) {
        self.gradient += i64::from(gradient) * weight;
        self.hessian += i64::from(hessian) * weight;
    }

    /// Takes every row so many times.
    pub(crate) fn weigh(&mut self, weight: i64) {
        self.gradient *= weight;
        self.hessian *= weight;
    }
}

levels! {
    /// Adds votes to margins and looks their gradients up.
    fn vote(
        addresses: &[u16],
        votes: &[i32],
        logistic: &[u32],
        labels: &[u32],
        margins: &mut [i32],
        gradients: &mut [i32]
    ) = vote_generic
}

#[inline(always)]
fn vote_generic<V: Vector>(
    addresses: &[u16],
    votes: &[i32],
    logistic: &[u32],
    labels: &[u32],
    margins: &mut [i32],
    gradients: &mut [i32],
) {
    assert!(votes.len().is_power_of_two() && logistic.len() % 2 == 1);
    let (last, limit) = (votes.len() - 1, (logistic.len() / 2) as i32);
    let rows = margins.iter_mut().zip(gradients).zip(addresses.iter().zip(labels));
    for ((margin, gradient), (&address, &label)) in rows {
        // SAFETY: the votes are a power of two, one more than `last`.
        *margin += unsafe { *votes.get_unchecked(usize::from(address) & last) };
        let place = ((*margin).clamp(-limit, limit) + limit) as usize;
        // SAFETY: the place is at most twice the limit, and the table has one entry more than that.
        let probability = unsafe { *logistic.get_unchecked(place) };
        *gradient = (label << POINT) as i32 - probability as i32;
    }
}

/// How the gradient of a value follows from its margin and its target: what the margin falls short, in ranges, and `centre`, held
/// between `low` and `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slope {
    /// What a vote is worth, in ranges.
    pub(crate) unit: f64,
    pub(crate) centre: f64,
    /// At least minus one.
    pub(crate) low: f64,
    /// At most one.
    pub(crate) high: f64,
}

impl Slope {
    /// The gradient of a margin, in fixed point; targets have 30 bits after the point.
    #[inline(always)]
    pub(crate) fn gradient(self, margin: i32, target: u32) -> i32 {
        let short = f64::from(target as i32) / f64::from(1u32 << 30) - self.unit * f64::from(margin);
        // A number below `low` first: what is not a number becomes `low`.
        let held = (short + self.centre).max(self.low).min(self.high);
        (held * f64::from(1u32 << POINT)) as i32
    }
}

levels! {
    /// Adds votes to margins.
    fn add_votes(addresses: &[u16], votes: &[i32], margins: &mut [i32]) = add_votes_generic
}

#[inline(always)]
fn add_votes_generic<V: Vector>(addresses: &[u16], votes: &[i32], margins: &mut [i32]) {
    assert!(votes.len().is_power_of_two());
    let last = votes.len() - 1;
    for (margin, &address) in margins.iter_mut().zip(addresses) {
        // SAFETY: the votes are a power of two, one more than `last`.
        *margin += unsafe { *votes.get_unchecked(usize::from(address) & last) };
    }
}

levels! {
    /// Writes the gradients of values.
    fn slope(slope: Slope, targets: &[u32], margins: &[i32], gradients: &mut [i32]) = slope_generic
}

#[inline(always)]
fn slope_generic<V: Vector>(slope: Slope, targets: &[u32], margins: &[i32], gradients: &mut [i32]) {
    for ((gradient, &margin), &target) in gradients.iter_mut().zip(margins).zip(targets) {
        *gradient = slope.gradient(margin, target);
    }
}

levels! {
    /// The sum of the squares of what margins fall short.
    fn squares(unit: f64, targets: &[u32], margins: &[i32]) -> f64 = squares_generic
}

#[inline(always)]
fn squares_generic<V: Vector>(unit: f64, targets: &[u32], margins: &[i32]) -> f64 {
    let mut lanes = [0.0f64; LANES];
    for (targets, margins) in targets.chunks(LANES).zip(margins.chunks(LANES)) {
        for ((lane, &target), &margin) in lanes.iter_mut().zip(targets).zip(margins) {
            let short = f64::from(target as i32) / f64::from(1u32 << 30) - unit * f64::from(margin);
            *lane += short * short;
        }
    }
    lanes.iter().sum()
}

levels! {
    /// Adds the gradient and hessian of every row to those of its address; only of rows whose mask is all ones, where there
    /// are masks.
    fn sum(addresses: &[u16], gradients: &[i32], masks: &[i32], sums: &mut [Sums]) = sum_generic
}

#[inline(always)]
fn sum_generic<V: Vector>(addresses: &[u16], gradients: &[i32], masks: &[i32], sums: &mut [Sums]) {
    assert!(masks.is_empty() || masks.len() == addresses.len());
    let whole = if sums.len() <= FEW_ADDRESSES { addresses.len() / BLOCK * BLOCK } else { 0 };
    let blocks = addresses[..whole].chunks_exact(BLOCK).zip(gradients.chunks_exact(BLOCK));
    for (block, (addresses, gradients)) in blocks.enumerate() {
        let mut here = [0i32; BLOCK];
        let mut hessians = [0i32; BLOCK];
        for i in 0..BLOCK {
            here[i] = i32::from(addresses[i]);
            hessians[i] = hessian(gradients[i]) as i32;
        }
        if let Some(masks) = masks.get(block * BLOCK..(block + 1) * BLOCK) {
            // No address is below zero.
            for i in 0..BLOCK {
                here[i] |= !masks[i];
            }
        }
        for (address, sums) in sums.iter_mut().enumerate() {
            let (mut gradient, mut hessian) = (0, 0);
            for i in 0..BLOCK {
                let mask = -i32::from(here[i] == address as i32);
                gradient += gradients[i] & mask;
                hessian += hessians[i] & mask;
            }
            sums.gradient += i64::from(gradient);
            sums.hessian += i64::from(hessian);
        }
    }
    if sums.len() <= SOME_ADDRESSES {
        let masks = masks.get(whole..).unwrap_or_default();
        let (addresses, gradients) = (&addresses[whole..], &gradients[whole..]);
        return match sums.len() {
            ..=USUAL_ADDRESSES => sum_in_tables::<USUAL_ADDRESSES>(addresses, gradients, masks, sums),
            _ => sum_in_tables::<SOME_ADDRESSES>(addresses, gradients, masks, sums),
        };
    }
    for (row, (&address, &gradient)) in addresses.iter().zip(gradients).enumerate() {
        // A gradient of zero has a hessian of zero.
        sums[usize::from(address)].add(gradient & masks.get(row).copied().unwrap_or(-1), 1);
    }
}

/// Adds what rows of up to `COUNT` addresses count for: gradients in the upper half of a number, hessians in the lower.
#[inline(always)]
fn sum_in_tables<const COUNT: usize>(addresses: &[u16], gradients: &[i32], masks: &[i32], sums: &mut [Sums]) {
    const ROWS: usize = TABLES * TABLE_ROWS;
    let in_one = |gradient: i32| (i64::from(gradient) << 32) + i64::from(hessian(gradient));
    let mut both = [0i64; ROWS];
    for (piece, (addresses, gradients)) in addresses.chunks(ROWS).zip(gradients.chunks(ROWS)).enumerate() {
        if masks.is_empty() {
            both.iter_mut().zip(gradients).for_each(|(both, &gradient)| *both = in_one(gradient));
        } else {
            for ((both, &gradient), &mask) in both.iter_mut().zip(gradients).zip(&masks[piece * ROWS..]) {
                // A gradient of zero has a hessian of zero.
                *both = in_one(gradient & mask);
            }
        }
        let mut tables = [[0i64; COUNT]; TABLES];
        let (fours, rest) = addresses.as_chunks::<TABLES>();
        let (fours_of_both, rest_of_both) = both[..addresses.len()].as_chunks::<TABLES>();
        for (addresses, both) in fours.iter().zip(fours_of_both) {
            for table in 0..TABLES {
                tables[table][usize::from(addresses[table]) % COUNT] += both[table];
            }
        }
        for ((table, &address), both) in tables.iter_mut().zip(rest).zip(rest_of_both) {
            table[usize::from(address) % COUNT] += both;
        }
        for (address, sums) in sums.iter_mut().enumerate() {
            for table in &tables {
                let hessian = i64::from(table[address] as u32);
                sums.hessian += hessian;
                sums.gradient += (table[address] - hessian) >> 32;
            }
        }
    }
}

levels! {
    /// Adds the gradient of every row to that of its address, and one to the hessian; only of rows whose mask is all ones,
    /// where there are masks.
    fn sum_ones(addresses: &[u16], gradients: &[i32], masks: &[i32], sums: &mut [Sums]) = sum_ones_generic
}

#[inline(always)]
fn sum_ones_generic<V: Vector>(addresses: &[u16], gradients: &[i32], masks: &[i32], sums: &mut [Sums]) {
    assert!(masks.is_empty() || masks.len() == addresses.len());
    let whole = if sums.len() <= FEW_ADDRESSES { addresses.len() / BLOCK * BLOCK } else { 0 };
    let blocks = addresses[..whole].chunks_exact(BLOCK).zip(gradients.chunks_exact(BLOCK));
    for (block, (addresses, gradients)) in blocks.enumerate() {
        let mut here = [0i32; BLOCK];
        for i in 0..BLOCK {
            here[i] = i32::from(addresses[i]);
        }
        if let Some(masks) = masks.get(block * BLOCK..(block + 1) * BLOCK) {
            // No address is below zero.
            for i in 0..BLOCK {
                here[i] |= !masks[i];
            }
        }
        for (address, sums) in sums.iter_mut().enumerate() {
            let (mut gradient, mut rows) = (0, 0);
            for i in 0..BLOCK {
                let mask = -i32::from(here[i] == address as i32);
                gradient += gradients[i] & mask;
                rows -= mask;
            }
            sums.gradient += i64::from(gradient);
            sums.hessian += i64::from(rows) << POINT;
        }
    }
    for row in whole..addresses.len() {
        let mask = i64::from(masks.get(row).copied().unwrap_or(-1));
        let sums = &mut sums[usize::from(addresses[row])];
        sums.gradient += i64::from(gradients[row]) & mask;
        sums.hessian += (1 << POINT) & mask;
    }
}

/// The second derivative of the loss that goes with a gradient.
#[inline(always)]
fn hessian(gradient: i32) -> u32 {
    let size = gradient.unsigned_abs();
    ((u64::from(size) * u64::from((1 << POINT) - size)) >> POINT) as u32
}

levels! {
    /// What rows are drawn by, given their gradients.
    fn sampling_weights(gradients: &[i32], powers: &[u32], out: &mut [u32]) = sampling_weights_generic
}

#[inline(always)]
fn sampling_weights_generic<V: Vector>(gradients: &[i32], powers: &[u32], out: &mut [u32]) {
    let rows = out.iter_mut().zip(gradients).map(|(out, gradient)| (out, gradient.abs().min(1 << POINT)));
    let Some(last) = powers.len().checked_sub(1) else {
        rows.for_each(|(out, size)| *out = size as u32);
        return;
    };
    // A float has the place of the highest bit, and after it the bits that follow.
    let first = |size: i32| (size as f32).to_bits() >> (f32::MANTISSA_DIGITS - 1 - FIRST_BITS);
    for (out, size) in rows {
        let place = first(size).saturating_sub(first(1)).min(last as u32);
        // SAFETY: the place is at most that of the last power.
        *out = unsafe { *powers.get_unchecked(place as usize) };
    }
}

levels! {
    /// The product of one less the size of each gradient, as a number of at least one and a power of two.
    fn product(gradients: &[i32]) -> (f64, i64) = product_generic
}

#[inline(always)]
fn product_generic<V: Vector>(gradients: &[i32]) -> (f64, i64) {
    let mut lanes = [1.0f64; LANES];
    let mut power = 0;
    for gradients in gradients.chunks(LANES * FACTORS) {
        let (whole, rest) = gradients.as_chunks::<LANES>();
        for gradients in whole {
            for (lane, gradient) in lanes.iter_mut().zip(gradients) {
                *lane *= f64::from((1 << POINT) - gradient.abs());
            }
        }
        for (lane, gradient) in lanes.iter_mut().zip(rest) {
            *lane *= f64::from((1 << POINT) - gradient.abs());
        }
        power -= i64::from(POINT) * gradients.len() as i64;
        for lane in &mut lanes {
            let bits = lane.to_bits();
            power += (bits >> 52) as i64 - 1023;
            *lane = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
        }
    }
    (lanes.iter().product(), power)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bits::kernels::{Kernels, Level};
    use crate::random::{Purpose, Stream};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn all_levels_do_what_is_done_row_by_row(rows in 0usize..700, bits in 1u32..9, limit in 1i32..3000, seed: u64) {
            let mut stream = Stream::new(seed, Purpose::Sample, 0);
            let mut below = |count: u32| stream.below(count);
            let count = 1usize << bits;
            let votes: Vec<i32> = (0..count).map(|_| below(256) as i32 - 128).collect();
            let logistic: Vec<u32> = (0..=2 * limit).map(|_| 1 + below((1 << POINT) - 1)).collect();
            let addresses: Vec<u16> = (0..rows).map(|_| below(count as u32) as u16).collect();
            let labels: Vec<u32> = (0..rows).map(|_| below(2)).collect();
            let masks: Vec<i32> = (0..rows).map(|_| -(below(2) as i32)).collect();
            let before: Vec<i32> = (0..rows).map(|_| below(6000) as i32 - 3000).collect();

            let margins: Vec<i32> =
                before.iter().zip(&addresses).map(|(margin, &address)| margin + votes[address as usize]).collect();
            let gradient = |(&margin, &label): (&i32, &u32)| {
                let probability = logistic[(margin.clamp(-limit, limit) + limit) as usize];
                label as i32 * (1 << POINT) - probability as i32
            };
            let gradients: Vec<i32> = margins.iter().zip(&labels).map(gradient).collect();
            let mut sums = vec![Sums::default(); count];
            let mut log = 0.0;
            for (&gradient, &address) in gradients.iter().zip(&addresses) {
                let size = i64::from(gradient.abs());
                let sums = &mut sums[address as usize];
                sums.gradient += i64::from(gradient);
                sums.hessian += (size * ((1 << POINT) - size)) >> POINT;
                log += (1.0 - size as f64 / f64::from(1 << POINT)).ln();
            }

            let slope = Slope { unit: 1.0 / 4096.0, centre: 0.01, low: -0.2, high: 0.3 };
            let targets: Vec<u32> = (0..rows).map(|_| (below(1 << 31) as i32 - (1 << 30)) as u32).collect();
            let short = |row: usize| f64::from(targets[row] as i32) / f64::from(1 << 30) - f64::from(margins[row]) / 4096.0;
            let slopes: Vec<i32> =
                (0..rows).map(|row| ((short(row) + 0.01).clamp(-0.2, 0.3) * f64::from(1 << POINT)) as i32).collect();
            let square: f64 = (0..rows).map(|row| short(row).powi(2)).sum();

            let mut logs = Vec::new();
            let mut squares = Vec::new();
            for kernels in Level::available().into_iter().filter_map(Kernels::at) {
                let (mut now, mut found) = (before.clone(), vec![0; rows]);
                kernels.vote(&addresses, &votes, &logistic, &labels, &mut now, &mut found);
                prop_assert_eq!(&now, &margins);
                prop_assert_eq!(&found, &gradients);
                let mut summed = vec![Sums::default(); count];
                kernels.sum(&addresses, &gradients, &[], &mut summed);
                prop_assert_eq!(&summed, &sums);
                let (mut summed, mut expected) = (vec![Sums::default(); count], vec![Sums::default(); count]);
                kernels.sum(&addresses, &gradients, &masks, &mut summed);
                for row in (0..rows).filter(|&row| masks[row] != 0) {
                    expected[addresses[row] as usize].add(gradients[row], 1);
                }
                prop_assert_eq!(&summed, &expected);
                for masks in [&masks[..], &[]] {
                    let (mut summed, mut expected) = (vec![Sums::default(); count], vec![Sums::default(); count]);
                    kernels.sum_ones(&addresses, &gradients, masks, &mut summed);
                    for row in (0..rows).filter(|&row| masks.get(row) != Some(&0)) {
                        expected[addresses[row] as usize].put(gradients[row], 1 << POINT, 1);
                    }
                    prop_assert_eq!(&summed, &expected);
                }
                logs.push(kernels.log_likelihood(&gradients));
                let (mut now, mut found) = (before.clone(), vec![0; rows]);
                kernels.vote_values(&addresses, &votes, slope, &targets, &mut now, &mut found);
                prop_assert_eq!(&now, &margins);
                prop_assert_eq!(&found, &slopes);
                squares.push(kernels.squares(slope.unit, &targets, &now));
            }
            prop_assert!(squares.iter().all(|found| found.to_bits() == squares[0].to_bits()));
            prop_assert!((squares[0] - square).abs() <= 1e-9 * square);
            prop_assert!(logs.iter().all(|found| found.to_bits() == logs[0].to_bits()));
            prop_assert!((logs[0] - log).abs() <= 1e-9 * log.abs(), "{} for {log}", logs[0]);
        }
    }

    /// As many rows as there are at a time, all as wrong as can be, neither overflow nor vanish.
    #[test]
    fn the_worst_rows_are_summed_rightly() {
        let gradients = vec![1 - (1 << POINT); 4096];
        for kernels in Level::available().into_iter().filter_map(Kernels::at) {
            for addresses in [2, 16, 64, 128] {
                let mut sums = vec![Sums::default(); addresses];
                kernels.sum(&[1; 4096], &gradients, &[], &mut sums);
                assert_eq!(sums[1].gradient, 4096 * i64::from(1 - (1 << POINT)));
            }
            let log = kernels.log_likelihood(&gradients);
            assert!((log + 4096.0 * f64::from(POINT) * std::f64::consts::LN_2).abs() < 1e-6, "{log}");
        }
        let halves = vec![1 << (POINT - 1); 4096];
        for kernels in Level::available().into_iter().filter_map(Kernels::at) {
            for addresses in [2, 16, 64, 128] {
                let mut sums = vec![Sums::default(); addresses];
                kernels.sum(&[0; 4096], &halves, &[], &mut sums);
                assert_eq!(sums[0].hessian, 4096 << (POINT - 2));
            }
        }
    }
}
