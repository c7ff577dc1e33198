#include "core/base/process/forked.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "core/base/status.h"

namespace hawser {
namespace {

std::atomic<bool> forked{false};
std::atomic<int> parent{0};

}  // namespace

void ForbidForks() {
  static const bool registered = [] {
    parent = getpid();
    pthread_atfork(nullptr, nullptr, [] { forked = true; });
    return true;
  }();
  (void)registered;
}

bool IsForked() { return forked.load(std::memory_order_relaxed); }

absl::Status CheckNotForked() {
  if (!IsForked()) return absl::OkStatus();
  return FailedPrecondition(
      "this process was forked after process ", parent.load(),
      " had used hawser, whose threads and connections are not in it: fork "
      "before the first use, or exec");
}

}  // namespace hawser
