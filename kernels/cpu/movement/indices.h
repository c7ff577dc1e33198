// Values used as indices, whatever integer dtype they have.
#ifndef HAWSER_KERNELS_CPU_MOVEMENT_INDICES_H_
#define HAWSER_KERNELS_CPU_MOVEMENT_INDICES_H_

#include <cstdint>
#include <limits>

#include "core/base/values/dtype.h"
#include "core/base/values/literal.h"

namespace hawser::cpu {

// Element `i` of an integer literal; u64 beyond s64 gives the largest s64,
// which every clamp treats the same.
inline int64_t ReadIndex(const Literal& literal, int64_t i) {
  return VisitDType(literal.shape().dtype(), [&](auto tag) -> int64_t {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, uint64_t>) {
      const uint64_t value = literal.data<T>()[i];
      constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
      return static_cast<int64_t>(value < kMost ? value : kMost);
    } else if constexpr (kIsInteger<T>) {
      return literal.data<T>()[i];
    } else {
      return 0;
    }
  });
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_MOVEMENT_INDICES_H_
