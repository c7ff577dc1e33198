// TenantChunks: the chunks that one tenant knows, and why it keeps them.
#ifndef HAWSER_SERVER_DATASETS_INDEX_TENANT_CHUNKS_H_
#define HAWSER_SERVER_DATASETS_INDEX_TENANT_CHUNKS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/digest.h"
#include "core/runtime/dataset.h"
#include "server/datasets/index/stored_array.h"

namespace hawser::server {

// The number of an upload that no client has: it holds the chunks that were on
// disk when the server started.
constexpr uint64_t kBeforeTheStart = 0;

// The things that go with a dataset.
struct DatasetShare {
  std::vector<Digest> chunks;  // that its tenant will not know any more
  int64_t tenant = 0;          // of its tenant's bytes: those
  int64_t store = 0;           // of what all tenants hold
};

// A known chunk is one that a dataset of the tenant names or an upload holds;
// it has one of the chunk's references. `bytes` are of all of them, `unnamed`
// of those that no dataset names, `leaving` of those that go with datasets
// being removed. Guarded by the store's lock.
class TenantChunks {
 public:
  // Chunks that the tenant knows no longer; their references are the caller's
  // to give back (ChunkTable::Release).
  using Forgotten = std::vector<std::shared_ptr<Chunk>>;

  // The bytes that an upload's hold of a chunk, and a chunk with its hold, add
  // to index_bytes.
  static constexpr int64_t kHoldBytes = 84;
  static constexpr int64_t kChunkIndexBytes = 640;

  int64_t bytes() const { return bytes_; }
  // Memory for what is known of chunks and uploads, as far as it is this
  // tenant's; a chunk that others know as well counts for each.
  int64_t index_bytes() const;
  int64_t unnamed() const { return unnamed_; }
  int64_t leaving() const { return leaving_; }
  // The bytes of chunks that were damaged or are missing.
  int64_t lost_bytes() const;
  bool Knows(const Digest& digest) const { return chunks_.contains(digest); }

  // ---- uploads: puts on their way. A chunk that a client has sent under an
  // upload's number, or was told is here, stays though no dataset names it.

  // The upload, if there is one, goes on until `expires`.
  void Hear(uint64_t upload, absl::Time expires);
  // The upload begins or goes on until `expires`, and keeps the chunk.
  void Hold(uint64_t upload, const std::shared_ptr<Chunk>& chunk,
            absl::Time expires);
  bool Holds(uint64_t upload, const Digest& digest) const;
  // Checks that uploads may hold `more`. Errors: kResourceExhausted.
  absl::Status AdmitHolds(int64_t more, int64_t most) const;
  // Makes the upload hold those of `digests` that are here, and returns the
  // indices of the others. Errors: as AdmitHolds; then nothing has changed.
  absl::StatusOr<std::vector<uint32_t>> HoldKnown(
      uint64_t upload, absl::Span<const Digest> digests, absl::Time expires,
      int64_t most);
  Forgotten EndUpload(uint64_t upload);
  Forgotten EndUploads(absl::Time now);  // whose time is over
  // Lets go of what was there before the start, but for chunks that no dataset
  // names and no other tenant knows.
  Forgotten ReleaseNamed();

  // ---- datasets
  // Checks that a dataset of these chunks can be named. Errors:
  // kFailedPrecondition for one that is not here, kInvalidArgument.
  absl::Status Check(const DatasetManifest& manifest) const;
  // A dataset names its chunks, all of which are known; names them no longer.
  void Name(const DatasetManifest& manifest);
  Forgotten Unname(const DatasetManifest& manifest);
  // Returns what would go with a dataset that is named.
  DatasetShare ShareOf(const DatasetManifest& manifest) const;
  // The removal of a dataset begins, has ended.
  void Leave(const DatasetShare& share);
  void StopLeaving(const DatasetShare& share);

 private:
  struct Known {
    std::shared_ptr<Chunk> chunk;
    int64_t named = 0;  // how often, by the tenant's datasets
    int64_t held = 0;   // by how many of its uploads
    // Goes with a dataset that is being removed, unless it is wanted again.
    bool leaving = false;
  };
  struct Upload {
    absl::Time expires;
    absl::flat_hash_set<Digest> chunks;
  };

  void Stay(Known& known);
  void Forget(const Digest& digest, Forgotten& out);

  absl::flat_hash_map<Digest, Known> chunks_;
  absl::flat_hash_map<uint64_t, Upload> uploads_;
  int64_t holds_ = 0;  // of chunks by uploads
  int64_t bytes_ = 0;
  int64_t unnamed_ = 0;
  int64_t leaving_ = 0;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_INDEX_TENANT_CHUNKS_H_
