#include "tests/bench/echo_client.h"

#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <algorithm>

#include "core/base/status.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "proto/grpc_status.h"

namespace hawser::bench {
namespace {

// How long `data` of `message` must be for all of it to take `bytes`.
size_t DataFor(size_t bytes, EchoMessage message) {
  message.set_data(std::string(bytes, 'x'));
  const size_t over = message.ByteSizeLong() - bytes;
  return bytes - std::min(bytes, over);
}

// `data` as the bytes of an EchoMessage, not copied.
grpc::ByteBuffer FrameOf(absl::Span<const char> data) {
  std::string prefix;
  {
    google::protobuf::io::StringOutputStream stream(&prefix);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.WriteTag(EchoMessage::kDataFieldNumber << 3 | 2);
    out.WriteVarint32(static_cast<uint32_t>(data.size()));
  }
  const grpc::Slice slices[] = {
      grpc::Slice(prefix),
      grpc::Slice(data.data(), data.size(), grpc::Slice::STATIC_SLICE)};
  return grpc::ByteBuffer(slices, 2);
}

}  // namespace

EchoMessage RequestOf(MessageSizes sizes) {
  EchoMessage request;
  request.set_answer_bytes(DataFor(sizes.answer, {}));
  request.set_data(std::string(DataFor(sizes.request, request), 'x'));
  return request;
}

EchoClient::EchoClient(const std::string& address)
    : channel_(
          grpc::CreateChannel(address, grpc::InsecureChannelCredentials())),
      stub_(Echo::NewStub(channel_)),
      ping_(stub_->Ping(&ping_context_)) {}

EchoClient::~EchoClient() {
  ping_->WritesDone();
  ping_->Finish().IgnoreError();
}

absl::Status EchoClient::Ping(const EchoMessage& request) {
  EchoMessage answer;
  if (ping_->Write(request) && ping_->Read(&answer)) {
    return absl::OkStatus();
  }
  return Unavailable("the echo server's stream broke");
}

absl::Status EchoClient::Unary(const EchoMessage& request) {
  grpc::ClientContext context;
  EchoMessage answer;
  return FromGrpc(stub_->Unary(&context, request, &answer));
}

absl::Status EchoClient::Put(absl::Span<const char> data, size_t frame_bytes) {
  grpc::ClientContext context;
  grpc::ByteBuffer answer;
  const grpc::internal::RpcMethod method(
      "/hawser.bench.Echo/Put", grpc::internal::RpcMethod::CLIENT_STREAMING);
  const std::unique_ptr<grpc::ClientWriter<grpc::ByteBuffer>> writer(
      grpc::internal::ClientWriterFactory<grpc::ByteBuffer>::Create(
          channel_.get(), method, &context, &answer));
  while (!data.empty()) {
    const size_t n = std::min(frame_bytes, data.size());
    if (!writer->Write(FrameOf(data.subspan(0, n)))) break;
    data.remove_prefix(n);
  }
  writer->WritesDone();
  return FromGrpc(writer->Finish());
}

}  // namespace hawser::bench
