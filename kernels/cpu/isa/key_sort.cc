// Compiled for each set of instructions in turn by Highway's foreach_target.h.
#include "kernels/cpu/isa/key_sort.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/isa/key_sort.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include "hwy/foreach_target.h"
// Highway wants it after foreach_target.h.
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

// The seed of sampled pivots: any number, the same on every run.
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

// The most splitters, and how often these are halved.
constexpr int kMostLevels = 7;

// Splitters as a tree: level l holds those that a word is compared with in step
// l, by where the steps before led.
template <typename Word>
class Tree {
 public:
  Tree(const Word* splitters, int64_t count) {
    while ((int64_t{1} << levels_) <= count) ++levels_;
    for (int l = 0; l < levels_; ++l) {
      const int64_t nodes = int64_t{1} << l, apart = (count + 1) >> l;
      for (int64_t j = 0; j < nodes; ++j) {
        nodes_[l][j] = splitters[j * apart + apart / 2 - 1];
      }
    }
  }

  // The parts of a vector of words.
  template <class D>
  HWY_INLINE hn::Vec<hn::RebindToSigned<D>> PartsOf(D d,
                                                    hn::Vec<D> words) const {
    const hn::RebindToSigned<D> di;
    const auto one = hn::Set(di, 1);
    auto at = hn::Zero(di), equal = hn::Zero(di);
    for (int l = 0; l < levels_; ++l) {
      const auto node = Look(d, l, at);
      equal =
          hn::IfThenElse(hn::RebindMask(di, hn::Eq(words, node)), one, equal);
      const auto above =
          hn::IfThenElseZero(hn::RebindMask(di, hn::Lt(words, node)), one);
      at = hn::Sub(hn::Add(hn::Add(at, at), one), above);
    }
    return hn::Sub(hn::Add(at, at), equal);
  }

 private:
  template <class D>
  HWY_INLINE hn::Vec<D> Look(D d, int level,
                             hn::Vec<hn::RebindToSigned<D>> at) const {
    if ((size_t{1} << level) <= hn::MaxLanes(d)) {
      return hn::TableLookupLanes(hn::Load(d, nodes_[level]),
                                  hn::IndicesFromVec(d, at));
    }
    return hn::GatherIndex(d, nodes_[level], at);
  }

  int levels_ = 0;
  HWY_ALIGN Word nodes_[kMostLevels][1 << (kMostLevels - 1)] = {};
};

template <typename Word>
void PartWords(const Word* words, int64_t n, const Word* splitters,
               int64_t count, uint8_t* part) {
  const hn::SortTag<Word> d;
  const hn::RebindToSigned<decltype(d)> di;
  constexpr auto kStep = static_cast<int64_t>(hn::MaxLanes(d));
  const Tree<Word> tree(splitters, count);
  const auto of = [&](const Word* at, uint8_t* to, int64_t lanes) HWY_ATTR {
    HWY_ALIGN hn::TFromD<decltype(di)> all[hn::MaxLanes(d)];
    hn::Store(tree.PartsOf(d, hn::LoadU(d, at)), di, all);
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
