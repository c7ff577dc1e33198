#include "client/sdk/ops/indexing/diagonal.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/ops/create.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/indexing/edge.h"
#include "client/sdk/ops/indexing/index.h"
#include "client/sdk/ops/shape.h"
#include "core/base/status.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"

namespace hawser {
namespace {

using sdk::kLongestAxis;
using sdk::OpScope;

// Column minus row, of every element of a matrix.
Tensor DiagonalOf(int64_t rows, int64_t columns) {
  const Tensor row = Iota(DType::kS64, {rows, columns}, 0);
  const Tensor column = Iota(DType::kS64, {rows, columns}, 1);
  return column - row;
}

// x where its diagonal is `inside` k, else zero.
Tensor Triangle(absl::string_view name, const Operand& x, int64_t k,
                Tensor (*inside)(const Operand&, const Operand&)) {
  const OpScope s(name, {&x}, {{k}});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  const int rank = value.rank();
  if (rank < 2) return s.Fail(InvalidArgument("takes rank 2 or more"));
  const OpScope::Formula numbers;
  const Tensor diagonal = DiagonalOf(value.dim(-2), value.dim(-1));
  return Select(inside(diagonal, k), value, s.ConstantOf(0, value.dtype()));
}

// Returns how many elements diagonal k of a matrix has; negative: there is
// none.
int64_t LengthOf(int64_t rows, int64_t columns, int64_t k) {
  if (k > columns || k < -rows) return -1;
  return k >= 0 ? std::min(rows, columns - k) : std::min(rows + k, columns);
}

// A vector along diagonal k of a matrix: element i in all of its row, or, below
// the main diagonal, of its column.
Tensor Spread(const OpScope& s, const Tensor& vector, int64_t rows,
              int64_t columns, int64_t k) {
  const int64_t size = k >= 0 ? rows : columns;
  const Tensor padded = Pad(vector, s.ConstantOf(0, vector.dtype()),
                            {{{.high = size - vector.dim(0)}}});
  return BroadcastTo(padded, {rows, columns}, {k >= 0 ? 0 : 1});
}

}  // namespace

Tensor Tril(const Operand& x, int64_t k) { return Triangle("Tril", x, k, Le); }
Tensor Triu(const Operand& x, int64_t k) { return Triangle("Triu", x, k, Ge); }

Tensor TakeDiagonal(const Operand& x, int64_t k) {
  const OpScope s("TakeDiagonal", {&x}, {{k}});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  const int rank = value.rank();
  if (rank < 2) return s.Fail(InvalidArgument("takes rank 2 or more"));
  const int64_t length = LengthOf(value.dim(-2), value.dim(-1), k);
  if (length < 0) return s.Fail(InvalidArgument("there is no diagonal ", k));
  const OpScope::Formula numbers;
  const Tensor count = Iota(DType::kS64, {length}, 0);
  const Tensor places[] = {count + std::max<int64_t>(-k, 0),
                           count + std::max<int64_t>(k, 0)};
  const Tensor taken = Gather(value, Stack(places, 1), {-2, -1});
  Dims order;
  for (int i = 1; i < rank - 1; ++i) order.push_back(i);
  order.push_back(0);
  return Transpose(taken, order);
}

Tensor MakeDiagonal(const Operand& x, int64_t k) {
  const OpScope s("MakeDiagonal", {&x}, {{k}});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  if (value.rank() != 1) return s.Fail(InvalidArgument("takes rank 1"));
  if (k > kLongestAxis || k < -kLongestAxis) {
    return s.Fail(InvalidArgument("diagonal ", k, " is too far out"));
  }
  const int64_t size = value.dim(0) + std::abs(k);
  const Tensor zeros = Zeros(value.dtype(), {size, size});
  return PutDiagonal(zeros, value, k);
}

Tensor PutDiagonal(const Operand& x, const Operand& diagonal, int64_t k) {
  const OpScope s("PutDiagonal", {&x, &diagonal}, {{k}});
  if (!s.ok()) return s.error();
  const DType dtype = sdk::CommonDType({&x, &diagonal});
  const Tensor value = s.As(x, dtype), vector = s.As(diagonal, dtype);
  if (value.rank() != 2 || vector.rank() != 1) {
    return s.Fail(InvalidArgument("takes rank 2 and a diagonal of rank 1"));
  }
  const int64_t rows = value.dim(0), columns = value.dim(1);
  const int64_t length = LengthOf(rows, columns, k);
  if (length != vector.dim(0)) {
    return s.Fail(length < 0
                      ? InvalidArgument("there is no diagonal ", k)
                      : InvalidArgument("diagonal ", k, " has length ", length,
                                        ", not ", vector.dim(0)));
  }
  const OpScope::Formula numbers;
  return Select(Eq(DiagonalOf(rows, columns), k),
                Spread(s, vector, rows, columns, k), value);
}

Tensor Diff(const Operand& x, int64_t order, int64_t axis) {
  const OpScope s("Diff", {&x}, {{order}});
  if (!s.ok()) return s.error();
  Tensor value = s.As(x, sdk::ToNumeric(sdk::DTypeOf(x)));
  const auto along = NormalizeAxis(axis, value.rank());
  if (!along.ok()) return s.Fail(along.status());
  if (order < 0 || order > value.dim(*along)) {
    return s.Fail(InvalidArgument("order ", order, " is not between 0 and ",
                                  value.dim(*along)));
  }
  for (; order > 0; --order) {
    value = Split(value, 1, *along).second -
            Split(value, value.dim(*along) - 1, *along).first;
    if (value.dtype() == DType::kInvalid) return value;
  }
  return value;
}

}  // namespace hawser
