//! Finds the fields of delimited text, a record at a time.
//!
//! The special bytes (delimiter, line end, quote) of 64 bytes are found together and kept as one word, so that short
//! fields cost a few operations each.

use std::ops::Range;

/// The low bit of each of eight bytes.
const LOW: u64 = 0x0101_0101_0101_0101;

/// Fields a record may have.
pub(crate) const MOST_FIELDS: usize = 1 << 20;

/// Where a field is, without its quotes. Texts are shorter than 4 GB: there are many fields to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Whether doubled quotes inside stand for one.
    pub(crate) doubled: bool,
}

impl Field {
    fn new(start: usize, end: usize, doubled: bool) -> Self {
        Self { start: start as u32, end: end as u32, doubled }
    }

    /// The bytes of the field in its text.
    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Why a record cannot be taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A quoted field goes on after its closing quote, at this byte.
    AfterQuote(usize),
    /// The text ends inside a quoted field that starts at this byte.
    OpenQuote(usize),
    /// There are more than [`MOST_FIELDS`] fields.
    TooWide,
}

/// What [`Scanner::record`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// A record, its fields in the list; the next starts at this byte.
    Record(usize),
    /// No whole record before the end of the text.
    Incomplete,
}

/// Takes text apart. Quotes count only at the start of a field; a doubled one inside stands for one.
#[derive(Debug, Clone)]
pub(crate) struct Scanner {
    delimiter: u8,
    /// Special bytes of the 64 from `base` on that are still to be looked at.
    marks: u64,
    base: usize,
    /// Whether the last record had a quoted field, which may hold line ends.
    pub(crate) had_quotes: bool,
}

impl Scanner {
    pub(crate) fn new(delimiter: u8) -> Self {
        Self { delimiter, marks: 0, base: usize::MAX, had_quotes: false }
    }

    /// Forgets what was seen of a text: to be called when the text changed.
    pub(crate) fn reset(&mut self) {
        self.base = usize::MAX;
    }

    /// Special bytes among the 64 from `base` on.
    fn look(&self, text: &[u8], base: usize) -> u64 {
        marks(text, base, [self.delimiter, b'\n', b'"'])
    }

    /// The next special byte at or after `from`, or the end of the text. `from` must not go back.
    #[inline]
    fn next(&mut self, text: &[u8], from: usize) -> usize {
        if self.base == usize::MAX || from >= self.base + 64 {
            self.base = from;
            self.marks = self.look(text, from);
        }
        self.marks &= u64::MAX << (from - self.base);
        while self.marks == 0 {
            self.base += 64;
            if self.base >= text.len() {
                return text.len();
            }
            self.marks = self.look(text, self.base);
        }
        self.base + self.marks.trailing_zeros() as usize
    }

    /// Finds the fields of the record at `start` and appends them to the list, which is left with some of them when there
    /// is no whole record. `last` tells that no more text will come after this.
    #[inline]
    pub(crate) fn record(
        &mut self,
        text: &[u8],
        start: usize,
        last: bool,
        fields: &mut Vec<Field>,
    ) -> Result<Found, Fault> {
        self.had_quotes = false;
        let most = fields.len() + MOST_FIELDS;
        let mut from = start;
        loop {
            let mut at = self.next(text, from);
            let mut field = Field::new(from, at, false);
            if at < text.len() && text[at] == b'"' {
                // Spaces may stand before an opening quote.
                if text[from..at].iter().all(|&byte| byte == b' ') {
                    match self.quoted(text, at, last)? {
                        Some((quoted, after)) => (field, at) = (quoted, after),
                        None => return Ok(self.incomplete()),
                    }
                } else {
                    while at < text.len() && text[at] == b'"' {
                        at = self.next(text, at + 1);
                    }
                    field.end = at as u32;
                }
            }
            if at == text.len() {
                if !last {
                    return Ok(self.incomplete());
                }
                fields.push(field);
                return Ok(Found::Record(at));
            }
            if fields.len() == most {
                return Err(Fault::TooWide);
            }
            fields.push(field);
            from = at + 1;
            if text[at] == b'\n' {
                return Ok(Found::Record(from));
            }
        }
    }

    #[cold]
    fn incomplete(&mut self) -> Found {
        self.reset();
        Found::Incomplete
    }

    /// A quoted field whose opening quote is at `open`, and the special byte (or end) after it.
    fn quoted(&mut self, text: &[u8], open: usize, last: bool) -> Result<Option<(Field, usize)>, Fault> {
        self.had_quotes = true;
        let mut doubled = false;
        let mut from = open + 1;
        loop {
            let at = self.next(text, from);
            if at == text.len() {
                return if last { Err(Fault::OpenQuote(open)) } else { Ok(None) };
            }
            from = at + 1;
            if text[at] != b'"' {
                continue;
            }
            match text.get(at + 1) {
                Some(b'"') => {
                    doubled = true;
                    from = at + 2;
                }
                None if !last => return Ok(None),
                _ => {
                    let after = self.next(text, at + 1);
                    let between = &text[at + 1..after];
                    if after == text.len() && !last {
                        return Ok(None);
                    }
                    if between.iter().any(|byte| !matches!(byte, b' ' | b'\r'))
                        || text.get(after).is_some_and(|&byte| byte == b'"')
                    {
                        return Err(Fault::AfterQuote(at + 1));
                    }
                    return Ok(Some((Field::new(open + 1, at, doubled), after)));
                }
            }
        }
    }
}

/// Which of the 64 bytes from `base` on are one of a few.
#[inline]
pub(crate) fn marks<const N: usize>(text: &[u8], base: usize, wanted: [u8; N]) -> u64 {
    let words_of = wanted.map(|byte| LOW * u64::from(byte));
    let special = |word: u64| {
        let marked = words_of.iter().fold(0, |marked, wanted| marked | zero_bytes(word ^ wanted));
        // Gathers the high bit of each byte into the top byte.
        (marked >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    };
    if let Some(block) = text.get(base..).and_then(|rest| rest.first_chunk::<64>()) {
        let (words, _) = block.as_chunks::<8>();
        return words
            .iter()
            .enumerate()
            .fold(0, |marks, (index, word)| marks | special(u64::from_le_bytes(*word)) << (8 * index));
    }
    let rest = text.get(base..).unwrap_or_default();
    rest.iter().enumerate().fold(0, |marks, (index, byte)| marks | u64::from(wanted.contains(byte)) << index)
}

/// The high bit of each byte of `word` that is zero; exact for every byte.
fn zero_bytes(word: u64) -> u64 {
    let high = LOW << 7;
    !(((word & !high) + !high) | word | !high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same, one byte at a time; nothing when it is faulty.
    fn plain(text: &[u8], delimiter: u8) -> Option<Vec<Vec<Vec<u8>>>> {
        let mut records = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let mut record = Vec::new();
            loop {
                let mut field = Vec::new();
                let quote =
                    at + text[at..].iter().take_while(|&&byte| byte == b' ' && byte != delimiter).count();
                if text.get(quote) == Some(&b'"') {
                    at = quote + 1;
                    loop {
                        match (text.get(at), text.get(at + 1)) {
                            (None, _) => return None,
                            (Some(b'"'), Some(b'"')) => {
                                field.extend(b"\"");
                                at += 2;
                            }
                            (Some(b'"'), _) => break,
                            (Some(&byte), _) => {
                                field.push(byte);
                                at += 1;
                            }
                        }
                    }
                    at += 1;
                    while text.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\r') && *byte != delimiter)
                    {
                        at += 1;
                    }
                    if text.get(at).is_some_and(|&byte| byte != delimiter && byte != b'\n') {
                        return None;
                    }
                } else {
                    while at < text.len() && text[at] != delimiter && text[at] != b'\n' {
                        field.push(text[at]);
                        at += 1;
                    }
                }
                record.push(field);
                at += 1;
                if text.get(at - 1) != Some(&delimiter) {
                    break;
                }
            }
            records.push(record);
        }
        Some(records)
    }

    fn scan(text: &[u8], delimiter: u8) -> Option<Vec<Vec<Vec<u8>>>> {
        let mut scanner = Scanner::new(delimiter);
        let (mut at, mut fields, mut records) = (0, Vec::new(), Vec::new());
        while at < text.len() {
            fields.clear();
            let Found::Record(next) = scanner.record(text, at, true, &mut fields).ok()? else {
                panic!("incomplete at the end");
            };
            records.push(
                fields
                    .iter()
                    .map(|field| {
                        let bytes = text[field.range()].to_vec();
                        if !field.doubled {
                            return bytes;
                        }
                        String::from_utf8(bytes).unwrap().replace("\"\"", "\"").into_bytes()
                    })
                    .collect(),
            );
            at = next;
        }
        Some(records)
    }

    proptest! {
        #[test]
        fn fields_are_those_found_one_byte_at_a_time(text in "[a,\"\n\r é]{0,150}") {
            prop_assert_eq!(scan(text.as_bytes(), b','), plain(text.as_bytes(), b','));
        }

        #[test]
        fn records_do_not_depend_on_where_the_text_is_cut(text in "[ab,\"\n ]{1,100}", cut in 0usize..100) {
            let text = text.as_bytes();
            let cut = cut.min(text.len());
            let mut fields = Vec::new();
            let mut scanner = Scanner::new(b',');
            let whole = scanner.record(text, 0, true, &mut fields);
            let expected = std::mem::take(&mut fields);
            let part = Scanner::new(b',').record(&text[..cut], 0, false, &mut fields);
            match part {
                Ok(Found::Record(_)) => {
                    prop_assert_eq!(part, whole);
                    prop_assert_eq!(fields, expected);
                }
                Ok(Found::Incomplete) => {}
                Err(fault) => prop_assert_eq!(Err(fault), whole),
            }
        }

        #[test]
        fn zero_bytes_are_exact(bytes: [u8; 8]) {
            let found = zero_bytes(u64::from_le_bytes(bytes)).to_le_bytes();
            for (byte, found) in bytes.iter().zip(found) {
                prop_assert_eq!(found, if *byte == 0 { 0x80 } else { 0 });
            }
        }
    }
}
