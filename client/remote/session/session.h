// RemoteSession: one session on one server, over as many streams as it takes.
#ifndef HAWSER_CLIENT_REMOTE_SESSION_SESSION_H_
#define HAWSER_CLIENT_REMOTE_SESSION_SESSION_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/remote/link/options.h"
#include "client/remote/link/transport.h"
#include "core/base/mutex.h"
#include "core/base/threads/alarm.h"
#include "core/base/threads/cancel.h"
#include "core/base/threads/future.h"
#include "core/base/threads/gate.h"
#include "core/runtime/client.h"
#include "proto/executor.pb.h"

namespace hawser {

// A message with the memory of its parts: one allocation for a small one.
std::shared_ptr<v1::ClientMessage> NewClientMessage();

// A request on the session stream and what to do with its answer. Kept until
// it is answered, since a broken stream may ask for it again.
class Request {
 public:
  virtual ~Request() = default;
  // Exactly once, with no lock held, on the thread that learns it; must not
  // block. `reply` (may be moved from) is null unless `status` is OK.
  virtual void OnReply(const absl::Status& status,
                       v1::ServerMessage* reply) = 0;

  // Filled by its maker; RemoteSession adds the numbers and releases when it
  // is sent, and it does not change after that. Apart from the request,
  // so that a transport that still holds it keeps nothing else alive.
  const std::shared_ptr<v1::ClientMessage> message = NewClientMessage();
};

// Thread-safe. Opened by Start, then broken and reattached as the link comes
// and goes, until it is lost for good: lost() never goes back, and a new
// session is a new object. Only Submit blocks.
class RemoteSession {
 public:
  RemoteSession(std::shared_ptr<Transport> transport, RemoteOptions options);
  ~RemoteSession();  // after Close, or never opened

  // Opens the first stream. Once.
  void Start();
  // Says goodbye, waiting a moment for it to be heard, and fails what is
  // outstanding with kCancelled. Not inside a callback.
  void Close();

  // Numbers, keeps and sends the request. On a lost session OnReply is called
  // at once. Never waits: the window is not for it.
  void Send(const std::shared_ptr<Request>& request);
  // As Send, in its turn: blocks while the window is full, until `cancel`
  // expires, and may leave with others. Errors: the token's; kResourceExhausted
  // when `caller`, of which it was made, has not expired.
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

  // What the server can do, once the session is open.
  Future<runtime::Capabilities> opened() const { return opened_.future(); }
  bool lost() const { return lost_.load(std::memory_order_acquire); }
  // Whether the server has ever answered it.
  bool was_open() const {
    MutexLock lock(&mu_);
    return session_id_ != 0;
  }
  // Why it was lost; OK before.
  absl::Status lost_status() const;

  // What bulk streams name the session by. Only after it has opened.
  template <typename Message>
  void Identify(Message* message) const {
    MutexLock lock(&mu_);
    message->set_session_id(session_id_);
    message->set_secret(secret_);
  }

  // Requests without an answer.
  int outstanding() const;
  // Since when no stream is there that the server has answered on;
  // InfiniteFuture: there is one.
  absl::Time detached_since() const;
  // Lost, and nothing of it is left on the transport.
  bool over() const;

 private:
  // Releases wait this long for a message to ride on.
  static constexpr absl::Duration kReleaseDelay = absl::Milliseconds(50);
  // A request waits at most this long for others to leave with.
  static constexpr absl::Duration kLongestInBatch = absl::Milliseconds(20);

  enum class State : uint8_t { kOpening, kOpen, kBroken, kLost };
  struct Entry {
    std::shared_ptr<Request> request;  // null once answered
    size_t bytes = 0;
  };
  using Requests = std::vector<std::shared_ptr<Request>>;

  // session.cc: requests and answers.
  void OnMessage(v1::ServerMessage* message);
  void OnOneMessage(v1::ServerMessage* message);
  void OnDone(absl::Span<const uint64_t> sequences);
  bool HasRoom(size_t bytes, int requests) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Those that wait for room look again, if there is some.
  void SignalRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status WaitForRoom(size_t bytes, const CancelToken& cancel,
                           const CancelToken& caller);
  void Send(const std::shared_ptr<Request>& request, size_t bytes, bool batch);
  // Takes what has come back, without waiting.
  static void Look();
  // True: what has come back should be looked at, so that it can leave.
  bool Append(const std::shared_ptr<Request>& request, size_t bytes, bool batch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SendPing() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::shared_ptr<Request> TakeAnswered(uint64_t sequence)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // session_link.cc: the stream below.
  void OpenStream();
  void OnOpenReply(v1::ServerMessage* message);
  void OnClosed(const StreamEnd& end);
  absl::Status WhyLost(const StreamEnd& end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Attach(const v1::OpenReply& reply) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Break(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The end. Returns what must be told so, by Tell and without the lock.
  Requests Lose(const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Tell(const Requests& requests);
  void LoseAndTell(const absl::Status& why);
  absl::Status CheckPatience(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void KeepAlive(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Since when the server is asked and says nothing; InfiniteFuture: it is not.
  absl::Time SilentSince() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Errors: kUnavailable, it has been silent for too long.
  absl::Status CheckSilence(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // On the alarm, when something is due: pings, reattaches, gives up.
  void Tick();
  void SeeToTheLink();
  // When the next tick is due, if nothing happens until then.
  absl::Time NextTick(absl::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // There is a tick at `when` or before.
  void TickBy(absl::Time when) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();  // of ticks
  const std::shared_ptr<Transport> transport_;
  const RemoteOptions options_;
  const std::string address_;
  std::atomic<uint64_t> next_handle_{1};
  std::atomic<bool> lost_{false};
  Promise<runtime::Capabilities> opened_;

  mutable Mutex mu_;
  // Set when there is room again; null: no thread waits for it.
  std::unique_ptr<Promise<bool>> room_ ABSL_GUARDED_BY(mu_);
  State state_ ABSL_GUARDED_BY(mu_) = State::kOpening;
  absl::Status lost_status_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<SessionStream> stream_ ABSL_GUARDED_BY(mu_);

  uint64_t session_id_ ABSL_GUARDED_BY(mu_) = 0;  // 0: not open yet
  std::string secret_ ABSL_GUARDED_BY(mu_);
  absl::Duration lease_ ABSL_GUARDED_BY(mu_);

  // Requests from first_sequence_ on; the front one is never answered.
  std::deque<Entry> entries_ ABSL_GUARDED_BY(mu_);
  uint64_t first_sequence_ ABSL_GUARDED_BY(mu_) = 1;
  int unanswered_ ABSL_GUARDED_BY(mu_) = 0;
  size_t unanswered_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<uint64_t> releases_ ABSL_GUARDED_BY(mu_);

  absl::Time last_sent_ ABSL_GUARDED_BY(mu_);
  absl::Time last_heard_ ABSL_GUARDED_BY(mu_);
  absl::Time asked_ ABSL_GUARDED_BY(mu_);  // while unanswered_: since when
  absl::Time pinged_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  bool silence_said_ ABSL_GUARDED_BY(mu_) = false;  // in the log
  absl::Time tick_at_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();
  Alarm::Id tick_ ABSL_GUARDED_BY(mu_);
  bool ticking_ ABSL_GUARDED_BY(mu_) = false;
  absl::Time stream_started_ ABSL_GUARDED_BY(mu_);  // while opening
  absl::Time broken_since_ ABSL_GUARDED_BY(mu_);    // while not open
  absl::Time next_attempt_ ABSL_GUARDED_BY(mu_);
  absl::Duration backoff_ ABSL_GUARDED_BY(mu_);
  int refusals_ ABSL_GUARDED_BY(mu_) = 0;  // in a row
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_SESSION_SESSION_H_
