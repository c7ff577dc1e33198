// DeviceQueue: whose turn it is to compute, where several share a device.
#ifndef HAWSER_SERVER_SERVICE_DEVICE_QUEUE_H_
#define HAWSER_SERVER_SERVICE_DEVICE_QUEUE_H_

#include <cstdint>
#include <deque>
#include <functional>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "core/base/mutex.h"

namespace hawser::server {

// Work that takes a while waits here, a line per flow (a session, or the calls
// of a tenant); the next to start is that of the flow which has had the least
// of the device so far. A few run at a time, so that the device is never idle
// and nobody waits for more than these. Thread-safe.
class DeviceQueue {
 public:
  // Takes less than this: not worth a line, runs at once.
  static constexpr double kShort = 1e-3;  // seconds

  DeviceQueue(int running, size_t most_waiting)
      : slots_(running), most_waiting_(most_waiting) {}
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  // Whether work that takes so long is to wait its turn.
  static bool Lines(double seconds) { return seconds >= kShort; }

  // Calls `run` now or at its turn, then on the thread of whoever leaves;
  // Leave follows it once. `seconds`: what it is thought to take.
  // Errors: kResourceExhausted saying when to try again.
  absl::Status Enter(uint64_t flow, double seconds, std::function<void()> run);
  void Leave();

  size_t waiting() const;

 private:
  struct Waiting {
    double seconds;
    std::function<void()> run;
  };
  struct Flow {
    std::deque<Waiting> line;
    double had = 0;  // of the device, in seconds, since it was idle
  };
  // Flows whose turn may come, by what they have had.
  using Turns = absl::btree_multimap<double, uint64_t>;

  absl::Status Full() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::function<void()> TakeNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Flows that are through and owe nothing, when there are many.
  void Prune() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void StartWhatMay();

  const int slots_;
  const size_t most_waiting_;
  mutable Mutex mu_;
  absl::flat_hash_map<uint64_t, Flow> flows_ ABSL_GUARDED_BY(mu_);
  Turns turns_ ABSL_GUARDED_BY(mu_);
  // What a flow that comes anew is taken to have had: as much as the one whose
  // turn was last, or it would catch up on the time it was away.
  double now_ ABSL_GUARDED_BY(mu_) = 0;
  double waiting_seconds_ ABSL_GUARDED_BY(mu_) = 0;
  size_t waiting_ ABSL_GUARDED_BY(mu_) = 0;
  int running_ ABSL_GUARDED_BY(mu_) = 0;
  bool starting_ ABSL_GUARDED_BY(mu_) = false;  // somebody is at it
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_DEVICE_QUEUE_H_
