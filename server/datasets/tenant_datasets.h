// TenantDatasets: what a store knows of one tenant.
#ifndef HAWSER_SERVER_DATASETS_TENANT_DATASETS_H_
#define HAWSER_SERVER_DATASETS_TENANT_DATASETS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "core/base/digest.h"
#include "server/datasets/stored_array.h"

namespace hawser::server {

struct KnownChunk {
  std::shared_ptr<Chunk> chunk;
  int64_t named = 0;  // how often, by the tenant's datasets
};

// What stays though no dataset names it: clients uploaded it, or were told that
// it is here.
struct Upload {
  absl::Time expires;
  int commits = 0;  // that are to come, one of each of them
};

// Guarded by the store's lock.
struct TenantDatasets {
  absl::flat_hash_map<Digest, KnownChunk> chunks;
  absl::flat_hash_map<Digest, Upload> uploads;
  absl::flat_hash_map<Digest, std::shared_ptr<StoredDataset>> datasets;
  absl::btree_map<std::string, Digest> tags;
  bool names_saved = false;  // tags and pins have a file
  int64_t bytes = 0;         // of chunks
  int64_t leaving = 0;       // of those, with datasets that are being removed
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_TENANT_DATASETS_H_
