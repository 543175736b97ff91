//! Packed bits: the matrix all learning and running works on, and the kernels over its columns.
//!
//! - [`BitMatrix`]: one column of packed bits per input, one bit per row.
//! - [`BitView`]: the same, borrowed; what the learners and circuits take.
//! - [`OutOfMemoryError`]: an allocator for programs that ends them with a sentence when memory runs out.
//! - [`kernels`]: counting and evaluating at the best SIMD level of this machine.
//! - [`mod@reference`]: the same, one bit at a time: the definition that the kernels are tested against.

mod aligned;
mod allocator;
pub mod kernels;
mod matrix;
pub mod reference;
mod transpose;

pub use aligned::AlignedWords;
pub use allocator::OutOfMemoryError;
pub(crate) use matrix::packed_row_bytes;
pub use matrix::{BitMatrix, BitView};
pub use transpose::transpose_packed;

/// The largest arity of a gate: 4,096 addresses.
pub const MAX_ARITY: usize = 12;

/// Rows in one word.
pub const WORD_BITS: usize = u64::BITS as usize;

/// Words in one block: 512 bits, the widest vector a kernel uses. Columns are padded to whole blocks.
pub const BLOCK_WORDS: usize = 8;

/// Words that hold `rows` bits, without padding.
pub const fn words_for(rows: usize) -> usize {
    rows.div_ceil(WORD_BITS)
}

/// Words that hold `rows` bits, padded to whole blocks.
pub const fn padded_words_for(rows: usize) -> usize {
    words_for(rows).next_multiple_of(BLOCK_WORDS)
}
