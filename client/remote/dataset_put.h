// DatasetPut: sends what a server lacks of one dataset.
#ifndef HAWSER_CLIENT_REMOTE_DATASET_PUT_H_
#define HAWSER_CLIENT_REMOTE_DATASET_PUT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/remote/call_limits.h"
#include "client/remote/options.h"
#include "client/remote/transport.h"
#include "core/base/digest.h"
#include "core/runtime/client.h"
#include "core/runtime/dataset.h"

namespace hawser {

// Used once, by one thread, which Run blocks. Chunks are hashed on all cores
// while those before them are sent.
class DatasetPut {
 public:
  // `source` is normalized and outlives this.
  DatasetPut(Transport* transport, const RemoteOptions& options,
             const DatasetSource& source, const runtime::CallOptions& call);
  absl::StatusOr<DatasetInfo> Run();

 private:
  using Chunks = absl::Span<ChunkToPut>;
  absl::Status SendAll(bool hash);
  absl::Status SendMissing(Chunks batch);
  absl::Status SendOnStreams(const std::vector<ChunkToPut>& missing);
  absl::Status SendOnOneStream(absl::Span<const ChunkToPut> chunks);
  absl::StatusOr<DatasetInfo> Commit();
  void Report(int64_t more);

  Transport* const transport_;
  const RemoteOptions options_;
  const CallLimits limits_;
  const std::function<void(int64_t, int64_t)> progress_;
  DatasetManifest manifest_;        // digests filled in by Commit
  std::vector<ChunkToPut> chunks_;  // of all arrays in a row
  int64_t total_bytes_ = 0;
  absl::flat_hash_set<Digest> there_;  // sent or found
  std::atomic<int64_t> done_bytes_{0};
  int64_t sent_bytes_ = 0;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_DATASET_PUT_H_
