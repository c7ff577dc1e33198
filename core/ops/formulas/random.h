// Bits that look random and follow from a key: counters, mixed.
#ifndef HAWSER_CORE_OPS_FORMULAS_RANDOM_H_
#define HAWSER_CORE_OPS_FORMULAS_RANDOM_H_

#include <cstdint>

#include "core/ops/expression.h"

namespace hawser::formulas {

// Words of u32, all of one shape.
struct TwoWords {
  Expression first, second;
};

// Threefry-2x32 in 20 rounds (Salmon et al., Parallel random numbers: as easy
// as 1, 2, 3): what becomes of each pair of counters.
TwoWords Threefry(const TwoWords& key, const TwoWords& counters);

// u32[count] of a key u32[2]: the counters 0, 1, ... are paired half by half,
// as Nx and JAX (with jax_threefry_partitionable off) have it. count: below
// 2^32.
Expression ThreefryWords(const Expression& key, int64_t count);
// The same of counters u32[n], not empty: the first half of them is paired with
// the second, the middle one of an odd number with 0.
Expression ThreefryPairs(const Expression& key, const Expression& counters);
// Returns the words of Threefry for each number of `data`, u64 of any shape, in
// a new last axis of 2.
Expression ThreefryOf(const Expression& key, const Expression& data);

// Returns the words of Threefry for `count` counters from `start`, u64[], on:
// the lower half of a counter is the first word. The key: scalars.
TwoWords ThreefryFrom(const TwoWords& key, const Expression& start,
                      int64_t count);

// Philox-4x32 in 10 rounds (the same paper): u32[4, count] of a key of two
// scalars and the counters of 128 bits from (`start`, `above`) on, each u64[],
// of which `start` is the lower half.
Expression PhiloxWords(const TwoWords& key, const Expression& start,
                       const Expression& above, int64_t count);

}  // namespace hawser::formulas
#endif  // HAWSER_CORE_OPS_FORMULAS_RANDOM_H_
