// GrpcSessionStream: a SessionStream on gRPC.
#ifndef HAWSER_CLIENT_REMOTE_GRPC_GRPC_SESSION_H_
#define HAWSER_CLIENT_REMOTE_GRPC_GRPC_SESSION_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/status.h>

#include <memory>

#include "client/remote/grpc/grpc_poller.h"
#include "client/remote/grpc/outgoing_messages.h"
#include "client/remote/link/transport.h"
#include "core/base/mutex.h"
#include "proto/executor.grpc.pb.h"

namespace hawser {

// gRPC takes one write at a time: an idle stream starts it on the calling
// thread, which saves a hop, a busy one queues behind it.
class GrpcSessionStream final : public SessionStream {
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
  // An operation of the stream, at most one of each kind under way.
  class Operation final : public GrpcPoller::Tag {
   public:
    using Handler = void (GrpcSessionStream::*)(bool ok);
    Operation(GrpcSessionStream* stream, Handler handler)
        : stream_(stream), handler_(handler) {}
    void Done(bool ok) override { stream_->OnDone(handler_, ok); }

   private:
    GrpcSessionStream* const stream_;
    const Handler handler_;
  };

  void OnDone(Operation::Handler handler, bool ok);
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

  GrpcPoller* const poller_;
  const SessionCallbacks callbacks_;
  grpc::ClientContext context_;
  v1::ServerMessage incoming_;
  grpc::Status status_;  // once finished_
  Operation started_{this, &GrpcSessionStream::OnStarted};
  Operation read_{this, &GrpcSessionStream::OnRead};
  Operation written_{this, &GrpcSessionStream::OnWritten};
  Operation writes_done_{this, &GrpcSessionStream::OnWritesDone};
  Operation read_turn_{this, &GrpcSessionStream::OnReadTurn};
  Operation finished_tag_{this, &GrpcSessionStream::OnFinished};

  Mutex mu_;
  CondVar changed_;
  std::unique_ptr<
      grpc::ClientAsyncReaderWriter<v1::ClientMessage, v1::ServerMessage>>
      call_ ABSL_GUARDED_BY(mu_);
  int under_way_ ABSL_GUARDED_BY(mu_) = 0;  // operations
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
