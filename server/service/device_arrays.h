// DeviceArrays: dataset arrays where the device computes.
#ifndef HAWSER_SERVER_SERVICE_DEVICE_ARRAYS_H_
#define HAWSER_SERVER_SERVICE_DEVICE_ARRAYS_H_

#include <cstdint>
#include <list>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "core/base/digest.h"
#include "core/base/mutex.h"
#include "core/runtime/client.h"
#include "server/datasets/dataset_store.h"
#include "server/service/worker_pool.h"
#include "server/session/handle_table.h"

namespace hawser::server {

// One buffer per array, however many tokens, sessions and tenants name it,
// for as long as anybody uses it; the last ones used stay a while longer, up
// to `keep_bytes`. Thread-safe.
class DeviceArrays {
 public:
  DeviceArrays(std::shared_ptr<runtime::Client> device, DatasetStore* store,
               WorkerPool* workers, int64_t keep_bytes);

  // The array: at once when it is there, else read on a worker's thread.
  // Errors, in the Value: kInvalidArgument, kNotFound (also for a token that
  // is not this tenant's), kDataLoss, kResourceExhausted.
  Value Get(absl::string_view tenant, absl::string_view token,
            absl::string_view array);

  int64_t kept_bytes() const;
  // How often what tenants share was looked into, which takes an array of
  // one's own.
  int64_t shared_lookups() const;

 private:
  struct Slot {
    std::weak_ptr<runtime::Buffer> buffer;
    Future<runtime::BufferPtr> loading;  // valid while it is read
    bool kept = false;
    std::list<Digest>::iterator place;  // while kept, in order_
    runtime::BufferPtr hold;            // while kept
  };
  void Load(const std::shared_ptr<const StoredArray>& array,
            const std::shared_ptr<Promise<runtime::BufferPtr>>& promise);
  void Keep(const Digest& id, const runtime::BufferPtr& buffer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::shared_ptr<runtime::Client> device_;
  DatasetStore* const store_;
  WorkerPool* const workers_;
  const int64_t keep_bytes_;
  mutable Mutex mu_;
  absl::flat_hash_map<Digest, Slot> slots_ ABSL_GUARDED_BY(mu_);
  std::list<Digest> order_ ABSL_GUARDED_BY(mu_);  // kept; last used first
  int64_t kept_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t shared_lookups_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_DEVICE_ARRAYS_H_
