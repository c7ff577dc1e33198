// Session: one client's handles, executables and place in the order of
// requests. It outlives its stream by its lease.
#ifndef HAWSER_SERVER_SESSION_SESSION_H_
#define HAWSER_SERVER_SESSION_SESSION_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/cancel.h"
#include "core/base/digest.h"
#include "core/base/memory_account.h"
#include "core/base/mutex.h"
#include "core/runtime/client.h"
#include "server/session/handle_table.h"

namespace hawser::server {

// An answer. This folder keeps and resends it without knowing what it says.
struct Reply {
  uint64_t sequence = 0;
  int64_t bytes = 0;
  std::shared_ptr<const void> message;  // null: OK and nothing else
};

// Where a session's answers go while a client is connected.
class ReplyStream {
 public:
  virtual ~ReplyStream() = default;
  // Queues; never blocks, never calls back into the session.
  virtual void Send(const Reply& reply) = 0;
  // A request less is unfinished: it may be time to read on, or to end.
  virtual void Settled() = 0;
  // Ends the stream; nothing is sent any more. Never calls back.
  virtual void Close(const absl::Status& why) = 0;
};

struct SessionLimits {
  HandleTable::Limits handles;
  int64_t executables = int64_t{1} << 16;
  // Beyond these no further request is read until some are answered.
  int64_t unfinished = 256;
  int64_t unfinished_bytes = int64_t{64} << 20;
  // Answers kept because the client has not acknowledged them.
  int64_t kept_bytes = int64_t{64} << 20;
};

// A request that has its turn; given back with the answer.
struct Ticket {
  uint64_t sequence = 0;
  int64_t bytes = 0;
};

// Thread-safe.
class Session {
 public:
  Session(uint64_t id, std::string secret, std::string tenant,
          std::string client_name, const SessionLimits& limits,
          MemoryHolderPtr memory = nullptr, MemoryCharge state = {});

  uint64_t id() const { return id_; }
  const std::string& secret() const { return secret_; }
  const std::string& tenant() const { return tenant_; }
  const std::string& client_name() const { return client_name_; }
  HandleTable& handles() { return handles_; }
  // What the session holds is charged to it; null: to nothing.
  const MemoryHolderPtr& memory() const { return memory_; }
  // Cancelled when the session ends.
  const CancelToken& cancel() const { return cancel_; }
  // As a client outside the stream is to hear of it: a kCancelled that the end
  // of this session has brought is kUnavailable, since nobody wished for it.
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
  // Runs `apply` now, or once the one before it has called Leave: requests
  // are applied one at a time, also while an old stream's last one goes on.
  // However many wait, the stack does not grow with them.
  void Enter(std::function<void()> apply);
  void Leave();
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
  // No further request is to be read until ReplyStream::Settled has been called.
  bool congested() const;
  int64_t unfinished() const { return unfinished_; }

  // ---- executables, pinned here by the client's own numbers
  // Errors: kInvalidArgument, the number stands for another module;
  // kResourceExhausted.
  absl::Status SetExecutable(
      uint64_t name, const Digest& fingerprint,
      absl::StatusOr<std::shared_ptr<runtime::Executable>> executable);
  // Gives back values, and executables: they share the client's numbers.
  void Release(absl::Span<const uint64_t> numbers);
  // The executable or why its Compile failed; nothing for an unknown number.
  std::optional<absl::StatusOr<std::shared_ptr<runtime::Executable>>>
  FindExecutable(uint64_t name) const;

  // ---- the end
  // Frees everything, cancels what runs and closes the stream.
  void End(const absl::Status& why);
  // Since when no client can send; infinite future: one can.
  absl::Time detached_at() const;
  // Its client will send nothing more: from `now` on the lease runs, though the
  // stream is still there for the last answers.
  void Retire(absl::Time now);
  // Ends the session if nobody has been attached since `cutoff`.
  bool EndIfIdleSince(absl::Time cutoff);

 private:
  struct PinnedExecutable {
    Digest fingerprint;
    absl::StatusOr<std::shared_ptr<runtime::Executable>> executable;
  };

  const uint64_t id_;
  const std::string secret_;
  const std::string tenant_;
  const std::string client_name_;
  const SessionLimits limits_;
  const MemoryHolderPtr memory_;
  const MemoryCharge state_;
  const CancelToken cancel_ = CancelToken::WithFlag();
  HandleTable handles_;

  // Read without the lock by congested().
  std::atomic<int64_t> unfinished_{0};
  std::atomic<int64_t> unfinished_bytes_{0};
  std::atomic<int64_t> kept_bytes_{0};

  mutable Mutex mu_;
  MemoryTally kept_charge_ ABSL_GUARDED_BY(mu_);
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  bool busy_ ABSL_GUARDED_BY(mu_) = false;
  bool left_ ABSL_GUARDED_BY(mu_) = false;        // by who had the turn last
  bool passing_on_ ABSL_GUARDED_BY(mu_) = false;  // somebody is in Leave's loop
  std::deque<std::function<void()>> waiting_ ABSL_GUARDED_BY(mu_);
  uint64_t applied_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t acknowledged_ ABSL_GUARDED_BY(mu_) = 0;
  absl::btree_map<uint64_t, Reply> kept_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<ReplyStream> stream_ ABSL_GUARDED_BY(mu_);
  absl::Time detached_at_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();
  absl::flat_hash_map<uint64_t, PinnedExecutable> executables_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SESSION_SESSION_H_
