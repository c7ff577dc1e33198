// FindFolds, FindExtremes: folds of lanes in the instructions of this machine.
#ifndef HAWSER_KERNELS_CPU_FOLDS_LANES_FOLD_LANES_H_
#define HAWSER_KERNELS_CPU_FOLDS_LANES_FOLD_LANES_H_

#include <cstdint>
#include <type_traits>

#include "core/ir/op_def.h"
#include "kernels/cpu/elements/folds.h"
#include "kernels/cpu/isa/isa.h"

namespace hawser::cpu {

// Folds by the monoid of what `of_row` folds, bit for bit as it does; `of_row`
// itself where there are none.
Folds FindFolds(const OpDef& monoid, const Folds& of_row, Isa isa);

// Indices of extremes, as argmax and argmin define them: NaN first, -0 equals
// 0. The state of n columns is n values in ExtremeValue of their dtype, then
// their rows in as many integers of the same width.
template <typename T>
using ExtremeValue = std::conditional_t<
    kIsHalf<T>, float,
    std::conditional_t<sizeof(T) < sizeof(int32_t), int32_t, T>>;
struct ExtremeFolds {
  // A run has one of each.
  void (*run)(const char* in, int64_t n, char* out);
  // `before`: rows that `out` has seen; of the first one it holds nothing.
  void (*columns)(const char* in, int64_t rows, int64_t stride, int64_t n,
                  int64_t before, char* out);
};
// Which extreme, and which of equals.
struct ExtremeKind {
  bool largest = true, last = false;
};
// Null: there are none.
const ExtremeFolds* FindExtremes(ExtremeKind kind, DType dtype, Isa isa);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_FOLDS_LANES_FOLD_LANES_H_
