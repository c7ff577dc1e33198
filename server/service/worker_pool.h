// WorkerPool: threads for what takes long: compiling, reading datasets. The
// threads that serve connections never wait.
#ifndef HAWSER_SERVER_SERVICE_WORKER_POOL_H_
#define HAWSER_SERVER_SERVICE_WORKER_POOL_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "core/base/mutex.h"

namespace hawser::server {

// Thread-safe.
class WorkerPool {
 public:
  explicit WorkerPool(int threads);
  ~WorkerPool() { Stop(); }
  void Run(std::function<void()> work);
  // Returns once all that is queued has run; what comes later never does.
  void Stop();

 private:
  void Loop();

  Mutex mu_;
  CondVar changed_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_WORKER_POOL_H_
