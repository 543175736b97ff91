// Planes of images, and patterns that are judged on them: a thread has 32 rows, which are a word of a place.

#include "device.h"

// Places are as many words one after the other as a sample has, those of a place side by side.
//
// Lays out picked rows place by place. 0: rows, 1: words of 32 bits of a row, 2: picks or none for the rows as they are, 3: how
// many of the lower side, 4: of the upper side, 5: words of the lower side, 6: of both, 7: places. A block has 32 places of eight
// words.
KERNEL(lay_out_places) {
    const u32 *rows = POINTER(const u32, 0), *picks = POINTER(const u32, 2);
    u32 split = (u32)NUMBER(5), words = (u32)NUMBER(6), *places = POINTER(u32, 7);
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    u32 *tile = (u32 *)shared_words;
    for (u32 part = warp; part < 8; part += warps) {
        u32 word = 8 * blockIdx.x + part;
        bool is_upper = word >= split;
        u32 pick = 32 * (is_upper ? word - split : word) + lane;
        bool is_there = word < words && pick < (u32)(is_upper ? NUMBER(4) : NUMBER(3));
        u32 place = pick + (is_upper ? (u32)NUMBER(3) : 0);
        u64 row = is_there ? (picks ? picks[place] : place) : 0;
        u32 read = is_there ? rows[row * NUMBER(1) + blockIdx.y] : 0, own = 0;
#pragma unroll
        for (u32 bit = 0; bit < 32; bit++) {
            u32 said = __ballot_sync(0xffffffffu, read >> bit & 1);
            own = bit == lane ? said : own;
        }
        tile[lane * 9 + part] = own;
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < 256; i += blockDim.x) {
        u32 place = i / 8, word = 8 * blockIdx.x + i % 8;
        if (word < words) places[(32 * (u64)blockIdx.y + place) * words + word] = tile[place * 9 + i % 8];
    }
}

// A pattern to be looked for: where its literals begin and how many it has, its shifts across and down, where its thresholds begin
// and how many it has.
struct Looked {
    u32 first, literals, across, down, threshold, thresholds, unused, unused_too;
};

// The most literals and thresholds of a pattern.
const u32 MOST_LITERALS = 16;
const u32 MOST_THRESHOLDS = 64;

// The cells that patterns of a tree part rows into, before its last.
const u32 MOST_CELLS = 8;

// Adds four words, a bit each, to a count whose bits are words.
template <int BITS> __device__ inline void add_four(u32 *counts, const u32 *found) {
    u32 one = found[0] ^ found[1] ^ found[2];
    u32 two = (found[0] & found[1]) | (found[2] & (found[0] | found[1]));
    u32 carry = (one & found[3]) | (counts[0] & (one | found[3]));
    counts[0] ^= one ^ found[3];
    u32 sum = two ^ carry ^ counts[1];
    carry = (two & carry) | (counts[1] & (two | carry));
    counts[1] = sum;
#pragma unroll
    for (int b = 2; b < BITS; b++) {
        u32 next = counts[b] & carry;
        counts[b] ^= carry;
        carry = next;
    }
}

// Counts the shifts that match, a bit of the count being a word. A literal is its place times two, plus one where it must be
// one. Four shifts are read before they are looked at.
template <int LITERALS, int BITS>
__device__ inline void count_shifts(const u32 *planes, u64 stride, u32 width, const Looked &s, const u32 *literals, u32 *counts) {
    u32 many = LITERALS ? LITERALS : s.literals, own[BITS];
#pragma unroll
    for (int b = 0; b < BITS; b++) own[b] = 0;
    for (u32 y = 0; y < s.down; y++) {
        for (u32 x = 0; x < s.across; x += 4) {
            u32 found[4];
#pragma unroll
            for (u32 k = 0; k < 4; k++) found[k] = x + k < s.across ? 0xffffffffu : 0;
#pragma unroll
            for (u32 l = 0; l < many; l++) {
                u32 flip = literals[l] & 1 ? 0 : 0xffffffffu;
                const u32 *place = planes + (literals[l] / 2 + y * width + x) * stride;
#pragma unroll
                for (u32 k = 0; k < 4; k++) found[k] &= (x + k < s.across ? place[k * stride] : 0) ^ flip;
            }
            add_four<BITS>(own, found);
        }
    }
#pragma unroll
    for (int b = 0; b < BITS; b++) counts[b] = own[b];
}

template <int BITS>
__device__ inline void count_shifts_of(const u32 *planes, u64 stride, u32 width, const Looked &s, const u32 *literals, u32 *counts) {
    switch (s.literals) {
    case 1: count_shifts<1, BITS>(planes, stride, width, s, literals, counts); break;
    case 2: count_shifts<2, BITS>(planes, stride, width, s, literals, counts); break;
    case 3: count_shifts<3, BITS>(planes, stride, width, s, literals, counts); break;
    case 4: count_shifts<4, BITS>(planes, stride, width, s, literals, counts); break;
    case 5: count_shifts<5, BITS>(planes, stride, width, s, literals, counts); break;
    case 6: count_shifts<6, BITS>(planes, stride, width, s, literals, counts); break;
    default: count_shifts<0, BITS>(planes, stride, width, s, literals, counts);
    }
}

// Bits of counts up to 4,095, and up to any.
const int USUAL_BITS = 12;
const int MOST_BITS = 30;

// The same for any pattern; of few shifts, only the usual bits are written.
__device__ __noinline__ void count_looked(const u32 *planes, u64 stride, u32 width, const Looked &s, const u32 *literals,
                                          u32 *counts) {
    if (s.across * s.down < 1u << USUAL_BITS) count_shifts_of<USUAL_BITS>(planes, stride, width, s, literals, counts);
    else count_shifts<0, MOST_BITS>(planes, stride, width, s, literals, counts);
}

// The rows whose count is at least so many.
__device__ inline u32 at_least(const u32 *counts, int bits, u32 threshold) {
    u32 more = 0, same = 0xffffffffu;
    for (int b = bits - 1; b >= 0; b--) {
        more |= threshold >> b & 1 ? 0 : same & counts[b];
        same &= threshold >> b & 1 ? counts[b] : ~counts[b];
    }
    return more | same;
}

__device__ inline u32 rows_there(u32 rows, u32 word) {
    u32 first = word * 32;
    return first + 32 <= rows ? 0xffffffffu : first < rows ? (1u << (rows - first)) - 1 : 0;
}

// How well patterns separate the sides of a sample, a block for each. 0: places, 1: words of a place, 2: places of a line,
// 3: patterns, 4: literals, 5: thresholds, 6: columns that part the rows, 7: how many, 8: words of the lower side, 9: rows of the
// lower side, 10: of the upper side, 11: x log x, 12: a score and the place of a threshold for each pattern.
KERNEL_OF_SOME(judge_patterns) {
    const u32 *planes = POINTER(const u32, 0), *parts = POINTER(const u32, 6);
    u32 stride = (u32)NUMBER(1), width = (u32)NUMBER(2), columns = (u32)NUMBER(7), cells = 1u << columns;
    u32 split = (u32)NUMBER(8), lower = (u32)NUMBER(9), upper = (u32)NUMBER(10);
    const i64 *logs = POINTER(const i64, 11);
    i64 *scores = (i64 *)shared_words;
    Looked &s = *(Looked *)(scores + MOST_THRESHOLDS);
    u32 *literals = (u32 *)(&s + 1), *thresholds = literals + MOST_LITERALS;
    // For each threshold and cell how many rows of both sides match; then for each cell all its rows.
    u32 *ones = thresholds + MOST_THRESHOLDS;
    if (threadIdx.x == 0) s = POINTER(const Looked, 3)[blockIdx.x];
    __syncthreads();
    for (u32 i = threadIdx.x; i < s.literals; i += blockDim.x) literals[i] = POINTER(const u32, 4)[s.first + i];
    for (u32 i = threadIdx.x; i < s.thresholds; i += blockDim.x) thresholds[i] = POINTER(const u32, 5)[s.threshold + i];
    for (u32 i = threadIdx.x; i < 2 * cells * (s.thresholds + 1); i += blockDim.x) ones[i] = 0;
    __syncthreads();
    bool is_usual = s.across * s.down < 1u << USUAL_BITS;
    for (u32 first = 0; first < stride; first += blockDim.x) {
        u32 word = first + threadIdx.x;
        bool is_there = word < stride, is_upper = word >= split;
        u32 counts[MOST_BITS], cell_rows[MOST_CELLS];
        if (is_there) count_looked(planes + word, stride, width, s, literals, counts);
        u32 there = !is_there ? 0 : is_upper ? rows_there(upper, word - split) : rows_there(lower, word);
#pragma unroll
        for (u32 cell = 0; cell < MOST_CELLS; cell++) {
            cell_rows[cell] = there;
            for (u32 column = 0; column < columns && is_there; column++) {
                u32 said = parts[column * stride + word];
                cell_rows[cell] &= cell >> column & 1 ? said : ~said;
            }
        }
        for (u32 t = 0; t <= s.thresholds; t++) {
            u32 found = t == s.thresholds ? 0xffffffffu : at_least(counts, is_usual ? USUAL_BITS : MOST_BITS, thresholds[t]);
#pragma unroll
            for (u32 cell = 0; cell < MOST_CELLS; cell++) {
                if (cell >= cells) break;
                // Both sides in one number: a warp has at most 1,024 rows.
                u32 both = warp_sum(__popc(found & cell_rows[cell]) << (is_upper ? 16 : 0));
                if (threadIdx.x % 32 == 0 && both) {
                    u32 *at = ones + 2 * (t * cells + cell);
                    atomicAdd(at, both & 0xffffu);
                    atomicAdd(at + 1, both >> 16);
                }
            }
        }
    }
    __syncthreads();
    for (u32 t = threadIdx.x; t < s.thresholds; t += blockDim.x) {
        i64 score = 0;
        for (u32 cell = 0; cell < cells; cell++) {
            const u32 *found = ones + 2 * (t * cells + cell), *all = ones + 2 * (s.thresholds * cells + cell);
            u32 others[2] = {all[0] - found[0], all[1] - found[1]};
            score += logs[found[0]] + logs[found[1]] - logs[found[0] + found[1]];
            score += logs[others[0]] + logs[others[1]] - logs[others[0] + others[1]];
        }
        scores[t] = score;
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    u32 best = 0;
    for (u32 t = 1; t < s.thresholds; t++) best = scores[t] > scores[best] ? t : best;
    i64 *out = POINTER(i64, 12) + 2 * blockIdx.x;
    out[0] = scores[best];
    out[1] = best;
}

// Which rows match patterns as often as their first threshold says, a column for each. 0: places, 1: words of a place, 2: places of
// a line, 3: patterns, 4: literals, 5: thresholds, 6: columns.
KERNEL_OF_FEW(match_patterns) {
    u32 stride = (u32)NUMBER(1), *columns = POINTER(u32, 6) + blockIdx.y * (u64)stride;
    Looked s = POINTER(const Looked, 3)[blockIdx.y];
    const u32 *literals = POINTER(const u32, 4) + s.first;
    u32 threshold = POINTER(const u32, 5)[s.threshold];
    for (u64 word = this_thread(); word < stride; word += all_threads()) {
        u32 counts[MOST_BITS];
        count_looked(POINTER(const u32, 0) + word, stride, (u32)NUMBER(2), s, literals, counts);
        columns[word] = at_least(counts, s.across * s.down < 1u << USUAL_BITS ? USUAL_BITS : MOST_BITS, threshold);
    }
}

// The addresses of rows in a tree of at most four columns. 0: columns, 1: words of a column, 2: how many, 3: addresses.
KERNEL_ALONE(pack_addresses) {
    const u32 *columns = POINTER(const u32, 0);
    u64 words = NUMBER(1);
    u32 *addresses = POINTER(u32, 3);
    for (u64 word = this_thread(); word < words; word += all_threads()) {
        u32 read[4];
#pragma unroll
        for (u32 j = 0; j < 4; j++) read[j] = j < NUMBER(2) ? columns[j * words + word] : 0;
#pragma unroll
        for (u32 row = 0; row < 32; row += 2) {
            u32 both = 0;
#pragma unroll
            for (u32 j = 0; j < 4; j++) both |= (read[j] >> row & 1) << j | (read[j] >> (row + 1) & 1) << (16 + j);
            addresses[16 * word + row / 2] = both;
        }
    }
}
