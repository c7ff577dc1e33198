// GrpcSessionStream: a SessionStream on gRPC's callback API.
#ifndef HAWSER_CLIENT_REMOTE_GRPC_SESSION_H_
#define HAWSER_CLIENT_REMOTE_GRPC_SESSION_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>
#include <grpcpp/support/status.h>

#include <deque>
#include <memory>
#include <vector>

#include "client/remote/transport.h"
#include "core/base/mutex.h"
#include "google/protobuf/arena.h"
#include "proto/executor.grpc.pb.h"

namespace hawser {

// gRPC takes one write at a time: an idle stream starts it on the calling
// thread, which saves a hop, a busy one queues behind it, and what has queued
// up goes out as one message: a message of its own costs gRPC some 15 us on
// both ends together, a request inside another one 1 us.
class GrpcSessionStream final
    : public SessionStream,
      public grpc::ClientBidiReactor<v1::ClientMessage, v1::ServerMessage> {
 public:
  GrpcSessionStream(v1::Executor::Stub* stub, SessionCallbacks callbacks);
  ~GrpcSessionStream() override;

  void Send(std::shared_ptr<const v1::ClientMessage> message) override;
  void AllowBatches() override;
  void Finish(absl::Time deadline) override;

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  // Nothing is written from outside a reaction any more: OnDone may come.
  void StopWriting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const SessionCallbacks callbacks_;
  grpc::ClientContext context_;
  v1::ServerMessage incoming_;

  Mutex mu_;
  CondVar changed_;
  using MessagePtr = std::shared_ptr<const v1::ClientMessage>;
  std::vector<MessagePtr> writing_ ABSL_GUARDED_BY(mu_);
  std::deque<MessagePtr> outgoing_ ABSL_GUARDED_BY(mu_);  // behind those
  google::protobuf::Arena batch_memory_ ABSL_GUARDED_BY(mu_);
  bool may_batch_ ABSL_GUARDED_BY(mu_) = false;
  bool writable_ ABSL_GUARDED_BY(mu_) = true;
  bool finishing_ ABSL_GUARDED_BY(mu_) = false;
  bool done_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_GRPC_SESSION_H_
