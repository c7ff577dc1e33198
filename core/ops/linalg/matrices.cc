#include "core/ops/linalg/matrices.h"

#include <numeric>
#include <string>
#include <utility>

#include "core/ops/contraction/dot.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/linalg/linalg.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sliced.h"

namespace hawser::formulas {
namespace {

Dims Counting(int count) {
  Dims out(count);
  std::iota(out.begin(), out.end(), int64_t{0});
  return out;
}

// The number of an element's row (axis 0) or column (1), s32.
Expression Numbers(ExpressionScope* scope, int64_t rows, int64_t columns,
                   int64_t axis) {
  return Expression(scope, scope->builder.Add(kIota, {},
                                              {{"dims", Dims{rows, columns}},
                                               {"dtype", DType::kS32},
                                               {"iota_dimension", axis}},
                                              {}, SourceLocation{}));
}

}  // namespace

Expression MatrixProduct(const Expression& x, const Expression& y) {
  const int batch = x.rank() - 2;
  return Apply(kDotGeneral, {x, y},
               {{"lhs_batching_dimensions", Counting(batch)},
                {"lhs_contracting_dimensions", Dims{batch + 1}},
                {"rhs_batching_dimensions", Counting(batch)},
                {"rhs_contracting_dimensions", Dims{batch}}});
}

Expression MatrixTransposed(const Expression& x) {
  Dims order = Counting(x.rank());
  if (order.size() >= 2) std::swap(order.back(), order[order.size() - 2]);
  return Transposed(x, order);
}

Expression ConjugateOf(const Expression& x) {
  return IsComplex(x.dtype()) ? Conjugate(x) : x;
}

Expression MatrixAdjoint(const Expression& x) {
  return ConjugateOf(MatrixTransposed(x));
}

Expression WhereColumns(const Expression& x, CompareDirection direction,
                        int64_t k) {
  const Shape shape = x.shape();
  if (shape.rank() < 2) return x;  // after an error
  const int64_t rows = shape.dim(-2), columns = shape.dim(-1);
  const Expression row = Numbers(x.scope(), rows, columns, 0);
  const Expression column = Numbers(x.scope(), rows, columns, 1);
  const Expression where =
      Compare(column - row, direction,
              Filled(x.scope(), row.shape(), static_cast<double>(k)));
  return Spread(where, shape.dims(), Counting(shape.rank() - 2));
}

Expression TriangleOf(const Expression& x, bool lower, bool strict) {
  const CompareDirection direction =
      lower ? (strict ? CompareDirection::kLt : CompareDirection::kLe)
            : (strict ? CompareDirection::kGt : CompareDirection::kGe);
  return Where(WhereColumns(x, direction, 0), x);
}

Expression HalfOf(const Expression& x) {
  const Expression diagonal = WhereColumns(x, CompareDirection::kEq, 0);
  return TriangleOf(Choose(diagonal, 0.5 * x, x), /*lower=*/true);
}

Expression PartOf(const Expression& x, std::pair<int64_t, int64_t> rows,
                  std::pair<int64_t, int64_t> columns) {
  Dims limits = x.dims();
  if (limits.size() < 2) return x;  // after an error
  Dims starts(limits.size(), 0);
  starts[starts.size() - 2] = rows.first;
  limits[limits.size() - 2] = rows.second;
  starts.back() = columns.first;
  limits.back() = columns.second;
  return SliceOf(x, std::move(starts), std::move(limits));
}

Expression UnlessZero(const Expression& x, double y) {
  return Choose(Compare(x, CompareDirection::kEq, Like(x, 0)), Like(x, y), x);
}

Expression AlongRows(const Expression& vector, absl::Span<const int64_t> dims) {
  return Spread(vector, dims, {static_cast<int64_t>(dims.size()) - 1});
}

Expression AlongColumns(const Expression& vector,
                        absl::Span<const int64_t> dims) {
  return Spread(vector, dims, {static_cast<int64_t>(dims.size()) - 2});
}

Expression PermutationMatrix(const Expression& order, DType dtype) {
  Dims dims = order.dims();
  if (dims.empty()) return order;  // after an error
  const int64_t size = dims.back();
  dims.push_back(size);
  const Expression columns = Spread(Numbers(order.scope(), size, size, 1), dims,
                                    Counting(order.rank() - 1));
  return ConvertTo(
      Compare(AlongRows(order, dims), CompareDirection::kEq, columns), dtype);
}

Expression TriangularSolved(const Expression& a, const Expression& b,
                            const TriangularSolveBy& by) {
  return Apply(kTriangularSolve, {a, b},
               {{"left_side", by.left},
                {"lower", by.lower},
                {"transpose_a", std::string(by.op)},
                {"unit_diagonal", by.unit_diagonal}});
}

}  // namespace hawser::formulas
