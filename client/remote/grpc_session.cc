#include "client/remote/grpc_session.h"

#include <utility>

#include "absl/strings/match.h"
#include "proto/grpc_status.h"

namespace hawser {
namespace {

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
  if (outgoing_.size() == 1) WriteNext();
}

void GrpcSessionStream::WriteNext() { StartWrite(outgoing_.front().get()); }

void GrpcSessionStream::Finish(absl::Time deadline) {
  MutexLock lock(&mu_);
  if (!writable_ || finishing_) return;
  finishing_ = true;
  if (outgoing_.empty()) {
    StartWritesDone();
    StopWriting();
  }
  changed_.WaitUntil(&mu_, deadline, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return done_;
  });
}

void GrpcSessionStream::OnWriteDone(bool ok) {
  MutexLock lock(&mu_);
  outgoing_.pop_front();
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
