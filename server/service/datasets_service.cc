#include "server/service/datasets_service.h"

#include <memory>
#include <utility>

#include "core/base/status.h"
#include "core/wire/codec.h"
#include "proto/grpc_status.h"
#include "server/service/frames.h"
#include "server/service/refused.h"

namespace hawser::server {
namespace {

class PutReactor final : public grpc::ServerReadReactor<grpc::ByteBuffer> {
 public:
  PutReactor(std::unique_ptr<PutStream> stream, grpc::ByteBuffer* reply)
      : stream_(std::move(stream)), reply_(reply) {
    StartRead(&buffer_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Complete();
    v1::PutChunk header;
    const absl::Status status =
        frame_.Parse(&buffer_, v1::PutChunk::kDataFieldNumber, &header);
    if (!status.ok()) return Finish(ToGrpc(status));
    stream_->Frame(header.digest(), header.chunk_bytes(), frame_.size(),
                   [this](const absl::Status& ready) { Receive(ready); });
  }
  void OnDone() override { delete this; }

 private:
  void Receive(absl::Status status) {
    if (status.ok() && frame_.size() > 0) {
      frame_.CopyTo(stream_->at());
      status = stream_->Filled(static_cast<int64_t>(frame_.size()));
    }
    if (!status.ok()) return Finish(ToGrpc(status));
    StartRead(&buffer_);
  }
  void Complete() {
    const absl::StatusOr<v1::PutReply> result = stream_->Finish();
    FillBuffer(result.ok() ? *result : v1::PutReply(), reply_);
    Finish(ToGrpc(result.status()));
  }

  const std::unique_ptr<PutStream> stream_;
  grpc::ByteBuffer* const reply_;
  grpc::ByteBuffer buffer_;
  InFrame frame_;
};

grpc::ServerUnaryReactor* RefusedUnary(const absl::Status& why) {
  return new Refused<grpc::ServerUnaryReactor>(why);
}

// A method that answers at once: `method(handler, tenant, request)`.
template <typename Request, typename Method>
grpc::ServerUnaryReactor* Answered(const Access& access,
                                   grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer& buffer,
                                   grpc::ByteBuffer* reply,
                                   const Method& method) {
  const auto tenant = access.TenantOf(*context);
  if (!tenant.ok()) return RefusedUnary(tenant.status());
  Request request;
  const absl::Status parsed = ParseBuffer(buffer, &request);
  if (!parsed.ok()) return RefusedUnary(parsed);
  const auto result = method(*tenant, request);
  if (!result.ok()) return RefusedUnary(result.status());
  FillBuffer(*result, reply);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

}  // namespace

grpc::ServerUnaryReactor* DatasetsService::FindMissing(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* reply) {
  return Answered<v1::FindMissingRequest>(
      *access_, context, *request, reply,
      [this](absl::string_view tenant, const v1::FindMissingRequest& parsed) {
        return handler_->FindMissing(tenant, parsed);
      });
}

grpc::ServerReadReactor<grpc::ByteBuffer>* DatasetsService::Put(
    grpc::CallbackServerContext* context, grpc::ByteBuffer* reply) {
  using Reactor = grpc::ServerReadReactor<grpc::ByteBuffer>;
  const auto tenant = access_->TenantOf(*context);
  if (!tenant.ok()) return new Refused<Reactor>(tenant.status());
  return new PutReactor(handler_->Put(*tenant), reply);
}

grpc::ServerUnaryReactor* DatasetsService::Commit(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* reply) {
  const auto tenant = access_->TenantOf(*context);
  if (!tenant.ok()) return RefusedUnary(tenant.status());
  v1::CommitRequest parsed;
  const absl::Status status = ParseBuffer(*request, &parsed);
  if (!status.ok()) return RefusedUnary(status);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  handler_->Commit(
      *tenant, parsed,
      [reactor, reply](const absl::StatusOr<v1::DatasetInfoProto>& info) {
        if (info.ok()) FillBuffer(*info, reply);
        reactor->Finish(ToGrpc(info.status()));
      });
  return reactor;
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* DatasetsService::Get(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  const auto tenant = access_->TenantOf(*context);
  v1::GetRequest parsed;
  v1::GetChunk first;
  absl::Status status = tenant.status();
  if (status.ok()) status = ParseBuffer(*request, &parsed);
  absl::StatusOr<std::shared_ptr<RowReader>> rows = nullptr;
  rows = status.ok() ? handler_->Get(*tenant, parsed) : status;
  if (!rows.ok()) {
    return new PieceStream(
        v1::GetChunk::kDataFieldNumber, first,
        [status = rows.status()](const PieceDone& done) { done(status); });
  }
  *first.mutable_shape() = ToProto((*rows)->shape());
  return new PieceStream(
      v1::GetChunk::kDataFieldNumber, first,
      [rows = *rows](PieceDone done) { rows->Next(std::move(done)); });
}

grpc::ServerUnaryReactor* DatasetsService::Stat(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* reply) {
  return Answered<v1::StatRequest>(
      *access_, context, *request, reply,
      [this](absl::string_view tenant, const v1::StatRequest& parsed) {
        return handler_->Stat(tenant, parsed);
      });
}

}  // namespace hawser::server
