// The requests of a session, applied.
#ifndef HAWSER_SERVER_SERVICE_STREAM_SESSION_REQUESTS_H_
#define HAWSER_SERVER_SERVICE_STREAM_SESSION_REQUESTS_H_

#include <functional>
#include <memory>

#include "proto/executor.pb.h"
#include "server/service/execution/execution.h"
#include "server/service/execution/executor.h"
#include "server/session/session.h"

namespace hawser::server {

// Applies one claimed request; its answer goes to the session, now or later.
// Calls `done` when the next request may be applied: at once, but for a module
// to be compiled, which is done on a worker. `message` is used until then and
// may be moved from. `given_back`: handles that requests of the same message
// release.
void ApplyRequest(Executor& executor, const std::shared_ptr<Session>& session,
                  const Ticket& ticket, const GivenBack& given_back,
                  v1::ClientMessage* message, std::function<void()> done);

// `fn(StatusOr<BufferPtr>)` with the buffer of `value` or the first cause why
// there is none: at once, or when it is known.
void WhenThere(
    const Value& value,
    std::function<void(const absl::StatusOr<runtime::BufferPtr>&)> fn);
// The final words for a failed fetch of `value`: those of the execution that
// was to make it, if that failed, else `own`.
void WithCause(const Value& value, const absl::Status& own,
               std::function<void(const absl::Status&)> fn);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_STREAM_SESSION_REQUESTS_H_
