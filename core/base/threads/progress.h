// ProgressEngine: work that a thread may do for others while it waits for a
// Future.
#ifndef HAWSER_CORE_BASE_THREADS_PROGRESS_H_
#define HAWSER_CORE_BASE_THREADS_PROGRESS_H_

#include <functional>
#include <memory>

#include "absl/time/time.h"

namespace hawser {

// Work that completes Futures and that any waiting thread can do: taking what
// the network has brought. The result then needs no other thread to be woken,
// which is a third of a small step's time. Thread-safe. A process has at most
// one; without one, waiting is waiting.
class ProgressEngine {
 public:
  virtual ~ProgressEngine() = default;

  // The one there is, or null. The last Offer counts.
  static std::shared_ptr<ProgressEngine> Current();
  static void Offer(const std::weak_ptr<ProgressEngine>& engine);

  // A thread begins to wait for something, and then `count` of them have what
  // they waited for, or have given up.
  virtual void Begin() = 0;
  virtual void End(int count) = 0;
  // Works on this thread until `ready()` or the deadline, which may be long
  // past: what can be done at once is done. Between Begin and End, if it may
  // block. Returns at once when another thread is at it, which will then do
  // so for this one too. `ready` is called with no lock held; End from another
  // thread has it looked at again.
  virtual void Advance(const std::function<bool()>& ready,
                       absl::Time deadline) = 0;
};

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_THREADS_PROGRESS_H_
