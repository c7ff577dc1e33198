// Sums of halves: values of f16 and bf16 that are added or multiplied into one
// place are folded in f32 and rounded once.
#ifndef HAWSER_CORE_OPS_FORMULAS_WIDE_SUMS_H_
#define HAWSER_CORE_OPS_FORMULAS_WIDE_SUMS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "core/ops/expression.h"

namespace hawser {

// f16 and bf16.
inline bool IsHalf(DType dtype) {
  return IsFloat(dtype) && ByteWidth(dtype) == 2;
}
// The dtype in which values of `dtype` are summed: f32 for halves, else itself.
inline DType SumDType(DType dtype) {
  return IsHalf(dtype) ? DType::kF32 : dtype;
}

// The dtypes in which a computation of 2N scalars, as reductions and scatters
// have it, folds its N running values; its own dtypes if a result is something
// else than a monoid, the element or the running value of its own number.
std::vector<DType> FoldDTypes(const Computation& fold);
// True if those are not its own.
bool SumsHalves(const Computation& fold);
// Adds that computation over FoldDTypes to a module.
absl::StatusOr<int> AddWideFold(const Computation& fold, Module* module);

// True if some instruction of a computation up to `last` combines updates with
// halves so, several in one place.
bool ScattersHalves(const Module& module, int last);
// A module that gives the same: each such scatter over f32, or, where it
// touches little of what it writes to, over what it touches. `numbers`, unless
// null: of each computation the number there.
absl::StatusOr<Module> WithWideScatters(const Module& module,
                                        std::vector<int>* numbers = nullptr);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_FORMULAS_WIDE_SUMS_H_
