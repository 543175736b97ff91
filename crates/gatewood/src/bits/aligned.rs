//! Words whose first one starts on a 64-byte boundary.

use std::alloc::{Layout, alloc_zeroed};
use std::ops::{Deref, DerefMut};

use super::BLOCK_WORDS;
use crate::{Error, Result, memory};

/// Bytes of a block: the first word is at a multiple of them.
const ALIGNMENT: usize = 8 * BLOCK_WORDS;

/// A fixed number of words, a multiple of [`BLOCK_WORDS`], the first on a 64-byte boundary.
#[derive(Default)]
pub struct AlignedWords {
    /// A few more than there are: the allocator zeroes words by itself, but not lines of the cache.
    room: Vec<u64>,
    /// Where the first is.
    first: usize,
    length: usize,
}

impl AlignedWords {
    /// No words.
    pub const fn empty() -> Self {
        Self { room: Vec::new(), first: 0, length: 0 }
    }

    /// Zeroed words, `words` rounded up to whole blocks.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn zeros(words: usize) -> Result<Self> {
        memory::check(words.saturating_mul(8))?;
        let missing =
            || Error::too_large(format!("{} bytes of memory are unavailable", words.saturating_mul(8)));
        let length = words.div_ceil(BLOCK_WORDS).checked_mul(BLOCK_WORDS).ok_or_else(missing)?;
        if length == 0 {
            return Ok(Self::empty());
        }
        let room = length.checked_add(BLOCK_WORDS - 1).ok_or_else(missing)?;
        let layout = Layout::array::<u64>(room).map_err(|_| missing())?;
        // Fresh pages are zero: large blocks are first touched by the threads that fill them.
        // SAFETY: the layout is not empty.
        let pointer = unsafe { alloc_zeroed(layout) }.cast::<u64>();
        if pointer.is_null() {
            return Err(missing());
        }
        // SAFETY: the global allocator, which `Vec` uses, gave room for so many words, and zeros are words.
        let room = unsafe { Vec::from_raw_parts(pointer, room, room) };
        Ok(Self { first: room.as_ptr().align_offset(ALIGNMENT), room, length })
    }
}

impl Clone for AlignedWords {
    fn clone(&self) -> Self {
        let mut room = vec![0; if self.length == 0 { 0 } else { self.length + BLOCK_WORDS - 1 }];
        let first = if self.length == 0 { 0 } else { room.as_ptr().align_offset(ALIGNMENT) };
        room[first..first + self.length].copy_from_slice(self);
        Self { room, first, length: self.length }
    }
}

impl AlignedWords {
    /// The bytes of all words, in the order they have in memory.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: every word is eight initialised bytes.
        unsafe { std::slice::from_raw_parts(self.as_ptr().cast(), size_of_val(&**self)) }
    }

    /// The same, to be written.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, the borrow is unique, and any bytes are words.
        unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr().cast(), size_of_val(&**self)) }
    }
}

impl Deref for AlignedWords {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.room[self.first..self.first + self.length]
    }
}

impl DerefMut for AlignedWords {
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.room[self.first..self.first + self.length]
    }
}

impl std::fmt::Debug for AlignedWords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for AlignedWords {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl Eq for AlignedWords {}
