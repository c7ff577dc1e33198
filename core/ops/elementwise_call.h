// AppliedToEach: a computation of scalars as a formula over arrays.
#ifndef HAWSER_CORE_OPS_ELEMENTWISE_CALL_H_
#define HAWSER_CORE_OPS_ELEMENTWISE_CALL_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "core/ops/expression.h"

namespace hawser {

// Applies `computation`, of scalars, to each element of its arguments, which
// have one shape's sizes and the dtypes of its parameters: its elementwise
// instructions over the arrays. Errors: kUnimplemented naming another op.
absl::StatusOr<std::vector<Expression>> AppliedToEach(
    const Computation& computation, absl::Span<const Expression> arguments);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_ELEMENTWISE_CALL_H_
