// Execution: one Execute of a session, from its arguments to its answer.
#ifndef HAWSER_SERVER_SERVICE_EXECUTION_EXECUTION_H_
#define HAWSER_SERVER_SERVICE_EXECUTION_EXECUTION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "core/base/threads/future.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"
#include "core/runtime/client.h"
#include "proto/executor.pb.h"
#include "server/service/execution/arguments.h"
#include "server/service/execution/executor.h"
#include "server/service/execution/result_handles.h"
#include "server/session/session.h"

namespace hawser::server {

// Handles that the message with a request gives back.
using GivenBack = absl::flat_hash_set<uint64_t>;

// Nothing waits: a step whose arguments and results are ready ends inside
// Start, every other one goes on in callbacks. Its results get their handles
// at once; what fails later becomes their error. Results that nothing holds or
// needs any more are not finished: the work stops with kCancelled.
class Execution : public std::enable_shared_from_this<Execution> {
 public:
  // Answers `ticket` exactly once. Takes the literals out of `request`.
  static void Start(Executor& executor, std::shared_ptr<Session> session,
                    const Ticket& ticket, const GivenBack& given_back,
                    v1::ExecuteRequest& request);

  Execution(std::shared_ptr<Session> session, const Ticket& ticket,
            uint64_t first_result)
      : session_(std::move(session)),
        ticket_(ticket),
        handles_(&session_->handles(), first_result) {}

 private:
  absl::Status FindExecutable(uint64_t name);
  // True if the client may still read a result when it is answered.
  bool AnyKept(const GivenBack& given_back) const;
  absl::Status Prepare(Executor& executor, v1::ExecuteRequest& request);
  // ---- arguments that are still to come
  void AwaitArguments();
  // Charges the session for literals that are more than a few scalars.
  absl::Status ChargeLiterals(const v1::ExecuteRequest& request);
  // Gives the results their handles before they are there.
  void NameResults();
  // ---- the run and its results
  // Runs at once or, what takes long, at its turn.
  void TakeTurn();
  void Run();
  // Runs like Run, on the thread that serves the connection.
  void RunHere();
  // Ends the turn of what ran.
  void GiveTurn();
  // Its token has expired while it waited: it has left the line.
  void GiveUp(const absl::Status& why);
  void Collect(std::vector<runtime::BufferPtr> buffers);
  void Give(std::vector<runtime::BufferPtr> buffers);
  void Got(size_t result, const absl::Status& status, const Literal* value);
  void Finish();
  // ---- failure
  // Ends with the first cause: that of an argument whose maker failed (looked
  // for from `from` on), else `own`.
  void Fail(const absl::Status& own, size_t from = 0);
  // Ends with `cause` as it is.
  void Settle(const absl::Status& cause);

  const std::shared_ptr<Session> session_;
  const Ticket ticket_;
  std::shared_ptr<runtime::Executable> executable_;
  std::shared_ptr<DeviceQueue> queue_;  // where it has or waits for its turn
  DeviceQueue::TurnPtr turn_;
  absl::Status stopped_;  // not OK: the queue has stopped what ran
  ResultHandles handles_;
  bool results_ride_ = true;  // small ones, in the answer
  Arguments arguments_;
  MemoryCharge arguments_charge_;  // of the literals among them
  runtime::ExecuteOptions options_;

  // Arguments, later results, still to come, and one for the loop that counts.
  std::atomic<size_t> left_{0};
  struct Result {
    absl::Status status;
    Literal value;  // valid: rides in the answer
  };
  std::vector<Result> results_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_EXECUTION_EXECUTION_H_
