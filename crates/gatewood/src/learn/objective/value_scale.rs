//! Values in fixed point, so that they can be learned in integers.

use serde::{Deserialize, Serialize};

use crate::encode::check_values;
use crate::{Error, Result};

/// Bits behind the point of a target.
pub(super) const TARGET_POINT: u32 = 30;

/// How values become targets in fixed point: `value = offset + range * target`, or the logarithm of the value is that.
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ValueScale {
    offset: f64,
    range: f64,
    mean: f64,
    spread: f64,
    is_log: bool,
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
        Ok(Self { offset, range, mean, spread, is_log: false })
    }

    /// The scale that suits the logarithms of values.
    ///
    /// # Errors
    /// As [`ValueScale::of`], and when a value is not above zero; the message names the row.
    pub fn of_logarithms(values: &[f64]) -> Result<Self> {
        check_values(values)?;
        if let Some(row) = values.iter().position(|&value| value <= 0.0) {
            return Err(Error::data(format!(
                "row {} has the target {}, and only numbers above zero have a logarithm",
                row + 1,
                values[row]
            )));
        }
        let logs: Vec<f64> = values.iter().map(|&value| libm::log(value)).collect();
        Ok(Self { is_log: true, ..Self::of(&logs)? })
    }

    /// The scale of counts: from zero on.
    ///
    /// # Errors
    /// As [`ValueScale::of`], and when a value is below zero; the message names the row.
    pub fn of_counts(values: &[f64]) -> Result<Self> {
        let scale = Self::of(values)?;
        if let Some(row) = values.iter().position(|&value| value < 0.0) {
            return Err(Error::data(format!(
                "row {} has the target {}, and a count is not below zero",
                row + 1,
                values[row]
            )));
        }
        let most = values.iter().fold(0.0, |most: f64, &value| most.max(value));
        Ok(Self { offset: 0.0, range: libm::exp2(libm::ceil(libm::log2(most))), ..scale })
    }

    /// The same with the offset and the range of a grove that is continued.
    #[must_use]
    pub(crate) fn placed(self, offset: f64, range: f64) -> Self {
        Self { offset, range, ..self }
    }

    /// The value that a target of zero stands for, or its logarithm.
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// What a target of one stands for, above the offset: a power of two.
    pub fn range(&self) -> f64 {
        self.range
    }

    /// Whether the logarithms of values are kept.
    pub fn is_log(&self) -> bool {
        self.is_log
    }

    /// The mean of the values, or of their logarithms, in ranges above the offset.
    pub fn mean(&self) -> f64 {
        (self.mean - self.offset) / self.range
    }

    /// The standard deviation of the values, or of their logarithms, in ranges.
    pub fn spread(&self) -> f64 {
        self.spread / self.range
    }

    /// A value as a target. Values far outside of those of training are taken for the nearest that can be kept.
    pub fn target(&self, value: f64) -> u32 {
        let value = if self.is_log { libm::log(value.max(f64::MIN_POSITIVE)) } else { value };
        let scaled = (value - self.offset) / self.range * f64::from(1u32 << TARGET_POINT);
        // The cast keeps to the limits of 32 bits.
        libm::rint(scaled) as i32 as u32
    }

    /// A target as the value it stands for.
    pub fn value(&self, target: u32) -> f64 {
        let value = self.offset + self.range * in_ranges(target);
        if self.is_log { libm::exp(value) } else { value }
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
    fn logarithms_come_back() {
        let scale = ValueScale::of_logarithms(&[0.5, 20.0, 3000.0]).unwrap();
        for value in [0.5, 1.0, 20.0, 3000.0] {
            assert!((scale.value(scale.target(value)) / value - 1.0).abs() < 1e-6);
        }
        let counts = ValueScale::of_counts(&[3.0, 9.0]).unwrap();
        assert_eq!((counts.offset(), counts.range(), counts.mean()), (0.0, 16.0, 6.0 / 16.0));
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
        let named = |found: Result<ValueScale>| found.unwrap_err().to_string();
        assert_eq!(
            named(ValueScale::of_logarithms(&[1.0, 0.0])),
            "row 2 has the target 0, and only numbers above zero have a logarithm"
        );
        assert_eq!(
            named(ValueScale::of_counts(&[1.0, 2.0, -1.0])),
            "row 3 has the target -1, and a count is not below zero"
        );
        // Values outside of those of training are kept at the limits.
        let scale = ValueScale::of(&[0.0, 1.0]).unwrap();
        assert_eq!(scale.target(1e300), i32::MAX as u32);
        assert_eq!(scale.target(-1e300), i32::MIN as u32);
    }
}
