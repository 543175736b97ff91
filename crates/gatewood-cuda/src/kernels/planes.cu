// Planes of images, and patterns that are looked for on them: a thread has 32 rows, which are a word of a place.

#include "device.h"

// Places are as many words one after the other as a sample has, those of a place side by side.
//
// Turns 32 words of the lanes of a warp round: bit i of the word that lane j gets is bit j of that of lane i.
__device__ inline u32 transpose_lanes(u32 word) {
    u32 lane = threadIdx.x % 32, low = 0x0000ffffu;
#pragma unroll
    for (u32 step = 16; step > 0; step /= 2, low ^= low << step) {
        u32 other = __shfl_xor_sync(0xffffffffu, word, step);
        word = lane & step ? (word & ~low) | (other & ~low) >> step : (word & low) | (other & low) << step;
    }
    return word;
}

// A sample to be laid out: the picks of the lower side, which those of the upper side follow, or none for the rows as they are;
// how many there are of each; words of 32 bits of the lower side, and of both; where its places go.
struct ToLayOut {
    const u32 *picks;
    u64 lower, upper, split, words;
    u32 *places;
};

// Words of 32 places, and of 32 rows, that a block lays out.
const u32 PLACES_A_BLOCK = 8;
const u32 ROWS_A_BLOCK = 32;

// Lays out picked rows place by place. 0: rows, 1: words of 32 bits of a row, an even number, 2: samples, 3: lines of blocks of each.
KERNEL(lay_out_places) {
    ToLayOut sample = POINTER(const ToLayOut, 2)[blockIdx.y / (u32)NUMBER(3)];
    const u32 *rows = POINTER(const u32, 0);
    u32 width = (u32)NUMBER(1), line = blockIdx.y % (u32)NUMBER(3) * PLACES_A_BLOCK, begin = blockIdx.x * ROWS_A_BLOCK;
    u32 split = (u32)sample.split, words = (u32)sample.words;
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    u32 *tile = (u32 *)shared_words;
    if (begin >= words) return;
    for (u32 part = warp; part < ROWS_A_BLOCK; part += warps) {
        u32 word = begin + part;
        bool is_upper = word >= split;
        u32 pick = 32 * (is_upper ? word - split : word) + lane;
        bool is_there = word < words && pick < (u32)(is_upper ? sample.upper : sample.lower);
        u32 place = pick + (is_upper ? (u32)sample.lower : 0);
        u64 row = is_there ? (sample.picks ? sample.picks[place] : place) : 0;
        const u64 *from = (const u64 *)(rows + row * width + line);
        u64 read[PLACES_A_BLOCK / 2];
#pragma unroll
        for (u32 k = 0; k < PLACES_A_BLOCK / 2; k++) read[k] = is_there && line + 2 * k < width ? from[k] : 0;
#pragma unroll
        for (u32 k = 0; k < PLACES_A_BLOCK; k++) {
            tile[(32 * k + lane) * (ROWS_A_BLOCK + 1) + part] = transpose_lanes((u32)(read[k / 2] >> 32 * (k % 2)));
        }
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < 32 * PLACES_A_BLOCK * ROWS_A_BLOCK; i += blockDim.x) {
        u32 place = i / ROWS_A_BLOCK, word = begin + i % ROWS_A_BLOCK;
        if (word >= words || line + place / 32 >= width) continue;
        sample.places[(32 * (u64)line + place) * words + word] = tile[place * (ROWS_A_BLOCK + 1) + i % ROWS_A_BLOCK];
    }
}

// A pattern to be looked for: where its literals begin and how many it has, its shifts across and down, where its thresholds begin
// and how many it has.
struct Looked {
    u32 first, literals, across, down, threshold, thresholds, unused, unused_too;
};

// Adds two bits for each row to a count, four words of rows at a time: a bit of the count is four words.
template <int BITS> __device__ inline void add_two(Quad *counts, const Quad &one, const Quad &other) {
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        u32 a = one.words[k], b = other.words[k], low = counts[0].words[k], carry = (a & b) | (low & (a | b));
        counts[0].words[k] = low ^ a ^ b;
#pragma unroll
        for (int bit = 1; bit < BITS; bit++) {
            u32 next = counts[bit].words[k] & carry;
            counts[bit].words[k] ^= carry;
            carry = next;
        }
    }
}

// The rows where all literals of a pattern hold at a shift, four words of them. A literal is its place times two, plus one where
// it must be one.
template <int LITERALS>
__device__ inline Quad match(const u32 *planes, u64 stride, const Looked &s, const u32 *literals, u32 shift) {
    u32 many = LITERALS ? LITERALS : s.literals;
    Quad found = {{0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}};
#pragma unroll
    for (u32 l = 0; l < many; l++) {
        Quad read = *(const Quad *)(planes + (literals[l] / 2 + shift) * stride);
        u32 flip = literals[l] & 1 ? 0 : 0xffffffffu;
#pragma unroll
        for (u32 k = 0; k < 4; k++) found.words[k] &= read.words[k] ^ flip;
    }
    return found;
}

// Counts the shifts that match, of four words of rows: those every so many from one on up to another, two at a time.
template <int LITERALS, int BITS>
__device__ inline void count_shifts(const u32 *planes, u64 stride, u32 width, const Looked &s, const u32 *literals, u32 first,
                                    u32 every, u32 end, Quad *counts) {
#pragma unroll
    for (int bit = 0; bit < BITS; bit++) counts[bit] = {{0, 0, 0, 0}};
    u32 x = first % s.across, y = first / s.across;
    for (u32 shift = first; shift < end; shift += 2 * every) {
        Quad found[2] = {};
#pragma unroll
        for (u32 k = 0; k < 2; k++) {
            if (shift + k * every < end) found[k] = match<LITERALS>(planes, stride, s, literals, y * width + x);
            for (x += every; x >= s.across; y++) x -= s.across;
        }
        add_two<BITS>(counts, found[0], found[1]);
    }
}

template <int BITS>
__device__ inline void count_shifts_of(const u32 *planes, u64 stride, u32 width, const Looked &s, const u32 *literals, u32 first,
                                       u32 every, u32 end, Quad *counts) {
    switch (s.literals) {
    case 1: count_shifts<1, BITS>(planes, stride, width, s, literals, first, every, end, counts); break;
    case 2: count_shifts<2, BITS>(planes, stride, width, s, literals, first, every, end, counts); break;
    case 3: count_shifts<3, BITS>(planes, stride, width, s, literals, first, every, end, counts); break;
    case 4: count_shifts<4, BITS>(planes, stride, width, s, literals, first, every, end, counts); break;
    case 5: count_shifts<5, BITS>(planes, stride, width, s, literals, first, every, end, counts); break;
    case 6: count_shifts<6, BITS>(planes, stride, width, s, literals, first, every, end, counts); break;
    default: count_shifts<0, BITS>(planes, stride, width, s, literals, first, every, end, counts);
    }
}

// Bits of counts up to 4,095, and up to any.
const int USUAL_BITS = 12;
const int MOST_BITS = 30;

// How many bits the count of a pattern's shifts has.
__device__ inline int bits_of(const Looked &s) { return s.across * s.down < 1u << USUAL_BITS ? USUAL_BITS : MOST_BITS; }

// The rows whose count is at least so many; the bits of a count are so many words apart.
__device__ inline u32 at_least(const u32 *counts, u32 apart, int bits, u32 threshold) {
    u32 more = 0, same = 0xffffffffu;
    for (int b = bits - 1; b >= 0; b--) {
        u32 count = counts[b * apart];
        more |= threshold >> b & 1 ? 0 : same & count;
        same &= threshold >> b & 1 ? count : ~count;
    }
    return more | same;
}

// The rows where a pattern matches at least so often, four words of them.
template <int BITS>
__device__ inline Quad find(const u32 *planes, u64 stride, u32 width, const Looked &s, const u32 *literals, u32 threshold) {
    Quad counts[BITS], said;
    u32 shifts = s.across * s.down;
    if (BITS == USUAL_BITS) count_shifts_of<BITS>(planes, stride, width, s, literals, 0, 1, shifts, counts);
    else count_shifts<0, BITS>(planes, stride, width, s, literals, 0, 1, shifts, counts);
#pragma unroll
    for (u32 k = 0; k < 4; k++) said.words[k] = at_least(&counts[0].words[k], 4, BITS, threshold);
    return said;
}

__device__ __noinline__ Quad find_looked(const u32 *planes, u64 stride, u32 width, const Looked &s, const u32 *literals, u32 threshold) {
    if (bits_of(s) == USUAL_BITS) return find<USUAL_BITS>(planes, stride, width, s, literals, threshold);
    return find<MOST_BITS>(planes, stride, width, s, literals, threshold);
}

__device__ inline u32 rows_there(u32 rows, u32 word) {
    u32 first = word * 32;
    return first + 32 <= rows ? 0xffffffffu : first < rows ? (1u << (rows - first)) - 1 : 0;
}

// Which rows match patterns as often as their first threshold says, a column for each. 0: places, 1: words of a place, 2: places of
// a line, 3: patterns, 4: literals, 5: thresholds, 6: columns.
KERNEL_OF_FEW(match_patterns) {
    u32 stride = (u32)NUMBER(1), *columns = POINTER(u32, 6) + blockIdx.y * (u64)stride;
    Looked s = POINTER(const Looked, 3)[blockIdx.y];
    const u32 *literals = POINTER(const u32, 4) + s.first;
    u32 threshold = POINTER(const u32, 5)[s.threshold];
    // Four words at a time.
    for (u64 word = 4 * this_thread(); word < stride; word += 4 * all_threads()) {
        const u32 *planes = POINTER(const u32, 0) + word;
        *(Quad *)(columns + word) = find_looked(planes, stride, (u32)NUMBER(2), s, literals, threshold);
    }
}

// The addresses of rows in trees of at most four columns, a line of blocks for each. 0: columns, 1: words of a column, 2: for each tree
// its first column and how many it has, 3: for each tree where its addresses go.
KERNEL_ALONE(pack_addresses) {
    u64 words = NUMBER(1);
    const u32 *tree = POINTER(const u32, 2) + 2 * blockIdx.y, *columns = POINTER(const u32, 0) + tree[0] * words;
    u32 *addresses = (u32 *)POINTER(const u64, 3)[blockIdx.y];
    for (u64 word = this_thread(); word < words; word += all_threads()) {
        u32 read[4];
#pragma unroll
        for (u32 j = 0; j < 4; j++) read[j] = j < tree[1] ? columns[j * words + word] : 0;
#pragma unroll
        for (u32 row = 0; row < 32; row += 2) {
            u32 both = 0;
#pragma unroll
            for (u32 j = 0; j < 4; j++) both |= (read[j] >> row & 1) << j | (read[j] >> (row + 1) & 1) << (16 + j);
            addresses[16 * word + row / 2] = both;
        }
    }
}
