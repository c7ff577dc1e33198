// Tensors made from numbers.
#ifndef HAWSER_CLIENT_SDK_OPS_CREATE_H_
#define HAWSER_CLIENT_SDK_OPS_CREATE_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"
#include "core/base/literal.h"
#include "core/ir/source_location.h"

namespace hawser {

// All: `dims` are sizes, none negative, {} makes a scalar. Errors (sticky): a
// shape there is not (rank above 16, too many bytes). Grad: zero.

// A host value as a tensor. Inside a traced function values up to 4 KiB become
// constants of the graph; larger ones must be arguments.
Tensor Constant(Literal value,
                SourceLocation where = SourceLocation::Current());

// A number as a tensor: of its C++ type's dtype, double as f32. Errors: a
// number that does not fit `dtype`.
Tensor Scalar(Number value, SourceLocation where = SourceLocation::Current());
Tensor Scalar(DType dtype, Number value,
              SourceLocation where = SourceLocation::Current());

Tensor Zeros(DType dtype, absl::Span<const int64_t> dims,
             SourceLocation where = SourceLocation::Current());
Tensor Ones(DType dtype, absl::Span<const int64_t> dims,
            SourceLocation where = SourceLocation::Current());
// Every element `value`, a number that fits or a tensor that broadcasts.
// Source: Nx fill.
Tensor Full(DType dtype, absl::Span<const int64_t> dims, const Operand& value);

// 0, 1, 2, ... in row-major order, or along `axis` and repeated elsewhere.
// Wraps in small integers. Source: Nx iota.
Tensor Iota(DType dtype, absl::Span<const int64_t> dims,
            std::optional<int64_t> axis = std::nullopt,
            SourceLocation where = SourceLocation::Current());
// Ones where row = column, else zeros. Source: Nx eye.
Tensor Eye(DType dtype, int64_t rows, int64_t columns,
           SourceLocation where = SourceLocation::Current());

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_CREATE_H_
