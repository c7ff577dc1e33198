// RemoteSession: one session on one server, over as many streams as it takes.
#ifndef HAWSER_CLIENT_REMOTE_SESSION_SESSION_H_
#define HAWSER_CLIENT_REMOTE_SESSION_SESSION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/remote/link/options.h"
#include "client/remote/link/transport.h"
#include "client/remote/session/link_state.h"
#include "client/remote/session/session_key.h"
#include "client/remote/session/tick_alarm.h"
#include "client/remote/session/window/request.h"
#include "client/remote/session/window/request_window.h"
#include "client/remote/session/window/slow_requests.h"
#include "core/base/mutex.h"
#include "core/base/threads/cancel.h"
#include "core/base/threads/future.h"
#include "core/runtime/client.h"
#include "proto/executor.pb.h"

namespace hawser {

// A request is in the window from Send to its answer, and a stream that is
// attached anew is sent all of the window that the server has not applied: so
// each is applied once and in order, over however many streams, and answered
// once. The requests in the window when the session is lost are told so. lost()
// never goes back, and a new session is a new object.
// Thread-safe. Only Submit, Close and the destructor block.
class RemoteSession {
 public:
  RemoteSession(std::shared_ptr<Transport> transport, RemoteOptions options);
  ~RemoteSession() = default;  // after Close, or never opened

  // Opens the first stream. Call it once.
  void Start();
  // Says goodbye, waiting a moment for it to be heard, and fails what is
  // outstanding with kCancelled. Not inside a callback.
  void Close();

  // Numbers, keeps and sends the request. On a lost session OnReply is called
  // at once. Never waits: the window is not for it.
  void Send(const std::shared_ptr<Request>& request);
  // Sends a ping on behalf of a call beside the session: the server owes that
  // an answer since `since`, and is silent from then on.
  void AskForSign(const std::shared_ptr<Request>& ping, absl::Time since);
  // Sends the request in its turn: blocks while the window is full, until
  // `cancel` expires, and may leave with others. Errors: the token's;
  // kResourceExhausted when `caller`, of which it was made, has not expired.
  absl::Status Submit(const std::shared_ptr<Request>& request,
                      const CancelToken& cancel, const CancelToken& caller);

  // Requests that wait for others to leave with leave: a caller waits for an
  // answer.
  void Flush();

  // n names in a row that this session has not used.
  uint64_t NewHandles(int n) {
    return next_handle_.fetch_add(n, std::memory_order_relaxed);
  }
  // Rides on the next message, or on a ping soon.
  void Release(uint64_t handle);

  // The abilities of the server, once the session is open.
  Future<runtime::Capabilities> opened() const { return opened_.future(); }
  bool lost() const { return lost_.load(std::memory_order_acquire); }
  // True if the server has ever answered it.
  bool was_open() const {
    MutexLock lock(&mu_);
    return link_.was_open();
  }
  // Returns why it was lost; OK before.
  absl::Status lost_status() const;

  // Fills in the name by which bulk streams know the session. Only after it has
  // opened.
  template <typename Message>
  void Identify(Message* message) const {
    MutexLock lock(&mu_);
    key_.WriteTo(message);
  }

  // Requests without an answer.
  int outstanding() const;
  // Returns since when no stream is there that the server has answered on;
  // InfiniteFuture: there is one.
  absl::Time detached_since() const;
  // Lost, and nothing of it is left on the transport.
  bool over() const;

 private:
  using Requests = std::vector<std::shared_ptr<Request>>;

  // Requests and answers.
  absl::Status WaitForRoom(size_t bytes, const CancelToken& cancel,
                           const CancelToken& caller);
  void Send(const std::shared_ptr<Request>& request, size_t bytes, bool batch);
  // Takes what has come back, without waiting.
  static void Look();
  // True: what has come back should be looked at, so that it can leave.
  bool Append(const std::shared_ptr<Request>& request, size_t bytes, bool batch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SendPing() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void OnMessage(v1::ServerMessage* message);
  void OnOneMessage(v1::ServerMessage* message);
  void OnDone(absl::Span<const uint64_t> sequences);
  // The request of an answer; null: a repeat, or it was never sent, which is
  // said to Violated.
  std::shared_ptr<Request> TakeAnswered(uint64_t sequence);
  // The server did what the protocol does not have: its stream ends, and the
  // session with the third such.
  void Violated(const std::string& what);

  // Requests that take long.
  class Report;
  absl::Time NextReport() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return slow_.NextReport(window_.oldest_since());
  }
  void AskForReport(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The server says what it works on, asked by request `asked`.
  void OnReport(uint64_t asked, const v1::PingReply& report);

  // The stream below.
  void OpenStream();
  void OnOpenReply(v1::ServerMessage* message);
  void OnClosed(const StreamEnd& end);
  void Attach(const v1::OpenReply& reply) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The end. Returns what must be told so, by Tell and without the lock.
  Requests Lose(const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Tell(const Requests& requests);
  void LoseAndTell(const absl::Status& why);
  // When something is due: pings, reattaches, gives up.
  void Tick();
  LinkState::Owed owed() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return {window_.unanswered() > 0, !releases_.empty()};
  }
  // The error that callers get for a server that is silent.
  absl::Status Silent() const;
  absl::Time NextTick(absl::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::shared_ptr<Transport> transport_;
  const RemoteOptions options_;
  const std::string address_;
  std::atomic<uint64_t> next_handle_{1};
  std::atomic<bool> lost_{false};  // as link_, for readers without the lock
  Promise<runtime::Capabilities> opened_;

  mutable Mutex mu_;
  absl::Status lost_status_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<SessionStream> stream_ ABSL_GUARDED_BY(mu_);
  SessionKey key_ ABSL_GUARDED_BY(mu_);
  RequestWindow window_ ABSL_GUARDED_BY(mu_);
  std::vector<uint64_t> releases_ ABSL_GUARDED_BY(mu_);
  SlowRequests slow_ ABSL_GUARDED_BY(mu_);
  LinkState link_ ABSL_GUARDED_BY(mu_);
  TickAlarm ticks_{[this] { Tick(); }};  // under mu_, as its class says
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_SESSION_SESSION_H_
