// DiskWriter: writes in the background, in order, and says when it is safe.
#ifndef HAWSER_SERVER_DATASETS_STORAGE_DISK_WRITER_H_
#define HAWSER_SERVER_DATASETS_STORAGE_DISK_WRITER_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"

namespace hawser::server {

// One thread. Thread-safe.
class DiskWriter {
 public:
  struct Task {
    std::function<absl::Status()> write;
    // Called on the writer's thread, after what was written has been flushed.
    std::function<void(const absl::Status&)> done;
    // It may be null. Runs for all tasks of a batch before the first `write`,
    // so that the disk is busy with all while each is waited for.
    std::function<void()> prepare = nullptr;
    // Takes something off the disk. Tasks behind it that prepare may write the
    // same file again, or need the room: they are in a later batch.
    bool removes = false;
  };
  // `flush` makes a batch of writes durable; `progress` is called after each,
  // when idle() says whether another one follows.
  DiskWriter(std::function<absl::Status()> flush,
             std::function<void()> progress);
  ~DiskWriter();

  // Adds the task after those that wait, or `first`. False after Stop: the task
  // is dropped.
  bool Add(Task task, bool first = false);
  bool idle() const;
  // Waits until everything is written or `deadline`; later tasks, and what is
  // left then, fail with kUnavailable. Returns how many those were.
  int Stop(absl::Time deadline);
  // Stops at once; no callback runs any more when it returns. Not inside one.
  void Join();

 private:
  void Loop();
  std::vector<Task> NextBatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Run(std::vector<Task> batch);

  const std::function<absl::Status()> flush_;
  const std::function<void()> progress_;
  mutable Mutex mu_;
  CondVar changed_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mu_);
  bool busy_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_STORAGE_DISK_WRITER_H_
