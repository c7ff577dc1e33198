// Accuracy: how far elementary functions of this machine's lanes are from
// exact.
#ifndef HAWSER_TESTS_KERNELS_CPU_ACCURACY_ACCURACY_H_
#define HAWSER_TESTS_KERNELS_CPU_ACCURACY_ACCURACY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/values/dtype.h"
#include "core/ir/op_def.h"
#include "kernels/cpu/lanes/lanes.h"

namespace hawser::cpu {

// An op of one or two real numbers; `wide` is exact enough for f64, `exact` for
// what is narrower. Of one number, y is nothing.
struct AccurateFunction {
  const OpDef* op;
  double (*exact)(double x, double y);
  long double (*wide)(long double x, long double y);
};
absl::Span<const AccurateFunction> AccurateFunctions();
absl::Span<const DType> AccurateDTypes();  // of real floats

// The largest distance from the exact value, in units of the last place there:
// half a unit where all are rounded correctly; infinite where one of both is
// NaN. What is beyond the largest number counts as the power of two that is
// next to it.
struct Accuracy {
  double ulp = 0;
  double x = 0, y = 0;  // where
  double got = 0;
  int64_t values = 0;
};

// The op as the planned engine runs it with a set of instructions, over halves
// all, over f32 one in `one_of` of all, else over samples of all sizes, in the
// same order each time. One for each of `isas`. Errors: the engine's.
absl::StatusOr<std::vector<Accuracy>> Measure(const AccurateFunction& function,
                                              DType dtype,
                                              absl::Span<const Isa> isas,
                                              int64_t one_of);

// Of all sets that this machine has.
std::vector<Isa> IsasHere();

}  // namespace hawser::cpu
#endif  // HAWSER_TESTS_KERNELS_CPU_ACCURACY_ACCURACY_H_
