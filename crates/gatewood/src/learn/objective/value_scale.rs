//! Values in fixed point, so that they can be learned in integers.

use crate::encode::check_values;
use crate::{Error, Result};

/// Bits behind the point of a target.
const TARGET_POINT: u32 = 30;

/// How values become targets in fixed point: `value = offset + range * target`.
///
/// `range` is a power of two and `offset` a multiple of a sixteenth of it, so that what margins stand for is exact in
/// binary. All values that it was made for lie within about half a range of the offset.
///
/// ```
/// use gatewood::learn::objective::ValueScale;
/// let scale = ValueScale::of(&[10.0, 12.0, 13.0])?;
/// assert_eq!((scale.offset(), scale.range()), (11.5, 4.0));
/// assert_eq!(scale.value(scale.target(12.0)), 12.0);
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueScale {
    offset: f64,
    range: f64,
    spread: f64,
}

impl ValueScale {
    /// The scale that suits the values of training rows.
    ///
    /// # Errors
    /// When there are no values, one is not finite or too large (the message names the row), or all are the same.
    pub fn of(values: &[f64]) -> Result<Self> {
        check_values(values)?;
        let (low, high) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
        if low == high {
            return Err(Error::data(format!("the target is {low} on every row: there is nothing to learn")));
        }
        if high - low < (high.abs().max(low.abs())) * 1e-9 {
            return Err(Error::data(format!(
                "the targets lie between {low} and {high}: they hardly differ, so subtract {low} from them first"
            )));
        }
        let range = libm::exp2(libm::ceil(libm::log2(high - low)));
        let step = range / 16.0;
        let offset = libm::rint((low + (high - low) / 2.0) / step) * step;
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let spread = libm::sqrt(squares / values.len() as f64).max(range * 1e-6);
        Ok(Self { offset, range, spread })
    }

    /// The scale of a grove that is continued, for values with this standard deviation.
    pub(crate) fn known(offset: f64, range: f64, values: &[f64]) -> Result<Self> {
        let spread = Self::of(values)?.spread;
        Ok(Self { offset, range, spread })
    }

    /// The value that a target of zero stands for.
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// What a target of one stands for, above the offset: a power of two.
    pub fn range(&self) -> f64 {
        self.range
    }

    /// The standard deviation of the values, in ranges.
    pub fn spread(&self) -> f64 {
        self.spread / self.range
    }

    /// A value as a target. Values far outside of those of training are taken for the nearest that can be kept.
    pub fn target(&self, value: f64) -> u32 {
        let scaled = (value - self.offset) / self.range * f64::from(1u32 << TARGET_POINT);
        // The cast keeps to the limits of 32 bits.
        libm::rint(scaled) as i32 as u32
    }

    /// A target as the value it stands for.
    pub fn value(&self, target: u32) -> f64 {
        self.offset + self.range * in_ranges(target)
    }
}

/// A target in ranges above the offset.
pub(super) fn in_ranges(target: u32) -> f64 {
    f64::from(target as i32) / f64::from(1u32 << TARGET_POINT)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What fixed point costs is a billionth of the range, wherever the values lie.
        #[test]
        fn values_come_back(low in -1e6f64..1e6, width in 1e-2f64..1e6, shares in proptest::collection::vec(0.0f64..1.0, 1..50)) {
            let mut values: Vec<f64> = shares.iter().map(|share| low + share * width).collect();
            values.extend([low, low + width]);
            let scale = ValueScale::of(&values).unwrap();
            for &value in &values {
                let target = scale.target(value);
                prop_assert!((scale.value(target) - value).abs() <= 1e-9 * scale.range() + 1e-9 * value.abs());
                prop_assert!(in_ranges(target).abs() <= 0.54);
            }
            prop_assert!(scale.range() >= width && scale.range() <= 2.0 * width * (1.0 + 1e-9));
        }
    }

    #[test]
    fn what_cannot_be_learned_is_named() {
        for (values, message) in [
            (&[1.0, f64::NAN][..], "row 2 has no target"),
            (&[1.0, 2.0, f64::INFINITY], "row 3 has the target inf, which is beyond the limit of 1e30"),
            (&[-1e300, 2.0], "row 1 has the target -1e300, which is beyond the limit of 1e30"),
            (&[3.5, 3.5], "the target is 3.5 on every row: there is nothing to learn"),
            (&[], "there are no targets to learn"),
        ] {
            assert_eq!(ValueScale::of(values).unwrap_err().to_string(), message);
        }
        // Values outside of those of training are kept at the limits.
        let scale = ValueScale::of(&[0.0, 1.0]).unwrap();
        assert_eq!(scale.target(1e300), i32::MAX as u32);
        assert_eq!(scale.target(-1e300), i32::MIN as u32);
    }
}
