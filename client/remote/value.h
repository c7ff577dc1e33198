// The values on the other side: who holds their names, what became of the
// request that was to make them, and how they are fetched.
#ifndef HAWSER_CLIENT_REMOTE_VALUE_H_
#define HAWSER_CLIENT_REMOTE_VALUE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/remote/link/transfers.h"
#include "client/remote/link/watched.h"
#include "client/remote/session/remote_link.h"
#include "client/remote/session/session.h"
#include "core/base/mutex.h"
#include "core/base/threads/cancel.h"
#include "core/base/threads/future.h"
#include "core/base/values/literal.h"

namespace hawser {

// Larger values do not ride in a message of the session stream, where they
// would hold up the small ones behind them.
inline constexpr int64_t kMaxInlineBytes = 64 << 10;
// Results up to this size come with the answer to their Execute.
inline constexpr int64_t kMaxInlineResultBytes = 4 << 10;

// A name in a session, given back when the last holder lets go.
class Handle {
 public:
  Handle(std::shared_ptr<RemoteSession> session, uint64_t id)
      : session_(std::move(session)), id_(id) {}
  ~Handle() { session_->Release(id_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  const std::shared_ptr<RemoteSession>& session() const { return session_; }
  uint64_t id() const { return id_; }

  // While a caller fetches the value, it is not given away.
  void FetchBegins() { ++fetches_; }
  void FetchEnds() { --fetches_; }
  bool being_fetched() const { return fetches_ > 0; }

 private:
  const std::shared_ptr<RemoteSession> session_;
  const uint64_t id_;
  std::atomic<int> fetches_{0};
};

// One Fetch of one handle: waits for the value, asks for it on the session
// stream, streams it if it is large. Whatever comes first completes the future.
class RemoteFetch final : public Request,
                          public Watched,
                          public Transfer,
                          public std::enable_shared_from_this<RemoteFetch> {
 public:
  RemoteFetch(RemoteLink* link, std::shared_ptr<Handle> handle,
              const Shape& shape, const runtime::CallOptions& call);
  ~RemoteFetch() override { End(); }

  const Future<Literal>& future() const { return future_; }
  const Shape& shape() const { return shape_; }
  RemoteSession& session() const { return *handle_->session(); }
  void Complete(absl::StatusOr<Literal> value);
  // Sends the FetchRequest; the first time counts.
  void Ask();

  void OnReply(const absl::Status& status, v1::ServerMessage* reply) override;
  void Stop(const absl::Status& why) override { Complete(why); }
  bool Wanted() const override { return !future_.ready(); }
  absl::Status Run(const CancelToken& cancel) override;
  bool MayRetry() const override { return !handle_->session()->lost(); }
  bool InSession() const override { return true; }
  void Done(const absl::Status& status) override;

 private:
  void End();

  RemoteLink* const link_;  // outlives every session and transfer
  const std::shared_ptr<Handle> handle_;
  const Shape shape_;
  const std::function<void(int64_t, int64_t)> progress_;
  std::atomic<bool> asked_{false};
  std::atomic<bool> ended_{false};
  Literal received_;  // by Run
  Promise<Literal> promise_;
  const Future<Literal> future_;
};

// The outcome of one Execute or Upload, shared by the request and the buffers
// it fills.
class Outcome final : public Watched {
 public:
  // `results_come_along`: small results are part of the answer.
  Outcome(const CancelToken& cancel, bool results_come_along)
      : Watched(cancel), results_come_along_(results_come_along) {}
  using Values = absl::InlinedVector<Literal, 1>;

  // The first time counts. An invalid Literal, or none: still over there.
  void Settle(const absl::Status& status, Values values = {});
  // Completes the fetch of result `index` when it can be.
  void Fetch(int index, std::shared_ptr<RemoteFetch> fetch);
  // True once it is settled well; else the error.
  Future<bool> settled();

  bool over() const;
  void Stop(const absl::Status& why) override { Settle(why); }

 private:
  struct Waiter {
    int index;
    std::shared_ptr<RemoteFetch> fetch;
  };
  void Continue(const Waiter& waiter);
  absl::StatusOr<bool> StatusOrTrue() const;  // once it is settled

  const bool results_come_along_;
  mutable Mutex mu_;
  bool settled_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Waiter> waiters_ ABSL_GUARDED_BY(mu_);
  std::optional<Promise<bool>> promise_ ABSL_GUARDED_BY(mu_);  // once asked for
  // Written once, before settled_.
  absl::Status status_;
  Values values_;
};

// Sends a value: inside the request, or after it on a side stream.
class RemoteUpload final : public Request,
                           public Transfer,
                           public std::enable_shared_from_this<RemoteUpload> {
 public:
  RemoteUpload(RemoteLink* link, std::shared_ptr<Handle> handle,
               const Literal& value, std::shared_ptr<Outcome> outcome,
               const runtime::CallOptions& call);

  void OnReply(const absl::Status& status, v1::ServerMessage* reply) override;
  bool Wanted() const override { return !outcome_->over(); }
  absl::Status Run(const CancelToken& cancel) override;
  bool MayRetry() const override { return !handle_->session()->lost(); }
  bool InSession() const override { return true; }
  void Done(const absl::Status& status) override { outcome_->Settle(status); }

 private:
  RemoteLink* const link_;
  const std::shared_ptr<Handle> handle_;  // lives until all bytes are sent
  const Literal value_;
  const std::shared_ptr<Outcome> outcome_;
  const std::function<void(int64_t, int64_t)> progress_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_VALUE_H_
