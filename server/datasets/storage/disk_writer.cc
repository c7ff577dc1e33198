#include "server/datasets/storage/disk_writer.h"

#include <utility>

#include "core/base/status.h"

namespace hawser::server {
namespace {

// Chunks flushed together: flushing a folder costs as much as a chunk.
constexpr size_t kBatch = 16;

}  // namespace

DiskWriter::DiskWriter(std::function<absl::Status()> flush,
                       std::function<void()> progress)
    : flush_(std::move(flush)),
      progress_(std::move(progress)),
      thread_([this] { Loop(); }) {}

DiskWriter::~DiskWriter() { Join(); }

void DiskWriter::Join() {
  Stop(absl::InfinitePast());
  if (thread_.joinable()) thread_.join();
}

bool DiskWriter::Add(Task task, bool first) {
  MutexLock lock(&mu_);
  if (stopping_) return false;
  tasks_.insert(first ? tasks_.begin() : tasks_.end(), std::move(task));
  changed_.SignalAll();
  return true;
}

bool DiskWriter::idle() const {
  MutexLock lock(&mu_);
  return tasks_.empty() && !busy_;
}

int DiskWriter::Stop(absl::Time deadline) {
  std::deque<Task> left;
  {
    MutexLock lock(&mu_);
    changed_.WaitUntil(&mu_, deadline,
                       [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
                         return tasks_.empty() && !busy_;
                       });
    stopping_ = true;
    left.swap(tasks_);
    changed_.SignalAll();
  }
  for (Task& task : left) task.done(Unavailable("the server is stopping"));
  return static_cast<int>(left.size());
}

std::vector<DiskWriter::Task> DiskWriter::NextBatch() {
  std::vector<Task> batch;
  bool removes = false;
  while (!tasks_.empty() && batch.size() < kBatch) {
    Task& next = tasks_.front();
    if (removes && next.prepare) break;
    removes = removes || next.removes;
    batch.push_back(std::move(next));
    tasks_.pop_front();
  }
  return batch;
}

void DiskWriter::Loop() {
  while (true) {
    std::vector<Task> batch;
    {
      MutexLock lock(&mu_);
      changed_.Wait(&mu_, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
        return stopping_ || !tasks_.empty();
      });
      if (tasks_.empty()) return;
      busy_ = true;
      batch = NextBatch();
    }
    Run(std::move(batch));
    {
      MutexLock lock(&mu_);
      busy_ = false;
      changed_.SignalAll();
    }
    // After busy_, so that an upload that waits for room can tell that this
    // thread will make no more.
    progress_();
  }
}

void DiskWriter::Run(std::vector<Task> batch) {
  for (Task& task : batch) {
    // Destroyed at once: `done` says that the memory it held is free.
    if (task.prepare) std::exchange(task.prepare, nullptr)();
  }
  std::vector<absl::Status> results;
  for (Task& task : batch) results.push_back(task.write());
  const absl::Status flushed = flush_();
  for (size_t i = 0; i < batch.size(); ++i) {
    batch[i].done(results[i].ok() ? flushed : results[i]);
  }
}

}  // namespace hawser::server
