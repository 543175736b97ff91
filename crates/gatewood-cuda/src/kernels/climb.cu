// Trees that are climbed: counting rows at the addresses of gates, fitting gates, and making one trial.

#include "device.h"

// A tree while it is climbed.
struct Climb {
    const u32 *sample;
    // Words of 32 bits of the lower side, and of a column.
    u32 split, stride;
    u32 rows[2];
    float prior;
    u32 leaf_count;
    // The column of each leaf.
    u32 *leaves;
    const u32 *trials;
    // Which slot each gate has, and after these the slots that each block makes gates in.
    u32 *slots;
    // Columns and tables of the slots.
    u32 *columns;
    u64 *tables;
    // Where a block shares them: the columns of all leaves and of all gates below the root, then those that a trial makes.
    u32 *shared;
    // What came of the trials of a step, and of the step before it.
    struct Outcome *outcomes;
    // The root's address of every row, where the root has so many inputs that rows are counted by it; else none. After
    // these, room for those of every block, where the memory that a block shares has none.
    u16 *addresses;
    // Where addresses are kept, the rows of each side at each of them; in all, those of the trials of a step and of the one before it.
    u32 *counts;
    i64 score;
    // How many times a block has ended a step.
    u32 ended, unused_too;
    // Where a warp makes a trial, the first that was better, of three steps in turn.
    u32 better[4];
};

// What came of a trial.
struct Outcome {
    i64 score;
    u32 better, leaf, column, unused;
};

// The shape of all trees. 0: trees, 1: depth, 2 to 4: arities, 5: trials, 6: candidates, 7: x log x, 8: words of a table,
// 9: level to fit; 10: leaves of a tree, 11: slots of a tree, 12: whether a block shares its addresses, 13: whether it shares its
// columns.
struct Shape {
    u32 depth, arity[3], first[3], trials, candidates, table_words;
    const i64 *logs;
};

__device__ inline Shape shape_of(const Parameters &p) {
    Shape s;
    s.depth = (u32)NUMBER(1);
    for (u32 level = 0; level < 3; level++) s.arity[level] = (u32)NUMBER(2 + level);
    // Gates of a level are as many as the inputs of all levels above.
    u32 gates = 1;
    for (u32 level = 1; level < s.depth; level++) gates *= s.arity[level];
    s.first[0] = 0;
    for (u32 level = 1; level < s.depth; level++) {
        s.first[level] = s.first[level - 1] + gates;
        gates /= s.arity[level];
    }
    s.trials = (u32)NUMBER(5);
    s.candidates = (u32)NUMBER(6);
    s.logs = POINTER(const i64, 7);
    s.table_words = (u32)NUMBER(8);
    return s;
}

// What a block shares.
struct Room {
    const u32 **inputs;
    u64 *sums;
    u64 *table;
    u32 *keys;
    u32 *ranks;
    u32 *counts;
    // Where there is more room.
    u64 *rest;
};

__device__ inline Room room_of(const Shape &s) {
    u32 most = 1;
    for (u32 level = 0; level + 1 < s.depth; level++) {
        if (1u << s.arity[level] > most) most = 1u << s.arity[level];
    }
    Room r;
    r.inputs = (const u32 **)shared_words;
    r.sums = shared_words + 16;
    r.table = r.sums + 96;
    r.keys = (u32 *)(r.table + s.table_words);
    r.ranks = r.keys + most;
    r.counts = r.ranks + most;
    u32 all = s.candidates > 1 ? (s.candidates + 1) << s.arity[0] : 0;
    for (u32 level = 0; level < s.depth; level++) all = all > 1u << s.arity[level] ? all : 1u << s.arity[level];
    r.rest = (u64 *)(r.counts + 2 * all);
    return r;
}

__device__ inline u32 rows_of(u32 rows, u32 word) {
    u32 first = word * 32;
    return first + 32 <= rows ? 0xffffffffu : first < rows ? (1u << (rows - first)) - 1 : 0;
}

// Words that a thread reads before it does anything with them: to wait for one takes as long as to wait for several.
const u32 AHEAD = 4;

// Counts the rows of each side at each address of a gate of up to six inputs. A lane has an address, or two where there are
// more addresses than lanes; where there are fewer, groups of lanes have words of their own.
__device__ inline void count_few(u32 arity, const Climb &c, const u32 *const *inputs, u32 *counts) {
    u32 lane = threadIdx.x % 32, narrow = arity < 5 ? arity : 5, address = lane & ((1u << narrow) - 1);
    u32 groups = 32u >> narrow, group = threadIdx.x / 32 * groups + (lane >> narrow);
    const u32 *columns[6];
    u32 flips[6];
#pragma unroll
    for (u32 j = 0; j < 6; j++) {
        columns[j] = j < arity ? inputs[j] : 0;
        flips[j] = address >> j & 1 ? 0 : 0xffffffffu;
    }
    u32 low[2] = {0, 0}, high[2] = {0, 0};
    u32 split = c.split, stride = c.stride, rows[2] = {c.rows[0], c.rows[1]};
    for (u32 first = 4 * group; first < stride; first += blockDim.x / 32 * groups * 4) {
        u32 side = first >= split, within = side ? first - split : first;
        Quad masks;
#pragma unroll
        for (u32 k = 0; k < 4; k++) masks.words[k] = rows_of(rows[side], within + k);
#pragma unroll
        for (u32 j = 0; j < 5; j++) {
            if (j < narrow) {
                Quad read = *(const Quad *)(columns[j] + first);
#pragma unroll
                for (u32 k = 0; k < 4; k++) masks.words[k] &= read.words[k] ^ flips[j];
            }
        }
        u32 ones = 0, all = 0;
        if (arity == 6) {
            Quad read = *(const Quad *)(columns[5] + first);
#pragma unroll
            for (u32 k = 0; k < 4; k++) ones += __popc(masks.words[k] & read.words[k]);
        }
#pragma unroll
        for (u32 k = 0; k < 4; k++) all += __popc(masks.words[k]);
        low[0] += side ? 0 : all - ones;
        low[1] += side ? all - ones : 0;
        high[0] += side ? 0 : ones;
        high[1] += side ? ones : 0;
    }
#pragma unroll
    for (u32 side = 0; side < 2; side++) {
        if (low[side]) atomicAdd(&counts[side << arity | address], low[side]);
        if (high[side]) atomicAdd(&counts[side << arity | 32 | address], high[side]);
    }
}

// The same for many inputs, row by row.
template <int ARITY> __device__ void count_many(const Climb &c, const u32 *const *inputs, u32 *counts) {
    for (u32 side = 0; side < 2; side++) {
        u32 first = side ? c.split : 0, words = side ? c.stride - c.split : c.split;
        for (u32 word = threadIdx.x; word < words; word += blockDim.x) {
            u32 bits[ARITY], left = rows_of(c.rows[side], word);
#pragma unroll
            for (int j = 0; j < ARITY; j++) bits[j] = inputs[j][first + word];
            for (; left; left >>= 1) {
                u32 address = 0;
#pragma unroll
                for (int j = 0; j < ARITY; j++) {
                    address |= (bits[j] & 1) << j;
                    bits[j] >>= 1;
                }
                atomicAdd(&counts[side << ARITY | address], 1u);
            }
        }
    }
}

// Counts are zeroed, and counted when this returns.
__device__ __noinline__ void count(u32 arity, const Climb &c, const u32 *const *inputs, u32 *counts) {
    for (u32 i = threadIdx.x; i < 2u << arity; i += blockDim.x) counts[i] = 0;
    __syncthreads();
    switch (arity) {
    case 7: count_many<7>(c, inputs, counts); break;
    case 8: count_many<8>(c, inputs, counts); break;
    case 9: count_many<9>(c, inputs, counts); break;
    case 10: count_many<10>(c, inputs, counts); break;
    case 11: count_many<11>(c, inputs, counts); break;
    case 12: count_many<12>(c, inputs, counts); break;
    default: count_few(arity, c, inputs, counts);
    }
    __syncthreads();
}

// The same for the root whose addresses are kept.
__device__ __noinline__ void count_addresses(u32 arity, const Climb &c, u32 *counts) {
    for (u32 i = threadIdx.x; i < 2u << arity; i += blockDim.x) counts[i] = 0;
    __syncthreads();
    u32 lane = threadIdx.x % 32;
    for (u32 word = threadIdx.x / 32; word < c.stride; word += blockDim.x / 32) {
        u32 side = word >= c.split, rows = rows_of(c.rows[side], side ? word - c.split : word);
        if (rows >> lane & 1) atomicAdd(&counts[side << arity | c.addresses[word * 32 + lane]], 1u);
    }
    __syncthreads();
}

// The same, one input being another: only the rows where it says `rare` are counted, the others follow from how many rows
// there are at both addresses.
__device__ __noinline__ void count_root(u32 arity, const Climb &c, u32 input, const u32 *changed, u32 rare, u32 *counts) {
    for (u32 i = threadIdx.x; i < 2u << arity; i += blockDim.x) counts[i] = 0;
    __syncthreads();
    u32 lane = threadIdx.x % 32, bit = 1u << input, warps = blockDim.x / 32, flip = rare ? 0 : 0xffffffffu;
    for (u32 begin = threadIdx.x / 32; begin < c.stride; begin += 2 * AHEAD * warps) {
        u32 bits[2 * AHEAD];
#pragma unroll
        for (u32 k = 0; k < 2 * AHEAD; k++) {
            u32 word = begin + k * warps;
            bits[k] = word < c.stride ? changed[word] : 0;
        }
#pragma unroll
        for (u32 k = 0; k < 2 * AHEAD; k++) {
            u32 word = begin + k * warps, side = word >= c.split;
            u32 rows = word < c.stride ? rows_of(c.rows[side], side ? word - c.split : word) : 0;
            if (((bits[k] ^ flip) & rows) >> lane & 1) {
                atomicAdd(&counts[side << arity | (c.addresses[word * 32 + lane] & ~bit)], 1u);
            }
        }
    }
    __syncthreads();
    const u32 *before = c.counts;
    for (u32 i = threadIdx.x; i < 1u << arity; i += blockDim.x) {
        u32 zero = (i & (bit - 1)) | (i & ~(bit - 1)) << 1, found = counts[zero];
        u32 others = before[zero] + before[zero | bit] - found;
        counts[zero] = rare ? others : found;
        counts[zero | bit] = rare ? found : others;
    }
    __syncthreads();
}

// Minus the rows times the entropy of their side given the address; all threads get it.
__device__ __noinline__ i64 score_of(const Shape &s, const Room &r, u32 arity) {
    i64 sum = 0;
    for (u32 address = threadIdx.x; address < 1u << arity; address += blockDim.x) {
        u32 zeros = r.counts[address], ones = r.counts[(1u << arity) + address];
        sum += s.logs[zeros] + s.logs[ones] - s.logs[zeros + ones];
    }
    return (i64)block_sum((u64)sum, r.sums);
}

// Sorts the addresses by their share of the upper side and cuts them where the information gain is largest: no more
// addresses than lanes, each having its rows of both sides, and all lanes of a warp get the table.
__device__ inline u32 cut_lanes(const Climb &c, const Shape &s, u32 addresses, u32 zeros, u32 ones) {
    u32 lane = threadIdx.x % 32;
    float share = ((float)ones + c.prior) / ((float)(zeros + ones) + 1.0f);
    u32 key = (*(u32 *)&share & ~(addresses - 1)) | lane, rank = 0, before[2] = {0, 0};
#pragma unroll 8
    for (u32 other = 0; other < addresses; other++) {
        bool is_before = __shfl_sync(0xffffffffu, key, other) <= key;
        u32 other_zeros = __shfl_sync(0xffffffffu, zeros, other), other_ones = __shfl_sync(0xffffffffu, ones, other);
        rank += is_before;
        before[0] += is_before ? other_zeros : 0;
        before[1] += is_before ? other_ones : 0;
    }
    i64 best = -0x7fffffffffffffffll - 1;
    u32 place = 0xffffffffu;
    if (lane < addresses && rank < addresses) {
        u32 both = before[0] + before[1], all = c.rows[0] + c.rows[1];
        best = s.logs[before[0]] + s.logs[c.rows[0] - before[0]] + s.logs[before[1]] +
               s.logs[c.rows[1] - before[1]] - s.logs[both] - s.logs[all - both];
        place = rank;
    }
    for (u32 step = 16; step > 0; step /= 2) {
        i64 other = __shfl_xor_sync(0xffffffffu, best, step);
        u32 other_place = __shfl_xor_sync(0xffffffffu, place, step);
        if (other > best || (other == best && other_place < place)) {
            best = other;
            place = other_place;
        }
    }
    // A rank counts the address itself.
    return __ballot_sync(0xffffffffu, lane < addresses && rank > place);
}

// The same, rows of the addresses being counted; every warp finds the table by itself.
__device__ __noinline__ u32 cut_few(const Climb &c, const Shape &s, const Room &r, u32 arity) {
    u32 addresses = 1u << arity, lane = threadIdx.x % 32;
    u32 zeros = lane < addresses ? r.counts[lane] : 0, ones = lane < addresses ? r.counts[addresses + lane] : 0;
    return cut_lanes(c, s, addresses, zeros, ones);
}

// The best score that a thread of the block has, and its place: the first of those that are as good.
__device__ inline void best_of_block(u64 *sums, i64 &best, u32 &place) {
    for (u32 step = 16; step > 0; step /= 2) {
        i64 other = __shfl_xor_sync(0xffffffffu, best, step);
        u32 other_place = __shfl_xor_sync(0xffffffffu, place, step);
        if (other > best || (other == best && other_place < place)) {
            best = other;
            place = other_place;
        }
    }
    if (threadIdx.x % 32 == 0) {
        sums[2 * (threadIdx.x / 32)] = (u64)best;
        sums[2 * (threadIdx.x / 32) + 1] = place;
    }
    __syncthreads();
    for (u32 warp = 0; warp < blockDim.x / 32; warp++) {
        i64 other = (i64)sums[2 * warp];
        u32 other_place = (u32)sums[2 * warp + 1];
        if (other > best || (other == best && other_place < place)) {
            best = other;
            place = other_place;
        }
    }
}

// As cut_few for more addresses; the table is among what the block shares.
__device__ __noinline__ void cut_many(const Climb &c, const Shape &s, const Room &r, u32 arity) {
    u32 addresses = 1u << arity, mask = addresses - 1;
    const u32 *zeros = r.counts, *ones = r.counts + addresses;
    for (u32 address = threadIdx.x; address < addresses; address += blockDim.x) {
        float rows = (float)(zeros[address] + ones[address]) + 1.0f;
        float share = ((float)ones[address] + c.prior) / rows;
        r.keys[address] = (*(u32 *)&share & ~mask) | address;
    }
    for (u32 word = threadIdx.x; word < s.table_words; word += blockDim.x) r.table[word] = 0;
    __syncthreads();
    u32 all[2] = {c.rows[0], c.rows[1]};
    i64 best = -0x7fffffffffffffffll - 1;
    u32 place = 0xffffffffu;
    for (u32 address = threadIdx.x; address < addresses; address += blockDim.x) {
        u32 key = r.keys[address], rank = 0, before[2] = {0, 0};
        for (u32 other = 0; other < addresses; other++) {
            bool is_before = r.keys[other] <= key;
            rank += is_before;
            before[0] += is_before ? zeros[other] : 0;
            before[1] += is_before ? ones[other] : 0;
        }
        // One is itself.
        r.ranks[address] = rank - 1;
        if (rank < addresses) {
            u32 both = before[0] + before[1];
            i64 score = s.logs[before[0]] + s.logs[all[0] - before[0]] + s.logs[before[1]] +
                        s.logs[all[1] - before[1]] - s.logs[both] - s.logs[all[0] + all[1] - both];
            if (score > best || (score == best && rank < place)) {
                best = score;
                place = rank;
            }
        }
    }
    best_of_block(r.sums, best, place);
    u32 *table = (u32 *)r.table;
    for (u32 address = threadIdx.x; address < addresses; address += blockDim.x) {
        if (r.ranks[address] >= place) atomicAdd(&table[address / 32], 1u << (address % 32));
    }
    __syncthreads();
}

// The table is among what the block shares.
__device__ inline void cut(const Climb &c, const Shape &s, const Room &r, u32 arity) {
    if (arity > 5) {
        cut_many(c, s, r, arity);
        return;
    }
    u32 table = cut_few(c, s, r, arity);
    for (u32 word = threadIdx.x; word < s.table_words; word += blockDim.x) r.table[word] = word ? 0 : table;
    __syncthreads();
}

__device__ inline u32 rows_in_word(const Climb &c, u32 word) {
    return word < c.split ? rows_of(c.rows[0], word) : rows_of(c.rows[1], word - c.split);
}

template <int ARITY>
__device__ u64 evaluate_few(const Climb &c, const Room &r, u32 *column, const u32 *before) {
    const u32 ahead = ARITY <= 4 ? 2 : 1;
    u64 table = r.table[0];
    bool is_other = false;
    u32 ones = 0;
    for (u32 begin = threadIdx.x; begin < c.stride; begin += ahead * blockDim.x) {
        u32 read[ahead][ARITY], was[ahead];
#pragma unroll
        for (u32 k = 0; k < ahead; k++) {
            u32 word = begin + k * blockDim.x;
#pragma unroll
            for (int j = 0; j < ARITY; j++) read[k][j] = word < c.stride ? r.inputs[j][word] : 0;
            was[k] = before && word < c.stride ? before[word] : 0;
        }
#pragma unroll
        for (u32 k = 0; k < ahead; k++) {
            u32 word = begin + k * blockDim.x;
            if (word >= c.stride) continue;
            u32 now = Lookup<ARITY>::word(table, read[k]) & rows_in_word(c, word);
            column[word] = now;
            is_other |= now != was[k];
            ones += __popc(now);
        }
    }
    return (u64)is_other << 32 | ones;
}

__device__ inline u64 evaluate_many(u32 arity, const Climb &c, const Room &r, u32 *column, const u32 *before) {
    bool is_other = false;
    u32 ones = 0;
    for (u32 word = threadIdx.x; word < c.stride; word += blockDim.x) {
        u32 says = 0;
        for (u32 row = 0; row < 32; row++) {
            u32 address = 0;
            for (u32 j = 0; j < arity; j++) address |= (r.inputs[j][word] >> row & 1) << j;
            says |= (u32)(r.table[address / 64] >> (address % 64) & 1) << row;
        }
        says &= rows_in_word(c, word);
        column[word] = says;
        is_other |= before && says != before[word];
        ones += __popc(says);
    }
    return (u64)is_other << 32 | ones;
}

// Writes what a gate says of every row; the thread is told for how many of its rows that is one, and in the upper half whether it
// is other than before, where there is a before.
__device__ __noinline__ u64 evaluate(u32 arity, const Climb &c, const Room &r, u32 *column, const u32 *before) {
    switch (arity) {
    case 1: return evaluate_few<1>(c, r, column, before);
    case 2: return evaluate_few<2>(c, r, column, before);
    case 3: return evaluate_few<3>(c, r, column, before);
    case 4: return evaluate_few<4>(c, r, column, before);
    case 5: return evaluate_few<5>(c, r, column, before);
    case 6: return evaluate_few<6>(c, r, column, before);
    default: return evaluate_many(arity, c, r, column, before);
    }
}

// The column of a gate.
__device__ inline u32 *gate_column(const Climb &c, const Shape &s, u32 level, u32 gate) {
    u32 place = s.first[level] + gate;
    return c.shared ? c.shared + (c.leaf_count + place) * c.stride : c.columns + (u64)c.slots[place] * c.stride;
}

// The columns that a gate reads, the last `changed` in place of one of them.
__device__ inline void find_inputs(const Climb &c, const Shape &s, const Room &r, u32 level, u32 gate, u32 input,
                                   const u32 *changed) {
    __syncthreads();
    for (u32 j = threadIdx.x; j < s.arity[level]; j += blockDim.x) {
        u32 place = gate * s.arity[level] + j;
        r.inputs[j] = changed && j == input ? changed
                      : level > 0           ? gate_column(c, s, level - 1, place)
                      : c.shared            ? c.shared + place * c.stride
                                            : c.sample + (u64)c.leaves[place] * c.stride;
    }
    __syncthreads();
}

__device__ inline void keep_table(const Shape &s, const Room &r, u64 *table) {
    for (u32 word = threadIdx.x; word < s.table_words; word += blockDim.x) table[word] = r.table[word];
}

// Fits the gates of a level, a block for each; of the root, only its score.
KERNEL(climb_fit) {
    Climb &c = POINTER(Climb, 0)[blockIdx.y];
    Shape s = shape_of(p);
    Room r = room_of(s);
    u32 level = (u32)NUMBER(9), gate = blockIdx.x, arity = s.arity[level];
    find_inputs(c, s, r, level, gate, 0, 0);
    count(arity, c, r.inputs, r.counts);
    if (level + 1 == s.depth) {
        i64 score = score_of(s, r, arity);
        if (threadIdx.x == 0) c.score = score;
        if (c.addresses) {
            u32 lane = threadIdx.x % 32;
            for (u32 word = threadIdx.x / 32; word < c.stride; word += blockDim.x / 32) {
                u32 address = 0;
                for (u32 j = 0; j < arity; j++) address |= (r.inputs[j][word] >> lane & 1) << j;
                c.addresses[word * 32 + lane] = (u16)address;
            }
        }
        return;
    }
    cut(c, s, r, arity);
    u32 slot = c.slots[s.first[level] + gate];
    evaluate(arity, c, r, c.columns + (u64)slot * c.stride, 0);
    keep_table(s, r, c.tables + (u64)slot * s.table_words);
}

__device__ inline float half_impurity(u32 zeros_of, u32 ones_of) {
    float zeros = (float)(i32)zeros_of, ones = (float)(i32)ones_of, rows = zeros + ones;
    return zeros * ones / (rows > 1.0f ? rows : 1.0f);
}

// How mixed the sides are at the addresses of a gate, by pairs that differ in one input. Sums are taken in eight lanes.
__device__ inline float impurity(const u32 *counts, u32 arity, u32 input) {
    float sums[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    u32 low = (1u << input) - 1;
    for (u32 cell = 0; cell < 1u << (arity - 1); cell++) {
        u32 zero = (cell & low) | (cell & ~low) << 1, one = zero | 1u << input;
        const u32 *zeros = counts, *ones = counts + (1u << arity);
        sums[cell % 8] += half_impurity(zeros[one], ones[one]) + half_impurity(zeros[zero], ones[zero]);
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// Of some columns, that which tells the gate of a leaf most, if it tells more than the one there; all threads get it.
__device__ __noinline__ u32 most_telling(const Climb &c, const Shape &s, const Room &r, u32 leaf, const u32 *columns) {
    u32 arity = s.arity[0], input = leaf % arity, addresses = 2u << arity;
    for (u32 i = 0; i <= s.candidates; i++) {
        const u32 *changed = i < s.candidates ? c.sample + (u64)columns[i] * c.stride : 0;
        find_inputs(c, s, r, 0, leaf / arity, input, changed);
        count(arity, c, r.inputs, r.counts + i * addresses);
    }
    float *found = (float *)r.sums;
    for (u32 i = threadIdx.x; i <= s.candidates; i += blockDim.x) {
        found[i] = impurity(r.counts + i * addresses, arity, input);
    }
    __syncthreads();
    float best = found[s.candidates];
    u32 column = 0xffffffffu;
    const u32 *read = c.leaves + leaf / arity * arity;
    for (u32 i = 0; i < s.candidates; i++) {
        bool is_read = false;
        for (u32 j = 0; j < arity; j++) is_read |= read[j] == columns[i];
        if (!is_read && found[i] < best) {
            best = found[i];
            column = columns[i];
        }
    }
    __syncthreads();
    return column;
}

// The column that a trial makes of a gate.
__device__ inline u32 *made_column(const Climb &c, const Shape &s, u32 level, u32 slot) {
    return c.shared ? c.shared + (c.leaf_count + s.first[s.depth - 1] + level) * c.stride
                    : c.columns + (u64)slot * c.stride;
}

// Whether a leaf that reads another column makes the root better; the gates on the way are in the slots of the block.
__device__ inline bool is_better(const Climb &c, const Shape &s, const Room &r, u32 leaf, u32 column, const u32 *slots,
                                 i64 &score) {
    u32 place = leaf, ones = 0;
    const u32 *changed = c.sample + (u64)column * c.stride;
    for (u32 level = 0; level < s.depth; level++) {
        u32 arity = s.arity[level], input = place % arity;
        place /= arity;
        if (level + 1 == s.depth && c.addresses) {
            __syncthreads();
            count_root(arity, c, input, changed, 2 * ones <= c.rows[0] + c.rows[1], r.counts);
            break;
        }
        find_inputs(c, s, r, level, place, input, changed);
        count(arity, c, r.inputs, r.counts);
        if (level + 1 == s.depth) break;
        cut(c, s, r, arity);
        u32 slot = slots[level];
        u32 *made = made_column(c, s, level, slot);
        const u32 *before = gate_column(c, s, level, place);
        u64 said = block_sum(evaluate(arity, c, r, made, before), r.sums);
        keep_table(s, r, c.tables + (u64)slot * s.table_words);
        if (!(said >> 32)) return false;
        ones = (u32)said;
        changed = made;
    }
    score = score_of(s, r, s.arity[s.depth - 1]);
    return score > c.score;
}
