#include "client/remote/grpc/bulk/bulk_stream.h"

#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "client/remote/link/transport.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "proto/grpc_status.h"

namespace hawser {
namespace {

// A wait that ends this much late means that this process stood still itself,
// which counts against no server.
constexpr absl::Duration kStoodStill = absl::Seconds(1);

// The operations of one call, and the silence of its other end.
class Operations {
 public:
  Operations(const BulkConnection& connection, grpc::ClientContext* context)
      : connection_(connection), context_(*context) {}
  ~Operations() {
    queue_.Shutdown();
    void* tag;
    bool ok;
    while (queue_.Next(&tag, &ok)) {
    }
  }
  grpc::CompletionQueue* queue() { return &queue_; }

  // Waits for the next operation to end. After so long a silence it cancels
  // the call, once, and goes on waiting.
  void Next(void** tag, bool* ok) {
    absl::Time until = SteadyNow() + connection_.silence;
    while (queue_.AsyncNext(tag, ok, ToWallChrono(until)) ==
           grpc::CompletionQueue::TIMEOUT) {
      const absl::Time now = SteadyNow();
      if (now - until < kStoodStill) {
        silent_ = true;
        context_.TryCancel();
        queue_.Next(tag, ok);
        return;
      }
      until = now + connection_.silence;
    }
  }

  // Returns how the call ended.
  absl::Status End(const grpc::Status& status, const CancelToken& cancel) {
    if (!silent_ || status.ok()) {
      return CallStatus(status, cancel, connection_.address);
    }
    HAWSER_RETURN_IF_ERROR(Annotate(cancel.Check(), connection_.address));
    return Unavailable(connection_.address, ": has said nothing for ",
                       absl::FormatDuration(connection_.silence),
                       ", though it was asked");
  }

 private:
  const BulkConnection& connection_;
  grpc::ClientContext& context_;
  grpc::CompletionQueue queue_;
  bool silent_ = false;
};

// One thread does it all: it waits for what it has started itself.
class BulkStream {
 public:
  BulkStream(const BulkConnection& connection, const BulkFrames& frames,
             const CancelToken& cancel)
      : connection_(connection), frames_(frames), cancel_(cancel) {}

  absl::Status Run(const std::string& method) {
    SetDeadline(cancel_, &context_);
    call_ =
        connection_.stub->PrepareCall(&context_, method, operations_.queue());
    ++under_way_;
    call_->StartCall(ToTag(kStarted));
    void* tag;
    bool ok;
    const CancelToken::Registration expiry = CancelWithin(cancel_, &context_);
    while (under_way_ > 0) {
      operations_.Next(&tag, &ok);
      --under_way_;
      OnDone(static_cast<Operation>(reinterpret_cast<intptr_t>(tag)), ok);
    }
    if (!broken_.ok()) return broken_;
    return operations_.End(status_, cancel_);
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
    const absl::StatusOr<bool> more = frames_.next(&outgoing_);
    if (!more.ok()) {
      broken_ = more.status();
      return context_.TryCancel();  // which ends the read that is under way
    }
    more_ = *more;
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
    broken_ = frames_.take(&incoming_);
    if (broken_.ok()) return ReadNext();
    context_.TryCancel();
    Finish();
  }
  void Finish() {
    ++under_way_;
    call_->Finish(&status_, ToTag(kFinished));
  }

  const BulkConnection& connection_;
  const BulkFrames& frames_;
  const CancelToken& cancel_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  Operations operations_{connection_, &context_};
  grpc::ByteBuffer outgoing_;
  grpc::ByteBuffer incoming_;
  int under_way_ = 0;  // operations
  bool more_ = true;
  absl::Status broken_;  // what frames_ said
  grpc::Status status_;
};

}  // namespace

absl::Status RunBulkStream(const BulkConnection& connection,
                           const std::string& method, const BulkFrames& frames,
                           const CancelToken& cancel) {
  HAWSER_RETURN_IF_ERROR(Annotate(cancel.Check(), connection.address));
  BulkStream stream(connection, frames, cancel);
  return stream.Run(method);
}

absl::Status AskOnce(const BulkConnection& connection,
                     const std::string& method,
                     const google::protobuf::MessageLite& request,
                     google::protobuf::MessageLite* reply,
                     const CancelToken& cancel) {
  HAWSER_RETURN_IF_ERROR(Annotate(cancel.Check(), connection.address));
  grpc::ClientContext context;
  SetDeadline(cancel, &context);
  grpc::ByteBuffer answer;
  grpc::Status status;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> call;
  Operations operations(connection, &context);
  call = connection.stub->PrepareUnaryCall(&context, method, ToBuffer(request),
                                           operations.queue());
  call->StartCall();
  call->Finish(&answer, &status, nullptr);
  const CancelToken::Registration expiry = CancelWithin(cancel, &context);
  void* tag;
  bool ok;
  operations.Next(&tag, &ok);
  HAWSER_RETURN_IF_ERROR(operations.End(status, cancel));
  return FromBuffer(std::move(answer), reply, connection.address);
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
                        google::protobuf::MessageLite* message,
                        const std::string& address) {
  grpc::ProtoBufferReader reader(&buffer);
  if (message->ParseFromZeroCopyStream(&reader)) return absl::OkStatus();
  return BrokenProtocol(address, "an answer is no ", message->GetTypeName());
}

}  // namespace hawser
