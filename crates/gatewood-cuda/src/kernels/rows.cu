// The phases of a round that touch every row.

#include "device.h"

// Writes one number to a list. 0: list, 1: length, 2: number.
KERNEL_ALONE(fill) {
    i32 *list = POINTER(i32, 0);
    for (u64 i = this_thread(); i < NUMBER(1); i += all_threads()) list[i] = (i32)NUMBER(2);
}

// A tree: its arities, leaves and tables.
struct Tree {
    const u32 *columns;
    u64 stride;
    const u32 *leaves;
    const u64 *tables;
    u32 arity[3];
    u32 first_table[3];
};

// What a gate of a level says of 32 rows, or below the first level a leaf.
template <int LEVEL> __device__ u32 says(const Tree &tree, u32 gate, u64 word);

template <> __device__ inline u32 says<0>(const Tree &tree, u32 leaf, u64 word) {
    return tree.columns[tree.leaves[leaf] * tree.stride + word];
}

template <int LEVEL, int ARITY> __device__ inline u32 says_few(const Tree &tree, u32 gate, u64 table, u64 word) {
    u32 read[ARITY];
    if (LEVEL == 1) {
#pragma unroll
        for (int j = 0; j < ARITY; j++) read[j] = says<0>(tree, gate * ARITY + j, word);
    } else {
#pragma unroll 1
        for (int j = 0; j < ARITY; j++) read[j] = says<LEVEL - 1>(tree, gate * ARITY + j, word);
    }
    return Lookup<ARITY>::word(table, read);
}

// The same for many inputs, row by row.
template <int LEVEL> __device__ inline u32 says_many(const Tree &tree, u32 gate, const u64 *table, u64 word) {
    u32 arity = tree.arity[LEVEL - 1], addresses[32], said = 0;
#pragma unroll
    for (u32 k = 0; k < 32; k++) addresses[k] = 0;
#pragma unroll 1
    for (u32 j = 0; j < arity; j++) {
        u32 read = says<LEVEL - 1>(tree, gate * arity + j, word);
#pragma unroll
        for (u32 k = 0; k < 32; k++) addresses[k] |= (read >> k & 1) << j;
    }
#pragma unroll
    for (u32 k = 0; k < 32; k++) said |= (u32)(table[addresses[k] / 64] >> (addresses[k] % 64) & 1) << k;
    return said;
}

// It is one function for all that ask: the text of a kernel must fit in the cache.
template <int LEVEL> __device__ __noinline__ u32 says(const Tree &tree, u32 gate, u64 word) {
    u32 arity = tree.arity[LEVEL - 1], words = arity <= 6 ? 1 : 1u << (arity - 6);
    const u64 *table = tree.tables + tree.first_table[LEVEL - 1] + gate * words;
    switch (arity) {
    case 1: return says_few<LEVEL, 1>(tree, gate, *table, word);
    case 2: return says_few<LEVEL, 2>(tree, gate, *table, word);
    case 3: return says_few<LEVEL, 3>(tree, gate, *table, word);
    case 4: return says_few<LEVEL, 4>(tree, gate, *table, word);
    case 5: return says_few<LEVEL, 5>(tree, gate, *table, word);
    case 6: return says_few<LEVEL, 6>(tree, gate, *table, word);
    default: return says_many<LEVEL>(tree, gate, table, word);
    }
}

template <int LEVEL> __device__ inline void write_addresses(const Tree &tree, u64 words, u32 *addresses) {
    u32 arity = tree.arity[LEVEL - 1];
    for (u64 word = this_thread(); word < words; word += all_threads()) {
        u32 said[16], read[16];
#pragma unroll 1
        for (u32 j = 0; j < arity; j++) said[j] = says<LEVEL - 1>(tree, j, word);
#pragma unroll
        for (u32 j = 0; j < 16; j++) read[j] = j < arity ? said[j] : 0;
        transpose_inputs<16>(read);
        // Of 16 rows, then of the 16 others; two of 16 bits in a word.
        Quad *out = (Quad *)(addresses + 16 * word);
#pragma unroll
        for (u32 k = 0; k < 2; k++) {
            Quad low, high;
#pragma unroll
            for (u32 i = 0; i < 4; i++) {
                u32 first = read[8 * k + 2 * i], second = read[8 * k + 2 * i + 1];
                low.words[i] = (first & 0xffffu) | second << 16;
                high.words[i] = first >> 16 | (second & 0xffff0000u);
            }
            out[k] = low;
            out[2 + k] = high;
        }
    }
}

// The root address of every row, a line of blocks for each tree. 0: columns, 1: words of 32 bits of a column, 2: words to do, 3: leaves,
// 4: tables, 5: depth, 6 to 8: arities, 9 to 11: the first table of each level, 12: where the addresses of each tree go, 13: leaves
// of a tree, 14: words of its tables, 15: the first word to do.
KERNEL_OF_FEW(address) {
    Tree tree;
    tree.columns = POINTER(const u32, 0);
    tree.stride = NUMBER(1);
    tree.leaves = POINTER(const u32, 3) + blockIdx.y * NUMBER(13);
    tree.tables = POINTER(const u64, 4) + blockIdx.y * NUMBER(14);
    for (u32 level = 0; level < 3; level++) {
        tree.arity[level] = (u32)NUMBER(6 + level);
        tree.first_table[level] = (u32)NUMBER(9 + level);
    }
    u32 *addresses = (u32 *)POINTER(const u64, 12)[blockIdx.y] + 16 * NUMBER(15), depth = (u32)NUMBER(5);
    u64 words = NUMBER(2);
    if (depth == 1) write_addresses<1>(tree, words, addresses);
    else if (depth == 2) write_addresses<2>(tree, words, addresses);
    else write_addresses<3>(tree, words, addresses);
}

// Adds the votes of trees, a line of blocks for each. 0: margins, 1: rows, 2: for each tree its addresses, its votes, its first
// margin, and how many margins.
KERNEL_ALONE(vote) {
    u64 rows = NUMBER(1);
    const u64 *tree = POINTER(const u64, 2) + 4 * blockIdx.y;
    i32 *margins = POINTER(i32, 0) + tree[2] * rows;
    const u16 *addresses = (const u16 *)tree[0];
    const i32 *votes = (const i32 *)tree[1];
    u32 count = (u32)tree[3];
    for (u64 row = this_thread(); row < rows; row += all_threads()) {
        const i32 *here = votes + addresses[row] * (u64)count;
        for (u32 margin = 0; margin < count; margin++) margins[margin * rows + row] += here[margin];
    }
}

// Two classes: adds the votes of a tree, where there is one, and makes the gradients. 0: margins, 1: rows, 2: addresses or
// none, 3: votes, 4: targets, 5: probabilities, 6: the largest margin they have, 7: gradients.
KERNEL_ALONE(update_logistic) {
    i32 *margins = POINTER(i32, 0), *gradients = POINTER(i32, 7);
    const u16 *addresses = POINTER(const u16, 2);
    const i32 *votes = POINTER(const i32, 3);
    const u32 *targets = POINTER(const u32, 4), *probabilities = POINTER(const u32, 5);
    i32 limit = (i32)NUMBER(6);
    for (u64 row = this_thread(); row < NUMBER(1); row += all_threads()) {
        i32 margin = margins[row];
        if (addresses) {
            margin += votes[addresses[row]];
            margins[row] = margin;
        }
        i32 place = (margin < -limit ? -limit : margin > limit ? limit : margin) + limit;
        gradients[row] = (i32)(targets[row] << 24) - (i32)probabilities[place];
    }
}

// Many classes: makes the gradients. 0: margins, 1: rows, 2: classes, 3: targets, 4: exponentials, 5: the largest difference
// they have, 6: gradients.
KERNEL_ALONE(gradient_softmax) {
    u64 rows = NUMBER(1);
    u32 classes = (u32)NUMBER(2);
    const i32 *margins = POINTER(const i32, 0);
    const u32 *targets = POINTER(const u32, 3);
    const float *exponentials = POINTER(const float, 4);
    i64 limit = (i64)NUMBER(5);
    i32 *gradients = POINTER(i32, 6);
    for (u64 row = this_thread(); row < rows; row += all_threads()) {
        i32 largest = margins[row];
        for (u32 c = 1; c < classes; c++) {
            i32 margin = margins[c * rows + row];
            if (margin > largest) largest = margin;
        }
        float sum = 0.0f;
        for (u32 c = 0; c < classes; c++) {
            i64 difference = (i64)largest - margins[c * rows + row];
            sum += exponentials[difference > limit ? limit : difference];
        }
        float scale = (float)ONE / sum;
        u32 target = targets[row];
        for (u32 c = 0; c < classes; c++) {
            i64 difference = (i64)largest - margins[c * rows + row];
            i32 share = (i32)(exponentials[difference > limit ? limit : difference] * scale);
            share = share < 1 ? 1 : share > ONE - 1 ? ONE - 1 : share;
            gradients[c * rows + row] = (c == target ? ONE : 0) - share;
        }
    }
}

// Values: makes the gradients. 0: margins, 1: rows, 2: how many margins, 3: targets, 4: unit, 5: three floats for each
// margin, 6: gradients.
KERNEL_ALONE(gradient_slopes) {
    u64 rows = NUMBER(1), unit_bits = NUMBER(4);
    double unit = *(double *)&unit_bits;
    const i32 *margins = POINTER(const i32, 0);
    const u32 *targets = POINTER(const u32, 3);
    const double *slopes = POINTER(const double, 5);
    i32 *gradients = POINTER(i32, 6);
    for (u64 row = this_thread(); row < rows; row += all_threads()) {
        double target = (double)(i32)targets[row] / 1073741824.0;
        for (u32 m = 0; m < NUMBER(2); m++) {
            double margin = unit * (double)margins[m * rows + row];
            double fall = target - margin;
            fall = fall + slopes[3 * m];
            double low = slopes[3 * m + 1], high = slopes[3 * m + 2];
            fall = fall < low ? low : fall > high ? high : fall;
            gradients[m * rows + row] = (i32)(fall * 16777216.0);
        }
    }
}

// What a row is drawn by, and on which side it is.
struct Weigher {
    const i32 *gradients;
    u64 rows;
    const u32 *margins;
    u32 count;
    const u32 *weights;
    const u8 *learned;
    const u8 *among;
    const u32 *powers;
    u32 last_power;
};

// Of one draw for each line of blocks, each by one margin; or of one draw by a group of margins.
__device__ inline Weigher weigher(const Parameters &p) {
    Weigher w;
    w.gradients = POINTER(const i32, 0);
    w.rows = NUMBER(1);
    w.margins = POINTER(const u32, 2);
    w.count = (u32)NUMBER(3);
    if (!w.count) {
        w.gradients += w.margins[blockIdx.y] * w.rows;
        w.margins = 0;
    }
    w.weights = POINTER(const u32, 4);
    w.learned = POINTER(const u8, 5);
    w.among = POINTER(const u8, 6);
    w.powers = POINTER(const u32, 7);
    w.last_power = (u32)NUMBER(8);
    return w;
}

__device__ inline u32 float_bits(float number) { return *(u32 *)&number; }

__device__ inline u32 weigh(const Weigher &w, u64 row, i32 &gradient) {
    gradient = w.margins ? 0 : w.gradients[row];
    for (u32 i = 0; w.margins && i < w.count; i++) gradient += w.gradients[w.margins[i] * w.rows + row];
    i32 size = gradient < 0 ? -gradient : gradient;
    if (size > ONE) size = ONE;
    u32 weight = (u32)size;
    if (w.powers) {
        u32 first = float_bits((float)size) >> 17, one = float_bits(1.0f) >> 17;
        u32 place = first > one ? first - one : 0;
        weight = w.powers[place < w.last_power ? place : w.last_power];
    }
    if (w.weights) weight = (u32)(((u64)weight * w.weights[row]) >> 8);
    if (w.learned && !w.learned[row]) weight = 0;
    if (w.among && !w.among[row]) weight = 0;
    return weight;
}

// The weight of the rows of each block. 0: gradients, 1: rows, 2: which margin for each draw, or those of the group, 3: how many those are,
// or zero, 4: weights of rows or none, 5: which are learned from or none, 6: which may be drawn or none, 7: powers or none, 8: the last of
// them, 9: sums of each draw, and room for one more.
KERNEL(weigh_tiles) {
    Weigher w = weigher(p);
    u64 tile = (u64)TILE_ROWS_A_THREAD * blockDim.x, first = blockIdx.x * tile, sum = 0;
    for (u32 i = 0; i < TILE_ROWS_A_THREAD; i++) {
        u64 row = first + (u64)i * blockDim.x + threadIdx.x;
        i32 gradient;
        if (row < w.rows) sum += weigh(w, row, gradient);
    }
    sum = block_sum(sum, shared_words);
    if (threadIdx.x == 0) POINTER(u64, 9)[blockIdx.y * (gridDim.x + 1) + blockIdx.x] = sum;
}

// Sums of all before, in place of each of some numbers, and the sum of all after them. Lists may be side by side. A block for each
// draw. 0: numbers of 32 or 64 bits, 1: how many bits, 2: how many lists, 3: how many numbers each, 4: the sums of all, too, or none.
template <typename T> __device__ inline void add_up(T *numbers, u32 lists, u32 count, T *all_there) {
    numbers += blockIdx.x * (u64)(count + 1) * lists;
    for (u32 list = 0; list < lists; list++) {
        u64 begun = 0;
        for (u32 first = 0; first < count; first += blockDim.x) {
            u32 at = first + threadIdx.x;
            u64 own = at < count ? numbers[(u64)at * lists + list] : 0, before = sum_before(own, shared_words);
            u64 all = shared_words[blockDim.x - 1];
            if (at < count) numbers[(u64)at * lists + list] = (T)(begun + before);
            begun += all;
        }
        if (threadIdx.x == 0) {
            numbers[(u64)count * lists + list] = (T)begun;
            if (all_there) all_there[blockIdx.x * lists + list] = (T)begun;
        }
    }
}

KERNEL(sums_before) {
    if (NUMBER(1) == 64) add_up(POINTER(u64, 0), (u32)NUMBER(2), (u32)NUMBER(3), POINTER(u64, 4));
    else add_up(POINTER(u32, 0), (u32)NUMBER(2), (u32)NUMBER(3), POINTER(u32, 4));
}

// Picks rows at evenly spaced places along the sum of all weights, as weighed above. 9: the weight before each block and that of all
// rows, 10: for each draw how many are drawn, where the places begin, and where its picks do, 11: for each block how many are picked of the lower and of the upper side, or the place of the first where they are written, then all
// there are; 12: those of the lower side of each draw, then of the upper, or none to count them.
KERNEL(pick) {
    Weigher w = weigher(p);
    u64 tile = (u64)TILE_ROWS_A_THREAD * blockDim.x;
    u64 first = blockIdx.x * tile + (u64)threadIdx.x * TILE_ROWS_A_THREAD;
    const u64 *draw = POINTER(const u64, 10) + 3 * blockIdx.y;
    u64 line = blockIdx.y * (u64)(gridDim.x + 1), total = POINTER(const u64, 9)[line + gridDim.x];
    u32 bits = total ? 64 - (u32)__clzll(total) : 0, shift = bits > 36 ? bits - 36 : 0;
    u64 scale = (draw[0] << 36) / ((total >> shift) + 1), start = draw[1];
    u32 weights[TILE_ROWS_A_THREAD];
    bool upper[TILE_ROWS_A_THREAD];
    u64 sum = 0;
    for (u32 i = 0; i < TILE_ROWS_A_THREAD; i++) {
        i32 gradient = 0;
        weights[i] = first + i < w.rows ? weigh(w, first + i, gradient) : 0;
        upper[i] = gradient > 0;
        sum += weights[i];
    }
    u64 begun = POINTER(const u64, 9)[line + blockIdx.x] + sum_before(sum, shared_words);
    u64 counts = 0, before = ((begun >> shift) * scale + start) >> 36;
    u32 times[TILE_ROWS_A_THREAD];
    for (u32 i = 0; i < TILE_ROWS_A_THREAD; i++) {
        begun += weights[i];
        u64 now = ((begun >> shift) * scale + start) >> 36;
        times[i] = (u32)(now - before);
        before = now;
        counts += upper[i] ? (u64)times[i] << 32 : times[i];
    }
    u64 place = sum_before(counts, shared_words);
    u32 *places = POINTER(u32, 11) + 2 * (line + blockIdx.x);
    if (!NUMBER(12)) {
        if (threadIdx.x == blockDim.x - 1) {
            places[0] = (u32)(place + counts);
            places[1] = (u32)((place + counts) >> 32);
        }
        return;
    }
    u32 *lower_picks = POINTER(u32, 12) + draw[2], *upper_picks = lower_picks + POINTER(u32, 11)[2 * (line + gridDim.x)];
    u64 lower = places[0] + (u32)place, above = places[1] + (u32)(place >> 32);
    for (u32 i = 0; i < TILE_ROWS_A_THREAD; i++) {
        for (u32 time = 0; time < times[i]; time++) {
            if (upper[i]) upper_picks[above++] = (u32)(first + i);
            else lower_picks[lower++] = (u32)(first + i);
        }
    }
}

// The margins of some rows. 0: margins, 1: rows, 2: which rows, 3: how many, 4: how many margins, 5: theirs.
KERNEL_ALONE(margins_of) {
    for (u64 i = this_thread(); i < NUMBER(3) * NUMBER(4); i += all_threads()) {
        u64 margin = i / NUMBER(3), row = POINTER(const u32, 2)[i % NUMBER(3)];
        POINTER(i32, 5)[i] = POINTER(const i32, 0)[margin * NUMBER(1) + row];
    }
}

// Rows that were picked of a sample: words of 32 bits of the lower side are followed by those of the upper one.
struct Picked {
    const u32 *lower_picks, *upper_picks;
    u32 lower, upper, split, words;
};

// The row that a lane has of a word, and whether there is one.
__device__ inline u32 picked_row(const Picked &picked, u32 word, bool &is_there) {
    bool is_upper = word >= picked.split;
    u32 pick = 32 * (is_upper ? word - picked.split : word) + threadIdx.x % 32;
    is_there = word < picked.words && pick < (is_upper ? picked.upper : picked.lower);
    return is_there ? (is_upper ? picked.upper_picks : picked.lower_picks)[pick] : 0;
}

// A sample of rows. 0: columns, 1: words of 32 bits of a column, 2: which columns, 3: picks of the lower side, 4: how many,
// 5: of the upper side, 6: how many, 7: words of 64 bits of the lower side, 8: of both, 9: the sample.
KERNEL(gather) {
    Picked picked;
    picked.lower_picks = POINTER(const u32, 3);
    picked.upper_picks = POINTER(const u32, 5);
    picked.lower = (u32)NUMBER(4);
    picked.upper = (u32)NUMBER(6);
    picked.split = 2 * (u32)NUMBER(7);
    picked.words = 2 * (u32)NUMBER(8);
    const u32 *column = POINTER(const u32, 0) + POINTER(const u32, 2)[blockIdx.y] * NUMBER(1);
    u32 *out = POINTER(u32, 9) + (u64)blockIdx.y * picked.words, lane = threadIdx.x % 32;
    // A warp has 32 words, and a lane a row of each.
    for (u64 first = this_thread() / 32 * 32; first < picked.words; first += all_threads()) {
        u32 own = 0;
#pragma unroll 8
        for (u32 i = 0; i < 32; i++) {
            bool is_there;
            u32 row = picked_row(picked, (u32)first + i, is_there);
            u32 said = __ballot_sync(0xffffffffu, is_there && (column[row / 32] >> (row % 32) & 1));
            own = i == lane ? said : own;
        }
        if (first + lane < picked.words) out[first + lane] = own;
    }
}

// Words of 32 bits of the rows of a side: whole blocks of sixteen.
__device__ inline u32 padded_words(u32 rows) { return (rows + 511) / 512 * 16; }

// What is known of a sample among several: the address of its columns, each with its place in the sample in the upper half; how many
// these are; the address of its picks, those of the lower side first; the address of how many there are of either side; the
// address of the sample.
const u32 SAMPLE_WORDS = 5;

__device__ inline Picked picked_of(const u64 *sample) {
    Picked picked;
    const u32 *sides = (const u32 *)sample[3];
    picked.lower = sides[0];
    picked.upper = sides[1];
    picked.lower_picks = (const u32 *)sample[2];
    picked.upper_picks = picked.lower_picks + picked.lower;
    picked.split = padded_words(picked.lower);
    picked.words = picked.split + padded_words(picked.upper);
    return picked;
}

// Several samples of rows, a line of blocks for four columns of each: what is picked is read once for all of these. 0: columns,
// 1: words of 32 bits of a column, 2: samples, 3: lines of each sample.
KERNEL_OF_FEW(gather_samples) {
    const u64 *sample = POINTER(const u64, 2) + SAMPLE_WORDS * (blockIdx.y / (u32)NUMBER(3));
    const u64 *list = (const u64 *)sample[0];
    u32 at = 4 * (blockIdx.y % (u32)NUMBER(3)), count = (u32)sample[1], lane = threadIdx.x % 32;
    if (at >= count) return;
    Picked picked = picked_of(sample);
    const u32 *columns[4];
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        columns[k] = POINTER(const u32, 0) + (u32)list[at + k < count ? at + k : at] * NUMBER(1);
    }
    // A warp has eight words of each column, and a lane one of these 32 in the end.
    u32 *out = at + lane / 8 < count ? (u32 *)sample[4] + (list[at + lane / 8] >> 32) * picked.words : 0;
    for (u32 first = this_thread() / 32 * 8; first < picked.words; first += all_threads() / 32 * 8) {
        u32 rows[8], own = 0;
        bool there[8];
#pragma unroll
        for (u32 i = 0; i < 8; i++) rows[i] = picked_row(picked, first + i, there[i]);
#pragma unroll
        for (u32 k = 0; k < 4; k++) {
            u32 read[8];
#pragma unroll
            for (u32 i = 0; i < 8; i++) read[i] = columns[k][rows[i] / 32];
#pragma unroll
            for (u32 i = 0; i < 8; i++) {
                u32 said = __ballot_sync(0xffffffffu, there[i] && (read[i] >> (rows[i] % 32) & 1));
                own = 8 * k + i == lane ? said : own;
            }
        }
        // There are as many words as a multiple of eight.
        if (out) out[first + lane % 8] = own;
    }
}

// Rows whose bits lie side by side. 0: columns, 1: words of 32 bits of a column, 2: how many columns, 3: rows, 4: words of 32
// bits of a row, a multiple of 8. A block of 256 threads has 256 columns for each line of blocks, and 32 rows at a time.
KERNEL(pack_rows) {
    const u32 *columns = POINTER(const u32, 0);
    u64 stride = NUMBER(1), width = NUMBER(4);
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, *rows = POINTER(u32, 3), *tile = (u32 *)shared_words;
    u32 column = blockIdx.y * blockDim.x + threadIdx.x, warps = blockDim.x / 32;
    bool is_there = column < NUMBER(2);
    // Words that lie side by side are read by one block.
    for (u64 first = 8 * (u64)blockIdx.x; first < stride; first += 8 * (u64)gridDim.x) {
        for (u64 word = first; word < first + 8 && word < stride; word++) {
            u32 bits = is_there ? columns[column * stride + word] : 0, own = 0;
            for (u32 row = 0; row < 32; row++) {
                u32 said = __ballot_sync(0xffffffffu, bits >> row & 1);
                own = row == lane ? said : own;
            }
            __syncthreads();
            tile[lane * (warps + 1) + warp] = own;
            __syncthreads();
            u32 row = threadIdx.x / warps, part = threadIdx.x % warps;
            u64 place = (u64)blockIdx.y * warps + part;
            if (place < width) rows[(32 * word + row) * width + place] = tile[row * (warps + 1) + part];
        }
    }
}

// Samples of such rows, a line of blocks for each. 0: rows, 1: words of 32 bits of a row, 2: samples, whose columns ascend by their
// words. A warp has 32 picks.
KERNEL_OF_FEW(gather_rows) {
    const u32 *rows = POINTER(const u32, 0);
    const u64 *sample = POINTER(const u64, 2) + SAMPLE_WORDS * blockIdx.y, *columns = (const u64 *)sample[0];
    Picked picked = picked_of(sample);
    u32 words = picked.words, *out = (u32 *)sample[4];
    u32 lane = threadIdx.x % 32, count = (u32)sample[1];
    for (u32 word = this_thread() / 32; word < words; word += all_threads() / 32) {
        bool is_there;
        u64 row = picked_row(picked, word, is_there);
        const u32 *bits = rows + row * NUMBER(1);
        u32 at = 0xffffffffu, read = 0;
        for (u32 first = 0; first < count; first += 32) {
            u64 mine = first + lane < count ? columns[first + lane] : 0;
            u32 own = 0, here = count - first < 32 ? count - first : 32;
            for (u32 i = 0; i < here; i++) {
                u32 column = __shfl_sync(0xffffffffu, (u32)mine, i);
                if (column / 32 != at) {
                    at = column / 32;
                    read = is_there ? bits[at] : 0;
                }
                u32 said = __ballot_sync(0xffffffffu, read >> (column % 32) & 1);
                own = i == lane ? said : own;
            }
            if (lane < here) out[(mine >> 32) * words + word] = own;
        }
    }
}

__device__ inline i64 hessian_of(u32 kind, i32 gradient, u32 target) {
    if (kind == 0) {
        u64 size = gradient < 0 ? -(i64)gradient : gradient;
        return (i64)((size * (u64)(ONE - size)) >> 24);
    }
    if (kind == 1) return ONE;
    i32 mean = ((i32)target >> 6) - gradient;
    return mean < 1 ? 1 : mean;
}

// A tree whose sums are wanted: gradients of its margin, addresses of rows, and rows that count for a quarter or none.
struct ToSum {
    const i32 *gradients;
    const u16 *addresses;
    const u8 *climbed;
};

// Gradient and hessian summed by address, all rows counting for one and the hessian being that of probabilities, a line of blocks
// for each tree. Each lane of a warp has sums of its own where there is room: 0: trees, 1: rows, 2: how many addresses, 3: sums for
// so many lanes, 4: which rows are learned from or none, 5: the sums of all.
//
// A sum is kept as its low 16 bits and the rest, which both stay within 32 bits for the rows of a block.
KERNEL(sum_even) {
    ToSum tree = POINTER(const ToSum, 0)[blockIdx.y];
    u32 *sums = (u32 *)shared_words;
    u64 rows = NUMBER(1);
    u32 count = (u32)NUMBER(2), lanes = (u32)NUMBER(3), length = 4 * count * lanes;
    for (u32 i = threadIdx.x; i < length; i += blockDim.x) sums[i] = 0;
    __syncthreads();
    const u8 *learned = POINTER(const u8, 4);
    u32 lane = threadIdx.x % lanes, part = count * lanes;
    const u32 ahead = 4;
    for (u64 begin = this_thread(); begin < rows; begin += ahead * all_threads()) {
        i32 read[ahead];
        u32 ats[ahead];
#pragma unroll
        for (u32 k = 0; k < ahead; k++) {
            u64 row = begin + k * (u64)all_threads();
            bool counts = row < rows && !(learned && !learned[row]);
            read[k] = counts ? tree.gradients[row] : 0;
            ats[k] = counts ? tree.addresses[row] * lanes + lane : 0xffffffffu;
        }
#pragma unroll
        for (u32 k = 0; k < ahead; k++) {
            u32 at = ats[k], hessian = (u32)hessian_of(0, read[k], 0);
            if (at == 0xffffffffu) continue;
            atomicAdd(&sums[at], (u32)read[k] & 0xffff);
            atomicAdd(&sums[part + at], (u32)(read[k] >> 16));
            atomicAdd(&sums[2 * part + at], hessian & 0xffff);
            atomicAdd(&sums[3 * part + at], hessian >> 16);
        }
    }
    __syncthreads();
    u64 *all = POINTER(u64, 5) + 2 * (u64)count * blockIdx.y;
    for (u32 address = threadIdx.x; address < count; address += blockDim.x) {
        i64 gradient = 0, hessian = 0;
        for (u32 l = 0; l < lanes; l++) {
            u32 at = address * lanes + l;
            gradient += (i64)sums[at] + (i64)(i32)sums[part + at] * 65536;
            hessian += (i64)sums[2 * part + at] + (i64)sums[3 * part + at] * 65536;
        }
        if (gradient) atomicAdd(&all[2 * address], (u64)gradient);
        if (hessian) atomicAdd(&all[2 * address + 1], (u64)hessian);
    }
}

// The same for rows of any weight: 3: targets, 4 and 5 as above, 6: weights of rows or none, 7: how hessians follow from gradients, 8:
// whether sums are kept in the block.
KERNEL(sum_weighed) {
    ToSum tree = POINTER(const ToSum, 0)[blockIdx.y];
    u32 count = (u32)NUMBER(2), kind = (u32)NUMBER(7);
    u64 rows = NUMBER(1), *all = POINTER(u64, 5) + 2 * (u64)count * blockIdx.y, *sums = NUMBER(8) ? shared_words : all;
    if (NUMBER(8)) {
        for (u32 i = threadIdx.x; i < 2 * count; i += blockDim.x) sums[i] = 0;
        __syncthreads();
    }
    const u32 *targets = POINTER(const u32, 3), *weights = POINTER(const u32, 6);
    const u8 *learned = POINTER(const u8, 4);
    for (u64 row = this_thread(); row < rows; row += all_threads()) {
        i64 weight = learned && !learned[row] ? 0 : weights ? weights[row] : 256;
        if (tree.climbed && tree.climbed[row]) weight /= 4;
        if (weight == 0) continue;
        i32 gradient = tree.gradients[row];
        u32 address = tree.addresses[row];
        atomicAdd(&sums[2 * address], (u64)(gradient * weight));
        atomicAdd(&sums[2 * address + 1], (u64)(hessian_of(kind, gradient, targets[row]) * weight));
    }
    if (NUMBER(8)) {
        __syncthreads();
        for (u32 i = threadIdx.x; i < 2 * count; i += blockDim.x) {
            if (sums[i]) atomicAdd(&all[i], sums[i]);
        }
    }
}

// The gradient of a row at the margin of its class; whether the largest margin is of another is added to `wrong`.
__device__ inline i32 own_gradient(const i32 *margins, const i32 *gradients, const u32 *targets, u64 rows,
                                   u64 margins_of, u64 row, u32 &wrong) {
    if (margins_of == 1) {
        i32 gradient = gradients[row];
        wrong += (margins[row] > 0) != (gradient > 0);
        return gradient;
    }
    u32 target = targets[row], best = 0;
    i32 most = margins[row];
    for (u32 c = 1; c < margins_of; c++) {
        i32 margin = margins[c * rows + row];
        if (margin > most) {
            most = margin;
            best = c;
        }
    }
    wrong += best != target;
    return gradients[target * rows + row];
}

// How likely the right classes are: a block for 4096 rows, which it reads together and then multiplies in eight lanes. 0:
// margins, 1: rows, 2: how many margins, 3: targets, 4: gradients, 5: for each lane the product, 6: the power of two,
// 7: for each block how many rows are wrong.
KERNEL(likelihood) {
    u64 rows = NUMBER(1), margins_of = NUMBER(2), first = (u64)blockIdx.x * 4096;
    const i32 *margins = POINTER(const i32, 0), *gradients = POINTER(const i32, 4);
    const u32 *targets = POINTER(const u32, 3);
    u32 count = (u32)(rows - first < 4096 ? rows - first : 4096), wrong = 0;
    i32 *factors = (i32 *)shared_words;
    for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
        i32 gradient = own_gradient(margins, gradients, targets, rows, margins_of, first + i, wrong);
        factors[i] = ONE - (gradient < 0 ? -gradient : gradient);
    }
    u64 all_wrong = block_sum(wrong, shared_words + 2048);
    if (threadIdx.x == 0) POINTER(u32, 7)[blockIdx.x] = (u32)all_wrong;
    __syncthreads();
    if (threadIdx.x >= 8) return;
    double product = 1.0;
    i64 power = 0;
    for (u32 group = 0; group < count; group += 256) {
        u32 last = group + 256 < count ? group + 256 : count;
        for (u32 i = group + threadIdx.x; i < last; i += 8) product *= (double)factors[i];
        u64 bits = *(u64 *)&product;
        power += (i64)(bits >> 52) - 1023;
        bits = (bits & ((1ull << 52) - 1)) | 1023ull << 52;
        product = *(double *)&bits;
    }
    POINTER(double, 5)[8 * blockIdx.x + threadIdx.x] = product;
    POINTER(i64, 6)[8 * blockIdx.x + threadIdx.x] = power;
}

// The least and the largest margin. 0: margins, 1: rows, 2: which rows or none, 3: both.
KERNEL(margin_range) {
    const i32 *margins = POINTER(const i32, 0);
    const u8 *among = POINTER(const u8, 2);
    i32 least = 0x7fffffff, most = -0x7fffffff - 1;
    for (u64 row = this_thread(); row < NUMBER(1); row += all_threads()) {
        if (among && !among[row]) continue;
        i32 margin = margins[row];
        least = margin < least ? margin : least;
        most = margin > most ? margin : most;
    }
    for (u32 step = 16; step > 0; step /= 2) {
        i32 other = __shfl_xor_sync(0xffffffffu, least, step);
        least = other < least ? other : least;
        other = __shfl_xor_sync(0xffffffffu, most, step);
        most = other > most ? other : most;
    }
    if (threadIdx.x % 32 == 0) {
        atomicMin(&POINTER(i32, 3)[0], least);
        atomicMax(&POINTER(i32, 3)[1], most);
    }
}

// How many rows have each margin and target, two classes. 0: margins, 1: rows, 2: which rows or none, 3: the least margin,
// 4: targets, 5: counts, those of both targets side by side.
KERNEL_ALONE(tally) {
    const i32 *margins = POINTER(const i32, 0);
    const u8 *among = POINTER(const u8, 2);
    const u32 *targets = POINTER(const u32, 4);
    i32 least = (i32)NUMBER(3);
    for (u64 row = this_thread(); row < NUMBER(1); row += all_threads()) {
        if (among && !among[row]) continue;
        atomicAdd(&POINTER(u32, 5)[2 * (u64)(u32)(margins[row] - least) + targets[row]], 1u);
    }
}
