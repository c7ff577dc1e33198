// Words are sorted alike by each set of instructions.
#include "kernels/cpu/isa/key_sort.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace hawser::cpu {
namespace {

constexpr Isa kIsas[] = {Isa::kBase, Isa::kSse4, Isa::kAvx2, Isa::kAvx512};

// `different`: how many values there are, at most.
template <typename Word>
std::vector<Word> Words(int64_t n, uint64_t different) {
  std::mt19937_64 random(n + 1);
  std::vector<Word> words(n);
  for (Word& word : words) {
    word = static_cast<Word>(random() % different * 0x9E3779B97F4A7C15);
  }
  return words;
}

template <typename Word, typename Sort>
void ExpectSorted(int64_t n, uint64_t different, Sort sort) {
  std::vector<Word> words = Words<Word>(n, different), want = words;
  std::sort(want.begin(), want.end());
  sort(words.data(), n);
  EXPECT_EQ(words, want) << n << " words of " << different;
}

TEST(KeySortTest, OfEverySizeAndOfManyEquals) {
  for (const Isa isa : kIsas) {
    if (isa > MachineIsa()) continue;
    const KeySorts& sorts = FindKeySorts(isa);
    SCOPED_TRACE(IsaName(isa));
    for (const uint64_t different : {1ul, 2ul, 17ul, ~0ul}) {
      for (int64_t n = 0; n < 600; n += n < 70 ? 1 : 37) {
        ExpectSorted<uint32_t>(n, different, sorts.words.sort);
        ExpectSorted<uint64_t>(n, different, sorts.long_words.sort);
      }
      ExpectSorted<uint32_t>(50001, different, sorts.words.sort);
      ExpectSorted<uint64_t>(50001, different, sorts.long_words.sort);
    }
  }
}

template <typename Word>
void ExpectParts(const SortsOf<Word>& sorts, int64_t count) {
  const std::vector<Word> words = Words<Word>(1003, 200);
  std::vector<Word> splitters = Words<Word>(count, 150);
  std::sort(splitters.begin(), splitters.end());
  for (const int64_t n : {0, 1, 7, 16, 17, 1003}) {
    std::vector<uint8_t> parts(n + 1, 255);
    sorts.part(words.data(), n, splitters.data(), count, parts.data());
    EXPECT_EQ(parts[n], 255);
    for (int64_t i = 0; i < n; ++i) {
      int want = 0, equal = 0;
      for (const Word splitter : splitters) {
        want += splitter <= words[i] ? 2 : 0;
        equal |= splitter == words[i] ? 1 : 0;
      }
      ASSERT_EQ(parts[i], want - equal) << i << " of " << n;
    }
  }
}

TEST(KeySortTest, PartsLieBetweenSplittersAndOnThem) {
  for (const Isa isa : kIsas) {
    if (isa > MachineIsa()) continue;
    SCOPED_TRACE(IsaName(isa));
    for (const int64_t count : {1, 3, 63, 127}) {
      ExpectParts(FindKeySorts(isa).words, count);
      ExpectParts(FindKeySorts(isa).long_words, count);
    }
  }
}

TEST(KeySortTest, TheLargestWordsStayTheLast) {
  for (const Isa isa : kIsas) {
    if (isa > MachineIsa()) continue;
    std::vector<uint32_t> words(300, ~0u);
    for (int i = 0; i < 100; ++i) words[3 * i] = 100 - i;
    FindKeySorts(isa).words.sort(words.data(), 300);
    for (int i = 0; i < 300; ++i) {
      ASSERT_EQ(words[i], i < 100 ? i + 1 : ~0u) << IsaName(isa) << " " << i;
    }
  }
}

}  // namespace
}  // namespace hawser::cpu
