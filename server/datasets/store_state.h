// StoreState: what the parts of a DatasetStore share.
#ifndef HAWSER_SERVER_DATASETS_STORE_STATE_H_
#define HAWSER_SERVER_DATASETS_STORE_STATE_H_

#include <cstdint>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/memory_account.h"
#include "core/base/mutex.h"
#include "server/datasets/index/catalog.h"
#include "server/datasets/storage/chunk_memory.h"
#include "server/datasets/storage/disk.h"
#include "server/datasets/store_options.h"

namespace hawser::server {

// One lock for the index and for what each part keeps beside it. Lock order:
// StoredArray::assembling, then `mu`, then those of memory and writer.
// Functions that callers pass to be called run without any of them.
struct StoreState {
  explicit StoreState(DatasetStoreOptions given)
      : options(std::move(given)),
        memory(options.memory == nullptr ? nullptr
                                         : options.memory->Own("datasets")),
        catalog(options.memory) {}

  // Memory for what is about to be remembered, until the tenant is charged for
  // it (Catalog::Tenant::Charge). Not with the lock held: what others can do
  // without is let go for it. Errors: kResourceExhausted naming the tenant,
  // what it holds and what it may.
  absl::StatusOr<MemoryCharge> Reserve(absl::string_view tenant,
                                       int64_t bytes) {
    MemoryHolderPtr payer;
    {
      MutexLock lock(&mu);
      payer = catalog.Of(tenant).payer;
    }
    if (payer == nullptr) return MemoryCharge();
    return payer->Take(MemoryUse::kIndex, bytes);
  }

  // The first line of a method that its caller calls with the lock held.
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK(mu) {}
  // Returns when an upload ends that is heard of now.
  absl::Time UploadEnd() const { return options.now() + options.upload_ttl; }

  const DatasetStoreOptions options;
  ChunkMemory memory;
  Disk disk;
  mutable Mutex mu;
  Catalog catalog ABSL_GUARDED_BY(mu);
  DatasetStoreStatistics counts ABSL_GUARDED_BY(mu);  // of what only grows
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_STORE_STATE_H_
