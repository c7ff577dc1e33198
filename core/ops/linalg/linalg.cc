#include "core/ops/linalg/linalg.h"

#include <algorithm>
#include <initializer_list>
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

namespace {

// The sizes of a shape with other axes for those of its matrices.
Dims WithMatrices(const Shape& shape, std::initializer_list<int64_t> axes) {
  Dims dims;
  for (int i = 0; i + 2 < shape.rank(); ++i) dims.push_back(shape.dim(i));
  for (const int64_t size : axes) dims.push_back(size);
  return dims;
}
// No larger than the shape itself.
Shape WithVector(const Shape& shape, DType dtype, int64_t size) {
  return Shape::Of(dtype, WithMatrices(shape, {size}));
}

int64_t LeastOf(const Shape& shape) {
  return std::min(RowsOf(shape), ColumnsOf(shape));
}

// Constraints 1 and 2 of what takes any matrices.
absl::Status CheckAnyMatrices(const InferContext& context) {
  HAWSER_RETURN_IF_ERROR(CheckDType(context, 1, 0));
  return CheckMatrices(context, 2, 0);
}

}  // namespace

absl::StatusOr<Shapes> InferLu(const InferContext& context) {
  HAWSER_RETURN_IF_ERROR(CheckAnyMatrices(context));
  const Shape& a = context.operands[0];
  return Shapes{a, WithVector(a, DType::kS32, LeastOf(a)),
                WithVector(a, DType::kS32, RowsOf(a))};
}

absl::StatusOr<Shapes> InferQr(const InferContext& context) {
  HAWSER_RETURN_IF_ERROR(CheckAnyMatrices(context));
  const Shape& a = context.operands[0];
  const int64_t inner =
      context.attributes.GetBool("full_matrices") ? RowsOf(a) : LeastOf(a);
  HAWSER_ASSIGN_OR_RETURN(
      const Shape q,
      MakeResult(3, a.dtype(), WithMatrices(a, {RowsOf(a), inner})));
  HAWSER_ASSIGN_OR_RETURN(
      const Shape r,
      MakeResult(3, a.dtype(), WithMatrices(a, {inner, ColumnsOf(a)})));
  return Shapes{q, r};
}

absl::StatusOr<Shapes> InferGeqrf(const InferContext& context) {
  HAWSER_RETURN_IF_ERROR(CheckAnyMatrices(context));
  const Shape& a = context.operands[0];
  return Shapes{a, WithVector(a, a.dtype(), LeastOf(a))};
}

absl::StatusOr<Shapes> InferHouseholderProduct(const InferContext& context) {
  const Shape& a = context.operands[0];
  const Shape& taus = context.operands[1];
  HAWSER_RETURN_IF_ERROR(CheckDType(context, 1, 0));
  HAWSER_RETURN_IF_ERROR(CheckSameDTypes(context, 2));
  HAWSER_RETURN_IF_ERROR(CheckMatrices(context, 3, 0));
  const auto differ = [&](int n, absl::string_view what) {
    return Violates(n, what, ": vectors are ", a.ToString(), ", taus ",
                    taus.ToString());
  };
  if (taus.rank() != a.rank() - 1) return differ(4, "taus have one axis less");
  for (int i = 0; i + 2 < a.rank(); ++i) {
    if (a.dim(i) != taus.dim(i)) return differ(5, "other batches");
  }
  if (ColumnsOf(a) > RowsOf(a)) return differ(6, "more columns than rows");
  if (taus.dim(-1) > ColumnsOf(a)) return differ(7, "more taus than columns");
  return Shapes{a};
}

absl::StatusOr<Shapes> InferEigh(const InferContext& context) {
  HAWSER_RETURN_IF_ERROR(CheckAnyMatrices(context));
  HAWSER_RETURN_IF_ERROR(CheckSquare(context, 3));
  const Shape& a = context.operands[0];
  return Shapes{WithVector(a, RealPart(a.dtype()), RowsOf(a)), a};
}

absl::StatusOr<Shapes> InferSvd(const InferContext& context) {
  HAWSER_RETURN_IF_ERROR(CheckAnyMatrices(context));
  const Shape& a = context.operands[0];
  const int64_t m = RowsOf(a), n = ColumnsOf(a), least = LeastOf(a);
  Shapes out = {WithVector(a, RealPart(a.dtype()), least)};
  if (!context.attributes.GetBool("compute_uv")) return out;
  const bool full = context.attributes.GetBool("full_matrices");
  for (const auto& [rows, columns] :
       {std::pair(m, full ? m : least), std::pair(full ? n : least, n)}) {
    HAWSER_ASSIGN_OR_RETURN(
        out.emplace_back(),
        MakeResult(3, a.dtype(), WithMatrices(a, {rows, columns})));
  }
  return out;
}

// The result of real operands is twice as large as they are.
absl::StatusOr<Shapes> InferEig(const InferContext& context) {
  HAWSER_RETURN_IF_ERROR(CheckAnyMatrices(context));
  HAWSER_RETURN_IF_ERROR(CheckSquare(context, 3));
  const Shape& a = context.operands[0];
  const DType dtype = ResultDType(context);
  HAWSER_ASSIGN_OR_RETURN(const Shape v, MakeResult(4, dtype, a.dims()));
  return Shapes{WithVector(v, dtype, RowsOf(v)), v};
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
