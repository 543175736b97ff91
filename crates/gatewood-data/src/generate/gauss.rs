//! GAUSS: lists of 32 whole numbers drawn from one of two normal distributions.

use super::{Maker, RowRandom};
use gatewood::{Error, Result};

/// Numbers in a row.
pub(crate) const NUMBERS: usize = 32;

/// Bits of a number.
pub(crate) const NUMBER_BITS: usize = 16;

/// 32 whole numbers of 16 bits from a normal distribution, its mean and standard deviation given for each class,
/// rounded and clipped to 0..=65535. The bits of a number are inputs as they are, the least significant first.
#[derive(Debug, Clone, PartialEq)]
pub struct Gauss {
    /// The mean of each class.
    pub mean: [f64; 2],
    /// The standard deviation of each class.
    pub deviation: [f64; 2],
}

impl Default for Gauss {
    /// The first pair of the paper: means 8,000 apart, deviations of 8,000.
    fn default() -> Self {
        Self { mean: [28768.0, 36768.0], deviation: [8000.0, 8000.0] }
    }
}

impl Gauss {
    /// Checks the settings.
    ///
    /// # Errors
    /// When a mean or a deviation is not a finite number, or a deviation is below 0.
    pub fn check(&self) -> Result<()> {
        if self.mean.iter().any(|mean| !mean.is_finite()) {
            return Err(Error::setting("a mean must be a finite number"));
        }
        if self.deviation.iter().any(|deviation| !(deviation.is_finite() && *deviation >= 0.0)) {
            return Err(Error::setting("a standard deviation must be a finite number of at least 0"));
        }
        Ok(())
    }
}

impl Maker for Gauss {
    fn name(&self) -> &'static str {
        "gauss"
    }

    fn columns(&self) -> usize {
        NUMBERS * NUMBER_BITS
    }

    fn row(&self, class: usize, random: &mut RowRandom, bytes: &mut [u8]) {
        // The cast rounds toward zero and saturates, so half is added first and the clipping is the cast's.
        let number = |normal: f64| (self.mean[class] + self.deviation[class] * normal + 0.5) as u16;
        for pair in bytes.chunks_exact_mut(4) {
            let (first, second) = random.normal_pair();
            pair[..2].copy_from_slice(&number(first).to_le_bytes());
            pair[2..].copy_from_slice(&number(second).to_le_bytes());
        }
    }
}
