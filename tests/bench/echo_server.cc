// A bare gRPC server in a process of its own. Prints "echo ready on ADDRESS".
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "tests/bench/echo/echo.grpc.pb.h"
#include "tests/bench/echo/echo_frame.h"

namespace hawser::bench {
namespace {

// What a Put writes to; larger ones start over at the front.
constexpr size_t kRoom = size_t{256} << 20;

void Answer(const EchoMessage& request, EchoMessage* answer) {
  answer->mutable_data()->assign(request.answer_bytes(), 'x');
}

class PingReactor final
    : public grpc::ServerBidiReactor<EchoMessage, EchoMessage> {
 public:
  PingReactor() { StartRead(&request_); }
  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    Answer(request_, &answer_);
    StartWrite(&answer_);
  }
  void OnWriteDone(bool ok) override {
    if (ok) StartRead(&request_);
  }
  void OnDone() override { delete this; }

 private:
  EchoMessage request_;
  EchoMessage answer_;
};

// Raw, so that the data is copied once: from gRPC's buffers to its place.
class PutReactor final : public grpc::ServerReadReactor<grpc::ByteBuffer> {
 public:
  PutReactor(std::vector<char>* room, bool hashed, grpc::ByteBuffer* answer)
      : room_(*room), hashed_(hashed) {
    const grpc::Slice slice(EchoMessage().SerializeAsString());
    *answer = grpc::ByteBuffer(&slice, 1);
    StartRead(&buffer_);
  }
  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    std::vector<grpc::Slice> slices;
    if (!buffer_.Dump(&slices).ok()) {
      return Finish(grpc::Status(grpc::StatusCode::INTERNAL, "no slices"));
    }
    for (const grpc::Slice& slice : slices) {
      if (slice.size() > room_.size() - at_) at_ = 0;
      std::memcpy(room_.data() + at_, slice.begin(), slice.size());
      if (hashed_) hasher_.Bytes({room_.data() + at_, slice.size()});
      at_ += slice.size();
    }
    StartRead(&buffer_);
  }
  void OnDone() override { delete this; }

 private:
  std::vector<char>& room_;
  const bool hashed_;
  Hasher hasher_;
  size_t at_ = 0;
  grpc::ByteBuffer buffer_;
};

// Raw as well: frames point at the room.
class GetReactor final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  GetReactor(const std::vector<char>& room, const grpc::ByteBuffer& request)
      : room_(room) {
    grpc::ByteBuffer copy = request;
    grpc::ProtoBufferReader reader(&copy);
    if (!request_.ParseFromZeroCopyStream(&reader)) request_.Clear();
    Next();
  }
  void OnWriteDone(bool ok) override {
    ok ? Next() : Finish(grpc::Status::CANCELLED);
  }
  void OnDone() override { delete this; }

 private:
  void Next() {
    const size_t n =
        std::min<size_t>(request_.frame_bytes(), request_.bytes() - sent_);
    if (n == 0) return Finish(grpc::Status::OK);
    frame_ = FrameOf({room_.data() + sent_ % (room_.size() - n + 1), n});
    sent_ += n;
    StartWrite(&frame_);
  }

  const std::vector<char>& room_;
  GetRequest request_;
  size_t sent_ = 0;
  grpc::ByteBuffer frame_;
};

class EchoService final
    : public Echo::WithCallbackMethod_Unary<
          Echo::WithCallbackMethod_Ping<Echo::WithRawCallbackMethod_Put<
              Echo::WithRawCallbackMethod_Get<Echo::Service>>>> {
 public:
  grpc::ServerUnaryReactor* Unary(grpc::CallbackServerContext* context,
                                  const EchoMessage* request,
                                  EchoMessage* answer) override {
    Answer(*request, answer);
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
  grpc::ServerBidiReactor<EchoMessage, EchoMessage>* Ping(
      grpc::CallbackServerContext*) override {
    return new PingReactor;
  }
  grpc::ServerReadReactor<grpc::ByteBuffer>* Put(
      grpc::CallbackServerContext* context, grpc::ByteBuffer* answer) override {
    const bool hashed = context->client_metadata().count(kHashed) > 0;
    return new PutReactor(&room_, hashed, answer);
  }
  grpc::ServerWriteReactor<grpc::ByteBuffer>* Get(
      grpc::CallbackServerContext*, const grpc::ByteBuffer* request) override {
    return new GetReactor(room_, *request);
  }

 private:
  std::vector<char> room_ = std::vector<char>(kRoom, 'x');  // touched
};

}  // namespace

int Main() {
  EchoService service;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    std::fprintf(stderr, "echo_server: cannot listen on 127.0.0.1\n");
    return 1;
  }
  std::printf("echo ready on 127.0.0.1:%d\n", port);
  std::fflush(stdout);
  server->Wait();
  return 0;
}

}  // namespace hawser::bench

int main() { return hawser::bench::Main(); }
