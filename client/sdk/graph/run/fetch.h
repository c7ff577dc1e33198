// The values of tensors, within the limits of one call.
#ifndef HAWSER_CLIENT_SDK_GRAPH_RUN_FETCH_H_
#define HAWSER_CLIENT_SDK_GRAPH_RUN_FETCH_H_

#include "absl/status/statusor.h"
#include "client/sdk/client/client.h"
#include "client/sdk/graph/run/evaluate.h"
#include "client/sdk/tensor.h"
#include "core/base/values/literal.h"
#include "core/runtime/client.h"

namespace hawser::sdk {

// The value or the buffer of a tensor that needs no more evaluating.
struct Found {
  Literal value;              // in this process
  runtime::BufferPtr buffer;  // else where it is
};
// Errors: those of Usable; kFailedPrecondition for a tensor that is recorded.
absl::StatusOr<Found> Find(const Tensor& tensor);

// The value, after evaluating; small ones are kept, for printing and fetching
// again. Blocks until it is there.
absl::StatusOr<Literal> FetchWithin(const Tensor& tensor,
                                    const Execution& execution);

// Returns the client that a tensor is on, or is to be computed on: `wanted`, if
// that is any client, else the default one.
Client HomeOf(const Tensor& tensor, const Client& wanted);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_RUN_FETCH_H_
