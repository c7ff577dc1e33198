#include "server/service/executor_handler.h"

#include <utility>

#include "core/base/status.h"

namespace hawser::server {

absl::StatusOr<std::unique_ptr<ExecutorHandler>> ExecutorHandler::Create(
    std::shared_ptr<runtime::Client> device, DatasetStore* datasets,
    ExecutorOptions options) {
  HAWSER_ASSIGN_OR_RETURN(
      auto executor,
      Executor::Create(std::move(device), datasets, std::move(options)));
  return std::unique_ptr<ExecutorHandler>(
      new ExecutorHandler(std::move(executor)));
}

std::shared_ptr<SessionLink> ExecutorHandler::Connect(absl::string_view tenant,
                                                      SessionWire* wire) {
  return std::make_shared<SessionLink>(executor_.get(), std::string(tenant),
                                       wire);
}

void ExecutorHandler::Call(absl::string_view tenant, v1::CallRequest* request,
                           const CancelToken& cancel,
                           StatelessCall::Done done) {
  StatelessCall::Start(*executor_, tenant, request, cancel, std::move(done));
}

absl::StatusOr<std::unique_ptr<UploadReceiver>> ExecutorHandler::Upload(
    absl::string_view tenant, const v1::UploadChunk& header) {
  return UploadReceiver::Begin(*executor_, tenant, header.session_id(),
                               header.secret(), header.handle());
}

void ExecutorHandler::Download(
    absl::string_view tenant, const v1::DownloadRequest& request,
    std::function<void(const absl::StatusOr<Literal>&)> done) {
  FetchForDownload(*executor_, tenant, request.session_id(), request.secret(),
                   request.handle(), std::move(done));
}

void ExecutorHandler::Shutdown() {
  executor_->sessions.EndAll(Unavailable("the server is stopping"));
}

}  // namespace hawser::server
