// Tensors made from numbers.
#ifndef HAWSER_CLIENT_SDK_OPS_CREATE_H_
#define HAWSER_CLIENT_SDK_OPS_CREATE_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "client/sdk/number.h"
#include "client/sdk/operand.h"
#include "client/sdk/ops/nested.h"
#include "client/sdk/tensor.h"
#include "core/base/values/literal.h"
#include "core/ir/source_location.h"

namespace hawser {

// dims: sizes, none negative; {} makes a scalar. Under Errors, which are all
// sticky, "as usual" means kInvalidArgument for a shape there is not (rank
// above 16, a negative size, too many bytes).

// A host value as a tensor. value: of any shape and dtype. Result: its shape
// and dtype; inside a traced function values up to 4 KiB become constants of
// the graph, larger ones must be arguments. Errors: a Literal without a value.
// Grad: zero. Source: StableHLO constant; Nx tensor.
Tensor Constant(Literal value,
                SourceLocation where = SourceLocation::Current());

// Numbers in braces, one, two or three deep, as a tensor:
//   Constant({{1.f, 2.f}, {3.f, 4.f}})
// values: C++ numbers of one type. Result: their sizes, the dtype as of Scalar:
// double as f32. Errors: braces side by side that hold different numbers. Grad:
// zero. Source: Nx tensor.
template <typename T>
  requires kIsNumber<T>
Tensor Constant(std::initializer_list<T> values,
                SourceLocation where = SourceLocation::Current()) {
  using To = typename sdk::Written<T>::Type;
  return sdk::ConstantOr(sdk::ToLiteral<To>(values), where);
}
template <typename T>
  requires kIsNumber<T>
Tensor Constant(std::initializer_list<std::initializer_list<T>> values,
                SourceLocation where = SourceLocation::Current()) {
  using To = typename sdk::Written<T>::Type;
  return sdk::ConstantOr(sdk::ToLiteral<To>(values), where);
}
template <typename T>
  requires kIsNumber<T>
Tensor Constant(
    std::initializer_list<std::initializer_list<std::initializer_list<T>>>
        values,
    SourceLocation where = SourceLocation::Current()) {
  using To = typename sdk::Written<T>::Type;
  return sdk::ConstantOr(sdk::ToLiteral<To>(values), where);
}

// A vector, or vectors of vectors, as a tensor. values: numbers. Result: their
// sizes, the dtype of their C++ type: double is f64. Errors: inner vectors of
// different sizes. Grad: zero. Source: Nx tensor.
template <typename T>
Tensor Constant(const std::vector<T>& values,
                SourceLocation where = SourceLocation::Current()) {
  using Value = typename sdk::Nested<std::vector<T>>::Value;
  static_assert(kIsNumber<Value>, "a vector of numbers, or of such vectors");
  return sdk::ConstantOr(sdk::ToLiteral<Value>(values), where);
}

// A number as a tensor. value: a C++ number. Result: a scalar of its C++ type's
// dtype, double as f32. Errors: none. Grad: zero. Source: Nx tensor.
Tensor Scalar(Number value, SourceLocation where = SourceLocation::Current());

// A number as a tensor of a dtype. value: a C++ number. Result: a scalar of
// `dtype`. Errors: kInvalidArgument for a number that does not fit. Grad: zero.
// Source: Nx tensor.
Tensor Scalar(DType dtype, Number value,
              SourceLocation where = SourceLocation::Current());

// Zeros, false of bool. Result: `dims` of `dtype`. Errors: as usual. Grad:
// zero. Source: Nx broadcast.
Tensor Zeros(DType dtype, absl::Span<const int64_t> dims,
             SourceLocation where = SourceLocation::Current());

// Ones, true of bool. Result: `dims` of `dtype`. Errors: as usual. Grad: zero.
// Source: Nx broadcast.
Tensor Ones(DType dtype, absl::Span<const int64_t> dims,
            SourceLocation where = SourceLocation::Current());

// One value everywhere. value: a number that fits `dtype`, or a tensor that
// broadcasts to `dims` and is converted. Result: `dims` of `dtype`. Errors: as
// usual; a value that does not fit. Grad: to the value. Source: Nx fill.
Tensor Full(DType dtype, absl::Span<const int64_t> dims, const Operand& value);

// 0, 1, 2, ... in row-major order. dtype: of numbers; small integers wrap.
// axis: counts along it instead, repeated elsewhere. Result: `dims` of `dtype`.
// Errors: as usual; bool; an axis there is not. Grad: zero. Source: StableHLO
// iota; Nx iota.
Tensor Iota(DType dtype, absl::Span<const int64_t> dims,
            std::optional<int64_t> axis = std::nullopt,
            SourceLocation where = SourceLocation::Current());

// `count` numbers at equal distances. start, stop: operands of reals, which
// broadcast. endpoint: whether stop is the last of them. dtype: of reals; the
// points are computed in f32 (f64 for f64) and then converted. Result: the
// broadcast sizes and a last axis of `count`, of `dtype`; start alone where
// count is 1. Errors: a count below 1; complex; sizes that do not broadcast.
// Grad: to start and stop. Source: Nx linspace.
Tensor Linspace(DType dtype, const Operand& start, const Operand& stop,
                int64_t count, bool endpoint = true);

// Ones where row = column, else zeros. Result: [rows, columns] of `dtype`.
// Errors: as usual. Grad: zero. Source: Nx eye.
Tensor Eye(DType dtype, int64_t rows, int64_t columns,
           SourceLocation where = SourceLocation::Current());

// The same in leading batches. dims: sizes, of rows and columns at last.
// Result: `dims` of `dtype`. Errors: as usual; fewer than two sizes. Grad:
// zero. Source: Nx eye.
Tensor Eye(DType dtype, absl::Span<const int64_t> dims,
           SourceLocation where = SourceLocation::Current());

// Ones where column <= row + diagonal, else zeros. Result: [rows, columns] of
// `dtype`. Errors: as usual. Grad: zero. Source: Nx tri.
Tensor Tri(DType dtype, int64_t rows, int64_t columns, int64_t diagonal = 0,
           SourceLocation where = SourceLocation::Current());

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_CREATE_H_
