// Seeded random numbers, shapes and values for property tests. The same seed
// gives the same values on every machine.
#ifndef HAWSER_TESTS_TESTING_RANDOM_RANDOM_LITERAL_H_
#define HAWSER_TESTS_TESTING_RANDOM_RANDOM_LITERAL_H_

#include <cstdint>
#include <random>
#include <vector>

#include "absl/types/span.h"
#include "core/base/values/dtype.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"
#include "core/ir/op_def.h"

namespace hawser {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t Bits() { return engine_(); }
  // 0 <= result < n; 0 when n is 0.
  int64_t Below(int64_t n) {
    return n <= 0 ? 0 : static_cast<int64_t>(Bits() % static_cast<uint64_t>(n));
  }
  int64_t Between(int64_t low, int64_t high) {  // both included
    return low + Below(high - low + 1);
  }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  template <typename Container>
  const auto& Pick(const Container& from) {
    return from[Below(static_cast<int64_t>(from.size()))];
  }
  DType PickDType(DTypeSet set);  // `set` must not be empty
  // Sizes 1 to 4, the product at most `max_elements`; one in `empty` is 0.
  Dims PickDims(int max_rank, int64_t max_elements, int empty = 24);

 private:
  std::mt19937_64 engine_;
};

// Small numbers in quarters; one in 16 is an extreme: NaN, an infinity, -0, a
// subnormal, the smallest or the largest. Without `extremes` none is.
Literal RandomLiteral(const Shape& shape, Random& random, bool extremes = true);
std::vector<Literal> RandomArguments(const Signature& signature, Random& random,
                                     bool extremes = true);

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_RANDOM_RANDOM_LITERAL_H_
