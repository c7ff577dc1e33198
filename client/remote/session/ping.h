// PingSession: whether a server answers on a session now.
#ifndef HAWSER_CLIENT_REMOTE_SESSION_PING_H_
#define HAWSER_CLIENT_REMOTE_SESSION_PING_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/remote/session/session.h"
#include "core/base/threads/cancel.h"

namespace hawser {

// Blocks until the server has answered one ping on `session`. `who` stands in
// the errors: kUnavailable when the session is lost or its stream stays away
// for `patience`; those of `cancel`.
absl::Status PingSession(const std::shared_ptr<RemoteSession>& session,
                         const CancelToken& cancel, absl::Duration patience,
                         absl::string_view who);

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_SESSION_PING_H_
