// Stands in for a device on a processor: the threads of a block are fibers that take turns. Blocks run one after the other, or
// take turns too where they wait for each other.
//
// It is for tests of what kernels compute, not of how fast.

#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <vector>

typedef unsigned char u8;
typedef unsigned short u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int32_t i32;
typedef long long i64;

struct Parameters {
    u64 at[16];
};

#define __device__
#define __align__(bytes) alignas(bytes)
#define __noinline__ static
#define __forceinline__ inline
#define __shared__ static
#define REGISTERED(name, waits)                                                                                        \
    static void name(Parameters p);                                                                                    \
    static Registered registered_##name(#name, name, waits);                                                           \
    static void name(Parameters p)
#define KERNEL(name) REGISTERED(name, FOR_THREADS)
#define KERNEL_ALONE(name) REGISTERED(name, FOR_NOTHING)
#define KERNEL_OF_FEW(name) REGISTERED(name, FOR_THREADS)
#define KERNEL_OF_SOME(name) REGISTERED(name, FOR_THREADS)
#define KERNEL_TOGETHER(name) REGISTERED(name, FOR_BLOCKS)
#define KERNEL_TOGETHER_OF_FEW(name) REGISTERED(name, FOR_BLOCKS)
#define KERNEL_TOGETHER_OF_SOME(name) REGISTERED(name, FOR_BLOCKS)

struct Place {
    u32 x, y, z;
};
static Place threadIdx, blockIdx, blockDim, gridDim;
static u64 *shared_words;

// What the threads of a kernel wait for.
enum Waiting { FOR_NOTHING, FOR_THREADS, FOR_BLOCKS };

struct Registered {
    const char *name;
    void (*kernel)(Parameters);
    Waiting waits;
    Registered *next;
    static Registered *first;
    Registered(const char *name, void (*kernel)(Parameters), Waiting waits)
        : name(name), kernel(kernel), waits(waits), next(first) {
        first = this;
    }
};
Registered *Registered::first = nullptr;

// What a fiber waits for.
enum Waits { READY, WARP, BLOCK, DONE };

struct Fiber {
    ucontext_t context;
    // Where it goes on, once it has begun.
    jmp_buf place;
    bool begun;
    Waits waits;
    u64 gives;
    char stack[64 * 1024];
};

static jmp_buf scheduler;
static std::vector<Fiber *> fibers;
// Those of the block that runs.
static Fiber **block_fibers;
static void (*running)(Parameters);
static Parameters given;

static void wait_for(Waits what) {
    Fiber *fiber = block_fibers[threadIdx.x];
    fiber->waits = what;
    if (!_setjmp(fiber->place)) _longjmp(scheduler, 1);
}

// A fiber runs one block after the other.
static void run_fiber() {
    for (;;) {
        running(given);
        wait_for(DONE);
    }
}

static void go_on(Fiber *fiber) {
    if (_setjmp(scheduler)) return;
    if (fiber->begun) _longjmp(fiber->place, 1);
    fiber->begun = true;
    setcontext(&fiber->context);
}

// Runs the threads of a block until they all wait; whether there are any that are not done.
static bool run_turn() {
    u32 threads = blockDim.x, ran = 0, done = 0;
    for (u32 i = 0; i < threads; i++) {
        if (block_fibers[i]->waits == READY) {
            threadIdx.x = i;
            go_on(block_fibers[i]);
            ran++;
        }
        done += block_fibers[i]->waits == DONE;
    }
    if (done == threads) return false;
    bool all_wait = true;
    for (u32 i = 0; i < threads; i++) all_wait &= block_fibers[i]->waits == BLOCK || block_fibers[i]->waits == DONE;
    if (all_wait) {
        for (u32 i = 0; i < threads; i++) {
            if (block_fibers[i]->waits == BLOCK) block_fibers[i]->waits = READY;
        }
        return true;
    }
    bool freed = false;
    for (u32 first = 0; first < threads; first += 32) {
        bool warp_waits = true;
        for (u32 i = first; i < first + 32; i++) warp_waits &= block_fibers[i]->waits == WARP;
        if (!warp_waits) continue;
        for (u32 i = first; i < first + 32; i++) block_fibers[i]->waits = READY;
        freed = true;
    }
    if (!freed && !ran) {
        fprintf(stderr, "the threads of a block wait for each other\n");
        abort();
    }
    return true;
}

// Runs so many blocks side by side, the first being that of `blockIdx`, each with words that it shares.
static void run_blocks(u32 count, u32 shared_length) {
    u32 threads = blockDim.x, first = blockIdx.x + blockIdx.y * gridDim.x;
    while (fibers.size() < (size_t)threads * count) {
        Fiber *fiber = new Fiber;
        fiber->begun = false;
        getcontext(&fiber->context);
        fiber->context.uc_stack.ss_sp = fiber->stack;
        fiber->context.uc_stack.ss_size = sizeof fiber->stack;
        fiber->context.uc_link = nullptr;
        makecontext(&fiber->context, run_fiber, 0);
        fibers.push_back(fiber);
    }
    for (u32 i = 0; i < threads * count; i++) fibers[i]->waits = READY;
    std::vector<u64> shared((size_t)shared_length * count, 0xdeadbeefdeadbeefull);
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (u32 block = 0; block < count; block++) {
            blockIdx = {(first + block) % gridDim.x, (first + block) / gridDim.x, 0};
            block_fibers = fibers.data() + (size_t)block * threads;
            shared_words = shared.data() + (size_t)block * shared_length;
            goes_on |= run_turn();
        }
    }
}

// Waits a moment for other blocks.
static inline void wait_a_moment() { wait_for(READY); }

static inline void __syncthreads() { wait_for(BLOCK); }
static inline void __syncwarp() { wait_for(WARP); }
static inline void __threadfence() {}

template <typename T> static T __shfl_xor_sync(u32, T value, u32 step) {
    static_assert(sizeof(T) <= 8, "");
    u64 bits = 0;
    memcpy(&bits, &value, sizeof value);
    block_fibers[threadIdx.x]->gives = bits;
    wait_for(WARP);
    u64 other = block_fibers[threadIdx.x ^ step]->gives;
    wait_for(WARP);
    memcpy(&value, &other, sizeof value);
    return value;
}

template <typename T> static T __shfl_sync(u32 mask, T value, u32 lane) {
    return __shfl_xor_sync(mask, value, threadIdx.x % 32 ^ lane);
}
static inline u32 __ballot_sync(u32, bool value) {
    block_fibers[threadIdx.x]->gives = value;
    wait_for(WARP);
    u32 votes = 0;
    for (u32 lane = 0; lane < 32; lane++) votes |= (u32)block_fibers[threadIdx.x / 32 * 32 + lane]->gives << lane;
    wait_for(WARP);
    return votes;
}

static inline u32 __clz(u32 bits) { return (u32)__builtin_clz(bits); }
static inline u32 __clzll(u64 bits) { return (u32)__builtin_clzll(bits); }
static inline u32 __popc(u32 bits) { return (u32)__builtin_popcount(bits); }

template <typename T> static T atomicAdd(T *at, T value) {
    T old = *at;
    *at = old + value;
    return old;
}
template <typename T> static T atomicMin(T *at, T value) {
    T old = *at;
    *at = value < old ? value : old;
    return old;
}
static inline i32 atomicMax(i32 *at, i32 value) {
    i32 old = *at;
    *at = value > old ? value : old;
    return old;
}

// Runs a kernel; says whether there is one of that name.
extern "C" int gatewood_launch(const char *name, u32 grid_x, u32 grid_y, u32 threads, u32 shared_bytes, const u64 *at) {
    for (Registered *kernel = Registered::first; kernel; kernel = kernel->next) {
        if (strcmp(kernel->name, name) != 0) continue;
        running = kernel->kernel;
        memcpy(given.at, at, sizeof given.at);
        // An even number of words: some are read two at a time.
        u32 shared_length = (shared_bytes + 15) / 16 * 2 + 2;
        gridDim = {grid_x, grid_y, 1};
        blockDim = {threads, 1, 1};
        blockIdx = {0, 0, 0};
        if (kernel->waits == FOR_BLOCKS) {
            run_blocks(grid_x * grid_y, shared_length);
            return 1;
        }
        for (u32 y = 0; y < grid_y; y++) {
            for (u32 x = 0; x < grid_x; x++) {
                blockIdx = {x, y, 0};
                if (kernel->waits == FOR_THREADS) {
                    run_blocks(1, shared_length);
                    continue;
                }
                for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++) kernel->kernel(given);
            }
        }
        return 1;
    }
    return 0;
}
