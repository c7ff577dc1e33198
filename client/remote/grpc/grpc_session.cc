#include "client/remote/grpc/grpc_session.h"

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
                                     GrpcPoller* poller,
                                     SessionCallbacks callbacks)
    : callbacks_(std::move(callbacks)), call_(this, poller) {
  MutexLock lock(&mu_);
  call_.Start(stub);
}

GrpcSessionStream::~GrpcSessionStream() {
  call_.Cancel();
  MutexLock lock(&mu_);
  writable_ = false;
  changed_.Wait(&mu_,
                [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return done_; });
}

void GrpcSessionStream::Send(std::shared_ptr<const v1::ClientMessage> message) {
  MutexLock lock(&mu_);
  if (!writable_) return;
  outgoing_.Add(std::move(message));
  if (open_ && !outgoing_.writing()) WriteNext();
}

bool GrpcSessionStream::SendInBatch(
    std::shared_ptr<const v1::ClientMessage> message, size_t batch) {
  MutexLock lock(&mu_);
  if (!writable_) return false;
  outgoing_.Add(std::move(message));
  if (!open_ || outgoing_.MayWaitFor(batch)) return false;
  if (outgoing_.writing()) return true;
  WriteNext();
  return false;
}

void GrpcSessionStream::Flush() {
  MutexLock lock(&mu_);
  if (!writable_ || !open_ || outgoing_.writing()) return;
  if (!outgoing_.empty()) WriteNext();
}

void GrpcSessionStream::AllowBatches() {
  MutexLock lock(&mu_);
  outgoing_.AllowBatches();
}

void GrpcSessionStream::ReadNext() {
  read_waits_ = false;
  call_.Read();
}

// A read that begins with nothing to come has gRPC tell the server at once how
// much more it may send: a message of its own that both ends pay for. If the
// read begins after the next write, that goes along.
void GrpcSessionStream::ReadLater() {
  if (!call_.AwaitReadTurn()) return ReadNext();
  read_waits_ = true;
}

void GrpcSessionStream::WriteNext() {
  call_.Write(outgoing_.BeginWrite());
  if (read_waits_) ReadNext();
}

void GrpcSessionStream::EndWrites() {
  writable_ = false;
  call_.WritesDone();
}

void GrpcSessionStream::TakeStatus() {
  writable_ = false;
  call_.Finish();
}

void GrpcSessionStream::Finish(absl::Time deadline) {
  MutexLock lock(&mu_);
  if (!writable_ || finishing_) return;
  finishing_ = true;
  if (open_ && !outgoing_.writing()) EndWrites();
  changed_.WaitUntil(&mu_, deadline,
                     [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return done_; });
}

void GrpcSessionStream::OnDone(SessionCall::Kind kind, bool ok) {
  // They are ordered by kind.
  static constexpr void (GrpcSessionStream::*kHandlers[SessionCall::kKinds])(
      bool) = {
      &GrpcSessionStream::OnStarted,  &GrpcSessionStream::OnRead,
      &GrpcSessionStream::OnWritten,  &GrpcSessionStream::OnWritesDone,
      &GrpcSessionStream::OnReadTurn, &GrpcSessionStream::OnFinished,
  };
  (this->*kHandlers[static_cast<int>(kind)])(ok);
  {
    MutexLock lock(&mu_);
    if (!call_.Land() || !finished_) return;
  }
  callbacks_.on_closed({FromGrpc(call_.status()), IsRefusal(call_.status())});
  MutexLock lock(&mu_);
  done_ = true;
  changed_.SignalAll();
}

void GrpcSessionStream::OnStarted(bool ok) {
  MutexLock lock(&mu_);
  if (!ok) return TakeStatus();
  open_ = true;
  ReadNext();
  if (!outgoing_.empty()) {
    WriteNext();
  } else if (finishing_) {
    EndWrites();
  }
}

void GrpcSessionStream::OnRead(bool ok) {
  if (ok) callbacks_.on_message(call_.incoming());
  MutexLock lock(&mu_);
  ok ? ReadLater() : TakeStatus();
}

void GrpcSessionStream::OnReadTurn(bool) {
  MutexLock lock(&mu_);
  if (read_waits_) ReadNext();
}

void GrpcSessionStream::OnWritten(bool ok) {
  MutexLock lock(&mu_);
  outgoing_.EndWrite();
  if (!ok) {
    writable_ = false;  // the read says why
  } else if (!writable_) {
    outgoing_.Clear();
  } else if (!outgoing_.empty()) {
    WriteNext();
  } else if (finishing_) {
    EndWrites();
  }
}

void GrpcSessionStream::OnWritesDone(bool) {}

void GrpcSessionStream::OnFinished(bool) {
  MutexLock lock(&mu_);
  finished_ = true;
}

}  // namespace hawser
