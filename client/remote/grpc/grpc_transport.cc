#include "client/remote/grpc/grpc_transport.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/async_unary_call.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/remote/grpc/bulk/bulk_calls.h"
#include "client/remote/grpc/bulk/bulk_stream.h"
#include "client/remote/grpc/grpc_connection.h"
#include "client/remote/grpc/grpc_credentials.h"
#include "client/remote/grpc/grpc_poller.h"
#include "client/remote/grpc/grpc_session.h"
#include "client/remote/remote_client.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/runtime/attempt.h"
#include "proto/executor.grpc.pb.h"
#include "proto/grpc_status.h"

namespace hawser {
namespace {

// Calls above this go over a bulk connection.
constexpr size_t kSmallCallBytes = 64 << 10;

// One Call, alive until gRPC is through with it.
class UnaryCall final : public GrpcPoller::Tag {
 public:
  static Future<v1::CallReply> Start(v1::Executor::Stub* stub,
                                     GrpcPoller* poller,
                                     const v1::CallRequest& request,
                                     const CancelToken& cancel,
                                     const std::string& address) {
    auto* call = new UnaryCall(cancel, address);
    Future<v1::CallReply> future = call->promise_.future();
    SetDeadline(cancel, &call->context_);
    call->reader_ = stub->AsyncCall(&call->context_, request, poller->queue());
    call->reader_->Finish(&call->reply_, &call->status_, call);
    return future;
  }

  void Done(bool) override {
    const absl::Status done = CallStatus(status_, cancel_, address_);
    if (done.ok()) {
      promise_.Set(std::move(reply_));
    } else {
      promise_.Set(done);
    }
    delete this;
  }

 private:
  UnaryCall(const CancelToken& cancel, const std::string& address)
      : cancel_(cancel), address_(address) {}

  const CancelToken cancel_;
  const std::string address_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<v1::CallReply>> reader_;
  v1::CallReply reply_;
  grpc::Status status_;
  Promise<v1::CallReply> promise_;
};

class GrpcTransport final : public Transport {
 public:
  // The first connection is that of the session, the others are for bulk data.
  GrpcTransport(
      std::string address,
      const std::vector<std::shared_ptr<grpc::ChannelCredentials>>& credentials,
      const RemoteOptions& options)
      : address_(std::move(address)),
        protects_bytes_(!options.credentials.ca_file.empty()),
        silence_(options.silence) {
    for (const auto& own : credentials) {
      connections_.push_back(
          std::make_unique<GrpcConnection>(address_, own, options, poller_));
      const auto channel = connections_.back()->channel();
      if (session_executor_ == nullptr) {
        session_executor_ = v1::Executor::NewStub(channel);
        continue;
      }
      bulk_.push_back(std::make_unique<Bulk>(
          Bulk{grpc::GenericStub(channel), v1::Executor::NewStub(channel)}));
    }
  }

  std::string address() const override { return address_; }
  bool protects_bytes() const override { return protects_bytes_; }

  std::unique_ptr<SessionStream> OpenSession(
      SessionCallbacks callbacks) override {
    return std::make_unique<GrpcSessionStream>(
        session_executor_.get(), poller_.get(), std::move(callbacks));
  }

  Future<v1::CallReply> Call(v1::CallRequest request,
                             const runtime::CallOptions& options) override {
    v1::Executor::Stub* stub = request.ByteSizeLong() > kSmallCallBytes
                                   ? NextBulk().executor.get()
                                   : session_executor_.get();
    return UnaryCall::Start(stub, poller_.get(), request,
                            runtime::AttemptToken(options), address_);
  }

  absl::Status Upload(const v1::UploadChunk& header, const Literal& value,
                      const runtime::CallOptions& options) override {
    return BulkUpload(NextConnection(), header, value, options);
  }
  absl::Status Download(const v1::DownloadRequest& request,
                        absl::Span<char> into,
                        const runtime::CallOptions& options) override {
    return BulkDownload(NextConnection(), request, into, options);
  }
  absl::Status PutChunks(uint64_t upload, absl::Span<const ChunkToPut> chunks,
                         const runtime::CallOptions& options) override {
    return BulkPut(NextConnection(), upload, chunks, options);
  }
  absl::Status Get(
      const v1::GetRequest& request,
      std::function<absl::StatusOr<absl::Span<char>>(const v1::ShapeProto&)>
          on_shape,
      const runtime::CallOptions& options) override {
    return BulkGet(NextConnection(), request, on_shape, options);
  }

  using Transport::Ask;
  absl::Status Ask(absl::string_view method,
                   const google::protobuf::Message& request,
                   google::protobuf::Message* reply,
                   const runtime::CallOptions& options) override {
    return AskOnce(NextConnection(), DatasetsMethodName(method), request, reply,
                   runtime::AttemptToken(options));
  }
  absl::Status AskPatiently(absl::string_view method,
                            const google::protobuf::Message& request,
                            google::protobuf::Message* reply,
                            const CancelToken& cancel) override {
    BulkConnection patient = NextConnection();
    patient.silence = absl::InfiniteDuration();
    return AskOnce(patient, DatasetsMethodName(method), request, reply, cancel);
  }

 private:
  static std::string DatasetsMethodName(absl::string_view method) {
    return absl::StrCat("/hawser.v1.Datasets/", method);
  }
  struct Bulk {
    grpc::GenericStub generic;
    std::unique_ptr<v1::Executor::Stub> executor;
  };

  Bulk& NextBulk() { return *bulk_[next_bulk_.fetch_add(1) % bulk_.size()]; }

  BulkConnection NextConnection() {
    return {&NextBulk().generic, address_, silence_};
  }

  const std::string address_;
  const bool protects_bytes_;
  const absl::Duration silence_;
  const std::shared_ptr<GrpcPoller> poller_ = GrpcPoller::Shared();
  std::vector<std::unique_ptr<GrpcConnection>> connections_;
  std::unique_ptr<v1::Executor::Stub> session_executor_;
  std::vector<std::unique_ptr<Bulk>> bulk_;
  std::atomic<uint32_t> next_bulk_{0};
};

}  // namespace

absl::Status CheckAddress(const std::string& address) {
  if (absl::StartsWith(address, "unix:")) return absl::OkStatus();
  const size_t colon = address.rfind(':');
  int port;
  if (colon == std::string::npos || colon == 0 ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 1 ||
      port > 65535) {
    return InvalidArgument("\"", address,
                           "\" is no address: must be "
                           "host:port or unix:/path");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Transport>> MakeGrpcTransport(
    const std::string& address, const RemoteOptions& options) {
  HAWSER_RETURN_IF_ERROR(CheckAddress(address));
  HAWSER_ASSIGN_OR_RETURN(
      const auto credentials,
      ToGrpcCredentials(options.credentials, address,
                        1 + std::max(options.bulk_threads, 1)));
  return std::make_unique<GrpcTransport>(address, credentials, options);
}

absl::StatusOr<std::shared_ptr<runtime::Client>> ConnectRemote(
    std::string address, RemoteOptions options) {
  HAWSER_ASSIGN_OR_RETURN(auto transport, MakeGrpcTransport(address, options));
  return MakeRemoteClient(std::move(transport), std::move(options));
}

}  // namespace hawser
