// RadixSort: a stable sort by unsigned keys, a byte at a time.
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

// What is sorted: a key alone, or one with the place it comes from.
struct Placed32 {
  uint32_t key;
  uint32_t place;
};
struct Placed64 {
  uint64_t key;
  uint64_t place;
};
inline uint32_t KeyOf(uint32_t item) { return item; }
inline uint64_t KeyOf(uint64_t item) { return item; }
inline uint32_t KeyOf(const Placed32& item) { return item.key; }
inline uint64_t KeyOf(const Placed64& item) { return item.key; }

// Fewer are sorted by exchanges.
inline constexpr int64_t kFewItems = 64;
// Between two looks at the token.
inline constexpr int64_t kItemsAtOnce = int64_t{1} << 18;
// Of one item and one pass.
inline constexpr double kPassSteps = 2;

template <typename Item>
void InsertionSort(Item* items, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const Item item = items[i];
    int64_t at = i;
    for (; at > 0 && KeyOf(item) < KeyOf(items[at - 1]); --at) {
      items[at] = items[at - 1];
    }
    items[at] = item;
  }
}

// Sorts `items` with the help of `room`, of as many. Gives the one of them that
// has the result. Errors: the meter's.
template <typename Item>
absl::StatusOr<Item*> RadixSort(Item* items, Item* room, int64_t n,
                                WorkMeter* meter) {
  using Key = decltype(KeyOf(*items));
  constexpr int kBytes = sizeof(Key);
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
      const Key key = KeyOf(items[i]);
      for (int b = 0; b < kBytes; ++b) ++counts[b][key >> (8 * b) & 0xff];
    }
  }
  for (int b = 0; b < kBytes; ++b) {
    // All have the same byte: it moves nothing.
    if (counts[b][KeyOf(items[0]) >> (8 * b) & 0xff] == n) continue;
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
        room[next[KeyOf(items[i]) >> (8 * b) & 0xff]++] = items[i];
      }
    }
    std::swap(items, room);
  }
  return items;
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_SORTING_RADIX_SORT_H_
