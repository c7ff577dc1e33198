// HAWSER_INDEPENDENT_ITERATIONS: written before a loop whose iterations share no
// element.
#ifndef HAWSER_KERNELS_CPU_ELEMENTS_INDEPENDENT_ITERATIONS_H_
#define HAWSER_KERNELS_CPU_ELEMENTS_INDEPENDENT_ITERATIONS_H_

// Results may stand in an operand's place, element on element; nothing else
// overlaps. The pragma keeps the compiler's overlap check from sending such
// loops down the scalar path.
#if defined(__clang__)
#define HAWSER_INDEPENDENT_ITERATIONS \
  _Pragma("clang loop vectorize(assume_safety)")
#else
#define HAWSER_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

#endif  // HAWSER_KERNELS_CPU_ELEMENTS_INDEPENDENT_ITERATIONS_H_
