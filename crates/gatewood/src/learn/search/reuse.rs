//! Columns drawn by how often trees read them.

use crate::random::Stream;

/// Draws columns of a sample, in part by how often the trees so far read them.
pub(crate) struct FeatureReuse {
    /// The running sums of the columns' weights.
    sums: Vec<u64>,
}

impl FeatureReuse {
    /// For the columns of a sample; none where no column was read yet, or all are to be drawn evenly.
    pub(crate) fn new(part: f64, columns: &[u32], uses: &[u32]) -> Option<Self> {
        let all: u64 = columns.iter().map(|&column| u64::from(uses[column as usize])).sum();
        // In parts of 256.
        let part = libm::rint(part * 256.0) as u64;
        if all == 0 || part == 0 {
            return None;
        }
        let mut sum = 0;
        let weight = |column: u32| u64::from(uses[column as usize]) * columns.len() as u64 * part;
        let add = |&column: &u32| {
            sum += weight(column) + all * (256 - part);
            sum
        };
        Some(Self { sums: columns.iter().map(add).collect() })
    }

    /// The position of a column among those of the sample.
    pub(crate) fn draw(&self, stream: &mut Stream) -> u32 {
        let place = (u128::from(stream.bits()) * u128::from(self.sums[self.sums.len() - 1])) >> 64;
        self.sums.partition_point(|&sum| sum <= place as u64) as u32
    }
}
