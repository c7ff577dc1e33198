// Ticker: the one thread that looks at the clock for a RemoteClient.
#ifndef HAWSER_CLIENT_REMOTE_TICKER_H_
#define HAWSER_CLIENT_REMOTE_TICKER_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/remote/call_limits.h"
#include "core/base/mutex.h"

namespace hawser {

// Marks code that runs on a thread a RemoteClient waits for when it dies: the
// transport's, the ticker's, the bulk threads. Whoever drops the last
// reference to a client there has it destroyed elsewhere.
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

// Something that ends at its limits even when the server says nothing.
class Watched {
 public:
  explicit Watched(const CallLimits& limits) : limits_(limits) {}
  virtual ~Watched() = default;
  const CallLimits& limits() const { return limits_; }

  // True once there is nothing left to stop; then it is forgotten.
  virtual bool Over() const = 0;
  // The limits are reached. Called once, must not block.
  virtual void Stop(const absl::Status& why) = 0;

 private:
  const CallLimits limits_;
};

class Ticker {
 public:
  // Calls `on_tick` every kTick until stopped. `who` stands in the errors.
  Ticker(std::string who, std::function<void(absl::Time now)> on_tick);
  ~Ticker() { Stop(); }
  void Stop();  // returns when nothing is called any more

  // Costs nothing when it has no limits.
  void Watch(std::shared_ptr<Watched> watched);

 private:
  void Run();
  void CheckWatched(absl::Time now);

  const std::string who_;
  const std::function<void(absl::Time)> on_tick_;
  Mutex mu_;
  CondVar stopped_;
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::shared_ptr<Watched>> watched_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_TICKER_H_
