// FindKeySorts: words sorted in the instructions of this machine.
#ifndef HAWSER_KERNELS_CPU_ISA_KEY_SORT_H_
#define HAWSER_KERNELS_CPU_ISA_KEY_SORT_H_

#include <cstdint>

#include "kernels/cpu/isa/isa.h"

namespace hawser::cpu {

template <typename Word>
struct SortsOf {
  // Sorts n words where they are, the smallest first.
  void (*sort)(Word* words, int64_t n);
  // part[i] = twice how many of `splitters` are at most words[i], less one
  // where it equals one of them. splitters: in order, one less than a power of
  // two, 127 at most.
  void (*part)(const Word* words, int64_t n, const Word* splitters,
               int64_t count, uint8_t* part);
};
struct KeySorts {
  SortsOf<uint32_t> words;
  SortsOf<uint64_t> long_words;
};

// They are Highway's vqsort, and std::sort and std::upper_bound for kBase. They
// never fail and allocate nothing.
const KeySorts& FindKeySorts(Isa isa);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_ISA_KEY_SORT_H_
