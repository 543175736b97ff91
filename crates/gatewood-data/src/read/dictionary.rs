//! Fields to small codes, by a hash table made for short fields.

use gatewood::encode::Strings;

/// Slots from which numbers are looked up without them.
const MANY: usize = 256;

/// An empty slot; no short field has this key.
const EMPTY: (u64, u32) = (u64::MAX, 0);

/// Marks the key of a field of more than seven bytes, which is only a hash.
const LONG: u64 = 1 << 63;

/// The distinct fields of one column, each with a code: its position in the order of arrival.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dictionary {
    /// A power of two of slots, or none; a code of zero is an empty slot, others are one more than the code.
    slots: Vec<(u64, u32)>,
    /// Where there are many codes: by the number a field is, if it is a small whole one, one more than its code, or zero.
    /// Takes less of the cache than the slots.
    direct: Vec<u16>,
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

#[inline]
fn first_slot(key: u64, mask: usize) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask
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

#[inline]
fn find(slots: &[(u64, u32)], texts: &Strings, key: u64, field: &[u8]) -> Option<u32> {
    let mask = slots.len().checked_sub(1)?;
    let mut slot = first_slot(key, mask);
    loop {
        let (other, code) = slots[slot];
        if code == 0 {
            return None;
        }
        if other == key && (key & LONG == 0 || texts.get(code as usize - 1).as_bytes() == field) {
            return Some(code - 1);
        }
        slot = (slot + 1) & mask;
    }
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

    /// Bytes that it may take besides those it has, for so many fields more.
    pub(crate) fn growth(&self, fields: usize) -> usize {
        let is_full = (self.len() + fields.min(self.len() + 1)) * 2 > self.slots.len();
        let slots = if is_full { 2 * self.slots.len() * size_of::<(u64, u32)>() } else { 0 };
        slots + self.texts.growth(fields)
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

    /// The codes there are, to look fields up.
    pub(crate) fn known(&self) -> Known<'_> {
        let digits = std::array::from_fn(|digit| {
            let code = self.find(key_of(&[b'0' + digit as u8]), &[]);
            code.map_or(u32::MAX, |code| code)
        });
        Known { digits, slots: &self.slots, direct: &self.direct, texts: &self.texts }
    }

    #[inline]
    fn find(&self, key: u64, field: &[u8]) -> Option<u32> {
        find(&self.slots, &self.texts, key, field)
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
        self.place_direct(field, code + 1);
        Some(code)
    }

    fn place(&mut self, key: u64, code: u32) {
        let mut slot = first_slot(key, self.slots.len() - 1);
        while self.slots[slot].1 != 0 {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = (key, code);
    }

    fn place_direct(&mut self, field: &[u8], code: u32) {
        if self.slots.len() < MANY || field.len() > 7 {
            return;
        }
        let mut eight = [0; 8];
        eight[..field.len()].copy_from_slice(field);
        if let (Some(number), Ok(code)) = (small_number(eight, field.len()), u16::try_from(code))
            && number < self.slots.len() * 16
            && number < 1 << 16
        {
            if number >= self.direct.len() {
                self.direct.resize((number + 1).next_power_of_two(), 0);
            }
            self.direct[number] = code;
        }
    }

    fn grow(&mut self) {
        let slots = vec![EMPTY; (self.slots.len() * 2).max(4)];
        for (key, code) in std::mem::replace(&mut self.slots, slots) {
            if code != 0 {
                self.place(key, code);
            }
        }
        if self.slots.len() == MANY {
            for code in 0..self.len() {
                let text = self.texts.get(code).as_bytes().to_vec();
                self.place_direct(&text, code as u32 + 1);
            }
        }
    }
}

/// The codes of a dictionary, for many fields to be looked up.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    /// The codes of the fields `0` to `9`, or the largest number there is.
    digits: [u32; 10],
    slots: &'a [(u64, u32)],
    direct: &'a [u16],
    texts: &'a Strings,
}

impl Known<'_> {
    /// Number of codes.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The code of a field of this one byte, if it is a digit.
    #[inline(always)]
    pub(crate) fn digit(&self, byte: u8) -> Option<u32> {
        let code = *self.digits.get(usize::from(byte.wrapping_sub(b'0')))?;
        (code != u32::MAX).then_some(code)
    }

    /// The code of a field in a text.
    #[inline(always)]
    pub(crate) fn code(&self, text: &[u8], start: usize, end: usize) -> Option<u32> {
        let length = end - start;
        match text.get(start..).and_then(|rest| rest.first_chunk::<8>()) {
            Some(&eight) if length <= 7 => {
                if !self.direct.is_empty()
                    && let Some(number) = small_number(eight, length)
                    && let Some(&code) = self.direct.get(number)
                    && code != 0
                {
                    return Some(u32::from(code) - 1);
                }
                let key = key_of_short(eight, length);
                let mask = self.slots.len().checked_sub(1)?;
                let mut slot = first_slot(key, mask);
                loop {
                    let (other, code) = self.slots[slot];
                    if other == key {
                        return Some(code - 1);
                    }
                    if code == 0 {
                        return None;
                    }
                    slot = (slot + 1) & mask;
                }
            }
            _ => self.long_code(&text[start..end]),
        }
    }

    #[inline(never)]
    fn long_code(&self, field: &[u8]) -> Option<u32> {
        find(self.slots, self.texts, key_of(field), field)
    }
}

/// The whole number of up to seven digits that starts the eight bytes, if it is written in the one usual way.
#[inline(always)]
fn small_number(eight: [u8; 8], length: usize) -> Option<usize> {
    let is_usual = (eight[0] != b'0') | (length == 1);
    // The last digit in the top byte, zeros before the first.
    let shift = (64 - 8 * length as u32) & 63;
    let digits = (u64::from_le_bytes(eight) << shift).wrapping_sub(0x3030_3030_3030_3030 << shift);
    let over_nine = digits.wrapping_add(0x7676_7676_7676_7676) | digits;
    if length == 0 || !is_usual || over_nine & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    Some((fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff) as usize)
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
                prop_assert_eq!(dictionary.known().code(padded.as_bytes(), 2, 2 + field.len()), (code < next).then_some(code));
                prop_assert_eq!(dictionary.code(padded.as_bytes(), 2, 2 + field.len()), Some(code));
                prop_assert_eq!(dictionary.known().code(padded.as_bytes(), 2, 2 + field.len()), Some(code));
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
