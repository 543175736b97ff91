// What all kernels share. On a device, the compiler knows threads and their barriers; on a processor, `host.h` stands in.
//
// Every kernel takes the same parameters: numbers of 64 bits, which it reads as addresses, counts or floats.

#ifndef __CUDACC__
#include "host.h"
#else
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;
struct Parameters {
    u64 at[16];
};
// No block has more threads: so many fit in with the registers that a kernel may have.
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(1024) name(Parameters p)
// A kernel whose threads never wait for each other.
#define KERNEL_ALONE(name) KERNEL(name)
// A kernel all of whose blocks run side by side, and may wait for each other.
#define KERNEL_TOGETHER(name) KERNEL(name)
// The same for blocks of 256 threads at the most, which may have more registers.
#define KERNEL_OF_FEW(name) extern "C" __global__ void __launch_bounds__(256) name(Parameters p)
// The same for 512 threads.
#define KERNEL_OF_SOME(name) extern "C" __global__ void __launch_bounds__(512) name(Parameters p)
// Blocks of 256 threads at the most, or of 512, that run side by side.
#define KERNEL_TOGETHER_OF_FEW(name) KERNEL_OF_FEW(name)
#define KERNEL_TOGETHER_OF_SOME(name) KERNEL_OF_SOME(name)
extern __shared__ u64 shared_words[];
// Waits a moment for other blocks.
__device__ inline void wait_a_moment() {}
#endif

#define POINTER(type, place) ((type *)p.at[place])
#define NUMBER(place) (p.at[place])

// One, in the fixed point of gradients.
const i32 ONE = 1 << 24;

// Rows that a block weighs and picks from: those of a thread, times the threads.
const u32 TILE_ROWS_A_THREAD = 8;

__device__ inline u32 all_threads() { return gridDim.x * blockDim.x; }
__device__ inline u32 this_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// The sum over all threads of a block, which all of them get; `room` has one word for each warp.
__device__ inline u64 block_sum(u64 value, u64 *room) {
    for (u32 step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = value;
    __syncthreads();
    u64 sum = 0;
    for (u32 warp = 0; warp < blockDim.x / 32; warp++) sum += room[warp];
    return sum;
}

// The sum over all threads of a warp, which all of them get.
__device__ inline u32 warp_sum(u32 value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffffu, value);
#else
    for (u32 step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
#endif
}

// The sum over the threads before this one; `room` has one word for each thread.
__device__ inline u64 sum_before(u64 value, u64 *room) {
    __syncthreads();
    room[threadIdx.x] = value;
    __syncthreads();
    for (u32 step = 1; step < blockDim.x; step *= 2) {
        u64 other = threadIdx.x >= step ? room[threadIdx.x - step] : 0;
        __syncthreads();
        room[threadIdx.x] += other;
        __syncthreads();
    }
    return room[threadIdx.x] - value;
}

// What is read and written at once.
struct __align__(16) Quad {
    u32 words[4];
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

// Rows side by side in place of inputs: of `SIZE` inputs, word i has all bits of the rows i, SIZE + i, 2 SIZE + i and so on.
template <int SIZE> __device__ inline void transpose_inputs(u32 *words) {
#pragma unroll
    for (u32 step = SIZE / 2; step > 0; step /= 2) {
        u32 mask = step == 8 ? 0x00ff00ffu : step == 4 ? 0x0f0f0f0fu : step == 2 ? 0x33333333u : 0x55555555u;
#pragma unroll
        for (u32 i = 0; i < SIZE; i++) {
            if (i & step) continue;
            u32 other = ((words[i] >> step) ^ words[i + step]) & mask;
            words[i] ^= other << step;
            words[i + step] ^= other;
        }
    }
}
