// Numbers of launches.
#ifndef HAWSER_KERNELS_GPU_EMIT_TEXT_LAUNCH_H_
#define HAWSER_KERNELS_GPU_EMIT_TEXT_LAUNCH_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/status.h"
#include "kernels/gpu/emit/text/emitted_kernel.h"

namespace hawser::gpu {

inline constexpr int64_t kThreads = 256;
// A tile in shared memory has so many rows and columns. The threads of a block
// take so many of its rows at a time.
inline constexpr int64_t kTile = 32, kTileLines = kThreads / kTile;

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

// A launch's blocks: the one place where their count becomes what a device
// takes. Errors: kResourceExhausted for more than any device has.
inline absl::StatusOr<Extent3> GridOf(int64_t x, int64_t y = 1) {
  constexpr int64_t kMostX = (int64_t{1} << 31) - 1, kMostY = 65535;
  if (x < 0 || x > kMostX || y < 0 || y > kMostY) {
    return ResourceExhausted("a kernel of ", x, " x ", y,
                             " blocks; a launch has at most ", kMostX, " x ",
                             kMostY);
  }
  return Extent3{static_cast<uint32_t>(x), static_cast<uint32_t>(y)};
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
#endif  // HAWSER_KERNELS_GPU_EMIT_TEXT_LAUNCH_H_
