#include "client/remote/session/ping.h"

#include <algorithm>

#include "client/remote/session/window/request.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/base/threads/future.h"
#include "core/base/threads/or_expired.h"
#include "proto/executor.pb.h"

namespace hawser {

absl::Status PingSession(const std::shared_ptr<RemoteSession>& session,
                         const CancelToken& cancel, absl::Duration patience,
                         absl::string_view who) {
  HAWSER_RETURN_IF_ERROR(Annotate(cancel.Check(), who));
  auto call = std::make_shared<AcknowledgedRequest>();
  call->message->mutable_ping();
  const Future<bool> answered = call->future();
  // A full window says nothing about the link, so it is not waited for.
  session->Send(call);
  const absl::Time start = SteadyNow();
  while (true) {
    const absl::Time now = SteadyNow();
    const absl::Time detached = session->detached_since();
    const absl::Time until =
        (detached == absl::InfiniteFuture() ? now : std::max(start, detached)) +
        patience;
    if (now >= until) {
      return Unavailable(who, ": the session has had no stream for ",
                         absl::FormatDuration(patience));
    }
    (void)OrExpired(answered, cancel.Until(until)).Await();
    if (answered.ready()) return answered.Await().status();
    HAWSER_RETURN_IF_ERROR(Annotate(cancel.Check(), who));
  }
}

}  // namespace hawser
