#include "client/remote/grpc_session.h"

#include <utility>

#include "absl/strings/match.h"
#include "proto/grpc_status.h"

namespace hawser {
namespace {

// Requests in one message. Beyond these a batch saves next to nothing, and
// the answer to its first request waits for the last to be sent.
constexpr size_t kBatchRequests = 64;
constexpr size_t kBatchBytes = 256 << 10;

// gRPC says it in words only: the errno of connect(2).
bool IsRefusal(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE &&
         (absl::StrContains(status.error_message(), "Connection refused") ||
          absl::StrContains(status.error_message(),
                            "No such file or directory"));
}

}  // namespace

GrpcSessionStream::GrpcSessionStream(v1::Executor::Stub* stub,
                                     SessionCallbacks callbacks)
    : callbacks_(std::move(callbacks)) {
  stub->async()->Session(&context_, this);
  AddHold();  // for writes, which come from any thread
  StartRead(&incoming_);
  StartCall();
}

GrpcSessionStream::~GrpcSessionStream() {
  {
    MutexLock lock(&mu_);
    StopWriting();
  }
  context_.TryCancel();
  MutexLock lock(&mu_);
  changed_.Wait(&mu_,
                [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return done_; });
}

void GrpcSessionStream::StopWriting() {
  if (!writable_) return;
  writable_ = false;
  RemoveHold();
}

void GrpcSessionStream::Send(std::shared_ptr<const v1::ClientMessage> message) {
  MutexLock lock(&mu_);
  if (!writable_) return;
  outgoing_.push_back(std::move(message));
  if (writing_.empty()) WriteNext();
}

void GrpcSessionStream::AllowBatches() {
  MutexLock lock(&mu_);
  may_batch_ = true;
}

void GrpcSessionStream::WriteNext() {
  size_t bytes = 0;
  do {
    bytes += outgoing_.front()->ByteSizeLong();
    writing_.push_back(std::move(outgoing_.front()));
    outgoing_.pop_front();
  } while (may_batch_ && !outgoing_.empty() && bytes < kBatchBytes &&
           writing_.size() < kBatchRequests);
  if (writing_.size() == 1) {
    StartWrite(writing_[0].get());
    return;
  }
  // Lent, not given: on an arena nothing is freed one by one.
  batch_memory_.Reset();
  auto* batch = google::protobuf::Arena::CreateMessage<v1::ClientMessage>(
      &batch_memory_);
  for (const MessagePtr& message : writing_) {
    batch->mutable_more()->UnsafeArenaAddAllocated(
        const_cast<v1::ClientMessage*>(message.get()));
  }
  StartWrite(batch);
}

void GrpcSessionStream::Finish(absl::Time deadline) {
  MutexLock lock(&mu_);
  if (!writable_ || finishing_) return;
  finishing_ = true;
  if (writing_.empty()) {
    StartWritesDone();
    StopWriting();
  }
  changed_.WaitUntil(&mu_, deadline, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return done_;
  });
}

void GrpcSessionStream::OnWriteDone(bool ok) {
  MutexLock lock(&mu_);
  writing_.clear();
  if (!ok) {
    StopWriting();
  } else if (!writable_) {
    outgoing_.clear();
  } else if (!outgoing_.empty()) {
    WriteNext();
  } else if (finishing_) {
    StartWritesDone();
    StopWriting();
  }
}

void GrpcSessionStream::OnReadDone(bool ok) {
  if (ok) {
    callbacks_.on_message(&incoming_);
    StartRead(&incoming_);
    return;
  }
  MutexLock lock(&mu_);
  StopWriting();
}

void GrpcSessionStream::OnDone(const grpc::Status& status) {
  callbacks_.on_closed({FromGrpc(status), IsRefusal(status)});
  MutexLock lock(&mu_);
  done_ = true;
  changed_.SignalAll();
}

}  // namespace hawser
