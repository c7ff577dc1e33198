#include "client/remote/grpc/bulk/bulk_stream.h"

#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "proto/grpc_status.h"

namespace hawser {
namespace {

// One thread does it all: it waits for what it has started itself.
class BulkStream {
 public:
  BulkStream(const BulkFrames& frames, const CancelToken& cancel)
      : frames_(frames), cancel_(cancel) {}
  ~BulkStream() {
    queue_.Shutdown();
    void* tag;
    bool ok;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  absl::Status Run(grpc::GenericStub* stub, const std::string& method,
                   absl::string_view address) {
    SetDeadline(cancel_, &context_);
    call_ = stub->PrepareCall(&context_, method, &queue_);
    ++under_way_;
    call_->StartCall(ToTag(kStarted));
    void* tag;
    bool ok;
    const CancelToken::Registration expiry = CancelWithin(cancel_, &context_);
    while (under_way_ > 0 && queue_.Next(&tag, &ok)) {
      --under_way_;
      OnDone(static_cast<Operation>(reinterpret_cast<intptr_t>(tag)), ok);
    }
    if (!taken_.ok()) return taken_;
    return CallStatus(status_, cancel_, address);
  }

 private:
  enum Operation : intptr_t { kStarted, kRead, kWritten, kFinished };
  static void* ToTag(Operation operation) {
    return reinterpret_cast<void*>(static_cast<intptr_t>(operation));
  }

  void OnDone(Operation operation, bool ok) {
    switch (operation) {
      case kStarted:
        if (!ok) return Finish();
        WriteNext();
        return ReadNext();
      case kRead:
        return ok ? Take() : Finish();
      case kWritten:
        if (ok && more_) WriteNext();  // broken: the status says why
        return;
      case kFinished:
        return;
    }
  }

  void WriteNext() {
    more_ = frames_.next(&outgoing_);
    ++under_way_;
    if (more_) {
      call_->Write(outgoing_, ToTag(kWritten));
    } else {
      call_->WriteLast(outgoing_, grpc::WriteOptions(), ToTag(kWritten));
    }
  }
  void ReadNext() {
    ++under_way_;
    call_->Read(&incoming_, ToTag(kRead));
  }
  void Take() {
    taken_ = frames_.take(&incoming_);
    if (taken_.ok()) return ReadNext();
    context_.TryCancel();
    Finish();
  }
  void Finish() {
    ++under_way_;
    call_->Finish(&status_, ToTag(kFinished));
  }

  const BulkFrames& frames_;
  const CancelToken& cancel_;
  grpc::CompletionQueue queue_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  grpc::ByteBuffer outgoing_;
  grpc::ByteBuffer incoming_;
  int under_way_ = 0;  // operations
  bool more_ = true;
  absl::Status taken_;
  grpc::Status status_;
};

}  // namespace

absl::Status RunBulkStream(grpc::GenericStub* stub, const std::string& method,
                           const BulkFrames& frames, const CancelToken& cancel,
                           absl::string_view address) {
  HAWSER_RETURN_IF_ERROR(Annotate(cancel.Check(), address));
  BulkStream stream(frames, cancel);
  return stream.Run(stub, method, address);
}

CancelToken::Registration CancelWithin(const CancelToken& cancel,
                                       grpc::ClientContext* context) {
  if (!cancel.can_expire()) return {};
  return cancel.OnExpiry(
      [context](const absl::Status&) { context->TryCancel(); });
}

absl::Status CallStatus(const grpc::Status& status, const CancelToken& cancel,
                        absl::string_view address) {
  if (status.ok()) return absl::OkStatus();
  switch (status.error_code()) {
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      HAWSER_RETURN_IF_ERROR(Annotate(cancel.Check(), address));
      return Annotate(FromGrpc(status), address);
    case grpc::StatusCode::UNAVAILABLE:
      return Annotate(FromGrpc(status), address);
    default:
      return FromGrpc(status);
  }
}

void SetDeadline(const CancelToken& cancel, grpc::ClientContext* context) {
  if (cancel.deadline() == absl::InfiniteFuture()) return;
  context->set_deadline(ToWallChrono(cancel.deadline()));
}

grpc::ByteBuffer ToBuffer(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

absl::Status FromBuffer(grpc::ByteBuffer buffer,
                        google::protobuf::MessageLite* message) {
  grpc::ProtoBufferReader reader(&buffer);
  if (message->ParseFromZeroCopyStream(&reader)) return absl::OkStatus();
  return DataLoss("an answer is no ", message->GetTypeName());
}

}  // namespace hawser
