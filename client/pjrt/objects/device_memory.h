// DeviceMemory: what the values of this process take of a device.
#ifndef HAWSER_CLIENT_PJRT_OBJECTS_DEVICE_MEMORY_H_
#define HAWSER_CLIENT_PJRT_OBJECTS_DEVICE_MEMORY_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "core/base/mutex.h"

namespace hawser::pjrt {

// Counts values that are held by the handles of callers. Thread-safe.
class DeviceMemory : public std::enable_shared_from_this<DeviceMemory> {
 public:
  struct Figures {
    int64_t in_use = 0;
    int64_t peak = 0;     // since it was last forgotten
    int64_t values = 0;   // that there ever were
    int64_t largest = 0;  // of those
  };

  // Counts so many bytes until all copies of the result are gone.
  std::shared_ptr<const void> Hold(int64_t bytes) {
    {
      MutexLock lock(&mu_);
      figures_.in_use += bytes;
      figures_.peak = std::max(figures_.peak, figures_.in_use);
      figures_.largest = std::max(figures_.largest, bytes);
      ++figures_.values;
    }
    return std::make_shared<const Share>(shared_from_this(), bytes);
  }
  Figures figures() const {
    MutexLock lock(&mu_);
    return figures_;
  }
  void ForgetPeak() {
    MutexLock lock(&mu_);
    figures_.peak = figures_.in_use;
  }

 private:
  struct Share {
    Share(std::shared_ptr<DeviceMemory> in, int64_t how_many)
        : of(std::move(in)), bytes(how_many) {}
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() {
      MutexLock lock(&of->mu_);
      of->figures_.in_use -= bytes;
    }
    const std::shared_ptr<DeviceMemory> of;
    const int64_t bytes;
  };

  mutable Mutex mu_;
  Figures figures_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_OBJECTS_DEVICE_MEMORY_H_
