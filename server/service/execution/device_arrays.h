// DeviceArrays: dataset arrays where the device computes.
#ifndef HAWSER_SERVER_SERVICE_EXECUTION_DEVICE_ARRAYS_H_
#define HAWSER_SERVER_SERVICE_EXECUTION_DEVICE_ARRAYS_H_

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/digest.h"
#include "core/base/mutex.h"
#include "core/base/threads/thread_pool.h"
#include "core/runtime/client.h"
#include "server/datasets/dataset_store.h"
#include "server/session/handle_table.h"

namespace hawser::server {

// One buffer per array or rows of one, however many tokens, sessions and
// tenants name it, for as long as it is used; the last ones used stay after
// that, up to `keep_bytes`. Thread-safe.
class DeviceArrays {
 public:
  DeviceArrays(std::shared_ptr<runtime::Client> device, DatasetStore* store,
               ThreadPool* workers, int64_t keep_bytes);

  // Errors: as DatasetStore::Find.
  absl::StatusOr<std::shared_ptr<const StoredArray>> Find(
      absl::string_view tenant, absl::string_view token,
      absl::string_view array) {
    return store_->Find(tenant, token, array);
  }
  // The array, or those rows of it: at once when it is there, else read on a
  // worker's thread. Errors, in the Value: kInvalidArgument (also for rows that
  // are not there), kDataLoss, kResourceExhausted.
  Value Get(std::shared_ptr<const StoredArray> array,
            const std::optional<RowRange>& rows);

  // Lets go of kept arrays that no dataset holds any more.
  void Sweep();
  // Keeps none beyond those in use.
  void LetGoAll();

  int64_t kept_bytes() const;
  int64_t kept() const;  // arrays
  // Returns how often the index that tenants share was looked into, which takes
  // an array of the caller's own.
  int64_t shared_lookups() const;

 private:
  // The contents of a buffer: an array, and which of its rows.
  struct Part {
    Digest array;
    bool all = true;
    int64_t begin = 0;
    int64_t count = 0;

    friend bool operator==(const Part&, const Part&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Part& p) {
      return H::combine(std::move(h), p.array, p.all, p.begin, p.count);
    }
  };
  struct Slot {
    std::weak_ptr<const StoredArray> stored;
    std::weak_ptr<runtime::Buffer> buffer;
    Future<runtime::BufferPtr> loading;  // valid while it is read
    bool kept = false;
    std::list<Part>::iterator place;  // while kept, in order_
    runtime::BufferPtr hold;          // while kept
  };
  void Load(const std::shared_ptr<const StoredArray>& array, const Part& part,
            const std::shared_ptr<Promise<runtime::BufferPtr>>& promise);
  // Not kept any more; the buffer is to die outside the lock.
  runtime::BufferPtr LetGo(Slot& slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Drops unused slots when there are many.
  void Prune() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Keep(const Part& part, const runtime::BufferPtr& buffer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::shared_ptr<runtime::Client> device_;
  DatasetStore* const store_;
  ThreadPool* const workers_;
  const int64_t keep_bytes_;
  mutable Mutex mu_;
  absl::flat_hash_map<Part, Slot> slots_ ABSL_GUARDED_BY(mu_);
  std::list<Part> order_ ABSL_GUARDED_BY(mu_);  // kept; last used first
  int64_t kept_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t shared_lookups_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_EXECUTION_DEVICE_ARRAYS_H_
