// DatasetStore: datasets by what they hold, in memory and on disk.
#ifndef HAWSER_SERVER_DATASETS_DATASET_STORE_H_
#define HAWSER_SERVER_DATASETS_DATASET_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/memory_account.h"
#include "core/base/values/literal.h"
#include "core/runtime/dataset.h"
#include "server/datasets/array_reader.h"
#include "server/datasets/durability.h"
#include "server/datasets/retention.h"
#include "server/datasets/scrubber.h"
#include "server/datasets/store_options.h"
#include "server/datasets/store_state.h"
#include "server/datasets/uploads.h"

namespace hawser::server {

// A tenant is answered from its own references alone: equal bytes are stored
// once, but no tenant learns what others hold. Thread-safe. Only Open, the
// Loads and Stop block.
//
// All that is known lies in `state_.catalog`; a part beside it has one thing to
// do with it each, and says what it keeps for that. `state_.mu` guards all of
// it (store_state.h has the order of locks).
class DatasetStore {
 public:
  using Durable = StoredDataset::Durable;

  // Rebuilds the index from the files of data_dir. Errors:
  // kFailedPrecondition when the folder cannot be used.
  static absl::StatusOr<std::unique_ptr<DatasetStore>> Open(
      DatasetStoreOptions options);
  ~DatasetStore();

  // ---- uploads. Each has a number of its client's choice; what was sent or
  // found under it stays until its Commit, or upload_ttl after it was heard of.

  // Indices of the digests this tenant would have to upload. Errors:
  // kResourceExhausted for more than uploads may hold.
  absl::StatusOr<std::vector<uint32_t>> FindMissing(
      absl::string_view tenant, uint64_t upload,
      absl::Span<const Digest> digests);

  // Calls `ready` with room for one chunk: at once, or when the writer has
  // made some. Errors: kInvalidArgument for a size that is no chunk's,
  // kResourceExhausted saying what holds the memory.
  using ReceiverReady = Uploads::ReceiverReady;
  void BeginChunk(absl::string_view tenant, uint64_t upload,
                  const Digest& digest, uint64_t bytes, ReceiverReady ready);

  // Names a dataset whose chunks are there; the upload ends. `done` comes at
  // once, or with `wait_durable` when it survives a restart; also at once
  // without a data_dir, as info.durable says. Errors: kInvalidArgument,
  // kFailedPrecondition naming the first chunk that is missing,
  // kResourceExhausted (the disk is full; the dataset is there, in memory).
  void Commit(absl::string_view tenant, uint64_t upload,
              DatasetManifest manifest, bool wait_durable, Durable done);

  // Errors: kInvalidArgument for what is no token, kNotFound.
  absl::StatusOr<DatasetInfo> Stat(absl::string_view tenant,
                                   absl::string_view token);
  // The digests of its chunks too.
  absl::StatusOr<DatasetManifest> Manifest(absl::string_view tenant,
                                           absl::string_view token);
  absl::StatusOr<std::shared_ptr<const StoredArray>> Find(
      absl::string_view tenant, absl::string_view token,
      absl::string_view array);
  // The tenant's datasets, a page of at most 1000.
  DatasetPage List(absl::string_view tenant, const DatasetQuery& query);
  // Forgets a dataset: it is there until that survives a restart, and then
  // `done` comes. Chunks that no dataset names any more go when nothing uses
  // them. Errors: as Stat, and the disk's (the dataset is still there).
  void Delete(absl::string_view tenant, absl::string_view token,
              std::function<void(const absl::Status&)> done);

  // A verb of core/runtime/dataset.h; `done` comes once, at once or when what
  // it says survives a restart. Errors: the verb's own.
  void Answer(absl::string_view tenant, const DatasetVerb& verb,
              std::function<void(const absl::StatusOr<DatasetAnswer>&)> done);

  // ---- what stays. If room is needed, durable datasets are evicted, the least
  // recently used first, unless they are pinned or were used within the lease.
  // A token may be a tag wherever one is asked for. A change by these is seen
  // once it survives a restart, and then `done` comes; an answer that a change
  // under way decides waits for it. Errors: as Stat, and the disk's (nothing
  // has changed).
  void Pin(absl::string_view tenant, absl::string_view token,
           absl::Duration ttl, Durable done);
  // Errors: kInvalidArgument, kNotFound for the token, kAborted when it names
  // another dataset than expected, kResourceExhausted for too many.
  void Tag(absl::string_view tenant, const DatasetTag& tag,
           std::function<void(const absl::Status&)> done);
  DatasetUsage Usage(absl::string_view tenant);

  // The whole array in one piece, shared while in use; may read files. Errors:
  // kDataLoss when a chunk is damaged (put it again), kResourceExhausted.
  absl::StatusOr<Literal> Load(const StoredArray& array) {
    return reader_.Load(array);
  }
  absl::StatusOr<ChunkBytes> LoadChunk(const StoredArray& array, size_t index) {
    return reader_.LoadChunk(array, index);
  }
  // Loads those rows alone. Errors: as Load; kInvalidArgument for rows not
  // there.
  absl::StatusOr<Literal> LoadRows(const StoredArray& array,
                                   const RowRange& rows) {
    return reader_.LoadRows(array, rows);
  }

  // Forgets uploads whose time is over, removes chunks that no tenant knows and
  // nothing uses, tries again what could not be written, and has some of what
  // is on disk verified. To be called every second or so.
  void Sweep();
  // Called, without locks, when datasets were evicted for room in memory: time
  // to let go of their arrays. Before anything else is called.
  void OnEvicted(std::function<void()> let_go) {
    uploads_.OnEvicted(std::move(let_go));
  }
  // Writes what is queued until `deadline`.
  void Stop(absl::Time deadline);

  using Statistics = DatasetStoreStatistics;
  Statistics statistics() const;

 private:
  struct Verbs;  // one function for each

  explicit DatasetStore(DatasetStoreOptions options);
  absl::Status OpenDisk();
  void LetGo(int64_t bytes);
  // Takes `done` when it is to wait.
  absl::StatusOr<DatasetInfo> CommitLocked(const std::string& tenant,
                                           uint64_t upload,
                                           DatasetManifest manifest,
                                           bool wait_durable, Durable& done)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);

  StoreState state_;
  Durability durability_ ABSL_GUARDED_BY(state_.mu){&state_};
  Retention retention_ ABSL_GUARDED_BY(state_.mu){&state_, &durability_};
  Scrubber scrubber_ ABSL_GUARDED_BY(state_.mu){&state_, &durability_};
  Uploads uploads_{&state_, &durability_, &retention_};
  ArrayReader reader_{&state_, &durability_, &retention_};
  const LetGoWhileAlive let_go_of_chunks_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_DATASET_STORE_H_
