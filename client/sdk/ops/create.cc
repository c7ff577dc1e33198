#include "client/sdk/ops/create.h"

#include <algorithm>
#include <utility>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/elementwise/interpolation.h"
#include "core/base/status.h"
#include "core/ops/movement/shape.h"

namespace hawser {
namespace {

using sdk::OpScope;

Tensor Filled(absl::string_view name, DType dtype,
              absl::Span<const int64_t> dims, Number value,
              SourceLocation where) {
  const OpScope s(name, where, {}, {dims});
  if (!s.ok()) return s.error();
  const auto shape = Shape::Make(dtype, dims);
  if (!shape.ok()) return s.Fail(shape.status());
  return s.BroadcastTo(s.ConstantOf(value, dtype), dims);
}

}  // namespace

Tensor Constant(Literal value, SourceLocation where) {
  if (value.valid()) return sdk::MakeHost(std::move(value), where);
  return OpScope("Constant", where)
      .Fail(InvalidArgument("the Literal has no value"));
}

Tensor sdk::ConstantOr(absl::StatusOr<Literal> value, SourceLocation where) {
  if (value.ok()) return Constant(*std::move(value), where);
  return OpScope("Constant", where).Fail(value.status());
}

Tensor Scalar(Number value, SourceLocation where) {
  return Scalar(value.dtype(), value, where);
}

Tensor Scalar(DType dtype, Number value, SourceLocation where) {
  const OpScope s("Scalar", where);
  const auto shape = Shape::Make(dtype, {});
  if (!shape.ok()) return s.Fail(shape.status());
  return s.As(value, dtype);
}

Tensor Zeros(DType dtype, absl::Span<const int64_t> dims,
             SourceLocation where) {
  return Filled("Zeros", dtype, dims, 0, where);
}

Tensor Ones(DType dtype, absl::Span<const int64_t> dims, SourceLocation where) {
  return Filled("Ones", dtype, dims, 1, where);
}

Tensor Full(DType dtype, absl::Span<const int64_t> dims, const Operand& value) {
  const OpScope s("Full", {&value}, {dims});
  if (!s.ok()) return s.error();
  const auto shape = Shape::Make(dtype, dims);
  if (!shape.ok()) return s.Fail(shape.status());
  return s.BroadcastTo(s.As(value, dtype), dims);
}

Tensor Iota(DType dtype, absl::Span<const int64_t> dims,
            std::optional<int64_t> axis, SourceLocation where) {
  const OpScope s("Iota", where, {}, {dims});
  if (!s.ok()) return s.error();
  const auto shape = Shape::Make(dtype, dims);
  if (!shape.ok()) return s.Fail(shape.status());
  const bool flat = !axis.has_value();
  Dims counted = flat ? Dims{shape->num_elements()} : shape->dims();
  const auto along = NormalizeAxis(axis.value_or(0), counted.size());
  if (!along.ok()) return s.Fail(along.status());
  return s.Reshape(s.Add(kIota, absl::Span<const Tensor>(),
                         {{"dims", std::move(counted)},
                          {"dtype", dtype},
                          {"iota_dimension", int64_t{*along}}}),
                   dims);
}

Tensor Eye(DType dtype, int64_t rows, int64_t columns, SourceLocation where) {
  const OpScope s("Eye", where, {}, {{rows, columns}});
  if (!s.ok()) return s.error();
  const Tensor row = Iota(DType::kS32, {rows, columns}, 0);
  const Tensor column = Iota(DType::kS32, {rows, columns}, 1);
  return s.Convert(Eq(row, column), dtype);
}

Tensor Eye(DType dtype, absl::Span<const int64_t> dims, SourceLocation where) {
  const OpScope s("Eye", where, {}, {dims});
  if (!s.ok()) return s.error();
  if (dims.size() < 2) {
    return s.Fail(InvalidArgument("sizes ", DimsToString(dims),
                                  " have no rows and columns"));
  }
  const size_t n = dims.size();
  return s.BroadcastTo(Eye(dtype, dims[n - 2], dims[n - 1], where), dims);
}

Tensor Tri(DType dtype, int64_t rows, int64_t columns, int64_t diagonal,
           SourceLocation where) {
  const OpScope s("Tri", where, {}, {{rows, columns, diagonal}});
  if (!s.ok()) return s.error();
  const OpScope::Formula numbers;
  const Tensor row = Iota(DType::kS64, {rows, columns}, 0);
  const Tensor column = Iota(DType::kS64, {rows, columns}, 1);
  return s.Convert(column <= row + diagonal, dtype);
}

Tensor Linspace(DType dtype, const Operand& start, const Operand& stop,
                int64_t count, bool endpoint) {
  const OpScope s("Linspace", {&start, &stop}, {{count}});
  if (!s.ok()) return s.error();
  if (count < 1) {
    return s.Fail(InvalidArgument("there are no ", count, " points"));
  }
  for (const Operand* limit : {&start, &stop}) {
    if (!IsComplex(sdk::DTypeOf(*limit))) continue;
    return s.Fail(InvalidArgument("start and stop must be real"));
  }
  const auto dims = sdk::CommonDims({&start, &stop});
  if (!dims.ok()) return s.Fail(dims.status());
  const DType work = dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  // The points of each pair lie along a further axis.
  const auto spread = [&](const Operand& limit) {
    Dims column = *dims;
    column.push_back(1);
    return s.Reshape(s.BroadcastTo(s.As(limit, work), *dims), column);
  };
  const Tensor first = spread(start), last = spread(stop);
  const OpScope::Formula numbers;
  const int64_t steps = std::max<int64_t>(endpoint ? count - 1 : count, 1);
  const Tensor difference = last - first, place = Iota(work, {count}, 0);
  const Tensor points = sdk::Between(first, last, difference,
                                     place * (difference / steps) + first,
                                     place / steps);
  // No point is beyond the last one, however it was rounded.
  const bool ends = endpoint && count > 1;
  return s.Convert(ends ? Select(Eq(place, steps), last, points) : points,
                   dtype);
}

}  // namespace hawser
