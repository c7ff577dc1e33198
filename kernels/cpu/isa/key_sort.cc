// Compiled for each set of instructions in turn by Highway's foreach_target.h.
#include "kernels/cpu/isa/key_sort.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/isa/key_sort.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include "hwy/foreach_target.h"
// Behind it, as it asks.
#include "hwy/contrib/sort/traits-inl.h"
#include "hwy/contrib/sort/vqsort-inl.h"
#include "hwy/highway.h"
#include "kernels/cpu/isa/by_isa.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Where pivots are sampled: any, the same on every run.
constexpr uint64_t kSeed = 0x9E3779B97F4A7C15;

// hn::Sort with a seed of ours: that of Highway's comes from its library.
template <typename Word>
void SortWords(Word* words, int64_t n) {
  using Order = hn::detail::OrderAscending<Word>;
  const hn::SortTag<Word> tag;
  const hn::detail::SharedTraits<hn::detail::TraitsLane<Order>> traits;
  const auto count = static_cast<size_t>(n);
  HWY_ALIGN Word room[hwy::SortConstants::BufNum<Word>(HWY_LANES(Word))] = {};
  if (hn::detail::HandleSpecialCases(tag, traits, words, count)) return;
  hn::detail::Generator random(kSeed);
  hn::detail::Recurse(tag, traits, words, words + count, count, room, random,
                      2 * hwy::CeilLog2(count) + 4);
}

// Halves the splitters for a vector of words at a time.
template <typename Word>
void PartWords(const Word* words, int64_t n, const Word* splitters,
               int64_t count, uint8_t* part) {
  const hn::SortTag<Word> d;
  const hn::RebindToSigned<decltype(d)> di;
  using Index = hn::TFromD<decltype(di)>;
  constexpr auto kStep = static_cast<int64_t>(hn::MaxLanes(d));
  const auto of = [&](const Word* at, uint8_t* to, int64_t lanes) HWY_ATTR {
    const auto word = hn::LoadU(d, at);
    auto not_above = hn::Zero(di);
    for (Index step = static_cast<Index>((count + 1) / 2); step > 0;
         step /= 2) {
      const auto next = hn::Add(not_above, hn::Set(di, step));
      const auto splitter =
          hn::GatherIndex(d, splitters, hn::Sub(next, hn::Set(di, Index{1})));
      not_above = hn::IfThenElse(
          hn::RebindMask(di, hn::Not(hn::Lt(word, splitter))), next, not_above);
    }
    // The last of those, or the first of all, which is above.
    const auto last =
        hn::Max(hn::Sub(not_above, hn::Set(di, Index{1})), hn::Zero(di));
    const auto equal =
        hn::RebindMask(di, hn::Eq(word, hn::GatherIndex(d, splitters, last)));
    const auto twice = hn::Add(not_above, not_above);
    const auto parts =
        hn::IfThenElse(equal, hn::Sub(twice, hn::Set(di, Index{1})), twice);
    HWY_ALIGN Index all[hn::MaxLanes(d)];
    hn::Store(parts, di, all);
    for (int64_t k = 0; k < lanes; ++k) to[k] = static_cast<uint8_t>(all[k]);
  };
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) of(words + i, part + i, kStep);
  if (i == n) return;
  HWY_ALIGN Word rest[hn::MaxLanes(d)] = {};
  for (int64_t k = 0; i + k < n; ++k) rest[k] = words[i + k];
  of(rest, part + i, n - i);
}

}  // namespace

const KeySorts& Sorts() {
  static constexpr KeySorts kSorts = {
      {SortWords<uint32_t>, PartWords<uint32_t>},
      {SortWords<uint64_t>, PartWords<uint64_t>}};
  return kSorts;
}

}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#if HWY_ONCE
namespace hawser::cpu {
namespace {

template <typename Word>
void StdSort(Word* words, int64_t n) {
  std::sort(words, words + n);
}
template <typename Word>
void StdPart(const Word* words, int64_t n, const Word* splitters, int64_t count,
             uint8_t* part) {
  for (int64_t i = 0; i < n; ++i) {
    const Word* end = std::upper_bound(splitters, splitters + count, words[i]);
    const bool is_equal = end != splitters && end[-1] == words[i];
    part[i] = static_cast<uint8_t>(2 * (end - splitters) - (is_equal ? 1 : 0));
  }
}
constexpr KeySorts kStdSorts = {{StdSort<uint32_t>, StdPart<uint32_t>},
                                {StdSort<uint64_t>, StdPart<uint64_t>}};

}  // namespace

const KeySorts& FindKeySorts(Isa isa) { HAWSER_BY_ISA(isa, kStdSorts, Sorts()) }

}  // namespace hawser::cpu
#endif  // HWY_ONCE
