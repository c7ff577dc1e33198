// ChunkGroups: the chunks that the workers of a put take, and how far they are.
#ifndef HAWSER_CLIENT_REMOTE_DATASETS_CHUNK_GROUPS_H_
#define HAWSER_CLIENT_REMOTE_DATASETS_CHUNK_GROUPS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "core/base/mutex.h"

namespace hawser {

// Gives the chunks of one stage to workers, each chunk once and in order. A
// group has at most four, 16 MiB, which hides the round trips of a question and
// an answer of 10 ms, and after which a cancel is noticed while hashing. At
// both ends of a stage groups are smaller, since until the first are hashed
// there is nothing to send, and while the last are verified nothing to do.
// Thread-safe, but for Begin, which comes before the workers.
class ChunkGroups {
 public:
  // Chunks [first, first + size).
  struct Group {
    size_t first = 0;
    size_t size = 0;  // 0: all are taken, or a worker has failed
  };

  explicit ChunkGroups(size_t workers) : workers_(workers) {}

  // A stage of chunks [begin, end).
  void Begin(size_t begin, size_t end) {
    MutexLock lock(&mu_);
    next_ = begin;
    end_ = end;
    taken_ = 0;
  }
  Group Take() {
    if (failed_) return {};
    MutexLock lock(&mu_);
    const size_t left = end_ - next_;
    const size_t size =
        std::clamp<size_t>(left / workers_ / 2, 1, 1 + taken_++ / workers_);
    const Group group = {next_, std::min({size, kMostChunks, left})};
    next_ += group.size;
    return group;
  }
  // A worker has failed, and the others take no more.
  void Fail() { failed_ = true; }

  size_t workers() const { return workers_; }

 private:
  static constexpr size_t kMostChunks = 4;

  const size_t workers_;
  std::atomic<bool> failed_{false};
  Mutex mu_;
  size_t next_ ABSL_GUARDED_BY(mu_) = 0;   // the first that is not taken
  size_t end_ ABSL_GUARDED_BY(mu_) = 0;    // of the stage
  size_t taken_ ABSL_GUARDED_BY(mu_) = 0;  // groups of the stage
};

// Counts the bytes of a put that are done, and tells the caller's callback.
// Thread-safe.
class PutProgress {
 public:
  using Callback = std::function<void(int64_t done, int64_t total)>;
  explicit PutProgress(Callback callback) : callback_(std::move(callback)) {}

  // Called before any worker runs.
  void AddToTotal(int64_t bytes) { total_ += bytes; }
  // Everything is done anew.
  void Restart() { done_ = 0; }
  void Add(int64_t bytes) {
    const int64_t done = done_.fetch_add(bytes) + bytes;
    if (callback_ && bytes != 0) callback_(done, total_);
  }

 private:
  const Callback callback_;
  int64_t total_ = 0;
  std::atomic<int64_t> done_{0};
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_DATASETS_CHUNK_GROUPS_H_
