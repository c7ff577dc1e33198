#include "client/sdk/ops/create.h"

#include <utility>

#include "client/sdk/graph/op_scope.h"
#include "client/sdk/ops/compare.h"
#include "core/base/status.h"
#include "core/ops/shape.h"

namespace hawser {
namespace {

using sdk::OpScope;

Tensor Filled(absl::string_view name, DType dtype,
              absl::Span<const int64_t> dims, Number value,
              SourceLocation where) {
  const OpScope s(name, where, absl::Span<const Tensor>());
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

Tensor Ones(DType dtype, absl::Span<const int64_t> dims,
            SourceLocation where) {
  return Filled("Ones", dtype, dims, 1, where);
}

Tensor Full(DType dtype, absl::Span<const int64_t> dims,
            const Operand& value) {
  const OpScope s("Full", value.where(), {&value});
  if (!s.ok()) return s.error();
  const auto shape = Shape::Make(dtype, dims);
  if (!shape.ok()) return s.Fail(shape.status());
  return s.BroadcastTo(s.As(value, dtype), dims);
}

Tensor Iota(DType dtype, absl::Span<const int64_t> dims,
            std::optional<int64_t> axis, SourceLocation where) {
  const OpScope s("Iota", where, absl::Span<const Tensor>());
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
  const OpScope s("Eye", where, absl::Span<const Tensor>());
  const Tensor row = Iota(DType::kS32, {rows, columns}, 0, where);
  const Tensor column = Iota(DType::kS32, {rows, columns}, 1, where);
  return s.Convert(Eq(Operand(row, where), column), dtype);
}

}  // namespace hawser
