//! CUBES: one square or two, on a noisy 32 by 32 image.

use super::{Maker, RowRandom};
use gatewood::{Error, Result};

/// The image's side.
pub(crate) const SIDE: usize = 32;

/// One 15 by 15 square (class 0), or a 12 by 12 and a 9 by 9 whose overlap is white (class 1).
///
/// A square of side `s` starts anywhere in `0..32 - s`, the end excluded: this reading of the paper fits its noisy
/// tables. Then every pixel is flipped with probability `noise`.
#[derive(Debug, Clone, PartialEq)]
pub struct Cubes {
    /// The probability that a pixel is flipped, between 0 and 1.
    pub noise: f64,
}

impl Default for Cubes {
    fn default() -> Self {
        Self { noise: 0.0 }
    }
}

impl Cubes {
    /// Checks the settings.
    ///
    /// # Errors
    /// When the noise is not a probability.
    pub fn check(&self) -> Result<()> {
        if (0.0..=1.0).contains(&self.noise) {
            return Ok(());
        }
        Err(Error::setting(format!("noise {} is not between 0 and 1", self.noise)))
    }
}

impl Maker for Cubes {
    fn name(&self) -> &'static str {
        "cubes"
    }

    fn columns(&self) -> usize {
        SIDE * SIDE
    }

    fn row(&self, class: usize, random: &mut RowRandom, bytes: &mut [u8]) {
        let mut lines = [0u32; SIDE];
        let sides: &[usize] = if class == 0 { &[15] } else { &[12, 9] };
        for &side in sides {
            let free = (SIDE - side) as u32;
            let (top, left) = (random.below(free) as usize, random.below(free));
            for line in &mut lines[top..top + side] {
                *line ^= ((1 << side) - 1) << left;
            }
        }
        for (bytes, line) in bytes.chunks_exact_mut(4).zip(lines) {
            bytes.copy_from_slice(&line.to_le_bytes());
        }
        if self.noise > 0.0 {
            // A chance of 1 saturates to 2^64 - 1: a pixel stays as it was once in 2^64.
            let chance = (self.noise * 2f64.powi(64)) as u64;
            for eight in bytes.chunks_exact_mut(8) {
                let flips = random.chance_word(chance).to_le_bytes();
                eight.iter_mut().zip(flips).for_each(|(byte, flip)| *byte ^= flip);
            }
        }
    }
}
