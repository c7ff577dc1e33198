#include "server/service/stream/bulk.h"

#include <optional>
#include <utility>

#include "core/base/status.h"
#include "server/service/stream/session_requests.h"

namespace hawser::server {

UploadReceiver::UploadReceiver(Executor& executor,
                               std::shared_ptr<Session> session,
                               uint64_t handle)
    : executor_(executor), session_(std::move(session)), handle_(handle) {}

absl::StatusOr<std::unique_ptr<UploadReceiver>> UploadReceiver::Begin(
    Executor& executor, absl::string_view tenant,
    const v1::UploadChunk& header) {
  const uint64_t handle = header.handle();
  HAWSER_ASSIGN_OR_RETURN(
      auto session,
      executor.sessions.Find(tenant, header.session_id(), header.secret()));
  HAWSER_ASSIGN_OR_RETURN(std::optional<Shape> shape,
                          session->handles().BeginUpload(handle));
  std::unique_ptr<UploadReceiver> receiver(
      new UploadReceiver(executor, std::move(session), handle));
  receiver->filled_ = receiver->finished_ = !shape.has_value();
  if (receiver->filled_) return receiver;
  receiver->shape_ = *std::move(shape);
  receiver->size_ = receiver->shape_.byte_size();
  auto data = executor.upload_memory.Allocate(
      receiver->size_, receiver->session_->memory(), MemoryUse::kUpload);
  if (!data.ok()) {
    // No bytes will come: steps must not wait for the value for ever.
    receiver->finished_ = true;
    receiver->session_->handles().Poison(handle, data.status());
    return data.status();
  }
  receiver->data_ = *std::move(data);
  return receiver;
}

UploadReceiver::~UploadReceiver() {
  if (finished_) return;
  session_->handles().FinishUpload(handle_,
                                   Cancelled("the upload did not finish"));
}

absl::Status UploadReceiver::Finish() {
  if (filled_) return absl::OkStatus();
  if (missing() > 0) {
    return DataLoss("the upload of handle ", handle_, " ended ", missing(),
                    " bytes too early");
  }
  finished_ = true;
  runtime::CallOptions call;
  call.cancel = session_->cancel();
  call.memory = session_->memory();
  auto buffer =
      executor_.device->Upload(Literal::Adopt(shape_, std::move(data_)), call);
  const absl::Status status = buffer.status();
  if (status.ok()) {
    session_->handles().FinishUpload(handle_, std::move(buffer));
  } else {
    session_->handles().Poison(handle_, status);
  }
  return session_->Explain(status);
}

void FetchForDownload(
    Executor& executor, absl::string_view tenant,
    const v1::DownloadRequest& request,
    std::function<void(const absl::StatusOr<Literal>&)> done) {
  auto session =
      executor.sessions.Find(tenant, request.session_id(), request.secret());
  if (!session.ok()) return done(session.status());
  const auto value = (*session)->handles().Find(request.handle());
  if (!value.ok()) return done(value.status());
  const auto fail = [session = *session, done](const absl::Status& cause) {
    done(session->Explain(cause));
  };
  WhenThere(*value, [value = *value, done, fail](
                        const absl::StatusOr<runtime::BufferPtr>& buffer) {
    if (!buffer.ok()) return fail(buffer.status());
    (*buffer)->Fetch({}).OnReady(
        [value, done, fail](const absl::StatusOr<Literal>& literal) {
          if (literal.ok()) return done(literal);
          WithCause(value, literal.status(), fail);
        });
  });
}

}  // namespace hawser::server
