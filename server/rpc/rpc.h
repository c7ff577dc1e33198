// Rpc: one call of a client, as bytes; Reactor: what answers it.
#ifndef HAWSER_SERVER_RPC_RPC_H_
#define HAWSER_SERVER_RPC_RPC_H_

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "server/access/connections/connection_guard.h"

namespace hawser::server {

class Rpc;

// Answers one call. All events come one at a time, and must not block.
// Destroyed after OnDone, which comes once: after Finish, when nothing
// is under way any more.
class Reactor {
 public:
  explicit Reactor(Rpc* rpc) : rpc_(rpc) {}
  virtual ~Reactor() = default;
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  // A Read is over. False: the client will send nothing more, or is gone.
  virtual void OnRead(bool ok) {}
  // A Write is over. False: the client is gone.
  virtual void OnWritten(bool ok) {}
  // The client is gone or has cancelled; Finish is still due.
  virtual void OnCancel() {}
  virtual void OnDone() {}

 protected:
  // Its Read, Write and Finish may be called from any thread, until Finish.
  Rpc& rpc() const { return *rpc_; }

 private:
  Rpc* const rpc_;
};

// Thread-safe but for two Reads, or two Writes, at a time.
class Rpc {
 public:
  const grpc::ServerContextBase& context() const { return context_; }
  // Things that a call has of its server until it is over.
  struct Held {
    // The connection by which it came; null: see ConnectionGuard::Find.
    std::shared_ptr<Connection> connection;
    std::shared_ptr<void> slot;  // among calls of which there are few
  };
  Held& held() { return held_; }
  // The deadline by SteadyNow.
  absl::Time deadline() const {
    return FromWall(absl::FromChrono(context_.deadline()));
  }
  // The client is gone or has cancelled; certain only in OnCancel and OnDone.
  bool cancelled() const { return cancelled_; }

  void Read(grpc::ByteBuffer* into);
  // `message` may change as soon as this returns.
  void Write(const grpc::ByteBuffer& message);
  // The last thing a reactor does. A Read or Write under way still ends.
  void Finish(const absl::Status& status);
  // Finishes with OK after a last message.
  void FinishWith(const grpc::ByteBuffer& last);

  // ---- for RpcServer
  // The tag of an operation.
  class Tag {
   public:
    virtual void Done(bool ok) = 0;

   protected:
    ~Tag() = default;
  };
  // The owner of calls.
  class Owner {
   public:
    // A call has come to `queue`: the next one may.
    virtual void OnAccepted(grpc::ServerCompletionQueue* queue) = 0;
    // Makes the reactor of a call of `method` ("/package.Service/Method").
    virtual std::unique_ptr<Reactor> Dispatch(const std::string& method,
                                              Rpc* rpc) = 0;
    // A call is over: nothing of it is on its queue any more.
    virtual void OnOver() = 0;

   protected:
    ~Owner() = default;
  };
  // Waits for a call on `queue`; the server's shutdown ends one that has none.
  // Owns itself.
  static void Accept(grpc::AsyncGenericService* service,
                     grpc::ServerCompletionQueue* queue, Owner* owner);

 private:
  struct Operation final : Tag {
    using Handler = void (Rpc::*)(bool ok);
    Operation(Rpc* rpc, Handler handler) : rpc(rpc), handler(handler) {}
    void Done(bool ok) override { (rpc->*handler)(ok); }
    Rpc* const rpc;
    const Handler handler;
  };

  Rpc(grpc::ServerCompletionQueue* queue, Owner* owner)
      : queue_(queue), owner_(owner) {}
  void OnAccepted(bool ok);
  void OnRead(bool ok);
  void OnWritten(bool ok);
  void OnFinished(bool ok);
  void OnEnded(bool ok);
  void LetGo();
  void Die();

  grpc::ServerCompletionQueue* const queue_;
  Owner* const owner_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_{&context_};
  Operation accepted_{this, &Rpc::OnAccepted};
  Operation read_{this, &Rpc::OnRead};
  Operation written_{this, &Rpc::OnWritten};
  Operation finished_{this, &Rpc::OnFinished};
  Operation ended_{this, &Rpc::OnEnded};
  std::unique_ptr<Reactor> reactor_;
  bool has_message_ = false;
  // The end was handled before the beginning, by another thread.
  bool ended_early_ = false;
  Held held_;
  std::atomic<bool> cancelled_{false};
  // Operations under way, and the two that every call ends with: its Finish
  // and gRPC's word that it is over.
  std::atomic<int> left_{2};
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_RPC_RPC_H_
