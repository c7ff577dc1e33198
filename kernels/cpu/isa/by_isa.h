// HAWSER_BY_ISA: one call of the compilation for a set of instructions. For the
// files that Highway's foreach_target.h compiles, behind it.
#ifndef HAWSER_KERNELS_CPU_ISA_BY_ISA_H_
#define HAWSER_KERNELS_CPU_ISA_BY_ISA_H_

#include "hwy/highway.h"
#include "kernels/cpu/isa/isa.h"

#if HWY_TARGETS & HWY_SSE4
#define HAWSER_BY_SSE4(...) \
  case Isa::kSse4:          \
    return N_SSE4::__VA_ARGS__;
#else
#define HAWSER_BY_SSE4(...)
#endif
#if HWY_TARGETS & HWY_AVX2
#define HAWSER_BY_AVX2(...) \
  case Isa::kAvx2:          \
    return N_AVX2::__VA_ARGS__;
#else
#define HAWSER_BY_AVX2(...)
#endif
#if HWY_TARGETS & HWY_AVX3
#define HAWSER_BY_AVX512(...) \
  case Isa::kAvx512:          \
    return N_AVX3::__VA_ARGS__;
#else
#define HAWSER_BY_AVX512(...)
#endif

// Returns what the set's function returns; `none` where nothing is compiled for
// it here.
#define HAWSER_BY_ISA(isa, none, ...) \
  switch (isa) {                      \
    HAWSER_BY_SSE4(__VA_ARGS__)       \
    HAWSER_BY_AVX2(__VA_ARGS__)       \
    HAWSER_BY_AVX512(__VA_ARGS__)     \
    default:                          \
      return none;                    \
  }

#endif  // HAWSER_KERNELS_CPU_ISA_BY_ISA_H_
