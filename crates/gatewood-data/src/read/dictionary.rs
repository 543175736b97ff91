//! Fields to small codes, by a hash table made for short fields.

use gatewood::encode::Strings;

/// Marks the key of a field of more than seven bytes, which is only a hash.
const LONG: u64 = 1 << 63;

/// The distinct fields of one column, each with a code: its position in the order of arrival.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dictionary {
    /// A power of two of slots; a code of zero is an empty slot, others are one more than the code.
    slots: Vec<(u64, u32)>,
    texts: Strings,
    /// The last short field and its code: columns often repeat themselves.
    last: Option<(u64, u32)>,
}

/// A field as a key: up to seven bytes as they are with their number on top, more as a hash.
#[inline]
fn key_of(field: &[u8]) -> u64 {
    if field.len() <= 7 {
        let mut bytes = [0; 8];
        bytes[..field.len()].copy_from_slice(field);
        return u64::from_le_bytes(bytes) | (field.len() as u64) << 56;
    }
    hash(field) | LONG
}

/// As [`key_of`], for a field of up to seven bytes that starts the eight.
#[inline]
fn key_of_short(eight: [u8; 8], length: usize) -> u64 {
    let kept = (1u64 << (8 * length)) - 1;
    u64::from_le_bytes(eight) & kept | (length as u64) << 56
}

fn hash(field: &[u8]) -> u64 {
    let (words, rest) = field.as_chunks::<8>();
    let mut tail = [0; 8];
    tail[..rest.len()].copy_from_slice(rest);
    let mix = |hash: u64, word: [u8; 8]| {
        let product = u128::from(hash ^ u64::from_le_bytes(word)) * 0x9e37_79b9_7f4a_7c15;
        (product >> 64) as u64 ^ product as u64
    };
    mix(words.iter().fold(field.len() as u64, |hash, &word| mix(hash, word)), tail)
}

impl Dictionary {
    /// The texts, in the order of their codes.
    pub(crate) fn texts(&self) -> &Strings {
        &self.texts
    }

    /// Gives the texts away.
    pub(crate) fn into_texts(self) -> Strings {
        self.texts
    }

    /// Number of codes.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The code of a field in a text; `None` when it is new and is not text: not UTF-8, or with a
    /// NUL in it.
    #[inline]
    pub(crate) fn code(&mut self, text: &[u8], start: usize, end: usize) -> Option<u32> {
        let key = match text.get(start..).and_then(|rest| rest.first_chunk::<8>()) {
            Some(&eight) if end - start <= 7 => {
                let key = key_of_short(eight, end - start);
                match self.last {
                    Some((last, code)) if last == key => return Some(code),
                    _ => {
                        let code = self.find(key, &[]).or_else(|| self.insert(key, &text[start..end]))?;
                        self.last = Some((key, code));
                        return Some(code);
                    }
                }
            }
            _ => key_of(&text[start..end]),
        };
        if let Some(code) = self.find(key, &text[start..end]) {
            return Some(code);
        }
        self.insert(key, &text[start..end])
    }

    #[inline]
    fn first_slot(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn find(&self, key: u64, field: &[u8]) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mut slot = self.first_slot(key);
        loop {
            let (other, code) = self.slots[slot];
            if code == 0 {
                return None;
            }
            if other == key && (key & LONG == 0 || self.texts.get(code as usize - 1).as_bytes() == field) {
                return Some(code - 1);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    #[cold]
    fn insert(&mut self, key: u64, field: &[u8]) -> Option<u32> {
        let text = std::str::from_utf8(field).ok().filter(|text| !text.contains('\0'))?;
        if (self.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let code = self.len() as u32;
        self.texts.push(text);
        self.place(key, code + 1);
        Some(code)
    }

    fn place(&mut self, key: u64, code: u32) {
        let mut slot = self.first_slot(key);
        while self.slots[slot].1 != 0 {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = (key, code);
    }

    fn grow(&mut self) {
        let slots = vec![(0, 0); (self.slots.len() * 2).max(4)];
        for (key, code) in std::mem::replace(&mut self.slots, slots) {
            if code != 0 {
                self.place(key, code);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn codes_are_positions_of_first_arrival(fields in prop::collection::vec("[abé]{0,10}", 0..200)) {
            let mut dictionary = Dictionary::default();
            let mut expected: HashMap<&str, u32> = HashMap::new();
            for field in &fields {
                let next = expected.len() as u32;
                let code = *expected.entry(field).or_insert(next);
                let padded = format!("xx{field}yyyyyyyy");
                prop_assert_eq!(dictionary.code(padded.as_bytes(), 2, 2 + field.len()), Some(code));
                prop_assert_eq!(dictionary.code(field.as_bytes(), 0, field.len()), Some(code));
                prop_assert_eq!(dictionary.texts().get(code as usize), field);
            }
        }
    }

    #[test]
    fn what_is_not_text_gets_no_code() {
        assert_eq!(Dictionary::default().code(b"a\0", 0, 2), None);
        assert_eq!(Dictionary::default().code(b"a\xff", 0, 2), None);
    }
}
