#include "tests/server/access/access_server.h"

#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include <chrono>
#include <utility>

#include "client/remote/grpc/grpc_transport.h"
#include "core/base/status.h"
#include "core/wire/codec.h"
#include "kernels/cpu/client/cpu_client.h"
#include "proto/grpc_status.h"

namespace hawser::testing {

absl::StatusOr<std::unique_ptr<server::Host>> StartHost(
    server::AccessOptions access, std::string listen, absl::Duration lease) {
  server::HostOptions options{.listen = std::move(listen),
                              .access = std::move(access)};
  options.executor.sessions.lease = lease;
  return server::Host::Start(cpu::MakeCpuClient(), std::move(options));
}

absl::StatusOr<std::shared_ptr<runtime::Client>> ConnectTo(
    const server::Host& host, Credentials credentials) {
  return ConnectRemote(host.address(), {.credentials = std::move(credentials)});
}

absl::Status LetsIn(const server::Host& host, Credentials credentials) {
  HAWSER_ASSIGN_OR_RETURN(const auto client,
                          ConnectTo(host, std::move(credentials)));
  return client->capabilities().status();
}

RawClient::RawClient(const std::string& address, std::string token)
    : token_(std::move(token)),
      channel_(
          grpc::CreateChannel(address, grpc::InsecureChannelCredentials())),
      executor_(v1::Executor::NewStub(channel_)),
      datasets_(v1::Datasets::NewStub(channel_)) {}

std::unique_ptr<grpc::ClientContext> RawClient::Context() const {
  auto context = std::make_unique<grpc::ClientContext>();
  if (!token_.empty())
    context->AddMetadata("authorization", "Bearer " + token_);
  context->set_deadline(std::chrono::system_clock::now() +
                        std::chrono::seconds(30));
  return context;
}

RawSession::RawSession(RawClient& client)
    : context_(client.Context()),
      stream_(client.executor().Session(context_.get())) {}

RawSession::~RawSession() {
  context_->TryCancel();
  if (!finished_) stream_->Finish();
}

v1::ServerMessage RawSession::Next() {
  v1::ServerMessage message;
  if (stream_->Read(&message)) return message;
  // The stream's own end, as if it were an answer.
  message.Clear();
  finished_ = true;
  ToProto(FromGrpc(stream_->Finish()), message.mutable_status());
  return message;
}

v1::ServerMessage RawSession::Open(uint64_t session_id,
                                   const std::string& secret) {
  v1::ClientMessage message;
  message.mutable_open()->set_session_id(session_id);
  message.mutable_open()->set_secret(secret);
  stream_->Write(message);
  return Next();
}

v1::ServerMessage RawSession::Ask(v1::ClientMessage request) {
  request.set_sequence(++sequence_);
  stream_->Write(request);
  while (true) {
    v1::ServerMessage message = Next();
    if (message.more().empty()) return message;
    for (v1::ServerMessage& one : *message.mutable_more()) {
      if (one.sequence() == sequence_) return one;
    }
  }
}

absl::Status CallEmpty(const RawClient& client, const std::string& method) {
  grpc::CompletionQueue queue;
  const auto done = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  grpc::GenericStub stub(client.channel());
  const auto context = client.Context();
  const auto call = stub.PrepareCall(context.get(), method, &queue);
  call->StartCall(nullptr);
  done();
  grpc::Slice nothing;
  call->WriteLast(grpc::ByteBuffer(&nothing, 1), grpc::WriteOptions(), nullptr);
  done();
  grpc::ByteBuffer answer;
  do {
    call->Read(&answer, nullptr);
  } while (done());
  grpc::Status status;
  call->Finish(&status, nullptr);
  done();
  return FromGrpc(status);
}

}  // namespace hawser::testing
