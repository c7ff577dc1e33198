// FindKeySorts: words sorted in the instructions of this machine.
#ifndef HAWSER_KERNELS_CPU_ISA_KEY_SORT_H_
#define HAWSER_KERNELS_CPU_ISA_KEY_SORT_H_

#include <cstdint>

#include "kernels/cpu/isa/isa.h"

namespace hawser::cpu {

// Sort n words where they are, the smallest first.
struct KeySorts {
  void (*words)(uint32_t* words, int64_t n);
  void (*long_words)(uint64_t* words, int64_t n);
};

// By Highway's vqsort, of kBase by std::sort. Never fails, allocates nothing.
const KeySorts& FindKeySorts(Isa isa);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_ISA_KEY_SORT_H_
