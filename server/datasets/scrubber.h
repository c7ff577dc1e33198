// Scrubber: reads back what is on disk, so that damage is found while the data
// can still be written again, or put again.
#ifndef HAWSER_SERVER_DATASETS_SCRUBBER_H_
#define HAWSER_SERVER_DATASETS_SCRUBBER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/datasets/durability.h"
#include "server/datasets/store_state.h"

namespace hawser::server {

// Goes round and round over what the catalog says is on disk, at most as fast
// as the option says and only while the writer is idle. `credit_` are the
// bytes to verify by now. Methods are called with the store's lock held; files
// are read on the writer's thread.
class Scrubber {
 public:
  Scrubber(StoreState* state, Durability* durability)
      : state_(*state), durability_(*durability) {}

  // Queues the next files, as many as the time since the last call is for.
  void Scrub(absl::Time now);

 private:
  // One file: of a chunk, of a tenant's dataset, or of its tags and pins.
  struct File {
    enum Kind { kChunk, kDataset, kNames } kind = kChunk;
    Digest id = {};
    std::string tenant = {};
  };
  void ListFiles();
  // These return the bytes that are queued to be read; 0: there is no file.
  int64_t ScrubFile(const File& file);
  int64_t ScrubChunk(const Digest& digest);
  int64_t ScrubDataset(const std::string& tenant, const Digest& id);
  int64_t ScrubNames(const std::string& tenant);
  // Calls `verify`, which reads a file that is no chunk, without the lock; if
  // that was kDataLoss, calls `if_bad` with the lock held.
  int64_t ScrubRecord(std::function<absl::Status()> verify,
                      std::function<void()> if_bad);

  StoreState& state_;
  Durability& durability_;
  std::vector<File> to_scrub_ ABSL_GUARDED_BY(state_.mu);
  absl::Time scrubbed_at_ ABSL_GUARDED_BY(state_.mu) = absl::InfiniteFuture();
  double credit_ ABSL_GUARDED_BY(state_.mu) = 0;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_SCRUBBER_H_
