#include "core/ops/linalg/linalg.h"

#include <utility>

#include "core/base/status.h"

namespace hawser {
namespace {

// Constraint `n`: an operand has at least two axes.
absl::Status CheckMatrices(const InferContext& context, int n, int operand) {
  const Shape& shape = context.operands[operand];
  if (shape.rank() >= 2) return absl::OkStatus();
  return Violates(n, "operand ", operand, " is ", shape.ToString(),
                  ", must have at least two axes");
}

int64_t RowsOf(const Shape& shape) { return shape.dim(shape.rank() - 2); }
int64_t ColumnsOf(const Shape& shape) { return shape.dim(shape.rank() - 1); }

// Constraint `n`: the matrices of operand 0 are square.
absl::Status CheckSquare(const InferContext& context, int n) {
  const Shape& shape = context.operands[0];
  if (RowsOf(shape) == ColumnsOf(shape)) return absl::OkStatus();
  return Violates(n, "the matrices of ", shape.ToString(), " are not square");
}

}  // namespace

absl::StatusOr<Shapes> InferCholesky(const InferContext& context) {
  HAWSER_RETURN_IF_ERROR(CheckDType(context, 1, 0));
  HAWSER_RETURN_IF_ERROR(CheckMatrices(context, 2, 0));
  HAWSER_RETURN_IF_ERROR(CheckSquare(context, 3));
  return Shapes{context.operands[0]};
}

absl::StatusOr<Shapes> InferTriangularSolve(const InferContext& context) {
  const Shape& a = context.operands[0];
  const Shape& b = context.operands[1];
  HAWSER_RETURN_IF_ERROR(CheckDType(context, 1, 0));
  HAWSER_RETURN_IF_ERROR(CheckSameDTypes(context, 2));
  HAWSER_RETURN_IF_ERROR(CheckMatrices(context, 3, 0));
  if (a.rank() != b.rank()) {
    return Violates(4, "A is ", a.ToString(), ", B is ", b.ToString());
  }
  HAWSER_RETURN_IF_ERROR(CheckSquare(context, 5));
  for (int i = 0; i + 2 < a.rank(); ++i) {
    if (a.dim(i) == b.dim(i)) continue;
    return Violates(6, "axis ", i, " of A, ", a.ToString(), ", and that of B, ",
                    b.ToString(), ", differ");
  }
  const bool left = context.attributes.GetBool("left_side");
  if ((left ? RowsOf(b) : ColumnsOf(b)) != RowsOf(a)) {
    return Violates(7, "A is ", a.ToString(), " on the ",
                    left ? "left" : "right", " of X, which is as B, ",
                    b.ToString());
  }
  const absl::string_view op = context.attributes.GetString("transpose_a");
  if (op != kNoTranspose && op != kTransposeOf && op != kAdjointOf) {
    return Violates(8, "transpose_a is \"", op,
                    "\", must be NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  }
  return Shapes{b};
}

AxisMap MatricesAxes(const InferContext& context,
                     absl::Span<const Shape> results) {
  AxisMap map = EmptyAxes(context, results);
  const Shape& first = context.operands[0];
  for (int i = 0; i + 2 < first.rank(); ++i) {
    const int factor = map.AddFactor(AxisKind::kParallel, first.dim(i));
    for (AxisMap::Axes& axes : map.operands) axes[i] = factor;
    for (AxisMap::Axes& axes : map.results) axes[i] = factor;
  }
  return OpaqueRest(std::move(map), context, results);
}

}  // namespace hawser
