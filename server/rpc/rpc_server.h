// RpcServer: all calls of a server, on few threads.
#ifndef HAWSER_SERVER_RPC_RPC_SERVER_H_
#define HAWSER_SERVER_RPC_RPC_SERVER_H_

#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server_builder.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "core/base/mutex.h"
#include "server/access/access.h"
#include "server/access/connections/connection_guard.h"
#include "server/rpc/rpc.h"
#include "server/rpc/served_queue.h"

namespace hawser::server {

// Every method of every service by its name, all as raw messages, each
// connection with one of the queues. Not gRPC's callback or synchronous
// services, whose threads wake each other for every message: beside the same
// work on one thread a small step takes half as long again (tests/bench).
class RpcServer final : private Rpc::Owner {
 public:
  // Makes what answers one call, for the tenant it is from.
  using Start =
      std::function<std::unique_ptr<Reactor>(Rpc* rpc, std::string tenant)>;

  // `access` and `guard` outlive it: one says whose a call is, the other is
  // told of the connection it came by. Null: connections are not guarded.
  RpcServer(const Access* access, ConnectionGuard* guard, int queues);
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  // Before Register. An unknown method is kUnimplemented.
  void Add(absl::string_view service, absl::string_view method, Start start);
  // A method that asks for no token and is told no tenant, since it shows
  // nothing of one. A number of such calls may be under way; more are
  // kResourceExhausted.
  static constexpr int kMostOpenCalls = 1024;
  void AddOpen(absl::string_view service, absl::string_view method,
               std::function<std::unique_ptr<Reactor>(Rpc* rpc)> start);
  // "package.Service" of all that was added, sorted.
  std::vector<std::string> services() const;

  // Before and after the builder's BuildAndStart.
  void Register(grpc::ServerBuilder* builder);
  void Run();
  // Before the server's Shutdown: takes no more calls. Calls under way go on.
  void StopAccepting();
  // After it: returns once every call is over, which a reactor tells by Finish.
  void Join();

 private:
  void OnAccepted(grpc::ServerCompletionQueue* queue) override;
  std::unique_ptr<Reactor> Dispatch(const std::string& method,
                                    Rpc* rpc) override;
  void OnOver() override;

  // Lets a call of `tenant` in. Errors: kResourceExhausted.
  absl::Status Enter(Rpc* rpc, absl::string_view tenant);

  const Access* const access_;
  ConnectionGuard* const guard_;
  // One for each call of an open method under way, and one.
  const std::shared_ptr<int> open_calls_ = std::make_shared<int>(0);
  const int num_queues_;
  absl::flat_hash_map<std::string, Start> methods_;
  absl::flat_hash_map<std::string,
                      std::function<std::unique_ptr<Reactor>(Rpc* rpc)>>
      open_methods_;
  grpc::AsyncGenericService service_;
  std::vector<std::unique_ptr<ServedQueue>> queues_;
  Mutex mu_;
  bool accepting_ ABSL_GUARDED_BY(mu_) = false;
  // The calls on the queues: waiting for a client, or under way.
  int calls_ ABSL_GUARDED_BY(mu_) = 0;
  CondVar over_;  // calls_ is 0
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_RPC_RPC_SERVER_H_
