// Durability: has what a store keeps outlive the process.
#ifndef HAWSER_SERVER_DATASETS_DURABILITY_H_
#define HAWSER_SERVER_DATASETS_DURABILITY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
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

  // Fills the catalog with what the files say. Before the writer is there.
  void Restore(ChunkFiles::Contents contents);
  // Nothing is done without a disk, for a chunk that is there or on its way,
  // and for one that is not in memory.
  void WriteChunk(const std::string& tenant,
                  const std::shared_ptr<Chunk>& chunk);
  // The chunks that are not on disk, then the record. False: stopping.
  bool WriteDataset(const std::string& tenant,
                    const std::shared_ptr<StoredDataset>& dataset);
  // Takes a dataset out of the catalog, and takes `done`, if any, where that
  // waits for the disk. False, and nothing has changed: stopping.
  bool RemoveDataset(const std::string& tenant,
                     const std::shared_ptr<StoredDataset>& dataset, Done& done);
  // Writes the tags and pins of a tenant: one write for all that ask before it
  // begins. False: stopping.
  bool SaveNames(const std::string& tenant, NamesSaved done);
  // Removes the chunks that no tenant knows and nothing uses.
  void Collect();
  // Has the files say when datasets were used last, now and then, and tries
  // again what could not be written.
  void Refresh(absl::Time now);

  // The file of a chunk that is on disk counts no longer; what is in memory of
  // it is written again. FileIsBad also counts a bad file.
  void TakeOffDisk(Chunk& chunk);
  void FileIsBad(Chunk& chunk);

 private:
  absl::Status RestoreDataset(ChunkFiles::Contents::Dataset dataset);
  void RestoreNames(NamesRecord record);
  void RemoveFile(const Chunk& chunk);
  void NoteUse(const std::string& tenant,
               const std::shared_ptr<StoredDataset>& dataset);

  // On the writer's thread, without the lock.
  absl::Status WriteRecord(const std::string& tenant,
                           const StoredDataset& dataset);
  void FinishChunk(const std::weak_ptr<Chunk>& weak, int64_t bytes,
                   const absl::Status& status);
  void FinishDataset(const std::shared_ptr<StoredDataset>& dataset,
                     absl::Status status);
  void FinishRemoval(const std::string& tenant,
                     const std::shared_ptr<StoredDataset>& dataset,
                     const DatasetShare& share, const absl::Status& removed);
  // What is to be written now, and `waiting` for it.
  NamesRecord NamesOf(const std::string& tenant,
                      std::vector<NamesSaved>* waiting);

  StoreState& state_;
  DiskUse use_ ABSL_GUARDED_BY(state_.mu);
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_DURABILITY_H_
