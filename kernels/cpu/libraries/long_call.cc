#include "kernels/cpu/libraries/long_call.h"

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "core/base/mutex.h"
#include "core/base/process/library_call.h"
#include "core/base/status.h"
#include "core/base/threads/cpu_threads.h"

namespace hawser::cpu {
namespace {

// Calls that go on without their callers.
std::atomic<int> left{0};

struct Shared {
  Mutex mu;
  CondVar changed;
  bool ended ABSL_GUARDED_BY(mu) = false;
  bool is_left ABSL_GUARDED_BY(mu) = false;
  absl::Status expired ABSL_GUARDED_BY(mu);
};

void Run(std::function<void()> call, const std::shared_ptr<Shared>& shared) {
  {
    const LibraryCall under_way;
    call();
  }
  call = nullptr;  // its memory goes before it counts as ended
  const MutexLock lock(&shared->mu);
  shared->ended = true;
  if (shared->is_left) --left;
  shared->changed.Signal();
}

}  // namespace

absl::Status RunLong(const CancelToken& cancel, std::function<void()> call) {
  HAWSER_RETURN_IF_ERROR(cancel.Check());
  if (left >= CpuThreads()) {
    return ResourceExhausted(left.load(),
                             " calls of LAPACK that were cancelled go on: as "
                             "many as there are cores");
  }
  const auto shared = std::make_shared<Shared>();
  CancelToken::Registration registration;
  if (cancel.can_expire()) {
    registration = cancel.OnExpiry([shared](const absl::Status& why) {
      const MutexLock lock(&shared->mu);
      shared->expired = why;
      shared->changed.Signal();
    });
  }
  std::thread([call = std::move(call), shared]() mutable {
    Run(std::move(call), shared);
  }).detach();
  const MutexLock lock(&shared->mu);
  shared->changed.Wait(&shared->mu, [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return shared->ended || !shared->expired.ok();
  });
  registration.Drop();
  if (shared->ended) return absl::OkStatus();
  shared->is_left = true;
  ++left;
  return shared->expired;
}

}  // namespace hawser::cpu
