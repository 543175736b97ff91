// Hill climbing of small trees, a warp for each trial.
//
// Gates have at most five inputs, so that a lane has an address, and a block shares all columns of its tree. The trials of a
// step are made as in `climb_trials`: as if those before them failed, and the blocks of a tree wait for each other once for every
// step.

#include "device.h"

// What a block shares. Counts of rows have those of the lower side in their lower half.
struct Small {
    u32 stride, split, leaf_count, inner;
    // The columns of all leaves, then of all gates below the root by level; which rows of a word there are.
    u32 *columns, *there;
    // The columns that warps make.
    u32 *made;
    // Of each gate the rows at its addresses; of each leaf the column; of each gate below the root its table.
    u32 *counts, *leaves, *tables;
    // The trial that is taken.
    u32 *taken;
};

__device__ inline Small small_of(const Climb &tree, const Shape &s, u32 leaf_count) {
    Small m;
    u32 warps = blockDim.x / 32, inner = s.first[s.depth - 1];
    m.stride = tree.stride;
    m.split = tree.split;
    m.leaf_count = leaf_count;
    m.inner = inner;
    // What is read four words at a time comes first.
    m.columns = (u32 *)shared_words;
    m.there = m.columns + (leaf_count + inner) * m.stride;
    m.made = m.there + m.stride;
    m.counts = m.made + warps * (s.depth - 1) * m.stride;
    m.leaves = m.counts + 32 * (inner + 1);
    m.tables = m.leaves + leaf_count;
    m.taken = m.tables + inner;
    return m;
}

// What a trial made that is better, for the other blocks: a column and a table of each gate below the root, counts of all gates.
struct Made {
    u32 *columns, *counts, *tables;
    i64 *score;
};

// Where the trial of so many after the first of a step has it; those of the step before it are elsewhere.
__device__ inline Made made_of(const Climb &tree, const Shape &s, u32 inner, u32 step, u32 place) {
    u32 width = gridDim.x * blockDim.x / 32, at = step % 2 * width + place;
    Made made;
    made.columns = tree.columns + (u64)(inner + at * (s.depth - 1)) * tree.stride;
    made.counts = tree.counts + 32 * s.depth * at;
    made.score = (i64 *)tree.outcomes + at;
    made.tables = (u32 *)(tree.tables + (inner + at * (s.depth - 1)) * s.table_words);
    return made;
}

// The inputs of a gate lie one after the other.
__device__ inline u32 *inputs_of(const Small &m, const Shape &s, u32 level, u32 gate) {
    u32 first = level == 0 ? 0 : m.leaf_count + s.first[level - 1];
    return m.columns + (first + gate * s.arity[level]) * m.stride;
}

__device__ inline u32 *column_of(const Small &m, const Shape &s, u32 level, u32 gate) {
    return m.columns + (m.leaf_count + s.first[level] + gate) * m.stride;
}

// Quads that a lane asks for before it looks at them.
const u32 QUADS = 4;

// Counts the rows of a column by what the other inputs of a gate say. A lane gets those of the cell of its number.
template <int OTHERS>
__device__ __noinline__ u32 count_cells(u32 stride, u32 split, const u32 *column, const u32 *inputs, u32 input) {
    u32 lane = threadIdx.x % 32, sums[1 << OTHERS];
    const u32 *others[OTHERS + 1];
#pragma unroll
    for (int j = 0; j < OTHERS; j++) others[j] = inputs + (j + ((u32)j >= input)) * stride;
#pragma unroll
    for (int cell = 0; cell < 1 << OTHERS; cell++) sums[cell] = 0;
    for (u32 begin = 4 * lane; begin < stride; begin += 128 * QUADS) {
        Quad own[QUADS];
#pragma unroll
        for (u32 k = 0; k < QUADS; k++) {
            if (begin + 128 * k < stride) own[k] = *(const Quad *)(column + begin + 128 * k);
        }
#pragma unroll
        for (u32 k = 0; k < QUADS; k++) {
            u32 at = begin + 128 * k, shift = at >= split ? 16 : 0, found[1 << OTHERS];
            if (at >= stride) break;
            Quad read[OTHERS + 1];
#pragma unroll
            for (int j = 0; j < OTHERS; j++) read[j] = *(const Quad *)(others[j] + at);
#pragma unroll
            for (int cell = 0; cell < 1 << OTHERS; cell++) found[cell] = 0;
#pragma unroll
            for (u32 word = 0; word < 4; word++) {
                u32 cells[1 << OTHERS];
                cells[0] = own[k].words[word];
#pragma unroll
                for (int j = 0; j < OTHERS; j++) {
#pragma unroll
                    for (int cell = 0; cell < 1 << j; cell++) {
                        cells[cell | 1 << j] = cells[cell] & read[j].words[word];
                        cells[cell] &= ~read[j].words[word];
                    }
                }
#pragma unroll
                for (int cell = 0; cell < 1 << OTHERS; cell++) found[cell] += __popc(cells[cell]);
            }
#pragma unroll
            for (int cell = 0; cell < 1 << OTHERS; cell++) sums[cell] += found[cell] << shift;
        }
    }
    u32 own = 0;
#pragma unroll
    for (int cell = 0; cell < 1 << OTHERS; cell++) {
        u32 sum = warp_sum(sums[cell]);
        own = lane == cell ? sum : own;
    }
    return own;
}

__device__ inline u32 count_cells_of(u32 arity, const Small &m, const u32 *column, const u32 *inputs, u32 input) {
    switch (arity) {
    case 1: return count_cells<0>(m.stride, m.split, column, inputs, input);
    case 2: return count_cells<1>(m.stride, m.split, column, inputs, input);
    case 3: return count_cells<2>(m.stride, m.split, column, inputs, input);
    case 4: return count_cells<3>(m.stride, m.split, column, inputs, input);
    default: return count_cells<4>(m.stride, m.split, column, inputs, input);
    }
}

// The rows at the address of each lane, an input being another column. How many there are in all at both addresses of a cell is
// known from before.
__device__ inline u32 count_changed(u32 arity, const Small &m, const u32 *column, const u32 *inputs, u32 input, const u32 *before) {
    u32 lane = threadIdx.x % 32, found = count_cells_of(arity, m, column, inputs, input);
    u32 low = (1u << input) - 1, bit = 1u << input, address = lane & ((1u << arity) - 1);
    u32 ones = __shfl_sync(0xffffffffu, found, (address & low) | (address >> 1 & ~low));
    return lane != address ? 0 : address & bit ? ones : before[address] + before[address | bit] - ones;
}

// Writes what a gate says of every row; a lane is told whether that is other than before for one of its rows.
template <int ARITY>
__device__ __noinline__ bool say(u32 stride, const u32 *there, u32 table, const u32 *changed, const u32 *inputs, u32 input,
                                 const u32 *before, u32 *column) {
    const u32 *from[ARITY];
    u32 is_other = 0;
#pragma unroll
    for (int j = 0; j < ARITY; j++) from[j] = (u32)j == input ? changed : inputs + j * stride;
#pragma unroll 2
    for (u32 at = 4 * (threadIdx.x % 32); at < stride; at += 128) {
        Quad read[ARITY], now, was = *(const Quad *)(before + at), all = *(const Quad *)(there + at);
#pragma unroll
        for (int j = 0; j < ARITY; j++) read[j] = *(const Quad *)(from[j] + at);
#pragma unroll
        for (u32 word = 0; word < 4; word++) {
            u32 own[ARITY];
#pragma unroll
            for (int j = 0; j < ARITY; j++) own[j] = read[j].words[word];
            now.words[word] = Lookup<ARITY>::word(table, own) & all.words[word];
            is_other |= now.words[word] ^ was.words[word];
        }
        *(Quad *)(column + at) = now;
    }
    return is_other != 0;
}

__device__ inline bool say_of(u32 arity, const Small &m, u32 table, const u32 *changed, const u32 *inputs, u32 input,
                              const u32 *before, u32 *column) {
    switch (arity) {
    case 1: return say<1>(m.stride, m.there, table, changed, inputs, input, before, column);
    case 2: return say<2>(m.stride, m.there, table, changed, inputs, input, before, column);
    case 3: return say<3>(m.stride, m.there, table, changed, inputs, input, before, column);
    case 4: return say<4>(m.stride, m.there, table, changed, inputs, input, before, column);
    default: return say<5>(m.stride, m.there, table, changed, inputs, input, before, column);
    }
}

// Counts the rows at the addresses of a gate: first those where its last input says one.
__device__ inline void count_gate(const Small &m, const Shape &s, u32 level, u32 gate) {
    u32 lane = threadIdx.x % 32, arity = s.arity[level], last = arity - 1;
    const u32 *inputs = inputs_of(m, s, level, gate);
    u32 ones = count_cells_of(arity, m, inputs + last * m.stride, inputs, last);
    u32 all = count_cells_of(arity, m, m.there, inputs, last);
    u32 *counts = m.counts + 32 * (s.first[level] + gate), cells = 1u << last;
    if (lane < cells) {
        counts[lane] = all - ones;
        counts[cells | lane] = ones;
    }
}

// Copies the tree to where its block works on it.
__device__ inline void fetch(const Small &m, const Shape &s, const Climb &tree) {
    u32 warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (u32 leaf = threadIdx.x; leaf < m.leaf_count; leaf += blockDim.x) m.leaves[leaf] = tree.leaves[leaf];
    for (u32 gate = threadIdx.x; gate < m.inner; gate += blockDim.x) {
        m.tables[gate] = (u32)tree.tables[tree.slots[gate] * s.table_words];
    }
    for (u32 word = threadIdx.x; word < m.stride; word += blockDim.x) m.there[word] = rows_in_word(tree, word);
    for (u32 column = warp; column < m.leaf_count + m.inner; column += warps) {
        const u32 *from = column < m.leaf_count ? tree.sample + (u64)tree.leaves[column] * m.stride
                                                : tree.columns + (u64)tree.slots[column - m.leaf_count] * m.stride;
        for (u32 word = threadIdx.x % 32; word < m.stride; word += 32) m.columns[column * m.stride + word] = from[word];
    }
    __syncthreads();
    u32 gates = 1;
    for (u32 level = s.depth; level-- > 0; gates *= s.arity[level]) {
        for (u32 gate = warp; gate < gates; gate += warps) count_gate(m, s, level, gate);
    }
    __syncthreads();
}

// Whether a leaf that reads another column makes the root better than so much; what is made on the way is written down.
__device__ inline bool improves(const Small &m, const Shape &s, const Climb &tree, u32 leaf, const u32 *changed, i64 best,
                                const Made &made) {
    u32 lane = threadIdx.x % 32, place = leaf, *own = m.made + threadIdx.x / 32 * (s.depth - 1) * m.stride;
    i64 score = 0;
    for (u32 level = 0; level < s.depth; level++) {
        u32 arity = s.arity[level], input = place % arity;
        place /= arity;
        const u32 *inputs = inputs_of(m, s, level, place);
        u32 counts = count_changed(arity, m, changed, inputs, input, m.counts + 32 * (s.first[level] + place));
        made.counts[32 * level + lane] = counts;
        u32 zeros = counts & 0xffffu, ones = counts >> 16;
        if (level + 1 == s.depth) {
            score = s.logs[zeros] + s.logs[ones] - s.logs[zeros + ones];
            break;
        }
        u32 table = cut_lanes(tree, s, 1u << arity, zeros, ones), *column = own + level * m.stride;
        bool is_other = say_of(arity, m, table, changed, inputs, input, column_of(m, s, level, place), column);
        if (!__ballot_sync(0xffffffffu, is_other)) return false;
        if (lane == 0) made.tables[2 * level * s.table_words] = table;
        __syncwarp();
        changed = column;
    }
    for (u32 step = 16; step > 0; step /= 2) score += __shfl_xor_sync(0xffffffffu, score, step);
    if (score <= best) return false;
    for (u32 at = 4 * lane; at < (s.depth - 1) * m.stride; at += 128) *(Quad *)(made.columns + at) = *(const Quad *)(own + at);
    if (lane == 0) *made.score = score;
    return true;
}

// Takes a trial.
__device__ inline void adopt_trial(const Small &m, const Shape &s, const Climb &tree, u32 leaf, u32 column, const Made &made) {
    const u32 *from = tree.sample + (u64)column * m.stride;
    u32 *to = m.columns + leaf * m.stride, place = leaf;
    if (threadIdx.x == 0) m.leaves[leaf] = column;
    for (u32 level = 0; level < s.depth; level++) {
        for (u32 at = 4 * threadIdx.x; at < m.stride; at += 4 * blockDim.x) *(Quad *)(to + at) = *(const Quad *)(from + at);
        place /= s.arity[level];
        u32 gate = s.first[level] + place;
        for (u32 address = threadIdx.x; address < 32; address += blockDim.x) {
            m.counts[32 * gate + address] = made.counts[32 * level + address];
        }
        if (level + 1 == s.depth) break;
        if (threadIdx.x == 0) m.tables[gate] = made.tables[2 * level * s.table_words];
        from = made.columns + level * m.stride;
        to = column_of(m, s, level, place);
    }
}

// Makes all trials of each tree, a step after the other. The first numbers are those of `Shape`, 10: leaves of a tree.
KERNEL_TOGETHER_OF_FEW(climb_warps) {
    Climb &tree = POINTER(Climb, 0)[blockIdx.y];
    Shape s = shape_of(p);
    Small m = small_of(tree, s, (u32)NUMBER(10));
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, width = gridDim.x * blockDim.x / 32, next = 0;
    // Trials that are likely to be taken are made by several blocks.
    u32 place = warp * gridDim.x + blockIdx.x;
    i64 best = tree.score;
    fetch(m, s, tree);
    for (u32 step = 0; next < s.trials; step++) {
        u32 trial = next + place, *first = tree.better + step % 3;
        if (trial < s.trials) {
            u32 leaf = tree.trials[2 * trial], column = tree.trials[2 * trial + 1];
            const u32 *read = m.leaves + leaf / s.arity[0] * s.arity[0];
            bool is_read = lane < s.arity[0] && read[lane] == column;
            Made made = made_of(tree, s, m.inner, step, place);
            if (!__ballot_sync(0xffffffffu, is_read) &&
                improves(m, s, tree, leaf, tree.sample + (u64)column * m.stride, best, made) && lane == 0) {
                atomicMin(first, trial);
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            // All blocks have ended the step before this, so that none reads any more what was better two steps ago.
            if (blockIdx.x == 0) tree.better[(step + 1) % 3] = 0xffffffffu;
            // All that a block wrote is seen by the others before they hear that it has ended.
            __threadfence();
            atomicAdd(&tree.ended, 1u);
            while (*(volatile u32 *)&tree.ended < (step + 1) * gridDim.x) wait_a_moment();
            __threadfence();
            *m.taken = *(volatile u32 *)first;
        }
        __syncthreads();
        u32 taken = *m.taken;
        if (taken == 0xffffffffu) {
            next += width;
            continue;
        }
        Made made = made_of(tree, s, m.inner, step, taken - next);
        best = *made.score;
        adopt_trial(m, s, tree, tree.trials[2 * taken], tree.trials[2 * taken + 1], made);
        next = taken + 1;
        __syncthreads();
    }
    if (blockIdx.x > 0) return;
    for (u32 leaf = threadIdx.x; leaf < m.leaf_count; leaf += blockDim.x) tree.leaves[leaf] = m.leaves[leaf];
    for (u32 gate = threadIdx.x; gate < m.inner; gate += blockDim.x) {
        tree.tables[tree.slots[gate] * s.table_words] = m.tables[gate];
    }
}
