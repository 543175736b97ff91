//! Compact storage of one column: codes of one, two or four bytes, and the dictionary they point into.

use std::ops::BitOr;

/// One small number per row: the position of the row's value in a list of distinct values.
///
/// Takes one byte a row while there are at most 256 values, two up to 65,536, then four.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Codes {
    /// Codes under 256.
    U8(Vec<u8>),
    /// Codes under 65,536.
    U16(Vec<u16>),
    /// Any codes.
    U32(Vec<u32>),
}

impl Codes {
    /// No rows yet.
    pub fn new() -> Self {
        Self::U8(Vec::new())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::U8(codes) => codes.len(),
            Self::U16(codes) => codes.len(),
            Self::U32(codes) => codes.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that may be taken besides those there are for so many rows more, of codes under `codes`.
    pub fn growth(&self, rows: usize, codes: usize) -> usize {
        let (capacity, width, most) = match self {
            Self::U8(codes) => (codes.capacity(), 1, 1 << 8),
            Self::U16(codes) => (codes.capacity(), 2, 1 << 16),
            Self::U32(codes) => (codes.capacity(), 4, usize::MAX),
        };
        // Wider codes are another list, and so is a longer one.
        let wider = if codes > most { 2 * width * self.len() } else { 0 };
        let is_full = capacity - self.len() < rows;
        wider + if is_full { (2 * capacity).max(self.len() + rows) * width } else { 0 }
    }

    /// The code of one row.
    #[inline]
    pub fn get(&self, row: usize) -> usize {
        match self {
            Self::U8(codes) => usize::from(codes[row]),
            Self::U16(codes) => usize::from(codes[row]),
            Self::U32(codes) => codes[row] as usize,
        }
    }

    /// Appends one row, widening the codes when needed.
    #[inline]
    pub fn push(&mut self, code: u32) {
        match self {
            Self::U8(codes) if code < 1 << 8 => codes.push(code as u8),
            Self::U16(codes) if code < 1 << 16 => codes.push(code as u16),
            Self::U32(codes) => codes.push(code),
            _ => self.widen_and_push(code),
        }
    }

    /// Appends rows, widening the codes when needed.
    pub fn extend_from_slice<T: Copy + BitOr<Output = T> + Into<u32>>(&mut self, rows: &[T]) {
        let Some(&first) = rows.first() else { return };
        // As many digits as the largest has.
        let digits: u32 = rows.iter().fold(first, |digits, &code| digits | code).into();
        let rows = rows.iter().map(|&code| code.into());
        match self {
            Self::U8(codes) if digits < 1 << 8 => codes.extend(rows.map(|code| code as u8)),
            Self::U16(codes) if digits < 1 << 16 => codes.extend(rows.map(|code| code as u16)),
            Self::U32(codes) => codes.extend(rows),
            _ => rows.for_each(|code| self.push(code)),
        }
    }

    #[cold]
    fn widen_and_push(&mut self, code: u32) {
        *self = match (&*self, code) {
            (Self::U8(codes), ..=0xffff) => Self::U16(codes.iter().map(|&code| code.into()).collect()),
            (Self::U8(codes), _) => Self::U32(codes.iter().map(|&code| code.into()).collect()),
            (Self::U16(codes), _) => Self::U32(codes.iter().map(|&code| code.into()).collect()),
            (Self::U32(codes), _) => Self::U32(codes.clone()),
        };
        self.push(code);
    }

    /// All codes, in the order of the rows.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// How many rows have each code under `codes`.
    pub fn counts(&self, codes: usize) -> Vec<usize> {
        match self {
            Self::U8(rows) => count(rows, codes),
            Self::U16(rows) => count(rows, codes),
            Self::U32(rows) => {
                let mut counts = vec![0; codes];
                rows.iter().for_each(|&code| counts[code as usize] += 1);
                counts
            }
        }
    }

    /// The largest code, if there is any.
    pub fn max(&self) -> Option<usize> {
        match self {
            Self::U8(codes) => codes.iter().max().map(|&code| usize::from(code)),
            Self::U16(codes) => codes.iter().max().map(|&code| usize::from(code)),
            Self::U32(codes) => codes.iter().max().map(|&code| code as usize),
        }
    }

    /// The codes of the given rows, in that order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::U8(codes) => Self::U8(rows.iter().map(|&row| codes[row]).collect()),
            Self::U16(codes) => Self::U16(rows.iter().map(|&row| codes[row]).collect()),
            Self::U32(codes) => Self::U32(rows.iter().map(|&row| codes[row]).collect()),
        }
    }
}

/// Counts in four places in turn, so that equal neighbours do not wait for each other.
fn count<T: Copy + Into<usize>>(rows: &[T], codes: usize) -> Vec<usize> {
    let mut counts = vec![[0usize; 4]; codes];
    let (fours, rest) = rows.as_chunks::<4>();
    for four in fours {
        for (place, &code) in four.iter().enumerate() {
            counts[code.into()][place] += 1;
        }
    }
    rest.iter().for_each(|&code| counts[code.into()][0] += 1);
    counts.into_iter().map(|places| places.iter().sum()).collect()
}

impl Default for Codes {
    fn default() -> Self {
        Self::new()
    }
}

impl FromIterator<u32> for Codes {
    fn from_iter<I: IntoIterator<Item = u32>>(codes: I) -> Self {
        let mut all = Self::new();
        codes.into_iter().for_each(|code| all.push(code));
        all
    }
}

/// Texts in one allocation, each found by its position.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Strings {
    text: String,
    ends: Vec<usize>,
}

impl Strings {
    /// No texts yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes that may be taken besides those there are for so many texts more, of a few letters each.
    pub fn growth(&self, texts: usize) -> usize {
        let list = |length: usize, capacity: usize, more: usize| {
            if capacity - length < more { (2 * capacity).max(length + more) } else { 0 }
        };
        list(self.text.len(), self.text.capacity(), 8 * texts)
            + list(self.ends.len(), self.ends.capacity(), texts) * size_of::<usize>()
    }

    /// Appends a text.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    /// One text.
    pub fn get(&self, index: usize) -> &str {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[index]]
    }

    /// All texts, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> + Clone + '_ {
        (0..self.len()).map(|index| self.get(index))
    }
}

impl<S: AsRef<str>> FromIterator<S> for Strings {
    fn from_iter<I: IntoIterator<Item = S>>(texts: I) -> Self {
        let mut all = Self::new();
        texts.into_iter().for_each(|text| all.push(text.as_ref()));
        all
    }
}
