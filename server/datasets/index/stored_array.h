// The store keeps chunks, arrays of chunks, datasets of arrays.
#ifndef HAWSER_SERVER_DATASETS_INDEX_STORED_ARRAY_H_
#define HAWSER_SERVER_DATASETS_INDEX_STORED_ARRAY_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/digest.h"
#include "core/base/mutex.h"
#include "core/base/values/shape.h"
#include "core/runtime/dataset.h"

namespace hawser::server {

// These are never evicted; errors say so when they hold the space.
inline constexpr absl::string_view kWhatStays =
    "datasets that are pinned, used within the lease or not durable yet, and "
    "uploads";

// Bytes and what keeps them alive.
struct ChunkBytes {
  std::shared_ptr<const char> data;
  int64_t size = 0;
};

// `on_disk` implies `written`. Everything but digest and size is guarded by
// the store's lock.
struct Chunk {
  const Digest digest;
  const int64_t size;
  // In memory, maybe as a part of an assembled array; null: on disk only, or
  // (with on_disk false) lost, to be uploaded again.
  std::shared_ptr<const char> data;
  bool on_disk = false;
  bool written = false;  // on disk, or there for the next flush
  // Written or read back by this process; else all that is known of the file
  // is its header and its size.
  bool verified = false;
  bool writing = false;
  absl::Status write_error;  // of the last attempt
  int references = 0;        // tenants that know it
  // Its place among the chunks that may leave memory (ChunkTable).
  std::list<Chunk*>::iterator place;
  bool placed = false;

  Chunk(const Digest& digest, int64_t size) : digest(digest), size(size) {}
  bool lost() const { return data == nullptr && !on_disk; }
};

// An array by content, shared by all datasets that hold it.
struct StoredArray {
  Digest id;
  Shape shape;
  std::vector<std::shared_ptr<Chunk>> chunks;

  // One thread assembles, others wait for it.
  mutable Mutex assembling;
  mutable std::weak_ptr<const char> whole ABSL_GUARDED_BY(assembling);
};

// One tenant's dataset; guarded by the store's lock but for the manifest,
// which never changes.
struct StoredDataset {
  using Durable = std::function<void(absl::StatusOr<DatasetInfo>)>;
  DatasetManifest manifest;
  DatasetInfo info;                          // but for `durable`, which changes
  absl::Time marked = absl::InfinitePast();  // last_used, as the file has it
  std::vector<std::shared_ptr<const StoredArray>> arrays;  // as in manifest
  bool on_disk = false;  // the record; IsDurable asks the chunks too
  int writes = 0;        // queued ones of the record
  // The writer is to remove the record: it is there until that is done.
  bool removing = false;
  // Deletions that came while it was being removed.
  std::vector<std::function<void(const absl::Status&)>> removals;
  int pinning = 0;  // changes of its pin that are on their way to the disk
  absl::Time tried_at = absl::InfinitePast();
  std::vector<Durable> waiting;

  bool IsDurable() const;
  // OK when all its chunks are written; if not, the cause, once everything
  // was tried: the disk's words, or kDataLoss for a chunk that was damaged.
  absl::Status WhyNotWritten() const;
  // Something of it is here that is neither on disk nor on its way.
  bool NeedsWrite() const;
  DatasetInfo Info() const;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_INDEX_STORED_ARRAY_H_
