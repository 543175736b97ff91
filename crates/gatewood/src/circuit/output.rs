//! What the margins of a grove say: a class, a value, or quantiles of a value.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// What the margins of a grove say.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Output {
    /// One of so many classes.
    Classes(usize),
    /// A value, or several quantiles of one.
    Value(ValueOutput),
}

/// How margins become values: `offset + scale * margin`, or the exponential of that.
///
/// With several quantiles there is a margin for each. They are put in order before they are read, so that a higher quantile is
/// never below a lower one.
///
/// ```
/// use gatewood::circuit::ValueOutput;
/// let output = ValueOutput::new(2.0, 0.25);
/// assert_eq!(output.value(9), 4.25);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ValueOutput {
    /// The value at a margin of zero, or its logarithm.
    pub offset: f64,
    /// What one vote is worth. Learned groves have a power of two, so that the product is exact.
    pub scale: f64,
    /// Whether margins stand for the logarithm of the value.
    pub is_log: bool,
    /// The quantiles, where those are said; else none.
    pub quantiles: Quantiles,
}

impl ValueOutput {
    /// A value in proportion to its margin.
    pub fn new(offset: f64, scale: f64) -> Self {
        Self { offset, scale, is_log: false, quantiles: Quantiles::default() }
    }

    /// The same with margins that stand for the logarithm of the value.
    #[must_use]
    pub fn in_logarithm(self, is_log: bool) -> Self {
        Self { is_log, ..self }
    }

    /// The same with a margin for each quantile.
    #[must_use]
    pub fn with_quantiles(self, quantiles: Quantiles) -> Self {
        Self { quantiles, ..self }
    }

    /// Margins, and so values, of a row.
    pub fn margins(&self) -> usize {
        self.quantiles.levels().len().max(1)
    }

    /// The value that a margin stands for.
    pub fn value(&self, margin: i32) -> f64 {
        let value = self.offset + self.scale * f64::from(margin);
        // The largest finite exponent: a margin far outside of those of training must not become infinite.
        if self.is_log { libm::exp(value.min(709.0)) } else { value }
    }

    /// How a value is made of its margin, in words: `offset + scale * margin`, or `exp(...)` of it.
    pub fn formula(&self) -> String {
        let line = format!("{:?} + {:?} * margin", self.offset, self.scale);
        if self.is_log { format!("exp({line})") } else { line }
    }

    /// Checks that the numbers can be used.
    pub(super) fn check(&self) -> Result<()> {
        match self.offset.is_finite() && self.scale.is_finite() && self.scale > 0.0 {
            true => Ok(()),
            false => Err(Error::data("offset and scale must be finite, and the scale above zero")),
        }
    }
}

impl Output {
    /// Margins of a row: one for two classes or a value, else one for each class or quantile.
    pub fn margins(&self) -> usize {
        match self {
            Self::Classes(2) => 1,
            Self::Classes(classes) => *classes,
            Self::Value(output) => output.margins(),
        }
    }

    /// Puts the margins of quantiles in order; other margins stay as they are.
    pub(crate) fn arrange(&self, margins: &mut [i32]) {
        if matches!(self, Self::Value(output) if output.margins() > 1) {
            margins.sort_unstable();
        }
    }
}

/// The most quantiles at once.
const MOST: usize = 9;

/// Quantiles of a value, such as 0.1, 0.5 and 0.9: up to nine, each above the one before.
///
/// ```
/// use gatewood::circuit::Quantiles;
/// assert_eq!(Quantiles::new(&[0.1, 0.9])?.levels(), [0.1, 0.9]);
/// assert!(Quantiles::new(&[0.9, 0.1]).is_err());
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
pub struct Quantiles {
    count: usize,
    levels: [f64; MOST],
}

impl Quantiles {
    /// Quantiles from the lowest to the highest.
    ///
    /// # Errors
    /// When there are none or more than nine, one is not above 0 and below 1, or they are not in order.
    pub fn new(levels: &[f64]) -> Result<Self> {
        if levels.is_empty() || levels.len() > MOST {
            return Err(Error::setting(format!("{} quantiles: there can be 1 to {MOST}", levels.len())));
        }
        if let Some(level) = levels.iter().find(|level| !(**level >= 0.001 && **level <= 0.999)) {
            return Err(Error::setting(format!("the quantile {level} is not between 0.001 and 0.999")));
        }
        if let Some(pair) = levels.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(Error::setting(format!("the quantile {} stands before {}", pair[0], pair[1])));
        }
        let mut all = [0.0; MOST];
        all[..levels.len()].copy_from_slice(levels);
        Ok(Self { count: levels.len(), levels: all })
    }

    /// The quantiles, from the lowest to the highest.
    pub fn levels(&self) -> &[f64] {
        &self.levels[..self.count]
    }

    /// The place of the one nearest to the median.
    pub fn middle(&self) -> usize {
        let far = |place: &usize| (self.levels[*place] - 0.5).abs();
        (0..self.count).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl TryFrom<Vec<f64>> for Quantiles {
    type Error = Error;

    fn try_from(levels: Vec<f64>) -> Result<Self> {
        Self::new(&levels)
    }
}

impl From<Quantiles> for Vec<f64> {
    fn from(quantiles: Quantiles) -> Self {
        quantiles.levels().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_in_order_and_inside() {
        for levels in [&[][..], &[0.0], &[1.0], &[f64::NAN], &[0.5, 0.5], &[0.9, 0.1], &[0.05; 10]] {
            assert!(Quantiles::new(levels).unwrap_err().is_setting(), "{levels:?}");
        }
        assert_eq!(Vec::from(Quantiles::new(&[0.05, 0.5]).unwrap()), [0.05, 0.5]);
    }

    #[test]
    fn margins_of_quantiles_never_cross() {
        let output = ValueOutput::new(0.0, 1.0).with_quantiles(Quantiles::new(&[0.1, 0.5, 0.9]).unwrap());
        let mut margins = [5, -2, 3];
        Output::Value(output).arrange(&mut margins);
        assert_eq!(margins, [-2, 3, 5]);
        let mut margins = [5, -2, 3];
        Output::Classes(3).arrange(&mut margins);
        assert_eq!(margins, [5, -2, 3]);
        assert_eq!((Output::Value(output).margins(), Output::Classes(2).margins()), (3, 1));
    }

    #[test]
    fn logarithms_stay_finite() {
        let output = ValueOutput::new(0.0, 1.0).in_logarithm(true);
        assert_eq!(output.value(0), 1.0);
        assert!(output.value(i32::MAX).is_finite());
        assert_eq!(output.value(i32::MIN), 0.0);
    }
}
