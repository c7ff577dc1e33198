// Sweeper: one thread that calls a function every second.
#ifndef HAWSER_SERVER_SWEEPER_H_
#define HAWSER_SERVER_SWEEPER_H_

#include <functional>
#include <thread>

#include "core/base/mutex.h"

namespace hawser::server {

// The first call comes a second after Start, each other one a second after the
// end of the one before. Thread-safe.
class Sweeper {
 public:
  ~Sweeper() { Stop(); }

  // Called once, if at all.
  void Start(std::function<void()> sweep);
  // True for the first caller, which waits for a call that runs; nothing is
  // called after that, also when there was no Start.
  bool Stop();

 private:
  Mutex mu_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SWEEPER_H_
