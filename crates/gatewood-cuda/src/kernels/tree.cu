// Counting for the gates of the paper's tree, a block for each, and climbing its subtrees.

#include "device.h"

// Counts the rows of each side at each address of a gate of up to four inputs, where columns are long: a thread counts the rows
// where all inputs of a set say one, for all sets, and the addresses follow from these.
template <int ARITY> __device__ inline void count_sets(const Climb &c, const u32 *const *inputs, u32 *counts) {
    const u32 sets = 1u << ARITY;
    for (u32 i = threadIdx.x; i < 2 * sets; i += blockDim.x) counts[i] = i % sets ? 0 : c.rows[i / sets];
    __syncthreads();
    for (u32 side = 0; side < 2; side++) {
        u32 first = side ? c.split : 0, end = side ? c.stride : c.split, found[sets];
#pragma unroll
        for (u32 set = 1; set < sets; set++) found[set] = 0;
        for (u32 at = first + 4 * threadIdx.x; at < end; at += 4 * blockDim.x) {
            Quad read[ARITY];
#pragma unroll
            for (u32 j = 0; j < ARITY; j++) read[j] = *(const Quad *)(inputs[j] + at);
#pragma unroll
            for (u32 k = 0; k < 4; k++) {
                // Gates may say one where no row is.
                u32 all[sets];
                all[0] = rows_of(c.rows[side], at - first + k);
#pragma unroll
                for (u32 set = 1; set < sets; set++) {
                    u32 last = 31 - __clz(set);
                    all[set] = all[set & ~(1u << last)] & read[last].words[k];
                    found[set] += __popc(all[set]);
                }
            }
        }
#pragma unroll
        for (u32 set = 1; set < sets; set++) {
            u32 sum = found[set];
            for (u32 step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
            if (threadIdx.x % 32 == 0) atomicAdd(&counts[side * sets + set], sum);
        }
    }
    __syncthreads();
    // From rows where at least the inputs of a set say one to those where just these do.
    if (threadIdx.x < 2) {
        u32 *own = counts + threadIdx.x * sets;
        for (u32 input = 1; input < sets; input *= 2) {
            for (u32 set = 0; set < sets; set++) {
                if (!(set & input)) own[set] -= own[set | input];
            }
        }
    }
    __syncthreads();
}

// 0: columns, 1: words of 32 bits of class 0, 2: of a column, 3 and 4: rows of each class, 5: arity, 6: the columns that gates
// read, 7: for each gate the counts of class 0 by address, then those of class 1; 8: the first gate.
KERNEL(count_gates) {
    Climb c;
    c.split = (u32)NUMBER(1);
    c.stride = (u32)NUMBER(2);
    c.rows[0] = (u32)NUMBER(3);
    c.rows[1] = (u32)NUMBER(4);
    u32 arity = (u32)NUMBER(5), length = 2u << arity;
    u64 gate = NUMBER(8) + blockIdx.x;
    const u32 **inputs = (const u32 **)shared_words;
    u32 *counts = (u32 *)(shared_words + 16), *out = POINTER(u32, 7) + gate * length;
    for (u32 j = threadIdx.x; j < arity; j += blockDim.x) {
        inputs[j] = POINTER(const u32, 0) + POINTER(const u32, 6)[gate * arity + j] * NUMBER(2);
    }
    __syncthreads();
    switch (arity) {
    case 1: count_sets<1>(c, inputs, counts); break;
    case 2: count_sets<2>(c, inputs, counts); break;
    case 3: count_sets<3>(c, inputs, counts); break;
    case 4: count_sets<4>(c, inputs, counts); break;
    default: count(arity, c, inputs, counts);
    }
    for (u32 i = threadIdx.x; i < length; i += blockDim.x) out[i] = counts[i];
}

// A gate of a subtree that is climbed: its column, the rows of each class for which it says one, and its score.
struct Fitted {
    u32 column, unused;
    u32 ones[2];
    i64 score;
};

// How gates of subtrees are fitted and judged. 0: columns, 1 and 2: words of 32 bits of class 0 and of a column, 3 and 4: rows of
// each class, 5: arity, 6: height, 7: flags, 8: x log x, 9: leaves, 10: gates, after those of a subtree one for each level that a
// trial makes; 11: their tables.
struct Subtrees {
    Climb rows;
    u32 *columns;
    u32 arity, height, gates, leaves, table_words;
    // Whether gates below the judge go by accuracy, whether the judge does, whether gates say zero where no row is, and whether
    // trials are kept that are not worse.
    bool accuracy, judge_accuracy, unseen_zero, not_worse;
    const i64 *logs;
};

__device__ inline Subtrees subtrees_of(const Parameters &p) {
    Subtrees s;
    s.rows.split = (u32)NUMBER(1);
    s.rows.stride = (u32)NUMBER(2);
    s.rows.rows[0] = (u32)NUMBER(3);
    s.rows.rows[1] = (u32)NUMBER(4);
    s.columns = POINTER(u32, 0);
    s.arity = (u32)NUMBER(5);
    s.height = (u32)NUMBER(6);
    s.gates = 0;
    s.leaves = 1;
    for (u32 level = 0; level < s.height; level++) {
        s.gates += s.leaves;
        s.leaves *= s.arity;
    }
    s.table_words = s.arity <= 6 ? 1 : 1u << (s.arity - 6);
    s.accuracy = NUMBER(7) & 1;
    s.judge_accuracy = NUMBER(7) >> 1 & 1;
    s.unseen_zero = NUMBER(7) >> 2 & 1;
    s.not_worse = NUMBER(7) >> 3 & 1;
    s.logs = POINTER(const i64, 8);
    return s;
}

// What a block shares: as in climbing, and a key of 64 bits for each address.
__device__ inline Room tree_room(const Subtrees &s, u64 *&keys) {
    Room r;
    r.inputs = (const u32 **)shared_words;
    r.sums = shared_words + 16;
    r.table = r.sums + 96;
    keys = r.table + s.table_words;
    r.keys = 0;
    r.ranks = (u32 *)(keys + (1u << s.arity));
    r.counts = r.ranks + (1u << s.arity);
    return r;
}

__device__ inline i64 purity(const i64 *logs, u32 zeros, u32 ones) {
    return logs[zeros] + logs[ones] - logs[zeros + ones];
}

// Adds up the rows of the addresses where the table says one, and writes the table; all threads get the sums.
__device__ inline void write_table(const Subtrees &s, const Room &r, bool accuracy, u32 cut, u32 *ones) {
    u32 addresses = 1u << s.arity, *table = (u32 *)r.table;
    const u32 *rows = s.rows.rows;
    u64 said[2] = {0, 0};
    for (u32 word = threadIdx.x; word < s.table_words; word += blockDim.x) r.table[word] = 0;
    __syncthreads();
    for (u32 address = threadIdx.x; address < addresses; address += blockDim.x) {
        u32 zeros = r.counts[address], one = r.counts[addresses + address];
        bool says = r.ranks[address] != 0xffffffffu && r.ranks[address] >= cut;
        if (accuracy) says = zeros + one ? one >= zeros : !s.unseen_zero && rows[1] >= rows[0];
        if (!says) continue;
        atomicAdd(&table[address / 32], 1u << (address % 32));
        said[0] += zeros;
        said[1] += one;
    }
    ones[0] = (u32)block_sum(said[0], r.sums);
    ones[1] = (u32)block_sum(said[1], r.sums);
    __syncthreads();
}

// Sorts the addresses by their share of class 1 and cuts them where the information gain is largest; or takes the majority of
// each. The table is among what the block shares; all threads get the rest.
__device__ __noinline__ void fit_gate(const Subtrees &s, const Room &r, u64 *keys, bool accuracy, Fitted &fitted) {
    u32 addresses = 1u << s.arity;
    const u32 *zeros = r.counts, *ones = r.counts + addresses, *rows = s.rows.rows;
    if (accuracy) {
        write_table(s, r, true, 0, fitted.ones);
        fitted.score = (i64)(rows[0] - fitted.ones[0]) + (i64)fitted.ones[1];
        return;
    }
    double prior = (double)rows[1] / ((double)rows[0] + (double)rows[1]);
    for (u32 address = threadIdx.x; address < addresses; address += blockDim.x) {
        u32 both = zeros[address] + ones[address];
        double share = both ? (double)ones[address] / (double)both : prior;
        bool is_left_out = !both && s.unseen_zero;
        keys[address] = is_left_out ? 0xffffffffffffffffull : (*(u64 *)&share & ~4095ull) | address;
    }
    __syncthreads();
    i64 best = -0x7fffffffffffffffll - 1;
    u32 place = 0xffffffffu;
    for (u32 address = threadIdx.x; address < addresses; address += blockDim.x) {
        u64 key = keys[address];
        u32 rank = 0, before[2] = {0, 0};
        for (u32 other = 0; other < addresses; other++) {
            bool is_before = keys[other] < key;
            rank += is_before;
            before[0] += is_before ? zeros[other] : 0;
            before[1] += is_before ? ones[other] : 0;
        }
        bool is_left_out = key == 0xffffffffffffffffull;
        r.ranks[address] = is_left_out ? 0xffffffffu : rank;
        if (is_left_out || rank == 0) continue;
        i64 score = purity(s.logs, before[0], before[1]) + purity(s.logs, rows[0] - before[0], rows[1] - before[1]);
        if (score > best || (score == best && rank < place)) {
            best = score;
            place = rank;
        }
    }
    best_of_block(r.sums, best, place);
    __syncthreads();
    // One address or none: nothing to cut, the gate says the majority.
    bool is_cut = place != 0xffffffffu, is_zero = !is_cut && rows[1] < rows[0];
    write_table(s, r, false, is_cut ? place : is_zero ? 0xffffffffu : 0, fitted.ones);
    fitted.score = is_cut ? best : purity(s.logs, rows[0], rows[1]);
    if (!is_cut && !is_zero) {
        fitted.ones[0] = rows[0];
        fitted.ones[1] = rows[1];
    }
}

// Counts and fits a gate of a subtree, one input being `changed` where there is such a column. Where columns are long for the
// threads of a block, counting is done set by set.
__device__ inline void refit(const Subtrees &s, const Room &r, u64 *keys, const u32 *leaves, const Fitted *below, u32 level,
                             u32 place, u32 input, const u32 *changed, bool is_long, Fitted &fitted) {
    __syncthreads();
    for (u32 j = threadIdx.x; j < s.arity; j += blockDim.x) {
        u32 child = place * s.arity + j, column = level == 0 ? leaves[child] : below[child].column;
        r.inputs[j] = changed && j == input ? changed : s.columns + (u64)column * s.rows.stride;
    }
    __syncthreads();
    switch (is_long ? s.arity : 0) {
    case 1: count_sets<1>(s.rows, r.inputs, r.counts); break;
    case 2: count_sets<2>(s.rows, r.inputs, r.counts); break;
    case 3: count_sets<3>(s.rows, r.inputs, r.counts); break;
    case 4: count_sets<4>(s.rows, r.inputs, r.counts); break;
    default: count(s.arity, s.rows, r.inputs, r.counts);
    }
    fit_gate(s, r, keys, level + 1 == s.height ? s.judge_accuracy : s.accuracy, fitted);
}

// Fits the gates of a level of all subtrees. 12: the level, 13: its first gate, 14: that of the level below.
KERNEL(tree_fit) {
    Subtrees s = subtrees_of(p);
    u64 *keys, subtree = blockIdx.y, made = s.gates + s.height;
    Room r = tree_room(s, keys);
    u32 level = (u32)NUMBER(12), gate = (u32)NUMBER(13) + blockIdx.x;
    Fitted *gates = POINTER(Fitted, 10) + subtree * made, fitted;
    const u32 *leaves = POINTER(const u32, 9) + subtree * s.leaves;
    refit(s, r, keys, leaves, gates + NUMBER(14), level, blockIdx.x, 0, 0, s.rows.stride >= 4 * blockDim.x, fitted);
    if (level + 1 < s.height) evaluate(s.arity, s.rows, r, s.columns + (u64)gates[gate].column * s.rows.stride, 0);
    u64 *table = POINTER(u64, 11) + (subtree * made + gate) * s.table_words;
    for (u32 word = threadIdx.x; word < s.table_words; word += blockDim.x) table[word] = r.table[word];
    if (threadIdx.x == 0) {
        fitted.column = gates[gate].column;
        gates[gate] = fitted;
    }
}

// Makes trials of each subtree, one after the other, a block for each subtree. 12: for each trial a leaf, and a column among
// those that the leaf does not read; 13: the next trial of each subtree, 14: the end of its trials, 15: how many to make.
KERNEL(tree_climb) {
    Subtrees s = subtrees_of(p);
    u64 *keys, subtree = blockIdx.x, made = s.gates + s.height;
    Room r = tree_room(s, keys);
    Fitted *gates = POINTER(Fitted, 10) + subtree * made, *path = gates + s.gates;
    u32 *leaves = POINTER(u32, 9) + subtree * s.leaves;
    u64 *tables = POINTER(u64, 11) + subtree * made * s.table_words;
    u32 next = POINTER(u32, 13)[subtree], end = POINTER(const u32, 14)[subtree];
    if (end - next > NUMBER(15)) end = next + (u32)NUMBER(15);
    for (; next < end; next++) {
        const u32 *drawn = POINTER(const u32, 12) + 2 * (u64)next;
        u32 leaf = drawn[0], column = drawn[1], place = leaf, kept = 0;
        column += column >= leaves[leaf];
        const u32 *changed = s.columns + (u64)column * s.rows.stride;
        u32 first = 0, below = 0, width = s.leaves / s.arity;
        for (u32 level = 0; level < s.height; level++) {
            u32 input = place % s.arity;
            place /= s.arity;
            Fitted fitted;
            refit(s, r, keys, leaves, gates + below, level, place, input, changed, false, fitted);
            for (u32 word = threadIdx.x; word < s.table_words; word += blockDim.x) {
                tables[(s.gates + level) * s.table_words + word] = r.table[word];
            }
            const Fitted &before = gates[first + place];
            fitted.column = path[level].column;
            __syncthreads();
            if (threadIdx.x == 0) path[level] = fitted;
            if (level + 1 == s.height) {
                i64 right = (i64)fitted.ones[1] - fitted.ones[0], was = (i64)before.ones[1] - before.ones[0];
                if (s.not_worse ? right >= was : fitted.score > before.score) kept = s.height;
                break;
            }
            u32 *says = s.columns + (u64)fitted.column * s.rows.stride;
            bool is_other = evaluate(s.arity, s.rows, r, says, s.columns + (u64)before.column * s.rows.stride) >> 32;
            if (!block_sum(is_other, r.sums)) {
                // Nothing above changes, so the judge gets neither better nor worse.
                kept = s.not_worse ? level + 1 : 0;
                break;
            }
            changed = says;
            below = first;
            first += width;
            width /= s.arity;
        }
        __syncthreads();
        if (threadIdx.x == 0 && kept) {
            leaves[leaf] = column;
            u32 at = leaf, start = 0, across = s.leaves / s.arity;
            for (u32 level = 0; level < kept; level++) {
                at /= s.arity;
                u32 gate = start + at;
                Fitted was = gates[gate];
                gates[gate] = path[level];
                path[level] = was;
                for (u32 word = 0; word < s.table_words; word++) {
                    u64 *one = tables + gate * s.table_words + word;
                    u64 *other = tables + (s.gates + level) * s.table_words + word, kept_word = *one;
                    *one = *other;
                    *other = kept_word;
                }
                start += across;
                across /= s.arity;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) POINTER(u32, 13)[subtree] = next;
}
