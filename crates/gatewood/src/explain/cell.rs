//! One way in which the bits of a column can be set, and the raw values that set them so.

/// Numbers between two bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) high: f64,
    /// Whether the bounds themselves belong to it.
    pub(super) has_low: bool,
    pub(super) has_high: bool,
}

impl Interval {
    pub(super) fn open(low: f64, high: f64) -> Self {
        Self { low, high, has_low: low == f64::NEG_INFINITY, has_high: high == f64::INFINITY }
    }

    pub(super) fn point(value: f64) -> Self {
        Self { low: value, high: value, has_low: true, has_high: true }
    }

    pub(super) fn all() -> Self {
        Self::open(f64::NEG_INFINITY, f64::INFINITY)
    }

    pub(super) fn contains(&self, value: f64) -> bool {
        (value > self.low || self.has_low && value == self.low)
            && (value < self.high || self.has_high && value == self.high)
    }

    /// Whether no number is in it.
    pub(super) fn is_empty(&self) -> bool {
        !self.contains(self.inside())
    }

    /// What two intervals have in common.
    pub(super) fn and(self, other: Self) -> Self {
        let (low, has_low) = match self.low.total_cmp(&other.low) {
            std::cmp::Ordering::Equal => (self.low, self.has_low && other.has_low),
            std::cmp::Ordering::Greater => (self.low, self.has_low),
            std::cmp::Ordering::Less => (other.low, other.has_low),
        };
        let (high, has_high) = match self.high.total_cmp(&other.high) {
            std::cmp::Ordering::Equal => (self.high, self.has_high && other.has_high),
            std::cmp::Ordering::Less => (self.high, self.has_high),
            std::cmp::Ordering::Greater => (other.high, other.has_high),
        };
        Self { low, high, has_low, has_high }
    }

    /// A number in it, as round as can be; any number where it is empty.
    pub(super) fn inside(&self) -> f64 {
        let (low, high) = (self.low, self.high);
        if low == high {
            return low;
        }
        if low == f64::NEG_INFINITY && high == f64::INFINITY {
            return 0.0;
        }
        if low == f64::NEG_INFINITY {
            let whole = high.floor();
            return if self.contains(whole) { whole } else { below(high) };
        }
        if high == f64::INFINITY {
            let whole = low.ceil();
            return if self.contains(whole) { whole } else { above(low) };
        }
        let middle = low + (high - low) / 2.0;
        // The fewest places behind the point that fall inside.
        let mut scale = 1.0;
        for _ in 0..12 {
            for rounded in [(middle * scale).round() / scale, (low * scale).ceil() / scale] {
                if self.contains(rounded) {
                    return rounded;
                }
            }
            scale *= 10.0;
        }
        [middle, low.next_up(), high].into_iter().find(|&value| self.contains(value)).unwrap_or(middle)
    }
}

fn below(value: f64) -> f64 {
    let whole = value.floor() - 1.0;
    if whole < value { whole } else { value.next_down() }
}

fn above(value: f64) -> f64 {
    let whole = value.ceil() + 1.0;
    if whole > value { whole } else { value.next_up() }
}

/// One way in which the bits of a part of a column can be set together.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    /// The value of each bit of the part.
    pub(super) key: Vec<bool>,
    /// The numbers that set them so, ascending; of a part of a date, its numbers.
    pub(super) intervals: Vec<Interval>,
    /// The texts or the word that do.
    pub(super) texts: Vec<String>,
    /// Whether texts do that no bit names.
    pub(super) other_text: bool,
    /// The pixels or ready bits that do.
    pub(super) bytes: Vec<u8>,
    /// Whether a gap does.
    pub(super) missing: bool,
    /// Whether any value does that is no gap.
    pub(super) present: bool,
}

impl Cell {
    pub(super) fn new(key: Vec<bool>) -> Self {
        Self { key, ..Self::default() }
    }

    /// Whether nothing but a gap sets the bits so.
    pub(super) fn is_only_gap(&self) -> bool {
        self.missing
            && !self.present
            && !self.other_text
            && self.intervals.is_empty()
            && self.texts.is_empty()
            && self.bytes.is_empty()
    }

    /// Adds numbers above all there are.
    pub(super) fn add_interval(&mut self, next: Interval) {
        match self.intervals.last_mut() {
            Some(last) if last.high == next.low && (last.has_high || next.has_low) => {
                (last.high, last.has_high) = (next.high, next.has_high);
            }
            _ => self.intervals.push(next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_inside_are_round_and_inside() {
        let half_open = |low, high| Interval { low, high, has_low: false, has_high: true };
        for (low, high) in
            [(37.5, 38.5), (0.1, 0.2), (-3.0, -1.0), (1e9, 1e9 + 0.5), (0.0, f64::MIN_POSITIVE)]
        {
            let interval = half_open(low, high);
            assert!(interval.contains(interval.inside()), "{interval:?} {}", interval.inside());
            assert!(!interval.is_empty());
        }
        assert_eq!(half_open(37.5, 38.5).inside(), 38.0);
        assert_eq!(Interval::open(f64::NEG_INFINITY, 17.5).inside(), 17.0);
        assert_eq!(Interval::open(7055.5, f64::INFINITY).inside(), 7056.0);
        assert!(Interval::open(1.0, 1.0f64.next_up()).is_empty());
        assert!(Interval::open(2.0, 5.0).and(Interval::open(5.0, 7.0)).is_empty());
        assert_eq!(Interval::all().and(Interval::point(3.0)), Interval::point(3.0));
    }
}
