// Watched: what ends with its token even when the server says nothing.
#ifndef HAWSER_CLIENT_REMOTE_LINK_WATCHED_H_
#define HAWSER_CLIENT_REMOTE_LINK_WATCHED_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "core/base/mutex.h"
#include "core/base/threads/alarm.h"
#include "core/base/threads/cancel.h"

namespace hawser {

// Marks code that runs on a thread that a RemoteClient waits for when it dies,
// or that all clients share: the transport's, the bulk threads, the alarm. A
// client whose last reference is dropped there is destroyed elsewhere.
class CallbackScope {
 public:
  CallbackScope() { ++depth_; }
  ~CallbackScope() { --depth_; }
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;
  static bool Active() { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
};

// RemoteLink::Watch and WatchSilence see to it.
class Watched {
 public:
  explicit Watched(const CancelToken& cancel) : cancel_(cancel) {}
  virtual ~Watched() {
    if (listening_.has_value()) Alarm::OfProcess().Cancel(*listening_);
  }
  const CancelToken& cancel() const { return cancel_; }

  // The token has expired, or the server is silent. Called at most once for
  // each, on the alarm or where a session ends; must not block.
  virtual void Stop(const absl::Status& why) = 0;
  // The number by which the server can say whether it is under way; 0: it
  // cannot.
  virtual uint64_t number() const { return 0; }
  // The bytes that must get there before the server can know of it.
  virtual int64_t sent_bytes() const { return 0; }

 protected:
  // It has ended: there is nothing left to stop.
  void Unwatch() { expiry_.Drop(); }

 private:
  friend class RemoteLink;
  const CancelToken cancel_;
  // The server is asked for a sign then, and not at the time before.
  void SetListening(const Alarm::Id& next) {
    MutexLock lock(&mu_);
    if (listening_.has_value()) Alarm::OfProcess().Cancel(*listening_);
    listening_ = next;
  }

  CancelToken::Registration expiry_;
  int denied_ = 0;  // times in a row that the server did not know the number
  Mutex mu_;
  std::optional<Alarm::Id> listening_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_LINK_WATCHED_H_
