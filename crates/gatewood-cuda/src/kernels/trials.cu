// Hill climbing, a block for each trial.
//
// Many trials of a tree are made at once, as if those before them failed. When all blocks of a tree have ended theirs, each
// takes the first trial that made the tree better, and the trials after it are made again. Every block keeps what the tree is
// like by then for itself, so that blocks wait for each other once for every step.

#include "device.h"

// Copies numbers among the threads of a block.
template <typename T> __device__ inline void copy_words(T *to, const T *from, u32 count) {
    for (u32 i = threadIdx.x; i < count; i += blockDim.x) to[i] = from[i];
}

// What a block knows of its tree: it is a copy of the tree's description, whose lists are its own.
__device__ inline Climb *own_climb(const Climb &tree, const Shape &s, const Room &r, const Parameters &p) {
    Climb *own = (Climb *)r.rest;
    u32 leaves = (u32)NUMBER(10), slots = (u32)NUMBER(11);
    u32 *lists = (u32 *)(own + 1);
    u64 *rest = (u64 *)(lists + (leaves + slots + 1) / 2 * 2);
    u32 *addresses = 0, *counts = (u32 *)rest, cells = 2u << s.arity[s.depth - 1];
    if (tree.addresses) {
        u64 words = 16 * (u64)tree.stride;
        addresses = NUMBER(12) ? counts + cells : (u32 *)tree.addresses + (1 + blockIdx.x) * words;
        copy_words(addresses, (const u32 *)tree.addresses, (u32)words);
    }
    // What is read four words at a time begins at a multiple of these.
    u32 *columns = NUMBER(13) ? (u32 *)(((u64)rest + 15) & ~15ull) : 0, inner = s.first[s.depth - 1];
    for (u32 leaf = 0; columns && leaf < leaves; leaf++) {
        copy_words(columns + leaf * tree.stride, tree.sample + (u64)tree.leaves[leaf] * tree.stride, tree.stride);
    }
    for (u32 gate = 0; columns && gate < inner; gate++) {
        const u32 *from = tree.columns + (u64)tree.slots[gate] * tree.stride;
        copy_words(columns + (leaves + gate) * tree.stride, from, tree.stride);
    }
    copy_words(lists, tree.leaves, leaves);
    copy_words(lists + leaves, tree.slots, slots);
    if (threadIdx.x == 0) {
        *own = tree;
        own->leaves = lists;
        own->slots = lists + leaves;
        own->addresses = (u16 *)addresses;
        own->counts = counts;
        own->leaf_count = leaves;
        own->shared = columns;
    }
    __syncthreads();
    if (addresses) count_addresses(s.arity[s.depth - 1], *own, counts);
    return own;
}

// Takes the trial of a block: says which input of the root changed, and to what.
__device__ inline void take(Climb &own, const Shape &s, const Room &r, const Outcome &outcome, u32 block, u32 *said) {
    u32 place = outcome.leaf;
    own.leaves[place] = outcome.column;
    own.score = outcome.score;
    r.inputs[0] = own.sample + (u64)outcome.column * own.stride;
    u32 *made = own.slots + s.first[s.depth - 1] + block * (s.depth - 1);
    for (u32 level = 0; level + 1 < s.depth; level++) {
        place /= s.arity[level];
        u32 *gate = own.slots + s.first[level] + place, slot = *gate;
        *gate = made[level];
        made[level] = slot;
        r.inputs[0] = own.columns + (u64)*gate * own.stride;
    }
    *said = place % s.arity[s.depth - 1];
}

// Copies the columns that a trial made to where other blocks read them.
__device__ inline void publish(const Climb &own, const Shape &s, const u32 *slots) {
    for (u32 level = 0; level + 1 < s.depth; level++) {
        u32 *to = own.columns + (u64)slots[level] * own.stride;
        copy_words(to, (const u32 *)made_column(own, s, level, 0), own.stride);
    }
}

// Copies the columns of a trial that was taken.
__device__ inline void adopt(const Climb &own, const Shape &s, const Outcome &outcome) {
    u32 place = outcome.leaf;
    copy_words(own.shared + place * own.stride, own.sample + (u64)outcome.column * own.stride, own.stride);
    for (u32 level = 0; level + 1 < s.depth; level++) {
        place /= s.arity[level];
        const u32 *from = own.columns + (u64)own.slots[s.first[level] + place] * own.stride;
        copy_words(gate_column(own, s, level, place), from, own.stride);
    }
}

// One input of the root is another for all rows. A thread has two rows, the threads of a warp those of two words.
__device__ inline void readdress(const Climb &own, u32 input, const u32 *changed) {
    u32 lane = threadIdx.x % 32, warps = blockDim.x / 32, keep = ~(0x10001u << input);
    u32 *addresses = (u32 *)own.addresses;
    // Halves of warps have a word each; there are as many words as a multiple of two.
    for (u32 begin = threadIdx.x / 32; 2 * begin < own.stride; begin += AHEAD * warps) {
        u32 bits[AHEAD];
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++) {
            u32 word = 2 * (begin + k * warps) + lane / 16;
            bits[k] = word < own.stride ? changed[word] >> 2 * (lane % 16) : 0;
        }
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++) {
            u32 word = 2 * (begin + k * warps) + lane / 16;
            if (word >= own.stride) continue;
            u32 *at = addresses + 16 * word + lane % 16;
            *at = (*at & keep) | (bits[k] & 1) << input | (bits[k] >> 1 & 1) << (input + 16);
        }
    }
}

// Makes all trials of each tree, a step after the other. The blocks of a tree run side by side.
KERNEL_TOGETHER(climb_trials) {
    Climb &tree = POINTER(Climb, 0)[blockIdx.y];
    Shape s = shape_of(p);
    Room r = room_of(s);
    Climb &own = *own_climb(tree, s, r, p);
    u32 below_root = s.first[s.depth - 1], widths = gridDim.x, next = 0, cells = 2u << s.arity[s.depth - 1];
    u32 *slots = own.slots + below_root + blockIdx.x * (s.depth - 1), *said = (u32 *)r.sums;
    for (u32 step = 0; next < s.trials; step++) {
        u32 trial = next + blockIdx.x;
        Outcome *outcomes = own.outcomes + step % 2 * widths;
        bool better = trial < s.trials;
        if (better) {
            const u32 *drawn = own.trials + (u64)trial * (1 + s.candidates);
            u32 leaf = drawn[0], column = drawn[1];
            if (s.candidates > 1) {
                column = most_telling(own, s, r, leaf, drawn + 1);
                better = column != 0xffffffffu;
            } else {
                const u32 *read = own.leaves + leaf / s.arity[0] * s.arity[0];
                for (u32 j = 0; j < s.arity[0]; j++) better &= read[j] != column;
            }
            i64 score = 0;
            better = better && is_better(own, s, r, leaf, column, slots, score);
            if (better && own.addresses) {
                copy_words(tree.counts + (step % 2 * widths + blockIdx.x) * (u64)cells, (const u32 *)r.counts, cells);
            }
            if (better && own.shared) publish(own, s, slots);
            if (threadIdx.x == 0 && better) {
                outcomes[blockIdx.x].score = score;
                outcomes[blockIdx.x].leaf = leaf;
                outcomes[blockIdx.x].column = column;
            }
        }
        if (threadIdx.x == 0) outcomes[blockIdx.x].better = better;
        __syncthreads();
        if (threadIdx.x == 0) {
            // All that a block wrote is seen by the others before they hear that it has ended.
            __threadfence();
            atomicAdd(&tree.ended, 1u);
            while (*(volatile u32 *)&tree.ended < (step + 1) * widths) wait_a_moment();
            __threadfence();
            said[0] = 0xffffffffu;
        }
        __syncthreads();
        for (u32 block = threadIdx.x; block < widths; block += blockDim.x) {
            if (outcomes[block].better) atomicMin(&said[0], block);
        }
        __syncthreads();
        u32 taken = said[0];
        __syncthreads();
        next = taken < widths ? next + taken + 1 : next + widths;
        if (taken >= widths) continue;
        if (threadIdx.x == 0) take(own, s, r, outcomes[taken], taken, &said[1]);
        __syncthreads();
        if (own.shared) adopt(own, s, outcomes[taken]);
        if (own.addresses) {
            readdress(own, said[1], r.inputs[0]);
            copy_words(own.counts, (const u32 *)tree.counts + (step % 2 * widths + taken) * (u64)cells, cells);
        }
        __syncthreads();
    }
    if (blockIdx.x > 0) return;
    copy_words(tree.leaves, (const u32 *)own.leaves, (u32)NUMBER(10));
    copy_words(tree.slots, (const u32 *)own.slots, (u32)NUMBER(11));
}
