// Session: one client's handles, executables and place in the order of
// requests. It outlives its stream by its lease.
#ifndef HAWSER_SERVER_SESSION_SESSION_H_
#define HAWSER_SERVER_SESSION_SESSION_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/clock.h"
#include "core/base/memory_account.h"
#include "core/base/mutex.h"
#include "core/base/threads/cancel.h"
#include "server/session/handle_table.h"
#include "server/session/pinned_executables.h"
#include "server/session/reply_stream.h"
#include "server/session/request_ledger.h"
#include "server/session/request_turns.h"

namespace hawser::server {

struct SessionLimits {
  HandleTable::Limits handles;
  int64_t executables = int64_t{1} << 16;
  // Beyond these no further request is read until some are answered.
  int64_t unfinished = 256;
  int64_t unfinished_bytes = int64_t{64} << 20;
  // Answers kept because the client has not acknowledged them.
  int64_t kept_bytes = int64_t{64} << 20;
};

// The id and secret by which a client finds its session again, and who it is.
struct SessionIdentity {
  uint64_t id;
  std::string secret;
  std::string tenant;
  std::string client_name;
};

// A session that has ended holds nothing and has no stream. Thread-safe.
class Session {
 public:
  Session(SessionIdentity identity, const SessionLimits& limits,
          MemoryHolderPtr memory = nullptr, MemoryCharge state = {});

  uint64_t id() const { return identity_.id; }
  const std::string& secret() const { return identity_.secret; }
  const std::string& tenant() const { return identity_.tenant; }
  const std::string& client_name() const { return identity_.client_name; }
  HandleTable& handles() { return handles_; }
  PinnedExecutables& executables() { return executables_; }
  // Requests are applied one at a time, also while the last one of an old
  // stream goes on.
  RequestTurns& turns() { return turns_; }
  // All that the session holds is charged to it; null: to nothing.
  const MemoryHolderPtr& memory() const { return memory_; }
  // Cancelled when the session ends.
  const CancelToken& cancel() const { return cancel_; }
  // Returns the error that a client outside the stream is to hear: a kCancelled
  // that the end of this session has brought is kUnavailable, since no client
  // wished for it.
  absl::Status Explain(const absl::Status& status) const;

  // ---- the stream
  // Makes `stream` the one answers go to and closes the one before. Sends it
  // `hello(highest sequence taken)`, then every answer not acknowledged.
  // Errors: kUnavailable, the session has ended.
  absl::Status Attach(std::shared_ptr<ReplyStream> stream,
                      const std::function<Reply(uint64_t applied)>& hello);
  // `stream` is gone; the lease runs from `now`, unless another took over.
  void Detach(const ReplyStream* stream, absl::Time now);

  // ---- the order of requests
  // The turn of request `sequence`; nothing for one that was taken before.
  // Errors: kInvalidArgument for a gap, kUnavailable when `from` is no longer
  // the session's stream.
  absl::StatusOr<std::optional<Ticket>> Claim(const ReplyStream* from,
                                              uint64_t sequence, int64_t bytes);
  // The client has every answer up to `sequence`.
  // Errors: kInvalidArgument for one that was never asked for.
  absl::Status Acknowledge(uint64_t sequence);
  // Keeps and sends the answer of a claimed request; once each.
  void Answer(const Ticket& ticket, Reply reply);
  // No further request is to be read until ReplyStream::Settled is called.
  bool congested() const;
  int64_t unfinished() const { return backlog_.requests; }
  // Requests that have come and have no answer yet, in order.
  std::vector<uint64_t> UnfinishedRequests() const;

  // Gives back values, and executables: they share the client's numbers.
  void Release(absl::Span<const uint64_t> numbers);

  // ---- the end
  // Frees everything, cancels what runs and closes the stream. The first time
  // it says so in the log: who, from where, how long, and why it ends.
  void End(const absl::Status& why);
  // Returns since when no client can send; infinite future: one can.
  absl::Time detached_at() const;
  // Its client will send nothing more: from `now` on the lease runs, though the
  // stream is still there for the last answers.
  void Retire(absl::Time now);
  // Ends the session if no client has been attached since `cutoff`.
  bool EndIfIdleSince(absl::Time cutoff);

 private:
  // Changed with the lock, read without it by congested().
  struct Backlog {
    std::atomic<int64_t> requests{0};  // unfinished
    std::atomic<int64_t> bytes{0};     // of these
    std::atomic<int64_t> kept{0};      // bytes of answers
  };

  void LogEnd(const std::string& peer, uint64_t requests,
              const absl::Status& why) const;

  const SessionIdentity identity_;
  const absl::Time opened_ = SteadyNow();
  const SessionLimits limits_;
  const MemoryHolderPtr memory_;
  const MemoryCharge state_;
  const CancelToken cancel_ = CancelToken::WithFlag();
  HandleTable handles_;
  PinnedExecutables executables_;
  RequestTurns turns_;
  Backlog backlog_;

  mutable Mutex mu_;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  RequestLedger ledger_ ABSL_GUARDED_BY(mu_);
  MemoryTally requests_ ABSL_GUARDED_BY(mu_);  // unfinished ones, as of late
  Attachment attachment_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SESSION_SESSION_H_
