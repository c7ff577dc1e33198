// EventLoop: one thread that runs tasks in the order they are due.
#ifndef HAWSER_TESTS_TESTING_IN_PROCESS_EVENT_LOOP_H_
#define HAWSER_TESTS_TESTING_IN_PROCESS_EVENT_LOOP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"

namespace hawser {

// Thread-safe. Stands for a thread of gRPC: tasks must not wait for others.
class EventLoop {
 public:
  EventLoop() : thread_([this] { Run(); }) {}
  ~EventLoop() { Stop(); }

  void Post(std::function<void()> task) {
    PostAt(absl::Now(), std::move(task));
  }
  // Tasks of the same time run in the order they came. Once the loop has
  // stopped the task runs here and now, so that a thread that waits for it goes
  // on.
  void PostAt(absl::Time when, std::function<void()> task);
  // Runs what is queued at once and ends the thread. Not on that thread.
  void Stop();
  bool OnItsThread() const {
    return std::this_thread::get_id() == thread_.get_id();
  }

 private:
  void Run();

  using Key = std::pair<absl::Time, uint64_t>;
  Mutex mu_;
  CondVar changed_;
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t posted_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<Key, std::function<void()>> tasks_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_IN_PROCESS_EVENT_LOOP_H_
