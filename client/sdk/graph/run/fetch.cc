#include "client/sdk/graph/run/fetch.h"

#include "client/sdk/graph/node.h"
#include "core/base/process/forked.h"
#include "core/base/status.h"

namespace hawser::sdk {
namespace {

// Keeps small values.
void Remember(const Tensor& tensor, const Literal& value) {
  if (value.shape().byte_size() > kSmallBytes) return;
  MutexLock lock(&graph_mutex);
  auto* ready = NodeOf(tensor)->As<Ready>();
  if (ready != nullptr && ready->buffers.size() == 1) ready->fetched = value;
}

}  // namespace

absl::StatusOr<Found> Find(const Tensor& tensor) {
  MutexLock lock(&graph_mutex);
  HAWSER_RETURN_IF_ERROR(Usable(tensor));
  Node* node = NodeOf(tensor);
  if (const auto* host = node->As<Host>()) return Found{host->value, {}};
  if (const auto* ready = node->As<Ready>()) {
    return Found{ready->fetched, ready->buffers[ResultIndex(tensor)]};
  }
  return FailedPrecondition("not evaluated");
}

absl::StatusOr<Literal> FetchWithin(const Tensor& tensor,
                                    const Execution& execution) {
  HAWSER_RETURN_IF_ERROR(Evaluate({&tensor, 1}, execution));
  HAWSER_ASSIGN_OR_RETURN(Found found, Find(tensor));
  if (found.value.valid()) return found.value;
  HAWSER_RETURN_IF_ERROR(CheckNotForked());
  auto value = found.buffer->Fetch(execution.call)
                   .Await(execution.call.cancel.deadline());
  if (value.ok()) Remember(tensor, *value);
  return value;
}

Client HomeOf(const Tensor& tensor, const Client& wanted) {
  Client home;
  if (NodeOf(tensor) != nullptr) {
    MutexLock lock(&graph_mutex);
    home = ClientOf(tensor);
  }
  if (home.valid()) return home;
  return wanted.valid() ? wanted : Client::Default();
}

}  // namespace hawser::sdk
