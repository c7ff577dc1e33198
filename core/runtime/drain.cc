#include "core/runtime/drain.h"

#include <utility>

#include "core/base/process/forked.h"
#include "core/base/threads/thread_pool.h"

namespace hawser::runtime {

void DrainClient(bool on_own_thread, std::function<void()> drain) {
  // Nothing runs here, and nothing of it is destroyed.
  if (IsForked()) return Abandon(std::move(drain));
  if (!on_own_thread) return drain();
  // Never destroyed: a client may die while the process ends.
  static ThreadPool* const thread = new ThreadPool(1);
  thread->Schedule(std::move(drain));
}

}  // namespace hawser::runtime
