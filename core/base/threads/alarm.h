// Alarm: one thread that calls functions at given times.
#ifndef HAWSER_CORE_BASE_THREADS_ALARM_H_
#define HAWSER_CORE_BASE_THREADS_ALARM_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"

namespace hawser {

// Functions run one at a time, earliest first, on the alarm's own thread,
// which starts with the first of them. The destructor drops what has not
// started and waits for what has, unless that is what destroys it. Thread-safe.
class Alarm {
 public:
  using Id = std::pair<absl::Time, uint64_t>;

  Alarm() : state_(std::make_shared<State>()) {}
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  // The one of the process, for what has to be told of deadlines and expired
  // tokens. Its thread is there from the first call on, and stays.
  static Alarm& OfProcess();

  Id At(absl::Time when, std::function<void()> fn);
  Id Soon(std::function<void()> fn) { return At(SteadyNow(), std::move(fn)); }
  // False when it has started already or never was.
  bool Cancel(const Id& id);

 private:
  // Outlives an Alarm that is destroyed by one of its own functions.
  struct State {
    Mutex mu;
    CondVar changed;
    std::map<Id, std::function<void()>> waiting ABSL_GUARDED_BY(mu);
    uint64_t next ABSL_GUARDED_BY(mu) = 0;
    // When the thread looks again by itself. Only something earlier wakes it:
    // timers that are all cancelled in time cost no wake-up each.
    absl::Time wakes ABSL_GUARDED_BY(mu) = absl::InfiniteFuture();
    bool stopping ABSL_GUARDED_BY(mu) = false;
    std::thread thread ABSL_GUARDED_BY(mu);
  };
  static void Run(State& s);
  // The next function, when it is due; empty: the end.
  static std::function<void()> NextDue(State& s);

  const std::shared_ptr<State> state_;
};

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_THREADS_ALARM_H_
