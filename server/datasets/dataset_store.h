// DatasetStore: datasets by what they hold, in memory and on disk.
#ifndef HAWSER_SERVER_DATASETS_DATASET_STORE_H_
#define HAWSER_SERVER_DATASETS_DATASET_STORE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/literal.h"
#include "core/base/memory_account.h"
#include "core/base/mutex.h"
#include "core/runtime/dataset.h"
#include "server/datasets/chunk_files.h"
#include "server/datasets/chunk_memory.h"
#include "server/datasets/disk_writer.h"
#include "server/datasets/store_options.h"
#include "server/datasets/stored_array.h"
#include "server/datasets/tenant_datasets.h"

namespace hawser::server {

class ChunkReceiver;

// A tenant is answered from its own references alone: equal bytes are stored
// once, but nobody learns what others hold. Thread-safe. Only Open, the
// Loads and Stop block.
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
  using ReceiverReady =
      std::function<void(absl::StatusOr<std::unique_ptr<ChunkReceiver>>)>;
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
  // Forgets a dataset at once; `done` comes when that survives a restart.
  // Chunks that no dataset names any more go when nobody uses them. Errors: as
  // Stat, and the disk's (the dataset may be back after a restart).
  void Delete(absl::string_view tenant, absl::string_view token,
              std::function<void(const absl::Status&)> done);

  // ---- what stays (retention.cc, names.cc). Where room is needed, durable
  // datasets are evicted, the least recently used first, unless they are pinned
  // or were used within the lease. A token may be a tag wherever one is asked
  // for. `done` comes when it survives a restart. Errors: as Stat, and the
  // disk's (it holds until a restart).
  void Pin(absl::string_view tenant, absl::string_view token,
           absl::Duration ttl, Durable done);
  // Errors: kInvalidArgument, kNotFound for the token, kAborted when it names
  // another dataset than expected, kResourceExhausted for too many.
  void Tag(absl::string_view tenant, const DatasetTag& tag,
           std::function<void(const absl::Status&)> done);
  DatasetUsage Usage(absl::string_view tenant);

  // The whole array in one piece, shared while in use; may read files. Errors:
  // kDataLoss when a chunk is damaged (put it again), kResourceExhausted.
  absl::StatusOr<Literal> Load(const StoredArray& array);
  absl::StatusOr<ChunkBytes> LoadChunk(const StoredArray& array, size_t index);
  // Those rows alone. Errors: as Load; kInvalidArgument for rows not there.
  absl::StatusOr<Literal> LoadRows(const StoredArray& array,
                                   const RowRange& rows);

  // Forgets uploads whose time is over, removes chunks that nobody names or
  // uses, tries again what could not be written, and has some of what is on
  // disk verified. Every second or so.
  void Sweep();
  // Called, without locks, when datasets were evicted for room in memory: time
  // to let go of their arrays. Before anything else is called.
  void OnEvicted(std::function<void()> let_go) { let_go_ = std::move(let_go); }
  // Writes what is queued until `deadline`.
  void Stop(absl::Time deadline);

  using Statistics = DatasetStoreStatistics;
  Statistics statistics() const;

 private:
  friend class ChunkReceiver;
  using Tenant = TenantDatasets;
  struct WaitingUpload {
    ChunkClaim claim;
    ReceiverReady ready;
  };

  explicit DatasetStore(DatasetStoreOptions options);
  absl::Status Restore();
  absl::Status RestoreDataset(DatasetRecord record, absl::Time last_used);
  void RestoreNames(NamesRecord record);

  // ---- chunks (chunk_index.cc)
  std::shared_ptr<Chunk> ChunkOf(const Digest& digest, int64_t size)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Of an upload that is heard of now.
  absl::Time UploadEnd() const { return options_.now() + options_.upload_ttl; }
  void EndUpload(Tenant& tenant, uint64_t upload)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The tenant knows it no longer; Collect removes what nobody knows or uses.
  void Forget(Tenant& tenant, const Digest& digest)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Collect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Marks a durable chunk in memory as the last to leave it.
  void Touch(Chunk& chunk) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Durable chunks leave memory, for `bytes` more of datasets or of others.
  void MakeRoom(int64_t bytes);
  void LetGo(int64_t bytes);
  absl::StatusOr<std::unique_ptr<ChunkReceiver>> Reserve(
      const ChunkClaim& claim);
  absl::Status Receive(const ChunkClaim& claim,
                       std::shared_ptr<const char> data);
  // Lets others leave memory for the array in one piece; its own chunks are
  // given back as it fills. Errors: kResourceExhausted.
  absl::Status MakeRoomToAssemble(const StoredArray& array);
  absl::StatusOr<Literal> CopyRows(const StoredArray& array,
                                   const RowBytes& part);
  absl::StatusOr<ChunkBytes> BytesOf(const std::shared_ptr<Chunk>& chunk);
  void ServeWaitingUploads();

  // ---- retention (retention.cc)
  DatasetShare ShareOf(const Tenant& tenant, const StoredDataset& dataset) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MayGo(const StoredDataset& dataset) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What may go, of `only` where it is given, the least recently used first.
  std::vector<Candidate> Evictable(const std::string* only) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool EvictOne(const Candidate& candidate, const DatasetShare& share)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Evicts until `bytes` are on their way out, of `only` where it is given:
  // its bytes, else everybody's. Returns how many are.
  int64_t Evict(int64_t bytes, const std::string* only)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Removes a dataset. Takes `done`, if any, when it waits. False: stopping.
  bool Remove(const std::string& name,
              const std::shared_ptr<StoredDataset>& dataset,
              std::function<void(const absl::Status&)>& done)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether a chunk may come: evicts where that makes room. Errors:
  // kResourceExhausted saying what the limit is and what holds it.
  absl::Status Admit(const std::string& tenant, int64_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status AdmitToTenant(const std::string& tenant, int64_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status AdmitToDisk(int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status AdmitDataset(const std::string& tenant)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void MarkUsed(StoredDataset& dataset) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // ---- names (names.cc)
  absl::Status SetTag(Tenant& tenant, const DatasetTag& tag)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // One write for all that ask before it begins. False: stopping.
  bool SaveNames(const std::string& name, NamesSaved done)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What is to be written now, and who waits for that.
  NamesRecord NamesOf(const std::string& name,
                      std::vector<NamesSaved>* waiting);

  // ---- scrubber (scrubber.cc)
  // The next files, as many as the time since the last call is for.
  void Scrub(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ListUnverified() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The bytes of it that are queued to be read; 0: it is no longer there.
  int64_t ScrubFile(const Unverified& file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  int64_t ScrubChunk(const Digest& digest) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  int64_t ScrubDataset(const std::string& name, const Digest& id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  int64_t ScrubNames(const std::string& name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FileIsBad(Chunk& chunk) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Its file, which is on disk, counts no longer.
  void TakeOffDisk(Chunk& chunk) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // ---- durability (durability.cc)
  // Has the file say when the dataset was used last, now and then.
  void NoteUse(const std::string& tenant,
               const std::shared_ptr<StoredDataset>& dataset)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WriteChunk(const std::string& tenant,
                  const std::shared_ptr<Chunk>& chunk)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The chunks that are not on disk, then the record. False: stopping.
  bool WriteDataset(const std::string& tenant,
                    const std::shared_ptr<StoredDataset>& dataset)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // On the writer's thread. A record never names chunks that are not there:
  // what a full disk refused is not found after a restart.
  absl::Status WriteRecord(const std::string& tenant,
                           const StoredDataset& dataset);
  void FinishDataset(const std::shared_ptr<StoredDataset>& dataset,
                     absl::Status status);
  bool writer_idle() const { return writer_ == nullptr || writer_->idle(); }
  // ---- datasets
  absl::Status CheckChunks(const Tenant& tenant,
                           const DatasetManifest& manifest) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes `done` when it is to wait.
  absl::Status CommitLocked(const std::string& name, uint64_t upload,
                            DatasetManifest manifest, bool wait_durable,
                            Durable& done, DatasetInfo* info)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::shared_ptr<const StoredArray> ArrayOf(Tenant& tenant,
                                             const ArrayManifest& manifest)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The arrays of dataset->manifest, whose chunks the tenant knows.
  void Name(Tenant& tenant, StoredDataset* dataset)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The other way: a deleted dataset lets go of its arrays and chunks.
  void Unname(Tenant& tenant, StoredDataset* dataset)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<std::shared_ptr<StoredDataset>> FindDataset(
      absl::string_view tenant, absl::string_view token)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const DatasetStoreOptions options_;
  ChunkMemory memory_;
  std::unique_ptr<ChunkFiles> files_;  // null: memory only
  std::function<void()> let_go_;

  mutable Mutex mu_;
  // All there are: also those nobody knows any more, while somebody uses them.
  absl::flat_hash_map<Digest, std::shared_ptr<Chunk>> chunks_
      ABSL_GUARDED_BY(mu_);
  absl::flat_hash_set<Digest> forgotten_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<Digest, std::weak_ptr<const StoredArray>> arrays_
      ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, Tenant> tenants_ ABSL_GUARDED_BY(mu_);
  // Durable chunks in memory, least recently used first.
  std::list<Chunk*> evictable_ ABSL_GUARDED_BY(mu_);
  std::deque<WaitingUpload> waiting_ ABSL_GUARDED_BY(mu_);
  absl::Status last_write_error_ ABSL_GUARDED_BY(mu_);
  // Of chunks on disk or on their way there; of those, what the writer is yet
  // to remove; of datasets being removed; what it is yet to write.
  int64_t disk_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t removing_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t evicting_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t writing_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<Unverified> to_scrub_ ABSL_GUARDED_BY(mu_);
  absl::Time scrubbed_at_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();
  double scrub_credit_ ABSL_GUARDED_BY(mu_) = 0;  // bytes to verify by now
  int64_t evicted_datasets_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t evicted_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t verified_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t received_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t shared_lookups_ ABSL_GUARDED_BY(mu_) = 0;

  const LetGoWhileAlive let_go_of_chunks_;
  // Last: its thread uses all of the above.
  std::unique_ptr<DiskWriter> writer_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_DATASET_STORE_H_
