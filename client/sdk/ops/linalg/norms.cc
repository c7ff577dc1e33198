#include "client/sdk/ops/linalg/norms.h"

#include <cmath>
#include <utility>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/elementwise/math.h"
#include "client/sdk/ops/linalg/decompositions.h"
#include "core/base/status.h"

namespace hawser {
namespace {

using sdk::DTypeOf;
using sdk::OpScope;
using sdk::ToAccurate;
using sdk::ToFloating;

// |x|^2, without the root of a complex number.
Tensor SquaredSizes(const Tensor& x) {
  if (!IsComplex(x.dtype())) return Square(x);
  return Square(Real(x)) + Square(Imag(x));
}

Tensor Measured(const OpScope& s, const Tensor& x, MatrixNormOf of) {
  const Over last = {.axes = {-1}}, rows = {.axes = {-2}};
  switch (of) {
    case MatrixNormOf::kElements:
      return Sqrt(Sum(SquaredSizes(x), {.axes = {-2, -1}}));
    case MatrixNormOf::kSingularValues:
      return Sum(SingularValues(x), last);
    case MatrixNormOf::kLargestSingularValue:
      return ReduceMax(SingularValues(x), last);
    case MatrixNormOf::kSmallestSingularValue:
      return ReduceMin(SingularValues(x), last);
    case MatrixNormOf::kLargestColumn:
      return ReduceMax(Sum(Abs(x), rows), last);
    case MatrixNormOf::kSmallestColumn:
      return ReduceMin(Sum(Abs(x), rows), last);
    case MatrixNormOf::kLargestRow:
      return ReduceMax(Sum(Abs(x), last), last);
    case MatrixNormOf::kSmallestRow:
      return ReduceMin(Sum(Abs(x), last), last);
  }
  return s.Fail(InvalidArgument("there is no such norm"));
}

}  // namespace

Tensor VectorNorm(const Operand& x, double order, const Over& over) {
  const OpScope s("VectorNorm", {&x});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(DTypeOf(x));
  const Tensor value = s.As(x, ToAccurate(dtype));
  if (value.dtype() == DType::kInvalid) return value;
  const auto norm = [&] {
    const OpScope::Formula numbers;
    if (order == 2) return Sqrt(Sum(SquaredSizes(value), over));
    const Tensor sizes = Abs(value);
    if (order == 1) return Sum(sizes, over);
    if (order == 0) {
      return Sum(s.Convert(Ne(sizes, 0), sizes.dtype()), over);
    }
    if (std::isinf(order)) {
      return order > 0 ? ReduceMax(sizes, over) : ReduceMin(sizes, over);
    }
    return Power(Sum(Power(sizes, order), over), 1 / order);
  };
  return s.Convert(norm(), RealPart(dtype));
}

absl::StatusOr<MatrixNormOf> ParseMatrixNorm(absl::string_view name) {
  constexpr std::pair<absl::string_view, MatrixNormOf> kNorms[] = {
      {"elements", MatrixNormOf::kElements},
      {"singular_values", MatrixNormOf::kSingularValues},
      {"largest_singular_value", MatrixNormOf::kLargestSingularValue},
      {"smallest_singular_value", MatrixNormOf::kSmallestSingularValue},
      {"largest_column", MatrixNormOf::kLargestColumn},
      {"smallest_column", MatrixNormOf::kSmallestColumn},
      {"largest_row", MatrixNormOf::kLargestRow},
      {"smallest_row", MatrixNormOf::kSmallestRow}};
  for (const auto& [of, norm] : kNorms) {
    if (of == name) return norm;
  }
  return InvalidArgument("no norm of \"", name, "\"");
}

Tensor MatrixNorm(const Operand& x, MatrixNormOf of) {
  const OpScope s("MatrixNorm", {&x});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(DTypeOf(x));
  const Tensor value = s.As(x, ToAccurate(dtype));
  if (value.dtype() == DType::kInvalid) return value;
  if (value.rank() < 2) {
    return s.Fail(
        InvalidArgument("takes matrices, not ", value.shape().ToString()));
  }
  return s.Convert(Measured(s, value, of), RealPart(dtype));
}

}  // namespace hawser
