// PendingRun: an execution that waits for its arguments and runs on a thread.
#ifndef HAWSER_CORE_RUNTIME_PENDING_RUN_H_
#define HAWSER_CORE_RUNTIME_PENDING_RUN_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/threads/all_of.h"
#include "core/base/threads/cancel.h"
#include "core/base/threads/future.h"
#include "core/base/threads/gate.h"
#include "core/base/threads/thread_pool.h"

namespace hawser::runtime {

// `Value` is what an engine's results are inside the engine. The callbacks and
// the task that lead to a PendingRun keep it alive. Invariant: it is inside the
// gate from its construction until its results are set and what its work held
// is gone, so that the closing of the gate waits for it.
template <typename Value>
class PendingRun : public std::enable_shared_from_this<PendingRun<Value>> {
 public:
  using Values = std::vector<Value>;

  // `gate` keeps alive what `work` and `pool` need.
  PendingRun(std::shared_ptr<Gate> gate, ThreadPool* pool, size_t num_results,
             std::function<absl::StatusOr<Values>()> work)
      : gate_(std::move(gate)),
        pass_(new Gate::Pass(gate_->Enter())),
        pool_(pool),
        work_(std::move(work)),
        promises_(num_results) {}

  // False: the gate was closed, there is nothing to start.
  bool is_inside() const { return static_cast<bool>(*pass_); }

  // The futures are in the order of the results.
  std::vector<Future<Value>> results() const {
    std::vector<Future<Value>> futures;
    for (const auto& promise : promises_) futures.push_back(promise.future());
    return futures;
  }

  // Runs the work on the pool once all of `arguments` are there; the error that
  // WhenAll gives of them is the results'. Called once, on any thread. When
  // `token` expires the results are set to its status; the work ends when it
  // looks at the token next, and holds its memory until then.
  void Start(std::vector<Future<Value>> arguments, const CancelToken& token) {
    expiry_ = token.OnExpiry(
        [weak = this->weak_from_this()](const absl::Status& expired) {
          if (auto self = weak.lock()) self->SetAll(expired);
        });
    WhenAll<Value>(
        std::move(arguments),
        [self = this->shared_from_this()](const absl::Status& status, size_t) {
          self->pool_->Schedule([self, status] { self->Run(status); });
        });
  }

 private:
  void Run(const absl::Status& arguments) {
    absl::StatusOr<Values> results =
        arguments.ok() ? work_() : absl::StatusOr<Values>(arguments);
    work_ = nullptr;  // the arguments go before the callers are told
    if (results.ok()) {
      for (size_t i = 0; i < promises_.size(); ++i) {
        promises_[i].Set(std::move((*results)[i]));
      }
    } else {
      SetAll(results.status());
    }
    pass_.reset();
  }

  void SetAll(const absl::Status& status) {
    for (Promise<Value>& promise : promises_) promise.Set(status);
  }

  const std::shared_ptr<Gate> gate_;
  std::unique_ptr<Gate::Pass> pass_;
  ThreadPool* const pool_;
  std::function<absl::StatusOr<Values>()> work_;
  std::vector<Promise<Value>> promises_;  // Set is thread-safe
  CancelToken::Registration expiry_;
};

}  // namespace hawser::runtime
#endif  // HAWSER_CORE_RUNTIME_PENDING_RUN_H_
