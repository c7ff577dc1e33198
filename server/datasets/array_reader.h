// ArrayReader: the bytes of stored arrays, from memory and from the disk.
#ifndef HAWSER_SERVER_DATASETS_ARRAY_READER_H_
#define HAWSER_SERVER_DATASETS_ARRAY_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/values/literal.h"
#include "core/runtime/dataset.h"
#include "server/datasets/durability.h"
#include "server/datasets/retention.h"
#include "server/datasets/store_state.h"

namespace hawser::server {

// An array that is read stays in memory like one that was received, and leaves
// it like that. Thread-safe: methods are called without the store's lock, and
// block.
class ArrayReader {
 public:
  ArrayReader(StoreState* state, Durability* durability, Retention* retention)
      : state_(*state), durability_(durability), retention_(retention) {}

  // The same as DatasetStore's.
  absl::StatusOr<Literal> Load(const StoredArray& array);
  absl::StatusOr<ChunkBytes> LoadChunk(const StoredArray& array, size_t index);
  absl::StatusOr<Literal> LoadRows(const StoredArray& array,
                                   const RowRange& rows);

 private:
  absl::StatusOr<ChunkBytes> BytesOf(const std::shared_ptr<Chunk>& chunk);
  absl::StatusOr<Literal> CopyRows(const StoredArray& array,
                                   const RowBytes& part);
  // Lets others leave memory for the array in one piece; its own chunks are
  // given back as it fills. Errors: kResourceExhausted.
  absl::Status MakeRoomToAssemble(const StoredArray& array);
  void MakeRoom(int64_t bytes);

  StoreState& state_;
  Durability* const durability_ ABSL_PT_GUARDED_BY(state_.mu);
  Retention* const retention_ ABSL_PT_GUARDED_BY(state_.mu);
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_ARRAY_READER_H_
