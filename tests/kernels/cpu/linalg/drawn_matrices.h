// Matrices of random numbers, and ops on them.
#ifndef HAWSER_TESTS_KERNELS_CPU_LINALG_DRAWN_MATRICES_H_
#define HAWSER_TESTS_KERNELS_CPU_LINALG_DRAWN_MATRICES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "kernels/cpu/evaluator.h"

namespace hawser::cpu {

inline constexpr DType kFactored[] = {DType::kF32, DType::kF64, DType::kC64,
                                      DType::kC128};

// The results of one op.
absl::StatusOr<std::vector<Literal>> RunOp(
    const OpDef& op, const std::vector<Literal>& operands,
    const Attributes& attributes, const CpuEvaluator::Options& options = {});

// Elements between -size and size; `diagonal` is added where row and column are
// the same.
Literal DrawnMatrices(DType dtype, const Dims& dims, double diagonal,
                      uint64_t seed = 1, double size = 1);
// The sum of such and its adjoint, positive definite.
Literal DefiniteMatrices(DType dtype, const Dims& dims, uint64_t seed = 1);

// The same in memory of its own.
Literal CopyOf(const Literal& x);
// Element k of all, as a number of whatever dtype.
void SetElement(Literal* x, int64_t k, double value);
bool IsNanAt(const Literal& x, int64_t k);
// Whether no element, or every one, is NaN in [begin, end).
bool NoneIsNan(const Literal& x, int64_t begin, int64_t end);
bool AllAreNan(const Literal& x, int64_t begin, int64_t end);

}  // namespace hawser::cpu
#endif  // HAWSER_TESTS_KERNELS_CPU_LINALG_DRAWN_MATRICES_H_
