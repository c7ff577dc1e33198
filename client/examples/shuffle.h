// A shuffle that any language can repeat: splitmix64 and Fisher-Yates.
#ifndef HAWSER_CLIENT_EXAMPLES_SHUFFLE_H_
#define HAWSER_CLIENT_EXAMPLES_SHUFFLE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/base/values/literal.h"

namespace hawser {

// The numbers 0..n-1 in the order of `seed`; tests/e2e/knn_reference.py makes
// the same one. Source: Steele, Lea, Flood: Fast Splittable Pseudorandom
// Number Generators, 2014.
std::vector<int64_t> ShuffledOrder(int64_t n, uint64_t seed);

// Row i of the result is row order[i] of `rows`.
Literal RowsInOrder(const Literal& rows, absl::Span<const int64_t> order);

}  // namespace hawser
#endif  // HAWSER_CLIENT_EXAMPLES_SHUFFLE_H_
