// Counting for the gates of the paper's tree, a block for each. It counts as hill climbing does.

#include "device.h"

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
    count(arity, c, inputs, counts);
    for (u32 i = threadIdx.x; i < length; i += blockDim.x) out[i] = counts[i];
}
