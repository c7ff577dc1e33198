// TenantDatasets: what a store knows of one tenant.
#ifndef HAWSER_SERVER_DATASETS_TENANT_DATASETS_H_
#define HAWSER_SERVER_DATASETS_TENANT_DATASETS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/digest.h"
#include "server/datasets/stored_array.h"

namespace hawser::server {

struct KnownChunk {
  std::shared_ptr<Chunk> chunk;
  int64_t named = 0;  // how often, by the tenant's datasets
  int64_t held = 0;   // by how many of its uploads
  // Goes with a dataset that is being removed, unless it is wanted again.
  bool leaving = false;
};

// The number of none that a client has: of the chunks that were on disk when
// the server started.
constexpr uint64_t kBeforeTheStart = 0;

// One put on its way. What its client has sent, or was told is here, stays
// though no dataset names it.
struct Upload {
  absl::Time expires;  // unless it is heard of before
  absl::flat_hash_set<Digest> chunks;
};

// What a chunk on its way in says it is, and for which upload.
struct ChunkClaim {
  std::string tenant;
  uint64_t upload = 0;
  Digest digest;
  int64_t size = 0;
};

// What goes with a dataset.
struct DatasetShare {
  std::vector<Digest> chunks;  // that its tenant will not know any more
  int64_t tenant = 0;          // of its tenant's bytes: those
  int64_t store = 0;           // of what all tenants hold
};

// A dataset that may be evicted.
struct Candidate {
  std::string tenant;
  std::shared_ptr<StoredDataset> dataset;
};

// Told whether what a tenant names has been written.
using NamesSaved = std::function<void(const absl::Status&)>;

// Guarded by the store's lock.
struct TenantDatasets {
  // The upload is heard of: it goes on until `expires`, and the chunk stays as
  // long as it does.
  void Hold(uint64_t upload, const std::shared_ptr<Chunk>& chunk,
            absl::Time expires);
  // The upload is heard of, if there is one.
  void Hear(uint64_t upload, absl::Time expires);
  bool Holds(uint64_t upload, const Digest& digest) const;
  // Whether uploads may hold `more`. Errors: kResourceExhausted.
  absl::Status AdmitHolds(int64_t more, int64_t most) const;
  // These return the chunks that no upload holds and no dataset names any more.
  std::vector<Digest> EndUpload(uint64_t upload);
  // Of what was there before the start, only what no dataset names and nobody
  // else has is held.
  std::vector<Digest> ReleaseNamed();
  // A dataset names a chunk that is known.
  void Name(const Digest& digest);
  // The other way; whether nothing needs it any more.
  bool Unname(const Digest& digest);
  // The chunks of a dataset whose removal begins or has ended.
  void Leave(const DatasetShare& share);
  void StopLeaving(const DatasetShare& share);

  absl::flat_hash_map<Digest, KnownChunk> chunks;
  absl::flat_hash_map<uint64_t, Upload> uploads;
  int64_t holds = 0;  // of chunks by uploads
  absl::flat_hash_map<Digest, std::shared_ptr<StoredDataset>> datasets;
  absl::btree_map<std::string, Digest> tags;
  bool names_saved = false;  // tags and pins have a file
  // Who waits for the write that is queued and has not begun.
  std::vector<NamesSaved> saving;
  int64_t bytes = 0;         // of chunks
  int64_t unnamed = 0;       // of those, that no dataset names
  int64_t leaving = 0;       // of those, with datasets that are being removed

 private:
  void Stay(KnownChunk& known);
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_TENANT_DATASETS_H_
