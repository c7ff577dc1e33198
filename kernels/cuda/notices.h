// Notices: functions to be called when a stream has done the work before them.
#ifndef HAWSER_KERNELS_CUDA_NOTICES_H_
#define HAWSER_KERNELS_CUDA_NOTICES_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "core/base/mutex.h"

namespace hawser::cuda {

// Each function is called once, by the first thread that takes it, or removed.
// Thread-safe.
class Notices {
 public:
  using Function = std::function<void(absl::Status)>;

  uint64_t Add(Function done) {
    MutexLock lock(&mu_);
    waiting_.emplace(next_, std::move(done));
    return next_++;
  }
  // Drops a function that was not queued, without calling it.
  void Remove(uint64_t id) { Take(id); }
  void Fire(uint64_t id, const absl::Status& status) {
    if (const Function done = Take(id)) done(status);
  }
  void FireAll(const absl::Status& status) {
    absl::flat_hash_map<uint64_t, Function> waiting;
    {
      MutexLock lock(&mu_);
      waiting.swap(waiting_);
    }
    for (const auto& [id, done] : waiting) done(status);
  }

 private:
  Function Take(uint64_t id) {
    MutexLock lock(&mu_);
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return nullptr;
    Function done = std::move(found->second);
    waiting_.erase(found);
    return done;
  }

  Mutex mu_;
  uint64_t next_ ABSL_GUARDED_BY(mu_) = 1;
  absl::flat_hash_map<uint64_t, Function> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_NOTICES_H_
