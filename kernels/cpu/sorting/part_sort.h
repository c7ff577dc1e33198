// SortItems: items in the order of their keys, on several threads. SortFirst: of
// which only the first ones are needed.
#ifndef HAWSER_KERNELS_CPU_SORTING_PART_SORT_H_
#define HAWSER_KERNELS_CPU_SORTING_PART_SORT_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "core/base/status.h"
#include "kernels/cpu/isa/key_sort.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/sorting/radix_sort.h"

namespace hawser::cpu {

// Words are their own keys; equal ones cannot be told from each other.
inline uint32_t KeyOf(uint32_t word) { return word; }
inline uint64_t KeyOf(uint64_t word) { return word; }

// The most that one thread sorts at once: some ms, and no larger than caches.
inline constexpr int64_t kPartItems = int64_t{1} << 19;
// Steps of one item, for the words of this machine: measured 3 to 9.
inline constexpr double kSortSteps = 6;

inline const SortsOf<uint32_t>& SortsFor(const uint32_t*) {
  return FindKeySorts(ProcessIsa()).words;
}
inline const SortsOf<uint64_t>& SortsFor(const uint64_t*) {
  return FindKeySorts(ProcessIsa()).long_words;
}

// Sorts on this thread. Gives `items` or `room`, as SortItems does.
template <typename Word>
absl::StatusOr<Word*> SortAtOnce(Word* words, Word*, int64_t n,
                                 WorkMeter* meter) {
  HAWSER_RETURN_IF_ERROR(meter->Begin(kSortSteps * static_cast<double>(n)));
  SortsFor(words).sort(words, n);
  return words;
}
inline absl::StatusOr<Placed*> SortAtOnce(Placed* items, Placed* room,
                                          int64_t n, WorkMeter* meter) {
  return RadixSort(items, room, n, meter);
}

// Assigns items to parts by their keys. The splitters are in order: part 2 p +
// 1 holds the keys that equal splitter p, and part 2 p those below it.
template <typename Key>
class Splitters {
 public:
  // Takes them at even distances from n items, which are many.
  template <typename Item>
  Splitters(const Item* items, int64_t n) {
    constexpr int64_t kSamples = 32;  // for each splitter
    int64_t ranges = 2;
    while (ranges < 128 && ranges * kPartItems < 2 * n) ranges *= 2;
    std::vector<Key> sample(kSamples * ranges);
    const auto count = static_cast<int64_t>(sample.size());
    for (int64_t i = 0; i < count; ++i) sample[i] = KeyOf(items[n / count * i]);
    SortsFor(sample.data()).sort(sample.data(), count);
    for (int64_t p = 1; p < ranges; ++p) keys_.push_back(sample[p * kSamples]);
  }

  int64_t parts() const { return 2 * static_cast<int64_t>(keys_.size()) + 1; }
  static bool IsOfEquals(int64_t part) { return part % 2 != 0; }
  void PartsOf(const Key* words, int64_t n, uint8_t* part) const {
    SortsFor(words).part(words, n, keys_.data(),
                         static_cast<int64_t>(keys_.size()), part);
  }
  void PartsOf(const Placed* items, int64_t n, uint8_t* part) const {
    constexpr int64_t kAtOnce = 256;
    Key words[kAtOnce];
    for (int64_t begin = 0; begin < n; begin += kAtOnce) {
      const int64_t count = std::min(kAtOnce, n - begin);
      for (int64_t i = 0; i < count; ++i) words[i] = items[begin + i].key;
      PartsOf(words, count, part + begin);
    }
  }

 private:
  std::vector<Key> keys_;  // one less than a power of two
};

// fn(chunk, begin, end) for each kPartItems of n items, on several threads; an
// item takes about `steps`.
inline absl::Status ForChunks(
    const KernelContext& c, int64_t n, double steps,
    absl::FunctionRef<void(int64_t, int64_t, int64_t)> fn) {
  return c.ForMetered(
      (n - 1) / kPartItems + 1, steps * kPartItems,
      [&](int64_t first, int64_t last, WorkMeter* meter) -> absl::Status {
        for (int64_t chunk = first; chunk < last; ++chunk) {
          const int64_t begin = chunk * kPartItems;
          const int64_t end = std::min(begin + kPartItems, n);
          HAWSER_RETURN_IF_ERROR(
              meter->Begin(steps * static_cast<double>(end - begin)));
          fn(chunk, begin, end);
        }
        return absl::OkStatus();
      });
}

// Moves items to the parts they belong to, in `room`, those of a part in the
// order they had. Gives where each part begins, and n.
template <typename Item>
absl::StatusOr<std::vector<int64_t>> MoveToParts(const KernelContext& c,
                                                 const Item* items, Item* room,
                                                 int64_t n) {
  const Splitters<decltype(KeyOf(*items))> splitters(items, n);
  const int64_t parts = splitters.parts();
  const int64_t chunks = (n - 1) / kPartItems + 1;
  HAWSER_ASSIGN_OR_RETURN(
      Literal ids, c.environment.allocator->Allocate(Shape::Of(DType::kU8, {n}),
                                                     c.environment.memory));
  uint8_t* const part_of = ids.mutable_data<uint8_t>().data();
  std::vector<int64_t> counts(chunks * parts);
  constexpr double kSteps = 4;
  HAWSER_RETURN_IF_ERROR(ForChunks(
      c, n, kSteps, [&](int64_t chunk, int64_t begin, int64_t end) {
        int64_t* const count = &counts[chunk * parts];
        splitters.PartsOf(items + begin, end - begin, part_of + begin);
        for (int64_t i = begin; i < end; ++i) ++count[part_of[i]];
      }));
  std::vector<int64_t> begins(parts + 1, n);
  int64_t before = 0;
  for (int64_t part = 0; part < parts; ++part) {
    begins[part] = before;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      int64_t& count = counts[chunk * parts + part];
      before += std::exchange(count, before);
    }
  }
  HAWSER_RETURN_IF_ERROR(ForChunks(
      c, n, kSteps, [&](int64_t chunk, int64_t begin, int64_t end) {
        int64_t* const next = &counts[chunk * parts];
        for (int64_t i = begin; i < end; ++i) {
          room[next[part_of[i]]++] = items[i];
        }
      }));
  return begins;
}

// Sorts n items with the help of `room`, of as many, stably. Gives the one of
// them that has the result, which does not depend on the number of threads.
// Errors: the meter's; kResourceExhausted.
template <typename Item>
absl::StatusOr<Item*> SortItems(const KernelContext& c, Item* items, Item* room,
                                int64_t n, WorkMeter* meter) {
  if (n <= kPartItems) return SortAtOnce(items, room, n, meter);
  HAWSER_ASSIGN_OR_RETURN(const std::vector<int64_t> begins,
                          MoveToParts(c, items, room, n));
  HAWSER_RETURN_IF_ERROR(c.ForMetered(
      static_cast<int64_t>(begins.size()) - 1, kSortSteps * kPartItems,
      [&](int64_t first, int64_t end, WorkMeter* meter) -> absl::Status {
        for (int64_t p = first; p < end; ++p) {
          if (Splitters<decltype(KeyOf(*items))>::IsOfEquals(p)) continue;
          const int64_t at = begins[p], size = begins[p + 1] - at;
          // Keys that were made to deceive the sample are not split again.
          const bool is_split = size < n - n / 8;
          HAWSER_ASSIGN_OR_RETURN(
              Item* const sorted,
              is_split ? SortItems(c, room + at, items + at, size, meter)
                       : SortAtOnce(room + at, items + at, size, meter));
          if (sorted != room + at) std::copy_n(sorted, size, room + at);
        }
        return absl::OkStatus();
      }));
  return room;
}

// A key that the first `wanted` of n items are hardly above, by a sample.
template <typename Item>
auto BoundOfFirst(const Item* items, int64_t n, int64_t wanted) {
  constexpr int64_t kSamples = 1024;
  std::array<decltype(KeyOf(*items)), kSamples> sample;
  for (int64_t i = 0; i < kSamples; ++i) {
    sample[i] = KeyOf(items[n / kSamples * i]);
  }
  SortsFor(sample.data()).sort(sample.data(), kSamples);
  // The expected position of the last wanted item among the samples, and four
  // times its deviation.
  const double at = static_cast<double>(wanted) / static_cast<double>(n) *
                    static_cast<double>(kSamples);
  return sample[static_cast<int64_t>(at + 4 * std::sqrt(at + 1))];
}

// Moves the items whose keys are not above `last` to `to`, in the order they
// have. Gives how many these are.
template <typename Item, typename Key>
absl::StatusOr<int64_t> TakeUpTo(const KernelContext& c, const Item* items,
                                 int64_t n, Key last, Item* to) {
  std::vector<int64_t> ends((n - 1) / kPartItems + 1);  // of each chunk's
  HAWSER_RETURN_IF_ERROR(ForChunks(
      c, n, 1, [&](int64_t chunk, int64_t begin, int64_t end) {
        int64_t at = begin;
        for (int64_t i = begin; i < end; ++i) {
          to[at] = items[i];
          at += KeyOf(items[i]) <= last ? 1 : 0;
        }
        ends[chunk] = at;
      }));
  Item* all = to + ends[0];
  for (size_t chunk = 1; chunk < ends.size(); ++chunk) {
    all = std::copy(to + static_cast<int64_t>(chunk) * kPartItems,
                    to + ends[chunk], all);
  }
  return all - to;
}

// SortItems of which only the first `wanted` have to be there.
template <typename Item>
absl::StatusOr<Item*> SortFirst(const KernelContext& c, Item* items, Item* room,
                                int64_t n, int64_t wanted, WorkMeter* meter) {
  // From how many on, and of how many wanted, that is less work.
  constexpr int64_t kLeast = 4096, kWorth = 4;
  if (n < kLeast || n / kWorth < wanted) {
    return SortItems(c, items, room, n, meter);
  }
  HAWSER_ASSIGN_OR_RETURN(
      const int64_t taken,
      TakeUpTo(c, items, n, BoundOfFirst(items, n, wanted), room));
  // Keys that were made to deceive the sample are all sorted.
  return taken < wanted ? SortItems(c, items, room, n, meter)
                        : SortItems(c, room, items, taken, meter);
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_SORTING_PART_SORT_H_
