//! The vector of each level, and how it counts its ones. All intrinsics are here.

/// A vector of whole words. The methods are to be inlined into functions compiled for the vector's level.
///
/// # Safety
/// Kernels read and write memory by what an implementation says of itself: a vector has `WORDS` words, [`Vector::load`] and
/// [`Vector::store`] touch no others, and [`Vector::Four`] has four words at the most. A type whose methods take
/// instructions that not every machine has may only be named where `levels!` names it, in functions compiled for its level.
pub(super) unsafe trait Vector: Copy {
    /// Words in a vector.
    const WORDS: usize;
    /// Vectors a [`Vector::Counter`] takes before it must be drained.
    const COUNTER_LIMIT: usize;
    /// Whether counting the ones of a vector takes more operations than a carry-save adder.
    const CARRY_SAVE: bool;
    /// Counts ones, lane by lane.
    type Counter: Copy;
    /// A vector of the same level of at most four words.
    type Four: Vector;

    /// All bits zero.
    fn zero() -> Self;
    /// Loads a vector.
    ///
    /// # Safety
    /// `WORDS` words must be readable at `from`.
    unsafe fn load(from: *const u64) -> Self;
    /// Stores a vector.
    ///
    /// # Safety
    /// `WORDS` words must be writable at `to`.
    unsafe fn store(self, to: *mut u64);
    /// Bitwise and.
    fn and(self, other: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Bitwise not.
    fn not(self) -> Self;
    /// `one` where `select` is one, else `zero`.
    fn mux(select: Self, zero: Self, one: Self) -> Self;

    /// Shifts bits up within words.
    fn shift_left<const BY: i32>(self) -> Self;
    /// Shifts bits down within words.
    fn shift_right<const BY: i32>(self) -> Self;
    /// All bytes alike.
    fn splat(byte: u8) -> Self {
        Self::splat_pair(u16::from_ne_bytes([byte; 2]))
    }
    /// All pairs of bytes alike.
    fn splat_pair(pair: u16) -> Self;
    /// Adds byte by byte; no sum may exceed a byte.
    fn add_bytes(self, other: Self) -> Self;
    /// Adds pair of bytes by pair; no sum may exceed a pair.
    fn add_pairs(self, other: Self) -> Self;
    /// For each byte, the entry of the table that it names, from 0 to 15.
    fn look_up(table: &[u8; 16], index: Self) -> Self;
    /// For each byte, that of `one` where the top bit of `select` is one, else that of `zero`.
    fn choose(select: Self, zero: Self, one: Self) -> Self;

    /// A counter at zero.
    fn counter() -> Self::Counter;
    /// Adds the ones of a vector.
    fn add(counter: Self::Counter, vector: Self) -> Self::Counter;
    /// The ones counted.
    fn total(counter: Self::Counter) -> u64;
    /// The ones that each of four counters has counted, of at most 31 vectors.
    #[inline(always)]
    fn totals(counters: [Self::Counter; 4]) -> [u32; 4] {
        counters.map(|counter| Self::total(counter) as u32)
    }

    /// The bits of a word at the ones of a mask, moved together at the low end.
    #[inline(always)]
    fn extract(word: u64, mask: u64) -> u64 {
        let mut left = mask;
        let mut bits = 0;
        let mut at = 0;
        while left != 0 {
            bits |= (word >> left.trailing_zeros() & 1) << at;
            left &= left - 1;
            at += 1;
        }
        bits
    }
}

/// A pair of words: enough for the target's default vectors (SSE2, NEON) and for plain registers.
pub(super) type Portable = [u64; 2];

// SAFETY: two words, loaded and stored whole, with the instructions that every machine has.
unsafe impl Vector for [u64; 2] {
    const WORDS: usize = 2;
    const COUNTER_LIMIT: usize = usize::MAX;
    const CARRY_SAVE: bool = !cfg!(target_feature = "popcnt");
    type Counter = u64;
    type Four = Self;

    #[inline(always)]
    fn zero() -> Self {
        [0; 2]
    }
    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: the caller's promise; the read needs no alignment.
        unsafe { from.cast::<Self>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: the caller's promise; the write needs no alignment.
        unsafe { to.cast::<Self>().write_unaligned(self) }
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        [self[0] & other[0], self[1] & other[1]]
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        [self[0] ^ other[0], self[1] ^ other[1]]
    }
    #[inline(always)]
    fn not(self) -> Self {
        [!self[0], !self[1]]
    }
    #[inline(always)]
    fn mux(select: Self, zero: Self, one: Self) -> Self {
        zero.xor(select.and(zero.xor(one)))
    }
    #[inline(always)]
    fn shift_left<const BY: i32>(self) -> Self {
        self.map(|word| word << BY)
    }
    #[inline(always)]
    fn shift_right<const BY: i32>(self) -> Self {
        self.map(|word| word >> BY)
    }
    #[inline(always)]
    fn splat_pair(pair: u16) -> Self {
        [u64::splat_pair(pair); 2]
    }
    #[inline(always)]
    fn add_bytes(self, other: Self) -> Self {
        [self[0].add_bytes(other[0]), self[1].add_bytes(other[1])]
    }
    #[inline(always)]
    fn add_pairs(self, other: Self) -> Self {
        [self[0].add_pairs(other[0]), self[1].add_pairs(other[1])]
    }
    #[inline(always)]
    fn look_up(table: &[u8; 16], index: Self) -> Self {
        index.map(|index| u64::look_up(table, index))
    }
    #[inline(always)]
    fn choose(select: Self, zero: Self, one: Self) -> Self {
        [u64::choose(select[0], zero[0], one[0]), u64::choose(select[1], zero[1], one[1])]
    }
    #[inline(always)]
    fn counter() -> u64 {
        0
    }
    #[inline(always)]
    fn add(counter: u64, vector: Self) -> u64 {
        counter + u64::from(vector[0].count_ones() + vector[1].count_ones())
    }
    #[inline(always)]
    fn total(counter: u64) -> u64 {
        counter
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512, has_avx2, has_avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Vector;

    /// Whether this machine runs the AVX2 level.
    pub(crate) fn has_avx2() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
    }

    /// Whether this machine runs the AVX-512 level.
    pub(crate) fn has_avx512() -> bool {
        has_avx2()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vpopcntdq")
    }

    /// 256 bits. Ones are counted per byte with two look-ups of a nibble each.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(__m256i);

    // SAFETY (every block below): the methods are inlined only into functions compiled for AVX2, which
    // `Kernels` calls only where `has_avx2` holds; loads and stores are unaligned, of four words, and within the caller's
    // promise.
    #[allow(clippy::undocumented_unsafe_blocks)]
    unsafe impl Vector for Avx2 {
        const WORDS: usize = 4;
        // A byte lane counts at most 8 a vector and holds 255.
        const COUNTER_LIMIT: usize = 31;
        const CARRY_SAVE: bool = true;
        type Counter = __m256i;
        type Four = Self;

        #[inline(always)]
        fn zero() -> Self {
            Avx2(unsafe { _mm256_setzero_si256() })
        }
        #[inline(always)]
        unsafe fn load(from: *const u64) -> Self {
            Avx2(unsafe { _mm256_loadu_si256(from.cast()) })
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut u64) {
            unsafe { _mm256_storeu_si256(to.cast(), self.0) }
        }
        #[inline(always)]
        fn and(self, other: Self) -> Self {
            Avx2(unsafe { _mm256_and_si256(self.0, other.0) })
        }
        #[inline(always)]
        fn xor(self, other: Self) -> Self {
            Avx2(unsafe { _mm256_xor_si256(self.0, other.0) })
        }
        #[inline(always)]
        fn not(self) -> Self {
            Avx2(unsafe { _mm256_xor_si256(self.0, _mm256_set1_epi8(-1)) })
        }
        #[inline(always)]
        fn mux(select: Self, zero: Self, one: Self) -> Self {
            Avx2(unsafe {
                _mm256_or_si256(_mm256_and_si256(select.0, one.0), _mm256_andnot_si256(select.0, zero.0))
            })
        }
        #[inline(always)]
        fn shift_left<const BY: i32>(self) -> Self {
            Avx2(unsafe { _mm256_slli_epi64::<BY>(self.0) })
        }
        #[inline(always)]
        fn shift_right<const BY: i32>(self) -> Self {
            Avx2(unsafe { _mm256_srli_epi64::<BY>(self.0) })
        }
        #[inline(always)]
        fn splat_pair(pair: u16) -> Self {
            Avx2(unsafe { _mm256_set1_epi16(pair as i16) })
        }
        #[inline(always)]
        fn add_bytes(self, other: Self) -> Self {
            Avx2(unsafe { _mm256_add_epi8(self.0, other.0) })
        }
        #[inline(always)]
        fn add_pairs(self, other: Self) -> Self {
            Avx2(unsafe { _mm256_add_epi16(self.0, other.0) })
        }
        #[inline(always)]
        fn look_up(table: &[u8; 16], index: Self) -> Self {
            Avx2(unsafe {
                let table = _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()));
                _mm256_shuffle_epi8(table, index.0)
            })
        }
        #[inline(always)]
        fn choose(select: Self, zero: Self, one: Self) -> Self {
            Avx2(unsafe { _mm256_blendv_epi8(zero.0, one.0, select.0) })
        }
        #[inline(always)]
        fn counter() -> __m256i {
            unsafe { _mm256_setzero_si256() }
        }
        #[inline(always)]
        fn add(counter: __m256i, vector: Self) -> __m256i {
            unsafe {
                let ones = _mm256_setr_epi8(
                    0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3,
                    3, 4,
                );
                let nibble = _mm256_set1_epi8(15);
                let low = _mm256_and_si256(vector.0, nibble);
                let high = _mm256_and_si256(_mm256_srli_epi16(vector.0, 4), nibble);
                let both = _mm256_add_epi8(_mm256_shuffle_epi8(ones, low), _mm256_shuffle_epi8(ones, high));
                _mm256_add_epi8(counter, both)
            }
        }
        #[inline(always)]
        fn total(counter: __m256i) -> u64 {
            unsafe {
                let sums = _mm256_sad_epu8(counter, _mm256_setzero_si256());
                let half = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
                (_mm_cvtsi128_si64(half) + _mm_extract_epi64(half, 1)) as u64
            }
        }
        #[inline(always)]
        fn totals(counters: [__m256i; 4]) -> [u32; 4] {
            unsafe {
                // Sums of a word are below 2^11: four fit beside each other in a word, and still do when words are added.
                let [a, b, c, d] = counters.map(|counter| _mm256_sad_epu8(counter, _mm256_setzero_si256()));
                let low = _mm256_or_si256(a, _mm256_slli_epi64(b, 16));
                let high = _mm256_or_si256(_mm256_slli_epi64(c, 32), _mm256_slli_epi64(d, 48));
                let all = _mm256_or_si256(low, high);
                let half = _mm_add_epi16(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
                let sums = _mm_add_epi16(half, _mm_unpackhi_epi64(half, half));
                let mut totals = [0; 4];
                _mm_storeu_si128(totals.as_mut_ptr().cast(), _mm_cvtepu16_epi32(sums));
                totals
            }
        }
        #[inline(always)]
        fn extract(word: u64, mask: u64) -> u64 {
            unsafe { _pext_u64(word, mask) }
        }
    }

    /// 512 bits, ones counted per word by VPOPCNTDQ.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(__m512i);

    // SAFETY (every block below): as for `Avx2`, with `has_avx512` and eight words.
    #[allow(clippy::undocumented_unsafe_blocks)]
    unsafe impl Vector for Avx512 {
        const WORDS: usize = 8;
        const COUNTER_LIMIT: usize = usize::MAX;
        const CARRY_SAVE: bool = false;
        type Counter = __m512i;
        type Four = Avx2;

        #[inline(always)]
        fn zero() -> Self {
            Avx512(unsafe { _mm512_setzero_si512() })
        }
        #[inline(always)]
        unsafe fn load(from: *const u64) -> Self {
            Avx512(unsafe { _mm512_loadu_si512(from.cast()) })
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut u64) {
            unsafe { _mm512_storeu_si512(to.cast(), self.0) }
        }
        #[inline(always)]
        fn and(self, other: Self) -> Self {
            Avx512(unsafe { _mm512_and_si512(self.0, other.0) })
        }
        #[inline(always)]
        fn xor(self, other: Self) -> Self {
            Avx512(unsafe { _mm512_xor_si512(self.0, other.0) })
        }
        #[inline(always)]
        fn not(self) -> Self {
            Avx512(unsafe { _mm512_ternarylogic_epi64(self.0, self.0, self.0, 0x55) })
        }
        #[inline(always)]
        fn mux(select: Self, zero: Self, one: Self) -> Self {
            // The third operand is bit 0 of the index into the constant, the first is bit 2.
            Avx512(unsafe { _mm512_ternarylogic_epi64(select.0, one.0, zero.0, 0xca) })
        }
        #[inline(always)]
        fn shift_left<const BY: i32>(self) -> Self {
            Avx512(unsafe { _mm512_sll_epi64(self.0, _mm_cvtsi32_si128(BY)) })
        }
        #[inline(always)]
        fn shift_right<const BY: i32>(self) -> Self {
            Avx512(unsafe { _mm512_srl_epi64(self.0, _mm_cvtsi32_si128(BY)) })
        }
        #[inline(always)]
        fn splat_pair(pair: u16) -> Self {
            Avx512(unsafe { _mm512_set1_epi16(pair as i16) })
        }
        #[inline(always)]
        fn add_bytes(self, other: Self) -> Self {
            Avx512(unsafe { _mm512_add_epi8(self.0, other.0) })
        }
        #[inline(always)]
        fn add_pairs(self, other: Self) -> Self {
            Avx512(unsafe { _mm512_add_epi16(self.0, other.0) })
        }
        #[inline(always)]
        fn look_up(table: &[u8; 16], index: Self) -> Self {
            Avx512(unsafe {
                let table = _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().cast()));
                _mm512_shuffle_epi8(table, index.0)
            })
        }
        #[inline(always)]
        fn choose(select: Self, zero: Self, one: Self) -> Self {
            Avx512(unsafe { _mm512_mask_blend_epi8(_mm512_movepi8_mask(select.0), zero.0, one.0) })
        }
        #[inline(always)]
        fn counter() -> __m512i {
            unsafe { _mm512_setzero_si512() }
        }
        #[inline(always)]
        fn add(counter: __m512i, vector: Self) -> __m512i {
            unsafe { _mm512_add_epi64(counter, _mm512_popcnt_epi64(vector.0)) }
        }
        #[inline(always)]
        fn total(counter: __m512i) -> u64 {
            unsafe { _mm512_reduce_add_epi64(counter) as u64 }
        }
        #[inline(always)]
        fn totals(counters: [__m512i; 4]) -> [u32; 4] {
            unsafe {
                // Words count at most 64 a vector, so that four counts fit beside each other in a word, and still do when
                // words are added.
                let [a, b, c, d] = counters;
                let low = _mm512_or_si512(a, _mm512_slli_epi64(b, 16));
                let high = _mm512_or_si512(_mm512_slli_epi64(c, 32), _mm512_slli_epi64(d, 48));
                let all = _mm512_or_si512(low, high);
                let half = _mm256_add_epi16(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
                let half = _mm_add_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
                let sums = _mm_add_epi16(half, _mm_unpackhi_epi64(half, half));
                let mut totals = [0; 4];
                _mm_storeu_si128(totals.as_mut_ptr().cast(), _mm_cvtepu16_epi32(sums));
                totals
            }
        }
        #[inline(always)]
        fn extract(word: u64, mask: u64) -> u64 {
            unsafe { _pext_u64(word, mask) }
        }
    }
}

/// One word: what is left over after whole vectors.
// SAFETY: one word, with the instructions that every machine has.
unsafe impl Vector for u64 {
    const WORDS: usize = 1;
    const COUNTER_LIMIT: usize = usize::MAX;
    const CARRY_SAVE: bool = !cfg!(target_feature = "popcnt");
    type Counter = u64;
    type Four = Self;

    #[inline(always)]
    fn zero() -> Self {
        0
    }
    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: the caller's promise.
        unsafe { *from }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: the caller's promise.
        unsafe { *to = self }
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }
    #[inline(always)]
    fn not(self) -> Self {
        !self
    }
    #[inline(always)]
    fn mux(select: Self, zero: Self, one: Self) -> Self {
        zero ^ (select & (zero ^ one))
    }
    #[inline(always)]
    fn shift_left<const BY: i32>(self) -> Self {
        self << BY
    }
    #[inline(always)]
    fn shift_right<const BY: i32>(self) -> Self {
        self >> BY
    }
    #[inline(always)]
    fn splat_pair(pair: u16) -> Self {
        u64::from(pair) * 0x0001_0001_0001_0001
    }
    #[inline(always)]
    fn add_bytes(self, other: Self) -> Self {
        // No byte overflows into the next.
        self + other
    }
    #[inline(always)]
    fn add_pairs(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn look_up(table: &[u8; 16], index: Self) -> Self {
        u64::from_le_bytes(index.to_le_bytes().map(|index| table[usize::from(index & 15)]))
    }
    #[inline(always)]
    fn choose(select: Self, zero: Self, one: Self) -> Self {
        let ones = (select >> 7 & u64::splat(1)) * 0xff;
        u64::mux(ones, zero, one)
    }
    #[inline(always)]
    fn counter() -> u64 {
        0
    }
    #[inline(always)]
    fn add(counter: u64, vector: Self) -> u64 {
        counter + u64::from(vector.count_ones())
    }
    #[inline(always)]
    fn total(counter: u64) -> u64 {
        counter
    }
}
