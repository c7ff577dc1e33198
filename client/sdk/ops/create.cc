#include "client/sdk/ops/create.h"

#include <algorithm>
#include <utility>

#include "client/sdk/graph/op_scope.h"
#include "client/sdk/ops/compare.h"
#include "client/sdk/ops/elementwise.h"
#include "core/base/status.h"
#include "core/ops/shape.h"

namespace hawser {
namespace {

using sdk::OpScope;

Tensor Filled(absl::string_view name, DType dtype,
              absl::Span<const int64_t> dims, Number value,
              SourceLocation where) {
  const OpScope s(name, where, absl::Span<const Tensor>(), {dims});
  if (!s.ok()) return s.error();
  const auto shape = Shape::Make(dtype, dims);
  if (!shape.ok()) return s.Fail(shape.status());
  return s.BroadcastTo(s.ConstantOf(value, dtype), dims);
}

}  // namespace

Tensor Constant(Literal value, SourceLocation where) {
  if (value.valid()) return sdk::MakeHost(std::move(value), where);
  return OpScope("Constant", where, absl::Span<const Tensor>())
      .Fail(InvalidArgument("the Literal has no value"));
}

Tensor sdk::ConstantOr(absl::StatusOr<Literal> value, SourceLocation where) {
  if (value.ok()) return Constant(*std::move(value), where);
  return OpScope("Constant", where, absl::Span<const Tensor>())
      .Fail(value.status());
}

Tensor Scalar(Number value, SourceLocation where) {
  return Scalar(value.dtype(), value, where);
}

Tensor Scalar(DType dtype, Number value, SourceLocation where) {
  const OpScope s("Scalar", where, absl::Span<const Tensor>());
  const auto shape = Shape::Make(dtype, {});
  if (!shape.ok()) return s.Fail(shape.status());
  return s.As(Operand(value, where), dtype);
}

Tensor Zeros(DType dtype, absl::Span<const int64_t> dims,
             SourceLocation where) {
  return Filled("Zeros", dtype, dims, 0, where);
}

Tensor Ones(DType dtype, absl::Span<const int64_t> dims, SourceLocation where) {
  return Filled("Ones", dtype, dims, 1, where);
}

Tensor Full(DType dtype, absl::Span<const int64_t> dims, const Operand& value) {
  const OpScope s("Full", value.where(), {&value}, {dims});
  if (!s.ok()) return s.error();
  const auto shape = Shape::Make(dtype, dims);
  if (!shape.ok()) return s.Fail(shape.status());
  return s.BroadcastTo(s.As(value, dtype), dims);
}

Tensor Iota(DType dtype, absl::Span<const int64_t> dims,
            std::optional<int64_t> axis, SourceLocation where) {
  const OpScope s("Iota", where, absl::Span<const Tensor>(), {dims});
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
  const OpScope s("Eye", where, absl::Span<const Tensor>(), {{rows, columns}});
  if (!s.ok()) return s.error();
  const Tensor row = Iota(DType::kS32, {rows, columns}, 0, where);
  const Tensor column = Iota(DType::kS32, {rows, columns}, 1, where);
  return s.Convert(Eq(Operand(row, where), column), dtype);
}

Tensor Tri(DType dtype, int64_t rows, int64_t columns, int64_t diagonal,
           SourceLocation where) {
  const OpScope s("Tri", where, absl::Span<const Tensor>(),
                  {{rows, columns, diagonal}});
  if (!s.ok()) return s.error();
  const Tensor row = Iota(DType::kS64, {rows, columns}, 0, where);
  const Tensor column = Iota(DType::kS64, {rows, columns}, 1, where);
  const Tensor last =
      Add(Operand(row, where), s.ConstantOf(diagonal, DType::kS64));
  return s.Convert(Le(Operand(column, where), last), dtype);
}

Tensor Linspace(DType dtype, const Operand& start, const Operand& stop,
                int64_t count, bool endpoint) {
  const OpScope s("Linspace", start.where(), {&start, &stop}, {{count}});
  if (!s.ok()) return s.error();
  if (count < 1) {
    return s.Fail(InvalidArgument("there are no ", count, " points"));
  }
  for (const Operand* limit : {&start, &stop}) {
    const bool scalar = limit->is_number() || limit->tensor().rank() == 0;
    if (scalar && !IsComplex(sdk::DTypeOf(*limit))) continue;
    return s.Fail(InvalidArgument("start and stop must be real scalars"));
  }
  const DType work = dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  const auto at = [&](const Tensor& t) { return Operand(t, start.where()); };
  const Tensor first = s.As(start, work), last = s.As(stop, work);
  const int64_t steps = std::max<int64_t>(endpoint ? count - 1 : count, 1);
  const Tensor step =
      Divide(at(Subtract(at(last), first)), s.ConstantOf(steps, work));
  const Tensor index = Iota(work, {count}, 0, start.where());
  return s.Convert(Add(at(Multiply(at(index), step)), first), dtype);
}

}  // namespace hawser
