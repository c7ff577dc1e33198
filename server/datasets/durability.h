// Durability: makes the datasets of a store outlive the process.
#ifndef HAWSER_SERVER_DATASETS_DURABILITY_H_
#define HAWSER_SERVER_DATASETS_DURABILITY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/memory_account.h"
#include "server/datasets/store_state.h"

namespace hawser::server {

// In bytes of chunks.
struct DiskUse {
  int64_t held = 0;         // on disk or on their way there
  int64_t removing = 0;     // of these, what the writer is yet to remove
  int64_t evicting = 0;     // of datasets whose records the writer is to remove
  int64_t writing = 0;      // what the writer is yet to write
  absl::Status last_write;  // of a chunk
};

// Queues what is to be written and removed, in an order that leaves whole
// datasets behind whenever the process dies: a record is written after its
// chunks and removed before them. Methods are called with the store's lock
// held; what they queue takes it on the writer's thread.
class Durability {
 public:
  using Done = std::function<void(const absl::Status&)>;

  explicit Durability(StoreState* state) : state_(*state) {}

  const DiskUse& use() const;

  // Fills the catalog with what the files say. Called before the writer is
  // there.
  void Restore(ChunkFiles::Contents contents);
  // Nothing is done without a disk, for a chunk that is there or on its way,
  // and for one that is not in memory.
  void WriteChunk(const std::string& tenant,
                  const std::shared_ptr<Chunk>& chunk);
  // Queues the chunks that are not on disk, then the record. False: stopping.
  bool WriteDataset(const std::string& tenant,
                    const std::shared_ptr<StoredDataset>& dataset);
  // Removes a dataset: it is there until its record is gone for good, and
  // stays when that fails. Takes `done`, if any, where that waits for the disk.
  // False, and nothing has changed: stopping.
  bool RemoveDataset(const std::string& tenant,
                     const std::shared_ptr<StoredDataset>& dataset, Done& done);
  // Makes a change of a tenant's tags or pins once it is on disk, together
  // with all that come before the write begins; one whose write fails is not
  // made. If a change is refused for one that is not decided yet, the answer
  // waits for it. Returns what `change.done` is to be told now; nothing: it is
  // told later.
  std::optional<absl::Status> ChangeNames(const std::string& tenant,
                                          NameChange change);
  // Writes a file of names again that is not as it should be.
  void RewriteNames(const std::string& tenant);
  // Removes the chunks that no tenant knows and nothing uses.
  void Collect();
  // Writes to the files when datasets were used last, now and then, and tries
  // again what could not be written.
  void Refresh(absl::Time now);

  // The file of a chunk that is on disk counts no longer; if the chunk is in
  // memory, it is written again. FileIsBad also counts a bad file.
  void TakeOffDisk(Chunk& chunk);
  void FileIsBad(Chunk& chunk);

 private:
  // Its chunks are held until `end`, if it is left out.
  absl::Status RestoreDataset(ChunkFiles::Contents::Dataset dataset,
                              absl::Time end);
  void RestoreNames(NamesRecord record);
  void RemoveFile(const Chunk& chunk);
  void NoteUse(const std::string& tenant,
               const std::shared_ptr<StoredDataset>& dataset);

  // Charges a write as long as it is queued.
  std::shared_ptr<const MemoryCharge> ChargeTask(const std::string& tenant);

  // Runs on the writer's thread, without the lock.
  absl::Status WriteRecord(const std::string& tenant,
                           const StoredDataset& dataset);
  void FinishChunk(const std::weak_ptr<Chunk>& weak, int64_t bytes,
                   const absl::Status& status);
  void FinishDataset(const std::shared_ptr<StoredDataset>& dataset,
                     absl::Status status);
  void FinishRemoval(const std::string& tenant,
                     const std::shared_ptr<StoredDataset>& dataset,
                     const DatasetShare& share, const Done& done,
                     const absl::Status& removed);
  // Queues a write of names. False: stopping.
  bool SaveNames(const std::string& tenant);
  absl::Status WriteNames(const std::string& tenant);
  void FinishNames(const std::string& tenant, const absl::Status& saved);

  StoreState& state_;
  DiskUse use_ ABSL_GUARDED_BY(state_.mu);
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_DURABILITY_H_
