// Running recorded expressions.
#ifndef HAWSER_CLIENT_SDK_GRAPH_RUN_EVALUATE_H_
#define HAWSER_CLIENT_SDK_GRAPH_RUN_EVALUATE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/sdk/client/options.h"
#include "client/sdk/graph/node.h"
#include "core/runtime/client.h"

namespace hawser::sdk {

// RunOptions with the deadline as a point in time.
struct Execution {
  Client client;
  runtime::CallOptions call;
  Numerics numerics = Numerics::kFast;
};
Execution FromNow(const RunOptions& options);

// Queues what the tensors need in one execution. Every recorded value in it
// that a Tensor points at becomes ready too, so that a loop which asks for one
// of its values now and then does not compute the others twice. May block to
// compile and for room in the client's window. Any thread may call it; of two
// that evaluate the same value, the first to finish gives it.
absl::Status Evaluate(absl::Span<const Tensor> tensors,
                      const Execution& execution);

// Returns how many instructions the tensors need.
int64_t CountRecorded(absl::Span<const Tensor> tensors);

// A host or ready tensor as an argument on `client`. Large host values are
// uploaded once per client. Errors: kFailedPrecondition for another client.
absl::StatusOr<runtime::Argument> ToArgument(const Tensor& tensor,
                                             const Client& client,
                                             const runtime::CallOptions& call);

// Notes in `*client` where an operand must be computed. Errors:
// kFailedPrecondition naming both when it is two clients.
absl::Status Agree(const Client& operand, Client* client);
// The client of a ready or recorded tensor; none: only host values.
Client ClientOf(const Tensor& tensor)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_RUN_EVALUATE_H_
