#include "client/remote/grpc_bulk.h"

#include <grpcpp/support/client_callback.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "proto/grpc_status.h"

namespace hawser {
namespace {

class BulkStream final
    : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  BulkStream(const BulkFrames& frames, const CallLimits& limits)
      : frames_(frames), limits_(limits) {}

  absl::Status Run(grpc::GenericStub* stub, const std::string& method,
                   absl::string_view address) {
    SetDeadline(limits_, &context_);
    stub->PrepareBidiStreamingCall(&context_, method, {}, this);
    more_ = frames_.next(&outgoing_);
    WriteOne();
    StartRead(&incoming_);
    StartCall();
    const grpc::Status status = Await(address);
    // Nothing runs any more, so no lock is needed.
    if (!taken_.ok()) return taken_;
    return CallStatus(status, limits_, address);
  }

  void OnWriteDone(bool ok) override {
    if (!ok || !more_) return;  // broken: OnDone says why
    more_ = frames_.next(&outgoing_);
    WriteOne();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    taken_ = frames_.take(&incoming_);
    if (taken_.ok()) {
      StartRead(&incoming_);
    } else {
      context_.TryCancel();
    }
  }

  void OnDone(const grpc::Status& status) override {
    MutexLock lock(&mu_);
    status_ = status;
    done_ = true;
    changed_.SignalAll();
  }

 private:
  void WriteOne() {
    if (more_) {
      StartWrite(&outgoing_);
    } else {
      StartWriteLast(&outgoing_, grpc::WriteOptions());
    }
  }

  grpc::Status Await(absl::string_view address) {
    MutexLock lock(&mu_);
    while (!done_) {
      const absl::Time now = absl::Now();
      if (!limits_.Check(now, address).ok()) context_.TryCancel();
      changed_.WaitUntil(&mu_,
                         limits_.any() ? now + kTick : absl::InfiniteFuture(),
                         [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
                           return done_;
                         });
    }
    return status_;
  }

  const BulkFrames& frames_;
  const CallLimits& limits_;
  grpc::ClientContext context_;
  grpc::ByteBuffer outgoing_;
  grpc::ByteBuffer incoming_;
  bool more_ = false;
  absl::Status taken_;

  Mutex mu_;
  CondVar changed_;
  bool done_ ABSL_GUARDED_BY(mu_) = false;
  grpc::Status status_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

absl::Status RunBulkStream(grpc::GenericStub* stub, const std::string& method,
                           const BulkFrames& frames, const CallLimits& limits,
                           absl::string_view address) {
  HAWSER_RETURN_IF_ERROR(limits.Check(absl::Now(), address));
  BulkStream stream(frames, limits);
  return stream.Run(stub, method, address);
}

absl::Status CallStatus(const grpc::Status& status, const CallLimits& limits,
                        absl::string_view address) {
  if (status.ok()) return absl::OkStatus();
  switch (status.error_code()) {
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      HAWSER_RETURN_IF_ERROR(limits.Check(absl::Now(), address));
      return Annotate(FromGrpc(status), address);
    case grpc::StatusCode::UNAVAILABLE:
      return Annotate(FromGrpc(status), address);
    default:
      return FromGrpc(status);
  }
}

void SetDeadline(const CallLimits& limits, grpc::ClientContext* context) {
  if (limits.deadline() == absl::InfiniteFuture()) return;
  // A year is as good as never, and does not overflow the conversion.
  const absl::Time cut =
      std::min(limits.deadline(), absl::Now() + absl::Hours(24 * 365));
  context->set_deadline(absl::ToChronoTime(cut));
}

}  // namespace hawser
