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

}  // namespace

const KeySorts& Sorts() {
  static constexpr KeySorts kSorts = {SortWords<uint32_t>, SortWords<uint64_t>};
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
constexpr KeySorts kStdSorts = {StdSort<uint32_t>, StdSort<uint64_t>};

}  // namespace

const KeySorts& FindKeySorts(Isa isa) { HAWSER_BY_ISA(isa, kStdSorts, Sorts()) }

}  // namespace hawser::cpu
#endif  // HWY_ONCE
