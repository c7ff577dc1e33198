#include "server/service/datasets_service.h"

#include <memory>
#include <string>
#include <utility>

#include "core/base/status.h"
#include "core/base/threads/cpu_threads.h"
#include "core/wire/dataset_verbs.h"
#include "proto/bulk_frame.h"
#include "proto/datasets.grpc.pb.h"
#include "server/service/messages/frames.h"
#include "server/service/messages/unary.h"

namespace hawser::server {
namespace {

// Frames above this are copied and hashed by another thread: the one that
// serves connections would keep small steps of others waiting.
constexpr uint64_t kFrameForWorkers = 64 << 10;
const bool kManyCores = CpuThreads() > 1;

class PutReactor final : public Reactor {
 public:
  PutReactor(Rpc* rpc, std::unique_ptr<PutStream> stream, ThreadPool* workers)
      : Reactor(rpc), stream_(std::move(stream)), workers_(workers) {
    rpc->Read(&buffer_);
  }

  void OnRead(bool ok) override {
    if (!ok) return Complete();
    v1::PutChunk header;
    if (!frame_.Parse(&buffer_, v1::PutChunk::kDataFieldNumber, &header)) {
      return rpc().Finish(InvalidArgument("not a frame of this stream"));
    }
    stream_->Frame(header, frame_.size(),
                   [this](const absl::Status& ready) { Ready(ready); });
  }

 private:
  void Ready(const absl::Status& status) {
    if (!status.ok()) return rpc().Finish(status);
    if (frame_.size() < kFrameForWorkers || !kManyCores) return Receive();
    workers_->Schedule([this] { Receive(); });
  }
  void Receive() {
    if (frame_.size() > 0) {
      frame_.CopyTo(stream_->at());
      const absl::Status status =
          stream_->Filled(static_cast<int64_t>(frame_.size()));
      if (!status.ok()) return rpc().Finish(status);
    }
    rpc().Read(&buffer_);
  }
  void Complete() {
    const absl::StatusOr<v1::PutReply> result = stream_->Finish();
    if (!result.ok()) return rpc().Finish(result.status());
    FillBuffer(*result, &buffer_);
    rpc().FinishWith(buffer_);
  }

  const std::unique_ptr<PutStream> stream_;
  ThreadPool* const workers_;
  grpc::ByteBuffer buffer_;
  InFrame frame_;
};

absl::StatusOr<PieceStream::Pieces> OpenRows(DatasetsHandler* handler,
                                             const std::string& tenant,
                                             const grpc::ByteBuffer& buffer) {
  v1::GetRequest request;
  HAWSER_RETURN_IF_ERROR(ParseBuffer(buffer, &request));
  HAWSER_ASSIGN_OR_RETURN(auto rows, handler->Get(tenant, request));
  v1::GetChunk first;
  *first.mutable_shape() = ToProto(rows->shape());
  return PieceStream::Pieces{first.SerializeAsString(), [rows](PieceDone done) {
                               rows->Next(std::move(done));
                             }};
}

}  // namespace

void AddDatasetsMethods(DatasetsHandler* handler, ThreadPool* workers,
                        RpcServer* server) {
  const char* const service = v1::Datasets::service_full_name();
  ForEachDatasetsMethod([&](auto method) {
    using Method = decltype(method);
    server->Add(service, Method::kMethod,
                UnaryMethod<typename Method::Request, typename Method::Reply>(
                    [handler](const std::string& tenant,
                              typename Method::Request* request,
                              const CancelToken&, auto done) {
                      handler->Serve(Method(), tenant, *request,
                                     std::move(done));
                    }));
  });
  server->Add(service, "Put", [handler, workers](Rpc* rpc, std::string tenant) {
    return std::make_unique<PutReactor>(rpc, handler->Put(tenant), workers);
  });
  server->Add(service, "Get", [handler](Rpc* rpc, std::string tenant) {
    return std::make_unique<PieceStream>(
        rpc, v1::GetChunk::kDataFieldNumber,
        [handler, tenant = std::move(tenant)](const grpc::ByteBuffer& buffer) {
          return OpenRows(handler, tenant, buffer);
        });
  });
}

}  // namespace hawser::server
