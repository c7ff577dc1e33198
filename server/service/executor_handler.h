// ExecutorHandler: the Executor service without a transport. The gRPC classes
// and the in-process transport of the tests are thin layers over it.
#ifndef HAWSER_SERVER_SERVICE_EXECUTOR_HANDLER_H_
#define HAWSER_SERVER_SERVICE_EXECUTOR_HANDLER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/cancel.h"
#include "core/base/literal.h"
#include "proto/executor.pb.h"
#include "server/service/execution/executor.h"
#include "server/service/execution/stateless_call.h"
#include "server/service/stream/bulk.h"
#include "server/service/stream/session_link.h"

namespace hawser::server {

// Thread-safe; nothing in it blocks. `tenant` is the one that the transport has
// found by the call's credentials.
class ExecutorHandler {
 public:
  // `datasets` outlives it. Errors: the device's.
  static absl::StatusOr<std::unique_ptr<ExecutorHandler>> Create(
      std::shared_ptr<runtime::Client> device, DatasetStore* datasets,
      ExecutorOptions options);

  // A session stream over `wire`. Both live until OnDone; call Start first.
  std::shared_ptr<SessionLink> Connect(absl::string_view tenant,
                                       SessionWire* wire);
  // `done` is called once; `request` is taken apart and lives until then.
  void Call(absl::string_view tenant, v1::CallRequest* request,
            const CancelToken& cancel, StatelessCall::Done done);
  // `header`: the first chunk, whose data is not looked at.
  absl::StatusOr<std::unique_ptr<UploadReceiver>> Upload(
      absl::string_view tenant, const v1::UploadChunk& header);
  void Download(absl::string_view tenant, const v1::DownloadRequest& request,
                std::function<void(const absl::StatusOr<Literal>&)> done);

  // Ends leases, lets go of deleted datasets; to be called every second or so.
  void Sweep() {
    executor_->Sweep();
    executor_->arrays.Sweep();
  }
  // Ends all sessions and closes their streams with kUnavailable.
  void Shutdown();

  // For tests, metrics and `hawser status`.
  Executor& executor() { return *executor_; }

 private:
  explicit ExecutorHandler(std::unique_ptr<Executor> executor)
      : executor_(std::move(executor)) {}
  const std::unique_ptr<Executor> executor_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_EXECUTOR_HANDLER_H_
