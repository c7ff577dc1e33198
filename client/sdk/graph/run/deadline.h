// The error of a call that may block names the deadline of its own that ended
// it.
#ifndef HAWSER_CLIENT_SDK_GRAPH_RUN_DEADLINE_H_
#define HAWSER_CLIENT_SDK_GRAPH_RUN_DEADLINE_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/sdk/client/call_options.h"
#include "client/sdk/client/client.h"
#include "core/base/threads/cancel.h"

namespace hawser::sdk {

// `status` of a call of `function` on `client`, made with `call`, of which
// `limits` was made when it began. An error of that deadline becomes
//   deadline of 5s passed: Fetch on gpu-1:7070; the deadline has passed
// Any other status stays, also the deadline of an earlier call that was to make
// a value.
absl::Status NameDeadline(const absl::Status& status,
                          absl::string_view function, const Client& client,
                          const CallOptions& call, const CancelToken& limits);

template <typename T>
absl::StatusOr<T> NameDeadline(absl::StatusOr<T> result,
                               absl::string_view function, const Client& client,
                               const CallOptions& call,
                               const CancelToken& limits) {
  if (result.ok()) return result;
  return NameDeadline(result.status(), function, client, call, limits);
}

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_RUN_DEADLINE_H_
