// RunningCalls: which calls are under way, by their clients' numbers.
#ifndef HAWSER_SERVER_SERVICE_EXECUTION_RUNNING_CALLS_H_
#define HAWSER_SERVER_SERVICE_EXECUTION_RUNNING_CALLS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "core/base/mutex.h"

namespace hawser::server {

// A client asks on its session whether a call of its own is still worked on: a
// stateless one, or one to Datasets that waits for the disk. Number 0 stands for calls without one, which are not kept. Thread-safe.
class RunningCalls {
 public:
  void Begin(absl::string_view tenant, uint64_t number) {
    if (number == 0) return;
    MutexLock lock(&mu_);
    ++running_[{std::string(tenant), number}];
  }
  void End(absl::string_view tenant, uint64_t number) {
    if (number == 0) return;
    MutexLock lock(&mu_);
    const auto at = running_.find({std::string(tenant), number});
    if (at != running_.end() && --at->second == 0) running_.erase(at);
  }
  bool Has(absl::string_view tenant, uint64_t number) const {
    MutexLock lock(&mu_);
    return running_.contains({std::string(tenant), number});
  }

 private:
  mutable Mutex mu_;
  // The number of calls with that number: a client may use one twice.
  absl::flat_hash_map<std::pair<std::string, uint64_t>, int> running_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_EXECUTION_RUNNING_CALLS_H_
