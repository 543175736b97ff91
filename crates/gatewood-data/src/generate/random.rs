//! The random draws the generators make: integers alone decide them, so they are the same on every machine.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// The random stream of one row.
///
/// The key is the seed and the generator's name; the stream number is the row's, test rows apart from training
/// rows. So a row does not depend on how many others are made, or in what order.
#[derive(Debug)]
pub struct RowRandom(ChaCha8Rng);

/// Where the streams of test rows start.
const TEST_STREAMS: u64 = 1 << 63;

impl RowRandom {
    /// The stream of a row. Names of up to 24 bytes give different streams.
    pub fn new(name: &str, seed: u64, test: bool, row: usize) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        for (to, from) in key[8..].iter_mut().zip(name.bytes()) {
            *to = from;
        }
        let mut random = ChaCha8Rng::from_seed(key);
        random.set_stream(row as u64 | if test { TEST_STREAMS } else { 0 });
        Self(random)
    }

    /// 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, each as likely as any other.
    ///
    /// # Panics
    /// When `bound` is 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        assert!(bound > 0);
        // A multiplication maps 32 random bits onto 0..bound; the few values that would favour some are drawn again.
        let reject = bound.wrapping_neg() % bound;
        loop {
            let product = u64::from(self.0.next_u32()) * u64::from(bound);
            if product as u32 >= reject {
                return (product >> 32) as u32;
            }
        }
    }

    /// A number from 0 to 1, 1 excluded, of 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// 64 independent bits, each one with probability `chance` / 2^64.
    ///
    /// Compares a random fraction with the chance in all 64 places at once, digit by digit from the most
    /// significant; each digit decides half of the places still open, so about eight words do.
    pub fn chance_word(&mut self, chance: u64) -> u64 {
        let (mut ones, mut open) = (0, !0u64);
        for digit in (0..64).rev() {
            let word = self.word();
            if chance >> digit & 1 != 0 {
                ones |= open & !word;
                open &= word;
            } else {
                open &= !word;
            }
            if open == 0 {
                break;
            }
        }
        ones
    }

    /// Two independent numbers of the standard normal distribution (Box and Muller).
    pub fn normal_pair(&mut self) -> (f64, f64) {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        let (sine, cosine) = libm::sincos(2.0 * std::f64::consts::PI * self.unit());
        (radius * cosine, radius * sine)
    }

    /// The number of draws up to the first success of probability `chance`: 1, 2, 3, …
    pub fn geometric(&mut self, chance: f64) -> usize {
        (1..10_000).find(|_| self.unit() < chance).unwrap_or(10_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_words_have_the_chance() {
        for chance in [0.0, 0.03, 0.1, 0.5, 0.77] {
            let fixed = (chance * 2f64.powi(64)) as u64;
            let mut random = RowRandom::new("test", 1, false, 0);
            let ones: u32 = (0..4_000).map(|_| random.chance_word(fixed).count_ones()).sum();
            let share = f64::from(ones) / (4_000.0 * 64.0);
            assert!((share - chance).abs() < 0.005, "{share} for {chance}");
        }
    }

    #[test]
    fn below_is_even() {
        let mut random = RowRandom::new("test", 2, false, 0);
        let mut counts = [0u32; 17];
        for _ in 0..17_000 {
            counts[random.below(17) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (850..1150).contains(&count)), "{counts:?}");
    }

    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let mut random = RowRandom::new("test", 3, false, 0);
        let numbers: Vec<f64> = (0..20_000).flat_map(|_| <[f64; 2]>::from(random.normal_pair())).collect();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let square = numbers.iter().map(|n| n * n).sum::<f64>() / numbers.len() as f64;
        assert!(mean.abs() < 0.02 && (square - 1.0).abs() < 0.03, "{mean} {square}");
    }

    #[test]
    fn streams_differ_by_row_split_seed_and_name() {
        let first = |name, seed, test, row| RowRandom::new(name, seed, test, row).word();
        let mut seen = vec![
            first("cubes", 0, false, 0),
            first("cubes", 0, false, 1),
            first("cubes", 0, true, 0),
            first("cubes", 1, false, 0),
            first("gauss", 0, false, 0),
        ];
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 5);
    }
}
