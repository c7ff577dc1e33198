// Functions that sort are made of these.
#ifndef HAWSER_CLIENT_SDK_OPS_SORTING_ORDERING_H_
#define HAWSER_CLIENT_SDK_OPS_SORTING_ORDERING_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/tensor.h"
#include "core/base/values/dtype.h"

namespace hawser::sdk {

// (lhs, rhs) -> lhs < rhs, in the order of numbers, of keys; after it come
// pairs of `others`.
Region Comparator(DType key, bool descending, absl::Span<const DType> others);

// Sorts xs by `less`; equals keep their order.
Tensor SortAlong(const OpScope& s, absl::Span<const Tensor> xs, int axis,
                 const Region& less);

// Errors: kInvalidArgument for complex numbers, which have no order.
absl::Status CheckOrder(DType dtype);
// An error unless `dtype` has a number for each position on an axis.
absl::Status CheckPlaces(DType dtype, int64_t size);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_OPS_SORTING_ORDERING_H_
