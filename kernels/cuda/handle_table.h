// HandleTable: the objects of a device that callers know by number.
#ifndef HAWSER_KERNELS_CUDA_HANDLE_TABLE_H_
#define HAWSER_KERNELS_CUDA_HANDLE_TABLE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "core/base/status.h"

namespace hawser::cuda {

// Objects by their handles. No handle is used twice. `what` names the kind of
// object in errors. Thread-safe.
template <typename T>
class HandleTable {
 public:
  explicit HandleTable(const char* what) : what_(what) {}

  uint64_t Add(std::shared_ptr<T> value) {
    MutexLock lock(&mu_);
    values_.emplace(next_, std::move(value));
    return next_++;
  }
  // Errors of Find and Take: kInvalidArgument for a handle without an object.
  absl::StatusOr<std::shared_ptr<T>> Find(uint64_t handle) const {
    MutexLock lock(&mu_);
    const auto found = values_.find(handle);
    if (found == values_.end()) return NoSuch(handle);
    return found->second;
  }
  absl::StatusOr<std::shared_ptr<T>> Take(uint64_t handle) {
    MutexLock lock(&mu_);
    const auto found = values_.find(handle);
    if (found == values_.end()) return NoSuch(handle);
    std::shared_ptr<T> value = std::move(found->second);
    values_.erase(found);
    return value;
  }
  void Clear() {
    absl::flat_hash_map<uint64_t, std::shared_ptr<T>> values;
    MutexLock lock(&mu_);
    values.swap(values_);
  }

 private:
  absl::Status NoSuch(uint64_t handle) const {
    return InvalidArgument("no ", what_, " ", handle, " on this device");
  }

  const char* const what_;
  mutable Mutex mu_;
  uint64_t next_ ABSL_GUARDED_BY(mu_) = 1;
  absl::flat_hash_map<uint64_t, std::shared_ptr<T>> values_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_HANDLE_TABLE_H_
