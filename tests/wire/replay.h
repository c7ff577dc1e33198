// Both ends of a recorded conversation, played again.
#ifndef HAWSER_TESTS_WIRE_REPLAY_H_
#define HAWSER_TESTS_WIRE_REPLAY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/remote/link/transport.h"
#include "tests/wire/conversation.h"

namespace hawser {

// The client of `old`: sends its requests over `server`, each when the one
// before is answered. Returns them with today's answers. Errors: those of the
// link; kDeadlineExceeded naming the request that is not answered.
absl::StatusOr<Conversation> ReplayClient(const Conversation& old,
                                          Transport& server);

// The server of `old`: the n-th request of a kind gets the n-th answer to one
// of that kind, whatever is in it. Others are kUnimplemented.
std::unique_ptr<Transport> ReplayServer(Conversation old);

// Whether `now` says all that `old` says, but for what differs from process to
// process: sessions, capabilities, times, what memory is held. Errors:
// kInternal with the first difference.
absl::Status CheckSame(const Conversation& old, const Conversation& now);

}  // namespace hawser
#endif  // HAWSER_TESTS_WIRE_REPLAY_H_
