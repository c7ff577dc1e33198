// CancelWatch: answers waiting callers when their token expires, whatever the
// work they wait for is doing.
#ifndef HAWSER_KERNELS_CPU_CANCEL_WATCH_H_
#define HAWSER_KERNELS_CPU_CANCEL_WATCH_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "core/base/alarm.h"
#include "core/base/cancel.h"
#include "core/base/mutex.h"

namespace hawser::cpu {

class Watched {
 public:
  virtual ~Watched() = default;
  // The token has expired; at most once, on the watch's thread.
  virtual void Expire(const absl::Status& status) = 0;
};

// Looks at tokens every other millisecond as long as there are any: a flag
// cannot wake anybody by itself. Thread-safe.
class CancelWatch {
 public:
  // Until `watched` is gone or has expired.
  void Add(const CancelToken& token, std::weak_ptr<Watched> watched);

 private:
  struct Entry {
    CancelToken token;
    std::weak_ptr<Watched> watched;
  };
  void Look();

  Mutex mu_;
  std::vector<Entry> entries_ ABSL_GUARDED_BY(mu_);
  bool looking_ ABSL_GUARDED_BY(mu_) = false;
  Alarm alarm_;  // destroyed first: Look uses the rest
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_CANCEL_WATCH_H_
