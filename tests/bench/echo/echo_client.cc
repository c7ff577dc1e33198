#include "tests/bench/echo/echo_client.h"

#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>

#include <algorithm>

#include "core/base/digest.h"
#include "core/base/status.h"
#include "proto/grpc_status.h"
#include "tests/bench/echo/echo_frame.h"

namespace hawser::bench {
namespace {

// How long `data` of `message` must be for all of it to take `bytes`.
size_t DataFor(size_t bytes, EchoMessage message) {
  message.set_data(std::string(bytes, 'x'));
  const size_t over = message.ByteSizeLong() - bytes;
  return bytes - std::min(bytes, over);
}

// Not shared with other clients of the same address.
std::shared_ptr<grpc::Channel> OwnConnection(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                   arguments);
}

}  // namespace

EchoMessage RequestOf(MessageSizes sizes) {
  EchoMessage request;
  request.set_answer_bytes(DataFor(sizes.answer, {}));
  request.set_data(std::string(DataFor(sizes.request, request), 'x'));
  return request;
}

EchoClient::EchoClient(const std::string& address)
    : channel_(OwnConnection(address)),
      stub_(Echo::NewStub(channel_)),
      ping_(stub_->Ping(&ping_context_)) {}

EchoClient::~EchoClient() {
  ping_->WritesDone();
  ping_->Finish().IgnoreError();
}

absl::Status EchoClient::Ping(const EchoMessage& request) {
  HAWSER_RETURN_IF_ERROR(BeginPing(request));
  return EndPing();
}

absl::Status EchoClient::BeginPing(const EchoMessage& request) {
  if (ping_->Write(request)) return absl::OkStatus();
  return Unavailable("the echo server's stream broke");
}

absl::Status EchoClient::EndPing() {
  EchoMessage answer;
  if (ping_->Read(&answer)) return absl::OkStatus();
  return Unavailable("the echo server's stream broke");
}

absl::Status EchoClient::Unary(const EchoMessage& request) {
  grpc::ClientContext context;
  EchoMessage answer;
  return FromGrpc(stub_->Unary(&context, request, &answer));
}

absl::Status EchoClient::Put(absl::Span<const char> data, size_t frame_bytes,
                             bool hashed) {
  grpc::ClientContext context;
  if (hashed) context.AddMetadata(kHashed, "");
  grpc::ByteBuffer answer;
  const grpc::internal::RpcMethod method(
      "/hawser.bench.Echo/Put", grpc::internal::RpcMethod::CLIENT_STREAMING);
  const std::unique_ptr<grpc::ClientWriter<grpc::ByteBuffer>> writer(
      grpc::internal::ClientWriterFactory<grpc::ByteBuffer>::Create(
          channel_.get(), method, &context, &answer));
  Hasher hasher;
  while (!data.empty()) {
    const size_t n = std::min(frame_bytes, data.size());
    if (hashed) hasher.Bytes(data.subspan(0, n));
    if (!writer->Write(FrameOf(data.subspan(0, n)))) break;
    data.remove_prefix(n);
  }
  writer->WritesDone();
  return FromGrpc(writer->Finish());
}

absl::Status EchoClient::Get(absl::Span<char> into, size_t frame_bytes) {
  grpc::ClientContext context;
  GetRequest request;
  request.set_bytes(into.size());
  request.set_frame_bytes(static_cast<uint32_t>(frame_bytes));
  const grpc::internal::RpcMethod method(
      "/hawser.bench.Echo/Get", grpc::internal::RpcMethod::SERVER_STREAMING);
  const std::unique_ptr<grpc::ClientReader<grpc::ByteBuffer>> reader(
      grpc::internal::ClientReaderFactory<grpc::ByteBuffer>::Create(
          channel_.get(), method, &context, request));
  grpc::ByteBuffer frame;
  for (size_t at = 0; reader->Read(&frame);) {
    if (!CopyFrame(&frame, into.subspan(at))) {
      return Internal("a frame without slices");
    }
    at = std::min(at + frame_bytes, into.size());
  }
  return FromGrpc(reader->Finish());
}

}  // namespace hawser::bench
