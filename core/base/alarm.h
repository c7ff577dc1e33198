// Alarm: one thread that calls functions at given times.
#ifndef HAWSER_CORE_BASE_ALARM_H_
#define HAWSER_CORE_BASE_ALARM_H_

#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"

namespace hawser {

// Functions run one at a time, earliest first, on the alarm's own thread,
// which starts with the first of them. The destructor drops what has not
// started and waits for what has. Thread-safe.
class Alarm {
 public:
  using Id = std::pair<absl::Time, uint64_t>;

  Alarm() = default;
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  Id At(absl::Time when, std::function<void()> fn);
  Id Soon(std::function<void()> fn) { return At(absl::Now(), std::move(fn)); }
  // False when it has started already or never was.
  bool Cancel(const Id& id);

 private:
  void Run();

  Mutex mu_;
  CondVar changed_;
  std::map<Id, std::function<void()>> waiting_ ABSL_GUARDED_BY(mu_);
  uint64_t next_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_ALARM_H_
