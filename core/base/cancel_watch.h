// CancelWatch: answers waiting callers when their token expires, whatever the
// work they wait for is doing.
#ifndef HAWSER_CORE_BASE_CANCEL_WATCH_H_
#define HAWSER_CORE_BASE_CANCEL_WATCH_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "core/base/alarm.h"
#include "core/base/cancel.h"
#include "core/base/future.h"
#include "core/base/mutex.h"

namespace hawser {

// Looks at tokens every other millisecond as long as there are any: a flag
// cannot wake anybody by itself. Thread-safe.
class CancelWatch {
 public:
  class Watched {
   public:
    virtual ~Watched() = default;
    // The token has expired; at most once, on the watch's thread.
    virtual void Expire(const absl::Status& status) = 0;
  };

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

// `value`, or what `token` says if it expires before the value is there.
template <typename T>
Future<T> OrExpired(const Future<T>& value, const CancelToken& token,
                    CancelWatch* watch) {
  class Waiting : public CancelWatch::Watched {
   public:
    void Expire(const absl::Status& status) override { promise.Set(status); }
    Promise<T> promise;
  };
  if (!token.can_expire() || value.ready()) return value;
  auto waiting = std::make_shared<Waiting>();
  Future<T> answer = waiting->promise.future();
  watch->Add(token, waiting);
  value.OnReady([waiting](const absl::StatusOr<T>& result) {
    waiting->promise.Set(result);
  });
  return answer;
}

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_CANCEL_WATCH_H_
