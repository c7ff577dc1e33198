#include "client/remote/bare/grpc_bare_calls.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/sync_stream.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "client/remote/grpc/bulk/bulk_calls.h"
#include "client/remote/grpc/bulk/bulk_stream.h"
#include "client/remote/grpc/grpc_credentials.h"
#include "client/remote/link/options.h"
#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/base/status.h"
#include "core/base/threads/thread_pool.h"
#include "core/runtime/dataset.h"
#include "core/wire/codec.h"
#include "proto/datasets.grpc.pb.h"
#include "proto/grpc_status.h"
#include "proto/health.grpc.pb.h"
#include "proto/reflection.grpc.pb.h"

namespace hawser {
namespace {

namespace health = grpc::health::v1;
namespace reflection = grpc::reflection::v1alpha;
using grpc::internal::RpcMethod;
using reflection::ServerReflectionRequest;
using reflection::ServerReflectionResponse;

// The connection is shared with no other channel.
std::shared_ptr<grpc::Channel> OwnConnection(
    const std::string& address,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, credentials, arguments);
}

class GrpcBareCalls final : public BareCalls {
 public:
  // The first connection is for small calls, the others are for bulk data.
  GrpcBareCalls(
      const std::string& address,
      const std::vector<std::shared_ptr<grpc::ChannelCredentials>>& credentials,
      const CancelToken& cancel)
      : address_(address),
        cancel_(cancel),
        small_(OwnConnection(address, credentials[0])),
        health_(health::Health::NewStub(small_)),
        datasets_(v1::Datasets::NewStub(small_)),
        reflection_(reflection::ServerReflection::NewStub(small_)) {
    for (size_t i = 1; i < credentials.size(); ++i) {
      bulk_.push_back(OwnConnection(address, credentials[i]));
    }
  }

  ~GrpcBareCalls() override {
    if (ping_ == nullptr) return;
    ping_->WritesDone();
    ping_->Finish().IgnoreError();
  }

  absl::Status Check() override {
    grpc::ClientContext context;
    SetDeadline(cancel_, &context);
    health::HealthCheckResponse answer;
    return Told(
        health_->Check(&context, health::HealthCheckRequest(), &answer));
  }

  absl::Status Ping() override {
    if (ping_ == nullptr) {
      ping_context_ = std::make_unique<grpc::ClientContext>();
      SetDeadline(cancel_, ping_context_.get());
      ping_ = reflection_->ServerReflectionInfo(ping_context_.get());
    }
    ServerReflectionRequest request;
    request.set_list_services("");
    ServerReflectionResponse answer;
    if (ping_->Write(request) && ping_->Read(&answer)) return absl::OkStatus();
    const absl::Status status = Told(ping_->Finish());
    ping_ = nullptr;
    return status.ok() ? Unavailable(address_, ": the ping's stream is over")
                       : status;
  }

  absl::Status Put(const Literal& value,
                   absl::Span<const Digest> chunks) override {
    return InParts(
        chunks.size(),
        [&](grpc::Channel* channel, size_t begin, size_t end) -> absl::Status {
          grpc::ClientContext context;
          SetDeadline(cancel_, &context);
          grpc::ByteBuffer answer;
          const RpcMethod method("/hawser.v1.Datasets/Put",
                                 RpcMethod::CLIENT_STREAMING);
          const std::unique_ptr<grpc::ClientWriter<grpc::ByteBuffer>> writer(
              grpc::internal::ClientWriterFactory<grpc::ByteBuffer>::Create(
                  channel, method, &context, &answer));
          for (size_t i = begin; i < end; ++i) {
            if (!WriteChunk(value, i, chunks[i], &context, writer.get())) break;
          }
          writer->WritesDone();
          return Told(writer->Finish());
        });
  }

  absl::Status Commit(const DatasetManifest& manifest,
                      const CancelToken& cancel) override {
    grpc::ClientContext context;
    SetDeadline(cancel, &context);
    v1::CommitRequest request;
    request.set_upload(upload_);
    *request.mutable_manifest() = ToProto(manifest);
    v1::DatasetInfoProto answer;
    return CallStatus(datasets_->Commit(&context, request, &answer), cancel,
                      address_);
  }

  absl::Status Get(const std::string& token, int64_t bytes) override {
    return InParts(
        bytes,
        [&](grpc::Channel* channel, size_t begin, size_t end) -> absl::Status {
          grpc::ClientContext context;
          SetDeadline(cancel_, &context);
          v1::GetRequest request;
          request.set_token(token);
          request.set_row_begin(static_cast<int64_t>(begin));
          request.set_row_count(static_cast<int64_t>(end - begin));
          const RpcMethod method("/hawser.v1.Datasets/Get",
                                 RpcMethod::SERVER_STREAMING);
          const std::unique_ptr<grpc::ClientReader<grpc::ByteBuffer>> reader(
              grpc::internal::ClientReaderFactory<grpc::ByteBuffer>::Create(
                  channel, method, &context, request));
          size_t came = 0;
          grpc::ByteBuffer frame;
          while (reader->Read(&frame)) {
            came += frame.Length();
            if (Over()) context.TryCancel();
          }
          HAWSER_RETURN_IF_ERROR(Told(reader->Finish()));
          if (came >= end - begin) return absl::OkStatus();
          return DataLoss(address_, " sent ", came, " of ", end - begin,
                          " bytes");
        });
  }

 private:
  using Part =
      std::function<absl::Status(grpc::Channel*, size_t begin, size_t end)>;

  // Runs `part` on every bulk connection at once, with its share of `count`.
  absl::Status InParts(size_t count, const Part& part) {
    const size_t n = bulk_.size();
    return OnThreads(static_cast<int>(n), [&](int i) {
      const size_t begin = count * i / n, end = count * (i + 1) / n;
      if (begin == end) return absl::OkStatus();
      return part(bulk_[i].get(), begin, end);
    });
  }

  // False: the stream is broken, and says why when it is finished.
  bool WriteChunk(const Literal& value, size_t chunk, const Digest& digest,
                  grpc::ClientContext* context,
                  grpc::ClientWriter<grpc::ByteBuffer>* writer) const {
    v1::PutChunk header;
    header.set_upload(upload_);
    header.set_digest(std::string(digest.bytes()));
    const auto bytes = value.bytes().subspan(chunk * kChunkBytes, kChunkBytes);
    header.set_chunk_bytes(bytes.size());
    FrameCutter cutter(header, v1::PutChunk::kDataFieldNumber, bytes, value);
    grpc::ByteBuffer frame;
    while (!cutter.done()) {
      if (Over()) context->TryCancel();
      (void)cutter.Next(&frame);
      if (!writer->Write(frame)) return false;
    }
    return true;
  }

  bool Over() const { return !Annotate(cancel_.Check(), address_).ok(); }
  absl::Status Told(const grpc::Status& status) const {
    return CallStatus(status, cancel_, address_);
  }

  const std::string address_;
  const CancelToken cancel_;
  const uint64_t upload_ = RandomNumber();
  const std::shared_ptr<grpc::Channel> small_;
  const std::unique_ptr<health::Health::Stub> health_;
  const std::unique_ptr<v1::Datasets::Stub> datasets_;
  const std::unique_ptr<reflection::ServerReflection::Stub> reflection_;
  std::vector<std::shared_ptr<grpc::Channel>> bulk_;
  std::unique_ptr<grpc::ClientContext> ping_context_;
  std::unique_ptr<grpc::ClientReaderWriter<ServerReflectionRequest,
                                           ServerReflectionResponse>>
      ping_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<BareCalls>> MakeBareCalls(
    const std::string& address, const Credentials& credentials,
    const CancelToken& cancel) {
  HAWSER_ASSIGN_OR_RETURN(const auto channels,
                          ToGrpcCredentials(credentials, address,
                                            1 + RemoteOptions().bulk_threads));
  return std::make_unique<GrpcBareCalls>(address, channels, cancel);
}

}  // namespace hawser
