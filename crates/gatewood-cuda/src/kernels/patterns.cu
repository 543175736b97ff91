// Hill climbing of patterns of images, a block for each variation.
//
// Variations of a tree's pattern are made and judged at once, as if those before them failed; the blocks of the tree then wait for
// each other, all take the first that is better, and those after it are made again. What random numbers a variation reads hangs on
// those before it: where each begins is found first.

#include "device.h"

// The most literals of a pattern, and thresholds there may be of how often one matches.
const u32 MOST_LITERALS = 12;
const u32 MOST_THRESHOLDS = 48;

// The cells that the patterns of a tree part rows into, before its last; and how many these are.
const u32 MOST_CELLS = 8;
const u32 MOST_PARTED = 3;

// Random numbers that a variation reads at the most.
const u32 MOST_READ = 7;

// Blocks of a tree at the most.
const u32 MOST_TRIED = 32;

// The score of what is no pattern.
const i64 NO_SCORE = -0x7fffffffffffffffll - 1;

// A pattern before it is moved. A literal is its plane, place in its line, line and value, so that literals are in order as numbers
// are. Then how far it is moved to each side, and up and down; its kind; how well it separates the sides, and how many shifts must
// match for that; of what is found, how many random numbers were read.
struct Sketch {
    u64 literals[MOST_LITERALS];
    u32 count, across, down, kind;
    i64 score;
    u32 threshold, read;
};
const u32 SKETCH_WORDS = sizeof(Sketch) / 8;

// A tree of which a pattern is climbed.
struct PatternTree {
    // The planes of its sample place by place.
    const u32 *places;
    // Words of 32 bits of a place, and of the lower side; rows of both sides.
    u32 stride, split, rows[2];
    // The columns of the patterns before this one, how many, and whether this is the last.
    u32 *parts;
    u32 parted, is_last;
    Sketch *drawn;
    const u32 *random;
    // What variations of a step made that are better, and those of the step before it.
    Sketch *made;
    Sketch *found;
    // How many times a block has ended a step; the first variation that was better, of three steps in turn.
    u32 ended, better[3];
};

// The places of a plane that have an answer; none where the left is larger than the right.
struct Area {
    u16 left, right, top, bottom;
};

// What is known of all images. 0: trees, 1: places of a line, 2: lines, 3: planes, 4: planes of levels, 5: areas of planes, 6: how
// far apart literals of a kind may be, 7: whether matches are counted, 8: x log x, 9: sketches that are drawn, 10: variations,
// 11: quads of words that a block works on at a time.
struct Images {
    u32 wide, high, planes, levels, counts, drawn, trials, quads;
    const Area *areas;
    const u32 *apart;
    const i64 *logs;
};

__device__ inline Images images_of(const Parameters &p) {
    Images m;
    m.wide = (u32)NUMBER(1);
    m.high = (u32)NUMBER(2);
    m.planes = (u32)NUMBER(3);
    m.levels = (u32)NUMBER(4);
    m.areas = POINTER(const Area, 5);
    m.apart = POINTER(const u32, 6);
    m.counts = (u32)NUMBER(7);
    m.logs = POINTER(const i64, 8);
    m.drawn = (u32)NUMBER(9);
    m.trials = (u32)NUMBER(10);
    m.quads = (u32)NUMBER(11);
    return m;
}

// What a block shares.
struct Judging {
    // The best so far, and the one that is tried.
    Sketch best, own;
    i64 scores[MOST_THRESHOLDS];
    // The one that is tried, moved as far as it can be; whether there is any.
    Looked looked;
    u32 literals[MOST_LITERALS], is_there;
    // For each threshold and cell the rows of both sides that match; after these all rows of each cell.
    u32 found[2 * MOST_CELLS * (MOST_THRESHOLDS + 1)];
    // The random numbers of a step, how many a variation would read that began at each, and where those that are tried begin.
    u32 random[MOST_READ * (MOST_TRIED + 1)], lengths[MOST_READ * MOST_TRIED], begins[MOST_TRIED + 1];
    u32 taken;
};
static_assert(sizeof(Judging) <= 8 << 10, "a block has room for this many bytes");

// Bits of what a thread counts before it is added up, and the shifts that it counts.
const int PART_BITS = 5;
const u32 PART_SHIFTS = 30;

// What a block shares besides, of some words of rows.
struct Counting {
    // The rows in each cell, cell by cell.
    u32 *cells;
    // How often rows match, bit by bit.
    u32 *counts;
    // What threads counted of it: groups of these bit by bit.
    Quad *parts;
};

__device__ inline Counting counting_of(const Images &m, int bits) {
    Counting c;
    c.cells = (u32 *)(shared_words + (8 << 10) / 8);
    c.counts = c.cells + 4 * m.quads * MOST_CELLS;
    c.parts = (Quad *)(c.counts + 4 * m.quads * bits);
    return c;
}

__device__ inline u32 below(u32 random, u32 limit) { return (u32)((u64)random * limit >> 32); }

__device__ inline u64 key_of(u32 plane, u32 x, u32 y, u32 value) { return (u64)plane << 33 | (u64)x << 17 | y << 1 | value; }
__device__ inline u32 plane_of(u64 literal) { return (u32)(literal >> 33); }
__device__ inline u32 x_of(u64 literal) { return (u32)(literal >> 17) & 0xffff; }
__device__ inline u32 y_of(u64 literal) { return (u32)(literal >> 1) & 0xffff; }
__device__ inline u32 value_of(u64 literal) { return (u32)literal & 1; }

// A change: which literal, by how much something is moved, and what is changed.
struct Change {
    u32 which, what;
    i32 x, y;
};

// Changes, by what is drawn for them; the last is that a literal becomes like another.
enum { MOVED = 4, OTHER_PLANE = 6, TURNED = 8, ADDED = 10, REMOVED = 12, ALL_MOVED = 13, RADIUS = 14, LIKE_ANOTHER = 15 };

__device__ inline Change change_of(const u32 *random, u32 count) {
    Change c;
    c.which = below(random[0], count);
    c.x = (i32)below(random[1], 5) - 2;
    c.y = (i32)below(random[2], 5) - 2;
    u32 what = below(random[3], 16);
    c.what = what <= 4 ? MOVED : what <= 6 ? OTHER_PLANE : what <= 8 ? TURNED : what <= 10 ? ADDED : what <= 12 ? REMOVED : what;
    if (c.what == ADDED && count >= MOST_LITERALS) c.what = LIKE_ANOTHER;
    if (c.what == REMOVED && count <= 1) c.what = LIKE_ANOTHER;
    return c;
}

// Moves a literal, if that leaves it within the image.
__device__ inline bool move(const Images &m, const Change &c, u64 &literal) {
    u32 x = x_of(literal) + (u32)c.x, y = y_of(literal) + (u32)c.y;
    if (x >= m.wide || y >= m.high) return false;
    literal = key_of(plane_of(literal), x, y, value_of(literal));
    return true;
}

// How many random numbers a variation reads.
__device__ inline u32 numbers_read(const Images &m, const Sketch &best, const u32 *random) {
    Change c = change_of(random, best.count);
    u64 literal = best.literals[c.which];
    if (c.what == ADDED) return move(m, c, literal) ? 7 : 6;
    return c.what == OTHER_PLANE || c.what == LIKE_ANOTHER ? 5 : 4;
}

// A plane that asks as another does: for a level, or for a comparison; or any.
__device__ inline u32 alike(const Images &m, u32 plane, bool any, u32 random) {
    u32 first = any || plane < m.levels ? 0 : m.levels, end = !any && plane < m.levels ? m.levels : m.planes;
    return first + below(random, end - first);
}

__device__ inline u32 apart(u32 one, u32 other) { return one > other ? one - other : other - one; }

// Varies a sketch; whether that is one. The threads of a warp do it together, a literal each.
__device__ inline bool vary(const Images &m, const Sketch &best, const u32 *random, Sketch &made) {
    u32 lane = threadIdx.x % 32, count = best.count, across = best.across, down = best.down;
    Change c = change_of(random, count);
    u64 none = ~0ull, near = best.literals[c.which], moved = near;
    u64 own = lane < count ? best.literals[lane] : none;
    bool can_move = move(m, c, moved), is_it = lane == c.which, fits = true;
    switch (c.what) {
    case MOVED:
        fits = can_move;
        own = is_it ? moved : own;
        break;
    case OTHER_PLANE:
        own = is_it ? key_of(alike(m, plane_of(near), false, random[4]), x_of(near), y_of(near), value_of(near)) : own;
        break;
    case TURNED: own ^= is_it; break;
    case ADDED:
        fits = can_move;
        if (lane == count) {
            u32 plane = alike(m, plane_of(near), below(random[4], 8) == 0, random[5]);
            own = key_of(plane, x_of(moved), y_of(moved), below(random[6], 2));
        }
        count++;
        break;
    case REMOVED:
        own = is_it ? none : own;
        count--;
        break;
    case ALL_MOVED: fits = !__ballot_sync(0xffffffffu, lane < count && !move(m, c, own)); break;
    case RADIUS:
        fits = (i32)across + c.x >= 0 && (i32)down + c.y >= 0;
        across = across + c.x < m.wide ? across + c.x : m.wide;
        down = down + c.y < m.high ? down + c.y : m.high;
        break;
    default:
        u64 other = best.literals[below(random[4], count)];
        own = is_it ? key_of(plane_of(other), x_of(near), y_of(near), value_of(other)) : own;
    }
    u32 rank = 0, most = m.apart[best.kind];
    for (u32 i = 0; i <= MOST_LITERALS; i++) {
        u64 other = __shfl_sync(0xffffffffu, own, i);
        if (own == none || other == none || i == lane) continue;
        rank += other < own;
        // Each place of a plane once, and all near each other.
        fits &= other >> 1 != own >> 1 && apart(x_of(other), x_of(own)) < most && apart(y_of(other), y_of(own)) < most;
    }
    if (__ballot_sync(0xffffffffu, !fits)) return false;
    if (own != none) made.literals[rank] = own;
    if (lane == 0) {
        made.count = count;
        made.across = across;
        made.down = down;
        made.kind = best.kind;
    }
    __syncwarp();
    bool is_other = count != best.count || across != best.across || down != best.down ||
                    (lane < count && made.literals[lane] != best.literals[lane]);
    return __ballot_sync(0xffffffffu, is_other) != 0;
}

__device__ inline u32 warp_min(u32 value) {
    for (u32 step = 16; step > 0; step /= 2) {
        u32 other = __shfl_xor_sync(0xffffffffu, value, step);
        value = other < value ? other : value;
    }
    return value;
}

// The threshold of such a place among all there are: 1, 2, 3, 4, 6, 8, 12 and so on.
__device__ inline u32 ladder(u32 place) { return place == 0 ? 1 : place % 2 ? 1u << (place + 1) / 2 : 3u << (place / 2 - 1); }

// A sketch moved as far as planes have answers: the first places of its literals and its shifts; whether it is a pattern. The threads
// of a warp do it together.
__device__ inline bool place_sketch(const Images &m, const Sketch &sketch, Looked &looked, u32 *literals) {
    u32 lane = threadIdx.x % 32, across = sketch.across, down = sketch.down;
    bool is_literal = lane < sketch.count;
    u64 own = is_literal ? sketch.literals[lane] : 0;
    u32 plane = plane_of(own), x = x_of(own), y = y_of(own), left = across, right = across, up = down, below = down;
    bool fits = sketch.count > 0;
    if (is_literal) {
        Area area = m.areas[plane];
        fits &= area.left <= x && x <= area.right && area.top <= y && y <= area.bottom;
        left = x - area.left < left ? x - area.left : left;
        right = area.right - x < right ? area.right - x : right;
        up = y - area.top < up ? y - area.top : up;
        below = area.bottom - y < below ? area.bottom - y : below;
    }
    if (__ballot_sync(0xffffffffu, !fits)) return false;
    left = warp_min(left);
    right = warp_min(right);
    up = warp_min(up);
    below = warp_min(below);
    if (is_literal) literals[lane] = 2 * ((plane * m.high + y - up) * m.wide + x - left) + value_of(own);
    u32 most = (left + right + 1) * (up + below + 1), thresholds = 1;
    if (m.counts) {
        thresholds = (u32)__popc(__ballot_sync(0xffffffffu, ladder(lane) <= most));
        thresholds += (u32)__popc(__ballot_sync(0xffffffffu, lane < MOST_THRESHOLDS - 32 && ladder(32 + lane) <= most));
    }
    if (lane == 0) {
        looked.literals = sketch.count;
        looked.across = left + right + 1;
        looked.down = up + below + 1;
        looked.thresholds = thresholds;
    }
    __syncwarp();
    return true;
}

// Which rows of a word are in each cell.
__device__ inline void cells_of(const PatternTree &tree, u32 word, u32 *cells) {
    u32 said[MOST_PARTED];
    bool is_upper = word >= tree.split;
#pragma unroll
    for (u32 k = 0; k < MOST_PARTED; k++) said[k] = k < tree.parted ? tree.parts[k * tree.stride + word] : 0;
    cells[0] = is_upper ? rows_there(tree.rows[1], word - tree.split) : rows_there(tree.rows[0], word);
#pragma unroll
    for (u32 k = 0; k < MOST_PARTED; k++) {
#pragma unroll
        for (u32 cell = 0; cell < 1u << k; cell++) {
            cells[cell | 1u << k] = cells[cell] & said[k];
            cells[cell] &= ~said[k];
        }
    }
}

// Adds what groups of threads counted of a word to its counts.
template <int BITS> __device__ inline void add_parts(const Images &m, const Counting &c, u32 groups, u32 word, bool is_first) {
    u32 words = 4 * m.quads, counts[BITS];
    const u32 *parts = (const u32 *)c.parts + word;
#pragma unroll
    for (int b = 0; b < BITS; b++) counts[b] = is_first ? 0 : c.counts[b * words + word];
    for (u32 group = 0; group < groups; group++, parts += PART_BITS * words) {
        u32 carry = 0;
#pragma unroll
        for (int b = 0; b < BITS; b++) {
            u32 own = counts[b], other = b < PART_BITS ? parts[b * words] : 0;
            counts[b] = own ^ other ^ carry;
            carry = (own & other) | (carry & (own | other));
        }
    }
#pragma unroll
    for (int b = 0; b < BITS; b++) c.counts[b * words + word] = counts[b];
}

// Counts how often some words of rows match the pattern that a block tries, and says which cell they are in.
__device__ inline void count_words(const Images &m, const PatternTree &tree, const Judging &j, const Counting &c, u32 first, u32 words,
                                   int bits) {
    // Groups of threads have the same words, and count other shifts.
    u32 group = threadIdx.x / m.quads, groups = blockDim.x / m.quads, quad = threadIdx.x % m.quads;
    u32 shifts = j.looked.across * j.looked.down, turn = PART_SHIFTS * groups;
    for (u32 begin = 0; begin < shifts; begin += turn) {
        u32 end = shifts - begin < turn ? shifts : begin + turn;
        if (group < groups && 4 * quad < words) {
            Quad counts[PART_BITS];
            const u32 *planes = tree.places + first + 4 * quad;
            count_shifts_of<PART_BITS>(planes, tree.stride, m.wide, j.looked, j.literals, begin + group, groups, end, counts);
#pragma unroll
            for (int b = 0; b < PART_BITS; b++) c.parts[(group * PART_BITS + b) * m.quads + quad] = counts[b];
        }
        __syncthreads();
        for (u32 word = threadIdx.x; word < words; word += blockDim.x) {
            if (bits == USUAL_BITS) add_parts<USUAL_BITS>(m, c, groups, word, begin == 0);
            else add_parts<MOST_BITS>(m, c, groups, word, begin == 0);
        }
        __syncthreads();
    }
    for (u32 word = threadIdx.x; word < words; word += blockDim.x) {
        u32 cells[MOST_CELLS];
        cells_of(tree, first + word, cells);
#pragma unroll
        for (u32 cell = 0; cell < MOST_CELLS; cell++) c.cells[cell * 4 * m.quads + word] = cells[cell];
    }
    __syncthreads();
}

// Adds the rows of each cell that match so often to what is known of both sides; a warp does it.
__device__ inline void add_matches(const Images &m, const PatternTree &tree, const Counting &c, u32 first, u32 words, int bits,
                                   u32 threshold, u32 *counts) {
    u32 lane = threadIdx.x % 32, apart = 4 * m.quads, sums[MOST_CELLS];
#pragma unroll
    for (u32 cell = 0; cell < MOST_CELLS; cell++) sums[cell] = 0;
    for (u32 word = lane; word < words; word += 32) {
        // Those of the upper side are counted in the upper half: there are at most 1,024 words.
        u32 matches = threshold > 0 ? at_least(c.counts + word, apart, bits, threshold) : 0xffffffffu;
        u32 shift = first + word >= tree.split ? 16 : 0;
#pragma unroll
        for (u32 cell = 0; cell < MOST_CELLS; cell++) sums[cell] += __popc(matches & c.cells[cell * apart + word]) << shift;
    }
#pragma unroll
    for (u32 cell = 0; cell < MOST_CELLS; cell++) {
        if (cell >> tree.parted) break;
        u32 lower = warp_sum(sums[cell] & 0xffffu), upper = warp_sum(sums[cell] >> 16);
        if (lane == 0) {
            counts[2 * cell] += lower;
            counts[2 * cell + 1] += upper;
        }
    }
}

// Judges the sketch that a block tries: its score, and the threshold that separates the sides best.
__device__ inline void judge(const Images &m, const PatternTree &tree, Judging &j) {
    u32 warp = threadIdx.x / 32, warps = blockDim.x / 32, cells = 1u << tree.parted;
    if (warp == 0) {
        bool is_there = place_sketch(m, j.own, j.looked, j.literals);
        if (threadIdx.x == 0) j.is_there = is_there;
    }
    for (u32 i = threadIdx.x; i < 2 * MOST_CELLS * (MOST_THRESHOLDS + 1); i += blockDim.x) j.found[i] = 0;
    for (u32 i = threadIdx.x; i < MOST_THRESHOLDS; i += blockDim.x) j.scores[i] = 0;
    __syncthreads();
    if (!j.is_there) {
        if (threadIdx.x == 0) j.own.score = NO_SCORE;
        __syncthreads();
        return;
    }
    int bits = bits_of(j.looked);
    Counting c = counting_of(m, bits);
    for (u32 first = 0; first < tree.stride; first += 4 * m.quads) {
        u32 words = tree.stride - first < 4 * m.quads ? tree.stride - first : 4 * m.quads;
        count_words(m, tree, j, c, first, words, bits);
        // The last counts all rows.
        for (u32 t = warp; t <= j.looked.thresholds; t += warps) {
            u32 threshold = t == j.looked.thresholds ? 0 : m.counts ? ladder(t) : 1;
            add_matches(m, tree, c, first, words, bits, threshold, j.found + 2 * cells * t);
        }
        __syncthreads();
    }
    for (u32 i = threadIdx.x; i < cells * j.looked.thresholds; i += blockDim.x) {
        const u32 *found = j.found + 2 * i, *all = j.found + 2 * (cells * j.looked.thresholds + i % cells);
        u32 others[2] = {all[0] - found[0], all[1] - found[1]};
        i64 score = m.logs[found[0]] + m.logs[found[1]] - m.logs[found[0] + found[1]];
        score += m.logs[others[0]] + m.logs[others[1]] - m.logs[others[0] + others[1]];
        atomicAdd((u64 *)&j.scores[i / cells], (u64)score);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        u32 best = 0;
        for (u32 t = 1; t < j.looked.thresholds; t++) best = j.scores[t] > j.scores[best] ? t : best;
        j.own.score = j.scores[best];
        j.own.threshold = m.counts ? ladder(best) : 1;
    }
    __syncthreads();
}

// Copies a sketch; a warp does it.
__device__ inline void copy_sketch(Sketch &to, const Sketch &from) {
    if (threadIdx.x < SKETCH_WORDS) ((u64 *)&to)[threadIdx.x] = ((const u64 *)&from)[threadIdx.x];
}

// Returns when all blocks of a tree have ended as many steps as this one.
__device__ inline void end_step(PatternTree &tree, u32 steps) {
    __syncthreads();
    if (threadIdx.x == 0) {
        // All that a block wrote is seen by the others before they hear that it has ended.
        __threadfence();
        atomicAdd(&tree.ended, 1u);
        while (*(volatile u32 *)&tree.ended < steps * gridDim.x) wait_a_moment();
        __threadfence();
    }
    __syncthreads();
}

// Climbs a pattern of each tree, a line of blocks for each.
KERNEL_TOGETHER_OF_SOME(climb_patterns) {
    PatternTree &tree = POINTER(PatternTree, 0)[blockIdx.y];
    Images m = images_of(p);
    Judging &j = *(Judging *)shared_words;
    for (u32 i = blockIdx.x; i < m.drawn; i += gridDim.x) {
        copy_sketch(j.own, tree.drawn[i]);
        __syncthreads();
        judge(m, tree, j);
        copy_sketch(tree.drawn[i], j.own);
        __syncthreads();
    }
    end_step(tree, 1);
    if (threadIdx.x < 32) {
        // The first of those that are best.
        u32 best = threadIdx.x < m.drawn ? threadIdx.x : 0;
        i64 score = tree.drawn[best].score;
        for (u32 i = 32 + threadIdx.x; i < m.drawn; i += 32) {
            i64 other = tree.drawn[i].score;
            best = other > score ? i : best;
            score = other > score ? other : score;
        }
        for (u32 step = 16; step > 0; step /= 2) {
            u32 place = __shfl_xor_sync(0xffffffffu, best, step);
            i64 other = __shfl_xor_sync(0xffffffffu, score, step);
            bool is_better = other > score || (other == score && place < best);
            best = is_better ? place : best;
            score = is_better ? other : score;
        }
        j.taken = best;
    }
    __syncthreads();
    copy_sketch(j.best, tree.drawn[j.taken]);
    __syncthreads();
    if (j.best.score == NO_SCORE) {
        if (blockIdx.x == 0) copy_sketch(*tree.found, j.best);
        return;
    }
    u32 next = 0, read = 0;
    for (u32 step = 0; next < m.trials; step++) {
        u32 tried = m.trials - next < gridDim.x ? m.trials - next : gridDim.x, *better = tree.better + step % 3;
        for (u32 i = threadIdx.x; i < MOST_READ * (tried + 1); i += blockDim.x) j.random[i] = tree.random[read + i];
        __syncthreads();
        for (u32 i = threadIdx.x; i < MOST_READ * tried; i += blockDim.x) {
            j.lengths[i] = numbers_read(m, j.best, j.random + i);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            j.begins[0] = 0;
            for (u32 i = 0; i < tried; i++) j.begins[i + 1] = j.begins[i] + j.lengths[j.begins[i]];
        }
        __syncthreads();
        if (threadIdx.x < 32) {
            bool is_there = blockIdx.x < tried && vary(m, j.best, j.random + j.begins[blockIdx.x], j.own);
            if (threadIdx.x == 0) j.taken = is_there;
        }
        __syncthreads();
        if (j.taken) {
            judge(m, tree, j);
            if (j.own.score > j.best.score) {
                copy_sketch(tree.made[step % 2 * gridDim.x + blockIdx.x], j.own);
                if (threadIdx.x == 0) atomicMin(better, next + blockIdx.x);
            }
        }
        // All blocks have ended the step before this, so that none reads any more what was better two steps ago.
        if (blockIdx.x == 0 && threadIdx.x == 0) tree.better[(step + 1) % 3] = 0xffffffffu;
        end_step(tree, step + 2);
        if (threadIdx.x == 0) j.taken = *(volatile u32 *)better;
        __syncthreads();
        u32 taken = j.taken, place = taken - next;
        if (taken == 0xffffffffu) {
            next += tried;
            read += j.begins[tried];
            continue;
        }
        read += j.begins[place + 1];
        copy_sketch(j.best, tree.made[step % 2 * gridDim.x + place]);
        next = taken + 1;
        __syncthreads();
    }
    if (threadIdx.x == 0) j.best.read = read;
    if (threadIdx.x < 32 && !tree.is_last) place_sketch(m, j.best, j.looked, j.literals);
    __syncthreads();
    if (blockIdx.x == 0) copy_sketch(*tree.found, j.best);
    u32 *part = tree.parts + tree.parted * tree.stride;
    for (u32 word = 4 * this_thread(); word < tree.stride && !tree.is_last; word += 4 * all_threads()) {
        const u32 *planes = tree.places + word;
        *(Quad *)(part + word) = find_looked(planes, tree.stride, m.wide, j.looked, j.literals, j.best.threshold);
    }
}
