// DatasetPut: sends what a server lacks of one dataset.
#ifndef HAWSER_CLIENT_REMOTE_DATASETS_DATASET_PUT_H_
#define HAWSER_CLIENT_REMOTE_DATASETS_DATASET_PUT_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/remote/datasets/chunk_groups.h"
#include "client/remote/link/options.h"
#include "client/remote/link/transport.h"
#include "client/remote/session/remote_link.h"
#include "core/base/digest.h"
#include "core/base/mutex.h"
#include "core/base/random.h"
#include "core/base/threads/cancel.h"
#include "core/runtime/client.h"
#include "core/runtime/dataset.h"

namespace hawser {

// Used once, by one thread, which Run blocks. Several workers each take some
// chunks in a row, hash them, ask which of them are missing and send those: one
// hashes while another's are on their way or being checked over there.
class DatasetPut {
 public:
  // `source` is normalized and outlives this.
  DatasetPut(RemoteLink* link, const DatasetSource& source,
             const runtime::CallOptions& call);
  absl::StatusOr<DatasetInfo> Run();

 private:
  struct Chunk {
    ChunkToPut put;  // without bytes before a lazy value is made
    int64_t size = 0;
  };
  using Chunks = absl::Span<Chunk>;
  struct LazyArray {
    const DatasetSource::Array* array;
    size_t first;  // of its chunks
  };

  // The bytes of chunk `index` of its array.
  static void Place(const Literal& value, int64_t index, Chunk* chunk);
  // Indices of those that the server lacks.
  absl::StatusOr<std::vector<uint32_t>> Missing(
      absl::Span<const Digest> digests);
  // Asks which of the values whose digests are known are there already: one
  // question.
  absl::Status AskForKnown();
  bool AllAreThere(Chunks chunks);
  // Sends the chunks of one stage; its lazy values are there only meanwhile.
  absl::Status SendStage(size_t begin, size_t end);
  Chunks ChunksOf(const LazyArray& lazy);
  // Makes a lazy value, if the server lacks a chunk of it.
  absl::Status MakeValue(const LazyArray& lazy);
  // Sends chunks [begin, end), by all workers that have one.
  absl::Status SendAll(size_t begin, size_t end);
  // Sends groups until all are taken: the loop of one worker.
  absl::Status SendGroups();
  absl::Status SendGroup(Chunks group);
  absl::Status SendOnOneStream(absl::Span<const ChunkToPut> chunks);
  // Errors: kAborted naming a file whose bytes changed.
  absl::Status CheckSources(Chunks chunks) const;
  absl::StatusOr<DatasetInfo> Commit();
  // The server has the dataset, which does not survive a restart yet.
  bool IsBeingWritten(const std::string& token);

  RemoteLink* const link_;
  const uint64_t upload_ = RandomNumber();  // what the server calls this put
  const CancelToken cancel_;
  DatasetManifest manifest_;   // digests filled in by Commit
  std::vector<Chunk> chunks_;  // of all arrays in a row
  std::vector<LazyArray> lazy_;
  // Ends of stages in chunks_: one, but where lazy values are many bytes.
  std::vector<size_t> stage_ends_;
  ChunkGroups groups_;
  PutProgress progress_;
  std::atomic<int64_t> sent_bytes_{0};

  Mutex mu_;
  // There, or asked about by a worker, which then sends what is missing.
  absl::flat_hash_set<Digest> asked_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_DATASETS_DATASET_PUT_H_
