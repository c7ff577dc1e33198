// Dtypes of results: Nx's rules (inventory, section 1), with bool and with
// C++ numbers that never widen a tensor. Only the SDK promotes; IR ops take
// operands of one dtype.
#ifndef HAWSER_CLIENT_SDK_GRAPH_BUILD_PROMOTION_H_
#define HAWSER_CLIENT_SDK_GRAPH_BUILD_PROMOTION_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/sdk/number.h"
#include "core/base/values/dtype.h"
#include "core/base/values/shape.h"

namespace hawser::sdk {

// Returns the common dtype of two tensors. bool with another dtype counts as
// u8.
DType Promote(DType a, DType b);
// Returns the common dtype of a tensor and a number: the tensor's dtype within
// its kind.
DType PromoteWeak(DType tensor, Number::Kind number);

DType ToFloating(DType d);   // integers and bool to f32, others stay
DType ToAggregate(DType d);  // of a sum or product
DType ToNumeric(DType d);    // bool to u8, others stay
// A composite of several steps is computed in this, to be rounded once: f16
// and bf16 to f32, others stay.
DType ToAccurate(DType d);

// NumPy's rule: aligned at the last axis, sizes equal or 1. Errors:
// kInvalidArgument naming both.
absl::StatusOr<Dims> BroadcastDims(absl::Span<const int64_t> a,
                                   absl::Span<const int64_t> b);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_BUILD_PROMOTION_H_
