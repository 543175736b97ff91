// Gates and patterns as columns of all rows, and the votes of roots: a thread has 32 rows, which are a word of a column.

#include "device.h"

// Where the inputs of a gate begin among those of all, how many it has, where its table begins, and the column it makes.
struct Gate {
    u32 first, arity, table, column;
};

template <int ARITY>
__device__ inline u32 gate_word(const u32 *columns, u64 stride, const u32 *inputs, u64 table, u64 word) {
    u32 read[ARITY];
#pragma unroll
    for (int j = 0; j < ARITY; j++) read[j] = columns[inputs[j] * stride + word];
    return Lookup<ARITY>::word(table, read);
}

// The same for many inputs, row by row.
__device__ inline u32 wide_gate_word(u32 arity, const u32 *columns, u64 stride, const u32 *inputs, const u64 *table,
                                     u64 word) {
    u32 addresses[32];
#pragma unroll
    for (u32 k = 0; k < 32; k++) addresses[k] = 0;
    for (u32 j = 0; j < arity; j++) {
        u32 read = columns[inputs[j] * stride + word];
#pragma unroll
        for (u32 k = 0; k < 32; k++) addresses[k] |= (read >> k & 1) << j;
    }
    u32 says = 0;
#pragma unroll
    for (u32 k = 0; k < 32; k++) says |= (u32)(table[addresses[k] / 64] >> (addresses[k] % 64) & 1) << k;
    return says;
}

// Makes the columns of some gates. 0: columns, 1: words of 32 bits of a column, 2: words to make, 3: gates, 4: inputs,
// 5: tables, 6: the first gate.
KERNEL_OF_FEW(gates) {
    u32 *columns = POINTER(u32, 0);
    u64 stride = NUMBER(1), words = NUMBER(2);
    Gate gate = POINTER(const Gate, 3)[NUMBER(6) + blockIdx.y];
    const u32 *inputs = POINTER(const u32, 4) + gate.first;
    const u64 *table = POINTER(const u64, 5) + gate.table;
    u32 *made = columns + gate.column * stride;
    for (u64 word = this_thread(); word < words; word += all_threads()) {
        u32 says;
        switch (gate.arity) {
        case 1: says = gate_word<1>(columns, stride, inputs, *table, word); break;
        case 2: says = gate_word<2>(columns, stride, inputs, *table, word); break;
        case 3: says = gate_word<3>(columns, stride, inputs, *table, word); break;
        case 4: says = gate_word<4>(columns, stride, inputs, *table, word); break;
        case 5: says = gate_word<5>(columns, stride, inputs, *table, word); break;
        case 6: says = gate_word<6>(columns, stride, inputs, *table, word); break;
        default: says = wide_gate_word(gate.arity, columns, stride, inputs, table, word);
        }
        made[word] = says;
    }
}

// Roots with as many inputs each: how many inputs, how many roots, and where the inputs and the votes of the first begin. Those
// of the others follow.
struct Roots {
    u32 arity, count, inputs, votes;
};

// Adds the votes of a root for 32 rows, given what its inputs say of them. SIZE is the power of two from ARITY on.
template <int SIZE> __device__ __forceinline__ void add_votes(u32 *read, const i32 *votes, i32 *sums) {
    transpose_inputs<SIZE>(read);
#pragma unroll
    for (u32 k = 0; k < 32; k++) sums[k] += votes[read[k % SIZE] >> k / SIZE * SIZE & ((1u << SIZE) - 1)];
}

// The vote of row k of 32, as add_votes finds it: the address is brought to where it counts bytes.
template <int SIZE> __device__ inline i32 vote_of(const u32 *read, u32 k, const i32 *votes) {
    u32 shift = k / SIZE * SIZE, word = read[k % SIZE];
    u32 offset = (shift < 2 ? word << (2 - shift) : word >> (shift - 2)) & ((1u << SIZE) - 1) << 2;
    return *(const i32 *)((const char *)votes + offset);
}

// The same for small votes: two rows are added to one number, each to a half of it. The votes of the upper half are beside the
// others, 16 bits higher.
template <int SIZE> __device__ __forceinline__ void add_halves(u32 *read, const i32 *votes, u32 count, i32 *sums) {
    transpose_inputs<SIZE>(read);
#pragma unroll
    for (u32 k = 0; k < 16; k++) sums[k] += vote_of<SIZE>(read, k, votes) + vote_of<SIZE>(read, 16 + k, votes + count);
}

template <int ARITY, int SIZE>
__device__ __forceinline__ void read_inputs(const u32 *columns, u64 stride, const u32 *inputs, u64 word, bool is_there, u32 *read) {
#pragma unroll
    for (int j = 0; j < SIZE; j++) read[j] = j < ARITY && is_there ? columns[inputs[j] * stride + word] : 0;
}

// Roots of few inputs: a block shares the votes and the inputs of some, and each is read while the votes of the one before it are
// added. Where votes are small, those of some roots are added up in halves of numbers first.
template <int ARITY, int SIZE>
__device__ __forceinline__ void add_few(const u32 *columns, u64 stride, const Roots &roots, const u32 *inputs, const i32 *votes,
                               bool halves, u64 word, bool is_there, i32 *sums) {
    const u32 some = ARITY <= 4 ? 64 : 16;
    i32 *own_votes = (i32 *)shared_words;
    u32 *own_inputs = (u32 *)(own_votes + 2 * (some << ARITY));
    for (u32 first = 0; first < roots.count; first += some) {
        u32 here = roots.count - first < some ? roots.count - first : some;
        __syncthreads();
        for (u32 i = threadIdx.x; i < here << ARITY; i += blockDim.x) {
            i32 vote = votes[(first << ARITY) + i];
            own_votes[i] = vote;
            own_votes[(some << ARITY) + i] = (i32)((u32)vote << 16);
        }
        for (u32 i = threadIdx.x; i < here * ARITY; i += blockDim.x) own_inputs[i] = inputs[first * ARITY + i];
        __syncthreads();
        i32 both[16];
#pragma unroll
        for (u32 k = 0; k < 16; k++) both[k] = 0;
        u32 next[SIZE];
        read_inputs<ARITY, SIZE>(columns, stride, own_inputs, word, is_there, next);
        for (u32 root = 0; root < here; root++) {
            u32 read[SIZE];
#pragma unroll
            for (int j = 0; j < SIZE; j++) read[j] = next[j];
            const u32 *of_next = own_inputs + (root + 1 < here ? root + 1 : root) * ARITY;
            read_inputs<ARITY, SIZE>(columns, stride, of_next, word, is_there, next);
            if (halves) add_halves<SIZE>(read, own_votes + (root << ARITY), some << ARITY, both);
            else add_votes<SIZE>(read, own_votes + (root << ARITY), sums);
        }
        if (!halves) continue;
#pragma unroll
        for (u32 k = 0; k < 16; k++) {
            i32 low = (i32)((u32)both[k] << 16) >> 16;
            sums[k] += low;
            sums[16 + k] += (both[k] - low) >> 16;
        }
    }
}

// Roots of many inputs, whose votes are read where they are.
__device__ __forceinline__ void add_many(const u32 *columns, u64 stride, const Roots &roots, const u32 *inputs, const i32 *votes,
                                u64 word, bool is_there, i32 *sums) {
    for (u32 root = 0; root < roots.count; root++) {
        u32 read[16];
#pragma unroll
        for (u32 j = 0; j < 16; j++) {
            read[j] = j < roots.arity && is_there ? columns[inputs[root * roots.arity + j] * stride + word] : 0;
        }
        add_votes<16>(read, votes + ((u64)root << roots.arity), sums);
    }
}

// The margins of all rows, a margin for each line of blocks and 32 rows for each thread. 0: columns, 1: words of 32 bits of a
// column, 2: rows, 3: roots by how many inputs they have, 4: inputs, 5: votes, 6: the first of these lists of each margin, and
// the end; 7: what each margin starts from, 8: margins, 9: whether no vote is larger than 511.
KERNEL_OF_FEW(run_roots) {
    const u32 *columns = POINTER(const u32, 0);
    u64 stride = NUMBER(1), rows = NUMBER(2), word = this_thread();
    const Roots *lists = POINTER(const Roots, 3);
    const u32 *firsts = POINTER(const u32, 6) + blockIdx.y;
    i32 bias = POINTER(const i32, 7)[blockIdx.y], *margins = POINTER(i32, 8) + blockIdx.y * rows;
    bool is_there = 32 * word < rows, halves = NUMBER(9);
    i32 sums[32];
#pragma unroll
    for (u32 k = 0; k < 32; k++) sums[k] = bias;
    for (u32 list = firsts[0]; list < firsts[1]; list++) {
        Roots roots = lists[list];
        const u32 *inputs = POINTER(const u32, 4) + roots.inputs;
        const i32 *votes = POINTER(const i32, 5) + roots.votes;
        switch (roots.arity) {
        case 1: add_few<1, 1>(columns, stride, roots, inputs, votes, halves, word, is_there, sums); break;
        case 2: add_few<2, 2>(columns, stride, roots, inputs, votes, halves, word, is_there, sums); break;
        case 3: add_few<3, 4>(columns, stride, roots, inputs, votes, halves, word, is_there, sums); break;
        case 4: add_few<4, 4>(columns, stride, roots, inputs, votes, halves, word, is_there, sums); break;
        case 5: add_few<5, 8>(columns, stride, roots, inputs, votes, halves, word, is_there, sums); break;
        case 6: add_few<6, 8>(columns, stride, roots, inputs, votes, halves, word, is_there, sums); break;
        default: add_many(columns, stride, roots, inputs, votes, word, is_there, sums);
        }
    }
#pragma unroll
    for (u32 k = 0; k < 32; k++) {
        if (32 * word + k < rows) margins[32 * word + k] = sums[k];
    }
}

// The class of each row: the one of the largest margin, the first of those that are as large; of one margin, whether it is
// above zero. 0: margins, 1: rows, 2: how many margins, 3: classes.
KERNEL_ALONE(choose) {
    const i32 *margins = POINTER(const i32, 0);
    u64 rows = NUMBER(1), count = NUMBER(2);
    u16 *classes = POINTER(u16, 3);
    for (u64 row = this_thread(); row < rows; row += all_threads()) {
        i32 most = margins[row];
        u32 best = count == 1 && most > 0;
        for (u64 margin = 1; margin < count; margin++) {
            i32 other = margins[margin * rows + row];
            if (other > most) {
                most = other;
                best = (u32)margin;
            }
        }
        classes[row] = (u16)best;
    }
}

// Copies some words of columns, a column for each line of blocks. 0: the first of these words, 1: words of 32 bits of a column,
// 2: how many are copied, 3: where they are copied to, one column after the other.
KERNEL_ALONE(copy_block) {
    const u32 *from = POINTER(const u32, 0) + blockIdx.y * NUMBER(1);
    u32 *to = POINTER(u32, 3) + blockIdx.y * NUMBER(2);
    for (u64 word = this_thread(); word < NUMBER(2); word += all_threads()) to[word] = from[word];
}

// Where the literals of a pattern begin and how many it has, its shifts across and down, where its thresholds begin and how
// many it has, and the first of the columns that it makes.
struct Stencil {
    u32 first, literals, across, down, threshold, thresholds, column, unused;
};

// Where the planes of patterns are.
struct Sheet {
    const u32 *columns;
    u64 stride;
    // The column of each place, and places of a line.
    const u32 *places;
    u32 width;
    // A place before it is moved, times two; plus one where it must be one.
    const u32 *literals;
};

// Which of 32 rows match at a shift.
__device__ inline u32 matches(const Sheet &sheet, const Stencil &s, u32 shift, u64 word) {
    u32 found = 0xffffffffu;
    for (u32 l = 0; l < s.literals; l++) {
        u32 literal = sheet.literals[s.first + l];
        u32 read = sheet.columns[sheet.places[literal / 2 + shift] * sheet.stride + word];
        found &= literal & 1 ? read : ~read;
    }
    return found;
}

// Counts the shifts that match, a bit of the count being a word, and compares with the thresholds.
template <int BITS>
__device__ inline void count_matches(const Sheet &sheet, const Stencil &s, const u32 *thresholds, u64 word, u32 *made) {
    u32 counts[BITS];
#pragma unroll
    for (int b = 0; b < BITS; b++) counts[b] = 0;
    for (u32 y = 0; y < s.down; y++) {
        for (u32 x = 0; x < s.across; x++) {
            u32 carry = matches(sheet, s, y * sheet.width + x, word);
#pragma unroll
            for (int b = 0; b < BITS; b++) {
                u32 next = counts[b] & carry;
                counts[b] ^= carry;
                carry = next;
            }
        }
    }
    for (u32 t = 0; t < s.thresholds; t++) {
        u32 threshold = thresholds[s.threshold + t], more = 0, same = 0xffffffffu;
#pragma unroll
        for (int b = BITS - 1; b >= 0; b--) {
            more |= threshold >> b & 1 ? 0 : same & counts[b];
            same &= threshold >> b & 1 ? counts[b] : ~counts[b];
        }
        made[t * sheet.stride + word] = more | same;
    }
}

// Makes the columns of some patterns. 0: columns, 1: words of 32 bits of a column, 2: words to make, 3: patterns, 4: literals,
// 5: thresholds, 6: the column of each place, 7: places of a line, 8: the first pattern.
KERNEL_OF_FEW(patterns) {
    u32 *columns = POINTER(u32, 0);
    Sheet sheet;
    sheet.columns = columns;
    sheet.stride = NUMBER(1);
    sheet.literals = POINTER(const u32, 4);
    sheet.places = POINTER(const u32, 6);
    sheet.width = (u32)NUMBER(7);
    Stencil s = POINTER(const Stencil, 3)[NUMBER(8) + blockIdx.y];
    const u32 *thresholds = POINTER(const u32, 5);
    u32 *made = columns + s.column * sheet.stride, shifts = s.across * s.down;
    for (u64 word = this_thread(); word < NUMBER(2); word += all_threads()) {
        if (s.thresholds == 1 && thresholds[s.threshold] == 1) {
            u32 any = 0;
            for (u32 y = 0; y < s.down && any != 0xffffffffu; y++) {
                for (u32 x = 0; x < s.across; x++) any |= matches(sheet, s, y * sheet.width + x, word);
            }
            made[word] = any;
        } else if (shifts < 1u << 7) {
            count_matches<7>(sheet, s, thresholds, word, made);
        } else if (shifts < 1u << 12) {
            count_matches<12>(sheet, s, thresholds, word, made);
        } else {
            count_matches<29>(sheet, s, thresholds, word, made);
        }
    }
}
