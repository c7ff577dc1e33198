// RadixSort: a stable sort by keys of 64 bits, a byte at a time.
#ifndef HAWSER_KERNELS_CPU_SORTING_RADIX_SORT_H_
#define HAWSER_KERNELS_CPU_SORTING_RADIX_SORT_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "core/base/status.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

// A key and the place it comes from.
struct Placed {
  uint64_t key;
  uint64_t place;
};
inline uint64_t KeyOf(const Placed& item) { return item.key; }

// Fewer are sorted by exchanges.
inline constexpr int64_t kFewItems = 64;
// Between two looks at the token.
inline constexpr int64_t kItemsAtOnce = int64_t{1} << 18;
// Steps of one item and one pass.
inline constexpr double kPassSteps = 2;

inline void InsertionSort(Placed* items, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const Placed item = items[i];
    int64_t at = i;
    for (; at > 0 && item.key < items[at - 1].key; --at) {
      items[at] = items[at - 1];
    }
    items[at] = item;
  }
}

// Sorts `items` with the help of `room`, of as many. Gives the one of them that
// has the result. Errors: the meter's.
inline absl::StatusOr<Placed*> RadixSort(Placed* items, Placed* room, int64_t n,
                                         WorkMeter* meter) {
  constexpr int kBytes = sizeof(uint64_t);
  if (n <= kFewItems) {
    HAWSER_RETURN_IF_ERROR(
        meter->Begin(static_cast<double>(n) * static_cast<double>(n) / 8));
    InsertionSort(items, n);
    return items;
  }
  std::array<std::array<int64_t, 256>, kBytes> counts = {};
  for (int64_t begin = 0; begin < n; begin += kItemsAtOnce) {
    const int64_t end = std::min(begin + kItemsAtOnce, n);
    HAWSER_RETURN_IF_ERROR(
        meter->Begin(static_cast<double>((end - begin) * kBytes) / 2));
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t key = items[i].key;
      for (int b = 0; b < kBytes; ++b) ++counts[b][key >> (8 * b) & 0xff];
    }
  }
  for (int b = 0; b < kBytes; ++b) {
    // All have the same byte: it moves nothing.
    if (counts[b][items[0].key >> (8 * b) & 0xff] == n) continue;
    std::array<int64_t, 256> next;
    int64_t before = 0;
    for (int digit = 0; digit < 256; ++digit) {
      next[digit] = std::exchange(before, before + counts[b][digit]);
    }
    for (int64_t begin = 0; begin < n; begin += kItemsAtOnce) {
      const int64_t end = std::min(begin + kItemsAtOnce, n);
      HAWSER_RETURN_IF_ERROR(
          meter->Begin(kPassSteps * static_cast<double>(end - begin)));
      for (int64_t i = begin; i < end; ++i) {
        room[next[items[i].key >> (8 * b) & 0xff]++] = items[i];
      }
    }
    std::swap(items, room);
  }
  return items;
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_SORTING_RADIX_SORT_H_
