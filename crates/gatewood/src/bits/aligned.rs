//! Words whose first one starts on a 64-byte boundary.

use std::alloc::{Layout, alloc_zeroed};
use std::ops::{Deref, DerefMut};

use super::BLOCK_WORDS;
use crate::{Error, Result, memory};

/// 512 bits, aligned as the widest vector load likes them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Block([u64; BLOCK_WORDS]);

/// A fixed number of words, a multiple of [`BLOCK_WORDS`], the first on a 64-byte boundary.
#[derive(Clone, Default)]
pub struct AlignedWords {
    blocks: Vec<Block>,
}

impl AlignedWords {
    /// No words.
    pub const fn empty() -> Self {
        Self { blocks: Vec::new() }
    }

    /// Zeroed words, `words` rounded up to whole blocks.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn zeros(words: usize) -> Result<Self> {
        memory::check(words.saturating_mul(8))?;
        let missing =
            || Error::too_large(format!("{} bytes of memory are unavailable", words.saturating_mul(8)));
        let length = words.div_ceil(BLOCK_WORDS);
        let layout = Layout::array::<Block>(length).map_err(|_| missing())?;
        if layout.size() == 0 {
            return Ok(Self::empty());
        }
        // Fresh pages are zero: large blocks are first touched by the threads that fill them.
        // SAFETY: the layout is not empty.
        let pointer = unsafe { alloc_zeroed(layout) }.cast::<Block>();
        if pointer.is_null() {
            return Err(missing());
        }
        // SAFETY: the global allocator, which `Vec` uses, gave room for `length` blocks, and zeros are blocks.
        let blocks = unsafe { Vec::from_raw_parts(pointer, length, length) };
        Ok(Self { blocks })
    }
}

impl AlignedWords {
    /// The bytes of all words, in the order they have in memory.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: as in `deref`, and every word is eight initialised bytes.
        unsafe {
            std::slice::from_raw_parts(self.blocks.as_ptr().cast(), self.blocks.len() * size_of::<Block>())
        }
    }

    /// The same, to be written.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, the borrow is unique, and any bytes are words.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.blocks.as_mut_ptr().cast(),
                self.blocks.len() * size_of::<Block>(),
            )
        }
    }
}

impl Deref for AlignedWords {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        // SAFETY: `Block` is `repr(C)` around `[u64; 8]` with size 64 and no padding, so `n` blocks are `8 n`
        // initialised words.
        unsafe { std::slice::from_raw_parts(self.blocks.as_ptr().cast(), self.blocks.len() * BLOCK_WORDS) }
    }
}

impl DerefMut for AlignedWords {
    fn deref_mut(&mut self) -> &mut [u64] {
        // SAFETY: as in `deref`, and the borrow is unique.
        unsafe {
            std::slice::from_raw_parts_mut(self.blocks.as_mut_ptr().cast(), self.blocks.len() * BLOCK_WORDS)
        }
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
