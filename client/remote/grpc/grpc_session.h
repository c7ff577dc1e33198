// GrpcSessionStream: a SessionStream on gRPC.
#ifndef HAWSER_CLIENT_REMOTE_GRPC_GRPC_SESSION_H_
#define HAWSER_CLIENT_REMOTE_GRPC_GRPC_SESSION_H_

#include <memory>

#include "client/remote/grpc/grpc_poller.h"
#include "client/remote/grpc/outgoing_messages.h"
#include "client/remote/grpc/session_call.h"
#include "client/remote/link/transport.h"
#include "core/base/mutex.h"
#include "proto/executor.grpc.pb.h"

namespace hawser {

// gRPC takes one write at a time: an idle stream starts it on the calling
// thread, which saves a hop, a busy one queues behind it.
class GrpcSessionStream final : public SessionStream,
                                private SessionCall::Owner {
 public:
  // `poller` outlives it.
  GrpcSessionStream(v1::Executor::Stub* stub, GrpcPoller* poller,
                    SessionCallbacks callbacks);
  ~GrpcSessionStream() override;

  void Send(std::shared_ptr<const v1::ClientMessage> message) override;
  bool SendInBatch(std::shared_ptr<const v1::ClientMessage> message,
                   size_t batch) override;
  void Flush() override;
  void AllowBatches() override;
  void Finish(absl::Time deadline) override;

 private:
  void OnDone(SessionCall::Kind kind, bool ok) override;
  void OnStarted(bool ok);
  void OnRead(bool ok);
  void OnWritten(bool ok);
  void OnWritesDone(bool ok);
  void OnFinished(bool ok);
  void OnReadTurn(bool ok);
  // Each starts an operation.
  void ReadNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // It happens at the latest when a thread polls.
  void ReadLater() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndWrites() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void TakeStatus() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const SessionCallbacks callbacks_;
  // Started under mu_. incoming() is read in OnRead, and status() once
  // finished_, without it.
  SessionCall call_;

  Mutex mu_;
  CondVar changed_;
  OutgoingMessages outgoing_ ABSL_GUARDED_BY(mu_);
  bool read_waits_ ABSL_GUARDED_BY(mu_) = false;  // for its turn, or a write
  bool open_ ABSL_GUARDED_BY(mu_) = false;        // writes may start
  bool writable_ ABSL_GUARDED_BY(mu_) = true;     // messages are still taken
  bool finishing_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;  // the status is there
  bool done_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_GRPC_GRPC_SESSION_H_
