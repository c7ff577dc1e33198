// StatelessCall: one execution without a session.
#ifndef HAWSER_SERVER_SERVICE_EXECUTION_STATELESS_CALL_H_
#define HAWSER_SERVER_SERVICE_EXECUTION_STATELESS_CALL_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/threads/cancel.h"
#include "core/runtime/client.h"
#include "proto/executor.pb.h"
#include "server/service/execution/arguments.h"
#include "server/service/execution/executor.h"

namespace hawser::server {

class StatelessCall : public std::enable_shared_from_this<StatelessCall> {
 public:
  using Done = std::function<void(absl::StatusOr<v1::CallReply>)>;
  // Calls `done` once, on the thread that ends it. `request` is taken apart and
  // must live until then.
  static void Start(Executor& executor, absl::string_view tenant,
                    v1::CallRequest* request, const CancelToken& cancel,
                    Done done);

  StatelessCall(Executor& executor, absl::string_view tenant,
                v1::CallRequest* request, const CancelToken& cancel, Done done);

 private:
  void Compile(const Digest& fingerprint);
  void Resolve(absl::StatusOr<Executor::ExecutablePtr> executable);
  // Runs at once or, what takes long, at its turn.
  void TakeTurn();
  void Run();
  void GiveUp(const absl::Status& why);
  void Finish(const absl::StatusOr<runtime::Called>& called);

  Executor& executor_;
  const std::string tenant_;
  v1::CallRequest* const request_;
  const uint64_t number_;  // among the running calls
  runtime::CallOptions options_;
  const Done done_;
  MemoryCharge request_charge_;
  DeviceQueue::TurnPtr turn_;
  Executor::ExecutablePtr executable_;
  Arguments arguments_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_EXECUTION_STATELESS_CALL_H_
