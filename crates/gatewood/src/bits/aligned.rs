//! Words whose first one starts on a 64-byte boundary.

use std::ops::{Deref, DerefMut};

use super::BLOCK_WORDS;
use crate::{Error, Result, memory};

/// 512 bits, aligned as the widest vector load likes them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Block([u64; BLOCK_WORDS]);

/// A fixed number of words, a multiple of [`BLOCK_WORDS`], the first on a 64-byte boundary.
#[derive(Clone)]
pub struct AlignedWords {
    blocks: Vec<Block>,
}

impl AlignedWords {
    /// No words.
    pub fn empty() -> Self {
        Self { blocks: Vec::new() }
    }

    /// Zeroed words, `words` rounded up to whole blocks.
    ///
    /// # Errors
    /// When the memory is not to be had.
    pub fn zeros(words: usize) -> Result<Self> {
        memory::check(words.saturating_mul(8))?;
        let blocks_needed = words.div_ceil(BLOCK_WORDS);
        let mut blocks = Vec::new();
        blocks.try_reserve_exact(blocks_needed).map_err(|_| {
            Error::too_large(format!("{} bytes of memory are not to be had", words.saturating_mul(8)))
        })?;
        blocks.resize(blocks_needed, Block([0; BLOCK_WORDS]));
        Ok(Self { blocks })
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
