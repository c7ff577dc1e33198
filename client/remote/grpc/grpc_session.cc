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
    : poller_(poller), callbacks_(std::move(callbacks)) {
  MutexLock lock(&mu_);
  call_ = stub->PrepareAsyncSession(&context_, poller->queue());
  ++under_way_;
  call_->StartCall(&started_);
}

GrpcSessionStream::~GrpcSessionStream() {
  context_.TryCancel();
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
  ++under_way_;
  call_->Read(&incoming_, &read_);
}

// A read that begins with nothing to come has gRPC tell the server at once how
// much more it may send: a message of its own that both ends pay for. If the
// read begins after the next write, that goes along.
void GrpcSessionStream::ReadLater() {
  if (!poller_->Defer(&read_turn_)) return ReadNext();
  read_waits_ = true;
  ++under_way_;
}

void GrpcSessionStream::WriteNext() {
  ++under_way_;
  call_->Write(outgoing_.BeginWrite(), &written_);
  if (read_waits_) ReadNext();
}

void GrpcSessionStream::EndWrites() {
  writable_ = false;
  ++under_way_;
  call_->WritesDone(&writes_done_);
}

void GrpcSessionStream::TakeStatus() {
  writable_ = false;
  ++under_way_;
  call_->Finish(&status_, &finished_tag_);
}

void GrpcSessionStream::Finish(absl::Time deadline) {
  MutexLock lock(&mu_);
  if (!writable_ || finishing_) return;
  finishing_ = true;
  if (open_ && !outgoing_.writing()) EndWrites();
  changed_.WaitUntil(&mu_, deadline,
                     [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return done_; });
}

void GrpcSessionStream::OnDone(Operation::Handler handler, bool ok) {
  (this->*handler)(ok);
  {
    MutexLock lock(&mu_);
    if (--under_way_ > 0 || !finished_) return;
  }
  callbacks_.on_closed({FromGrpc(status_), IsRefusal(status_)});
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
  if (ok) callbacks_.on_message(&incoming_);
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
