#include "tests/server/service/raw_stream.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/slice.h>

#include <chrono>

#include "proto/grpc_status.h"

namespace hawser::testing {

std::shared_ptr<grpc::Channel> ConnectRaw(const std::string& address) {
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  args.SetMaxReceiveMessageSize(-1);
  args.SetMaxSendMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                   args);
}

grpc::ByteBuffer ToBuffer(absl::string_view bytes) {
  const grpc::Slice slice(bytes.data(), bytes.size());
  return grpc::ByteBuffer(&slice, 1);
}

RawStream::RawStream(const std::shared_ptr<grpc::Channel>& channel,
                     const std::string& method)
    : stub_(channel) {
  context_.set_deadline(std::chrono::system_clock::now() +
                        std::chrono::seconds(60));
  stream_ = stub_.PrepareCall(&context_, method, &queue_);
  stream_->StartCall(this);
  Next();
}

RawStream::~RawStream() {
  if (!finished_) {
    context_.TryCancel();
    (void)Finish();  // what it says is known: cancelled
  }
  queue_.Shutdown();
  void* tag;
  bool ok;
  while (queue_.Next(&tag, &ok)) {
  }
}

bool RawStream::Next() {
  void* tag = nullptr;
  bool ok = false;
  return queue_.Next(&tag, &ok) && ok;
}

bool RawStream::Write(const grpc::ByteBuffer& message) {
  stream_->Write(message, this);
  return Next();
}

void RawStream::WritesDone() {
  stream_->WritesDone(this);
  Next();
}

std::optional<std::string> RawStream::Read() {
  grpc::ByteBuffer buffer;
  stream_->Read(&buffer, this);
  if (!Next()) return std::nullopt;
  std::vector<grpc::Slice> slices;
  buffer.Dump(&slices);
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

absl::Status RawStream::Finish() {
  finished_ = true;
  while (Read().has_value()) {
  }
  grpc::Status status;
  stream_->Finish(&status, this);
  Next();
  return FromGrpc(status);
}

absl::Status CallRaw(const std::shared_ptr<grpc::Channel>& channel,
                     const std::string& method,
                     const std::vector<grpc::ByteBuffer>& messages,
                     std::vector<std::string>* answers) {
  RawStream stream(channel, method);
  bool taken = true;
  for (size_t i = 0; taken && i < messages.size(); ++i) {
    taken = stream.Write(messages[i]);
  }
  if (taken) stream.WritesDone();
  while (answers != nullptr) {
    std::optional<std::string> answer = stream.Read();
    if (!answer.has_value()) break;
    answers->push_back(*std::move(answer));
  }
  return stream.Finish();
}

}  // namespace hawser::testing
