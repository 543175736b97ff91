//! Counting and evaluating, at the best SIMD level of this machine.
