//! Numbers as a circuit reads them: integers, or with bits behind the point.

use crate::encode::Test;
use crate::{Error, Result};

/// The most bits of a number.
const MAX_BITS: u32 = 64;
/// The most bits behind the point.
pub(super) const MAX_FRACTION: u32 = 32;
/// Decimal digits behind the point that thresholds are believed to have; more come from binary fractions.
const MAX_DIGITS: usize = 9;

/// How a number is written in bits: its value times two to the `fraction`, rounded down, and cut to the nearest that fits.
///
/// It is just wide enough for what the number is compared with, so that values that are cut give the same answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedPoint {
    /// All bits, the sign included; none where the number is never compared.
    pub width: u32,
    /// Bits behind the point.
    pub fraction: u32,
    /// Whether it is in two's complement; else it is not negative.
    pub is_signed: bool,
}

impl FixedPoint {
    /// The narrowest way to write a number that is tested so. Without a number of fraction bits, these are as many as the
    /// thresholds ask for.
    pub(super) fn for_tests<'a>(
        tests: impl Iterator<Item = &'a Test>,
        fraction: Option<u32>,
    ) -> Result<Self> {
        let compared: Vec<(f64, bool)> = tests
            .filter_map(|test| match test {
                Test::Above(value) => Some((*value, false)),
                Test::Equals(value) => Some((*value, true)),
                _ => None,
            })
            .collect();
        let fraction = match fraction {
            Some(fraction) => fraction,
            None => compared.iter().map(|&(value, is)| fraction_of(value, is)).max().unwrap_or(0),
        };
        let mut number = Self { width: 0, fraction, is_signed: false };
        // A negative number is cut to zero where there is no sign, and would then be equal to zero.
        number.is_signed = compared.iter().any(|&(value, equals)| {
            let scaled = number.scaled(value);
            scaled < 0.0 || equals && scaled == 0.0
        });
        for &(value, _) in &compared {
            let width = number.width_for(value).ok_or_else(|| {
                Error::too_large(format!("it is compared with {value}, which takes over {MAX_BITS} bits"))
            })?;
            number.width = number.width.max(width);
        }
        Ok(number)
    }

    /// A number in units of the last place, rounded down.
    pub(super) fn scaled(self, number: f64) -> f64 {
        (number * f64::from(self.fraction).exp2()).floor()
    }

    /// The bits of a number, those past the width being zero; zero for a missing one.
    pub fn bits(self, number: f64) -> u64 {
        if number.is_nan() || self.width == 0 {
            return 0;
        }
        let (least, greatest) = self.range();
        // A cast cuts to what an integer can be.
        let scaled = (self.scaled(number) as i128).clamp(least, greatest);
        scaled as u64 & (u64::MAX >> (MAX_BITS - self.width))
    }

    /// The least and the greatest integer that fits.
    pub fn range(self) -> (i128, i128) {
        match self.is_signed {
            true => (-(1 << (self.width.max(1) - 1)), (1 << (self.width.max(1) - 1)) - 1),
            false => (0, (1 << self.width) - 1),
        }
    }

    /// Bits of a number that can be above and below the given one.
    fn width_for(self, number: f64) -> Option<u32> {
        let scaled = self.scaled(number);
        let limit = 2f64.powi(MAX_BITS as i32 - 2);
        if !(-limit..limit).contains(&scaled) {
            return None;
        }
        // One more than the number must fit as well, or nothing could be above it.
        let larger = if scaled < 0.0 { !(scaled as i64) } else { scaled as i64 + 1 };
        Some(64 - larger.leading_zeros() + u32::from(self.is_signed))
    }

    /// What the number is in words.
    pub(super) fn describe(self) -> String {
        let sign = if self.is_signed { "signed" } else { "unsigned" };
        let (least, greatest) = self.range();
        let scale = match self.fraction {
            0 => "rounded down".to_string(),
            fraction => format!("times {}, rounded down", 1u64 << fraction),
        };
        format!(
            "{sign}, {} bits, {} behind the point: {scale}, cut to {least} to {greatest}",
            self.width, self.fraction
        )
    }
}

/// Bits behind the point that keep a threshold apart from the values on both sides of it.
///
/// Thresholds are short decimal numbers about half-way between two values, so that a last digit of 5 stands for values with a
/// digit less. Whole numbers and halves are taken for those of a column of whole numbers.
fn fraction_of(value: f64, equals: bool) -> u32 {
    let text = format!("{value}");
    let digits = text.split_once('.').map_or("", |(_, digits)| digits);
    let apart = match digits {
        "" => return 0,
        "5" if !equals => return 0,
        digits if digits.len() > MAX_DIGITS => 10f64.powi(-(MAX_DIGITS as i32)),
        digits if digits.ends_with('5') && !equals => 5.0 * 10f64.powi(-(digits.len() as i32)),
        digits => 10f64.powi(-(digits.len() as i32)),
    };
    (-apart.log2()).ceil().clamp(0.0, f64::from(MAX_FRACTION)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tests: &[Test]) -> FixedPoint {
        FixedPoint::for_tests(tests.iter(), None).unwrap()
    }

    #[test]
    fn numbers_are_as_narrow_as_their_thresholds_allow() {
        let is = |tests: &[Test], width, fraction, is_signed| {
            assert_eq!(of(tests), FixedPoint { width, fraction, is_signed }, "{tests:?}");
        };
        is(&[], 0, 0, false);
        is(&[Test::Above(37.5), Test::Above(60.0)], 6, 0, false);
        is(&[Test::Above(63.0)], 7, 0, false);
        is(&[Test::Above(-1.0)], 1, 0, true);
        is(&[Test::Above(-20.5), Test::Above(3.0)], 6, 0, true);
        is(&[Test::Equals(0.0)], 2, 0, true);
        // Values in steps of a tenth on both sides of 2.45: one more than 2.45 * 32 is 79.
        is(&[Test::Above(2.45)], 7, 5, false);
        is(&[Test::Equals(0.5)], 4, 4, false);
    }

    #[test]
    fn decimal_values_are_compared_exactly() {
        for steps in [1.0f64, 10.0, 100.0, 1000.0] {
            for low in -150..150 {
                let threshold: f64 = format!("{:.4}", (f64::from(low) + 0.5) / steps).parse().unwrap();
                let number = of(&[Test::Above(threshold)]);
                let signed = |value: f64| {
                    let bits = number.bits(value);
                    let sign = number.is_signed && bits >> (number.width - 1) & 1 != 0;
                    if sign { i128::from(bits) - (1 << number.width) } else { i128::from(bits) }
                };
                for value in low - 20..low + 20 {
                    let value = f64::from(value) / steps;
                    let above = signed(value) > number.scaled(threshold) as i128;
                    assert_eq!(above, value > threshold, "{value} > {threshold} as {number:?}");
                }
            }
        }
    }

    #[test]
    fn values_out_of_range_are_cut_and_huge_thresholds_refused() {
        let number = of(&[Test::Above(-20.5), Test::Above(3.0)]);
        assert_eq!((number.bits(1e300), number.bits(-1e300), number.bits(f64::NAN)), (31, 32, 0));
        assert_eq!(number.range(), (-32, 31));
        let error = FixedPoint::for_tests([Test::Above(1e30)].iter(), None).unwrap_err();
        assert!(error.is_too_large(), "{error}");
    }
}
