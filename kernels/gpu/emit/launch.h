// Numbers of launches.
#ifndef HAWSER_KERNELS_GPU_EMIT_LAUNCH_H_
#define HAWSER_KERNELS_GPU_EMIT_LAUNCH_H_

#include <algorithm>
#include <cstdint>

#include "absl/types/span.h"
#include "kernels/gpu/emit/emit.h"

namespace hawser::gpu {

inline constexpr int64_t kThreads = 256;

inline int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline int64_t ProductOf(absl::Span<const int64_t> sizes) {
  int64_t product = 1;
  for (const int64_t s : sizes) product *= s;
  return product;
}

// The smallest power of two that is not below `n`.
inline int64_t PowerOfTwo(int64_t n) {
  int64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

// Blocks of a loop that runs over what they cannot take at once: 32 of 256
// threads a multiprocessor are four times what runs there at a time, so that
// the last ones leave little of it idle.
inline LaunchShape LoopShape(int64_t turns, const EmitOptions& options) {
  const int64_t most = int64_t{options.multiprocessors} * 32;
  const int64_t blocks = std::clamp<int64_t>(CeilDivide(turns, kThreads), 1,
                                             std::max<int64_t>(most, 1));
  return {.grid = {static_cast<uint32_t>(blocks)}, .threads = kThreads};
}

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_LAUNCH_H_
