//! The header of a numpy array: what its values are, and its shape.

use gatewood::{Error, Result};

/// What an array says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) item: Item,
    pub(crate) big_endian: bool,
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<usize>,
}

/// One value of an array, with its size in bytes (of text: in letters).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    Bool,
    Signed(usize),
    Unsigned(usize),
    Float(usize),
    /// A moment, in units of which there are `per_second`, or of `seconds` each.
    Date {
        per_second: u32,
        seconds: u32,
    },
    Unicode(usize),
    Bytes(usize),
}

impl Header {
    /// Reads the text of a header, a Python dictionary of three entries.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let broken = || Error::file(format!("the header of the array cannot be read: {}", text.trim()));
        let after = |key: &str| {
            let at = text.find(&format!("'{key}'")).or_else(|| text.find(&format!("\"{key}\"")))?;
            Some(text[at + key.len() + 2..].trim_start().strip_prefix(':')?.trim_start())
        };
        let descr = after("descr").ok_or_else(broken)?;
        let Some(quote) = descr.chars().next().filter(|quote| matches!(quote, '\'' | '"')) else {
            return Err(Error::file("the array has named fields: save one array per column instead"));
        };
        let descr = descr[1..].split(quote).next().ok_or_else(broken)?;
        let fortran = after("fortran_order").ok_or_else(broken)?.starts_with("True");
        let shape =
            after("shape").and_then(|text| text.strip_prefix('(')?.split(')').next()).ok_or_else(broken)?;
        let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
        let shape = sizes
            .map(|size| size.trim_end_matches('L').parse().map_err(|_| broken()))
            .collect::<Result<_>>()?;
        Ok(Self { item: Item::parse(descr)?, big_endian: descr.starts_with('>'), fortran, shape })
    }

    /// The shape, as in "3 x 4".
    pub(crate) fn shown(&self) -> String {
        self.shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ")
    }
}

impl Item {
    fn parse(descr: &str) -> Result<Self> {
        let unknown = || Error::file(format!("an array of type \"{descr}\" cannot be read"));
        let bare = descr.trim_start_matches(['<', '>', '|', '=']);
        let mut letters = bare.chars();
        let kind = letters.next().ok_or_else(unknown)?;
        let rest = letters.as_str();
        if kind == 'M' {
            return Self::parse_date(rest).ok_or_else(unknown);
        }
        if kind == 'O' {
            return Err(Error::file(
                "the array holds Python objects: turn it into numbers or texts before saving, such as with astype",
            ));
        }
        let size: usize = rest.parse().map_err(|_| unknown())?;
        Ok(match (kind, size) {
            ('b', 1) => Self::Bool,
            ('i', 1 | 2 | 4 | 8) => Self::Signed(size),
            ('u', 1 | 2 | 4 | 8) => Self::Unsigned(size),
            ('f', 2 | 4 | 8) => Self::Float(size),
            ('U', 1..=65_536) => Self::Unicode(size),
            ('S' | 'a', 1..=65_536) => Self::Bytes(size),
            _ => return Err(unknown()),
        })
    }

    fn parse_date(rest: &str) -> Option<Self> {
        let (per_second, seconds) = match rest.strip_prefix("8[")?.strip_suffix(']')? {
            "D" => (1, 86_400),
            "h" => (1, 3600),
            "m" => (1, 60),
            "s" => (1, 1),
            "ms" => (1000, 1),
            "us" => (1_000_000, 1),
            "ns" => (1_000_000_000, 1),
            _ => return None,
        };
        Some(Self::Date { per_second, seconds })
    }

    /// Bytes of one value.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Signed(size) | Self::Unsigned(size) | Self::Float(size) | Self::Bytes(size) => size,
            Self::Date { .. } => 8,
            Self::Unicode(letters) => 4 * letters,
        }
    }

    /// One value as a number.
    pub(crate) fn number(self, bytes: &[u8], big_endian: bool) -> f64 {
        let raw = raw_bits(bytes, big_endian);
        match self {
            Self::Float(2) => half(raw as u16),
            Self::Float(4) => f32::from_bits(raw as u32).into(),
            Self::Float(_) => f64::from_bits(raw),
            Self::Signed(size) => signed(raw, size) as f64,
            Self::Date { per_second, seconds } => match raw as i64 {
                i64::MIN => f64::NAN,
                units => units as f64 * f64::from(seconds) / f64::from(per_second),
            },
            _ => raw as f64,
        }
    }

    /// One value as text; `None` when it is none.
    pub(crate) fn text(self, bytes: &[u8], big_endian: bool) -> Option<String> {
        match self {
            Self::Unicode(_) => {
                let mut text = String::new();
                for letter in bytes.chunks_exact(4) {
                    text.push(char::from_u32(raw_bits(letter, big_endian) as u32)?);
                }
                Some(text.trim_end_matches('\0').to_owned())
            }
            _ => Some(std::str::from_utf8(bytes).ok()?.trim_end_matches('\0').to_owned()),
        }
    }
}

fn raw_bits(bytes: &[u8], big_endian: bool) -> u64 {
    let join = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
    if big_endian { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
}

fn signed(raw: u64, size: usize) -> i64 {
    let unused = 64 - 8 * size as u32;
    (raw << unused) as i64 >> unused
}

/// A number of half precision.
pub(crate) fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (bits >> 10 & 31, f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(i32::from(exponent) - 25),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_values_are_read() {
        let header =
            Header::parse("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }  \n").unwrap();
        let shape = vec![3, 4];
        assert_eq!(header, Header { item: Item::Float(8), big_endian: false, fortran: false, shape });
        assert_eq!(
            Header::parse("{'descr': '>i2', 'fortran_order': True, 'shape': (5,)}").unwrap().shape,
            [5]
        );
        assert_eq!(Item::Signed(2).number(&[0xff, 0xfe], true), -2.0);
        assert_eq!(Item::Unsigned(2).number(&[0xff, 0xfe], false), f64::from(0xfeff));
        for (bits, value) in
            [(0x3c00, 1.0), (0xc000, -2.0), (1, 2f64.powi(-24)), (0x7bff, 65504.0), (0x7c00, f64::INFINITY)]
        {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7c01).is_nan());
        assert_eq!(Item::Unicode(2).text(&[b'a', 0, 0, 0, 0, 0, 0, 0], false).unwrap(), "a");
        assert_eq!(Item::parse("M8[ms]").unwrap().number(&1500i64.to_le_bytes(), false), 1.5);
    }
}
