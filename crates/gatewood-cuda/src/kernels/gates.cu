// Gates and patterns as columns of all rows, and the votes of roots: a thread has 32 rows, which are a word of a column.

#include "device.h"

// Where the inputs of a gate begin among those of all, how many it has, where its table begins, and the column it makes.
struct Gate {
    u32 first, arity, table, column;
};

// A table of so many inputs, looked up for 32 rows at once.
template <int ARITY> struct Lookup {
    __device__ static u32 word(u64 table, const u32 *read) {
        u32 low = Lookup<ARITY - 1>::word(table, read);
        u32 high = Lookup<ARITY - 1>::word(table >> (1u << (ARITY - 1)), read);
        return (high & read[ARITY - 1]) | (low & ~read[ARITY - 1]);
    }
};
template <> struct Lookup<0> {
    __device__ static u32 word(u64 table, const u32 *) { return table & 1 ? 0xffffffffu : 0; }
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

// Where the inputs of a root begin, how many it has, and where its votes begin.
struct Root {
    u32 first, arity, votes, unused;
};

template <int ARITY>
__device__ inline void add_root(const u32 *columns, u64 stride, const u32 *inputs, const i32 *votes, u64 word,
                                i32 *sums) {
    u32 read[ARITY];
#pragma unroll
    for (int j = 0; j < ARITY; j++) read[j] = columns[inputs[j] * stride + word];
#pragma unroll
    for (u32 k = 0; k < 32; k++) {
        u32 address = 0;
#pragma unroll
        for (int j = 0; j < ARITY; j++) address |= (read[j] >> k & 1) << j;
        sums[k] += votes[address];
    }
}

// The margins of all rows, a margin for each line of blocks. 0: columns, 1: words of 32 bits of a column, 2: rows, 3: roots,
// 4: inputs, 5: votes, 6: the first root of each margin, and the end; 7: what each margin starts from, 8: margins.
KERNEL_OF_FEW(run_roots) {
    const u32 *columns = POINTER(const u32, 0);
    u64 stride = NUMBER(1), rows = NUMBER(2);
    const Root *roots = POINTER(const Root, 3);
    const u32 *firsts = POINTER(const u32, 6) + blockIdx.y;
    u32 first = firsts[0], end = firsts[1];
    i32 bias = POINTER(const i32, 7)[blockIdx.y], *margins = POINTER(i32, 8) + blockIdx.y * rows;
    for (u64 word = this_thread(); 32 * word < rows; word += all_threads()) {
        i32 sums[32];
#pragma unroll
        for (u32 k = 0; k < 32; k++) sums[k] = bias;
        for (u32 place = first; place < end; place++) {
            Root root = roots[place];
            const u32 *inputs = POINTER(const u32, 4) + root.first;
            const i32 *votes = POINTER(const i32, 5) + root.votes;
            switch (root.arity) {
            case 1: add_root<1>(columns, stride, inputs, votes, word, sums); break;
            case 2: add_root<2>(columns, stride, inputs, votes, word, sums); break;
            case 3: add_root<3>(columns, stride, inputs, votes, word, sums); break;
            case 4: add_root<4>(columns, stride, inputs, votes, word, sums); break;
            case 5: add_root<5>(columns, stride, inputs, votes, word, sums); break;
            case 6: add_root<6>(columns, stride, inputs, votes, word, sums); break;
            case 7: add_root<7>(columns, stride, inputs, votes, word, sums); break;
            case 8: add_root<8>(columns, stride, inputs, votes, word, sums); break;
            case 9: add_root<9>(columns, stride, inputs, votes, word, sums); break;
            case 10: add_root<10>(columns, stride, inputs, votes, word, sums); break;
            case 11: add_root<11>(columns, stride, inputs, votes, word, sums); break;
            default: add_root<12>(columns, stride, inputs, votes, word, sums);
            }
        }
#pragma unroll
        for (u32 k = 0; k < 32; k++) {
            if (32 * word + k < rows) margins[32 * word + k] = sums[k];
        }
    }
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
