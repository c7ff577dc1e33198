// SessionCall: the gRPC call below a session stream.
#ifndef HAWSER_CLIENT_REMOTE_GRPC_SESSION_CALL_H_
#define HAWSER_CLIENT_REMOTE_GRPC_SESSION_CALL_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/status.h>

#include <cstdint>
#include <memory>

#include "client/remote/grpc/grpc_poller.h"
#include "proto/executor.grpc.pb.h"

namespace hawser {

// Starts the operations of one call, and counts those under way; at most one of
// each kind is. Its owner says which may start, and calls it under the owner's
// lock; Cancel alone takes no lock.
class SessionCall {
 public:
  // kReadTurn is no operation of gRPC: it comes before a thread polls again.
  enum class Kind : uint8_t {
    kStart,
    kRead,
    kWrite,
    kWritesDone,
    kReadTurn,
    kFinish,
  };
  static constexpr int kKinds = 6;

  class Owner {
   public:
    // An operation is over. Called on the thread that polls, without a lock.
    // The operation counts as under way until the owner calls Land.
    virtual void OnDone(Kind kind, bool ok) = 0;

   protected:
    ~Owner() = default;
  };

  // `poller` and `owner` outlive it.
  SessionCall(Owner* owner, GrpcPoller* poller) : poller_(poller) {
    for (int kind = 0; kind < kKinds; ++kind) {
      operations_[kind] = Operation(owner, static_cast<Kind>(kind));
    }
  }

  void Start(v1::Executor::Stub* stub) {
    call_ = stub->PrepareAsyncSession(&context_, poller_->queue());
    call_->StartCall(Launch(Kind::kStart));
  }
  void Read() { call_->Read(&incoming_, Launch(Kind::kRead)); }
  // `message` is good until the operation is over.
  void Write(const v1::ClientMessage& message) {
    call_->Write(message, Launch(Kind::kWrite));
  }
  void WritesDone() { call_->WritesDone(Launch(Kind::kWritesDone)); }
  void Finish() { call_->Finish(&status_, Launch(Kind::kFinish)); }
  // False, and never: no thread is about to poll.
  bool AwaitReadTurn() {
    if (!poller_->Defer(&operations_[static_cast<int>(Kind::kReadTurn)])) {
      return false;
    }
    ++under_way_;
    return true;
  }
  void Cancel() { context_.TryCancel(); }

  // The operation that OnDone tells of is dealt with. True: it was the last one
  // under way.
  bool Land() { return --under_way_ == 0; }

  // Returns the message of the last read, until the next one begins.
  v1::ServerMessage* incoming() { return &incoming_; }
  // How the call ended, once kFinish is over.
  const grpc::Status& status() const { return status_; }

 private:
  class Operation final : public GrpcPoller::Tag {
   public:
    Operation() = default;
    Operation(Owner* owner, Kind kind) : owner_(owner), kind_(kind) {}
    void Done(bool ok) override { owner_->OnDone(kind_, ok); }

   private:
    Owner* owner_ = nullptr;
    Kind kind_ = Kind::kStart;
  };

  GrpcPoller::Tag* Launch(Kind kind) {
    ++under_way_;
    return &operations_[static_cast<int>(kind)];
  }

  GrpcPoller* const poller_;
  grpc::ClientContext context_;
  std::unique_ptr<
      grpc::ClientAsyncReaderWriter<v1::ClientMessage, v1::ServerMessage>>
      call_;
  v1::ServerMessage incoming_;
  grpc::Status status_;
  Operation operations_[kKinds];
  int under_way_ = 0;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_GRPC_SESSION_CALL_H_
