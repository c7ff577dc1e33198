#include "core/base/threads/progress.h"

#include "core/base/mutex.h"

namespace hawser {
namespace {

struct Offered {
  Mutex mu;
  std::weak_ptr<ProgressEngine> engine ABSL_GUARDED_BY(mu);
};

Offered* TheOffered() {
  static auto* const offered = new Offered;
  return offered;
}

}  // namespace

std::shared_ptr<ProgressEngine> ProgressEngine::Current() {
  Offered* const offered = TheOffered();
  MutexLock lock(&offered->mu);
  return offered->engine.lock();
}

void ProgressEngine::Offer(const std::weak_ptr<ProgressEngine>& engine) {
  Offered* const offered = TheOffered();
  MutexLock lock(&offered->mu);
  offered->engine = engine;
}

}  // namespace hawser
