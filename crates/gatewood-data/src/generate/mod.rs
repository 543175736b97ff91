//! Generated sets: rows made from a seed, the same on every machine.
//!
//! - [`Cubes`], [`Gauss`]: the paper's.
//! - [`ConvexMade`]: the generator of the CONVEX set as its authors describe it.
//! - [`make`]: makes the rows of any of them.
//!
//! Classes alternate, so that a set of an even number of rows is balanced, and a row depends on the seed and its
//! number only: the first 1,000 rows of a set of a million are the set of 1,000.

mod convex;
mod cubes;
mod gauss;
mod random;

pub use convex::ConvexMade;
pub use cubes::Cubes;
pub use gauss::Gauss;
pub use random::RowRandom;

use gatewood::bits::{BitMatrix, WORD_BITS, transpose_packed, words_for};
use gatewood::{Error, Result};

/// What makes the rows of a generated set.
pub trait Maker {
    /// The name that makes the random streams differ.
    fn name(&self) -> &'static str;

    /// Bits of a row.
    fn columns(&self) -> usize;

    /// Writes all bits of a row of a class: bit `j` in bit `j % 8` of byte `j / 8`.
    fn row(&self, class: usize, random: &mut RowRandom, bytes: &mut [u8]);
}

/// Rows made at a time: a whole block of the matrix, so that threads write apart.
const BAND_ROWS: usize = 512;

/// Makes the bits and classes of `rows` rows of the training or the test split.
///
/// # Errors
/// When memory runs out.
///
/// ```
/// use gatewood_data::generate::{Cubes, make};
/// let (bits, classes) = make(&Cubes { noise: 0.1 }, 7, false, 100)?;
/// assert_eq!((bits.rows(), bits.columns(), classes[1]), (100, 1024, 1));
/// # Ok::<(), gatewood::Error>(())
/// ```
pub fn make(maker: &dyn Maker, seed: u64, test: bool, rows: usize) -> Result<(BitMatrix, Vec<u32>)> {
    let columns = maker.columns();
    let mut bits = BitMatrix::zeros(rows, columns)?;
    let mut classes = Vec::new();
    classes
        .try_reserve_exact(rows)
        .map_err(|_| Error::too_large(format!("{rows} rows do not fit in memory")))?;
    classes.extend((0..rows).map(|row| (row % 2) as u32));
    let row_bytes = columns.div_ceil(8);
    let stride = words_for(BAND_ROWS);
    let mut packed = vec![0; BAND_ROWS * row_bytes];
    let mut band = vec![0; columns * stride];
    for first in (0..rows).step_by(BAND_ROWS) {
        let count = BAND_ROWS.min(rows - first);
        for (row, bytes) in (first..first + count).zip(packed.chunks_exact_mut(row_bytes)) {
            maker.row(row % 2, &mut RowRandom::new(maker.name(), seed, test, row), bytes);
        }
        transpose_packed(&packed, row_bytes, count, columns, &mut band, stride);
        let words = words_for(count);
        for (column, from) in bits.columns_mut().zip(band.chunks_exact(stride)) {
            column[first / WORD_BITS..][..words].copy_from_slice(&from[..words]);
        }
    }
    Ok((bits, classes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    fn hash(maker: &dyn Maker, seed: u64) -> String {
        let (bits, _) = make(maker, seed, false, 1000).unwrap();
        bits.view().validate().unwrap();
        let mut sha = Sha256::new();
        (0..bits.columns()).for_each(|column| {
            bits.view().column(column).iter().for_each(|word| sha.update(word.to_le_bytes()));
        });
        sha.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_bits_are_pinned() {
        let hashes = [
            hash(&Cubes::default(), 0),
            hash(&Cubes { noise: 0.1 }, 7),
            hash(&Gauss::default(), 0),
            hash(&ConvexMade, 0),
        ];
        assert_eq!(hashes, ["802feaaada1fbdf3", "3e4b87668fb8b0ba", "9035c837e37c7623", "1aa6c7cdb6566b86"]);
    }

    #[test]
    fn a_row_does_not_depend_on_the_number_of_rows() {
        let makers: [&dyn Maker; 3] = [&Cubes { noise: 0.2 }, &Gauss::default(), &ConvexMade];
        for maker in makers {
            let (long, _) = make(maker, 3, true, 700).unwrap();
            let (short, classes) = make(maker, 3, true, 65).unwrap();
            assert_eq!(short, long.select_rows(&(0..65).collect::<Vec<_>>()).unwrap());
            assert_eq!(classes.iter().sum::<u32>(), 32);
        }
    }

    /// On pixels of each row.
    fn on(bits: &BitMatrix) -> Vec<usize> {
        (0..bits.rows())
            .map(|row| (0..bits.columns()).filter(|&column| bits.get(row, column)).count())
            .collect()
    }

    #[test]
    fn squares_have_their_sizes_and_stay_inside() {
        let (bits, classes) = make(&Cubes::default(), 1, false, 2000).unwrap();
        for (row, (&on, &class)) in on(&bits).iter().zip(&classes).enumerate() {
            // Two squares of 144 and 81 pixels lose twice their overlap, at most 81 pixels.
            assert!(
                if class == 0 { on == 225 } else { (63..=225).contains(&on) && on % 2 == 1 },
                "row {row}: {on}"
            );
        }
        // The corner is drawn from 0..17 for the 15 by 15 square, so the last line and column are never reached.
        let last = |row: usize| (0..32).any(|i| bits.get(row, 31 * 32 + i) || bits.get(row, i * 32 + 31));
        assert!((0..2000).all(|row| !last(row)));
        let before_last = |row: usize| (0..32).any(|i| bits.get(row, 30 * 32 + i));
        assert!((0..2000).any(before_last));
    }

    #[test]
    fn noise_flips_its_share_of_pixels() {
        let (clean, _) = make(&Cubes { noise: 0.0 }, 1, false, 500).unwrap();
        let (noisy, _) = make(&Cubes { noise: 0.1 }, 1, false, 500).unwrap();
        let flips: u32 = (0..1024)
            .flat_map(|column| clean.column(column).iter().zip(noisy.column(column)))
            .map(|(clean, noisy)| (clean ^ noisy).count_ones())
            .sum();
        let share = f64::from(flips) / (500.0 * 1024.0);
        assert!((share - 0.1).abs() < 0.003, "{share}");
    }

    #[test]
    fn numbers_have_their_mean_and_deviation() {
        let gauss = Gauss { mean: [30000.0, 40000.0], deviation: [2000.0, 6000.0] };
        let (bits, _) = make(&gauss, 1, false, 1000).unwrap();
        for class in 0..2 {
            let numbers: Vec<f64> = (class..1000)
                .step_by(2)
                .flat_map(|row| (0..32).map(move |number| (row, number)))
                .map(|(row, number)| {
                    (0..16).map(|bit| f64::from(u16::from(bits.get(row, number * 16 + bit)) << bit)).sum()
                })
                .collect();
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            let square = numbers.iter().map(|n| (n - mean) * (n - mean)).sum::<f64>() / numbers.len() as f64;
            assert!((mean - gauss.mean[class]).abs() < 150.0, "{mean}");
            assert!((square.sqrt() / gauss.deviation[class] - 1.0).abs() < 0.03, "{}", square.sqrt());
        }
    }

    #[test]
    fn convex_classes_have_the_same_mean_number_of_on_pixels() {
        let (bits, classes) = make(&ConvexMade, 1, false, 8000).unwrap();
        let mut sums = [0; 2];
        on(&bits).iter().zip(&classes).for_each(|(on, &class)| sums[class as usize] += on);
        let shares = sums.map(|sum| sum as f64 / (4000.0 * 784.0));
        // The authors' files have 0.387 and 0.384.
        assert!((shares[0] - shares[1]).abs() < 0.02, "{shares:?}");
        assert!(shares.iter().all(|share| (share - 0.385).abs() < 0.02), "{shares:?}");
    }
}
